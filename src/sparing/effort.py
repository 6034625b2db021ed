"""Effort: how much search and proof try, the one dial of the library.

Names in brackets are parts of ``make bench``: ``efforts`` prints CPU seconds and gaps at every effort, ``searches`` the
losses that each effort reaches, ``exact`` and ``nonnegative`` what is proved, ``sparse_pca`` and ``shifted_low_rank``
the worth of other bounds. Limits without a name in brackets were set by hand; no benchmark depends on them. Limits that
are the same at every effort stand in ``search_limits.py`` and ``proof_limits.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np

from sparing.search_limits import SEARCH


@dataclass(frozen=True)
class ProofEffort:
    """Work spent on bounds if there is no time limit, in counts, so that a seed gives one answer.

    All bounds of a problem share ``cost``, those of all lower efforts included, which come first. Of each effort the
    cheapest come first: one that would cost more with all of its steps than is left takes as many steps as there is
    left for. So more effort never proves less, a certificate costs about the same whatever the data, and neither time
    nor quality jumps at a number of features.
    """

    cost: float = 0.3  # estimated seconds of one slow core for all bounds of a problem [defaults, gaps]
    parts: float = 0.05  # the same for all single components of several: their certificates are details [defaults]
    share: float = 1.0  # of the steps of the bound at hand; the policy sets it
    least_share: float = 0.1  # with fewer steps a bound is not begun [efforts]

    nodes: int = 500  # of a search through supports: half a second for a thousand features [efforts, exact]
    pair_work: float = 1e9  # multiplications to list pairs of thousands of features: a twentieth of a second [defaults]
    tree_work: float = 3.5e6  # of nodes of the deletion tree: a fifth of a second [gaps]
    path_work: int = 3  # all proofs of a path spend so many times the nodes of one certificate
    disjoint_nodes: int = 20_000  # of a search of disjoint supports, once they are listed

    most_steps: int = 200  # of a semidefinite relaxation while features are few: half do on most data [efforts]
    least_steps: int = 40  # of the same for many: a quarter of a second for 200 features [sparse_pca]
    sharper_steps: int = 500  # of the sharper dual, from where the plain one ended: half a second for 64 features
    optimality_tests: int = 31  # prices and spreads at which optimality is tested: all there are [exact]
    optimality_steps: int = 10  # after the test of optimality; each costs as much as the test [efforts, exact]
    optimality_work: float = 5e10  # n^2 d of all of these together: ten seconds [exact]
    wedges: int = 24  # of the plane, where the test knows signs [nonnegative]
    wedge_steps: int = 40  # in each wedge: every one gives a bound [nonnegative]
    wedge_work: float = 4e9  # n^2 (n + d) of all of these together: five seconds [nonnegative]
    sphere_cells: int = 50_000  # of a sphere in six or eight dimensions: a second [shifted_low_rank]

    rounds: int = 1  # of the search for a shared part: ten take PitProps from 6.74% to 6.67%, wine nowhere [efforts]
    orthogonal_rounds: int = 9  # of the same for orthogonal ones: breast_cancer from 2.6% to 0.6% [gaps]
    list_rounds: int = 40  # lists of two supports that get a shared part of their own: 25 prove PitProps, wine [gaps]
    shifts: int = 12  # shared parts (A - mu I)_+ that are tried, each by simple bounds [efforts]

    def times(self, factor: int) -> ProofEffort:
        """All steps times a factor, without a limit on cost: the next round of a proof with a time limit."""
        fixed = ("cost", "parts", "share", "least_share")
        more = {each.name: factor * getattr(self, each.name) for each in fields(self) if each.name not in fixed}
        return replace(self, cost=math.inf, parts=math.inf, **more)

    def tree_nodes(self, n_features: int) -> int:
        """Nodes of the deletion tree, of losses or of variances; none where a single one costs more than all may."""
        return int(self.share * self.tree_work / self.tree_node(n_features))

    def tree_node(self, n_features: int) -> float:
        """The work of one node: decompositions, and the work around them."""
        return float(500 + n_features**2.25)

    def dual_steps(self, n_features: int, *, unhurried: int = 64) -> int:
        """Steps of a relaxation: all of them up to this number of features, a millisecond each, then fewer."""
        most = float(self.most_steps)
        steps = np.clip(most * (unhurried / n_features) ** 3, min(self.least_steps, most), most)
        return self.part(float(steps))

    def raising_steps(self, n_features: int) -> int:
        """Steps to the matrix that makes a search of nonnegative directions sharp; none where each costs much."""
        return int(self.share * self.most_steps / 2 * min((200 / n_features) ** 3, 1.0))

    def part(self, steps: float) -> int:
        """A share of some steps, at least one."""
        return max(int(self.share * steps), 1)


@dataclass(frozen=True)
class Effort:
    """Amount of work without a time limit, in counts, so that a seed gives the same answer on every machine.

    Attributes
    ----------
    below : Effort, optional
        The effort whose answer this one starts from, so that more effort never ends with less.
    worthwhile : float
        Share of PCA's loss that the search must be able to gain, or it does not start.
    by_loss : bool
        Supports are compared by the variance that they capture, not only by the part of the principal components that
        they span. That needs products with A @ A, which cost nothing where one working set has all features: there it
        is always so.
    populations, starts : int
        Searches whose ends are searched together at last, and starts of each of them.
    working_sets, patience : int
        Working sets that are searched one after the other, and how many without any gain before the search ends.
    outside_work : float
        Multiplications of products with A that score the features outside of working sets by what they capture; beyond
        them, by what they span. No search among genes needs as many; for genotypes they are a quarter of a second.
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
        Entries of tables of swaps that the joint search evaluates from all of its starts and perturbations:
        fewer of them where features are many and each costs more. At 2e5 the first starts, and hardly a perturbation,
        are affordable for ten components of 15 genes.
    joint_work : float
        Entries of Gram rows that the steps of one joint descent read at most: for components of hundreds of features
        steps are counted, the first of which gain most. One and a half seconds at 3e8.
    joint_starts, joint_descents : int
        Starts, and descents after them, of the joint search at most: with 16 starts, tables of up to a hundred features
        keep .1% less, and take longer, because less is known where descents end.
    joint_unseen : float
        The joint search ends where no larger share of descents ended at an optimum of their own: in most tables of up
        to a hundred features after none to eight, in digits and pit props, where optima are many, not at all. At .2
        it takes a fifth longer and keeps .01% more.
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
    start_work : float
        Multiplications of products with A in truncated steps from all starts of one nonnegative component, or from
        features anywhere for several components, before only the best go on.
    turn_work : float
        Multiplications of products with A in these turns: half of what is left from each start. About a second for
        each 1e9.
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
    outside_work: float = 1.2e9
    shortlist: int = 48
    refined: int = 24
    spare_slots: int = 16
    unseen: float = 0.1
    full_search: int = 50
    enumerated: int = 4096
    joint_table: float = 2e5
    joint_work: float = 3e8
    joint_starts: int = 8
    joint_descents: int = 48
    joint_unseen: float = 0.4
    joint_shared: int = 24
    limited: int = 24
    joint_transfers: int = 12
    joint_working_set: int = 640
    joint_working_sets: int = 2
    loss_starts: int = 16
    loss_refined: int = 96
    exchange_work: float = 2e8
    start_work: float = 2e9
    turn_work: float = 4e9
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
        return int(np.clip(self.restart_work / (n_features * n_components * longer), 0, self.restarts))

    def joint_affordable(self, n_slots: int, n_features: int) -> float:
        """Number of starts of a joint search whose tables of swaps are affordable, for components of this size."""
        return self.joint_table / (n_slots * min(n_features, SEARCH.places * n_slots))

    @property
    def levels(self) -> tuple[Effort, ...]:
        """This effort after all those whose answers it starts from, the least first."""
        return (*(self.below.levels if self.below else ()), self)

    def proving(self, proof_of: Callable[[Effort], ProofEffort]) -> Effort:
        """The same with other proofs, at this effort and at those below."""
        below = None if self.below is None else self.below.proving(proof_of)
        return replace(self, below=below, proof=proof_of(self))

    def share_of(self, n_nonzero: int) -> float:
        """Share of the starts that a search for one component of this size has."""
        return min(1.0, float((self.full_search / n_nonzero) ** 1.5))

    def for_shared(self, n_nonzero: int) -> Effort:
        """The same for one long shared support: beyond 60 features fewer starts, and fewer swaps evaluated closely.

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
        parts=0.02,
        nodes=100,
        pair_work=2e8,
        tree_work=9e5,
        most_steps=100,
        least_steps=20,
        orthogonal_rounds=2,
        list_rounds=10,
    ),
    joint_table=5e4,
    joint_work=1e8,
    joint_descents=0,
    joint_shared=4,
    limited=8,
    joint_transfers=4,
    start_work=4e8,
    turn_work=8e8,
    restarts=12,
    restart_work=3e4,
    clusterings=3,
    reseedings=1,
    single_starts=5,
    single_work=2e8,
)
DEFAULT = Effort(
    QUICK,
    worthwhile=1e-6,
    by_loss=True,
    populations=1,
    working_sets=3,
    patience=2,
    descents=20,
    working_set=100,
    joint_starts=32,
)
THOROUGH = Effort(
    DEFAULT,
    worthwhile=0.0,
    by_loss=True,
    populations=15,
    working_sets=6,
    patience=3,
    descents=16,
    outside_work=1e11,
    working_set=100,
    proof=ProofEffort(
        cost=5.0,
        parts=1.0,
        nodes=5000,
        pair_work=2e10,
        tree_work=3.5e7,
        optimality_steps=100,
        least_steps=100,
        rounds=10,
        orthogonal_rounds=20,
        list_rounds=300,
    ),
    joint_table=4e6,
    joint_work=1e10,
    joint_starts=32,
    loss_starts=32,
    joint_descents=256,
    joint_unseen=0.05,
    joint_shared=100,
    limited=100,
    joint_transfers=60,
    joint_working_sets=6,
    start_work=1e11,
    turn_work=2e11,
    restarts=600,
    restart_work=1.5e6,
    clusterings=50,
    reseedings=10,
    single_starts=60,
    single_work=2e10,
)
EFFORTS = {"quick": QUICK, "default": DEFAULT, "thorough": THOROUGH}
