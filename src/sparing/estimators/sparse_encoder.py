"""Components that use few features and lose little more than PCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates import certify_loss
from sparing.data import Preprocessing, Rows
from sparing.estimators.base import Fit, too_few
from sparing.estimators.few_passes import Reading, reading_of
from sparing.estimators.parameters import (
    component_count,
    feature_counts,
    loss_limit,
    one_of,
    resolved,
)
from sparing.estimators.streaming import StreamingEncoder
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders import Batch, FewPasses, Iterative, Joint, fewest_features, fewest_for_each
from sparing.methods.encoders.batch import orthonormalised
from sparing.methods.encoders.few_passes import MOST
from sparing.methods.encoders.path import nested_path
from sparing.methods.selectors import SELECTORS, DualSet, Greedy, applicable_theorem
from sparing.proof.policy import prove
from sparing.results import Encoder, Indices, Problem, Spectrum
from sparing.run import Run
from sparing.task import Task

DEFAULT_MAX_LOSS = 1.1
STRATEGIES = ("batch", "iterative", "joint")
Strategy = Batch | Iterative | Joint
CHOSEN = "The features were chosen in {} passes over the data, from a sketch of them; their loss is exact."


class SparseEncoder(StreamingEncoder[Strategy]):
    """The few features that say what PCA says, with a certificate.

    An encoder turns each sample into ``n_components`` scores, a decoder turns scores back into samples, and the
    information loss is what the best linear decoder cannot rebuild. PCA loses least of all but reads every feature.
    This encoder reads ``n_nonzero`` of them and says what that costs [magdonismail2015, Sec. 2].

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_nonzero : int or sequence of int, optional
        Number of features used by all components together (``batch``), or by each (``iterative``, ``joint``; one count
        for each component is accepted there). An exact count, not a penalty; fewer are used only where no further
        feature would add anything.
    max_loss : float, optional
        Use the fewest features whose loss is at most this many times PCA's. 1.1 where neither is given.
    strategy : {"batch", "iterative", "joint"}, default="batch"
        ``batch``: all components share one set of features. ``iterative``: one after the other, each with features of
        its own; every prefix is an encoder. ``joint``: features of their own, optimised together: the least loss for a
        given number of features per component.
    selector : str or a selector, default="auto"
        How features are chosen: ``auto``, ``greedy``, ``exact``, ``dual_set``, ``adaptive``, ``leverage``,
        ``pivoted_qr`` or ``uniform``. ``auto`` is greedy on the principal components with swaps, safeguarded by dual
        set selection so that Theorem 6(i) always holds (``batch``). An instance with its own settings is accepted too.
    orthonormal : bool, default=False
        With ``batch``, orthonormal loadings as in the paper: the same features and loss, but correlated scores.
    sketch : int, optional
        With ``batch``, find the directions within the chosen features from a random projection of X to this many rows:
        cheaper where features are very many, within a factor 1 + O(n_components / sketch) of the best.
    center, scale : bool, default=True, False
        Subtract means; divide by standard deviations (n - 1), about zero where means stay. Sparse data stay sparse.
    certify : bool, default=True
        Recompute the loss from the data and prove what nothing can go below. Never changes the components.
    precomputed : bool, default=False
        X is a covariance or correlation matrix; ``transform`` then takes data centred like those it came from.
    passes : {"auto", "any", "few"}, default="auto"
        How often X may be read. ``few``: with at most 1024 features their whole Gram matrix is computed and the answer
        is the usual one, in two passes; else features are chosen from a sketch, in three passes over dense and five
        over sparse data (``batch``, greedy selectors), for an excess loss within about 3% of the usual one; the loss
        and the certificate stay exact. One pass more with ``missing="mean"``; at most 100 features for ``max_loss``.
        ``auto``: few where X is larger than 4 GiB and not in memory.
    missing : {"error", "mean"}, default="error"
        What NaN means: a mistake, or a missing value, which the mean of its feature then stands for (in new data the
        mean of the fit, ``imputation_``).
    effort : {"quick", "default", "thorough"}, default="default"
        How much is tried, in search and in proof, where no time limit says so.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, still with a valid bound.
    checkpoint : str or path, optional
        A folder in which each finished pass over X is kept. A fit that was killed and is started again with the same X
        and parameters goes on after its last finished pass, with the same result. X is recognised by its shape, type
        and first rows, files also by size and date. After a successful fit the folder is emptied again.
    random_state : int, Generator, RandomState or None, default=None
    verbose : bool, default=False

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The encoder: unit rows, zero outside ``support_``, scores uncorrelated and in falling order of worth.
    decoder_ : ndarray of shape (n_components, n_features)
        The best linear decoder.
    support_ : ndarray of int
        Sorted indices of the features used.
    loss_, loss_ratio_ : float
        What is lost, as a sum of squares, and divided by what PCA loses (at least 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        What each component adds; sums to 1 - loss / total.
    mean_, scale_ : ndarray of shape (n_features,)
    certificate_ : Certificate
        Print it.
    n_passes_ : int
        How often all of X was read.
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

    support_: Indices

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_nonzero: int | Sequence[int] | None = None,
        max_loss: float | None = None,
        strategy: str = "batch",
        selector: Any = "auto",
        orthonormal: bool = False,
        sketch: int | None = None,
        center: bool = True,
        scale: bool = False,
        certify: bool = True,
        precomputed: bool = False,
        passes: str = "auto",
        missing: str = "error",
        effort: str = "default",
        time_limit: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_nonzero = n_nonzero
        self.max_loss = max_loss
        self.strategy = strategy
        self.selector = selector
        self.orthonormal = orthonormal
        self.sketch = sketch
        self.center = center
        self.scale = scale
        self.certify = certify
        self.precomputed = precomputed
        self.passes = passes
        self.missing = missing
        self.effort = effort
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SparseEncoder:
        """Choose the features and learn encoder and decoder.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
            With ``precomputed=True``, a covariance of shape (n_features, n_features).
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Whole numbers count as that many copies of a row.

        Returns
        -------
        SparseEncoder
        """
        return self._fit(X, y, sample_weight)

    def _reading(self, rows: Rows, algorithm: Strategy, preprocessing: Preprocessing, run: Run) -> Reading:
        """How often the rows will be read."""
        n_nonzero = self._counts(*rows.shape[::-1])[1]
        possible = isinstance(algorithm, Batch) and isinstance(algorithm.selector, Greedy) and algorithm.sketch is None
        most = n_nonzero if isinstance(n_nonzero, int) else MOST
        return reading_of(rows, self.passes, possible, most, run.rng, preprocessing)

    def _solve(self, fit: Fit[Strategy]) -> tuple[Task, Encoder]:
        view, run, k, n_nonzero = fit.view, fit.run, fit.n_components, fit.n_nonzero
        if view.sketch is not None:
            found, spectrum, known = self._in_few_passes(view, k, n_nonzero, run)
            return self._task(known, spectrum, n_nonzero, found), found
        most = n_nonzero if isinstance(n_nonzero, int) and self.strategy == "batch" else k
        spectrum = top_spectrum(view, min(k, most), run.rng)
        if n_nonzero is None:
            found = self._fewest(fit.algorithm, view, spectrum, run)
        else:
            found = fit.algorithm.encode(Task.of_components(view, spectrum, n_nonzero), run)
        return self._task(view, spectrum, n_nonzero, found), found

    def _task(self, view: DataMatrix, spectrum: Spectrum, n_nonzero: Any, found: Encoder) -> Task:
        """What the certificate is about: any components with as many features as these may have."""
        shared = self.strategy == "batch"
        used = len(found.support) if shared else int(np.count_nonzero(found.loadings, axis=1).max())
        count = n_nonzero if isinstance(n_nonzero, int) else used
        return Task(view, Problem(spectrum.rank, count, view.n_features, shared_support=shared), spectrum)

    def _in_few_passes(
        self, view: DataMatrix, n_components: int, n_nonzero: Any, run: Run
    ) -> tuple[Encoder, Spectrum, DataMatrix]:
        """Encoder and spectrum, and a view that knows the Gram columns which the certificate needs."""
        selector = Greedy(swaps=n_nonzero is not None)  # a nested order, where the fewest features are sought
        found, spectrum, selection = FewPasses(selector).encode(
            view, n_components, n_nonzero, run, max_loss=self._max_loss()
        )
        known = view.cached(selection.columns, selection.gram_columns)
        return orthonormalised(found) if self.orthonormal else found, spectrum, known

    def _shortcoming(self, fit: Fit[Strategy], task: Task) -> str | None:
        k, n_nonzero = fit.n_components, fit.n_nonzero
        if self.n_components_ < k:
            if self.strategy == "batch" and isinstance(n_nonzero, int) and n_nonzero < k:
                why = f"n_nonzero={n_nonzero} shared features give at most as many components"
                return errors.fewer_components(k, self.n_components_, why)
            span = f"the {len(self.support_)} feature(s) found span no more"
            return too_few(k, self.n_components_, task.spectrum, span)
        if n_nonzero is None and self.loss_ratio_ > self._max_loss() * (1 + 1e-6):
            return (
                f"max_loss={self._max_loss():g} was not reached: {len(self.support_)} feature(s) lose "
                f"{self.loss_ratio_:.4g} times what PCA loses. Further features add nothing that double precision can "
                "tell, or time_limit ended the search, or it was one in few passes, which goes no further than about "
                "100 features (passes='any' does)."
            )
        return None

    def _max_loss(self) -> float:
        return DEFAULT_MAX_LOSS if self.max_loss is None else loss_limit(self.max_loss)

    def _algorithm(self) -> Strategy:
        one_of("strategy", self.strategy, STRATEGIES)
        auto = isinstance(self.selector, str) and self.selector == "auto"
        selector = Greedy() if auto else resolved("selector", SELECTORS, "select", self.selector, also=("auto",))
        if self.strategy == "batch":
            return Batch(selector, DualSet() if auto else None, self.orthonormal, self.sketch)
        if self.orthonormal:
            raise ValueError(
                f"orthonormal=True mixes the features of all components, but strategy={self.strategy!r} gives each "
                "component its own. Use strategy='batch'."
            )
        if self.sketch is not None:
            raise ValueError(
                f"sketch={self.sketch!r} computes the loadings of shared features from fewer rows, but "
                f"strategy={self.strategy!r} gives each component its own. Use strategy='batch', or leave sketch out."
            )
        return Iterative(selector) if self.strategy == "iterative" else Joint(selector)

    def _counts(self, n_features: int, n_samples: int | None = None) -> tuple[int, int | list[int] | None]:
        n_components = component_count(self.n_components, n_features)
        if self.n_nonzero is None:
            return n_components, None
        if self.max_loss is not None:
            raise ValueError(
                "Both n_nonzero and max_loss were given; one decides the other. Pass n_nonzero to fix the number of "
                "features, or max_loss to get the fewest features that reach it."
            )
        if np.ndim(self.n_nonzero) and self.strategy == "batch":
            raise ValueError(
                f"n_nonzero is a list, but strategy={self.strategy!r} gives all components the same features. Pass one "
                "integer: the number of features shared by all components."
            )
        return n_components, feature_counts(self.n_nonzero, n_components, n_features)

    def _fewest(self, encoder: Batch | Iterative | Joint, view: DataMatrix, spectrum: Spectrum, run: Run) -> Encoder:
        limit = min(view.n_features, view.n_samples or view.n_features)
        if isinstance(encoder, Batch):
            return self._fewest_shared(encoder, view.cached(), spectrum, limit, run)
        return fewest_for_each(
            lambda counts: encoder.encode(Task.of_components(view, spectrum, counts), run),
            spectrum,
            self._max_loss(),
            limit,
            budget=run.budget,
        )

    def _fewest_shared(self, encoder: Batch, view: DataMatrix, spectrum: Spectrum, limit: int, run: Run) -> Encoder:
        """A count by quick searches, then one feature fewer at a time while a search with all effort allows it."""
        quick = replace(run, effort=run.effort.levels[0])
        found = fewest_features(
            lambda r: encoder.encode(Task.of_components(view, spectrum, r), quick),
            spectrum,
            self._max_loss(),
            limit,
            budget=run.budget,
            enough=_enough(view, spectrum, self._max_loss(), limit, run.rng),
        )
        least, best = min(spectrum.rank, limit), found
        for count in range(len(found.support) - 1, least - 1, -1):
            trial = encoder.encode(Task.of_components(view, spectrum, count), run)
            if run.budget.expired or spectrum.loss_ratio(trial.loss) > self._max_loss():
                break
            best = trial
        if best is not found or run.effort is quick.effort or run.budget.expired:
            return best
        again = encoder.encode(Task.of_components(view, spectrum, len(found.support)), run)
        return min(found, again, key=lambda encoder: encoder.loss)

    def _certify(self, fit: Fit[Strategy], task: Task, found: Encoder) -> None:
        few = task.gram is not fit.view  # features were chosen from a sketch
        bounds, theorem = prove(task, found, fit.run), None if few else self._theorem()
        certificate = certify_loss(task, found, bounds, fit.preprocessing, theorem=theorem)
        notes = (CHOSEN.format(fit.view.passes),) if few else ()
        self.certificate_ = replace(certificate, notes=notes)
        self.loss_, self.loss_ratio_ = self.certificate_.value, self.certificate_.ratio

    def _theorem(self) -> str | None:
        """Which theorem's hypothesis this fit keeps."""
        if self.sketch is not None:  # loadings from a sketch are not the best on their features
            return None
        theorems = {("batch", "dual_set"): "6(i)", ("batch", "adaptive"): "6(ii)", ("iterative", "adaptive"): "11"}
        return theorems.get((self.strategy, applicable_theorem(self.selector) or ""))


def _enough(view: DataMatrix, spectrum: Spectrum, max_loss: float, limit: int, rng: np.random.Generator) -> int | None:
    """A number of features that keeps the loss, from nested greedy choices of doubling length."""
    length = min(4 * spectrum.rank, limit)
    while True:
        fits = [spectrum.loss_ratio(loss) <= max_loss for loss in nested_path(view, spectrum, length, rng).losses]
        if True in fits:
            return fits.index(True) + 1
        if length == limit or len(fits) < length:
            return None
        length = min(4 * length, limit)
