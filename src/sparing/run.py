"""Run, Budget and Effort: random numbers, time and progress, and how much is tried."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparing import errors
from sparing.proof_effort import ProofEffort


@dataclass
class Budget:
    """One per fit: a deadline, a number of search nodes and a place to report progress.

    Without a deadline the limits are counts, never seconds, so that a seed gives one answer on every machine.
    """

    deadline: float | None = None
    nodes: int | None = None
    progress: Callable[[str], None] | None = None
    interruption: list[bool] = field(default_factory=list)  # shared by all parts; not empty once the user interrupted

    @classmethod
    def of(cls, time_limit: float | None, verbose: bool | int = False) -> Budget:
        """The budget of an estimator with these parameters."""
        if time_limit is not None and not _is_positive(time_limit):
            raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit.")
        if not isinstance(verbose, (int, np.integer, np.bool_)):
            raise errors.not_a_flag("verbose", verbose)
        deadline = None if time_limit is None else time.monotonic() + float(time_limit)
        return cls(deadline, progress=print if verbose else None)

    @property
    def expired(self) -> bool:
        """Is it time to return the best answer so far?"""
        return self.interrupted or (self.deadline is not None and time.monotonic() > self.deadline)

    def share(self, part: float) -> Budget:
        """A budget for one of several attempts: this part of the time that is left."""
        if self.deadline is None:
            return self
        now = time.monotonic()
        return Budget(now + part * (self.deadline - now), self.nodes, self.progress, self.interruption)

    @property
    def left(self) -> float | None:
        """Seconds that are left, as a limit that can be passed on; None without a deadline."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), math.ulp(0.0))

    @property
    def interrupted(self) -> bool:
        """Did the user ask for what there is?"""
        return bool(self.interruption)

    def interrupt(self) -> None:
        """End all work that looks at this budget, and at those it was shared into."""
        self.interruption.append(True)

    def say(self, message: str) -> None:
        """Report progress where somebody listens."""
        if self.progress is not None:
            self.progress(f"[sparing] {message}")


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating)) and bool(value > 0)


