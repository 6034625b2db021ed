"""Callbacks of scikit-learn 1.9 and later, such as its progress bar; nothing where scikit-learn has none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    def with_callbacks(method: Any) -> Any:
        """Stands in for scikit-learn's."""
        return method


__all__ = ["CallbackSupportMixin", "Stages", "callbacks_torn_down"]

STAGES = ("read", "search", "prove")
"""What a fit does, one after the other."""


@contextmanager
def callbacks_torn_down(estimator: Any) -> Iterator[None]:
    """Tell the callbacks in the end, however that comes, that the fit is over."""
    try:
        yield
    finally:
        with_callbacks(lambda _: None)(estimator)


class Stages:
    """The stages of one fit, each reported to the callbacks of the estimator, if it has any."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator, self._data, self._whole = estimator, {"X": X, "y": y}, None
        if hasattr(estimator, "_skl_callbacks"):
            self._whole = estimator._init_callback_context(max_subtasks=len(STAGES))
            self._whole.call_on_fit_task_begin(estimator=estimator, **self._data)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One of them."""
        if self._whole is None:
            yield
            return
        part = self._whole.subcontext(task_name=name)
        part.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        yield
        part.call_on_fit_task_end(estimator=self._estimator, **self._data)

    def end(self) -> None:
        """All of them are done."""
        if self._whole is not None:
            self._whole.call_on_fit_task_end(estimator=self._estimator, **self._data)
