"""Finished passes of a fit, stored in a folder, so that a killed process can resume.

The unit is the pass. A fit with a seed needs the same passes in the same order, so it is simply run again: stored
passes are loaded from the folder, others are computed from the data. Even the first process returns the result as
loaded from the file, so that values, memory layout and final result are the same in all processes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np

from sparing import errors
from sparing.data.blocks import ColumnMoments, CscBlock, DenseBlock
from sparing.data.codec import Codec
from sparing.data.rows import Rows
from sparing.data.sketch import Digest, Sketch
from sparing.data.standardized_block import StandardizedBlock

HEADER = "sparing-checkpoint.json"
PASS = "sparing-pass-{:05d}.npz"
OURS = (HEADER, "sparing-pass-[0-9]*.npz", "sparing-*.unfinished")
"""Files that are deleted after a fit; other files in the folder are not touched."""

FORMAT = 4
RESULTS = {
    "moments": ColumnMoments,
    "sketch": Sketch,
    "digest": Digest,
    "block": StandardizedBlock,
    "dense": DenseBlock,
    "csc": CscBlock,
}
"""Classes of job results, by their names in files; add those of a new job here."""

CODEC = Codec(RESULTS)

ADVICE = "Delete that folder to start again, or choose another path as checkpoint."
TEXT = 60
"""Number of characters of a parameter that are stored for messages."""


class Checkpoint:
    """The passes of one fit.

    Parameters
    ----------
    path : path
        A folder, created if it does not exist.
    facts : mapping
        The identity of the fit: parameters and their values. Facts about the data follow with ``begin``.

    Attributes
    ----------
    seed : int
        Seed for a fit without one: drawn once and stored for the processes that resume it.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
        self.folder = Path(path).expanduser()
        self._facts = {name: _described(value) for name, value in facts.items()}
        self._stored = self._header()
        self._begun = False
        if self._stored is not None:
            self._compare(self._stored["facts"])
        drawn = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
        self.seed = drawn if self._stored is None else int(self._stored["seed"])

    def begin(self, facts: Mapping[str, Any]) -> int:
        """Compare the data with those of the fit to resume, or start a new one; return the number of stored passes."""
        self._facts |= {name: _described(value) for name, value in facts.items()}
        self._begun = True
        if self._stored is not None:
            self._compare(self._stored["facts"])
            return len(list(self.folder.glob(OURS[1])))
        with self._writing():
            made = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "seed": self.seed, "made_folder": made, "facts": self._facts}
        self._write(HEADER, lambda file: file.write(json.dumps(header, indent=1).encode()))
        self._stored = header
        return 0

    def passed(self, number: int, work: Any, read: Callable[[], Any]) -> Any:
        """The result of pass ``number``: the stored one if it did the same work, otherwise that of ``read``."""
        mark = fingerprint((self.seed, self._facts, work))  # files without their header are not reused
        file = self.folder / PASS.format(number)
        if file.exists():
            stored_mark, result = _loaded(file)
            if stored_mark == mark:
                return result
        self._store(file.name, mark, read())
        return _loaded(file)[1]

    def _store(self, name: str, mark: str, result: Any) -> None:
        members: dict[str, Any] = {}

        def keep(array: Any) -> str:
            members[place := f"a{len(members)}"] = array
            return place

        text = json.dumps({"format": FORMAT, "mark": mark, "result": CODEC.encode(result, keep)})
        members["text"] = np.frombuffer(text.encode(), np.uint8)
        self._write(name, lambda file: np.savez(file, **members))

    def remove(self) -> None:
        """Delete the files of this and earlier processes after the fit."""
        if not self._begun or self._stored is None:
            return
        with suppress(OSError):
            for file in [file for pattern in OURS for file in self.folder.glob(pattern)]:
                file.unlink()
            if self._stored["made_folder"]:
                self.folder.rmdir()

    def _header(self) -> dict[str, Any] | None:
        """The header of an earlier process, if valid."""
        file = self.folder / HEADER
        if self.folder.exists() and not self.folder.is_dir():
            raise _damaged_error(self.folder, "it is a file, and a folder is needed")
        if not file.exists():
            return None
        try:
            header = json.loads(file.read_bytes())
            version = header["format"]
        except Exception as broken:
            raise _damaged_error(file, _said(broken)) from None
        if version != FORMAT:
            raise _version_error(file, version)
        match header:
            case {"seed": int(seed), "made_folder": bool(), "facts": dict(facts)} if seed >= 0:
                if all(isinstance(fact, list) and len(fact) == 2 for fact in facts.values()):
                    return dict(header)
        raise _damaged_error(file, "parts of it are missing")

    def _compare(self, stored: Mapping[str, list[str]]) -> None:
        """Raise an error if facts known on both sides differ."""
        differences = []
        for name, (text, mark) in self._facts.items():
            before, mark_before = stored.get(name, ["not there", ""])
            if mark != mark_before:
                differences.append(f"{name} (was {before}, is {text})" if before != text else f"{name} (not the same)")
        if differences:
            raise errors.CheckpointError(
                f"The checkpoint in {str(self.folder)!r} belongs to another fit, which differs in "
                f"{', '.join(differences)}. A fit is resumed with the same data and parameters only. {ADVICE}"
            )

    def _write(self, name: str, put: Callable[[IO[bytes]], object]) -> None:
        """Write a file completely or not at all."""
        unfinished = self.folder / f"{name}-{os.getpid()}.unfinished"
        with self._writing():
            try:
                with unfinished.open("wb") as file:
                    put(file)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, self.folder / name)
            except BaseException:
                with suppress(OSError):
                    unfinished.unlink()
                raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as refused:
            raise errors.CheckpointError(
                f"The checkpoint in {str(self.folder)!r} cannot be written ({refused.strerror or str(refused)}). "
                "Passes stored before are intact: free some space or get permission, then fit again to resume, or "
                "choose another path (checkpoint=None keeps nothing)."
            ) from refused


