"""Beeswarms: what features add to the predictions of many rows, a dot per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.layouts import by_size, shades, swarm
from maskrank.report.charts import labelled, nice_ticks
from maskrank.terminal.text import alike

Array = NDArray[Any]

_WIDTH, _LINE = 720.0, 34.0  # of a beeswarm, and the height of one feature
_MOST_FEATURES = 20
_MOST_DOTS = 2_000  # rows of a beeswarm
_SHADES = 10


def beeswarm(values: Array, data: Array, names: Sequence[str]) -> dict[str, Any]:
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
            }
        )
    columns = [alike(found.tolist()) for found in _numbers(values[:, shown])]
    for drawn, texts in zip(lines, zip(*columns, strict=True), strict=True):
        drawn["numbers"] = texts
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


def _numbers(values: Array) -> list[Array]:
    """Of each feature the mean of the absolute values, and the least, the median and the largest value."""
    return [np.abs(values).mean(axis=0), values.min(axis=0), np.median(values, axis=0), values.max(axis=0)]
