"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from sparing import errors
from sparing.data.writing import replacing


def test_a_file_appears_once_it_is_complete(tmp_path):
    place = tmp_path / "new"
    with replacing(place) as file:
        file.write(b"half")
        assert not place.exists()
    assert place.read_bytes() == b"half"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~mask


def _half_written(place, trouble):
    with replacing(place) as file:
        file.write(b"new")
        raise trouble


@pytest.mark.parametrize("trouble", [ValueError("x"), KeyboardInterrupt()])
def test_trouble_leaves_what_was_there(tmp_path, trouble):
    place = tmp_path / "old"
    place.write_bytes(b"old")
    with pytest.raises(type(trouble)):
        _half_written(place, trouble)
    assert place.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old"]


def test_permissions_and_links_stay(tmp_path):
    place, link = tmp_path / "file", tmp_path / "link"
    place.write_bytes(b"old")
    place.chmod(0o640)
    link.symlink_to(place)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert place.read_bytes() == b"new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_devices_are_written_to():
    with replacing(os.devnull) as file:
        file.write(b"away")
    assert not os.path.isfile(os.devnull)


def test_errors_of_the_disk_are_sentences_and_others_pass(tmp_path):
    with pytest.raises(errors.UnwritableError, match="no such file or directory"), replacing(tmp_path / "a" / "b"):
        pass
    with pytest.raises(FileNotFoundError, match="Check the path"), replacing(tmp_path / "b"):
        raise errors.no_such_file("data.csv")