@dataclass(frozen=True)
class Effort:
    """How much is tried where no time limit says so: counts, so that a seed gives one answer on every machine.

    Attributes
    ----------
    below : Effort, optional
        The effort whose answer this one starts from, so that more effort never ends with less.
    worthwhile : float
        Share of PCA's loss that the search must be able to gain, or it does not start.
    by_loss : bool
        Supports are compared by what they capture, not only by what they span of the principal components. That needs
        products with A @ A, which cost nothing where one working set has all features: there it is always so.
    populations, starts : int
        Searches whose ends are searched together at last, and starts of each of them.
    working_sets, patience : int
        Working sets that are searched one after the other, and how many without any gain before the search ends.
    working_set : int
        Features that a working set has beside each of the best supports: those with the most promising swaps.
    descents : int
        Crossovers and perturbations of the best supports that are climbed from in each working set, for supports of up
        to 30 features; fewer where supports are longer and each costs more.
    shortlist, refined : int
        Candidates that a descent keeps looking at; swaps looked at closely before it counts as a local optimum.
    spare_slots : int
        Where features have costs, supports of up to twice as many features as the greedy one has, and so many more,
        are tried: cheaper features may be more.
    unseen : float
        The search ends where no larger share of descents ended at an optimum of their own.
    full_search : int
        Nonzeros up to which the search for one component has all of its starts, finalists and perturbations; a smaller
        and smaller share of them beyond, where each costs more and truncated power alone seldom ends lower.
    enumerated : int
        Supports that are all tried, where there are no more.
    joint_table : float
        Entries of tables of swaps that the joint search looks at from each of its starts and perturbations, together:
        fewer of them where features are many and each costs more. At 2e5 the first starts, and hardly a perturbation,
        are affordable for ten components of 15 genes.
    joint_work : float
        Entries of Gram rows that the steps of one joint descent read at most: for components of hundreds of features
        steps are counted, the first of which gain most. One and a half seconds at 3e8.
    joint_starts, joint_descents : int
        Starts, and descents after them, of the joint search at most.
    joint_shared : int
        Times that features are shared out anew among components without a common one, for one of the starts:
        where features are few, good components often have none in common.
    limited : int
        Last answers of the search for free components, and of that for orthogonal ones, whose loadings are fitted under
        a limit on cosines.
    joint_transfers : int
        Times that features are moved between components where only their total is given.
    joint_working_set, joint_working_sets : int
        Features beside the best supports that the joint search looks at together, over all components; and times that
        they are selected.
    loss_starts : int
        Starts of the joint encoder: on PitProps with 7, 2 and 1 features quick searches with 8 of them lost up to 7%
        more than with 16.
    loss_refined : int
        Swaps looked at more closely by the joint encoder: where scores of features are correlated, loadings that stay
        as they are say little, and the best swap may score far down the list.
    exchange_work : float
        Operations of all exchanges of features while nonnegative components improve by turns: half a second.
    restarts, restart_work : int, float
        Times that features are shared out anew among nonnegative components, at most; and times features times
        components, so that it takes about a second whatever their numbers.
    clusterings, reseedings, single_starts : int
        Starts of sparse k-means; new seedings before an answer of one is taken for settled; single features that
        sparse k-means, and a search for weights whose bound leaves room for few, begin with as well. Without them
        k-means was up to 4% below the best of a hundred starts at a bound of 1.2 (``tests/clustering/test_kmeans.py``).
    proof : ProofEffort
        What the search for bounds spends.
    """

    below: Effort | None = None
    worthwhile: float = 5e-4
    populations: int = 0
    starts: int = 8
    by_loss: bool = False
    working_sets: int = 1
    patience: int = 1
    descents: int = 0
    working_set: int = 64
    shortlist: int = 48
    refined: int = 24
    spare_slots: int = 16
    unseen: float = 0.1
    full_search: int = 50
    enumerated: int = 4096
    joint_table: float = 2e5
    joint_work: float = 3e8
    joint_starts: int = 16
    joint_descents: int = 32
    joint_shared: int = 24
    limited: int = 24
    joint_transfers: int = 12
    joint_working_set: int = 640
    joint_working_sets: int = 2
    loss_starts: int = 16
    loss_refined: int = 96
    exchange_work: float = 2e8
    restarts: int = 60
    restart_work: float = 1.5e5
    clusterings: int = 10
    reseedings: int = 4
    single_starts: int = 20
    single_work: float = 2e9
    proof: ProofEffort = field(default_factory=ProofEffort)

    def n_single_starts(self, n_samples: int, n_features: int) -> int:
        """Single features that a search for weights of a tree begins with; fewer where n^2 p, a product, is large."""
        affordable = int(self.single_work / max(float(n_samples) ** 2 * n_features, 1.0))
        return min(self.single_starts, max(affordable, 3))

    def n_restarts(self, n_features: int, n_samples: int | None, n_components: int) -> int:
        """Restarts for data of this shape; a product with A takes longer where samples are many as well."""
        longer = max(1.0, min(n_samples or n_features, n_features) / 400)
        return int(np.clip(self.restart_work / (n_features * n_components * longer), 1, self.restarts))

    def joint_affordable(self, n_slots: int, n_features: int) -> float:
        """Starts of a joint search whose tables of swaps are affordable, for components with so many features."""
        return self.joint_table / (n_slots * min(n_features, SEARCH.places * n_slots))

    @property
    def levels(self) -> tuple[Effort, ...]:
        """This effort after all those whose answers it starts from, the least first."""
        return (*(self.below.levels if self.below else ()), self)

    def share_of(self, n_nonzero: int) -> float:
        """Share of the starts that a search for one component of this size has."""
        return min(1.0, float((self.full_search / n_nonzero) ** 1.5))

    def for_shared(self, n_nonzero: int) -> Effort:
        """The same for one long shared support: beyond 60 features fewer starts, and fewer swaps looked at closely.

        Each start costs more with the square of the features and each look in proportion; both fall as much.
        """
        share = min(1.0, 60 / n_nonzero)
        return replace(self, starts=math.ceil(self.starts * share**2), refined=math.ceil(self.refined * share))

    def descents_of(self, n_nonzero: int) -> int:
        """Descents in each working set, for supports of this size."""
        return int(np.ceil(self.descents * min(1.0, (30 / n_nonzero) ** 1.5)))


