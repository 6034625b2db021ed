"""What can be wrong with a file of data."""

from __future__ import annotations

from collections.abc import Sequence

from sparing.errors.data import cannot_read
from sparing.errors.kinds import listed


class UnreadableError(ValueError):
    """A file that holds no table of numbers that can be read."""


class UnwritableError(OSError):
    """A file that cannot be written."""


def unreadable(path: object, why: str) -> UnreadableError:
    """The general sentence: which file, what is wrong with it, what to do."""
    return UnreadableError(str(cannot_read(path, why)))


def not_a_path(path: object) -> TypeError:
    """Something else than the name of a file."""
    return TypeError(
        f"open_data was given a {type(path).__name__}; the path of a file is needed, as a str or pathlib.Path. "
        f"Data that are in memory already go straight to fit."
    )


def no_such_file(path: object) -> FileNotFoundError:
    """Nothing is there."""
    return FileNotFoundError(f"Cannot read {str(path)!r}: there is no such file. Check the path and the spelling.")


def unknown_format(path: object, suffixes: Sequence[str]) -> UnreadableError:
    """A suffix that no reader knows."""
    return unreadable(
        path, f"its ending names no known format. Known are {', '.join(suffixes)}; rename or convert the file"
    )


def broken_file(path: object, what: str, said: str) -> UnreadableError:
    """Damaged, cut short or of another format than its name says."""
    detail = f" ({said})" if said else ""
    return unreadable(
        path, f"it is damaged, cut short or not {what} at all{detail}. Write or copy it again, or correct its ending"
    )


def beyond_memory(path: object) -> UnreadableError:
    """More numbers than there is room for, or a size that is a lie."""
    return unreadable(
        path,
        "there is not enough memory for what it says to hold. If that is true, write it in a format that is read in "
        "blocks (.npy, .h5, .zarr, .parquet) and choose a smaller block_bytes; else it is damaged: write it again",
    )


def changed_file(path: object) -> UnreadableError:
    """Other bytes than those that were opened."""
    return unreadable(path, "it has changed since it was opened, so readings would not agree. Call open_data again")


def no_part(path: object, key: str, found: Sequence[str]) -> UnreadableError:
    """A key that is not in the file."""
    if not found:
        return unreadable(path, f"there is no table {key!r} in it, nor any other. Write one, with a row per sample")
    return unreadable(path, f"there is no table {key!r} in it; it holds {listed(found)}. Pass one of these as key")


def single_part(path: object, key: str) -> UnreadableError:
    """A key for an archive that is one sparse matrix."""
    return unreadable(path, f"there is no table {key!r} in it; all of it is one sparse matrix. Leave key out")


def which_part(path: object, found: Sequence[str]) -> UnreadableError:
    """No table, or several of them, and none was asked for."""
    if not found:
        return unreadable(path, "it holds no table of two dimensions. Write one, with a row per sample")
    return unreadable(path, f"it holds several tables, {listed(found)}. Say which with key={found[0]!r}")


def key_not_used(path: object, key: object) -> UnreadableError:
    """A key for a format of one table, or one that is no name."""
    return unreadable(path, f"key={key!r} was passed, but such a file has no parts to name. Leave key out")


def scaling_not_used(path: object, scaling: object) -> UnreadableError:
    """Genotype scaling for other data."""
    return unreadable(
        path,
        f"scaling={scaling!r} was passed, which is for genotypes (.bed) alone. Leave it out; "
        f"most estimators have scale=True",
    )


def not_a_matrix(path: object, shape: tuple[int, ...]) -> UnreadableError:
    """Not two dimensions, or one of them empty."""
    return unreadable(
        path,
        f"its shape is {shape}; two dimensions are needed, one row per sample and one column per feature, and none "
        f"may be empty. Reshape the data and write them again",
    )


def not_real(path: object, dtype: object) -> UnreadableError:
    """Text, objects, dates or complex numbers."""
    return unreadable(
        path,
        f"its values are of type {dtype}; real numbers are needed, and Python objects are never unpickled. "
        f"Convert with astype(float), complex numbers into real and imaginary parts, and write them again",
    )


def no_numeric_column(path: object, columns: Sequence[str]) -> UnreadableError:
    """A table of text."""
    return unreadable(
        path, f"no column holds only numbers (there are {listed(columns)}). Encode or drop text, and write it again"
    )


def column_repeated(path: object, names: Sequence[str]) -> UnreadableError:
    """Two features of one name."""
    return unreadable(
        path, f"several columns are named {listed(names)}; features are told apart by their names. Rename them"
    )


def other_number_of_names(path: object, got: int, data: object, n_features: int) -> ValueError:
    """A list of names that is longer or shorter than the table is wide."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has {got} names, and {str(data)!r} has {n_features} columns of numbers. Write "
        f"one name on each line, in the order of the columns of numbers."
    )


def cannot_write(path: object, refused: OSError) -> UnwritableError:
    """The disk, or whoever watches over it, says no."""
    why = (refused.strerror or str(refused)).lower()
    return UnwritableError(
        f"Cannot write {str(path)!r}: {why}. Choose another place, or make room; what was there is as it was."
    )


def system_refused(refused: OSError) -> UnwritableError:
    """No room, no right, a disk that is gone: what the system says where nobody else has said it better."""
    place = "the output" if refused.filename is None else repr(str(refused.filename))
    why = (refused.strerror or str(refused)).lower()
    return UnwritableError(f"Cannot read or write {place}: {why}. Make room or pass another place, and run it again.")


def already_there(path: object, option: str) -> UnwritableError:
    """A file that nobody asked to replace."""
    return UnwritableError(f"Cannot write {str(path)!r}: it exists already. Choose another name, or pass {option}.")


def is_an_input(path: object) -> UnwritableError:
    """What would be written is what is read."""
    return UnwritableError(f"Cannot write {str(path)!r}: it is read by this very command. Choose another name.")


def no_column(path: object, name: str, found: Sequence[str]) -> UnreadableError:
    """A column asked for by name that is not in the table."""
    there = f"it has {listed(found)}" if len(found) else "its columns have no names"
    return unreadable(path, f"there is no column {name!r} in it; {there}. Check the spelling")


def no_text_columns(path: object, name: str) -> UnreadableError:
    """Labels are asked of a file that has numbers only."""
    return unreadable(
        path, f"column {name!r} cannot be taken from such a file; labels come from .csv, .tsv, .tab and .parquet files"
    )


def every_column_left_out(path: object) -> UnreadableError:
    """Nothing to fit."""
    return unreadable(path, "all of its columns of numbers were to be left out. Keep at least one")
