"""Which bounds are worth computing for which problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sparing.certificates import Certificate, VarianceCertificate, certify_variance
from sparing.certificates.sentences import PROVED
from sparing.certificates.variance import single
from sparing.data import Preprocessing
from sparing.gram import DataMatrix
from sparing.linalg.variance import symmetric_total
from sparing.proof.bounds import (
    BranchAndBound,
    DirectOptimality,
    DisjointSupports,
    DoublyNonnegativeDual,
    EachAlone,
    LargestDiagonals,
    LeadingVariance,
    NonnegativeBranchAndBound,
    NonnegativeOptimality,
    OrthogonalDual,
    RowSquares,
    RowSums,
    SemidefiniteDual,
    SharedPart,
    SharperDual,
    ShiftedLowRank,
)
from sparing.proof.trees.single_component_proof import bound_of_one_component
from sparing.results import Bound, Encoder, Problem, Spectrum
from sparing.run import Run
from sparing.task import Task

ROWS_OF_GRAM = 500
"""Up to as many features all rows of the Gram matrix are read for a bound, whatever the storage."""

SEARCHED, NODES = 1000, 500
"""Up to as many features supports are searched without a time limit, and nodes of that search: half a second."""

STEPS, LOOK = 10, 5e7
"""Steps of the test of optimality without a time limit, and what one look at it may cost: n x n x d and eigenvalues."""

DUAL, DUAL_LIMITED = 64, 500
"""Up to as many features the semidefinite relaxation takes a fraction of a second; and with a time limit."""

QUICK_DUAL, QUICK_STEPS = 200, 40
"""Up to as many features a few of its iterations do, a quarter of a second: what is left of a gap for noise."""

RANK = 8
"""Rank of the surrogate for nonnegative components, of which fewer directions come into question."""

TOGETHER, TOGETHER_LIMITED = 32, 200
"""The same for several components together."""

INTERRUPTED = "The search was interrupted: more time could find or prove more."
TIMED_OUT = "The time limit was reached: more time could find or prove more."

UNLIMITED = 10**9
"""Nodes where time is the limit."""

Method = Callable[..., Bound | None]


def variance_certificate(
    view: DataMatrix, found: Encoder, spectrum: Spectrum, problem: Problem, preprocessing: Preprocessing, run: Run
) -> VarianceCertificate:
    """The certificate of all components together, with one for each of them."""
    bounds = bounds_on_variance(view, problem, spectrum, found, run)
    parts = list[Certificate]()
    if len(found.loadings) > 1:
        alone, known = spectrum.leading(1), dict[int, list[Bound]]()

        def of_one(component: Encoder, n_nonzero: int) -> tuple[Problem, list[Bound]]:
            part = Problem(1, n_nonzero, view.n_features, "variance", nonnegative=problem.nonnegative)
            if n_nonzero not in known:
                known[n_nonzero] = bounds_on_variance(view, part, alone, component, run)
            return part, known[n_nonzero]

        for number in range(len(found.loadings)):
            component = single(found, number)
            part, its_bounds = of_one(component, len(component.support))
            parts.append(certify_variance(view, component, alone, its_bounds, part, preprocessing))
        if problem.orthogonal and not problem.shared_support:
            _, largest = of_one(single(found, 0), problem.n_nonzero)
            least = min(largest, key=lambda bound: bound.value)
            if (together := EachAlone(least).bound(Task(view, problem), found, run)) is not None:
                bounds.append(together)
    certificate = certify_variance(view, found, spectrum, bounds, problem, preprocessing, parts=parts)
    if run.budget.expired and certificate.gap > PROVED:
        said = INTERRUPTED if run.budget.interrupted else TIMED_OUT
        return replace(certificate, notes=(*certificate.notes, said))
    return certificate


def bounds_on_variance(view: DataMatrix, problem: Problem, spectrum: Spectrum, found: Encoder, run: Run) -> list[Bound]:
    """Bounds that hold for the problem: the cheap ones all, the dear ones until one of them proves the value."""
    cheap: list[Method] = [LeadingVariance(spectrum).bound, LargestDiagonals().bound]
    expensive: list[Method] = []
    if problem.n_components == 1:
        if view.n_features <= ROWS_OF_GRAM:
            cheap += [RowSums().bound, RowSquares().bound]
        of_one = _of_one_nonnegative if problem.nonnegative else _of_one
        expensive = of_one(view, problem, found, limited=run.budget.deadline is not None)
    else:
        expensive = _of_several(view, problem, limited=run.budget.deadline is not None)
    task = Task(view, problem, spectrum)
    computed = [bound for method in cheap if (bound := method(task, found, run)) is not None]
    value = symmetric_total(view, found.components.T)
    try:
        for method in expensive:
            if any(bound.reached or bound.value <= value * (1 + PROVED) for bound in computed):
                break
            if (bound := method(task, found, run)) is not None:
                computed.append(bound)
            if run.budget.expired:
                break
    except KeyboardInterrupt:  # what is proved so far is an answer
        run.budget.interrupt()
    return computed


def _of_one(view: DataMatrix, problem: Problem, found: Encoder, *, limited: bool) -> list[Method]:
    """For one component, what is soonest done or most likely to prove it first; with a time limit also what may take
    long."""
    d = view.n_features
    known = found.single_bounds.get(problem.n_nonzero)
    if known is not None and (problem.nonnegative or not known.nonnegative):  # the solver has searched already
        searched: list[Method] = [lambda *_, **__: known]
    elif limited:
        searched = [BranchAndBound(max_nodes=UNLIMITED).bound]
    else:
        searched = [BranchAndBound(max_nodes=NODES).bound] if d <= SEARCHED else []
    duals: list[Method] = []
    if d <= (DUAL_LIMITED if limited else DUAL):
        duals = [SemidefiniteDual().bound, SharperDual().bound]
    elif d <= QUICK_DUAL:
        duals = [SemidefiniteDual(max_iter=QUICK_STEPS).bound]
    return [*searched, *_looks(view, limited=limited), ShiftedLowRank().bound, *duals]


def _of_one_nonnegative(view: DataMatrix, problem: Problem, found: Encoder, *, limited: bool) -> list[Method]:
    """The same for one nonnegative component: what knows of signs first, then what holds for any sign."""
    d = view.n_features
    quick = not limited and d > QUICK_DUAL
    methods: list[Method] = []
    if problem.n_nonzero in found.single_bounds:  # the solver has searched already
        methods = [lambda *_, **__: found.single_bounds[problem.n_nonzero]]
    elif d <= SEARCHED:
        methods = [NonnegativeBranchAndBound(max_nodes=NODES, max_iter=0 if quick else 100).bound]
    if d <= DUAL_LIMITED:
        methods.append(DoublyNonnegativeDual(max_iter=QUICK_STEPS if quick else 200).bound)
    methods.append(ShiftedLowRank(rank=RANK).bound)
    if limited or d > DUAL_LIMITED:
        methods.append(NonnegativeOptimality().bound)
    if not limited:
        return methods + _looks(view, limited=False)
    plain = _of_one(view, problem, replace(found, single_bounds={}), limited=True)
    return [*methods, NonnegativeBranchAndBound(max_nodes=UNLIMITED).bound, *plain]


def _looks(view: DataMatrix, *, limited: bool) -> list[Method]:
    """The test of optimality, where a look at it is cheap."""
    n = min(view.n_samples or view.n_features, view.n_features)
    cheap = n**2 * (view.n_features + 4 * n) <= LOOK
    return [DirectOptimality(max_iter=200 if limited else STEPS).bound] if limited or cheap else []


def _of_several(view: DataMatrix, problem: Problem, *, limited: bool) -> list[Method]:
    """For several components, each only where its hypothesis holds."""
    methods: list[Method] = [DisjointSupports().bound] if problem.disjoint else []
    if view.n_features <= (TOGETHER_LIMITED if limited else TOGETHER):
        shared = SharedPart() if limited else SharedPart(rounds=0)
        orthogonal = OrthogonalDual(bound_of_one_component, rounds=20 if limited else 10)
        methods.append(orthogonal.bound if problem.orthogonal else shared.bound)
    return methods
