"""Bounds that no result can pass: one file per bound, on trees, relaxations and searches of a sphere."""
