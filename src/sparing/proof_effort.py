"""How much a proof may try: every count and size with its reason, and the benchmarks that show what it buys.

Names in brackets are parts of ``make bench``: ``efforts`` prints CPU seconds and gaps at every effort, ``exact`` and
``nonnegative`` what searches prove, ``sparse_pca`` and ``shifted_low_rank`` what other bounds are worth. What has no
brackets was set by hand, and no benchmark depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ProofEffort:
    """What the search for a bound spends where no time limit ends it; counts, so that a seed gives one answer.

    Where all steps of a bound would cost more than ``cost`` it takes a ``share`` of them that falls faster than their
    price rises: neither time nor quality jumps at a number of features. ``least_share`` is where it ends.
    """

    cost: float = 0.5  # estimated seconds of one slow core that a bound may cost with all of its steps [efforts]
    share: float = 1.0  # of the steps of the bound at hand; the policy sets it
    least_share: float = 0.1  # where a bound ends: by then it takes a third of the time [efforts]

    nodes: int = 500  # of a search through supports: half a second for a thousand features [efforts, exact]
    pair_work: float = 1e10  # multiplications to list pairs of thousands of features: half a second in all [efforts]
    tree_work: float = 1e8  # of nodes of the deletion tree: a fifth of a second for up to 450 features [gaps]
    path_work: int = 3  # all proofs of a path spend so many times the nodes of one certificate
    disjoint_nodes: int = 20_000  # of a search of disjoint supports, once they are listed

    most_steps: int = 200  # of a semidefinite relaxation while features are few: half do on most data [efforts]
    least_steps: int = 40  # of the same for many: a quarter of a second for 200 features [sparse_pca]
    sharper_steps: int = 500  # of the sharper dual, from where the plain one ended: half a second for 64 features
    optimality_steps: int = 10  # after the test of optimality; each costs as much as the test [efforts, exact]
    optimality_work: float = 5e10  # n^2 d of all of these together: ten seconds [exact]
    wedges: int = 24  # of the plane, where the test knows signs [nonnegative]
    wedge_steps: int = 40  # in each wedge: every one gives a bound [nonnegative]
    wedge_work: float = 4e9  # n^2 (n + d) of all of these together: five seconds [nonnegative]
    sphere_cells: int = 50_000  # of a sphere in six or eight dimensions: a second [shifted_low_rank]

    rounds: int = 0  # of the search for a shared part: ten take PitProps from 6.74% to 6.67%, wine nowhere [efforts]
    orthogonal_rounds: int = 9  # of the same for orthogonal ones: breast_cancer from 2.6% to 0.6% [gaps]
    list_rounds: int = 40  # lists of two supports that get a shared part of their own: 25 prove PitProps, wine [gaps]
    shifts: int = 12  # shared parts (A - mu I)_+ that are tried, each by simple bounds [efforts]

    def tree_nodes(self, n_features: int) -> int:
        """Nodes of the deletion tree, of losses or of variances; none where a single one costs more than all may.

        Decompositions cost d^3 each; to set up as many arrays as for one node takes as long as those of 44 features.
        """
        return int(self.tree_work / (44**3 + n_features**3))

    def dual_steps(self, n_features: int, *, unhurried: int = 64) -> int:
        """Steps of a relaxation: all of them up to so many features, a millisecond each, then fewer."""
        steps = np.clip(self.most_steps * (unhurried / n_features) ** 3, self.least_steps, self.most_steps)
        return self.part(float(steps))

    def raising_steps(self, n_features: int) -> int:
        """Steps to the matrix that makes a search of nonnegative directions sharp; none where each costs much."""
        return int(self.most_steps / 2 * min((200 / n_features) ** 3, 1.0))

    def part_rounds(self, rounds: int, n_features: int) -> int:
        """Rounds of the search for a shared part: half a second for ten of them and 32 features."""
        return int(rounds * min(self.cost / (0.5 * (n_features / 32) ** 3), 1.0))

    def rounds_of_lists(self, n_components: int) -> int:
        """Lists of as many supports that get a shared part: for more components each takes longer to find."""
        return int(min(self.list_rounds * (2 / n_components) ** 4, 10**9))

    def part(self, steps: float) -> int:
        """The share of some steps, one at least."""
        return max(int(self.share * steps), 1)


@dataclass(frozen=True)
class ProofLimits:
    """Sizes that do not depend on the effort: a check repeats what the bound did, and has to come as far."""

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
    probed_features: int = 500  # probed one by one where the search alone leaves a gap [exact]
    pair_features: int = 20_000  # all pairs are looked at [exact]
    pair_work: float = 3e11  # multiplications for one list of them: half a minute [exact]
    passes: int = 4  # looks at all sizes, while something new is proved [exact]
    first_nodes: int = 400  # of a proof before features are probed [exact]
    single_nodes: int = 20_000  # to bound one of many matrices: a tenth of a second for 30 features [efforts]
    exact_features: int = 200  # selector="exact" refuses more: its tree would not end [exact]
    recheck_nodes: int = 10**7  # to refute a step again: far more than it took [exact]
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
    located_cells: int = 10_000  # where more are left an optimum is too flat to be located

    def single_steps(self, n_features: int) -> int:
        """Steps of the relaxation that bounds one direction of several: 200 up to 48 features, none from 160 on."""
        steps = int(200 * min((48 / n_features) ** 3, 1.0))
        return steps if steps >= 5 else 0


LIMITS = ProofLimits()


@dataclass(frozen=True)
class Schedules:
    """Inner steps of the algorithms behind the bounds, the same at every effort.

    They decide how tight a bound becomes and how long that takes, never whether it holds. No benchmark varies one of
    them alone; the names in brackets show what they give together.
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
    screened_supports: int = 20_000  # whose Cholesky factors are computed together: 10 MiB for 10 features
    # targets above the best, as shares of it, that are tried by turns from the middle
    target_gaps: tuple[float, ...] = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5)
    first_share: float = 0.1  # of the nodes, for the search alone where probing comes next
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
    unsigned_steps: int = 10  # for the X without signs
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
    sphere_starts: int = 32  # directions to climb from before the search, beside the axes and the longest rows


SCHEDULES = Schedules()
