"""In notebooks an estimator links to its entry in the reference, once the guide has an address."""

from __future__ import annotations

from email.message import Message
from importlib import metadata

import pytest
from sklearn.base import BaseEstimator

import sparing

PUBLIC = {name: getattr(sparing, name) for name in sparing.__all__}
ESTIMATORS = [name for name, kind in PUBLIC.items() if isinstance(kind, type) and issubclass(kind, BaseEstimator)]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_representations_link_to_the_reference(name, monkeypatch):
    published = Message()
    published["Project-URL"] = "Source, https://example.org/source"
    published["Project-URL"] = "Documentation, https://example.org/guide/"
    monkeypatch.setattr(metadata, "metadata", lambda _: published)
    assert f'href="https://example.org/guide/api.html#sparing.{name}"' in PUBLIC[name]()._repr_html_()
    monkeypatch.setattr(metadata, "metadata", lambda _: Message())
    assert "href=" not in PUBLIC[name]()._repr_html_()
