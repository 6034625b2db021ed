"""scikit-matter: columns that all components share, by CUR and by farthest points."""

from __future__ import annotations

from entry import Entry
from skmatter.feature_selection import CUR, FPS

ENTRIES = [
    Entry("scikit-matter", "CUR", lambda X, k, r, _: CUR(n_to_select=r).fit(X).selected_idx_, shared=True),
    Entry(
        "scikit-matter", "CUR, k vectors", lambda X, k, r, _: CUR(n_to_select=r, k=k).fit(X).selected_idx_, shared=True
    ),
    Entry("scikit-matter", "FPS", lambda X, k, r, _: FPS(n_to_select=r).fit(X).selected_idx_, shared=True),
]
