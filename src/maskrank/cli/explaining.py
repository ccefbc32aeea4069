"""The command ``explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from maskrank.cli.common import check_distinct, chosen_columns, polite, typed_command
from maskrank.cli.options import Data, Quiet, Report
from maskrank.cli.voice import Voice

if TYPE_CHECKING:
    from maskrank.estimators.explanation import Explanation


@polite
def explain(
    model: Annotated[str, typer.Argument(help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[str | None, typer.Option("--out", help="Write CSV to this file, not to standard output.")] = None,
    report: Report = None,
    quiet: Quiet = False,
) -> None:
    """Explain predictions: what each chosen feature adds to each of them, as Shapley values.

    Example: maskrank explain outcome.maskrank new_patients.csv --out explained.csv --report explained.html
    """
    from maskrank import load
    from maskrank.files import check_writable, write_atomically
    from maskrank.results import frame_csv

    outputs = [path for path in (out, report) if path is not None]
    for given in (data, model):
        check_distinct(given, outputs)
    for path in outputs:
        check_writable(path)
    fitted = load(model)
    used = {column.name: column for column, used in zip(fitted.features_, fitted.support_, strict=True) if used}
    explained = fitted.explain_selected(chosen_columns(data, used, Voice(quiet=quiet, verbose=False)))
    content = frame_csv(explained.to_frame())
    if report is not None:
        write_atomically(report, _page(model, data, explained))
    if out is None:
        sys.stdout.write(content)
    else:
        write_atomically(out, content)


def _page(model: str, data: str, explained: Explanation) -> str:
    from maskrank.report import explanation_report

    facts = [
        ("model", model),
        ("data", "standard input" if data == "-" else data),
        ("explained", f"{len(explained):,} rows by {len(explained.feature_names):,} chosen features"),
    ]
    return explanation_report("Why these predictions?", explained, facts, command=typed_command())
