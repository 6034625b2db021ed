"""The certificate of an encoder fitted to a stream, proved from one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparing.certificates.certificate import WRONG, Certificate, Recheck
from sparing.certificates.rules import broken_rule, counts_for_none
from sparing.certificates.sentences import counted, other_data, percent, percent_kept, share, who
from sparing.data import Preprocessing
from sparing.data.blocks import DenseBlock
from sparing.data.sketch import row_gram_of
from sparing.gram import DataMatrix, RowSketch
from sparing.linalg import information_loss_of
from sparing.proof.bounds import PcaLoss
from sparing.results import Array, Bound, Encoder, Spectrum
from sparing.task import Task


@dataclass(frozen=True, eq=False)
class StreamCertificate(Certificate):
    """Certificate of a fit to rows that were seen only once.

    ``value`` is not the loss but an upper bound of it; ``bound`` is, as usual, a lower bound for every encoder.
    Between them lies ``estimate``. ``variance_kept`` is the share that is proved to be kept.

    Attributes
    ----------
    estimate : float
        An estimate of the loss from the kept directions and the exact norms of all features; it is not proved.
    pca_estimate : float
        The variance of PCA's components by the same directions.
    """

    estimate: float = 0.0
    pca_estimate: float = 0.0

    def _recheck_on(self, view: DataMatrix, spectrum: Spectrum) -> Recheck:
        """Is the loss on these data at most the claimed value, and PCA's at least the claimed one?"""
        unit, pca = self._unit(view), spectrum.leading(self.problem.n_components)
        value = self._value_on(view) * unit
        flaw = self._unlike(view, value, pca, unit) or self._unproved_of(value, pca, unit)
        if (flaw := flaw or self._miscompared(view, spectrum, unit)) is not None:
            return Recheck(False, value, self.bound, f"{WRONG}{flaw}.")
        said = f"The certificate holds: loss {value:.6g}, at most {self.value:.6g} as claimed."
        return Recheck(True, value, self.bound, said)

    def _unlike(self, view: DataMatrix, value: float, pca: Spectrum, unit: float) -> str | None:
        slack = 1e-9 * self.total
        if self.problem.objective != self._named:
            return f": it is about a loss, its problem about a {self.problem.objective}"
        if not abs(view.total * unit - self.total) <= 1e-6 * self.total:
            return other_data(self.total, view.total * unit)
        if not value <= self.value * (1 + 1e-9) + slack:
            return f" for these data: it claims a loss of at most {self.value:.6g}, found {value:.6g}"
        if (rule := broken_rule(self.problem, self.support, self.loadings, pca)) is not None:
            return f": its loadings violate the constraints that it states: {rule}"
        return None

    def _unproved_of(self, value: float, pca: Spectrum, unit: float) -> str | None:
        """The claim about PCA that does not hold, in words. Nothing is claimed of theorems, and of a loss that counts
        as none that it is: means of a stream may cost more digits than those of data that are read twice."""
        least, slack = (pca.tail + pca.tail_error) * unit, 1e-9 * self.total
        if not max(self.bound, self.pca_value) <= least * (1 + 1e-9) + slack:
            return f": it claims that nothing loses less than {self.bound:.6g}, PCA loses {least:.6g}"
        if not self.bound - slack <= self.estimate <= self.value + slack:
            return f": its estimate {self.estimate:.6g} is not within what it claims"
        if self.value <= self._none and not counts_for_none(value, pca, unit):
            return f": it treats {self.nothing:.6g} as zero"
        return f": a stream has no promise of {self.guarantees[0].reference}" if self.guarantees else None

    def _miscompared(self, view: DataMatrix, pca: Spectrum, unit: float) -> str | None:
        """PCA may keep less than is claimed here, never more, because the claim is the bound that one pass proves."""
        asked = pca.leading(self.n_asked)
        if self.n_asked < min(self.problem.n_components, pca.rank):
            return f": it compares {self.problem.n_components} components with {self.n_asked} of PCA"
        if not asked.least_variance * unit <= self.pca_variance * (1 + 1e-6) + 1e-9 * self.total:
            return f": it claims that PCA keeps at most {self.pca_variance:.6g}, which is not so"
        if self.n_samples != view.n_samples:
            return f": it is about {self.n_samples} samples, but X has {view.n_samples or 0}"
        return None

    def _lines(self) -> list[str]:
        verb = "keeps" if len(self.loadings) == 1 else "keep"
        pca = "PCA's first component keeps" if self.n_asked == 1 else f"PCA's {self.n_asked:,} keep"
        kept = min((self.total - self.estimate) / self.pca_estimate, 1.0) if self.pca_estimate > 0 else 1.0
        seen = f"by an estimate from one pass over {counted(self.n_samples or 0, 'sample')}"
        first = f"{who(self)} {verb} about {percent_kept(kept)} of the variance that {pca}, {seen}."
        return [first, f"At least {percent_kept(self.variance_kept)} is proved."]

    def _detailed(self) -> list[str]:
        least = f"{np.floor(1000 * self.bound / self.total) / 10:.1f}%"
        return [
            f"Loss: {share(self.estimate / self.total)} of the variance by the estimate, at most "
            f"{percent(self.value / self.total)} proved.",
            f"Lower bound: {least} of the variance, for {counted(self.problem.n_components, 'component')}.",
            "Where X can be read again, certify(components_, X) is exact.",
        ]


