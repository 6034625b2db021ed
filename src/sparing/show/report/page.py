"""One HTML file from contents, template and the script of the charting library.

Charts are drawn by Vega-Lite, whose script vl-convert-python carries (Altair saves its pages with it). Its script is
the smallest of those that come from PyPI (0.9 MB; Bokeh's has 1.3, Plotly's 4.8, which leaves no room below 5 MB), and
it draws SVG where Bokeh draws pixels: text stays text for search, print and screen readers, marks carry ARIA labels,
and style sheets reach them, so that light, dark and print need no second drawing. To it names are data: it knows no
markup and no mathematics that a name could use.

The page's policy (``Content-Security-Policy``) allows the two scripts that are in it, by their hashes, and no request.
"""

from __future__ import annotations

import base64
import errno
import functools
import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from sparing import errors
from sparing.data import Preprocessing
from sparing.show.report.labels import readable

POLICY = "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def chart_script() -> str:
    """The script of the charting library, ready for a page."""
    try:
        import vl_convert
    except ModuleNotFoundError as missing:
        raise errors.needs_package("The explorer page", "vl-convert-python", "report") from missing
    return _bundled(vl_convert.javascript_bundle)


@functools.cache
def _bundled(bundle: Callable[[str], str]) -> str:
    """The bundle of the library, computed once per process, which takes a second."""
    return _alone(bundle("window.vegaEmbed = vegaEmbed;"))


def html_page(title: str, summary: str, contents: dict[str, Any], charts: str) -> str:
    """The page as text."""
    glue = _alone(_part("page.js"))
    policy = POLICY.format(scripts=" ".join(_hash(script) for script in (charts, glue)))
    return Template(_part("page.html")).substitute(
        policy=escape(policy),
        title=escape(title),
        summary=escape(summary),
        style=_part("page.css"),
        contents=embedded({**contents, "charts": json.loads(_part("charts.json"))}),
        charts=charts,
        glue=glue,
    )


def embedded(contents: Any) -> str:
    """JSON that is safe in a page, whatever its strings contain."""
    text = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    unsafe = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return re.sub(r"[<>&\u2028\u2029]", lambda sign: unsafe[sign.group()], text)


@dataclass(frozen=True)
class Source:
    """A file, with the options of the command line and of ``open_data`` to read it.

    ``opening`` holds the arguments of ``open_data`` after the path; None where ``open_data`` is not how it was read.
    """

    file: str
    options: tuple[str, ...] = ()
    opening: tuple[str, ...] | None = None

    def repeated(self, preprocessing: Preprocessing, effort: str, random_state: Any) -> dict[str, Any]:
        """The data and fit arguments in the commands of the page: file, options of the command line, Python."""
        seed = random_state if isinstance(random_state, (int, np.integer)) else 0
        missing = preprocessing.missing
        said = (
            (preprocessing.scale, "--scale", "scale=True"),
            (not preprocessing.center, "--no-center", "center=False"),
            (missing != "error", f"--missing {missing}", f'missing="{missing}"'),
            (effort != "default", f"--effort {effort}", f'effort="{effort}"'),
            (seed != 0, f"--seed {seed}", f"random_state={seed}"),
        )
        chosen = [(option, setting) for is_set, option, setting in said if is_set]
        return {
            "file": readable(self.file),
            "options": [*self.options, *(option for option, _ in chosen)],
            "settings": [setting for _, setting in chosen],
            "opening": None if self.opening is None else list(self.opening),
        }


def place_for(path: Any) -> Path:
    """The path to write to, checked before the work starts."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise TypeError(
            f"path={path!r} is a {type(path).__name__}; the page is written to a file. Pass its path, as a str or "
            "pathlib.Path, such as 'page.html'."
        )
    place = Path(path).expanduser()
    if place.is_dir():
        raise errors.cannot_write(path, IsADirectoryError(errno.EISDIR, "it is a folder"))
    if not place.parent.is_dir():
        raise errors.cannot_write(path, FileNotFoundError(errno.ENOENT, f"there is no folder {str(place.parent)!r}"))
    return place


def _part(name: str) -> str:
    return resources.files("sparing.show.report").joinpath(name).read_text("utf-8")


def _alone(script: str) -> str:
    """Wrap a script so that it defines no global names and cannot close its element early."""
    safe = re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE).replace("<!--", "<\\!--")
    return f"(() => {{{safe}\n}})();"


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode('ascii')}'"
