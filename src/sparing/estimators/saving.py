"""Fitted models in files that are safe to open: arrays and text, no pickle."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.certificates import (
    Certificate,
    ReconstructionCertificate,
    RegressionCertificate,
    StreamCertificate,
    VarianceCertificate,
)
from sparing.clustering import GapSearch
from sparing.data import Preprocessing
from sparing.data.codec import Codec, Unplain
from sparing.data.readers.npy import header_of
from sparing.data.readers.plink import GenotypeCoding
from sparing.data.rows import Coding
from sparing.data.writing import replacing
from sparing.estimators.column_selector import ColumnSelector
from sparing.estimators.doubly_sparse_encoder import DoublySparseEncoder
from sparing.estimators.feature_rules import RULES, plain_rule
from sparing.estimators.nonnegative_sparse_pca import NonnegativeSparsePCA
from sparing.estimators.sparse_encoder import SparseEncoder
from sparing.estimators.sparse_encoder_cv import SparseEncoderCV
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
from sparing.estimators.sparse_kmeans import SparseKMeans
from sparing.estimators.sparse_pca import BLOCK_SOLVERS, SparsePCA
from sparing.estimators.sparse_pca_regressor import REGRESSION_SELECTORS, SparsePCARegressor
from sparing.estimators.sparsity_path import SparsityPath
from sparing.methods.deflation import CONSTRAINTS, DEFLATIONS
from sparing.methods.encoders import STRATEGIES
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS
from sparing.proof.bounds import BOUNDS
from sparing.results import Bound, Guarantee, Premise, Problem, Reference
from sparing.rules import Rules

FORMAT, VERSION = "sparing model", 2
HEADER = "model.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of all parts, so that saving the same model gives the same file."""

REGISTRIES = {
    "selector": REGRESSION_SELECTORS,
    "solver": {**SOLVERS, **BLOCK_SOLVERS},
    "nonnegative solver": NONNEGATIVE_SOLVERS,
    "deflation": {**DEFLATIONS, **CONSTRAINTS},
    "strategy": STRATEGIES,
}
"""Algorithms that users may pass as instances."""

RECORDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Certificate, VarianceCertificate, ReconstructionCertificate, RegressionCertificate, StreamCertificate),
        *(Bound, Guarantee, Premise, Problem, Reference, Rules, Preprocessing, GenotypeCoding, GapSearch, SparsityPath),
        *(record for bound in BOUNDS.values() for record in bound.witnesses),
    )
} | {f"{kind} {name}": each for kind, registry in REGISTRIES.items() for name, each in registry.items()}

CODEC = Codec(RECORDS)
"""Classes of the parts of a model, by names that do not change when modules move."""

CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        ColumnSelector,
        DoublySparseEncoder,
        NonnegativeSparsePCA,
        SparseEncoder,
        SparseEncoderCV,
        SparseHierarchicalClustering,
        SparseKMeans,
        SparsePCA,
        SparsePCARegressor,
    )
}

NOT_KEPT = ("_stream", "_skl_callbacks")
"""Attributes that are not saved: the state of ``partial_fit``, and callbacks."""

SEVERAL = {"components_": (2,), "decoder_": (2,), "cluster_centers_": (2,), "coef_": (1, 2)}
"""Number of axes of arrays with one entry per feature, if not one."""

