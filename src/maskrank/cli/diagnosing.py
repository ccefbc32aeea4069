"""The command ``doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from maskrank.cli.common import polite
from maskrank.cli.errors import WORK
from maskrank.cli.outputs import Outputs

if TYPE_CHECKING:
    from rich.console import Console

    from maskrank.diagnosis import Diagnosis


@polite
def doctor(
    json: Annotated[str | None, typer.Option("--json", help="Write what was found as JSON to this file.")] = None,
) -> None:
    """Check the installation.

    Versions, extras, device, threads, free memory and folders are shown, and what to do about each problem. The exit
    code is 1 where there is one.

    Example: maskrank doctor --json -
    """
    from json import dumps

    from maskrank.diagnosis import diagnose

    outputs = Outputs([], json=json)
    found = diagnose()
    outputs.show(lambda console: _show(console, found))
    outputs.write("json", lambda: dumps(found.document(), indent=2) + "\n")
    outputs.finish()
    if found.problems:
        raise typer.Exit(WORK)


def _show(console: Console, found: Diagnosis) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for label, value in found.lines():
        grid.add_row(Text(label, style="dim"), Text(value))
    console.print(grid)
    for line in found.problems or ["No problem was found."]:
        console.print(Text(f"\n{line}"))
