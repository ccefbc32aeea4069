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
    from rich.console import Console

    from maskrank.cli.voice import Voice
    from maskrank.tables import Table

Data = Annotated[str, typer.Argument(help="A .csv, .tsv, .parquet or .npz file, or - for CSV on standard input.")]
Target = Annotated[str | None, typer.Option(help="Name of the target column (.npz: y).")]
Task = Annotated[str, typer.Option(help="auto, classification or regression.")]
Drop = Annotated[list[str] | None, typer.Option(help="Leave this column out; may be given again.")]
SkipMissing = Annotated[bool, typer.Option("--skip-missing", help="Leave out rows that lack a value.")]
Seed = Annotated[int, typer.Option(help="Results are reproducible for a fixed seed.")]
Report = Annotated[str | None, typer.Option("--report", help="Write a self-contained HTML report to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no messages.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what is done, on standard error.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder of local copies (or MASKRANK_DATA_DIR).")]


def polite(command: Callable[..., None]) -> Callable[..., None]:
    """Bad input ends with exit code 2 and one line, Ctrl-C with 130."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ValueError, OSError, ImportError) as error:
            typer.echo(f"maskrank: {one_line(str(error))}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("maskrank: stopped", err=True)
            raise typer.Exit(130) from None

    return run


def console() -> Console:
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # names may hold characters that the terminal can't show
    return Console(highlight=False)


def read_table(
    data: str, target: str | None, drop: list[str] | None, task: str, *, skip_missing: bool, voice: Voice
) -> Table:
    """Read the table and report on it."""
    import time

    from maskrank.tables import load_table

    started = time.perf_counter()
    table = load_table(data, target=target, drop=drop or [], task=task, skip_missing=skip_missing)
    voice.warn(table.warnings)
    voice.tell_table(table, drop or [], time.perf_counter() - started)
    return table


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