QUICK = Effort(
    proof=ProofEffort(
        cost=0.1,
        nodes=100,
        pair_work=2e9,
        tree_work=2.5e7,
        most_steps=100,
        least_steps=20,
        orthogonal_rounds=2,
        list_rounds=10,
    ),
    joint_table=5e4,
    joint_work=1e8,
    joint_starts=8,
    joint_descents=0,
    joint_shared=4,
    limited=8,
    joint_transfers=4,
    restarts=12,
    restart_work=3e4,
    clusterings=3,
    reseedings=1,
    single_starts=5,
    single_work=2e8,
)
DEFAULT = Effort(
    QUICK, worthwhile=1e-6, by_loss=True, populations=1, working_sets=3, patience=2, descents=20, working_set=100
)
THOROUGH = Effort(
    DEFAULT,
    worthwhile=0.0,
    by_loss=True,
    populations=12,
    working_sets=6,
    patience=3,
    descents=16,
    working_set=100,
    proof=ProofEffort(
        cost=5.0,
        nodes=5000,
        pair_work=1e11,
        tree_work=1e9,
        optimality_steps=100,
        least_steps=100,
        rounds=10,
        orthogonal_rounds=20,
        list_rounds=2_000,
    ),
    joint_table=4e6,
    joint_work=1e10,
    joint_starts=32,
    loss_starts=32,
    joint_descents=256,
    joint_shared=100,
    limited=100,
    joint_transfers=60,
    joint_working_sets=6,
    restarts=600,
    restart_work=1.5e6,
    clusterings=50,
    reseedings=10,
    single_starts=60,
    single_work=2e10,
)
EFFORTS = {"quick": QUICK, "default": DEFAULT, "thorough": THOROUGH}
EXHAUSTIVE = Effort(
    DEFAULT,
    proof=ProofEffort(
        cost=math.inf,
        nodes=10**9,
        pair_work=math.inf,
        tree_work=1e18,
        optimality_steps=200,
        least_steps=200,
        rounds=20,
        orthogonal_rounds=20,
        list_rounds=10**9,
    ),
)
"""Where a time limit ends the work."""


