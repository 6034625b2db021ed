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
    tree_work: float = 4e7  # nodes of the deletion tree times d^3: a second for 30 features, less for more [efforts]
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
    orthogonal_rounds: int = 10  # of the same for orthogonal ones: breast_cancer from 2.6% to 0.8% [efforts]
    shifts: int = 12  # shared parts (A - mu I)_+ that are tried, each by simple bounds [efforts]

    def tree_nodes(self, n_features: int) -> int:
        """Nodes of the deletion tree; none where a single one costs more than all may."""
        return int(min(self.tree_work / n_features**3, 0.00005 * self.tree_work))

    def dual_steps(self, n_features: int, *, unhurried: int) -> int:
        """Steps of a relaxation: all of them up to so many features, then fewer as each costs more."""
        steps = np.clip(self.most_steps * (unhurried / n_features) ** 3, self.least_steps, self.most_steps)
        return self.part(float(steps))

    def raising_steps(self, n_features: int) -> int:
        """Steps to the matrix that makes a search of nonnegative directions sharp; none where each costs much."""
        return int(self.most_steps / 2 * min((200 / n_features) ** 3, 1.0))

    def part_rounds(self, rounds: int, n_features: int) -> int:
        """Rounds of the search for a shared part: half a second for ten of them and 32 features."""
        return int(rounds * min(self.cost / (0.5 * (n_features / 32) ** 3), 1.0))

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
    node_supports: int = 500  # supports of one node of the deletion tree that are all tried: a millisecond [efforts]

    listed_supports: int = 200_000  # of disjoint components, each with an eigenvalue: a second
    enumerated_supports: int = 20_000  # all looked at in place of a relaxation: a fraction of a second [efforts]
    paired_features: int = 32  # all pairs of them are known from the start of a search for a shared part [efforts]
    priced_steps: int = 300  # in which prices of disjoint supports are found
    located_cells: int = 10_000  # where more are left an optimum is too flat to be located

    def single_steps(self, n_features: int) -> int:
        """Steps of the relaxation that bounds one direction of several: 200 up to 48 features, none from 160 on."""
        steps = int(200 * min((48 / n_features) ** 3, 1.0))
        return steps if steps >= 5 else 0


LIMITS = ProofLimits()
