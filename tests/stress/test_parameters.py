"""Every parameter of every estimator set to anything: a model, or a sentence that says what is allowed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparing
from sparing.estimators.sparse_pca import BLOCK_SOLVERS
from sparing.methods.base import check_settings
from sparing.methods.deflation import DEFLATIONS
from sparing.methods.encoders.elastic_net import ElasticNet
from sparing.methods.selectors import SELECTORS
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS
from stress.models import PUBLIC, assert_sound
from stress.outcomes import examples_of, outcome

X = np.random.default_rng(0).standard_normal((15, 4))
CHEAP = {"n_permutations": 2, "n_init": 1}
"""Settings of those that would take long."""

EXEMPT = {"checkpoint", "difference"}
"""A folder of any name is made, and a function of the user's may fail in its own words."""

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.integers(-2, 5) | st.floats() | st.text(max_size=2), max_size=3),
    st.tuples(st.integers(0, 5)),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
    st.sampled_from([np.zeros(2), np.zeros(0), np.array(1), np.float32(1.5), np.int8(2), np.bool_(True), np.str_("a")]),
    st.sampled_from([object(), int, sparing.SparsePCA, print, slice(1), ...]),
)


@pytest.mark.parametrize("name", sorted(PUBLIC))
@examples_of(40)
@given(data=st.data())
def test_a_model_or_a_sentence(name, data):
    kind = getattr(sparing, name)
    names = sorted(kind().get_params())
    model = kind(**{key: value for key, value in CHEAP.items() if key in names})
    chosen = data.draw(st.sampled_from([key for key in names if key not in EXEMPT]))
    model.set_params(**{chosen: data.draw(anything)})
    if outcome(lambda: model.fit(X, X[:, 0])) is not None:
        assert_sound(model, X)


ALGORITHMS = [
    *((kind, lambda chosen: sparing.ColumnSelector(2, selector=chosen)) for kind in SELECTORS.values()),
    *((kind, lambda chosen: sparing.SparsePCA(n_nonzero=2, solver=chosen)) for kind in SOLVERS.values()),
    *((kind, lambda chosen: sparing.SparsePCA(n_nonzero=2, solver=chosen)) for kind in BLOCK_SOLVERS.values()),
    *((kind, lambda chosen: sparing.NonnegativeSparsePCA(solver=chosen)) for kind in NONNEGATIVE_SOLVERS.values()),
    *((kind, lambda chosen: sparing.SparsePCA(2, deflation=chosen)) for kind in DEFLATIONS.values()),
]
nonsense = st.sampled_from(["a", b"a", [], {}, 1.5, np.nan, -1, 0, object(), np.zeros(2), 1j])


@pytest.mark.parametrize(("kind", "estimator"), ALGORITHMS, ids=lambda value: getattr(value, "__name__", ""))
@examples_of(6)
@given(data=st.data())
def test_settings_of_algorithms(kind, estimator, data):
    fields = [field.name for field in dataclasses.fields(kind)]
    if not fields:
        return
    settings = {data.draw(st.sampled_from(fields)): data.draw(nonsense)}
    outcome(lambda: estimator(kind(**settings)).set_params(random_state=0).fit(X[:, :3]))


def test_a_flag_is_no_text_and_what_others_wrote_is_theirs():
    with pytest.raises(TypeError, match="swaps"):
        check_settings(SELECTORS["greedy"](swaps="False"))
    check_settings(SELECTORS["greedy"](swaps=np.bool_(False)))
    with pytest.raises(ValueError, match="tie"):
        SELECTORS["dual_set"](tie=np.zeros(2))
    for kind, setting in ((SELECTORS["exact"], {"max_nodes": -1}), (ElasticNet, {"tolerance": -1.0})):
        with pytest.raises(ValueError, match="must be a number of at least 0"):
            check_settings(kind(**setting))
    check_settings(SELECTORS["exact"](max_nodes=0))
    theirs = dataclasses.make_dataclass("Theirs", [("n_jobs", "int", -1)])
    check_settings(theirs())
