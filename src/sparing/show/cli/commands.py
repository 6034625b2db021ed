"""The group of all commands, and what they do when something is wrong: one sentence, and a code."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from sparing import __version__, errors
from sparing.show.cli import Terminated, exit_code
from sparing.show.cli.certify import certify
from sparing.show.cli.explore import explore
from sparing.show.cli.fit import fit
from sparing.show.cli.opening import CLEAR_LINE
from sparing.show.cli.options import as_options
from sparing.show.cli.path import path
from sparing.show.cli.text import one_line
from sparing.show.cli.transform import transform

EXIT_CODES = """\b
Exit codes:
  0    all is well
  1    the data, the model or a file is the problem; one sentence says which
  2    the command was not understood
  130  interrupted
  143  terminated (SIGTERM)
"""


class Sentences(click.Group):
    """A group whose commands end with a sentence in place of a traceback, and show warnings as one line each."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", errors.SparingWarning)
            warnings.showwarning = _note
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as stop:
                what = "Terminated" if isinstance(stop, Terminated) else "Interrupted"
                click.echo(f"{what}. Files that were there are as they were.", err=True)
                raise click.exceptions.Exit(exit_code(stop)) from None
            except MemoryError as full:
                raise click.ClickException(
                    "There is not enough memory for this. Use a machine with more, or fewer features or components."
                ) from full
            except BrokenPipeError:  # whoever reads our output has seen enough; click knows what to do
                raise
            except OSError as refused:
                said = str(refused)
                if refused.errno is not None:  # none of our own sentences
                    place = "the output" if refused.filename is None else repr(str(refused.filename))
                    why = errors.system_says(refused)
                    said = f"Cannot read or write {place}: {why}. Make room or pass another place, and run it again."
                raise click.ClickException(one_line(said)) from refused
            except (ValueError, TypeError, ImportError) as problem:
                raise click.ClickException(one_line(as_options(str(problem)))) from problem


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    start = CLEAR_LINE if sys.stderr.isatty() else ""
    click.echo(f"{start}Note: {one_line(as_options(str(message)))}", err=True)


@click.group(cls=Sentences, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="sparing")
def sparing() -> None:
    """The fewest features that say what PCA says, with proof.

    DATA is a file with one sample per row: .csv, .tsv, .tab (with a header), .parquet, .npy, .npz, .h5, .hdf5, .h5ad,
    .zarr, .mtx, .mtx.gz or .bed (PLINK). Columns that hold no numbers are left out and named.

    Results go to the standard output, everything else to the error stream. A file that exists is replaced only with
    --force, and only once the new one is complete.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale
      sparing path wine.csv -k 2 --scale
      sparing explore wine.csv -o wine.html --label cultivar --scale
    """


for command in (fit, path, certify, transform, explore):
    sparing.add_command(command)
