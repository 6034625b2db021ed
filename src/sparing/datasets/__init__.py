"""Small data to try things on."""

from sparing.datasets.pitprops import load_pitprops
from sparing.datasets.spiked import make_spiked

__all__ = ["load_pitprops", "make_spiked"]
