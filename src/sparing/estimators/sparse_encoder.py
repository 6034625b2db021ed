"""Components that use few features and lose little more than PCA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from sparing import errors
from sparing.certificates import certify_loss
from sparing.data import Preprocessing, Rows
from sparing.estimators.base import Fit, too_few, too_many
from sparing.estimators.feature_rules import UNCOUNTED, Counted
from sparing.estimators.inputs import CHOSEN, Reading, reading_of
from sparing.estimators.parameters import (
    checked_components,
    feature_count,
    feature_counts,
    loss_limit,
    resolved,
)
from sparing.estimators.streaming import StreamingEncoder
from sparing.estimators.validation.grid import Ask
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import PROMISES
from sparing.methods.base import check_settings
from sparing.methods.encoders import (
    STRATEGIES,
    Batch,
    FewPasses,
    Iterative,
    Joint,
    fewest_features,
    fewest_for_each,
)
from sparing.methods.encoders.batch import orthonormalised
from sparing.methods.encoders.candidate_pool import CandidatePool
from sparing.methods.encoders.path import nested_path
from sparing.methods.selectors import SELECTORS, CountSketch, DualSet, Exact, Greedy, applicable_theorem
from sparing.methods.selectors.count_sketch import promise_of_sketch
from sparing.proof.answers import better_of
from sparing.proof.policy import prove
from sparing.results import Bound, Encoder, Enough, Premise, Problem, Spectrum
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task

DEFAULT_MIN_VARIANCE = 0.9
Strategy = Batch | Iterative | Joint


@dataclass(eq=False, repr=False)
class SparseEncoder(StreamingEncoder[Strategy]):
    """Few features that keep what PCA keeps, with a certificate.

    An encoder turns each sample into ``n_components`` scores, a decoder turns scores back into samples, and the
    information loss is the part that the best linear decoder cannot rebuild. PCA has the smallest loss but reads every
    feature. This encoder reads ``n_nonzero`` of them and reports the cost relative to PCA [magdonismail2015, Sec. 2].

    Parameters
    ----------
    n_components : int or None, default=2
        Number of components. None: the same number as features, so that every feature is predicted from all chosen ones
        (``batch``, with ``n_nonzero``).
    n_nonzero : int or sequence of int, optional
        Number of features used by all components together (``batch``), or by each (``iterative``, ``joint``; one count
        for each component is accepted there). An exact count, not a penalty; fewer are used only if no further feature
        adds anything.
    min_variance : float, optional
        Use the fewest features that keep this share of the variance that PCA's components explain. 0.9 if
        ``n_nonzero``, ``max_loss`` and this are not given.
    max_loss : float, optional
        Use the fewest features whose loss is at most this multiple of PCA's loss.
    include, exclude : names, indices or a mask, optional
        Features that must be read (by some component), and features that must not be read. An excluded feature is still
        predicted and counts in ``variance_kept_``.
    costs : array-like of shape (n_features,) or dict by name, with max_cost : float, optional
        Cost of each feature, and budget for all features that are read. With ``batch`` a budget can replace a count:
        the number of features then follows from it.
    groups : labels of shape (n_features,) or dict by name, with max_per_group : int or dict by label, optional
        Maximum number of features read from one group. The label None means no group.
    noise_variance : float, array-like of shape (n_features,), dict by name, "auto" or None, default=None
        Variance of independent noise on every reading, in squared units of X (after ``scale``; with it, shares of a
        feature's variance). Features, loadings, decoder and certificate are then the best for readings with this noise,
        as with real sensors; the same number for all features shrinks predictions as ridge regression does. "auto": the
        multiple of the mean variance, of 0, .03, .1, .3, 1, 3 and 10, that keeps most variance of unread features in
        held-out samples (5 folds). It improves predictions of new samples if features outnumber samples.
    strategy : {"batch", "iterative", "joint"} or a strategy, default="batch"
        ``batch``: all components share one set of features. ``iterative``: one after the other, each with its own
        features; every prefix is an encoder. ``joint``: a separate set of features for each component, optimised
        together, with the smallest loss for a given number of features per component. An instance with its own settings
        is accepted too: ``Batch``, ``Iterative`` or ``Joint`` of ``sparing.methods.encoders``, such as
        ``Batch(orthonormal=True)`` for orthonormal loadings or ``Batch(sketch=500)`` for loadings from a random
        projection.
    selector : str or a selector, default="auto"
        How features are chosen: ``auto``, ``greedy``, ``exact``, ``dual_set``, ``adaptive``, ``count_sketch``,
        ``leverage``, ``pivoted_qr`` or ``uniform``. ``auto`` is greedy on the principal components with swaps,
        safeguarded by dual set selection so that Theorem 6(i) always holds (``batch``), and Theorem 11 with it
        (``iterative``). An instance with its own settings is accepted too.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1), computed about zero without ``center``. Sparse data stay
        sparse.
    certify : bool, default=True
        Recompute the loss from the data and prove a lower bound. If the proof finds a better answer, that one is
        returned, unless you named a selector.
    precomputed : bool, default=False
        X is a covariance or correlation matrix; ``transform`` then takes data centred like those it came from.
    passes : {"auto", "any", "few"}, default="auto"
        How often X may be read. ``few``: with at most 1024 features their whole Gram matrix is computed and the answer
        is the usual one, in two passes; otherwise features are chosen from a sketch, in three passes over dense and
        five over sparse data (greedy selectors), for an excess loss within about 3% of the usual one; the loss and the
        certificate stay exact. ``missing="mean"`` needs one more pass. A search for the fewest features stops at 100
        and is available for ``batch`` only. ``auto``: few if X is a Dask array, or larger than 4 GiB and not in memory.
    missing : {"error", "mean"}, default="error"
        How to treat NaN: raise an error, or replace it by the mean of its feature (in new data by the mean of the fit,
        ``imputation_``).
    feature_names_out : {"numbered", "leading"}, default="numbered"
        Names of the scores in ``get_feature_names_out`` and the tables of ``set_output``: ``sparseencoder0``, or the up
        to three features with the largest loadings, such as ``proline+flavanoids``.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of search and proof when there is no time limit.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, with a valid bound.
    checkpoint : str or path, optional
        Folder in which each finished pass over X is saved. A killed fit that is started again with the same X and
        parameters continues after its last finished pass and gives the same result. X is recognised by its shape, type
        and first rows, files also by size and date. After a successful fit the folder is emptied again.
    random_state : int, Generator, RandomState or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The encoder: unit rows, zero outside ``support_``, scores are uncorrelated and sorted by explained variance.
    decoder_ : ndarray of shape (n_components, n_features)
        The best linear decoder.
    support_ : ndarray of int
        Sorted indices of the features used.
    variance_kept_ : float
        Share of the variance of PCA's ``n_components`` components that these explain, at most 1.
    feature_r2_ : ndarray of shape (n_features,)
        How well the decoder predicts each feature: 1 - residual variance / variance. 1 for a constant feature. With
        noise: each feature without noise, predicted from noisy readings.
    noise_variance_ : float or ndarray of shape (n_features,)
        Variance of the assumed noise; 0 for none.
    loss_, loss_ratio_ : float
        Information loss as a sum of squares, and divided by PCA's loss (at least 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of variance that each component adds; sums to 1 - loss / total.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : Certificate
        Print it.
    n_passes_ : int
        Number of passes over X.
    n_samples_seen_ : int
        Rows so far, after ``partial_fit``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sparing import SparseEncoder
    >>> from sparing.datasets import load_pitprops
    >>> X = load_pitprops().correlation
    >>> model = SparseEncoder(n_components=2, n_nonzero=5, center=False, random_state=0).fit(X)
    >>> model.support_
    array([1, 2, 5, 6, 7])
    """

    n_components: int | None = 2
    _: KW_ONLY
    n_nonzero: int | Sequence[int] | None = None
    min_variance: float | None = None
    max_loss: float | None = None
    include: Any = None
    exclude: Any = None
    costs: Any = None
    max_cost: float | None = None
    groups: Any = None
    max_per_group: Any = None
    noise_variance: Any = None
    strategy: Any = "batch"
    selector: Any = "auto"
    center: bool = True
    scale: bool = False
    certify: bool = True
    precomputed: bool = False
    passes: str = "auto"
    missing: str = "error"
    feature_names_out: str = "numbered"
    effort: str = "default"
    time_limit: float | None = None
    checkpoint: str | PathLike[str] | None = None
    random_state: Any = 0
    verbose: bool = False

    _optional: ClassVar[tuple[str, ...]] = ("n_components",)

    def _reading(self, rows: Rows, algorithm: Strategy, preprocessing: Preprocessing, run: Run) -> Reading:
        """How the rows are read: in any number of passes, or in few."""
        k, n_nonzero = self._counts(*rows.shape[::-1])
        possible = isinstance(algorithm.selector, Greedy) and getattr(algorithm, "sketch", None) is None
        possible = possible and self.noise_variance is None and (n_nonzero is not None or self._shares_features)
        most = SEARCH.sketch_features if n_nonzero is None else self._together(k, n_nonzero)
        return reading_of(rows, self.passes, possible, most, run.rng, preprocessing)

    def _solve(self, fit: Fit[Strategy]) -> tuple[Task, Encoder]:
        view, run, k, n_nonzero = fit.view, fit.run, fit.n_components, fit.n_nonzero
        if view.sketch is not None:
            found, spectrum, known = self._in_few_passes(fit)
            return self._task(fit, known, spectrum, found), found
        most = n_nonzero if isinstance(n_nonzero, int) and self._shares_features else k
        pca = top_spectrum(view, k, run.rng)
        spectrum = pca.leading(most)
        if n_nonzero is None:
            found = self._fewest(fit, spectrum)
        else:
            found = fit.algorithm.encode(Task.of_components(view, spectrum, n_nonzero, rules=fit.rules), run)
        return self._task(fit, view, pca, found), found

    def _task(self, fit: Fit[Strategy], view: DataMatrix, spectrum: Spectrum, found: Encoder) -> Task:
        """The problem of the certificate: all components with the number of features that these may have."""
        shared, n_nonzero = self._shares_features, fit.n_nonzero
        counts: tuple[int, ...] = ()
        if not isinstance(n_nonzero, int) and not shared:
            each = np.count_nonzero(found.loadings, axis=1) if n_nonzero is None else n_nonzero
            counts = tuple(int(one) for one in each)
        count = n_nonzero if isinstance(n_nonzero, int) else max(counts, default=len(found.support))
        n_components = min(spectrum.rank, count) if shared else spectrum.rank
        problem = Problem(n_components, count, view.n_features, shared_support=shared, counts=counts, rules=fit.rules)
        return Task(view, problem, spectrum)

    def _in_few_passes(self, fit: Fit[Strategy]) -> tuple[Encoder, Spectrum, DataMatrix]:
        """Encoder and spectrum, and a view with the Gram columns for the certificate."""
        view, n_nonzero = fit.view, fit.n_nonzero
        selector = Greedy(swaps=n_nonzero is not None)  # a nested order, if the fewest features are searched
        if not isinstance(fit.algorithm, Batch):
            together = self._together(fit.n_components, n_nonzero)
            pool = CandidatePool.read(view, selector, fit.n_components, together, fit.run, fit.rules)
            task = pool.task(fit.n_components, n_nonzero, fit.run, fit.rules)
            found, spectrum, known = pool.measured(fit.algorithm.encode(task, fit.run), fit.n_components)
            return found.including(fit.rules.required), spectrum, known
        found, spectrum, selection = FewPasses(selector).encode(
            view, fit.n_components, n_nonzero, fit.run, enough=self._enough(), rules=fit.rules
        )
        known = view.cached(selection.columns, selection.gram_columns)
        orthonormal = fit.algorithm.orthonormal
        return orthonormalised(found) if orthonormal else found, spectrum, known

    def _shortcoming(self, fit: Fit[Strategy], task: Task) -> str | None:
        k, n_nonzero = fit.n_components, fit.n_nonzero
        if self.n_components_ < k and self.n_components is not None:  # otherwise the same number as features
            if self._shares_features and isinstance(n_nonzero, int) and n_nonzero < k:
                why = f"n_nonzero={n_nonzero} shared features give at most as many components"
                return errors.fewer_components(k, self.n_components_, why)
            span = f"the {len(self.support_)} feature(s) found span no more"
            return too_few(k, self.n_components_, task.spectrum, span)
        missed = None if n_nonzero is not None else self._missed(self._enough())
        return missed or too_many(fit.view, len(self.support_))

    def _missed(self, enough: Enough) -> str | None:
        """The warning if even the largest number of features tried is not enough."""
        if enough.max_loss is not None and self.loss_ratio_ > enough.max_loss * (1 + 1e-6):
            wanted, reached = f"max_loss={enough.max_loss:g}", f"lose {self.loss_ratio_:.4g} times what PCA loses"
        elif enough.min_variance is not None and self.variance_kept_ < enough.min_variance * (1 - 1e-6):
            kept = f"{math.floor(self.variance_kept_ * 1000) / 10:.1f}%"
            wanted, reached = f"min_variance={enough.min_variance:g}", f"keep {kept} of PCA's variance"
        else:
            return None
        return (
            f"{wanted} was not reached: {len(self.support_)} feature(s) {reached}. Further features add nothing in "
            f"double precision, or time_limit ended the search, or passes='few' stopped at about 100 features "
            f"(passes='any' does not)."
        )

    def _noise_for(self, fit: Fit[Strategy]) -> Ask:
        """The sizes for which noise is chosen; with separate features per component, for all of them together."""
        if fit.n_nonzero is None:
            return Ask(fit.n_components, None, self._enough(), fit.rules)
        together = self._together(fit.n_components, fit.n_nonzero)
        return Ask(fit.n_components, min(together, fit.view.n_features), rules=fit.rules)

    def _together(self, n_components: int, n_nonzero: int | list[int]) -> int:
        """Features of all components."""
        if isinstance(n_nonzero, int):
            return n_nonzero if self._shares_features else n_components * n_nonzero
        return sum(n_nonzero)

    def _enough(self) -> Enough:
        """The criterion for enough features, if their number is not given."""
        if self.max_loss is not None:
            return Enough(max_loss=loss_limit(self.max_loss))
        return Enough(min_variance=DEFAULT_MIN_VARIANCE if self.min_variance is None else self.min_variance)

    @property
    def _shares_features(self) -> bool:
        """Whether all components read the same features."""
        return isinstance(self.strategy, Batch) or (isinstance(self.strategy, str) and self.strategy == "batch")

    def _algorithm(self) -> Strategy:
        strategy = resolved("strategy", STRATEGIES, "encode", self.strategy)
        if not isinstance(strategy, Batch | Iterative | Joint):
            raise errors.unknown_choice("strategy", self.strategy, STRATEGIES)
        auto = isinstance(self.selector, str) and self.selector == "auto"
        selector = Greedy() if auto else resolved("selector", SELECTORS, "select", self.selector, also=("auto",))
        if strategy.selector is None:
            if auto and isinstance(strategy, Batch | Iterative) and strategy.safeguard is None:
                return replace(strategy, selector=selector, safeguard=DualSet())
            return replace(strategy, selector=selector)
        if not auto:
            raise ValueError(
                f"Both selector={self.selector!r} and a strategy with its own selector, {strategy!r}, were given. Pass "
                "one of them."
            )
        check_settings(strategy.selector)
        return strategy

    def _counts(self, n_features: int, n_samples: int | None = None) -> tuple[int, int | list[int] | None]:
        given = [name for name in ("n_nonzero", "min_variance", "max_loss") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(
                f"Both {given[0]} and {given[1]} were given; only one can be set. Pass n_nonzero to fix the number "
                "of features, min_variance to get the fewest features that keep a share of PCA's variance, or max_loss "
                "to get the fewest that lose at most a multiple of what PCA loses."
            )
        if self.n_components is None:
            return self._without_bottleneck(n_features)
        n_components = checked_components(self.n_components, n_features)
        if self.n_nonzero is None:
            return n_components, None if self.max_cost is None else self._paid_for(given, n_features, n_samples)
        if np.ndim(self.n_nonzero) and self._shares_features:
            raise ValueError(
                f"n_nonzero is a list, but strategy={self.strategy!r} gives all components the same features. Pass one "
                "integer: the number of features shared by all components."
            )
        return n_components, feature_counts(self.n_nonzero, n_components, n_features)

    def _paid_for(self, given: list[str], n_features: int, n_samples: int | None) -> int:
        """The largest number of features that a budget allows, if it replaces a count."""
        if given or not self._shares_features:
            raise ValueError(
                "max_cost without n_nonzero needs strategy='batch', and cannot be combined with "
                "min_variance or max_loss; "
                f"{f'{given[0]} was given' if given else f'strategy={self.strategy!r} was passed'}. Pass n_nonzero "
                "with max_cost, or leave the other out."
            )
        return min(self._rules(n_features, n_samples).most_features(n_features), n_samples or n_features)

    def _counted(self, n_features: int, n_samples: int | None) -> Counted:
        if self.n_nonzero is None:
            return UNCOUNTED
        k, counts = self._counts(n_features, n_samples)
        if isinstance(counts, int):
            return Counted("n_nonzero", counts, counts if self._shares_features else k * counts)
        return Counted("n_nonzero", max(counts or [0]), sum(counts or []))

    def _without_bottleneck(self, n_features: int) -> tuple[int, int]:
        """Check for ``n_components=None``, which needs a number of features that all components share."""
        if not self._shares_features or self.n_nonzero is None:
            raise ValueError(
                "n_components=None predicts every feature from all of those chosen: it needs their number, n_nonzero, "
                f"and strategy='batch'; n_nonzero={self.n_nonzero!r} and strategy={self.strategy!r} were passed. Pass "
                "n_nonzero, or a number of components."
            )
        n_nonzero = feature_count("n_nonzero", self.n_nonzero, n_features)
        return n_nonzero, n_nonzero

    def _fewest(self, fit: Fit[Strategy], spectrum: Spectrum) -> Encoder:
        view, encoder, run, rules = fit.view, fit.algorithm, fit.run, fit.rules
        limit = min(rules.most_features(view.n_features), view.n_samples or view.n_features)
        limit = max(limit, len(rules.required))
        if isinstance(encoder, Batch):
            return self._fewest_shared(encoder, Task.of_components(view.cached(), spectrum, limit, rules=rules), run)
        return fewest_for_each(
            lambda counts: encoder.encode(Task.of_components(view, spectrum, counts, rules=rules), run),
            self._enough().loss(spectrum),
            spectrum.rank,
            limit,
            budget=run.budget,
            together=len(rules.required),
        )

    def _fewest_shared(self, encoder: Batch, most: Task, run: Run) -> Encoder:
        """A count by quick searches, then one feature fewer at a time while a full search finds enough."""
        spectrum, limit = most.spectrum, most.n_nonzero
        quick, most_loss = replace(run, effort=run.effort.levels[0]), self._enough().loss(spectrum)
        # fewer shared features than components would give fewer components
        least = min(max(spectrum.rank, len(most.rules.required)), limit)
        found = fewest_features(
            lambda r: encoder.encode(most.counting(r), quick),
            most_loss,
            least,
            limit,
            budget=run.budget,
            enough=_enough(most, most_loss, run.rng),
        )
        best = found
        for count in range(len(found.support) - 1, least - 1, -1):
            trial = encoder.encode(most.counting(count), run)
            if run.budget.expired or trial.loss > most_loss:
                break
            best = trial
        if best is not found or run.effort is quick.effort or run.budget.expired:
            return best
        again = encoder.encode(most.counting(len(found.support)), run)
        return min(found, again, key=lambda encoder: encoder.loss)

    def _prove(self, fit: Fit[Strategy], task: Task, found: Encoder) -> tuple[Encoder, list[Bound]]:
        pca = replace(task, target=task.spectrum.leading(task.problem.n_components))
        bounds, algorithm = prove(pca, found, fit.run), fit.algorithm
        own = algorithm.selector == Greedy() or isinstance(algorithm.selector, Exact)  # others were requested by name
        if not own or getattr(algorithm, "sketch", None) is not None:
            return found, bounds
        better = better_of(pca, found, bounds)
        orthonormal = isinstance(algorithm, Batch) and algorithm.orthonormal and better is not found
        return orthonormalised(better) if orthonormal else better, bounds

    def _certify(self, fit: Fit[Strategy], task: Task, found: Encoder, bounds: list[Bound]) -> None:
        few, asked = task.gram is not fit.view, task.spectrum  # few: features were chosen from a sketch
        task = replace(task, target=asked.leading(task.problem.n_components))
        premise = None if few or fit.rules else _premise(fit.algorithm, task)
        certificate = certify_loss(task, found, bounds, fit.preprocessing, premise=premise, asked=asked)
        notes = (CHOSEN.format(fit.view.passes, "their loss"),) if few else ()
        self.certificate_ = replace(certificate, notes=notes)
        self.loss_, self.loss_ratio_ = self.certificate_.value, self.certificate_.ratio
        self.variance_kept_ = self.certificate_.variance_kept


def _premise(algorithm: Strategy, task: Task) -> Premise | None:
    """The selector whose guarantee a fit satisfies, by its name in the theorems."""
    if isinstance(algorithm, Joint) or (isinstance(algorithm, Batch) and algorithm.sketch is not None):
        return None  # loadings from a sketch are not the best on their features
    safe = applicable_theorem(algorithm.safeguard) == "dual_set"
    if isinstance(algorithm.selector, CountSketch) and isinstance(algorithm, Batch) and not safe:
        return promise_of_sketch(algorithm.selector, task.spectrum.rank, task.n_nonzero, task.gram.n_samples or 0)
    kept = "dual_set" if safe else applicable_theorem(algorithm.selector)
    return Premise(kept) if kept in PROMISES else None


def _enough(most: Task, most_loss: float, rng: np.random.Generator) -> int | None:
    """A number of features that satisfies the loss limit, from nested greedy choices of doubling length."""
    limit, first = most.n_nonzero, len(most.rules.required)
    length = min(max(4 * most.spectrum.rank, 2 * first), limit)
    while True:
        path = nested_path(most.gram, most.spectrum, length, rng, most.rules)
        fits = path.losses <= most_loss
        if fits.any():
            return len(path.supports[int(fits.argmax())])
        if length == limit or len(path.supports[-1]) < length:
            return None
        length = min(4 * length, limit)
