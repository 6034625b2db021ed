"""Convex relaxations and their duals."""
