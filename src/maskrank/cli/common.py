"""Shared by all commands: arguments, the console, exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from maskrank import interrupts
from maskrank.cli.errors import said_of
from maskrank.terminal.text import one_line

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from maskrank.cli.questions import Question
    from maskrank.cli.voice import Voice
    from maskrank.tables import ColumnOptions, Table
    from maskrank.tables.selected import ModelColumns


def polite(command: Callable[..., None]) -> Callable[..., None]:
    """Bad input ends with exit code 2 and a line for each problem, Ctrl-C and SIGTERM with 130."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            _flush()
        except BrokenPipeError:
            _flush()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or interrupts.stopping():  # libraries turn it into other errors
                interrupts.say_stopped()
                raise typer.Exit(interrupts.STOPPED) from None
            said = said_of(error)
            if said is None:
                raise
            lines, code = said
            for line in lines:
                say(line)
            raise typer.Exit(code) from None

    return run


def _flush() -> None:
    """Print what waits; a reader that has left is no error."""
    from maskrank.terminal.standard_output import flush_output

    flush_output()


def say(line: str) -> None:
    """A message on standard error, where that is open."""
    with suppress(OSError):
        typer.echo(f"maskrank: {one_line(line)}", err=True)


def console(*, stderr: bool = False) -> Console:
    """Where results are printed: standard output, or standard error where that is taken."""
    from maskrank.terminal.standard_output import Screen

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # names may hold characters that the terminal can't show
    return Screen(highlight=False, stderr=stderr)


def read_table(
    data: str,
    question: Question,
    options: ColumnOptions,
    voice: Voice,
    *,
    strict: bool,
    memory: int | None = None,
    seed: int = 0,
) -> Table:
    """Read the table and report on it; with ``strict``, columns that look as if they did not belong are errors.

    Of a table that needs more than ``memory`` bytes, a sample is read; without that, all of it is.
    """
    import time

    from maskrank.tables import TableError, load_table
    from maskrank.terminal.progress_bar import ReadingBar

    started = time.perf_counter()
    with ReadingBar(quiet=voice.quiet) as bar:
        table = load_table(
            data,
            target=question.target,
            drop=question.drop,
            task=question.task,
            skip_missing=question.skip_missing,
            options=options,
            roles=question.roles,
            memory=memory,
            seed=seed,
            told=bar,
        )
    if strict and table.suspects:
        raise TableError("\n".join(table.suspects))
    voice.warn([*table.lost, *table.rare, *table.warnings])
    voice.tell_table(table, question.drop, time.perf_counter() - started)
    return table


def table_facts(data: str, table: Table) -> list[tuple[str, str]]:
    """Labels and values of what was read; of the columns only where not all are numbers without gaps."""
    from maskrank.tables import describe_columns

    n, d = table.n_rows, table.X.shape[1]
    (columns,) = describe_columns(table.X)
    return [
        ("data", "standard input" if data == "-" else data),
        (
            "table",
            f"{n:,} rows, {d:,} features; target {table.target}",
        ),
        *([] if columns == f"{d:,} numeric" else [("columns", columns)]),
        ("task", f"{table.task} ({table.reason})"),
    ]


def chosen_columns(data: str, columns: ModelColumns, voice: Voice, memory: int | None = None) -> pd.DataFrame:
    """The columns of a table that a model predicts from, read as those it was fitted on."""
    from maskrank.tables import select_columns
    from maskrank.terminal.progress_bar import ReadingBar

    with ReadingBar(quiet=voice.quiet) as bar:
        frame, lines = select_columns(data, columns.kinds, columns.levels, columns.date_orders, bar, memory)
    voice.warn(lines)
    return frame


def chosen_batches(
    data: str, columns: ModelColumns, voice: Voice, memory: int, rows_at_once: int
) -> Iterator[pd.DataFrame]:
    """The same some rows at a time, as files of Parquet or Arrow, and text larger than ``memory`` bytes, are read.

    Of such a file the columns of the model alone are read. Other files come as one frame.
    """
    from maskrank.tables import read_batches
    from maskrank.terminal.progress_bar import ReadingBar

    with ReadingBar(quiet=voice.quiet) as bar:
        batches = read_batches(data, columns, memory, rows_at_once, bar)
        if batches is None:
            yield chosen_columns(data, columns, voice, memory)
            return
        said: set[str] = set()
        for frame, lines in batches:
            voice.warn([line for line in lines if line not in said])
            said |= set(lines)
            yield frame


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


def typed_command() -> str:
    """What was typed, to be shown in results."""
    import shlex

    return shlex.join(["maskrank", *sys.argv[1:]])
