"""The report of explained rows: what each feature adds to the predictions of all rows, and of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.estimators.explanation import Explanation
from maskrank.layouts import by_size, shades, swarm, waterfall, with_values
from maskrank.report.charts import labelled, nice_ticks
from maskrank.report.page import packed, render
from maskrank.results import frame_csv

Array = NDArray[Any]

_WIDTH, _LINE = 720.0, 34.0  # of a beeswarm, and the height of one feature
_MOST_FEATURES = 20
_MOST_DOTS = 2_000  # rows of a beeswarm
_MOST_STEPS = 15  # of a waterfall
_MOST_OUTPUTS = 6
_SHADES = 10


def explanation_report(title: str, explanation: Explanation, facts: Sequence[tuple[str, str]], *, command: str) -> str:
    """The report as HTML text.

    Parameters
    ----------
    explanation : Explanation
        Its frame is a pandas one.
    facts : sequence of (label, value)
    """
    names = explanation.output_names[:_MOST_OUTPUTS]
    return render(
        "explanation.html",
        title=title,
        facts=facts,
        command=command,
        sections=[_view(explanation, name) for name in names],
        left_out=[str(name) for name in explanation.output_names[_MOST_OUTPUTS:]],
        csv=packed(frame_csv(explanation.to_frame())),
    )


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
        "swarm": _beeswarm(values, explanation.data, explanation.feature_names),
        "rows": [_waterfall(explanation, values, base, row, " and ".join(why)) for row, why in rows.items()],
    }


def _beeswarm(values: Array, data: Array, names: Sequence[str]) -> dict[str, Any]:
    """Dots of each feature by their shade, as points of a path, and the numbers that the table below shows."""
    shown = by_size(values, _MOST_FEATURES)
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_DOTS)).round().astype(int))
    ticks = nice_ticks(min(0.0, float(values[:, shown].min())), max(0.0, float(values[:, shown].max())))
    low, high = ticks[0], ticks[-1]
    lines = []
    for line, i in enumerate(shown):
        some = values[kept, i]
        across = _WIDTH * (some - low) / (high - low)
        down = _LINE * (line + 0.5 + swarm(some, low, high))
        shade = np.round(shades(data[:, i])[kept] * _SHADES).astype(int)
        dots = [(k, list(zip(across[shade == k], down[shade == k], strict=True))) for k in range(_SHADES + 1)]
        lines.append(
            {
                "name": names[i],
                "middle": _LINE * (line + 0.5),
                "dots": [(k, " ".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)) for k, points in dots if points],
                "mean": f"{np.abs(values[:, i]).mean():.4g}",
                "range": [f"{x:.4g}" for x in (values[:, i].min(), np.median(values[:, i]), values[:, i].max())],
            }
        )
    return {
        "width": _WIDTH,
        "height": _LINE * len(shown),
        "zero": round(_WIDTH * -low / (high - low), 1),
        "ticks": [(round(_WIDTH * (x - low) / (high - low), 1), text) for x, text in labelled(ticks)],
        "lines": lines,
        "features": len(names),
        "rows": len(values),
        "drawn": len(kept),
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
                "value": value,
                "added": step.value,
                "left": round(100 * (min(step.start, step.end) - low) / span, 2),
                "width": round(100 * abs(step.value) / span, 2),
                "reached": f"{step.end:.4g}",
            }
        )
    return {
        "number": row,
        "why": why,
        "base": f"{steps[0].start:.4g}",
        "prediction": f"{steps[-1].end:.4g}",
        "digits": _digits(values),
        "bars": bars,
    }


def _digits(values: Array) -> int:
    """Decimals that show the largest of these values with about four digits."""
    largest = float(np.abs(values).max())
    return int(np.clip(3 - np.floor(np.log10(largest)), 0, 8)) if largest > 0 else 3
