"""Coordinates of charts; the templates draw them as SVG and show the same numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from maskrank.terminal.text import alike, readable

_WIDTH, _HEIGHT = 720.0, 190.0
_MOST_POINTS = 400  # of a line
_MOST_MARKED = 60  # points with a dot each
_MOST_NUMBERS = 24  # of a line, as text
Point = TypeVar("Point", bound=tuple[float, ...])


@dataclass(frozen=True)
class Line:
    """A named series of points; ``kind`` is its class in the style sheet."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]
    marked: bool = False  # a dot at each point
    spread: Sequence[float] = ()  # half the height of a band around each point


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[tuple[float, str]] = (),
    rings: Sequence[tuple[float, float]] = (),
    log_x: bool = False,
    whole_x: bool = True,
) -> dict[str, Any]:
    """Lines over one x axis.

    Parameters
    ----------
    marks : sequence of (x, text)
        Vertical lines.
    rings : sequence of (x, y)
        Circles around points.
    whole_x : bool
        Whether the x axis has marks at whole numbers alone.
    """
    lines = [line for line in lines if line.points]
    spreads = [line.spread or [0.0] * len(line.points) for line in lines]
    xs = [x for line in lines for x, _ in line.points]
    low = min(
        y - e for line, some in zip(lines, spreads, strict=True) for (_, y), e in zip(line.points, some, strict=True)
    )
    high = max(
        y + e for line, some in zip(lines, spreads, strict=True) for (_, y), e in zip(line.points, some, strict=True)
    )
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    scale = math.log if log_x else float
    left, right = scale(min(xs)), scale(max(xs))

    def across(x: float) -> float:
        return round(_WIDTH * (scale(x) - left) / ((right - left) or 1.0), 1)

    def down(y: float) -> float:
        return round(_HEIGHT * (1 - (y - low) / ((high - low) or 1.0)), 1)

    drawn = []
    for line, spread in zip(lines, spreads, strict=True):
        points = [(across(x), down(y)) for x, y in thinned(line.points)]
        upper = [(across(x), down(y + e)) for (x, y), e in zip(line.points, spread, strict=True)]
        lower = [(across(x), down(y - e)) for (x, y), e in zip(line.points, spread, strict=True)]
        band = [*upper, *reversed(lower)] if line.spread else []
        drawn.append({"name": line.name, "kind": line.kind, "points": points, "band": band, "marked": line.marked})
    x_ticks = sorted(set(xs)) if log_x else [x for x in nice_ticks(min(xs), max(xs)) if x.is_integer() or not whole_x]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "lines": drawn,
        "x_label": x_label,
        "y_label": y_label,
        "x_ticks": [(across(x), text) for x, text in labelled(x_ticks) if min(xs) <= x <= max(xs)] if x_ticks else [],
        "y_ticks": [(down(y), text) for y, text in labelled(ticks)],
        "marks": [(across(x), text) for x, text in marks],
        "rings": [(across(x), down(y)) for x, y in rings],
        "table": [(line.name, _numbers(line)) for line in lines],
        "spread": any(line.spread for line in lines),
    }


def _numbers(line: Line) -> list[tuple[str, str, str]]:
    """Some of a line's points as text: x, y and the spread."""
    spread = line.spread or [math.nan] * len(line.points)
    some = thinned([(*point, error) for point, error in zip(line.points, spread, strict=True)], _MOST_NUMBERS)
    ys, errors = alike([y for _, y, _ in some], 4), alike([error for _, _, error in some])
    return [
        (readable(x), y, text if math.isfinite(error) else "")
        for (x, _, error), y, text in zip(some, ys, errors, strict=True)
    ]


def size_chart(
    sizes: Sequence[int],
    means: Sequence[float],
    errors: Sequence[float],
    enough: int,
    *,
    name: str,
    y_label: str,
    log_x: bool = False,
) -> dict[str, Any]:
    """A figure by the number of features, with a band of one standard error, and a ring at the number that is enough.

    Parameters
    ----------
    name : str
        Of the line.
    """
    points = [(float(size), float(mean)) for size, mean in zip(sizes, means, strict=True)]
    spread = [error if math.isfinite(error) else 0.0 for error in map(float, errors)]
    line = Line(name, "first", points, marked=len(points) <= _MOST_MARKED, spread=spread)
    return line_chart(
        [line],
        x_label="features",
        y_label=y_label,
        marks=[(enough, f"{enough} {'is' if enough == 1 else 'are'} enough")],
        rings=[point for point in points if point[0] == enough],
        log_x=log_x,
    )


def thinned(points: Sequence[Point], most: int = _MOST_POINTS) -> list[Point]:
    """Some of many points, evenly, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers around a range, at equal steps of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> nice_ticks(0.03, 0.97)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = (high - low) or abs(high) or 1.0
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{step * i:.12g}") for i in range(first, max(last, first + 1) + 1)]


def labelled(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Marks of an axis with their texts, all with the same decimals.

    Examples
    --------
    >>> labelled([0.85, 0.9])
    [(0.85, '0.85'), (0.9, '0.90')]
    >>> labelled([-20000.0, 0.0])
    [(-20000.0, '−20,000'), (0.0, '0')]
    """
    short = [f"{y:.10g}" for y in ticks]
    if any("e" in text for text in short) or max(map(abs, ticks)) >= 1e9:
        return [(y, f"{y:g}".replace("-", "−", 1) if y < 0 else f"{y:g}") for y in ticks]
    decimals = max(len(text.partition(".")[2]) for text in short)
    return [(y, f"{'−' if y < 0 else ''}{abs(y):,.{decimals}f}") for y in ticks]


def heat(value: float) -> dict[str, str]:
    """Colours of a cell for a correlation: blue for -1, white for 0, orange for 1, and ink that can be read on it."""
    ends = {True: (213, 94, 0), False: (0, 90, 160)}
    end, share = ends[value >= 0], min(1.0, abs(value))
    colour = [round(255 + (part - 255) * share) for part in end]
    light = sum(weight * (part / 255) ** 2.2 for weight, part in zip((0.2126, 0.7152, 0.0722), colour, strict=True))
    return {"background": f"rgb({colour[0]},{colour[1]},{colour[2]})", "ink": "#000" if light > 0.18 else "#fff"}


def spans(changes: Sequence[tuple[int, tuple[int, ...]]], end: int) -> dict[int, list[tuple[int, int]]]:
    """When each feature was in a subset that changed over time: from batch to batch.

    Examples
    --------
    >>> spans([(10, (0, 1)), (30, (1, 2))], 50)
    {0: [(10, 30)], 1: [(10, 50)], 2: [(30, 50)]}
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for place, (begin, subset) in enumerate(changes):
        until = changes[place + 1][0] if place + 1 < len(changes) else end
        for feature in subset:
            before = found.setdefault(feature, [])
            if before and before[-1][1] == begin:
                before[-1] = (before[-1][0], until)
            else:
                before.append((begin, until))
    return found
