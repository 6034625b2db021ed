"""The certificate of a regression on few features: its residual, compared with PCA regression and with the theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates.certificate import Recheck
from sparing.certificates.rules import same_promise
from sparing.certificates.sentences import counted, percent_kept, share, with_noise
from sparing.data import Preprocessing, as_view
from sparing.data.targets import Targets
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.theorem_bounds import dual_set_factor, rank_revealing_factor
from sparing.results import Array, Guarantee, Indices, Reference, Spectrum
from sparing.task import Task

RESOLVED = 1e-8
"""Theorems are quoted where PCA's loss is at least this share of the total: selectors call columns dependent that are
within 1e-5 of each other's span, which smaller promises could not survive."""

FLAT = 1e-9
"""Singular values of coefficients below this share of the largest are rounding."""

EXPLAINED = 1e-10
"""A residual below this share of the targets' norm is rounding."""


@dataclass(frozen=True, eq=False)
class RegressionCertificate:
    """The residual of a regression on few features (``value``), compared with regression on principal components.

    ``print(certificate)`` states the share of the targets that is explained; :meth:`details` adds the rest. It holds
    coefficients and small numbers only, never the data, and can be checked again with :meth:`recheck`. Nothing is
    proved about other features: ``bound`` is 0, and ``gap`` is 1 unless the residual is 0.

    Attributes
    ----------
    value, pca_value, total : float
        Norms in the unit of y: of the residual, of what regression on ``n_components`` principal components of all
        features leaves, and of the targets (less their means where there is an intercept). Squares are weighted where
        samples are.
    guarantees : tuple of Guarantee
        Guarantees of theorems for this fit, and the measured values.
    """

    value: float
    pca_value: float
    total: float
    n_components: int
    n_nonzero: int
    n_features: int
    support: Indices
    coefficients: Array
    preprocessing: Preprocessing
    fit_intercept: bool
    promise: str | None = None
    guarantees: tuple[Guarantee, ...] = ()
    n_samples: int = 0

    @property
    def problem(self) -> str:
        """The problem that was solved."""
        return (
            f"the in-sample residual norm of {counted(len(self.coefficients), 'target')}, "
            f"{'with' if self.fit_intercept else 'without'} an intercept, by linear fits of rank at most "
            f"{self.n_components} on {self.n_nonzero} of {counted(self.n_features, 'feature')}"
        )

    @property
    def sense(self) -> str:
        """Smaller residuals are better."""
        return "min"

    @property
    def bound(self) -> float:
        """Zero: a residual sum of squares is not negative, and no tighter bound is proved."""
        return 0.0

    @property
    def gap(self) -> float:
        """1, which says nothing, unless the residual is zero."""
        return 0.0 if self.value <= EXPLAINED * self.total else 1.0

    def recheck(self, X: Any, y: Any, sample_weight: Any = None) -> Recheck:
        """Verify the claim again from the data: residual, PCA regression and the theorems' limits.

        Parameters
        ----------
        X, y : the data of the fit, in any storage
        sample_weight : array-like of shape (n_samples,), optional
            Those of the fit.

        Returns
        -------
        Recheck
            True where the claim holds; printed, it says what was found.
        """
        view, fitted = _views(X, self.preprocessing, self.fit_intercept, sample_weight)
        if view.n_features != self.n_features:
            raise errors.wrong_n_features(view.n_features, self.n_features, "this certificate")
        targets = Targets.of(y, view.signal.n_samples or 0, center=self.fit_intercept, sample_weight=sample_weight)
        if targets.values.shape[1] != len(self.coefficients):
            raise errors.targets_wrong_shape(targets.values.shape)
        fresh = np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE))
        spectrum = top_spectrum(view, self.n_components, fresh, tolerance=1e-8)
        again = certify_regression(
            Task.of_components(view, spectrum, self.n_nonzero),
            fitted,
            targets,
            self.support,
            self.coefficients,
            preprocessing=self.preprocessing,
            fit_intercept=self.fit_intercept,
            promise=self.promise,
        )
        rounding, used = EXPLAINED * self.total, len(self.support)
        rank = int(np.linalg.matrix_rank(self.coefficients, rtol=FLAT)) if self.coefficients.size else 0
        pca_is_exact = spectrum.exact  # an iteration may settle on other components where eigenvalues nearly tie
        checks = {
            f"it is about targets of norm {self.total:.6g}, but these data have {again.total:.6g}": (
                abs(again.total - self.total) <= 1e-6 * self.total
            ),
            f"it claims the residual {self.value:.6g}, these data have {again.value:.6g}": (
                abs(again.value - self.value) <= 1e-6 * self.value + rounding
            ),
            f"it claims {self.pca_value:.6g} for PCA regression, found {again.pca_value:.6g}": (
                not pca_is_exact or abs(again.pca_value - self.pca_value) <= 1e-6 * self.pca_value + rounding
            ),
            f"it is about {self.n_samples} samples, but X has {again.n_samples}": again.n_samples == self.n_samples,
            f"it states {self.n_nonzero} features and uses {used}": used <= self.n_nonzero,
            f"it states rank {self.n_components}, and its fit has rank {rank}": rank <= self.n_components,
            "its statement of a theorem does not match the theorem here": self._promises_agree(
                again, exact=pca_is_exact
            ),
            "a theorem's limit is exceeded": all(guarantee.holds for guarantee in again.guarantees),
        }
        said = f"holds: residual {again.value:.6g}, PCA regression leaves {again.pca_value:.6g}"
        flaw = next((f"does NOT hold: {sentence}" for sentence, passed in checks.items() if not passed), None)
        return Recheck(flaw is None, again.value, self.bound, f"The certificate {flaw or said}.")

    def _promises_agree(self, again: RegressionCertificate, *, exact: bool) -> bool:
        """Do all stated guarantees agree with their theorems? A limit is at least the residual of PCA regression."""
        shift = self.pca_value - again.pca_value  # none, or that of an iteration
        fresh = [replace(promise, limit=promise.limit + shift) for promise in again.guarantees]
        return len(fresh) == len(self.guarantees) and all(
            same_promise(*pair, exact=exact) for pair in zip(self.guarantees, fresh, strict=True)
        )

    def details(self) -> str:
        """The printed lines, followed by residual, bound and theorems.

        Returns
        -------
        str
            One sentence on each line.
        """
        promised = (_promised(self, guarantee) for guarantee in self.guarantees)
        residual = (
            f"Residual norm: {self.value:.6g}, of PCA regression {self.pca_value:.6g}, of the targets {self.total:.6g}."
        )
        nothing = "Lower bound: none; other features may explain more." if self.gap else "Lower bound: reached."
        return "\n".join([*self._lines(), residual, nothing, *promised])

    def _lines(self) -> list[str]:
        return [_explained(self)]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *rest = (escape(line) for line in self._lines())
        return f"<div><p><strong>{first}</strong></p>{''.join(f'<p>{line}</p>' for line in rest)}</div>"


