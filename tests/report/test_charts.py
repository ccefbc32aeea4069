from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskrank.images import among_chosen, overlay, png
from maskrank.report.charts import Line, heat, line_chart, nice_ticks, size_chart, spans, thinned


@given(st.floats(-1e4, 1e4), st.floats(1e-4, 1e6))
def test_ticks_are_few_equally_spaced_and_hold_the_range(low: float, span: float) -> None:
    ticks = nice_ticks(low, low + span)
    assert 2 <= len(ticks) <= 8
    slack = 1e-6 * span + 1e-9 * abs(low)
    assert ticks[0] <= low + slack
    assert ticks[-1] >= low + span - slack
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0], rtol=1e-3)


def test_a_line_runs_from_edge_to_edge_and_up_is_more() -> None:
    view = line_chart([Line("a", "first", [(1, 0.0), (3, 1.0)])], x_label="x", y_label="y")
    (x0, y0), (x1, y1) = view["lines"][0]["points"]
    assert (x0, x1) == (0, view["width"])
    assert y0 > y1


def test_flat_and_single_points_can_be_drawn() -> None:
    for points in ([(1, 2.0)], [(1, 2.0), (2, 2.0)], [(5, 0.0)]):
        view = line_chart([Line("a", "first", points)], x_label="x", y_label="y")
        assert all(np.isfinite(point).all() for point in view["lines"][0]["points"])


def test_many_points_are_thinned_between_the_first_and_the_last() -> None:
    points = [(float(i), float(i)) for i in range(1_000)]
    few = thinned(points, 24)
    assert len(few) == 24
    assert (few[0], few[-1]) == (points[0], points[-1])


def test_spans_follow_a_subset_over_time() -> None:
    assert spans([(0, (1, 2)), (5, (2, 3)), (9, (1, 2))], 12) == {1: [(0, 5), (9, 12)], 2: [(0, 12)], 3: [(5, 9)]}


@given(st.floats(-1, 1))
def test_numbers_on_a_coloured_cell_can_be_read(value: float) -> None:
    """The contrast of WCAG's AA, 4.5 to 1."""

    def light(colour: tuple[int, ...]) -> float:
        parts = [c / 255 for c in colour]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    cell = heat(value)
    background = light(tuple(int(part) for part in cell["background"][4:-1].split(",")))
    ink = 0.0 if cell["ink"] == "#000" else 1.0
    assert (max(background, ink) + 0.05) / (min(background, ink) + 0.05) >= 4.5


def test_colours_grow_lighter_with_importance_and_pixels_without_a_score_stay_grey() -> None:
    colours = overlay(np.array([0.0, 1e-9, 0.25, 0.5, 0.75, 1.0]), np.array([0.5, 1.0, 0.0, 0.0, 0.0, 0.0]))
    assert colours[0].tolist() == [0.5, 0.5, 0.5]
    light = colours[1:] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > 0.02).all()


def test_chosen_features_are_coloured_from_the_least_to_the_most_even_below_zero() -> None:
    shown = among_chosen(np.array([-3.0, 9.0, -1.0, -2.0]), np.array([True, False, True, True]))
    assert shown.tolist() == [1e-3, 0.0, 1.0, 0.5]
    assert among_chosen(np.array([2.0, 2.0]), np.array([True, False])).tolist() == [1.0, 0.0]


def test_a_png_holds_the_pixels() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 5, 3)) / 255
    content = png(pixels)
    begin = content.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(content[begin:-16]), dtype=np.uint8).reshape(3, 16)
    assert np.array_equal(rows[:, 1:].reshape(3, 5, 3), np.round(255 * pixels))
    matplotlib = pytest.importorskip("matplotlib.image")
    import io

    assert np.allclose(matplotlib.imread(io.BytesIO(content)), pixels, atol=1e-6)


def test_a_size_chart_has_a_band_and_a_ring_at_the_size_that_is_enough() -> None:
    chart = size_chart([1, 2, 3], [0.5, 0.8, 0.81], [0.1, 0.02, math.inf], 2, name="accuracy", y_label="accuracy")
    (line,) = chart["lines"]
    assert chart["rings"] == [line["points"][1]]
    assert chart["marks"] == [(line["points"][1][0], "2 are enough")]
    assert [text for _, text in chart["x_ticks"]] == ["1", "2", "3"]  # no half of a feature
    upper, lower = line["band"][:3], line["band"][:2:-1]
    assert [low[1] > high[1] for low, high in zip(lower, upper, strict=True)] == [True, True, False]  # one is unknown
    single = size_chart([1], [0.5], [0.1], 1, name="accuracy", y_label="accuracy")
    assert single["marks"][0][1] == "1 is enough"
