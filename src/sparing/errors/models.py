"""What can be wrong with a saved model, and with saving one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparing.errors.kinds import listed


class ModelFileError(ValueError):
    """A file that holds no model that can be loaded."""


def broken_model(path: object, why: str) -> ModelFileError:
    """Damaged, cut short, tampered with or no model at all."""
    return ModelFileError(
        f"Cannot load {str(path)!r}: it is damaged, cut short or no model that sparing saved ({why}). Save the model "
        f"again with save_model, or with --save on the command line."
    )


def unopened_model(path: object, refused: OSError) -> ModelFileError:
    """A folder, or a file that may not be read."""
    why = (refused.strerror or str(refused)).lower()
    return ModelFileError(
        f"Cannot load {str(path)!r}: {why}. Pass the path of a file that save_model, or --save, wrote and that you may "
        f"read."
    )


def newer_model(path: object, version: int, known: int, writer: str) -> ModelFileError:
    """A format of the future."""
    return ModelFileError(
        f"Cannot load {str(path)!r}: it has format {version}, written by sparing {writer}, and this version reads "
        f"formats up to {known}. Upgrade sparing."
    )


def not_a_model(value: object, known: Iterable[str]) -> TypeError:
    """Something else than a fitted estimator of this package."""
    return TypeError(
        f"save_model was given a {type(value).__name__}; a fitted {', '.join(known)} is needed. A pipeline or an "
        f"estimator of another package is saved with that package's own means."
    )


def cannot_save(model: str, where: str, value: object) -> TypeError:
    """A part of the model that is no plain data."""
    return TypeError(
        f"{model} cannot be saved: {where} is a {type(value).__name__}, and only numbers, text, arrays and the objects "
        f"of sparing are written, never code. Fit again with a choice that has a name."
    )


def no_scores(name: str) -> TypeError:
    """A model without components."""
    return TypeError(
        f"The model is a {name}, which has no components to make scores of. Scores come from SparseEncoder, SparsePCA, "
        f"NonnegativeSparsePCA, DoublySparseEncoder and SparsePCARegressor."
    )


def model_needs_features(path: object, absent: Sequence[str]) -> ValueError:
    """Data for a model lack features that it reads."""
    return ValueError(
        f"Cannot use {str(path)!r}: the model reads the features {listed(absent)}, which are not among its columns of "
        f"numbers. Pass data with all features that the model uses; others may be absent."
    )


def model_counts_features(path: object, got: int, expected: int) -> ValueError:
    """Data without names have another width than those of fit."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has {got} columns of numbers, and the model was fitted on {expected}. Without "
        f"names of features on both sides the same columns are needed, in the same order."
    )


def other_alleles(path: object, snp: str, got: Sequence[str], expected: Sequence[str], n_others: int) -> ValueError:
    """A file of genotypes has other alleles than the one of fit."""
    more = f" (and {n_others} more SNPs differ)" if n_others else ""
    return ValueError(
        f"Cannot use {str(path)!r}: SNP {snp!r} has the alleles {' and '.join(got)}, and the model was fitted on "
        f"{' and '.join(expected)}{more}. Write the file again with alleles named as at fit, of the same strand; which "
        f"of the two is counted does not matter."
    )


def loadings_not_finite(path: object, row: int, column: object) -> ValueError:
    """NaN or infinity among the loadings."""
    return ValueError(
        f"Cannot use {str(path)!r}: a loading is NaN or infinite (first at row {row}, feature {column!r}). Write 0 "
        f"where a component does not use a feature."
    )


def loadings_unknown(path: object, names: Sequence[str], data: object) -> ValueError:
    """Loadings of features that the data do not have."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has loadings of {listed(names)}, which are not among the columns of numbers of "
        f"{str(data)!r}. Name features as in the data: in the header, with one row per component, or in a column of "
        f"text, with one row per feature."
    )


def loadings_too_many(path: object, got: int, data: object, most: int) -> ValueError:
    """More components than the data have directions."""
    return ValueError(
        f"Cannot use {str(path)!r}: it has {got} components, and the features and samples of {str(data)!r} allow "
        f"{most} at most. Pass loadings, with one row per component, and not the data."
    )


def loadings_transposed(path: object, n_columns: int, n_features: int) -> ValueError:
    """One row per feature, and nothing that says which row is which."""
    return ValueError(
        f"Cannot use {str(path)!r}: its {n_features} rows and {n_columns} columns look like one row per feature, but "
        f"each row is a component. Write the transpose (numpy.savetxt or to_csv of loadings.T), or a column of text "
        f"with the name of the feature of each row."
    )


def no_certificate(path: object, name: str) -> ValueError:
    """A model whose certificate cannot be checked from data alone."""
    return ValueError(
        f"Cannot check {str(path)!r}: it holds a {name} without a certificate of its components. Pass a SparseEncoder, "
        f"SparsePCA, NonnegativeSparsePCA or DoublySparseEncoder that was fitted with certify=True, or loadings."
    )


def certificate_needs_features(path: object, absent: Sequence[str]) -> ValueError:
    """Data to check a certificate on lack some of its features."""
    return ValueError(
        f"Cannot use {str(path)!r}: the certificate is about data with the features {listed(absent)}, which are not "
        f"among its columns of numbers. Pass the data of the fit, with all features."
    )
