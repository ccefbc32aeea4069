"""The command ``explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from maskrank.cli.common import chosen_columns, polite, typed_command
from maskrank.cli.options import Data, Quiet, Report
from maskrank.cli.outputs import Outputs
from maskrank.cli.voice import Voice

if TYPE_CHECKING:
    from maskrank.estimators.explanation import Explanation
    from maskrank.findings import Finding


@polite
def explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write CSV to this file instead of standard output.")
    ] = None,
    report: Report = None,
    quiet: Quiet = False,
) -> None:
    """Explain the prediction of each row.

    Shows what each chosen feature adds to each prediction, as Shapley values.

    Example: maskrank explain outcome.maskrank new_patients.csv --out explained.csv --report explained.html
    """
    from maskrank import load
    from maskrank.findings import explanation_finding
    from maskrank.results import frame_csv
    from maskrank.terminal.ranking import show_answer

    voice = Voice(quiet=quiet, verbose=False)
    outputs = Outputs([data, model], out="-" if out is None else out, report=report)
    fitted = load(model)
    columns = chosen_columns(data, fitted.chosen_columns, voice)
    with voice.busy("explain"):
        explained = fitted.explain_selected(columns)
        content = frame_csv(explained.to_frame())
    finding = explanation_finding(explained)
    outputs.show(lambda screen: show_answer(screen, finding))
    outputs.write("out", lambda: content, or_print=True)
    outputs.write("report", lambda: _page(finding, model, data, explained))
    outputs.finish()


def _page(finding: Finding, model: str, data: str, explained: Explanation) -> str:
    from maskrank.report import explanation_report

    facts = [
        ("model", model),
        ("data", "standard input" if data == "-" else data),
        ("explained", f"{len(explained):,} rows by {len(explained.feature_names):,} chosen features"),
    ]
    return explanation_report(finding, explained, facts, command=typed_command())
