"""Limits of search and validation that are the same at every effort, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchLimits:
    """Counts, sizes and thresholds of search and validation that do not depend on the effort.

    Names in brackets are parts of ``make bench``, ``few_passes`` one of ``make bench-scale``. Limits without a name in
    brackets were set by hand; no benchmark depends on them.
    """

    population: int = 16  # supports that climb together: more gain little, and leave the cache when long [searches]
    joint_population: int = 8  # the same for several components: a look at how many optima are new follows [sparse_pca]
    elite: int = 8  # distinct local optima that new supports are made of; perturbing only the best was worst [searches]
    start_pool: int = 4  # times the features of a working set, those that the last start is made of [searches]
    looked: int = 4  # of these, the supports around which a working set is selected
    working_entries: int = 3 * 2**20  # numbers in the Gram columns of a working set: 24 MiB [searches]
    together: int = 2048  # supports evaluated together where all are tried
    least_steps: int = 4  # of a joint descent, whatever they cost: the first swap many features and gain most
    free_descents: float = 0.5  # share of the affordable descents of a joint search,
    constrained_descents: float = 0.1  # and where a constraint is kept: few find more, and free components, which are
    # never below orthogonal ones, wait for them [sparse_pca_speed]
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
    joint_scattered_sets: int = 16  # sets of components that are made of them, each around another one
    joint_partitions: int = 2  # of features among components that a joint search starts from
    turned_together: int = 8  # rotations of principal components that are computed together
    stride: int = 20  # forward selection takes one feature, and one in so many of those it has when they are many
    subspace_steps: int = 5  # block power steps to leading directions that starts are made of
    power_steps: int = 30  # for the loadings of many nonzeros
    penalty_entries: int = 4 * 10**5  # of X, up to which a path of penalties is tried: a hundred products, 0.2 seconds

    truncated_steps_long: int = 200  # the same of hundreds of features, one product each
    truncated_turns: int = 50  # truncated steps of one nonnegative direction
    raced_steps: int = 8  # that those who go on should have left, where steps are too expensive for all
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
    nonnegative_turns: int = 15  # of all nonnegative components, each climbed to the end,
    long_turns: int = 200  # and with hundreds of features, of which a turn
    steps_in_turn: int = 4  # takes some steps: climbs to the end kept less of arcene for as much work [defaults]
    nonnegative_exchanges: int = 10  # of features in each

    swap_entries: int = 2**17  # of a table of swaps that are worked on together: more leave the cache
    quotient_decomposed: int = 8  # features up to which quotients come from decompositions,
    quotient_entries: int = 1000  # and entries of all matrices, if they are so few that steps would take as long
    quotient_steps: int = 4  # of the Krylov spaces that they come from beyond
    quotient_formed: int = 64  # features up to which matrices of quotients are formed, which is quicker than products
    shared_scanned: int = 4  # features whose swaps are scored for each one wanted: those that add most on their own
    shared_scored: int = 2**14  # swaps that are scored anyway: a few milliseconds
    shared_power_steps: int = 2  # block power steps that sharpen the score of a swap [searches]
    cheapest: float = 1e-3  # share of the mean cost that a feature counts as costing at least, where gains are weighed
    noticed: float = 1e-8  # share of a value that a step must gain with loadings: by less, they still converge

    lasso_events: int = 20  # for each feature, after which a path ends: only ties that rounding cannot settle need more
    regression_features: int = 2000  # up to which elastic nets have A in memory; the default ridge is infinite beyond
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
    compact_features: int = 64  # up to which directions are taken out of rows, to all digits; the price rises with d^3
    compact_entries: int = 2**22  # of X, up to which these rows come from its own QR decomposition
    held_features: int = 1024  # up to which A is formed where samples are more: hundreds of products with it follow
    relaxed_features: int = 1000  # up to which semidefinite relaxations iterate on matrices of features by features
    relaxed_columns: int = 20  # of their solution that are tried as directions, the largest on the diagonal first
    spannogram_sets: int = 10_000  # looked at without further thought; else features are settled first, which pays
    spannogram_rank: int = 12  # up to which cells of directions are few enough for that
    net_draws: int = 1_000_000  # random directions that an accuracy may ask for
    net_entries: int = 2**20  # of products with them, in memory at a time

    few_passes_bytes: int = 2**32  # of rows outside of memory (4 GiB), from which "auto" means few [few_passes]
    one_pass_features: int = 1024  # up to which one pass computes X'X, for about the work of few, with exact answers
    sketch_rows: tuple[int, int] = (300, 6)  # of a count sketch at least, and for each feature sought [few_passes]
    sketch_rows_dense: int = 100  # of frequent directions at least; beyond, half more than the features sought
    sketch_rows_cheap: int = 1000  # up to which more are worth it where features are few,
    sketch_bytes: int = 2**29  # and what these may take
    stream_directions: int = 200  # kept of a stream
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
    same_clusters: float = 0.9  # adjusted Rand index from which two clusterings count as the same
    loose_trees: float = 1e-3  # tolerance of the many fits that only choose a bound,
    loose_means: float = 1e-4  # and of those of k-means
    dissimilarity_features: int = 2500  # up to which D'D may be formed (48 MiB),
    dissimilarity_ratio: int = 16  # and for each sample: more cost more than a few products with D
    copied_share: float = 0.4  # of the features, up to which those of positive weight are copied by k-means
    narrow_ratio: float = 4  # where weights are on fewer than one feature in so many, turns among these alone come
    inner_turns: int = 20  # between those among all, so many of them

    substitutes_verified: int = 8  # for each one asked for: those that span most of what is missing
    chance_quantile: float = 0.95  # of eigenvalues of permuted features, above which one is more than chance
    permuted_entries: int = 2**23  # of X; of wider tables random features, the same with and without permutation
    tried_features: int = 100  # of the longest path where none is asked for, beside those that are included
    tried_components: int = 20  # by cross-validation: no answer was larger [new_samples]
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
