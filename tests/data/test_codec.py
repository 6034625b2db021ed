"""Plain data survive being stored, bit for bit, and nothing else is let in."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from sparing.data.blocks import ColumnMoments, CscBlock, DenseBlock
from sparing.data.checkpoint import CODEC
from sparing.data.codec import Codec
from sparing.data.sketch import Sketch
from sparing.data.standardized_block import Standardization, StandardizedBlock


def again(thing, codec=CODEC):
    arrays = {}

    def keep(array):
        arrays[str(len(arrays))] = array
        return str(len(arrays) - 1)

    text = json.dumps(codec.encode(thing, keep), allow_nan=False)
    return codec.decode(json.loads(text), arrays.__getitem__)


def test_numbers_keep_value_and_type():
    things = (
        1.5,
        10**30,
        True,
        None,
        "a",
        float("inf"),
        np.float32(0.1),
        np.int64(3),
        (0.1, (1, 2, 0.5)),
        [],
        (),
        {1: 2},
    )
    for thing, back in zip(things, again(things), strict=True):
        assert type(back) is type(thing)
        assert back == thing
    assert np.isnan(again(float("nan")))


def test_classes_of_the_data_layer_come_back_as_themselves(rng):
    x = rng.standard_normal(4)
    moments = again([ColumnMoments(3.0, x, x**2)])[0]
    assert isinstance(moments, ColumnMoments)
    np.testing.assert_array_equal(moments.deviation, x**2)
    sketch = again(Sketch(np.ones((2, 4), np.float32), 1.0, signs=x))
    assert isinstance(sketch, Sketch)
    assert sketch.mean is None
    np.testing.assert_array_equal(sketch.signs, x)


@pytest.mark.parametrize("kind", [DenseBlock, lambda X: CscBlock(sparse.csr_array(X))])
def test_blocks_of_rows(kind, rng):
    X, w = rng.standard_normal((5, 3)), np.arange(1.0, 6.0)
    block = StandardizedBlock(kind(X), Standardization(1.0, X.mean(axis=0), np.ones(3), None, w))
    back = again([block])[0]
    np.testing.assert_array_equal(back.columns(slice(None)), block.columns(slice(None)))
    np.testing.assert_array_equal(back.matmat(np.eye(3)), block.matmat(np.eye(3)))


@pytest.mark.parametrize("thing", [object(), {1: object()}, np.array([object()]), print, np.random.default_rng(0)])
def test_what_cannot_be_stored_is_refused_at_once(thing):
    with pytest.raises(TypeError, match="cannot be stored"):
        again(thing)


@pytest.mark.parametrize(
    "text",
    [
        {"~object": ["os:system", {}]},
        {"~object": ["sparing.data.blocks:DenseBlock", {}]},
        {"~object": ["nowhere", {}]},
        {"~object": ["moments", {}]},
        {"~record": ["dense", {}]},
        {"~check": "dense"},
        {"~array": 3},
        {"~sparse": ["csr_array", [1, 1], []]},
        {"~sparse": ["csc_array", [1, 1], {"~array": "0"}]},
        {"what": 1},
        {"~tuple": [], "~float": "1"},
    ],
)
def test_what_was_not_stored_is_not_made(text):
    with pytest.raises((ValueError, LookupError, AttributeError, ImportError)):
        CODEC.decode(text, {"0": np.zeros(1)}.__getitem__)


def test_without_leave_no_object_is_made_past_its_constructor():
    """A codec for files of others: records go through their constructors, and other classes are refused."""
    strict = Codec({"moments": ColumnMoments})
    moments = again(ColumnMoments(3.0, np.ones(2), np.ones(2)), strict)
    assert isinstance(moments, ColumnMoments)
    with pytest.raises(TypeError, match="DenseBlock cannot be stored"):
        again(DenseBlock(np.ones((2, 2))), strict)
    with pytest.raises(ValueError, match="not among what may be named"):
        strict.decode({"~object": ["sparing.data.blocks:DenseBlock", {}]}, None)


def test_names_are_those_of_the_registry_and_not_of_modules():
    strict = Codec({"moments": ColumnMoments})
    ((name, _),) = strict.encode(ColumnMoments(3.0, np.ones(2), np.ones(2)), lambda array: "0").values()
    assert name == "moments"
    with pytest.raises(ValueError, match="not among what may be named"):
        strict.decode({"~record": ["sparing.data.jobs:ColumnMoments", {}]}, None)
