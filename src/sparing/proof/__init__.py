"""Bounds that no result can pass: one class per bound, on trees, relaxations and searches of a sphere."""
