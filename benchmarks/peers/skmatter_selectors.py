"""scikit-matter: columns that all components share, by CUR and by farthest points."""

from __future__ import annotations

import numpy as np
from entry import Entry
from panel_method import Choice, Method
from skmatter.feature_selection import CUR, FPS

ENTRIES = [
    Entry("scikit-matter", "CUR", lambda X, k, r, _: CUR(n_to_select=r).fit(X).selected_idx_, shared=True),
    Entry(
        "scikit-matter", "CUR, k vectors", lambda X, k, r, _: CUR(n_to_select=r, k=k).fit(X).selected_idx_, shared=True
    ),
    Entry("scikit-matter", "FPS", lambda X, k, r, _: FPS(n_to_select=r).fit(X).selected_idx_, shared=True),
]

PANELS = [
    Method("scikit-matter", "CUR", lambda X, k, r, _: Choice(np.asarray(CUR(n_to_select=r).fit(X).selected_idx_))),
    Method("scikit-matter", "FPS", lambda X, k, r, _: Choice(np.asarray(FPS(n_to_select=r).fit(X).selected_idx_))),
]
