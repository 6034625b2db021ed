"""Certify and improve loadings from any package."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates import Certificate, certify_loss, variance_certificate
from sparing.data import Preprocessing
from sparing.estimators.inputs import fit_context
from sparing.estimators.metrics import prepared
from sparing.estimators.parameters import flag, preprocessing_from, run_from
from sparing.gram import GRAM_LIMIT, view_of_gram
from sparing.linalg import information_loss_of, top_spectrum
from sparing.methods.encoders.joint import core_features
from sparing.objectives.joint import Alternation, LossAlternation, VarianceAlternation
from sparing.proof.policy import prove
from sparing.results import Array, Encoder, Problem
from sparing.run import Budget
from sparing.search_limits import SEARCH
from sparing.task import Task

OBJECTIVES = ("loss", "variance")
GUARD = 0.01
"""With swaps, components are kept from becoming near-copies of one another."""


def certify(
    components: Any,
    X: Any,
    *,
    objective: str = "loss",
    center: bool = True,
    scale: bool = False,
    precomputed: bool = False,
    missing: str = "error",
    effort: str = "default",
    time_limit: float | None = None,
    random_state: Any = 0,
) -> Certificate:
    """How good are these loadings, and how much better could others be?

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        Loadings from any package, one row per component; need not be orthogonal, of unit norm or sparse.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; a covariance with ``precomputed=True``.
    objective : {"loss", "variance"}
        ``loss``: the part that the best decoder cannot rebuild, compared with all encoders on the same total number of
        features. ``variance``: the variance of the span of the loadings, compared with all components with the same
        number of features each.
    center, scale, precomputed, missing
        As in :class:`SparseEncoder`.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of the proof when there is no time limit.
    time_limit : float, optional
        Time limit of the proof in seconds.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Certificate
        Print it. ``recheck(X)`` verifies it again.

    Examples
    --------
    >>> from sklearn.decomposition import SparsePCA
    >>> from sparing import certify
    >>> from sparing.datasets import make_spiked
    >>> X = make_spiked(random_state=0).X
    >>> theirs = SparsePCA(1, alpha=5.0, random_state=0).fit(X).components_
    >>> print(certify(theirs, X, objective="variance", random_state=0))  # doctest: +ELLIPSIS
    1 component on 5 of 100 features keeps 9...% of the variance that PCA's first component keeps ...
    No component with 5 features can keep more than 9...%.
    """
    if objective not in OBJECTIVES:
        raise errors.unknown_choice("objective", objective, OBJECTIVES)
    preprocessing = preprocessing_from(center, scale, precomputed, missing)
    run = run_from(random_state, time_limit, effort=effort)
    view, rows = prepared(components, X, preprocessing)
    found = _as_encoder(rows)
    k, d = rows.shape
    with fit_context(view, k):
        spectrum = top_spectrum(view, k, run.rng)
        if objective == "variance":
            most = int(np.count_nonzero(rows, axis=1).max())
            problem = Problem(k, most, d, "variance", shared_support=k == 1)
            return variance_certificate(Task(view, problem, spectrum), found, preprocessing, run)
        task = Task(view, Problem(spectrum.rank, len(found.support), d), spectrum)
        return certify_loss(task, found, prove(task, found, run), preprocessing)


def polish(
    components: Any,
    X: Any,
    *,
    swaps: bool = False,
    objective: str = "variance",
    center: bool = True,
    scale: bool = False,
    precomputed: bool = False,
    time_limit: float | None = None,
) -> Array:
    """Better loadings on the same features: variational renormalization [moghaddam2006, Sec. 3] of all components
    together.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        Loadings from any package, one row per component.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    swaps : bool
        Also swap features for better ones; the number of features of each component stays the same.
    objective : {"variance", "loss"}
        Quantity to improve: the variance of the span of the loadings, or the reconstruction by the best decoder.
    center, scale, precomputed : bool
        As in :class:`SparseEncoder`.
    time_limit : float, optional
        Seconds after which the best loadings so far are returned.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        Unit rows, in the order and with the signs of those given; never worse.

    Examples
    --------
    >>> from sparing import explained_variance, polish
    >>> from sparing.datasets import load_pitprops
    >>> C = load_pitprops().correlation
    >>> pair = [[1, 1] + [0] * 11, [1, 0, 1] + [0] * 10]
    >>> for loadings in (pair, polish(pair, C, precomputed=True), polish(pair, C, swaps=True, precomputed=True)):
    ...     print(explained_variance(loadings, C, definition="symmetric", precomputed=True)[-1].round(3))
    0.206
    0.227
    0.295
    """
    if objective not in OBJECTIVES:
        raise errors.unknown_choice("objective", objective, OBJECTIVES)
    preprocessing = Preprocessing(flag("center", center), flag("scale", scale), flag("precomputed", precomputed))
    budget = Budget.of(time_limit)
    view, rows = prepared(components, X, preprocessing)
    H = rows.T / np.linalg.norm(rows, axis=1)
    with fit_context(view, len(rows)):
        core = np.flatnonzero(H.any(axis=1))
        if objective == "variance" and (flag("swaps", swaps) or len(core) > GRAM_LIMIT):
            view = view.cached()
            search, apart = VarianceAlternation(view, budget=budget), VarianceAlternation(view, GUARD, budget)
            better = max(_candidates(search, apart, H, swaps), key=search.captured)
        elif objective == "variance":  # no other features can enter, so only these are read
            inside = VarianceAlternation(view_of_gram(view.restricted(core).gram()), budget=budget)
            better = np.zeros_like(H)
            better[core] = max(_candidates(inside, inside, H[core], swaps), key=inside.captured)
        else:
            if swaps:
                others = core_features(view, top_spectrum(view, len(rows), np.random.default_rng(0)), H)
                core = np.union1d(core, others)  # features without variance are given, but never chosen
            within = LossAlternation(view.restricted(core).gram(), view.gram_squared(core), budget)
            found = []
            for inner in _candidates(within, within, H[core], flag("swaps", swaps)):
                found.append(np.zeros_like(H))
                found[-1][core] = inner
            better = min(found, key=lambda H: information_loss_of(view, H.T))  # squares of A lose digits
    signs = np.where(np.einsum("ij,ij->j", better, H) < 0, -1.0, 1.0)
    return np.asarray((better * signs).T + 0.0)  # no -0.0


def _candidates(final: Alternation, search: Alternation, H: Array, swaps: bool) -> list[Array]:
    """The given loadings, refitted, and improved by swaps."""
    candidates = [H, final.refit(H, SEARCH.refits)]
    if swaps:
        candidates.append(final.refit(search.improve(candidates[-1], SEARCH.refits), SEARCH.refits))
    return candidates


def _as_encoder(rows: Array) -> Encoder:
    """Loadings as an encoder without a decoder."""
    support = np.flatnonzero(rows.any(axis=0))
    loadings = rows[:, support] / np.linalg.norm(rows, axis=1)[:, None]
    nothing = np.zeros((0, rows.shape[1]))
    return Encoder(support, loadings, nothing, np.zeros(0), np.nan)
