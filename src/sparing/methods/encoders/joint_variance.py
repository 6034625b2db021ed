"""Components of maximal variance, optimised together."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import Deflation, OrthogonalConstraint
from sparing.methods.encoders.joint_goals import ConstrainedVariances, JointVariances, equal_shares
from sparing.methods.encoders.joint_search import JointSearch
from sparing.methods.solvers import Solver
from sparing.results import Array, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class JointVariance:
    """All components selected together for the variance of their span, the criterion of [mackey2008, Sec. 3].

    Swaps of features in all components are scored at once, beside what the others explain. Starts are components one
    after the other, truncated rotations of the principal components, and features shared out among components; then
    the best are perturbed, crossed and improved again. Ordered by what each component adds; prefixes are not optimal.

    Parameters
    ----------
    solver : Solver
        For components one after the other, the first of the starts.
    constraint : Deflation, optional
        The constraint that all pairs of components must keep, ``orthogonal`` or ``uncorrelated``.
    total : bool
        ``n_nonzero`` is the sum over all components: features move to the component that gains most by them.
    ridge : float
        Keeps components from becoming near-copies of one another; 0 is the free criterion. Less where the last
        principal component has less than a tenth of the first one's variance.

    Notes
    -----
    **Optimises** tr((H'H + ridge I)^-1 H'AH) over unit columns with given counts. Where the best has near-copies all
    the same, the answer is the best without them that was found, if it has nearly the same variance.
    **Differs from the paper.** It has generalized deflation, one component after the other, which is a start here.
    """

    solver: Solver
    constraint: Deflation | None = None
    total: bool = False
    ridge: float = 0.01

    reference: ClassVar = Reference("mackey2008", "Sec. 3")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts."""
        whole = task.gram.cached()
        return encoder_of(whole, self._found(task, whole, run), task.spectrum.total)

    def _found(self, task: Task, whole: DataMatrix, run: Run) -> Array:
        """Free components start from orthogonal ones as well, and so are never below them."""
        known = list[Array]()
        if self.constraint is None:
            constrained = replace(self, constraint=OrthogonalConstraint())
            known = [constrained._found(task, whole, replace(run.share(0.5), rng=deepcopy(run.rng)))]
        return JointSearch(self._goal(task, whole), self.solver, task.spectrum, run, known).run()

    def _goal(self, task: Task, whole: DataMatrix) -> JointVariances:
        """What is maximised; the guard is far below what the least component is worth: else copies would pay."""
        values = task.spectrum.values
        ridge = min(self.ridge, 0.1 * float(values[-1] / values[0]))
        sizes = equal_shares(task.n_nonzero, len(values)) if self.total else task.sizes
        if self.constraint is not None:
            return ConstrainedVariances(whole, sizes, self.constraint, float(values[0]), in_all=self.total)
        return JointVariances(whole, sizes, ridge, in_all=self.total)
