"""The comparison of SPCA and DSPCA that the lecture quotes [mackey2014, Sec. 14.3], on public matrices.

One component: variance for every number of features, and features for a given variance, each with the method's own
loadings and with the best ones on its features (Sec. 14.4). Then six components of PitProps with the counts of
[zou2006].

    SPARING_DATA=... python benchmarks/papers/lecture_spca_dspca.py
"""

from __future__ import annotations

import numpy as np
from summary import Compared, compared, draw, keep, picture, section, shared, table, verdict

from sparing import SparsePCA, explained_variance
from sparing.methods.encoders import ElasticNet
from sparing.methods.solvers import Semidefinite

SIZES = {"PitProps": range(1, 14), "Eisen 1": (2, 3, 5, 8, 12, 18, 27, 40), "Eisen 2": (2, 3, 5, 8, 12, 18, 27, 40)}
SOURCES = {
    "PitProps": ("pitprops.npz", "C"),
    "Eisen 1": ("eisen_cov.npz", "eisen1"),
    "Eisen 2": ("eisen_cov.npz", "eisen2"),
}
METHODS = {
    "SPCA": ElasticNet(refit=False),
    "DSPCA": Semidefinite(refit=False),
    "SPCA, refitted": ElasticNet(),
    "DSPCA, refitted": Semidefinite(),
    "optimum": "exact",
}
STYLES = {"SPCA": "s:", "DSPCA": "^:", "SPCA, refitted": "s-", "DSPCA, refitted": "^-", "optimum": "k-"}
PENALTIES, COUNTS = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5), [7, 4, 4, 1, 1, 1]
"""Of [zou2006] for PitProps, and the nonzeros that they leave."""

PROVED = 1e-6
"""The largest gap of an optimum."""

Variances = dict[str, np.ndarray]
"""For each method the variance at each size."""


def variances(name: str) -> Variances:
    file, key = SOURCES[name]
    C = np.load(shared(file))[key]
    found = {method: [] for method in METHODS}
    for r in SIZES[name]:
        for method, solver in METHODS.items():
            certify = method == "optimum"
            model = SparsePCA(1, n_nonzero=r, solver=solver, precomputed=True, certify=certify, random_state=0).fit(C)
            if certify and model.certificate_.gap > PROVED:
                raise RuntimeError(f"{name}, {r} features: the optimum is not proved, {model.certificate_}")
            found[method].append(float(model.variance_[0]))
    leading = np.linalg.eigvalsh(C)[-1]
    return {method: np.array(values) / leading for method, values in found.items()}


def ahead(found: dict[str, Variances], first: str, second: str) -> tuple[int, int, int]:
    """How often the first has more variance than the second, as much, and less."""
    differences = np.concatenate([curves[first] - curves[second] for curves in found.values()])
    return (differences > 1e-6).sum(), (np.abs(differences) <= 1e-6).sum(), (differences < -1e-6).sum()


def fewer(found: dict[str, Variances], first: str, second: str) -> tuple[int, int, int]:
    """How often the first needs fewer features (of the sizes tried) for the second's variance, as many, and more."""
    steps = []
    for curves in found.values():
        for i, wanted in enumerate(curves[second]):
            enough = np.flatnonzero(curves[first] >= wanted - 1e-6)
            steps.append(np.sign((enough[0] if len(enough) else i + 1) - i))
    return steps.count(-1), steps.count(0), steps.count(1)


