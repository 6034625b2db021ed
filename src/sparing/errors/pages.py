"""What can be wrong with a page that is to be written."""

from __future__ import annotations


def not_a_page_path(path: object) -> TypeError:
    """Something else than the name of a file."""
    return TypeError(
        f"path={path!r} is a {type(path).__name__}; the page is written to a file. Pass its path, as a str or "
        f"pathlib.Path, such as 'page.html'."
    )


def wrong_number_of_labels(shape: tuple[int, ...], n_samples: int) -> ValueError:
    """Labels for other samples than there are."""
    return ValueError(
        f"labels has shape {shape}, but X has {n_samples} samples: each sample is coloured by its own label. Pass one "
        f"label for each sample, in their order, or none."
    )


def labels_not_a_column(labels: object) -> TypeError:
    """A column's name where its values are needed."""
    return TypeError(
        f"labels={labels!r} is a {type(labels).__name__}; one label for each sample is needed. Pass the column itself, "
        f"such as frame['species']."
    )
