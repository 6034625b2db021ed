"""Requirements of newer versions of scikit-learn: callbacks, such as its progress bar, and links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9: nobody calls back

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Substitute for scikit-learn's."""

    def with_callbacks(method: Any) -> Any:
        """Substitute for scikit-learn's."""
        return method


__all__ = ["CallbackSupportMixin", "LinksToReference", "Stages", "callbacks_torn_down"]

STAGES = ("read", "search", "prove")
"""The stages of a fit."""


@contextmanager
def callbacks_torn_down(estimator: Any) -> Iterator[None]:
    """Tell the callbacks that the fit is over, even after an error."""
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
        """Run one stage."""
        if self._whole is None:
            yield
            return
        part = self._whole.subcontext(task_name=name)
        part.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        yield
        part.call_on_fit_task_end(estimator=self._estimator, **self._data)

    def end(self) -> None:
        """Report that all stages are done."""
        if self._whole is not None:
            self._whole.call_on_fit_task_end(estimator=self._estimator, **self._data)


def guide_address() -> str:
    """Where the guide is published, by ``Documentation`` in the package's ``[project.urls]``; empty if nowhere."""
    try:
        urls = metadata.metadata("sparing").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    addresses: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return addresses.get("Documentation", "").rstrip("/")


class LinksToReference:
    """The link that scikit-learn shows for estimators of other packages; without an address there is none."""

    _doc_link_module = "sparing"

    @property
    def _doc_link_template(self) -> str:
        address = guide_address()
        return f"{address}/api.html#sparing.{{estimator_name}}" if address else ""
