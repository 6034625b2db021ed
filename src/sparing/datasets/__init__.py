"""Small data to try things on."""

from sparing.datasets.hard_columns import make_hard_columns
from sparing.datasets.hidden_direction import make_hidden_direction
from sparing.datasets.pitprops import load_pitprops
from sparing.datasets.rotated_hadamard import make_rotated_hadamard
from sparing.datasets.spiked import make_spiked

__all__ = ["load_pitprops", "make_hard_columns", "make_hidden_direction", "make_rotated_hadamard", "make_spiked"]