def _loaded(file: Path) -> tuple[str, Any]:
    """Mark and result of a stored pass."""
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as members:
            text = json.loads(members["text"].tobytes())
            if text["format"] != FORMAT:
                raise _version_error(file, text["format"])
            return str(text["mark"]), CODEC.decode(text["result"], members.__getitem__)
    except errors.CheckpointError:
        raise
    except Exception as broken:  # a damaged file may raise anything in zipfile, json, NumPy or Python's tokenizer
        raise _damaged_error(file, _said(broken)) from None


def _version_error(file: Path, found: object) -> errors.CheckpointError:
    """The error for a format of another release."""
    return errors.CheckpointError(
        f"The checkpoint file {str(file)!r} has format {found!r}; this version of the library reads format {FORMAT}. "
        f"{ADVICE}"
    )


def _damaged_error(file: Path, said: str) -> errors.CheckpointError:
    """The error for a truncated, changed or foreign file."""
    return errors.CheckpointError(
        f"The checkpoint file {str(file)!r} is damaged, truncated or was not written by this library ({said}), so the "
        f"fit cannot be resumed from it. {ADVICE}"
    )


def _described(value: Any) -> list[str]:
    """The text of a value for messages, and its fingerprint; bytes are fingerprints themselves and not shown."""
    value = value.item() if isinstance(value, np.generic) else value
    text = "" if isinstance(value, bytes) else re.sub(r" at 0x\w+", "", " ".join(repr(value).split()))
    return [text if len(text) <= TEXT else text[: TEXT - 3] + "...", fingerprint(value)]


def _said(broken: BaseException) -> str:
    lines = str(broken).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(broken).__name__


def fingerprint(thing: Any) -> str:
    """A hexadecimal fingerprint of contents: arrays by type, shape and values, objects by class and attributes.

    The values of rows are not included; they are compared elsewhere, once.
    """
    return _mark(thing, ()).hex()


def _mark(thing: Any, above: tuple[int, ...]) -> bytes:
    """The fingerprint of an object nested in those ``above``; a recursive reference is named, not entered again."""
    digest = blake2b(type(thing).__qualname__.encode(), digest_size=16)
    if isinstance(thing, (type(None), bool, int, float, complex, str, bytes, slice, np.dtype)):
        digest.update(repr(thing).encode())
    elif isinstance(thing, (np.ndarray, np.generic)) and not thing.dtype.hasobject:
        digest.update(f"{thing.dtype.str}{thing.shape}".encode())
        digest.update(np.ascontiguousarray(thing).data.cast("B") if thing.size else b"")
    elif isinstance(thing, type) or (callable(thing) and hasattr(thing, "__qualname__")):
        digest.update(f"{thing.__module__}.{thing.__qualname__}".encode())
    elif id(thing) not in above and not isinstance(thing, Rows):
        for part in _parts(thing):
            digest.update(_mark(part, (*above, id(thing))))
    return digest.digest()


def _parts(thing: Any) -> list[Any]:
    """The parts of an object, in an order that does not depend on its history."""
    if isinstance(thing, (tuple, list)):
        return list(thing)
    if isinstance(thing, np.ndarray):
        return [thing.shape, *thing.flat]
    if isinstance(thing, (set, frozenset)):
        return sorted(_mark(part, ()) for part in thing)
    if isinstance(thing, Mapping):
        return sorted(thing.items(), key=lambda pair: _mark(pair[0], ()))
    if isinstance(thing, partial):
        return [thing.func, thing.args, thing.keywords]
    if isinstance(thing, np.random.Generator):
        return [thing.bit_generator.state]
    if isinstance(thing, np.random.RandomState):
        return [thing.get_state(legacy=False)]
    if dataclasses.is_dataclass(thing):
        return [(field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    if hasattr(thing, "__dict__"):
        return sorted(vars(thing).items())
    return [repr(thing)]
