"""The steps of a sparsity path, with their proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates import Certificate, certify_loss
from sparing.data import Preprocessing, as_rows, as_view
from sparing.data.tracked import TrackedRows
from sparing.estimators.base import check_something_varies
from sparing.estimators.feature_rules import Counted
from sparing.estimators.inputs import check_has_variance, fit_context
from sparing.estimators.parameters import count
from sparing.estimators.validation.grid import Ask, noise_on
from sparing.estimators.validation.noise import Noise
from sparing.gram import DataMatrix
from sparing.linalg import encoder_on, information_loss_of, top_spectrum
from sparing.methods.encoders.path import Path, improved_path, nested_path
from sparing.proof.bounds import LossTree, PcaLoss
from sparing.results import ZERO_LOSS, Array, Bound, Encoder, Enough, Indices, Problem, Selection, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.task import Task

FINE = 1e-4
"""If PCA loses less than this share of the total, losses as differences from the total have lost their digits."""

UNLIMITED = 10**9
"""Maximum number of nodes if time is the limit."""


@dataclass(frozen=True, eq=False)
class PathSearch:
    """Supports of 1, 2, 3, ... features, their losses, bounds beyond PCA's loss, and their view.

    ``sizes`` begin with the number of required features; under a budget they are upper limits.
    """

    view: DataMatrix
    preprocessing: Preprocessing
    spectrum: Spectrum
    sizes: Indices
    supports: list[Indices]
    losses: Array
    proofs: list[Bound | None]
    rules: Rules = NO_RULES

    @property
    def loss_ratio(self) -> Array:
        """Losses divided by PCA's."""
        return np.array([self.spectrum.loss_ratio(loss) for loss in self.losses])

    @property
    def variance_kept(self) -> Array:
        """Share of PCA's variance that is kept."""
        return np.array([self.spectrum.variance_kept(loss) for loss in self.losses])

    @property
    def least(self) -> Array:
        """Lower bounds of the loss for each number of features: the proved bound, or PCA's loss."""
        proved = [0.0 if proof is None else proof.value for proof in self.proofs]
        pca = [self.spectrum.leading(r).least_loss for r in self.sizes.tolist()]
        return np.minimum(np.maximum(proved, pca), self.losses)

    @property
    def bound(self) -> Array:
        """Lower bounds of the loss for each number of features, divided by PCA's loss."""
        most = self.spectrum.most_loss
        return np.maximum(self.least / most, 1.0) if most > 0 else np.ones(len(self.losses))

    @property
    def variance_kept_bound(self) -> Array:
        """Upper bounds of the share of PCA's variance for each number of features, rounded up; at most 1."""
        spectrum = self.spectrum
        most = np.minimum((spectrum.total - self.least) / spectrum.least_variance, 1.0)
        return np.maximum(most, self.variance_kept)

    @cached_property
    def _known(self) -> DataMatrix:
        """The view with the Gram columns of all supports, so that X need not be read again."""
        view = self.view.cached()
        view.gram_columns(np.unique(np.concatenate(self.supports)))
        return view

    def encoders(self) -> list[Encoder]:
        """The best encoder on each support."""
        with fit_context(self.view, self.spectrum.rank):
            return [_encoder(self._known, self.spectrum, S).including(self.rules.required) for S in self.supports]

    def certificates(self, run: Run, encoders: list[Encoder] | None = None) -> list[Certificate]:
        """Certificates of the encoders, from the proofs of the path."""
        out, encoders = [], self.encoders() if encoders is None else encoders
        with fit_context(self.view, self.spectrum.rank):
            view = self._known
            for size, found, proof in zip(self.sizes.tolist(), encoders, self.proofs, strict=True):
                judge = self.view if self.view.has_gram else view
                pca = self.spectrum.leading(size)
                task = Task(judge, Problem(pca.rank, size, view.n_features, rules=self.rules), pca)
                known = (PcaLoss().bound(task, found, run), proof)
                bounds = [bound for bound in known if bound is not None]
                out.append(certify_loss(task, found, bounds, self.preprocessing, asked=self.spectrum))
        return out


