"""Shared by all commands: arguments, the console, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from maskrank.terminal.text import one_line

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from maskrank.cli.questions import Question
    from maskrank.cli.voice import Voice
    from maskrank.estimators.kinds import InputColumn
    from maskrank.estimators.reading import ColumnSummary
    from maskrank.tables import ColumnOptions, Table


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


def read_table(data: str, question: Question, options: ColumnOptions, voice: Voice, *, strict: bool) -> Table:
    """Read the table and report on it; with ``strict``, columns that look as if they did not belong are errors."""
    import time

    from maskrank.tables import TableError, load_table

    started = time.perf_counter()
    table = load_table(
        data,
        target=question.target,
        drop=question.drop,
        task=question.task,
        skip_missing=question.skip_missing,
        options=options,
        roles=question.roles,
    )
    if strict and table.suspects:
        raise TableError("\n".join(table.suspects))
    voice.warn([*table.lost, *table.rare], always=True)
    voice.warn(table.warnings)
    voice.tell_table(table, question.drop, time.perf_counter() - started)
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


def chosen_columns(data: str, columns: Mapping[str, InputColumn | ColumnSummary], voice: Voice) -> pd.DataFrame:
    """The columns of a table that a model predicts from, read as those it was fitted on."""
    from maskrank.tables import select_columns

    frame, lines = select_columns(
        data,
        {name: column.kind for name, column in columns.items()},
        {name: column.levels for name, column in columns.items()},
        {name: column.day_first for name, column in columns.items() if column.day_first is not None},
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