def certify_regression(
    task: Task,
    fitted: DataMatrix,
    targets: Targets,
    support: Indices,
    coefficients: Array,
    *,
    preprocessing: Preprocessing,
    fit_intercept: bool,
    promise: str | None = None,
) -> RegressionCertificate:
    """Recompute the residual from data and coefficients, and compare it with PCA regression and the theorems.

    The task's view is what the principal components are of, ``fitted`` what the targets were regressed on;
    ``coefficients`` (w x len(support)) are in the user's units. ``promise`` names the selector whose hypothesis the fit
    kept: ``dual_set``, ``leverage``, ``pivoted_qr`` or None.
    """
    view, spectrum, n_nonzero = task.gram, task.spectrum, task.n_nonzero
    to_view = fitted.scale[support] * (math.sqrt(fitted.square_unit) / targets.unit)
    left = targets.beside(fitted) - fitted.columns(support) @ (coefficients * to_view).T
    value = float(np.linalg.norm(left)) * targets.unit
    pca_value = _pca_residual(view, spectrum, targets, fit_intercept)
    guarantees: tuple[Guarantee, ...] = ()
    if fitted is view and spectrum.tail >= RESOLVED * spectrum.total:
        guarantees = _promises(promise, spectrum, support, n_nonzero, targets, value, pca_value)
    return RegressionCertificate(
        value=value,
        pca_value=pca_value,
        total=targets.norm,
        n_components=spectrum.rank,
        n_nonzero=n_nonzero,
        n_features=view.n_features,
        support=support,
        coefficients=coefficients,
        preprocessing=preprocessing,
        fit_intercept=fit_intercept,
        promise=promise,
        guarantees=guarantees,
        n_samples=view.signal.n_samples or 0,
    )


