"""Components with separate features, in at most five passes over the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sparing.data.jobs import GramBlock, GramColumns, GramProduct
from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg import top_spectrum
from sparing.linalg.krylov import RitzSpace
from sparing.linalg.span import encoder_of
from sparing.methods.encoders.few_passes import candidates, ranked, surrogate_of
from sparing.methods.selectors import Selector
from sparing.results import Array, Encoder, Indices, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class CandidatePool:
    """Candidates whose Gram matrix is known exactly, so that any method may choose among them in memory.

    They are those of ``FewPasses`` for the total number of features of all components. The reading that computes
    their Gram matrix multiplies the leading directions V of the data as well: the scores ``X V`` stand for all other
    features where these are to be rebuilt. A last pass computes the Gram columns of the chosen features, and from them
    the components and their exact variance.

    Attributes
    ----------
    view : DataMatrix
        All of the data.
    features : ndarray of int
        The candidates, sorted.
    gram : ndarray
        Their Gram matrix.
    basis, images : ndarray of shape (d, m)
        Orthonormal leading directions, and their products with A.
    space : RitzSpace
    """

    view: DataMatrix
    features: Indices
    gram: Array
    basis: Array
    images: Array
    space: RitzSpace

    @classmethod
    def read(
        cls, view: DataMatrix, selector: Selector, n_components: int, together: int, run: Run, rules: Rules = NO_RULES
    ) -> Self:
        """Candidates from all readings but the last, for a number of components and features."""
        together = min(together, rules.most_features(view.n_features))
        surrogate, target, space = surrogate_of(view, n_components, n_components)
        run.budget.say(f"sketch of {surrogate.n_samples} rows after {view.passes} passes")
        longest = [ranked(np.abs(direction), len(direction)) for direction in target.basis.T]
        features = candidates(selector, surrogate, target, together, run, rules, also=longest)
        del surrogate, target
        wanted = space.wanted
        gram, image = view.one_pass(GramBlock(features), GramProduct(wanted))
        basis, images = np.column_stack([space.basis, wanted]), np.column_stack([space.images, image])
        space.absorb(image)
        return cls(view, features, gram, basis, images, space)

    def beside_the_rest(self) -> DataMatrix:
        """The candidates, and after them a few columns that stand for all other features.

        Those are the scores ``X V L``, where ``L L' = V[rest]' V[rest]``: as far as V spans the data, their products
        with a candidate are as long together as those of all other features.
        """
        inside = self.basis[self.features]
        lengths, turned = np.linalg.eigh(np.eye(inside.shape[1]) - inside.T @ inside)
        L = turned * np.sqrt(np.maximum(lengths, 0.0))
        across, own = self.images[self.features] @ L, L.T @ (self.basis.T @ self.images) @ L
        return view_of_gram(np.block([[self.gram, across], [across.T, (own + own.T) / 2]]))

    def task(self, n_components: int, n_nonzero: int | Sequence[int], run: Run, rules: Rules = NO_RULES) -> Task:
        """Predict all features from some of the candidates; stand-ins for the other features may not be read."""
        beside, d = self.beside_the_rest(), self.view.n_features
        numbers = np.append(self.features, np.arange(d, d + beside.n_features - len(self.features)))
        inside = rules.restricted(numbers, d).narrowed(np.arange(len(self.features)), beside.n_features)
        return Task.of_components(beside, top_spectrum(beside, n_components, run.rng), n_nonzero, rules=inside)

    def measured(self, found: Encoder, n_components: int) -> tuple[Encoder, Spectrum, DataMatrix]:
        """These components of the candidates as those of all features, so many principal components, and the view.

        The view knows the Gram columns of the chosen features, which certificates need.
        """
        chosen = self.features[found.support]
        columns, image = self.view.one_pass(GramColumns(chosen), GramProduct(self.space.wanted))
        self.space.absorb(image)
        pca, known = self.space.spectrum(self.view, n_components), self.view.cached(chosen, columns)
        directions = np.zeros((self.view.n_features, len(found.loadings)))
        directions[chosen] = found.loadings.T
        return encoder_of(known, directions, pca.total), pca, known
