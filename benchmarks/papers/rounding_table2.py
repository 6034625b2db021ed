"""Table 2 of [fountoulakis2016]: the words of two rounded components of Classic-2, k = 100.

SPARING_DATA=... python benchmarks/papers/rounding_table2.py
"""

from __future__ import annotations

import numpy as np
from rounding_methods import classic2
from rounding_table1 import algorithm2
from summary import Compared, compared, keep, section, table, verdict

K = 100
FIRST = """
    boundary layer heat flow transfer laminar plate shock turbulent hypersonic pressure temperature wall flat
    surface mach friction compressible velocity reynolds stagnation skin number stream equations transition
    solution viscous layers separation solutions gradient injection dimensional incompressible fluid edge cylinder
    shear point interaction numbers body wave method leading region bodies supersonic gas measurements approximate
    local equation case constant
"""
SECOND = """
    information library retrieval systems system scientific science libraries research layer services boundary
    indexing search literature heat university documents users classification technology
"""
PRINTED = (FIRST.split(), SECOND.split())
"""By falling weight."""


def components(center: bool, bound: float) -> list[list[str]]:
    """Words of both components by falling weight: the relaxation and one rounding with s = k."""
    given, words = classic2(center=center)
    H = algorithm2(given, K, bound, rounding=True)
    return [list(words[np.argsort(-np.abs(x))[: np.count_nonzero(x)]]) for x in H.T]


def main() -> None:
    variants = {
        "as written": components(False, np.sqrt(K)),
        "half the bound": components(False, np.sqrt(K) / 2),
        "centred, as written": components(True, np.sqrt(K)),
    }
    rows = []
    for i, printed in enumerate(PRINTED):
        said = [
            f"{label}: {len(found[i])}, {len(set(printed) & set(found[i]))} of them in the printed list"
            for label, found in variants.items()
        ]
        rows.append(
            Compared(
                f"words of component {i + 1}",
                f"{len(printed)}",
                "; ".join(said),
                "a rounding is random, and the paper does not fully state its stop list, weights and bound (Table 1)",
            )
        )
    foreign = set(variants["centred, as written"][0]) & set(PRINTED[1][:5])
    rows.append(
        Compared(
            "words of library science in component 1",
            "none",
            f"none; with centred data, as in Section 3.1: {', '.join(sorted(foreign)) or 'none'}",
            verdict(not set(variants["as written"][0]) & set(PRINTED[1][:5])),
        )
    )
    shown = [
        (label, i + 1, " ".join(found[i]))
        for label, found in ({"print": list(PRINTED)} | variants).items()
        for i in range(2)
    ]
    text = section(
        "Randomized rounding, Table 2: words [fountoulakis2016]",
        f"k = {K}, prepared as for Table 1. Words are sorted by decreasing weight.",
        compared(rows),
        table(("version", "component", "words"), shown),
    )
    keep("rounding_table2", text)


if __name__ == "__main__":
    main()
