"""Samples left out in turn: splitters of scikit-learn, rows of any storage, and the standard error between folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.model_selection import KFold, check_cv

from sparing import errors
from sparing.data import Rows, as_rows
from sparing.data.containers import column_names
from sparing.estimators.parameters import is_whole
from sparing.results import Array, Indices

Result = TypeVar("Result")
Fold = tuple[Indices, Indices]


def folds_of(cv: Any, n_samples: int, y: Any = None, groups: Any = None, random_state: Any = 0) -> list[Fold]:
    """Rows to learn from and rows to judge by. A number means that many folds of shuffled samples."""
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
            f"{type(splitter).__name__} keeps samples together that belong together, and nothing says which do. Pass "
            "groups (of SparseEncoderCV, fit(X, sample_groups=...)): a label for each sample."
        )
    found = list(splitter.split(np.zeros((n_samples, 1)), y, groups))
    if not found or any(len(train) == 0 or len(test) == 0 for train, test in found):
        raise ValueError(f"cv={cv!r} leaves a training or test set empty. Use fewer folds.")
    return [(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)) for train, test in found]


def random_halves(n_samples: int, number: int, rng: np.random.Generator) -> list[Fold]:
    """Random halves of the samples with what is not in them; they come in complementary pairs."""
    halves: list[Fold] = []
    for _ in range(-(-number // 2)):
        order, middle = rng.permutation(n_samples), n_samples // 2
        halves += [(order[:middle], order[middle:]), (order[middle:], order[:middle])]
    return halves[:number]


def named_rows(X: Any) -> Rows:
    """Rows of X that know the names of its columns."""
    rows, names = as_rows(X), column_names(X)
    if rows.feature_names is None and names and all(isinstance(name, str) for name in names):
        rows.feature_names = list(names)
    return rows


def over_folds(
    work: Callable[..., Result], arguments: Iterable[Sequence[Any]], n_jobs: int | None = None
) -> list[Result]:
    """Work on each fold, in threads where several jobs are asked for; folds share nothing.

    Warnings of single folds are left out: the fit on all samples gives them.
    """
    tasks = [delayed(work)(*each) for each in arguments]
    parallel = Parallel(n_jobs=_jobs(n_jobs, len(tasks)), prefer="threads")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SparingWarning)
        return cast(list[Result], parallel(tasks))


def _jobs(n_jobs: Any, n_tasks: int) -> int | None:
    """Threads to start: no more than there is work for."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} must be an integer other than 0: the number of threads, or -1 for one per processor. "
            "Pass None for no threads."
        )
    return int(max(min(effective_n_jobs(int(n_jobs)), n_tasks), 1))


def standard_error(values: Array, folds: Sequence[Fold] | None = None, axis: int = 0) -> Array:
    """Of the mean over folds, corrected for training samples that folds have in common [nadeau2003].

    The variance between J folds is multiplied by 1/J + n_test/n_train, not by 1/J alone: that would call an estimate
    much more certain than it turns out on fresh samples.
    """
    count = values.shape[axis]
    if count < 2:
        return np.full(np.delete(values.shape, axis), np.nan)
    share = 0.0 if folds is None else float(np.mean([len(test) / len(train) for train, test in folds]))
    return np.asarray(np.sqrt(np.var(values, axis=axis, ddof=1) * (1 / count + share)))
