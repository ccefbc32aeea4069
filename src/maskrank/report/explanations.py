"""The report of explained rows: what each feature adds to the predictions of all rows, and of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.estimators.explanation import Explanation
from maskrank.findings import Finding
from maskrank.layouts import by_size, waterfall, with_values
from maskrank.report.page import packed, render
from maskrank.report.pictures import Bar, share_picture
from maskrank.report.swarms import beeswarm
from maskrank.results import frame_csv
from maskrank.terminal.text import readable

Array = NDArray[Any]

_MOST_STEPS = 15  # of a waterfall
_MOST_OUTPUTS = 6
_MOST_DRAWN = 12  # features of the picture


def explanation_report(
    finding: Finding, explanation: Explanation, facts: Sequence[tuple[str, str]], *, command: str
) -> str:
    """The report as HTML text.

    Parameters
    ----------
    finding : Finding
        The answer.
    explanation : Explanation
        Its frame is a pandas one.
    facts : sequence of (label, value)
    """
    names = explanation.output_names[:_MOST_OUTPUTS]
    return render(
        "explanation.html",
        title=finding.title,
        finding=finding,
        facts=facts,
        command=command,
        sections=[_view(explanation, name) for name in names],
        left_out=[str(name) for name in explanation.output_names[_MOST_OUTPUTS:]],
        csv=packed(frame_csv(explanation.to_frame())),
        picture=_picture(finding, explanation, names[0]),
    )


def _picture(finding: Finding, explanation: Explanation, output: Any) -> str:
    """The mean sizes of the values of an output."""
    values = explanation.of_output(output)[0]
    means = np.abs(values).mean(axis=0)
    most = float(means.max()) or 1.0
    bars = [
        Bar(explanation.feature_names[i], readable(float(means[i])), 100 * float(means[i]) / most)
        for i in by_size(values, _MOST_DRAWN)
    ]
    return share_picture(finding.title, finding.answer, bars, label=f"mean change of the {explanation.title(output)}")


def _view(explanation: Explanation, output: Any) -> dict[str, Any]:
    values, base, predictions = explanation.of_output(output)
    wanted = [
        (0, "the first row"),
        (int(predictions.argmin()), "the lowest"),
        (int(predictions.argmax()), "the highest"),
    ]
    rows: dict[int, list[str]] = {}
    for row, why in wanted:
        rows.setdefault(row, []).append(why)
    return {
        "title": explanation.title(output),
        "swarm": beeswarm(values, explanation.data, explanation.feature_names),
        "rows": [_waterfall(explanation, values, base, row, " and ".join(why)) for row, why in rows.items()],
    }


def _waterfall(explanation: Explanation, values: Array, base: Array, row: int, why: str) -> dict[str, Any]:
    """Steps of one row: where each bar begins and how long it is, in % of the track."""
    steps = waterfall(values[row], float(base[row]), _MOST_STEPS)
    reached = [step.start for step in steps] + [steps[-1].end]
    low, high = min(reached), max(reached)
    span = (high - low) or 1.0
    bars = []
    for step in steps:
        name, value = with_values(explanation.feature_names, explanation.data[row], step)
        bars.append(
            {
                "name": name,
                "value": value.replace("-", "−", 1) if value[1:2].isdigit() else value,
                "rises": step.value > 0,
                "added": _added(step.value),
                "left": round(100 * (min(step.start, step.end) - low) / span, 2),
                "width": round(100 * abs(step.value) / span, 2),
                "reached": readable(step.end),
            }
        )
    return {
        "number": row,
        "why": why,
        "base": readable(steps[0].start),
        "prediction": readable(steps[-1].end),
        "bars": bars,
    }


def _added(value: float) -> str:
    return ("+" if value > 0 else "") + readable(value)