def _views(
    X: Any, preprocessing: Preprocessing, fit_intercept: bool, sample_weight: Any
) -> tuple[DataMatrix, DataMatrix]:
    """The view of the components, and the view on which targets are regressed; the same if both are centred."""
    view = as_view(X, preprocessing, sample_weight)
    if preprocessing.center == fit_intercept:
        return view, view
    return view, as_view(X, replace(preprocessing, center=fit_intercept), sample_weight)


def _pca_residual(view: DataMatrix, spectrum: Spectrum, targets: Targets, fit_intercept: bool) -> float:
    """||Y - U_k U_k'Y||, from residuals: a difference of squares would have lost its digits where the fit is good."""
    scores, Y = view.matmat(spectrum.basis), targets.beside(view)
    if fit_intercept:
        n = len(targets.values)
        scores[:n] = targets.centred(scores[:n])
    Q = np.linalg.qr(scores)[0]
    return float(np.linalg.norm(Y - Q @ (Q.T @ Y))) * targets.unit


def _promises(
    promise: str | None,
    spectrum: Spectrum,
    support: Indices,
    n_columns: int,
    targets: Targets,
    value: float,
    pca_value: float,
) -> tuple[Guarantee, ...]:
    """Theorems 1 and 2 with corrected constants (docs/errata.md), each under its own hypothesis only.

    Columns that reveal the rank have the factor sqrt(k (d - k) + 1) in the place of Theorem 1's: its proof asks for no
    more than the smallest singular value of their rows of V_k [boutsidis2011, Sec. 3].
    """
    k, r = spectrum.rank, n_columns
    spread = math.sqrt(spectrum.tail / float(spectrum.values[-1]))  # ||X - X_k|| / sigma_k
    size = float(np.linalg.norm(targets.values, 2)) * targets.unit
    if promise == "dual_set" and r > k:
        factor = math.sqrt(dual_set_factor(k, r) - 1.0)  # 1 / (1 - sqrt(k/r))
        config, strength, where = "deterministic selection", "always" if spectrum.exact else "numerical", "Theorem 1"
    elif promise == "leverage" and r > 144 * k * math.log(20 * k):
        factor = math.sqrt(36 * k * math.log(20 * k) / r)
        config, strength, where = "leverage sampling", "probability 0.7", "Theorem 2"
    elif promise == "pivoted_qr":
        factor = math.sqrt(rank_revealing_factor(spectrum.basis[support], len(spectrum.basis)))
        config, strength, where = "pivoted QR", "always" if spectrum.exact else "numerical", "Sec. 3"
    else:
        return ()
    if not math.isfinite(factor):
        return ()
    return (
        Guarantee(
            claim=f"Residual norm for {r} features by {config}",
            limit=pca_value + factor * spread * size,
            measured=value,
            strength=strength,
            reference=Reference("boutsidis2011", where),
        ),
    )


def _explained(c: RegressionCertificate) -> str:
    """The variance that the features explain, rounded down, compared with regression on principal components."""
    if c.total == 0:
        return f"The targets are {'constant' if c.fit_intercept else 'zero'}: there is nothing to explain."
    verb = "explains" if len(c.support) == 1 else "explain"
    whose = "the target" if len(c.coefficients) == 1 else f"{len(c.coefficients)} targets"
    what = f"{'variance' if c.fit_intercept else 'squares'} of {whose}"
    value = 0.0 if c.value <= EXPLAINED * c.total else c.value
    ours = percent_kept(1.0 - (value / c.total) ** 2)
    pca = f"regression on {counted(c.n_components, 'principal component')} of all features explains"
    return (
        f"{len(c.support):,} of {counted(c.n_features, 'feature')} {verb} {ours} of the {what} ({pca} "
        f"{share(max(1.0 - (c.pca_value / c.total) ** 2, 0.0))}), on these {counted(c.n_samples, 'sample')}"
        f"{with_noise(c.preprocessing)}."
    )


def _promised(c: RegressionCertificate, guarantee: Guarantee) -> str:
    if guarantee.limit < c.total:
        return f"{guarantee}."
    return (
        f"{guarantee}. That limit is above the norm of the targets, {c.total:.4g}: the theorem guarantees nothing here."
    )
