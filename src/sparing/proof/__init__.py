"""Bounds on every feasible result: one class per bound, built on trees, relaxations and searches of the sphere."""
