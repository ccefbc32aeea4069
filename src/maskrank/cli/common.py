"""Shared by all commands: arguments, the console, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.terminal.text import one_line

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from maskrank.cli.voice import Voice
    from maskrank.estimators.base import DualNetBase
    from maskrank.tables import ColumnOptions, Table

Data = Annotated[
    str,
    typer.Argument(
        help="A .csv, .tsv, .txt (also .gz and .zst of them), .parquet, .xlsx or .npz file, or - for CSV on standard "
        "input."
    ),
]
Target = Annotated[str | None, typer.Option(help="Name of the target column (.npz: y).")]
Task = Annotated[str, typer.Option(help="auto, classification or regression.")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave this column out; may be given again.")]
SkipMissing = Annotated[
    bool, typer.Option("--skip-missing", help="Leave out rows that lack a value; otherwise a gap is an answer too.")
]
Categorical = Annotated[
    list[str] | None, typer.Option(help="Read this column as categories, even if it holds numbers; may be given again.")
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(help="Read this column as numbers, and what is none as missing; may be given again."),
]
Seed = Annotated[int, typer.Option(help="Results are reproducible for a fixed seed.")]
Report = Annotated[str | None, typer.Option("--report", help="Write a self-contained HTML report to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no messages.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what is done, on standard error.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder of local copies (or MASKRANK_DATA_DIR).")]


def polite(command: Callable[..., None]) -> Callable[..., None]:
    """Bad input ends with exit code 2 and a line for each problem, Ctrl-C with 130."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ValueError, OSError, ImportError) as error:
            for line in _lines(error):
                typer.echo(f"maskrank: {one_line(line)}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("maskrank: stopped", err=True)
            raise typer.Exit(130) from None

    return run


def _lines(error: Exception) -> list[str]:
    """A table has a line for each of its problems, any other error has one."""
    from maskrank.tables import TableError

    return str(error).split("\n") if isinstance(error, TableError) else [str(error)]


def console() -> Console:
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # names may hold characters that the terminal can't show
    return Console(highlight=False)


def read_table(
    data: str,
    target: str | None,
    drop: list[str] | None,
    task: str,
    *,
    skip_missing: bool,
    voice: Voice,
    options: ColumnOptions,
) -> Table:
    """Read the table and report on it."""
    import time

    from maskrank.tables import load_table

    started = time.perf_counter()
    table = load_table(data, target=target, drop=drop or [], task=task, skip_missing=skip_missing, options=options)
    voice.warn(table.lost, always=True)
    voice.warn(table.warnings)
    voice.tell_table(table, drop or [], time.perf_counter() - started)
    return table


def table_facts(data: str, table: Table) -> list[tuple[str, str]]:
    """Labels and values of what was read; of the columns only where not all are numbers without gaps."""
    from maskrank.tables import describe_columns

    n, d = table.X.shape
    (columns,) = describe_columns(table.X)
    return [
        ("data", "standard input" if data == "-" else data),
        ("table", f"{n:,} rows, {d:,} features; target {table.target}"),
        *([] if columns == f"{d:,} numeric" else [("columns", columns)]),
        ("task", f"{table.task} ({table.reason})"),
    ]


def chosen_columns(data: str, fitted: DualNetBase, voice: Voice) -> pd.DataFrame:
    """The columns of a table that a model predicts from, read as those it was fitted on."""
    from maskrank.tables import select_columns

    chosen = [feature for feature, used in zip(fitted.features_, fitted.support_, strict=True) if used]
    frame, lines = select_columns(
        data,
        {feature.name: feature.kind for feature in chosen},
        {feature.name: feature.levels for feature in chosen},
    )
    voice.warn(lines)
    return frame


def listed(text: str) -> list[str]:
    """What an option lists, separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def whole_numbers(option: str, text: str, *, least: int) -> list[int]:
    """The numbers an option lists, sorted, each once."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"{option} {text}: whole numbers, separated by commas, are needed") from None
    if numbers[0] < least:
        raise ValueError(f"{option} {text}: at least {least} feature{'s are' if least > 1 else ' is'} needed")
    return numbers


def check_distinct(data: str, outputs: list[str]) -> None:
    """No output may fall on the table or on another output."""
    seen = {os.path.realpath(data)}
    for path in outputs:
        if os.path.realpath(path) in seen:
            raise ValueError(f"{path} is given twice: the table and each output need a file of their own")
        seen.add(os.path.realpath(path))


def typed_command() -> str:
    """What was typed, to be shown in results."""
    import shlex

    return shlex.join(["maskrank", *sys.argv[1:]])