LINEAR = ("components_", "mean_", "scale_", "support_")
CLUSTERED = ("feature_weights_", "scale_", "support_", "labels_")
NEEDED = {
    "ColumnSelector": ("support_", "mean_", "decoder_"),
    "DoublySparseEncoder": (*LINEAR, "decoder_"),
    "NonnegativeSparsePCA": (*LINEAR, "decoder_"),
    "SparseEncoder": (*LINEAR, "decoder_"),
    "SparseEncoderCV": (*LINEAR, "decoder_", "cv_results_"),
    "SparseHierarchicalClustering": CLUSTERED,
    "SparseKMeans": (*CLUSTERED, "cluster_centers_"),
    "SparsePCA": (*LINEAR, "decoder_"),
    "SparsePCARegressor": (*LINEAR, "coef_", "intercept_"),
}
"""Required attributes of a model of each class."""


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator of this package in a file that is safe to open.

    The file is a zip archive of NumPy arrays and one JSON text: class, parameters, all that was fitted, the names of
    the features and the certificate, which can be rechecked after loading. Nothing in it is code. A file of the same
    name is replaced once the new one is complete. Of ``random_state`` only a whole number is kept, of ``cv`` the number
    of folds, and with ``partial_fit`` a loaded model starts again.

    Parameters
    ----------
    model : a fitted estimator of sparing
    path : str or path

    Examples
    --------
    >>> import tempfile
    >>> from sparing import SparseEncoder, load_model, save_model
    >>> from sparing.datasets import make_spiked
    >>> X = make_spiked(random_state=0).X
    >>> file = tempfile.mkdtemp() + "/spiked.model"
    >>> save_model(SparseEncoder(1, n_nonzero=5, random_state=0).fit(X), file)
    >>> print(load_model(file).certificate_.recheck(X))  # doctest: +ELLIPSIS
    The certificate holds: loss ..., and nothing can lose less than ....
    """
    from sparing import __version__  # which imports this module

    name = type(model).__name__
    if CLASSES.get(name) is not type(model):
        raise TypeError(
            f"save_model was given a {name}; a fitted {', '.join(CLASSES)} is needed. Save a pipeline or an estimator "
            "of another package with the tools of that package."
        )
    check_is_fitted(model)
    arrays: list[Any] = []

    def keep(array: Any) -> str:
        arrays.append(array)
        return f"{len(arrays) - 1}.npy"

    parameters = model.get_params(deep=False)
    if not isinstance(parameters.get("random_state"), (int, np.integer)):
        parameters |= {"random_state": None} if "random_state" in parameters else {}
    parameters |= {rule: plain_rule(parameters[rule]) for rule in RULES if rule in parameters}
    if not isinstance(parameters.get("cv"), (int, np.integer)):
        parameters |= {"cv": model.n_splits_} if "cv" in parameters else {}
    fitted = {key: value for key, value in vars(model).items() if key not in (*parameters, *NOT_KEPT)}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "sparing": __version__,
        "class": name,
        "sentence": str(getattr(model, "certificate_", "")),
        "parameters": {key: _plain(name, f"{key}=", value, keep) for key, value in parameters.items()},
        "fitted": {key: _plain(name, key, value, keep) for key, value in fitted.items()},
    }
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, LONG_AGO), json.dumps(header, indent=1, allow_nan=False))
        for number, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(f"{number}.npy", LONG_AGO), "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model saved by :func:`save_model`. Nothing in the file is executed, whoever wrote it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    the estimator, fitted
        It transforms and predicts as the saved one did, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, or from a later version.

    Examples
    --------
    >>> import tempfile
    >>> from sparing import SparsePCA, load_model, save_model
    >>> from sparing.datasets import load_pitprops
    >>> model = SparsePCA(n_nonzero=5, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    >>> file = tempfile.mkdtemp() + "/pitprops.model"
    >>> save_model(model, file)
    >>> load_model(file).support_
    array([0, 1, 6, 8, 9])
    """
    place = Path(path).expanduser()
    try:
        with place.open("rb") as file:
            return _loaded(path, file)
    except errors.ModelFileError:
        raise
    except FileNotFoundError as absent:
        raise errors.no_such_file(path) from absent
    except OSError as refused:  # a folder, or a file without permission
        raise errors.ModelFileError(
            f"Cannot load {str(path)!r}: {errors.system_says(refused)}. Pass the path of a file that save_model, or "
            "--save, wrote and that you may read."
        ) from refused
    except Exception as broken:  # a damaged file may raise anything in zipfile, json, NumPy or a constructor
        said = str(broken).strip().splitlines() or [type(broken).__name__]
        raise errors.ModelFileError(
            f"Cannot load {str(path)!r}: it is damaged, truncated or not a model saved by sparing "
            f"({said[0].rstrip('.')}). Save the model again with save_model, or with --save on the command line."
        ) from broken


def _plain(model: str, where: str, value: Any, keep: Any) -> Any:
    try:
        return CODEC.encode(value, keep)
    except Unplain as part:
        raise TypeError(
            f"{model} cannot be saved: {where} is a {type(part.value).__name__}, and only numbers, text, arrays and "
            "the objects of sparing are written, never code. Fit again with a choice that has a name."
        ) from part


