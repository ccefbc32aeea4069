"""What all commands share: arguments, the console, and how they end on bad input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.shown import one_line

if TYPE_CHECKING:
    from rich.console import Console

Data = Annotated[str, typer.Argument(help="A .csv, .tsv, .parquet or .npz file, or - for CSV on standard input.")]
Report = Annotated[str | None, typer.Option("--report", help="Write a self-contained HTML report to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no messages.")]
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
        sys.stdout.reconfigure(errors="replace")  # a name that the terminal can't show must not cost the answer
    return Console(highlight=False)


def warn(lines: list[str], *, quiet: bool) -> None:
    """Say on standard error what may be amiss with a table; the work goes on."""
    for line in () if quiet else lines:
        typer.echo(f"maskrank: warning: {one_line(line)}", err=True)


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
