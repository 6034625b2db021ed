"""A folder with small files to run commands on."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine

from sparing.show.cli.commands import sparing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with wine.csv: 13 features and a column of text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    wine = load_wine()
    with (tmp_path / "wine.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*wine.feature_names, "cultivar"])
        writer.writerows([*row, f"type {kind}"] for row, kind in zip(wine.data.tolist(), wine.target, strict=True))
    loadings = np.zeros((2, 13))
    loadings[0, [5, 6, 11]], loadings[1, [0, 9, 12]] = 1.0, 0.5
    with (tmp_path / "loadings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(wine.feature_names[::-1])
        writer.writerows(loadings[:, ::-1].tolist())
    return tmp_path


@pytest.fixture
def run(folder):
    """Run a command in that folder."""

    def call(*arguments):
        result = CliRunner().invoke(sparing, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call
