"""Example data sets: pit props, and synthetic data with known answers."""

from sparing.datasets.pitprops import load_pitprops
from sparing.datasets.synthetic import make_hard_columns, make_hidden_direction, make_rotated_hadamard, make_spiked

__all__ = ["load_pitprops", "make_hard_columns", "make_hidden_direction", "make_rotated_hadamard", "make_spiked"]
