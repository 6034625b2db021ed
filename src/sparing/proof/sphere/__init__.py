"""Searches of the unit sphere of a low-rank surrogate."""
