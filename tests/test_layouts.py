from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maskrank.layouts import shades, swarm, waterfall

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@given(numbers, st.integers(1, 10), st.floats(-100, 100))
def test_a_waterfall_is_a_chain_over_all_features(values: np.ndarray, most: int, base: float) -> None:
    steps = waterfall(values, base, most)
    assert len(steps) == min(most, len(values))
    assert sorted(i for step in steps for i in step.features) == list(range(len(values)))
    assert [step.start for step in steps] == [base, *(step.end for step in steps[:-1])]
    np.testing.assert_allclose(steps[-1].end, base + values.sum(), atol=1e-6)


@given(numbers)
def test_dots_of_a_swarm_do_not_lie_on_each_other(values: np.ndarray) -> None:
    low, high = float(values.min()), float(values.max())
    heights = swarm(values, low, high)
    assert np.abs(heights).max() <= 0.4
    place = np.round(100 * (values - low) / ((high - low) or 1.0))
    assert len(set(zip(place, heights, strict=True))) == len(values)


@given(numbers)
def test_shades_follow_the_values(column: np.ndarray) -> None:
    shade = shades(column)
    assert ((shade >= 0) & (shade <= 1)).all()
    assert (np.diff(shade[np.argsort(column)]) >= 0).all()
