"""Folds of cross-validation, what is kept of held-out samples, and its standard error between folds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import linalg
from sklearn.model_selection import KFold, check_cv

from sparing import errors
from sparing.data import Rows, as_rows
from sparing.data.containers import column_names
from sparing.estimators.parameters import is_whole
from sparing.gram import DataMatrix
from sparing.linalg.span import independent_columns
from sparing.results import Array, Indices

Result = TypeVar("Result")
Fold = tuple[Indices, Indices]

UNREAD_SHARE = 1e-12
"""If unread features have at most this share of the variance of new samples, the result is undefined."""

NOTHING_TRANSFERS = "Nothing transfers: the share kept on new samples is less than two standard errors above zero"


def folds_of(cv: Any, n_samples: int, y: Any = None, groups: Any = None, random_state: Any = 0) -> list[Fold]:
    """Training and test rows of each fold. An integer means this number of folds of shuffled samples."""
    if is_whole(cv):
        if not 2 <= cv <= n_samples:
            raise ValueError(
                f"cv={cv} is outside [2, {n_samples}]: every fold needs at least one of the {n_samples} samples. Pass "
                f"a number of folds in that range, a splitter of scikit-learn, or pairs of indices."
            )
        seed = int(random_state) if is_whole(random_state) else None
        cv = KFold(int(cv), shuffle=True, random_state=seed)
    is_splitter = hasattr(cv, "split") and hasattr(cv, "get_n_splits")
    try:
        pairs = cv if is_splitter else [(train, test) for train, test in cv]
    except (TypeError, ValueError) as refused:
        raise ValueError(
            f"cv={cv!r} was passed; a number of folds, a splitter of scikit-learn such as GroupKFold, or pairs of "
            "indices (train, test) are needed."
        ) from refused
    splitter = check_cv(pairs)
    if groups is None and "Group" in type(splitter).__name__:
        raise ValueError(
            f"{type(splitter).__name__} keeps related samples together, but no groups were passed. Pass groups (of "
            "SparseEncoderCV, fit(X, sample_groups=...)): a label for each sample."
        )
    found = list(splitter.split(np.zeros((n_samples, 1)), y, groups))
    if not found or any(len(train) == 0 or len(test) == 0 for train, test in found):
        raise ValueError(f"cv={cv!r} leaves a training or test set empty. Use fewer folds.")
    return [(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in found]


def random_halves(n_samples: int, number: int, rng: np.random.Generator) -> list[Fold]:
    """Random halves of the samples and their complements, in complementary pairs."""
    halves: list[Fold] = []
    for _ in range(-(-number // 2)):
        order, middle = rng.permutation(n_samples), n_samples // 2
        halves += [(order[:middle], order[middle:]), (order[middle:], order[:middle])]
    return halves[:number]


def named_rows(X: Any) -> Rows:
    """Rows of X with the names of its columns."""
    rows, names = as_rows(X), column_names(X)
    if rows.feature_names is None and names and all(isinstance(name, str) for name in names):
        rows.feature_names = list(names)
    return rows


def over_folds(
    work: Callable[..., Result], arguments: Iterable[Sequence[Any]], n_jobs: int | None = None
) -> list[Result]:
    """Run work on each fold, in threads if several jobs are requested; folds share nothing.

    Warnings of single folds are left out: the fit on all samples gives them.
    """
    tasks = [delayed(work)(*each) for each in arguments]
    parallel = Parallel(n_jobs=_jobs(n_jobs, len(tasks)), prefer="threads")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SparingWarning)
        return cast(list[Result], parallel(tasks))


def _jobs(n_jobs: Any, n_tasks: int) -> int | None:
    """Number of threads, at most the number of folds."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} must be an integer other than 0: the number of threads, or -1 for one per processor. "
            "Pass None for no threads."
        )
    return int(max(min(effective_n_jobs(int(n_jobs)), n_tasks), 1))


def standard_error(values: Array, folds: Sequence[Fold] | None = None, axis: int = 0) -> Array:
    """Standard error of the mean over folds, corrected for overlapping training samples [nadeau2003].

    The variance between J folds is multiplied by 1/J + n_test/n_train, not by 1/J alone: that would call an estimate
    much more certain than it turns out on fresh samples.
    """
    count = values.shape[axis]
    if count < 2:
        return np.full(np.delete(values.shape, axis), np.nan)
    share = 0.0 if folds is None else float(np.mean([len(test) / len(train) for train, test in folds]))
    return np.asarray(np.sqrt(np.var(values, axis=axis, ddof=1) * (1 / count + share)))


def transfers(kept: float, error: float) -> bool:
    """Is the share kept on new samples above zero by more than two standard errors?"""
    return kept > (2 * error if error > 0 else 0.0)


