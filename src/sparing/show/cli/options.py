"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any

import click

Decorator = Callable[[Any], Any]


def combined(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""
    return lambda command: reduce(lambda decorated, decorate: decorate(decorated), reversed(decorators), command)


data = click.argument("data", type=click.Path())

components = click.option(
    "-k", "--components", type=click.IntRange(min=1), default=2, show_default=True, help="Number of components."
)

reading = combined(
    click.option("--key", metavar="NAME", help="Table to read from a file that holds several, such as layers/counts."),
    click.option("--transpose", is_flag=True, help="The file has one row per feature (.mtx), such as genes by cells."),
    click.option("--delimiter", metavar="CHARACTER", help="Delimiter of a text table."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign of a text table."),
    click.option(
        "--drop-unreadable",
        is_flag=True,
        help="Drop numeric columns with unreadable cells instead of reporting an error.",
    ),
)

names_of_features = click.option(
    "--feature-names",
    metavar="FILE",
    type=click.Path(),
    help="Text file with the feature names, one per line, in the order of the numeric columns.",
)

columns = combined(
    click.option(
        "--label",
        metavar="COLUMN",
        help="Column of labels, not used as a feature (text tables, Parquet, obs of AnnData).",
    ),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Drop a column. May be given several times."),
    reading,
    names_of_features,
)

precomputed = click.option(
    "--precomputed", is_flag=True, help="DATA is a covariance or correlation matrix, not a table of samples."
)

preprocessing = combined(
    click.option("--scale", is_flag=True, help="Divide every feature by its standard deviation."),
    click.option("--center/--no-center", default=True, show_default=True, help="Subtract the mean of every feature."),
)

held_out = click.option(
    "--cv",
    type=click.IntRange(min=2),
    help="Also cross-validate with this number of folds, and print the share that new samples keep.",
)

rules = combined(
    click.option(
        "--include",
        metavar="NAMES",
        multiple=True,
        help="Features that must be read: comma-separated names, or @FILE with one name per line. May be given several "
        "times.",
    ),
    click.option(
        "--exclude",
        metavar="NAMES",
        multiple=True,
        help="Features that must not be read, in the same format. They are still predicted; use --drop to remove a "
        "column from the data.",
    ),
    click.option(
        "--exclude-matching",
        metavar="REGEX",
        multiple=True,
        help="Exclude features whose names match this regular expression, such as '^RP[SL]' for ribosomal genes, "
        "except those in --include.",
    ),
)

limits = combined(
    click.option(
        "--costs",
        metavar="FILE",
        type=click.Path(),
        help="CSV file with two columns: feature name and cost. Needs --max-cost.",
    ),
    click.option("--max-cost", type=float, help="Budget for all chosen features together. Needs --costs."),
    click.option(
        "--groups",
        metavar="COLUMN|FILE",
        help="CSV file with two columns, feature name and group, or a column of AnnData's .var. Needs --max-per-group.",
    ),
    click.option(
        "--max-per-group",
        type=click.IntRange(min=0),
        help="Maximum number of features per group. Needs --groups.",
    ),
)

own_columns = click.option(
    "--columns",
    metavar="NAMES",
    multiple=True,
    help="Use exactly these features (in the format of --include) and report the share that they keep.",
)

missing = click.option(
    "--missing",
    type=click.Choice(["error", "mean"]),
    default="error",
    show_default=True,
    help="How to treat empty cells and NaN: report an error, or fill in the mean of the feature.",
)

effort = combined(
    click.option(
        "--effort",
        type=click.Choice(["quick", "default", "thorough"]),
        default="default",
        show_default=True,
        help="Effort of search and proof when there is no --time-limit.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."),
    click.option(
        "--time-limit",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="Stop after this time and return the best answer and the best bound so far.",
    ),
)

quiet = click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")

as_json = click.option("--json", "as_json", is_flag=True, help="Output JSON.")

fitting = combined(precomputed, preprocessing, missing, columns, effort, as_json)

force = click.option("--force", is_flag=True, help="Overwrite an existing file.")

OF_PARAMETERS = {
    "n_components": "-k",
    "n_nonzero": "-r",
    "max_loss": "--max-loss",
    "min_variance": "--min-variance",
    "max_features": "--max-features",
    "max_cost": "--max-cost",
    "max_cosine": "--max-cosine",
    "max_per_group": "--max-per-group",
    "time_limit": "--time-limit",
    "cv": "--cv",
}
"""Options for the library's parameters whose names are unlikely to be column names."""

WORDS = {
    "missing": "--missing",
    "strategy": "--strategy",
    "method": "--method",
    "key": "--key",
    "delimiter": "--delimiter",
    "decimal": "--decimal",
}
"""The same for common words, which are parameters only if a value follows."""

FLAGS = {
    "center=False": "--no-center",
    "center=True": "--center",
    "scale=True": "--scale",
    "precomputed=True": "--precomputed",
    "precomputed=False": "no --precomputed",
    "transpose=True": "--transpose",
    "drop_unreadable=True": "--drop-unreadable",
}

OF_RULES = r"(?<!['\"\w-])(include|exclude|(?:costs|groups)(?= (?:has|was|must|says|say|names|and)))(?![\w'\"])"
"""The same for rules on features, by phrases that no other message of the library contains."""


OF_DATA = re.compile(r"(?<!['\"\w.-])(?:Input )?X (has|holds|contains|does not|lacks)\b(?: n_features=(\d+))?")
PLURAL = {"has": "have", "holds": "hold", "contains": "contain", "does not": "do not", "lacks": "lack"}
"""The X of the library is called the data here."""


def as_options(sentence: str) -> str:
    """A message of the library with the option names of the command line; quoted parts are unchanged."""
    sentence = OF_DATA.sub(_of_data, sentence).replace("do not have. Its", "do not have. Their")
    for flag, said in FLAGS.items():
        sentence = re.sub(rf"(?<!['\"\w]){flag}\b", said, sentence)
    sentence = re.sub(r"(?<!['\"\w])drop=\[('[^']*'|\"[^\"]*\")\]", r"--drop \1", sentence)
    named = rf"(?<!['\"\w])(?:({'|'.join(OF_PARAMETERS)})\b|({'|'.join(WORDS)})(?==))(=(?:(['\"])([\w./,;\\-]+)\4)?)?"

    def option(found: re.Match[str]) -> str:
        long, word, given, _, value = found.groups()
        return (OF_PARAMETERS[long] if long else WORDS[word]) + (f" {value or ''}" if given else "")

    sentence = re.sub(OF_RULES, r"--\1", re.sub(named, option, sentence))
    sentence = sentence.replace("--missing mean where the estimator has it", "--missing mean")
    sentence = sentence.replace(", a splitter of scikit-learn, or pairs of indices", "")
    return re.sub(r"\b(as|Leave) key\b", r"\1 --key", sentence)


def _of_data(found: re.Match[str]) -> str:
    verb, n_features = found.groups()
    starts = found.start() == 0 or found.string[: found.start()].endswith(". ")
    number = f" {n_features} feature{'' if n_features == '1' else 's'}" if n_features else ""
    return f"{'The' if starts else 'the'} data {PLURAL[verb]}{number}"
