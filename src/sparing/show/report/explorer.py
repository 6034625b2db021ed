"""The page on which a slider moves through every number of features."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparing.certificates.sentences import counted
from sparing.data import as_rows
from sparing.data.writing import replacing
from sparing.estimators.inputs import features_called
from sparing.estimators.parameters import preprocessing_from, run_from
from sparing.estimators.path_search import PathSearch, path_search
from sparing.estimators.sparsity_path import held_out_curve
from sparing.estimators.validation.stability import chosen_again
from sparing.run import Budget
from sparing.show.report.contents import (
    MOST_REPLACED,
    new_samples,
    opening_step,
    predicted_features,
    sampled,
    searchable,
    steps_of,
    suggestions,
)
from sparing.show.report.labels import coloured, label_column, page_names, readable, sample_column
from sparing.show.report.page import Source, chart_script, html_page, place_for

LONGEST_SHOWN = 40
"""Default maximum number of features; more are no longer few."""

LEAST_SAMPLES, QUICKLY_HELD_OUT = 20, 200_000
"""Numbers of samples and of table entries for which five folds are worthwhile and take about a second."""

HALVES = 10
"""Number of random half-samples for selection frequencies: about a second for a small table."""

TITLE = "Which few features keep what PCA keeps?"


def explore(
    X: Any,
    path: str | os.PathLike[str],
    *,
    n_components: int = 2,
    max_features: int | None = None,
    scale: bool = False,
    center: bool = True,
    missing: str = "error",
    labels: Any = None,
    feature_names: Sequence[object] | None = None,
    sample_names: Sequence[object] | None = None,
    title: str | None = None,
    source: str | Source = "data.csv",
    cv: Any = "auto",
    effort: str = "default",
    random_state: Any = 0,
    time_limit: float | None = None,
    verbose: bool = False,
) -> Path:
    """Write one HTML file on which a slider moves through every number of features.

    It shows the share of PCA's variance that is kept with its proved band, loadings by name, scores, the certificate
    and the equation of each component. The file is self-contained and works offline. It holds names and scores of the
    samples drawn (2,000 at most), never X.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or rows of ``open_data``, of shape (n_samples, n_features)
    path : str or path
        File to write. An existing file is replaced once the new one is complete.
    n_components : int, default=2
    max_features : int, optional
        End of the slider; by default 40, or all features if there are fewer.
    scale, center, missing
        As in :class:`SparseEncoder`.
    labels : array-like of shape (n_samples,), optional
        Colours of the scores: names of groups, of which the 20 most frequent get their own colour, or numbers on a
        scale.
    feature_names, sample_names : sequence, optional
        By default the columns of X, and indices.
    title : str, optional
    source : str, default="data.csv"
        File name of the data in the command that the page shows.
    cv : int, splitter of scikit-learn, pairs of indices, "auto" or None, default="auto"
        Folds for the share kept on new samples, as in :func:`sparsity_path`; "auto" means 5 if that takes about a
        second, otherwise none.
    effort : {"quick", "default", "thorough"}, default="default"
        Effort of the proof when there is no time limit.
    random_state : int, Generator, RandomState or None
    time_limit : float, optional
        Seconds for choosing features, for proofs and for cross-validation in the remaining time; folds that have not
        started by then are left out, with a warning.
    verbose : bool, default=False
        Print progress.

    Returns
    -------
    pathlib.Path
        Path of the written file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing.report import explore
    >>> wine = load_wine(as_frame=True)
    >>> explore(wine.data, "wine.html", scale=True, labels=wine.target)  # doctest: +SKIP
    """
    place, script = place_for(path), chart_script()
    source = source if isinstance(source, Source) else Source(str(source))
    preprocessing = preprocessing_from(center, scale, missing=missing)
    run = run_from(random_state, time_limit, verbose, effort)
    rows = as_rows(X)
    n_samples, n_features = rows.shape
    names = page_names(X, rows, feature_names)
    colours = label_column(labels, n_samples)
    longest = LONGEST_SHOWN if max_features is None else max_features
    if isinstance(cv, str) and cv == "auto":
        cv = 5 if n_samples >= LEAST_SAMPLES and n_samples * n_features <= QUICKLY_HELD_OUT else None
    with features_called(names):
        walk = path_search(rows, n_components, preprocessing, longest, run if cv is None else run.share(1 / 2))
    encoders = walk.encoders()
    certificates = walk.certificates(run, encoders)
    width = max(len(certificate.loadings) for certificate in certificates)
    samples = sampled(n_samples, len(certificates), width, run.rng)
    predicted = predicted_features(walk.view.gram_diagonal(), walk.supports, len(certificates))
    steps, pca, values, unit = steps_of(walk, encoders, certificates, names, samples, predicted)
    held_out = _held_out(walk, cv, run.budget, random_state)
    for step in steps:
        step.update(held_out.get(step["features"], {}))
    said = TITLE if title is None or not str(title).strip() else readable(title)
    contents = {
        "shape": [n_samples, n_features],
        "asked": n_components,
        "components": width,
        "unit": "" if unit == 1 else f"{unit:g}",
        "start": opening_step(steps),
        "halves": HALVES,
        "suggestions": suggestions(steps),
        "names": searchable(names, steps, predicted),
        "samples": sample_column(sample_names, n_samples, samples),
        "labels": coloured(colours, samples),
        "pca": pca,
        "values": values,
        "predicted": predicted.tolist(),
        "steps": steps,
        "source": source.repeated(preprocessing, effort, random_state),
    }
    with replacing(place) as file:
        file.write(html_page(said, _summary(walk, len(samples)), contents, script).encode("utf-8"))
    return place


def _held_out(walk: PathSearch, cv: Any, budget: Budget, random_state: Any) -> dict[int, dict[str, Any]]:
    """For each number of features the share kept of held-out samples, relative to PCA, and the number of half-samples
    that choose each feature.

    Both shares are of the features that are not read, so at most half of the features may be read.
    """
    n, d = walk.view.n_samples or 0, walk.view.n_features
    if cv is None:
        return {}
    curves = (curve.tolist() for curve in held_out_curve(walk, cv, budget, random_state))
    held = {
        r: new_samples(kept, error, pca)
        for r, (kept, error, pca) in enumerate(zip(*curves, strict=True), start=1)
        if 2 * r <= d and math.isfinite(error) and pca > 0
    }
    again = chosen_again(walk, MOST_REPLACED, HALVES, budget) if n >= LEAST_SAMPLES else []
    for r, counts in enumerate(again, start=1):
        if r < d:  # all features are always chosen again
            held.setdefault(r, {})["again"] = counts
    return held


def _summary(walk: PathSearch, drawn: int) -> str:
    """A summary of the page in one or two sentences."""
    n, d = walk.view.n_samples or 0, walk.view.n_features
    done = {
        (True, True): "centred, and divided by its standard deviation",
        (True, False): "centred",
        (False, True): "divided by its standard deviation",
        (False, False): "taken as it is",
    }[walk.preprocessing.center, walk.preprocessing.scale]
    text = f"{counted(n, 'sample')}, {counted(d, 'feature')}; each feature was {done}."
    if drawn < n:
        text += f" Scores are drawn for {counted(drawn, 'sample')}, chosen at random; all numbers are of all samples."
    return text
