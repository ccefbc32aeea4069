"""The command line. Results go to standard output, messages and progress to standard error.

What a command needs is imported inside it, so that ``maskrank --help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

import maskrank
from maskrank.cli import datasets, diagnosing, explaining, exporting, paper, predicting, ranking, studies
from maskrank.cli.common import polite
from maskrank.cli.usage import OneLineErrors
from maskrank.terminal.standard_output import print_text

app = typer.Typer(
    name="maskrank",
    help="Find the columns that predict best together, and what each of them is worth.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    cls=OneLineErrors,
    context_settings={"max_content_width": 100},
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
@polite
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print_text(f"maskrank {maskrank.__version__}\n")
        raise typer.Exit


for _command in (
    ranking.rank,
    predicting.predict,
    explaining.explain,
    exporting.export,
    ranking.demo,
    studies.compare,
    studies.sweep,
    paper.study,
    diagnosing.doctor,
):
    app.command()(_command)
app.add_typer(datasets.app, name="datasets")
