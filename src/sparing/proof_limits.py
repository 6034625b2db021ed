"""Limits and inner steps of proofs that are the same at every effort, each with its reason.

Names in brackets are parts of ``make bench``. Limits without a name in brackets were set by hand; no benchmark depends
on them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProofLimits:
    """Sizes that do not depend on the effort: a check repeats the work of the bound and must reach the same result."""

    witness_features: int = 500  # a witness of features by features is kept in the certificate: two mebibytes
    row_features: int = 3000  # all rows of A are read: some seconds
    decomposed_features: int = 1000  # A is decomposed: a fifth of a second [shifted_low_rank]
    decomposed_rows: int = 2000  # XX' is decomposed in place of a larger A: two seconds [shifted_low_rank]
    space_dimensions: int = 500  # eigendecompositions in the space of samples, one a step [exact]
    space_work: float = 2e9  # n^2 d of one look in that space: half a second [exact]
    wedge_dimensions: int = 200  # the same in wedges, of which each takes many steps [nonnegative]
    kept_dimensions: int = 100  # of features that are decomposed for wedges; the rest counts at its worst [nonnegative]
    raised_features: int = 500  # entries are raised by a matrix that becomes the witness [nonnegative]

    direct_features: int = 1000  # with more, smaller sizes are proved first and leave few features [exact]
    dense_features: int = 1500  # a search of supports holds their matrix: 18 MB [exact]
    most_for_parts: float = 0.2  # share of the time left that certificates of single components may have
    unchanged_rounds: int = 3  # each with twice the steps of the one before: then more time changes nothing
    proof_worth: float = 3.0  # a search that may end with a proof comes before bounds that cost so much less
    free_share: float = 0.2  # of all that bounds may cost: what takes less is done without counting it [defaults]
    fewest_lists: int = 8  # of two supports that a proof takes, eight times as many for each more; else none is begun
    probed_features: int = 500  # probed one by one where the search alone leaves a gap [exact]
    pair_features: int = 20_000  # all pairs are looked at [exact]
    pair_work: float = 3e11  # multiplications for one list of them: half a minute [exact]
    passes: int = 4  # looks at all sizes, while something new is proved [exact]
    first_nodes: int = 400  # of a proof before features are probed [exact]
    single_nodes: int = 2500  # to bound one of many matrices: a fifth of a second for 64 features [gaps]
    single_work: float = 1.6e5  # of them, times features: the same beyond 64, where noise would take seconds
    exact_features: int = 200  # selector="exact" refuses more: its tree would not end [exact]
    recheck_nodes: int = 10**7  # to refute a step again: far more than it took [exact]
    tree_supports: int = 50  # that the last nodes of the deletion tree try at once, at least
    node_supports: int = 1000  # supports of one part of a node of the deletion tree that are all looked at [gaps]
    node_work: int = 200_000  # the same times the cube of their features: fewer are looked at from 6 features on; an
    # eighth where none can be passed over without an eigendecomposition [gaps]

    tried_supports: int = 4096  # sets of shared features that are all tried, as the search does: a tenth of a second
    listed_supports: int = 200_000  # of disjoint components, each with an eigenvalue: a second
    enumerated_supports: int = 20_000  # all looked at in place of a relaxation: a fraction of a second [efforts]
    paired_features: int = 32  # all pairs of them are known from the start of a search for a shared part [efforts]
    listed_tuples: int = 1_000_000  # lists of supports of orthogonal components: some tens of MiB
    priced_steps: int = 300  # in which prices of disjoint supports are found
    listed_pairs: int = 2**22  # of features that may be together, each in both orders: 100 MiB
    gathered_entries: int = 2**24  # of the columns of the features left, or of their matrix: 128 MiB
    space_entries: float = 2e7  # of X in memory for the test of optimality: 160 MB
    single_steps: int = 200  # of the relaxation that bounds one direction of several, up to so many features,
    single_features: int = 48  # then fewer; none from 160 on
    located_cells: int = 10_000  # where more are left an optimum is too flat to be located


LIMITS = ProofLimits()


@dataclass(frozen=True)
class Schedules:
    """Inner steps of the algorithms behind the bounds, the same at every effort.

    They decide how tight a bound becomes and how long that takes, never whether it holds. No benchmark varies one of
    them alone; the names in brackets are benchmarks of all of them together.
    """

    # proof/trees: targets, pairs of features and nodes [exact]
    node_entries: int = 20_000  # a node counts once more for so many entries: a count means about the same time
    branched_share: int = 20  # one in so many features is branched on before the rest is reduced again
    report_nodes: int = 2_000  # between two lines of progress
    tree_nodes: int = 32  # of the deletion tree relaxed together; with 64 the best are not yet known [gaps]
    tree_entries: int = 2**17  # of matrices relaxed together: they stay in the cache [gaps]
    choice_steps: int = 4  # to the best choice of columns in part, from that of the node before [gaps]
    first_choice_steps: int = 16  # to the first one [gaps]
    least_choice: float = 1e-4  # share of a column where the next step begins: from 0 none would come back
    level_shares: tuple[float, float, float] = (0.05, 0.4, 0.3)  # of a gap between eigenvalues: where the level may be
    # at least, where it is if the bound cannot fall far enough above it, and in the gap below [gaps]
    missed_levels: tuple[float, ...] = (0.1, 0.5, 0.9)  # the same where one column goes
    # targets above the best, as shares of it, that are tried by turns from the middle
    target_gaps: tuple[float, ...] = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5)
    first_share: float = 0.1  # of the nodes, for the search alone where probing comes next
    single_share: float = 0.8  # the same for one of many matrices: where more is needed probing takes much longer
    attempt_share: float = 1 / 3  # of what is left, for one attempt of several
    pair_multiplications: int = 256  # take as long as to decide about a pair and to sort it
    pair_level: float = 0.95  # pairs are listed for a lower level, so that the next targets find them too
    pair_rows: int = 512  # rows of A looked at together
    supports_at_once: int = 20_000  # disjoint supports whose eigenvalues are computed together
    part_shifts: tuple[float, ...] = (-0.4, -0.2, 0.0, 0.2, 0.4)  # of the variance of one component against another
    part_widths: tuple[float, ...] = (1e-2, 1e-3, 1e-4)  # maxima are smoothed over these shares of the largest entry
    direction_turns: int = 50  # to the best orthogonal directions on given supports
    thinned_steps: int = 25  # after which disjoint supports that cannot be part of a better choice are dropped

    # proof/trees/probing.py: one dual for each feature [exact]
    step_nodes: int = 4  # nodes that take as long as one iteration with a matrix of the same size
    root_steps: int = 50  # iterations for all features
    one_less_steps: int = 10  # then with one feature fewer, where probes begin
    hopeless: tuple[tuple[int, float], ...] = ((3, 0.02), (6, 0.01), (12, 0.005))  # iterations, share above the target
    refreshed_share: int = 8  # when one in so many features is gone the iterate for all gets ...
    refresh_steps: int = 5  # ... so many more iterations
    inside_nodes: int = 5_000  # of the tree for the features beside one
    sampled_features: int = 12  # that show which target can be refuted
    sample_steps: int = 8  # iterations for each of these
    first_gap: float = 1.15  # the first gap to try, as a multiple of the guess
    next_gap: float = 0.85  # the next, as a share of the last that was proved
    closest_gap: float = 0.96  # and the closest to it
    small_gap: float = 1e-3  # below this share the best value itself is tried
    target_share: float = 0.6  # of what is left, for one target

    # proof/relaxations: alternating directions, and smooth minimisation [efforts, sparse_pca]
    look_every: int = 10  # iterations between two looks at the gap and at the penalty
    unbalanced: float = 1.2  # the penalty is doubled or halved where one residual exceeds the other by this factor
    spare_eigenpairs: int = 5  # beyond the rank of the last iterate
    over_relaxation: float = 1.7  # of the alternating steps: a third fewer are needed than with 1
    cuts: int = 60  # directions of most variance that one round adds for a shared part
    active_unions: int = 16  # sets of all features of components whose part is made smaller in one round: 8, 16, 40 of
    # them take wine to 5.6, 4.2, 4.3% for cosines up to 0.1; set by hand on wine and PitProps [cosines]
    limited_steps: int = 40  # of the smooth minimisation for limited cosines in one round: 150 gain 0.03 points on wine
    # and take twice the time; set by hand likewise [cosines]
    swapped_supports: int = 8  # of a shared part whose features are swapped, where not all supports are looked at
    smooth_steps: int = 60  # of the smooth minimisation in one round: as good as 150 [gaps]
    smoothed_first: float = 1e-2  # maxima are smoothed over this share of the largest eigenvalue at first,
    sharpened: float = 0.7  # over so much less from round to round,
    smoothed_last: float = 3e-4  # and over this share at last
    nearness: float = 1e-3  # weight of the squared distance from the last shared part
    temperatures: tuple[tuple[float, float], ...] = ((1e-3, 0.3), (1e-4, 0.4), (1e-5, 0.3))  # and shares of all steps
    remembered_steps: int = 20  # from which L-BFGS-B estimates curvature
    smallest_start: float = 1e-2  # max|Y_ij| of the sharper dual at first, where the plain one ends with Y = 0
    free_start: float = 0.3  # where the part of Q that no box confines begins, as a share of the other

    # the test of optimality in the space of samples, and its wedges [exact, nonnegative]
    root_finding_steps: int = 8  # of Newton's method from below, nearly exact after five
    test_spread: float = 1e-10  # share of all other directions in X where the paper's own test is meant
    spreads: tuple[float, ...] = (1e-2, 1e-1, 1.0)  # the same where the search for a better X begins
    cooling_steps: int = 20  # after which steps are half as long
    most_rho: float = 0.98  # as a share of the largest variance: from there on no feature needs a Y_i
    first_wedges: int = 8  # all that matter are halved
    wedge_climbs: int = 20  # to a good direction in a wedge
    wedge_features: int = 10  # times r features are looked at by them
    wedge_rhos: tuple[float, ...] = (1.0, 2.0, 4.0, 16.0)  # multiples of the r-th (p_i'z)^2 where steps may begin
    wedge_spreads: tuple[float, ...] = (1e-2, 1e-1)  # and the share of all directions but z in X there
    unsigned_steps: int = 10  # for the X without signs,
    unsigned_tests: int = 8  # and places where they may begin
    least_start: float = 1e-8  # least eigenvalues of an X to begin with: less would rise too slowly
    clear_share: float = 0.6  # a feature keeps p_i = a_i where a_i'z passes this share of the root of rho
    paid_share: float = 0.02  # u at first, by r rho and the width of the wedge

    # proof/sphere: cells of directions [shifted_low_rank, nonnegative]
    halved_cells: int = 512  # at a time: enough for one product to pay, few enough to stay with the highest bounds
    climbed_directions: int = 4  # improved at a time
    climbs: int = 5  # steps of each; most have arrived after three
    extra_rows: int = 64  # looked at first beside r of them; eight times as many where they do not do
    cell_rows: int = 1_000  # in one cell's worth of work
    small_angle: float = 1e-4  # at which cells locate an optimum
    exact_ranks: tuple[int, ...] = (4, 6, 8, 10, 12, 16)  # of surrogates, one after the other until one proves the best
    exact_gap: float = 1e-7  # how close each is searched
    raised_steps: int = 200  # iterations for the matrix with raised entries before the search of its supports
    raised_share: float = 0.6  # of the time, for that matrix and its search
    incumbent_share: float = 0.3  # of the time, for the answer that a proof begins with
    sphere_starts: int = 32  # directions to climb from before the search, beside the axes and the longest rows


SCHEDULES = Schedules()


@dataclass(frozen=True)
class Seconds:
    """Seconds that steps of proofs take on one slow core. They order the bounds and never decide whether one holds.

    Measured on the sets of ``make bench``; a factor of two either way changes the cost of a certificate by that factor.
    """

    eigen_setup: float = 2e-5  # of an eigendecomposition, and what goes with it,
    eigen: float = 5e-9  # by the 2.5th power of the features: 30 ms for 500
    node: float = 1.2e-4  # of a search through supports
    nodes: float = 1 / 16  # of them, times the square of the features: most searches among few need no more
    wide_node: float = 9e-7  # more for each feature; large nodes are counted several times
    many_sizes: float = 25.0  # sizes, all of which come first where features are thousands, that take twice as long
    pair: float = 5e-11  # a multiplication on the way to a list of pairs
    tried_setup: float = 2e-3  # of a list of sets of shared features,
    tried: float = 3e-6  # and each of them
    tree_setup: float = 0.02  # of a deletion tree, whose first nodes come one by one
    tree: float = 7.5e-8  # of a node of the deletion tree, for each unit of its work,
    white_tree: float = 6e-8  # and of one of eigenvalues, where nothing is whitened
    look_setup: float = 4e-4  # of a look in the space of samples,
    look: float = 7e-11  # each of its operations,
    long_look: float = 3.2e-10  # and more where many features are long
    wedge_setup: float = 1.2e-3  # of a look at a wedge,
    wedge: float = 1e-10  # and each of its operations where many features are long
    sphere: float = 0.03  # of a search of the sphere for few features
    space: float = 3e-11  # each of the n^2 d products for XX'
    row: float = 1e-8  # an entry of A, sorted with its row
    sharper: float = 6.5  # eigendecompositions that a step of the sharper dual takes as long as
    list: float = 3e-3  # a list of supports and its shared part
    listed: float = 3e-7  # more for each entry of the supports
    more_lists: float = 6.0  # as often for each component beyond the second
    smooth: float = 4.0  # eigendecompositions that a smooth step to a shared part takes as long as
    cuts: float = 0.004  # the directions of most variance, once a round
    single: float = 0.02  # searches of one direction that check a part
    disjoint: float = 5e-6  # a disjoint support, listed and priced


SECONDS = Seconds()
