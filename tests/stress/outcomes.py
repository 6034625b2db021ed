"""What a stress test may see: a result, or a sentence of this package; nothing else."""

from __future__ import annotations

import linecache
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import sparing
from sparing.errors import SparingWarning

SOURCE = Path(sparing.__file__).parent
IS_STRESS = os.environ.get("SPARING_STRESS") == "1"
stress_only = pytest.mark.skipif(
    not IS_STRESS, reason="what depends on the moment or on the machine is for `make stress`"
)


def examples_of(examples: int) -> settings:
    """Settings of a property: so many examples in an ordinary run, rounds of several times as many under stress."""
    profile = settings.get_profile("stress" if IS_STRESS else "ci")
    return settings(profile, max_examples=5 * examples if IS_STRESS else examples)


def outcome(act: Callable[[], Any], also: tuple[type[Exception], ...] = ()) -> Any:
    """What ``act`` returns, or None where it refuses with a sentence; warnings are sentences, too."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = act()
        except Exception as refused:
            assert_is_ours(refused, also)
            result = None
    for warning in said:
        assert issubclass(warning.category, SparingWarning), f"{warning.category.__name__}: {warning.message}"
        assert_is_sentence(str(warning.message))
    return result


def assert_is_ours(refused: Exception, also: tuple[type[Exception], ...] = ()) -> None:
    """A plain ValueError or TypeError or one of our own kinds, raised on purpose by a line of this package."""
    ours = type(refused) in (ValueError, TypeError, *also) or type(refused).__module__.startswith("sparing.")
    trace = refused.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    file = trace.tb_frame.f_code.co_filename
    line = linecache.getline(file, trace.tb_lineno).strip()
    on_purpose = SOURCE in Path(file).parents and line.startswith("raise")
    if not (ours and on_purpose):
        raise AssertionError(f"{type(refused).__name__} in {file}, {line!r}: {refused}") from refused
    assert_is_sentence(str(refused))


def assert_is_sentence(text: str) -> None:
    assert text.endswith("."), text
    assert len(text.split()) >= 8, text
