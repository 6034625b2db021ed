"""What can be wrong with a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence


class CheckpointError(ValueError):
    """A checkpoint that is damaged, belongs to another fit or cannot be written."""


ADVICE = "Delete that folder to start again, or choose another path as checkpoint."


def not_a_folder(checkpoint: object) -> TypeError:
    """Something else than the name of a folder."""
    return TypeError(
        f"checkpoint={checkpoint!r} was passed; the path of a folder is needed, as a str or pathlib.Path, or None to "
        f"keep nothing. The folder is made where there is none."
    )


def damaged(file: object, said: str) -> CheckpointError:
    """Cut short, changed or never ours."""
    return CheckpointError(
        f"The checkpoint file {str(file)!r} is damaged, cut short or was not written by this library ({said}), so the "
        f"fit cannot be resumed from it. {ADVICE}"
    )


def other_version(file: object, found: object, known: int) -> CheckpointError:
    """A format of another release."""
    return CheckpointError(
        f"The checkpoint file {str(file)!r} has format {found!r}; this version of the library reads format {known}. "
        f"{ADVICE}"
    )


def of_another_fit(folder: object, differences: Sequence[str]) -> CheckpointError:
    """Other data or parameters."""
    return CheckpointError(
        f"The checkpoint in {str(folder)!r} belongs to another fit, which differs in {', '.join(differences)}. A fit "
        f"is resumed with the same data and parameters only. {ADVICE}"
    )


def not_written(folder: object, said: str) -> CheckpointError:
    """No room, no permission, no such disk."""
    return CheckpointError(
        f"The checkpoint in {str(folder)!r} cannot be written ({said}). Passes that were stored before are intact: "
        f"make room or get permission and fit again to resume, or choose another path (checkpoint=None keeps nothing)."
    )