@dataclass(frozen=True)
class SearchLimits:
    """Counts, sizes and thresholds of search and validation that do not depend on the effort.

    Names in brackets are parts of ``make bench``, ``few_passes`` one of ``make bench-scale``. What has no brackets was
    set by hand, and no benchmark depends on it.
    """

    population: int = 16  # supports that climb together: more gain little, and leave the cache when long [searches]
    elite: int = 8  # distinct local optima that new supports are made of; perturbing only the best was worst [searches]
    looked: int = 4  # of these, the supports around which a working set is selected
    working_entries: int = 2**22  # numbers in the Gram columns of a working set: 32 MiB
    together: int = 2048  # supports evaluated together where all are tried
    least_steps: int = 4  # of a joint descent, whatever they cost: the first swap many features and gain most
    soft_steps: int = 12  # steps on the way to a constraint: what is gained there may be lost again
    nearby: int = 12  # replacements of a feature that a perturbation prefers
    anywhere: float = 0.25  # share of its features that come from anywhere [searches]
    perturbed: tuple[int, int] = (2, 6)  # features that a perturbation replaces, at least and at most [searches]
    renewed: int = 2  # one in so many new supports of several components has one begun anew
    steps_per_slot: int = 4  # of a descent with loadings: near-copies let every step gain a little, without end
    halved: tuple[int, ...] = (1, 2, 4)  # steps of a race after which half of the supports are left behind

    verified: int = 4  # most promising swaps that are evaluated exactly, until one is better
    verified_all: int = 64  # features up to which all of these are
    sketched: int = 16  # swaps whose gain is estimated, of all that are known to gain
    shortlist: int = 256  # features outside the support that are looked at first; all of them before a search ends
    swap_work: float = 2e7  # swaps times their price: a table of features by nonzeros, and eigenvalues of nonzeros
    joint_scattered: int = 512  # features anywhere that joint starts come from: with half, nci60 (5, 10) keeps 1% less
    joint_scattered_entries: int = 4 * 10**6  # numbers in their directions: 32 MiB
    joint_scattered_kept: int = 64  # of these, after a step, those that go on; 6 for each component where they are many
    joint_scattered_steps: int = 8  # of these
    stride: int = 20  # forward selection takes one feature, and one in so many of those it has when they are many
    subspace_steps: int = 5  # block power steps to leading directions that starts are made of
    power_steps: int = 30  # for the loadings of many nonzeros
    penalty_entries: int = 4 * 10**5  # of X, up to which a path of penalties is tried: a hundred products, 0.2 seconds

    truncated_turns: int = 50  # truncated steps of one nonnegative direction
    truncated_steps: int = 40  # of all nonnegative starts together, before the best go on alone
    verified_exchanges: int = 6  # most promising exchanges of nonnegative features that are carried out
    exchange_entries: int = 4 * 10**6  # of their table; of more features only those with the largest gradient
    surrogate_ranks: tuple[int, ...] = (3, 6, 8)  # of surrogates to start from; each takes as long as all before it
    surrogate_cells: int = 4000  # of each
    surrogate_tolerance: float = 1e-3  # how close to its optimum is close enough to start from: the climb gains more
    perturbed_share: float = 0.3  # of its features that a nonnegative component gives up when perturbed
    sharing_elite: int = 4  # distinct answers that restarts begin with: with one alone they lead back to it

    sharing_sweeps: int = 20  # looks at all pairs of components that share features out: two or three are the rule
    sharing_cycles: int = 100  # moves along longer cycles: two or three are the rule
    sharing_turns: int = 200  # times that features are shared out anew from one start
    assigned_entries: int = 1000  # features times places, for each pair, up to which an assignment beats exchanges

    alternation_swaps: int = 20  # swaps of one component while the others stay
    refits: int = 200  # steps to the best loadings of given supports
    refitted: int = 3  # joint encoders whose loadings are fitted together: the iterative one and the best of the search
    polished: int = 160  # features beside those of a joint encoder that may still come in; all up to twice as many
    polar_steps: int = 10  # steps that bring a rotation of the principal components and its truncation together
    places: int = 4  # features that joint starts are sought among, for each place in a component
    promising: int = 512  # the same, at least
    drawn: int = 4  # one in so many times features are shared out from single ones drawn by chance
    shared_starts: int = 2  # affordable starts for all of the effort's sharing; with 4, nci60 (10, 20) keeps 1.5% less
    fewest_trials: int = 16  # counts tried where min_variance is given; fewer as the solver has fewer starts
    least_affordable: float = 0.1  # share of a joint start; with less, the fewest features are found without a search
    rotated: int = 2  # of the principal components then: by varimax and as they are, which others do not better
    moving: int = 2  # of the best answers, those whose features are moved between components
    single_moves: int = 8  # moves of one feature between components that are tried together
    moved: int = 6  # features that are moved together by chance
    charges: tuple[float, ...] = (0.1, 1.0, 10.0)  # for breaking a constraint, of supports that then have to keep it
    cosine_charges: tuple[float, ...] = (1.0, 10.0, 1e2, 1e3, 1e4)  # for cosines above their limit, one after the other
    halvings: int = 60  # of an interval, to the least change that keeps a limit: more digits than a float has

    whole: int = 512  # features up to which the search for one component looks at all of them at once
    pool: int = 128  # the fewest that it looks at together where there are more
    pool_searches: int = 5  # among those that pull most
    scattered: int = 64  # features anywhere that it starts from; up to four times as many where affordable
    scattered_entries: int = 2 * 10**6  # of the Gram columns of these
    kept_supports: int = 8  # of what is reached from them
    many_large: int = 256  # so many of the largest variances are above the next share of the largest: then it does so
    as_large: float = 0.5
    gathered_features: int = 4096  # of all candidates together, that one read of the data serves (128 MiB)
    fewest_together: int = 8  # counts that are tried at once, where one product with A serves them all
    fewest_truncated: int = 4  # truncated steps for each of these
    fewest_working_set: int = 512  # features searched in memory: those that pull most, or twice as many as are enough
    fewest_resolution: int = 500  # counts are found to the feature up to here, above to one in so many, by a path
    fewest_searched: int = 50  # the same by searches for each
    required_sweeps: int = 10  # turns of all components that have required features
    required_swaps: int = 50  # of one component
    required_leaving: int = 4  # features that may leave in each of these
    required_coming: int = 8  # and come in
    required_many: int = 100  # nonzeros from which fewer may
    nonnegative_turns: int = 15  # of all nonnegative components
    nonnegative_exchanges: int = 10  # of features in each

    swap_entries: int = 2**17  # of a table of swaps that are worked on together: more leave the cache
    quotient_decomposed: int = 8  # features up to which quotients come from decompositions
    quotient_steps: int = 4  # of the Krylov spaces that they come from beyond
    quotient_formed: int = 64  # features up to which matrices of quotients are formed, which is quicker than products
    shared_scanned: int = 4  # features whose swaps are scored for each one wanted: those that add most on their own
    shared_scored: int = 2**14  # swaps that are scored anyway: a few milliseconds
    shared_power_steps: int = 2  # block power steps that sharpen the score of a swap [searches]
    cheapest: float = 1e-3  # share of the mean cost that a feature counts as costing at least, where gains are weighed
    noticed: float = 1e-8  # share of a value that a step must gain with loadings: by less, they still converge

    grown_columns: int = 128  # in memory while forward selection adds columns,
    grown_entries: float = 2.5e5  # and their entries beyond that, where rows are few
    backward_features: int = 1000  # from which backward elimination begins at most: it decomposes the whole matrix
    backward_single: int = 250  # up to which one goes at a time; of more, a tenth of what is above at once
    power_penalties: int = 8  # of generalized power that are tried at once: one product with A serves them all
    power_rounds: int = 7  # each divides their range by one more than these: seven leave two parts in ten million
    nspca_features: int = 512  # that take part; of more, those of most variance and the largest in leading directions
    nspca_most_features: int = 4096  # where twice the nonzeros are more than these: their matrix is formed
    nspca_penalties: int = 16  # tried from one start, at most
    nspca_jump: float = 1e-3  # share of a penalty within which the count jumps from too many features to too few
    nspca_near: float = 1.1  # by how much the second penalty differs from one that served another start
    nspca_change: float = 1e-4  # of an entry in a sweep, as a share of the norm, that ends an ascent
    spannogram_sets: int = 10_000  # looked at without further thought; else features are settled first, which pays
    spannogram_rank: int = 12  # up to which cells of directions are few enough for that
    net_draws: int = 1_000_000  # random directions that an accuracy may ask for
    net_entries: int = 2**20  # of products with them, in memory at a time

    sketch_beside: int = 6  # directions followed beside the components, where passes are few
    sketch_directions: int = 64  # followed in sparse data, whose spectra are flat [few_passes]
    sketch_entries: int = 2**24  # of these: fewer directions where features are very many (128 MiB)
    sketch_features: int = 100  # at most, where the fewest for some loss are sought
    sketch_core: int = 64  # beside the chosen ones, whose Gram columns let the loss judge the last swaps [few_passes]
    sketch_pool: int = 700  # candidates whose Gram matrix is computed exactly, at least [few_passes]
    sketch_stages: int = 8  # of a choice on the sketch, after which those that gain most become candidates [few_passes]

    lloyd_turns: int = 300  # of one run of k-means; each lowers the loss, and few need more than a tenth
    single_turns: int = 10  # of k-means in one feature, from quantiles: a start needs no more
    drift_turns: int = 15  # after which a walk of k-means ends, as R's sparcl does,
    drift_change: float = 1e-4  # or where weights change by less than this share
    tried_bounds: int = 12  # of weights, where the gap statistic chooses one
    bound_probes: int = 60  # bounds that are tried until one gives the number of features asked for
    bound_bisections: int = 4  # between a bound that disagrees and one that agrees: a twentieth of a step is left
    tight_bound: float = (
        4.0  # up to it a search begins at all single features that it may, above at fewer: starts end alike
    )
    narrow_ratio: float = 4  # where weights are on fewer than one feature in so many, turns among these alone come
    inner_turns: int = 20  # between those among all, so many of them

    substitutes_verified: int = 8  # for each one asked for: those that span most of what is missing
    chance_quantile: float = 0.95  # of eigenvalues of permuted features, above which one is more than chance
    permuted_entries: int = 2**23  # of X; of wider tables random features, the same with and without permutation
    read_features: int = 3  # for each component tried, at most, where components are judged by held-out samples
    noise_levels: tuple[float, ...] = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # in mean variances [new_samples]
    noise_folds: int = 5  # of that choice
    selector_folds: int = 5  # of the choice of a selector,
    selector_samples: int = 10  # and the fewest different samples that are divided into them
    selector_errors: float = 2.0  # standard errors by which another must be better than the first: with less, chance
    # decides on small data (docs, papers, "choices that look at the targets")
    selector_entries: int = 2**21  # of X that are looked at, 16 MiB: of more, an even share of the samples
    reliable_share: float = 0.5  # of half-samples that choose a feature, or one of a group, above which it is reliable
    together_share: float = 0.1  # of the times that one of two is chosen; both more often: neither replaces the other
    grouped_features: int = 150  # compared with one another at most, the most frequent ones
    grouped_swaps: int = 4  # tried for two of them
    group_unchosen: int = 10  # features in a group that no half-sample chose, at most
    group_common: float = 0.5  # share of variance that these have in common with it


SEARCH = SearchLimits()


@dataclass(frozen=True)
class Run:
    """One per fit, handed to all of its parts: the generator of all random numbers, the budget and the effort."""

    rng: np.random.Generator
    budget: Budget = field(default_factory=Budget)
    effort: Effort = DEFAULT

    def levels(self) -> Iterator[Run]:
        """The same with each effort up to its own, and random numbers that do not depend on the efforts above."""
        seed = int(self.rng.integers(2**32))
        for number, effort in enumerate(self.effort.levels):
            yield replace(self, effort=effort, rng=np.random.default_rng(seed + number))

    def share(self, part: float) -> Run:
        """The same for one of several attempts: this part of the time that is left."""
        return replace(self, budget=self.budget.share(part))

    def unlimited(self) -> Run:
        """The same without a limit in time: for what is quick anyway."""
        return replace(self, budget=Budget())
