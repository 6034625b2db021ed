"""Small data to try things on."""

from sparing.datasets.hard_columns import make_hard_columns
from sparing.datasets.pitprops import load_pitprops
from sparing.datasets.spiked import make_spiked

__all__ = ["load_pitprops", "make_hard_columns", "make_spiked"]
