"""The group of all commands, with one message and an exit code for each error."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click
import wcwidth  # noqa: F401 - every command needs it: say so before the first one starts

from sparing import __version__, errors
from sparing.show.cli import Terminated, as_signal, declared, exit_code
from sparing.show.cli.options import as_options

COMMANDS = {
    declared.fit: "Fit components on few features.",
    declared.path: "Report the share kept by each number of features.",
    declared.explore: "Write an interactive HTML page.",
    declared.transform: "Compute scores with a saved model.",
    declared.certify: "Certify loadings from any program.",
}
"""In the order in which they are listed, with their descriptions there."""

EXIT_CODES = """\b
Exit codes:
  0    success
  1    a problem with the data, the model or a file, described by one sentence
  2    wrong usage
  130  interrupted
  143  terminated (SIGTERM)
"""


class Sentences(click.Group):
    """A group whose commands print one message instead of a traceback, and one line per warning."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return [str(command.name) for command in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        return next((command for command in COMMANDS if command.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their short descriptions."""
        with formatter.section("Commands"):
            formatter.write_dl([(str(command.name), short) for command, short in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", errors.SparingWarning)
            warnings.showwarning = _note
            try:
                return super().invoke(ctx)
            except (Exception, KeyboardInterrupt) as problem:
                if (stop := as_signal(problem)) is not None:
                    what = "Terminated" if isinstance(stop, Terminated) else "Interrupted"
                    click.echo(f"{what}. Existing files are unchanged.", err=True)
                    raise click.exceptions.Exit(exit_code(stop)) from None
                if (sentence := _sentence(problem)) is None:
                    raise
                raise click.ClickException(sentence) from problem


def _sentence(problem: BaseException) -> str | None:
    """The message for an error of the data, the machine or the library; None for those that click handles."""
    if isinstance(problem, MemoryError):
        return "There is not enough memory for this. Use a machine with more, or fewer features or components."
    if isinstance(problem, BrokenPipeError):  # the reader of the output closed it
        return None
    if isinstance(problem, OSError) and problem.errno is not None:  # not one of our own errors
        place = "the output" if problem.filename is None else repr(str(problem.filename))
        why = errors.system_says(problem)
        return _one_line(f"Cannot read or write {place}: {why}. Free some space or choose another path.")
    if isinstance(problem, OSError):
        return _one_line(str(problem))
    if isinstance(problem, (ValueError, TypeError, ImportError)):
        return _one_line(as_options(str(problem)))
    return None


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    from sparing.show.cli.opening import CLEAR_LINE

    start = CLEAR_LINE if sys.stderr.isatty() else ""
    click.echo(f"{start}Note: {_one_line(as_options(str(message)))}", err=True)


def _one_line(sentence: str) -> str:
    from sparing.show.cli.text import one_line

    return one_line(sentence)


@click.group(cls=Sentences, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="sparing")
def sparing() -> None:
    """Find few features that keep what PCA keeps, with a certificate of how good they are.

    DATA is a file with one sample per row: .csv, .tsv, .tab (with a header), .parquet, .npy, .npz, .h5, .hdf5, .h5ad,
    .zarr, .mtx, .mtx.gz or .bed (PLINK). Columns that are not numeric are dropped with a note.

    Results go to standard output, everything else to standard error. An existing file is overwritten only with --force,
    and only once the new file is complete.

    \b
    Examples:
      sparing fit wine.csv -k 2 -r 5 --scale
      sparing path wine.csv -k 2 --scale
      sparing explore wine.csv --label cultivar --scale
    """
