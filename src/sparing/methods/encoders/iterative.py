"""Sequential components, each with separate features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg import encoder_on, top_spectrum
from sparing.linalg.span import encoder_with
from sparing.linalg.theorem_bounds import dual_set_factor
from sparing.methods.selectors import Greedy, Selector
from sparing.objectives.joint import LossAlternation
from sparing.objectives.residual import residual_view
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class Iterative:
    """Ordered components by the batch encoder with k = 1 on the residual, step by step [magdonismail2015, Theorem 11].

    Every prefix of the components is a valid encoder. With ``refit`` all loadings are then fitted together on the
    supports found, which lowers the loss of the whole and gives up nothing but the theorem's loadings.

    Parameters
    ----------
    selector : Selector, optional
        Of the features of each component; that of the estimator, or greedy, where none is given.
    refit : bool
        Refit all loadings together at the end, alternately.
    safeguard : Selector, optional
        Also run for a component that loses more of the residual than Theorem 6(i) allows, so that the theorem holds for
        every component. Not used with rules on features, which violate the theorem's hypothesis.

    Notes
    -----
    **Guarantee.** Where a selector loses at most 1 + delta_j times what one principal component loses of each residual,
    the prefix of length l loses at most b_l, with b_0 = ||X||^2 and b_j = (1 + delta_j)(b_{j-1} - lambda_j): see
    ``sparing.linalg.theorem_bounds.iterative_bound``. The delta_j are those of dual set selection, also as safeguard,
    or of adaptive sampling. With the selector of Theorem 7 and r_j = 5 + ceil(5j/eps) features this is at most
    (el)^eps ||X - X_l||^2 + eps l^(1+eps) ||X_l - X_1||^2 in expectation.
    **Differs from the paper.** The default selector is greedy; the uniform-sparsity remark should read 5 + 5/eps.
    """

    selector: Selector | None = None
    refit: bool = True
    safeguard: Selector | None = None

    reference: ClassVar = Reference("magdonismail2015", "Theorem 11")

    def encode(self, task: Task, run: Run) -> Encoder:
        """Components in the order in which they were found.

        A first component that keeps more may leave less to the others, so that the answers of all efforts compete.
        """
        searches = getattr(self.selector or Greedy(), "searches", False)
        levels = islice(run.levels(), None if searches else 1)  # others choose alike with any effort
        best = self._encoder(task, next(levels))
        for level in levels:
            if level.budget.expired:
                break
            best = min(best, self._encoder(task, level), key=lambda found: found.loss)
        return best

    def _encoder(self, task: Task, run: Run) -> Encoder:
        """Components by a search with this effort."""
        view, spectrum = task.gram, task.spectrum
        rows, selector = compact(view), self.selector or Greedy()
        rules, sizes = separate_rules(selector, task, run)
        H = residual_directions(selector, view, spectrum, sizes, run, rows=rows, rules=rules, safeguard=self.safeguard)
        support = np.flatnonzero(H.any(axis=1))
        gram_columns = view.gram_columns(support)
        if self.refit and H.shape[1] > 1:
            squared = view.gram_squared(support, gram_columns)
            core = LossAlternation(gram_columns[support], squared, run.budget, rows=rows, core=support)
            H[support] = core.refit(H[support], sweeps=SEARCH.refits)
        return encoder_with(support, H[support], gram_columns, spectrum.total).including(rules.required)


def separate_rules(selector: Selector, task: Task, run: Run) -> tuple[Rules, list[int]]:
    """Rules for components with separate features that satisfy them jointly, and the number of features of each.

    A required feature is read by some component. A budget and limits of groups are satisfied by choosing the features
    of all components first; any subset of those is allowed.
    """
    rules, d = task.rules, task.gram.n_features
    if not rules.has_limits:
        return rules, task.sizes
    together = min(sum(task.sizes), rules.most_features(d))
    chosen = selector.select(Task.of_columns(task.gram, together, task.spectrum, rules), run).columns
    return Rules(required=rules.required).narrowed(chosen, d), [min(size, len(chosen)) for size in task.sizes]


def residual_directions(
    selector: Selector,
    view: DataMatrix,
    spectrum: Spectrum,
    sizes: Sequence[int],
    run: Run,
    *,
    rows: Array | None = None,
    rules: Rules = NO_RULES,
    safeguard: Selector | None = None,
) -> Array:
    """One sparse direction per size (columns, d x k), each on the residual of the earlier ones: steps 2 to 6.

    ``rows`` are those of :func:`compact`, if available. A required feature goes to the first component that
    chooses it, or to the last that has room for it. ``safeguard`` is that of :class:`Iterative`.
    """
    H, waiting = np.zeros((view.n_features, 0)), rules.required
    for number, size in enumerate(sizes):
        residual = view
        if H.shape[1] > 0:
            residual = view.projected(residual_of=H) if rows is None else residual_view(rows, H)
        if residual.total <= 1e-12 * spectrum.total:
            break
        leading = top_spectrum(residual, 1, run.rng)
        if leading.rank == 0:
            break
        now = _required_now(residual, leading, waiting, len(waiting) - sum(sizes[number + 1 :]))
        asked = Task.of_columns(residual, size, leading, replace(rules, required=now) if rules else rules)
        chosen = selector.select(asked, run.share(1 / (len(sizes) - number)))
        if not (np.diagonal(chosen.inside()) > 0).any():  # the features that may be read say no more
            break
        found = encoder_on(chosen, 1, residual.total)
        promised = leading.loss_ratio(found.loss) <= dual_set_factor(1, size)
        if safeguard is not None and not rules and not promised:
            other = encoder_on(safeguard.select(asked, run), 1, residual.total)
            found = other if other.loss < found.loss else found
        H, waiting = np.column_stack([H, found.components[0]]), np.setdiff1d(waiting, chosen.columns)
    return H


def _required_now(view: DataMatrix, leading: Spectrum, waiting: Indices, count: int) -> Indices:
    """Required features that this component should take: those with the largest weight in it."""
    if count <= 0:
        return waiting[:0]
    squares = view.gram_diagonal()[waiting]
    says = np.divide(np.square(leading.cross[waiting, 0]), squares, out=np.zeros(len(waiting)), where=squares > 0)
    return np.sort(waiting[np.argsort(-says, kind="stable")[:count]])


def compact(view: DataMatrix) -> Array | None:
    """R with R'R = A and no more rows than features, where features are few; from rows in memory if not too many."""
    n, d = view.n_samples, view.n_features
    if d > SEARCH.compact_features or not view.is_psd:
        return None
    if view.rows_in_memory and n is not None and n * d <= SEARCH.compact_entries:
        return np.asarray(np.linalg.qr(view.columns(np.arange(d)), mode="r"))
    values, vectors = np.linalg.eigh(view.gram())
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)
