"""Details of each chosen feature on demand: how it was read, its score, and its effect on the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskrank.estimators.base import DualNetBase
from maskrank.estimators.effects import Effect
from maskrank.report.charts import Line, line_chart
from maskrank.tables.description import share_text
from maskrank.terminal.text import alike, readable, short
from maskrank.units import score_text

_KINDS = ("first", "second", "third")  # of lines: one for each output that is drawn


def feature_details(model: DualNetBase, effects: Sequence[Effect], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """One entry for each chosen feature with an effect, best first.

    Parameters
    ----------
    outputs : sequence of str
        What is predicted, as people read it.
    """
    columns = {column.name: column for column in model.features_}
    ranking, stability = model.result_, model.stability_
    places = {name: i for i, name in enumerate(ranking.names)}
    found = []
    for effect in effects:
        column, i = columns[effect.name], places[effect.name]
        facts = [("share" if ranking.measured else "score", score_text(ranking, i)), ("kind", column.kind)]
        if column.levels is not None:
            facts.append(("levels", f"{column.n_levels:,}"))
        facts.append(("missing", share_text(column.missing) if column.missing else "none"))
        if stability is not None:
            times = round(float(stability.frequency[i]) * stability.repeats)
            facts.append(("chosen", f"in {times} of {stability.repeats} refits"))
        shown = _drawn_outputs(effect, len(outputs))
        found.append(
            {
                "name": effect.name,
                "brief": _brief(effect, outputs, shown[0]),
                "facts": facts,
                "chart": _chart(effect, outputs, shown) if effect.is_curve else None,
                "levels": [] if effect.is_curve else _levels(effect, shown),
                "outputs": [outputs[j] for j in shown],
            }
        )
    return found


def _drawn_outputs(effect: Effect, n: int) -> list[int]:
    """The outputs that change most, at most as many as there are kinds of lines."""
    order = np.argsort(-np.ptp(effect.predictions, axis=0), kind="stable")
    return [int(j) for j in order[: min(n, len(_KINDS))]]


def _brief(effect: Effect, outputs: Sequence[str], j: int) -> str:
    """From which value to which the prediction goes, in a line."""
    said = effect.predictions[:, j]
    low, high = int(said.argmin()), int(said.argmax())
    places = sorted((low, high))
    texts = alike([float(said[k]) for k in places])
    ends = [f"{text} at {_value(effect.values[k])}" for k, text in zip(places, texts, strict=True)]
    return f"{outputs[j]}: {ends[0]}, {ends[1]}"


def _value(value: Any) -> str:
    if not isinstance(value, float):
        return short(str(value))
    return readable(value) if abs(value) >= 1e4 else readable(value).replace(",", "")  # it may be a year


def _chart(effect: Effect, outputs: Sequence[str], shown: Sequence[int]) -> dict[str, Any]:
    lines = [
        Line(outputs[j], kind, [*zip(effect.values, effect.predictions[:, j].tolist(), strict=True)], marked=True)
        for j, kind in zip(shown, _KINDS, strict=False)
    ]
    label = outputs[0] if len(shown) == 1 else "prediction"
    return line_chart(lines, x_label=short(effect.name), y_label=label, whole_x=False)


def _levels(effect: Effect, shown: Sequence[int]) -> list[dict[str, Any]]:
    first = effect.predictions[:, shown[0]]
    low, high = min(0.0, float(first.min())), max(0.0, float(first.max()))
    span = (high - low) or 1.0
    texts = {j: alike(effect.predictions[:, j].tolist()) for j in shown}
    return [
        {
            "name": str(value),
            "share": round(100 * (float(first[k]) - low) / span, 1),
            "texts": [texts[j][k] for j in shown],
            "rows": f"{count:,}" if count else "",
        }
        for k, (value, count) in enumerate(zip(effect.values, effect.counts.tolist(), strict=True))
    ]
