"""Where the stories find their data, and how they keep their pictures small."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

IMAGES = Path(__file__).parents[1] / "docs" / "images"
"""Where the pages of the guide look for pictures."""


def shared(name: str) -> Path:
    """A file of the real data sets."""
    folder = os.environ.get("SPARING_DATA")
    if not folder:
        raise SystemExit(f"This story reads {name}: set SPARING_DATA to the folder that has it.")
    return Path(folder) / name


def save(display: Any, file: Path) -> None:
    """Write what was drawn, for a page: sharp on fine screens, and small by few colours."""
    drawn = io.BytesIO()
    display.figure_.savefig(drawn, dpi=144)
    compress(drawn, file)


def compress(picture: io.BytesIO, file: Path, colours: int = 48) -> None:
    """Write a picture with few colours."""
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.open(picture).convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(file, optimize=True)