def path_search(
    X: Any,
    n_components: int,
    preprocessing: Preprocessing,
    max_features: int,
    run: Run,
    *,
    enough: Enough | None = None,
    improve: bool = True,
    prove: bool = True,
    rules: Rules = NO_RULES,
    noise: Noise | str = None,
) -> PathSearch:
    """Check X, choose features for every number, and compute bounds for small numbers."""
    rows = as_rows(X)
    view = as_view(rows if preprocessing.precomputed else TrackedRows(rows, run.budget.say), preprocessing)
    n_components = count("n_components", n_components)
    if n_components > view.n_features:
        raise errors.n_components_too_large(n_components, view.n_features)
    longest = min(rules.most_features(view.n_features), count("max_features", max_features))
    check_has_variance(view, preprocessing.center)
    check_something_varies(view, rules, Counted("max_features", together=longest))
    with fit_context(view, n_components):
        view, used = noise_on(view, noise, Ask(n_components, longest, rules=rules, along=True), run)
        preprocessing = replace(preprocessing, noise_variance=used)
        spectrum = top_spectrum(view, n_components, run.rng)
        most_loss = None if enough is None else enough.loss(spectrum)
        fine = spectrum.least_loss < FINE * spectrum.total
        if improve:
            path = improved_path(view, spectrum, longest, run, most_loss=None if fine else most_loss, rules=rules)
        else:
            path = nested_path(view, spectrum, longest, run.rng, rules)
        path = _until(_measured(view, spectrum, path) if fine else path, most_loss)
        first, last = (spectrum.variance_kept(path.losses[i]) for i in (0, -1))
        sizes = max(len(rules.required), 1) + np.arange(len(path.supports))
        unread = int((path.losses < spectrum.total * (1 - ZERO_LOSS)).argmax())  # steps with constant features only
        sizes, path = sizes[unread:], Path(path.supports[unread:], path.losses[unread:])
        run.budget.say(f"{sizes[0]} to {sizes[-1]} features keep {first:.1%} to {last:.1%} of PCA's variance")
        walk = PathSearch(view, preprocessing, spectrum, sizes, path.supports, path.losses, [None] * len(sizes), rules)
        return replace(walk, proofs=_proofs(walk, run)) if prove and spectrum.least_loss > 0 else walk


def _measured(view: DataMatrix, spectrum: Spectrum, path: Path) -> Path:
    """The path with losses measured as in fits."""
    remembered = view.cached()
    remembered.gram_columns(np.unique(np.concatenate(path.supports)))
    found = [_encoder(remembered, spectrum, support).components for support in path.supports]
    return Path(path.supports, np.array([information_loss_of(view, components) for components in found]))


def _until(path: Path, most_loss: float | None) -> Path:
    """The path up to the first loss within the limit."""
    within = path.losses <= (-np.inf if most_loss is None else most_loss)
    length = int(within.argmax()) + 1 if within.any() else len(within)
    return Path(path.supports[:length], path.losses[:length])


def _proofs(path: PathSearch, run: Run) -> list[Bound | None]:
    """Bounds of the deletion tree for each number of features, in equal shares of the remaining time or nodes.

    If there are fewer nodes than numbers of features, the smallest numbers get one each, because bounds help most
    there.
    """
    proofs, view, spectrum = list(path.proofs), path.view, path.spectrum
    nodes = run.effort.proof.path_work * run.effort.proof.tree_nodes(view.n_features)
    for i, (size, support) in enumerate(zip(path.sizes.tolist(), path.supports, strict=True)):
        if run.budget.expired or (run.budget.deadline is None and nodes < 1):
            break
        found = _encoder(view, spectrum, support)
        problem = Problem(min(spectrum.rank, size), size, view.n_features, rules=path.rules)
        to_come = len(path.supports) - i
        tree = LossTree(max_nodes=max(nodes // to_come, 1) if run.budget.deadline is None else UNLIMITED)
        proof = tree.bound(Task(view, problem), found, run.share(1 / to_come))
        nodes -= 0 if proof is None else proof.witness[1]
        proofs[i] = proof
    return proofs


def _encoder(view: DataMatrix, spectrum: Spectrum, support: Indices) -> Encoder:
    return encoder_on(Selection(support, view.gram_columns(support)), spectrum.rank, spectrum.total)