def with_error(kept: float, error: float) -> str:
    """A share and its standard error, which one fold alone does not have."""
    return f"{kept:.1%}" if math.isnan(error) else f"{kept:.1%} +- {error:.1%}"


def warn_nothing_transfers(kept: float, error: float, stacklevel: int = 3) -> None:
    """Say so where a cross-validated estimate is not above zero."""
    if transfers(kept, error):
        return
    message = (
        f"{NOTHING_TRANSFERS} (kept: {with_error(kept, error)}, cross-validated). As far as these samples tell, the "
        f"features do not predict one another: use more samples, fewer features, or noise_variance='auto'."
    )
    warnings.warn(message, errors.SparingWarning, stacklevel=stacklevel)


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares kept of the variance of held-out rows, shape (R, K), for 1 ... R features and 1 ... K components.

    ``unread``: of the features that are not read, which is honest; ``everything``: of all features. With k > r there
    are r components. ``by_pca``: of the features that are not read, by principal components, which read every feature;
    zeros if these were not given.
    """

    unread: Array
    everything: Array
    by_pca: Array


def held_out_shares(
    train: DataMatrix, test: DataMatrix, order: Indices, n_components: int, by_pca: Array | None = None
) -> Shares:
    """Shares of new rows that the best decoders on the first r columns of ``order`` keep, for every rank up to r.

    ``by_pca`` (d x K) are the squares of each feature that 1, 2, ... principal components explain.

    With A of the training rows (and noise), Z = A[:, J] and A_JJ = R'R, scores X_J R^-1 are orthonormal and B = Z R^-1
    predicts all features from them. The best decoder of rank k lies in the leading k eigenvectors U of B'B. Its error
    on new rows is a sum over k x k blocks of U'(...)U, so that one product with the new rows serves every k and r.
    """
    Z = train.gram_columns(order)
    kept = np.sort(independent_columns(Z[order])[0])
    order, Z = order[kept], Z[:, kept]
    inverse = linalg.solve_triangular(linalg.cholesky(Z[order], check_finite=False), np.eye(len(order)))
    unit = np.sqrt(train.square_unit)  # new rows have the user's unit
    B, S = Z @ inverse * unit, test.columns(order) @ inverse / unit
    P, squares = test.rmatmat(S), test.gram_diagonal()
    products = B.T @ B, S.T @ S, P.T @ B
    unread, everything = np.zeros((len(kept), n_components)), np.zeros((len(kept), n_components))
    pca = np.zeros((len(kept), n_components))
    for r in range(1, len(kept) + 1):
        BB, SS, PB = (product[:r, :r] for product in products)
        U = np.linalg.eigh(BB)[1][:, ::-1][:, :n_components]
        J = order[:r]
        read = B[J, :r].T @ B[J, :r], P[J, :r].T @ B[J, :r]
        everything[r - 1] = _shares(U, BB, SS, PB, squares.sum(), n_components)
        left = max(float(squares.sum() - squares[J].sum()), 0.0)
        left = left if left > UNREAD_SHARE * squares.sum() else 0.0
        unread[r - 1] = _shares(U, BB - read[0], SS, PB - read[1], left, n_components)
        if by_pca is not None and left > 0:
            pca[r - 1] = (by_pca.sum(axis=0) - by_pca[J].sum(axis=0)) / left
    repeated = np.repeat(np.arange(len(kept)), np.diff(np.append(kept, kept[-1] + 1)))  # dependent ones add nothing
    return Shares(unread[repeated], everything[repeated], pca[repeated])


def _shares(U: Array, BB: Array, SS: Array, PB: Array, total: float, n_components: int) -> Array:
    """Shares kept with the first 1, 2, ... columns of U; 0 if there is no variance."""
    if total <= 0:
        return np.zeros(n_components)
    gained = 2 * np.cumsum(np.einsum("ij,ij->j", U, PB @ U))
    spent = np.diagonal(((U.T @ SS @ U) * (U.T @ BB @ U)).cumsum(axis=0).cumsum(axis=1))
    shares = (gained - spent) / total
    return np.append(shares, np.full(n_components - len(shares), shares[-1]))


def explained_by_pca(basis: Array, test: DataMatrix, n_components: int) -> Array:
    """Squares of each new column that 1, 2, ... principal components explain (d x K); all features are read."""
    scores = test.matmat(basis)
    inner, products = scores.T @ scores, test.rmatmat(scores)
    gained = 2 * products * basis
    for k in range(basis.shape[1]):
        gained[:, k] -= basis[:, k] * (2 * basis[:, :k] @ inner[:k, k] + inner[k, k] * basis[:, k])
    return np.pad(np.cumsum(gained, axis=1), ((0, 0), (0, n_components - basis.shape[1])), mode="edge")