def _loaded(path: object, file: BinaryIO) -> Any:
    with zipfile.ZipFile(file) as archive:
        parts = _parts(archive, os.fstat(file.fileno()).st_size)
        header = json.loads(archive.read(parts.pop(HEADER)))
        if header["format"] != FORMAT or not isinstance(header["version"], int):
            raise ValueError("it declares another kind of file")
        if header["version"] < VERSION:
            raise ValueError(f"it has format {header['version']}, which is no longer supported: fit and save it again")
        if header["version"] > VERSION:
            raise errors.ModelFileError(
                f"Cannot load {str(path)!r}: it has format {header['version']}, written by sparing "
                f"{header['sparing']}, and this version reads formats up to {VERSION}. Upgrade sparing."
            )

        def arrays(name: str) -> Any:
            return _array(archive, parts.pop(name))  # each once, or a small file could fill all memory

        kind = CLASSES[header["class"]]
        model = kind(**{key: CODEC.decode(value, arrays) for key, value in header["parameters"].items()})
        for key, value in header["fitted"].items():
            if not re.fullmatch(r"[a-z]\w*_|_[a-z]\w*", key) or hasattr(kind, key):
                raise ValueError(f"{key!r} is nothing that is fitted")
            setattr(model, key, CODEC.decode(value, arrays))
    return _consistent(model)


def _parts(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The parts of the archive by name, after checking that they are not larger than the file."""
    infos = archive.infolist()
    if any(info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 for info in infos):
        raise ValueError("its parts are compressed or encrypted")
    if sum(info.file_size for info in infos) > size:
        raise ValueError("its parts claim to be larger than it is")
    return {info.filename: info for info in infos}


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """An array, after checking the size in its header, so that no more memory is allocated."""
    with archive.open(info) as part:
        header = header_of(part)
        if header.dtype.kind not in "fiub":
            raise ValueError(f"an array of it is of type {header.dtype} and shape {header.shape}")
        if header.n_bytes != info.file_size - header.begin:
            raise ValueError(f"an array of shape {header.shape} is incomplete")
    with archive.open(info) as part:
        return np.lib.format.read_array(part, allow_pickle=False)


def _consistent(model: BaseEstimator) -> BaseEstimator:
    """Return the model; an error if parts are missing or inconsistent, which would otherwise fail later."""
    check_is_fitted(model)
    absent = [name for name in NEEDED[type(model).__name__] if not hasattr(model, name)]
    if absent:
        raise ValueError(f"{absent[0]} is not in it")
    d, support = model.n_features_in_, model.support_
    wide = {name: getattr(model, name) for name in WIDE if hasattr(model, name)}
    names = getattr(model, "feature_names_in_", None)
    if not isinstance(d, int) or any(not _for_features(d, *item) for item in wide.items()):
        raise ValueError("its arrays are for different numbers of features")
    if not all(np.isfinite(array).all() for array in wide.values()):
        raise ValueError("a number in it is not finite")
    if support.dtype.kind != "i" or support.ndim != 1 or (len(support) and not 0 <= support.min() <= support.max() < d):
        raise ValueError("it uses features that do not exist")
    if "components_" in wide and not np.isin(np.flatnonzero(wide["components_"].any(axis=0)), support).all():
        raise ValueError("its components read features that it does not name")
    if names is not None and (names.shape != (d,) or names.dtype != object):
        raise ValueError("its numbers of features and of feature names differ")
    coding = getattr(model, "coding_", None)
    if coding is not None and not (isinstance(coding, Coding) and coding.is_for(d)):
        raise ValueError("its coding is not for its features")
    return model


def _for_features(d: int, name: str, array: Any) -> bool:
    """Whether it is an array with a number for each feature, of one row or, if allowed, of several."""
    return array.shape[-1] == d and array.ndim in SEVERAL.get(name, (1,)) and array.dtype.kind == "f"


WIDE = ("components_", "decoder_", "mean_", "scale_", "imputation_", "coef_", "feature_weights_", "cluster_centers_")
"""Fitted arrays whose last axis has one entry for each feature."""