def certify_stream(
    task: Task,
    sketch: RowSketch,
    found: Encoder,
    preprocessing: Preprocessing,
    n_samples: int,
) -> StreamCertificate:
    """Bounds of both losses from the kept directions B, with E = X'X - B'B >= 0 and no eigenvalue above e, the dropped.

    With M = I - HG for encoder H and decoder G the loss is at most tr(M'X'XM) = |BM|^2 + tr(M'EM), and
    tr(M'EM) <= tr E + 2 e |HG|_* + e |HG|_F^2; PCA keeps at most sum(values of B'B) + k e.
    Both e and k e are at most tr E, which is known.
    """
    view, problem, asked = task.gram, task.problem, task.spectrum
    total, unit = view.total, view.square_unit
    H, G = found.components.T, found.decoder
    B = DenseBlock(sketch.rows)
    scores = B.matmat(H)
    cross = B.rmatmat(scores)  # B'B H
    saved = 2 * float(np.sum(cross * G.T)) - float(np.sum((scores.T @ scores) * (G @ G.T)))
    sizes = singular_values(H, G)
    rounding = 1e-10 * total + 2 * float(np.sqrt(total)) * view.rounding_error
    gram = row_gram_of(B.rows)
    left = max(total - float(np.trace(gram)), 0.0)  # tr E
    dropped = min(sketch.dropped, left)
    value = total - saved + dropped * float(2 * sizes.sum() + np.square(sizes).sum()) + rounding
    values = np.linalg.eigvalsh(gram)

    def most(k: int) -> float:
        """An upper bound on the variance that k principal components keep."""
        return min(float(values[-k:].sum()) + min(k * dropped, left) + rounding, total)

    bound = min(total - most(problem.n_components), value)
    estimate = information_loss_of(view, found.components)
    return StreamCertificate(
        problem=problem,
        value=min(value, total) * unit,
        witness=Bound(bound * unit, PcaLoss.name, "one pass", "always"),
        pca_value=bound * unit,
        total=total * unit,
        support=found.support,
        loadings=found.loadings,
        preprocessing=preprocessing,
        nothing=task.spectrum.nothing * unit,
        estimate=estimate * unit,
        pca_estimate=float(asked.values.sum()) * unit,
        n_asked=asked.rank,
        pca_variance=most(asked.rank) * unit,
        n_samples=n_samples,
    )


def singular_values(H: Array, G: Array) -> Array:
    """Singular values of the d x d product H G, computed from its two thin factors."""
    R, S = np.linalg.qr(H)[1], np.linalg.qr(G.T)[1]
    return np.asarray(np.linalg.svd(R @ S.T, compute_uv=False))
