"""Damaged and hostile files: rows, or a sentence; no code of theirs is run, no memory taken, no time lost."""

from __future__ import annotations

import json
import shutil
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparing import SparseEncoder, load_model, open_data
from sparing.data import checkpoint as module
from sparing.data.readers import READERS
from sparing.errors import ModelFileError
from stress.files import FORMATS, damage, write_model
from stress.outcomes import examples_of, outcome
from stress.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    box = Sandbox()
    yield box
    box.close()


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """Where a valid file of each format is."""
    return {name: write(tmp_path_factory.mktemp("valid")) for name, write in FORMATS.items()}


def test_every_format_is_here(valid):
    names = [path.name for path in valid.values()]
    assert {reader for end, reader in READERS.items() if any(name.endswith(end) for name in names)} == set(
        READERS.values()
    )
    assert {"txt.gz", "csv.bz2", "csv.zst"} <= {name.partition(".")[2] for name in names}


@pytest.mark.parametrize("name", FORMATS)
def test_the_files_are_valid(name, valid, sandbox):
    assert sandbox.opened(valid[name]) == "rows"


@pytest.mark.parametrize("name", FORMATS)
@examples_of(8)
@given(data=st.data())
def test_rows_or_a_sentence(name, valid, sandbox, tmp_path_factory, data):
    folder = valid[name].parent
    parts = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    part = data.draw(st.sampled_from(parts))
    others = [path.read_bytes() for path in valid.values() if path.is_file()]
    changed = data.draw(damage((folder / part).read_bytes(), others))
    copy = tmp_path_factory.mktemp("damaged") / "files"
    shutil.copytree(folder, copy)
    (copy / part).write_bytes(changed)
    answer = sandbox.opened(copy / valid[name].relative_to(folder))
    assert answer == "rows" or answer.startswith("refused: "), answer
    shutil.rmtree(copy.parent)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["0.npy", "os:system"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["~array", "~names", "~float", "~tuple", "~record", "~object", "~sparse", "a"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


def places_in(header, path=()):
    """The ways to all parts of a text."""
    for key in list(header) if isinstance(header, dict) else range(len(header)) if isinstance(header, list) else ():
        yield (*path, key)
        yield from places_in(header[key], (*path, key))


@examples_of(20)
@given(data=st.data())
def test_models_with_other_contents(data, tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "some.model"
    write_model(file.parent).rename(file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts["model.json"])
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(list(places_in(header))))
        place = header
        for step in path:
            place = place[step]
        if isinstance(place, dict) and data.draw(st.booleans()):
            place[data.draw(st.sampled_from([*place, "extra_", "_hidden", "fit", "__class__"]))] = place.pop(last)
        else:
            place[last] = data.draw(json_values)
    parts["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    model = outcome(lambda: load_model(file))
    if model is not None:
        outcome(lambda: model.transform(np.zeros((2, model.n_features_in_))))
    shutil.rmtree(file.parent)


class Stopped(BaseException):
    """What no code of the library catches."""


@examples_of(12)
@given(data=st.data())
def test_checkpoints(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    table = np.random.default_rng(0).standard_normal((30, 8))
    np.save(folder / "X.npy", table)
    rows = open_data(folder / "X.npy")
    kept = folder / "kept"
    model = SparseEncoder(1, n_nonzero=2, random_state=0, checkpoint=kept)

    def stop(_self) -> None:
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Checkpoint, "remove", stop)
        with pytest.raises(Stopped):
            model.fit(rows)
    files = sorted(kept.iterdir())
    file = data.draw(st.sampled_from(files))
    file.write_bytes(data.draw(damage(file.read_bytes(), [other.read_bytes() for other in files])))
    fitted = outcome(lambda: model.fit(rows))
    if fitted is not None:
        wanted = SparseEncoder(1, n_nonzero=2, random_state=0).fit(rows)
        np.testing.assert_array_equal(fitted.components_, wanted.components_)
    shutil.rmtree(folder)


def test_a_bomb_is_not_loaded(tmp_path):
    """A part that is compressed could be any size."""
    file = write_model(tmp_path)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(10**7))
    with pytest.raises(ModelFileError, match="compressed"):
        load_model(file)