def six_components() -> list[Compared]:
    """Adjusted variance of six components of PitProps."""
    C = np.load(shared("pitprops.npz"))["C"]
    fits = {
        "SPCA": SparsePCA(6, n_nonzero=13, solver=ElasticNet(l1=PENALTIES, refit=False, tolerance=1e-9, max_iter=1000)),
        "DSPCA": SparsePCA(6, n_nonzero=COUNTS, solver=Semidefinite(refit=False), deflation="projection"),
        "sparing": SparsePCA(6, n_nonzero=COUNTS),
    }
    shares = {}
    for name, model in fits.items():
        model.set_params(precomputed=True, certify=False, random_state=0).fit(C)
        shares[name] = explained_variance(model.components_, C, definition="adjusted", precomputed=True)[-1]
    return [
        Compared(
            "DSPCA beside SPCA: six components of PitProps with 7, 4, 4, 1, 1, 1 features, adjusted variance",
            '"typically" more',
            f"DSPCA {shares['DSPCA']:.1%}, SPCA {shares['SPCA']:.1%}; `SparsePCA` {shares['sparing']:.1%}",
            verdict(shares["DSPCA"] > shares["SPCA"]),
        )
    ]


def claims(found: dict[str, Variances]) -> list[Compared]:
    more, same, less = ahead(found, "DSPCA", "SPCA")
    total = more + same + less
    sparser, equal, denser = fewer(found, "DSPCA", "SPCA")
    gains = [ahead(found, f"{name}, refitted", name) for name in ("SPCA", "DSPCA")]
    return [
        Compared(
            "DSPCA compared with SPCA: variance at the same sparsity",
            '"typically" more',
            f"more in {more}, the same in {same}, less in {less} of {total} cases",
            verdict(more > total / 2),
        ),
        Compared(
            "DSPCA compared with SPCA: features for the same variance",
            '"typically" fewer',
            f"fewer in {sparser}, the same number in {equal}, more in {denser} of {total} cases",
            verdict(sparser > total / 2),
        ),
        Compared(
            "best loadings on the features found (variational renormalization)",
            '"typically" better',
            "; ".join(f"{n}: better in {g[0]}, worse in {g[2]}" for n, g in zip(("SPCA", "DSPCA"), gains, strict=True)),
            verdict(min(better for better, _, _ in gains) > total / 2),
        ),
        *six_components(),
    ]


def chart(found: dict[str, Variances]) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(10.5, 3.4), layout="constrained")
    for ax, (name, curves) in zip(axes, found.items(), strict=True):
        for method, values in curves.items():
            ax.plot(SIZES[name], values, STYLES[method], label=method, markersize=4)
        ax.set(title=name, xlabel="features")
    axes[0].set_ylabel("variance / largest eigenvalue")
    axes[0].legend(fontsize=7)
    draw(figure, "lecture_spca_dspca")
    plt.close(figure)


def main() -> None:
    found = {name: variances(name) for name in SOURCES}
    chart(found)
    more, same, less = ahead(found, "DSPCA, refitted", "SPCA, refitted")
    share = np.concatenate([curves["DSPCA, refitted"] / curves["optimum"] for curves in found.values()])
    rows = [
        (name, r, *(f"{curves[method][i]:.4f}" for method in METHODS))
        for name, curves in found.items()
        for i, r in enumerate(SIZES[name])
    ]
    text = section(
        "SPCA and DSPCA [mackey2014, Sec. 14.3 and 14.4]",
        'The lecture has no table; it quotes [daspremont2007]: DSPCA "typically outperforms SPCA" at a fixed sparsity '
        "and at a fixed variance. We compute one component of three correlation or covariance matrices (13, 79 and 118 "
        "features). SPCA's penalty is set so that r features remain; DSPCA's direction is the leading eigenvector of "
        "its matrix, truncated to r entries. The optimum is proved by branch and bound.",
        compared(claims(found)),
        picture("lecture_spca_dspca", "Variance against the number of features, three matrices"),
        f"With the best loadings on its features, DSPCA has more variance than SPCA in {more} cases, the same in "
        f"{same} and less in {less}, and never less than {share.min():.2%} of the optimum. Variance divided by the "
        "largest eigenvalue:",
        table(("matrix", "r", *METHODS), rows),
    )
    keep("lecture_spca_dspca", text)


if __name__ == "__main__":
    main()
