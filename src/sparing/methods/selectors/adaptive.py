"""Adaptive sampling after dual set selection: Theorems 6(ii) and 7."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg import encoder_on
from sparing.linalg.rounding import first_largest
from sparing.linalg.theorem_bounds import best_split
from sparing.methods.base import check_settings
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.filling import Filling, order_of_draws
from sparing.methods.selectors.subspace import randomly_projected
from sparing.results import Array, Reference, Selection, Spectrum
from sparing.run import Run
from sparing.task import Target, Task


@dataclass(frozen=True)
class Adaptive:
    """Dual set selection of r1 columns, then adaptive sampling of the others [magdonismail2015, Theorem 6(ii)].

    The loss of the dual set is within a constant factor of PCA's. Columns sampled with probabilities proportional to
    the squared residuals ||x_j - CC^+x_j||^2 reduce the factor to 1 + O(k/r) [deshpande2006, Sec. 2].

    Parameters
    ----------
    split : float, optional
        Number of columns of the first stage per component, r1/k. The paper uses 5; the default minimises the theorem's
        bound.
    repeats : int
        Number of draws from one dual set; the draw with the smallest loss is kept.
    approximate : bool
        Compute V_k by a random projection, as the theorem's running time requires, instead of using the target's.
    derandomised : bool
        Replace random draws by deterministic choices that satisfy the theorem; V_k is then the target's.
    start : DualSet
        The first stage; ``DualSet(sketch=...)`` with ``derandomised=True`` is the deterministic algorithm of comment 4.

    Notes
    -----
    **Guarantee.** With s = r - r1, E ||X - X_{C,k}||^2 <= (1 + (k/s) a (1 + 1/(1 - sqrt(k/r1))^2)) ||X - X_k||^2, where
    a = 1 for the target's V_k and E a <= 7/6 for the random projection; with ``split=5`` that is below the printed
    1 + 5k/(r - 5k). See ``sparing.linalg.theorem_bounds.adaptive_factor``. With C1 the columns of the first stage the
    excess over PCA's loss exceeds 2 (k/s) ||X - C1C1^+X||^2 with probability at most 2^-repeats (Markov). With
    ``derandomised=True`` it never exceeds (k/s) ||X - C1C1^+X||^2.
    **Differs from the paper.** Sampling continues until r columns are independent, which can only lower the loss. The
    split is optimised instead of 5k. Derandomised choices use conditional expectations and break ties by the objective
    (see docs/errata.md). For r <= k + 1 there is nothing to split and the dual set is returned. Only principal
    components are approximated; the basis of any other target is used as is.
    """

    split: float | None = None
    repeats: int = 1
    approximate: bool = True
    derandomised: bool = False
    start: DualSet = field(default_factory=DualSet)

    reference: ClassVar = Reference("magdonismail2015", "Theorem 6(ii)")

    def __post_init__(self) -> None:
        check_settings(self)
        if self.repeats < 1:
            raise errors.not_positive("repeats", self.repeats)
        if not isinstance(self.start, DualSet):
            raise errors.unknown_choice("start", self.start, ["DualSet()"])

    def select(self, task: Task, run: Run) -> Selection:
        """Return the columns of the dual set, then the sampled ones."""
        view, target = task.gram, task.target
        k = target.basis.shape[1]
        components = self._components(view, target, run.rng)  # step (i) of comment 4
        n_first = max(self._n_first(k, task.n_nonzero), len(task.rules.required))
        first = self.start.select(Task.of_columns(view, n_first, components, task.rules), run)  # step (ii)
        started = Filling(task)
        started.extend(first.columns, first.gram_columns)
        if self.derandomised:
            extend_by_expectations(started, target.basis)
            return started.selection()
        found = []
        for _ in range(self.repeats):  # step (iii)
            filling = started.copy()
            extend_by_draws(filling, run.rng)
            found.append(filling.selection())
        losses = [encoder_on(selection, k, view.total).loss for selection in found] if self.repeats > 1 else [0.0]
        return found[int(np.argmin(losses))]

    def _components(self, view: DataMatrix, target: Target, rng: np.random.Generator) -> Target:
        known = self.derandomised or not self.approximate or self.start.sketch is not None
        if known or not isinstance(target, Spectrum):
            return target
        return randomly_projected(view, target.rank, rng)

    def _n_first(self, k: int, n_columns: int) -> int:
        if n_columns <= k + 1:
            return n_columns
        if self.split is None:
            return best_split(k, n_columns)
        return int(np.clip(round(self.split * k), k + 1, n_columns - 1))


def extend_by_draws(filling: Filling, rng: np.random.Generator) -> None:
    """Adaptive sampling: draw by squared residuals until no further column is allowed.

    For any columns C1, the expected loss of the best rank-k matrix in the span after s draws is at most ||X - X_k||^2 +
    (k/s) ||X - C1C1^+X||^2 [deshpande2006, Sec. 2]. One product serves all draws.
    """
    residuals = np.where(filling.open(), filling.state.left, 0.0)
    filling.offer(order_of_draws(residuals, rng))


def extend_by_expectations(filling: Filling, V: Array) -> None:
    """The same bound, deterministically, by conditional expectations; V (d x k) is the target's basis.

    With E = X - C1C1^+X and draws j of probability p_j = |e_j|^2 / ||E||^2 the proof estimates E V by the mean of
    M_j = e_j v_j' / p_j, and the excess is at most ||D||^2 / s^2 for the sum D of the s deviations M_j - E V. Each draw
    adds the same expected variance to ||D||^2, so after t draws some column keeps it below t times that variance. Among
    such columns the one that adds most to spanning the target is taken, and a repeated column only if no other
    qualifies.
    """
    state, n_draws = filling.state, filling.room
    left = np.where(filling.open(), state.left, 0.0)
    drawable, total = left > 0, float(left.sum())
    W, mean = state.W.copy(), state.cross.copy()  # X'Q of the first stage; E'EV, the products of the mean with E
    leverage = np.einsum("ij,ij->i", V, V)
    inverse = np.divide(total, left, out=np.zeros_like(left), where=drawable)  # 1 / p_j
    mean_square = float((V * mean).sum())
    own = inverse * total * leverage + mean_square - 2 * inverse * np.einsum("ij,ij->i", mean, V)  # |M_j - EV|^2
    variance = total * float(leverage[drawable].sum()) - mean_square
    products, deviation = np.zeros_like(mean), 0.0  # E'D and |D|^2
    for draw in range(1, n_draws + 1):
        if not filling.open().any():
            return
        along = inverse * np.einsum("ij,ij->i", products, V) - (V * products).sum()
        after = np.where(drawable, deviation + own + 2 * along, np.inf)
        feasible = after <= max(after.min(), draw * variance)  # the minimum guards against rounding
        new = feasible & filling.open()
        j = first_largest(np.where(new, state.gains(), -1.0)) if new.any() else int(np.argmin(after))
        gram_column = filling.view.gram_columns(np.array([j]))[:, 0]
        if new.any():
            filling.take(j, gram_column)
        products += np.multiply.outer(gram_column - W @ W[j], inverse[j] * V[j]) - mean
        deviation = float(after[j])
    filling.fill_up()
