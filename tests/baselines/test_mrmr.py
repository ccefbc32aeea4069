from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines.mrmr import MRMR
from maskrank.datasets import make_nonlinear_regression, make_ring, make_xor_pair


def test_a_ring_is_found_among_sixteen() -> None:
    X, y, relevant = make_ring(800, 16, random_state=0)
    assert set(MRMR(2).fit(X, y).get_support(indices=True)) == set(relevant)


def test_an_exclusive_or_is_nothing_to_it() -> None:
    """It judges features by what each tells alone."""
    found = [MRMR(1).fit(*make_xor_pair(800, 64, random_state=seed)[:2]).order_[0] for seed in range(5)]
    assert sum(j < 2 for j in found) <= 1


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_copy_comes_last(task: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 2))
    signal = x[:, 0] + 0.7 * x[:, 1]
    order = MRMR(2).fit(np.column_stack([x, x[:, 0]]), signal if task == "regression" else signal > 0).order_
    assert list(order) in ([0, 1, 2], [2, 1, 0])


def test_a_regression_finds_its_strongest_feature_first() -> None:
    X, y, _ = make_nonlinear_regression(800, 10, random_state=0)
    method = MRMR(3).fit(X, y)
    assert method.order_[0] == 3
    assert np.array_equal(MRMR(3).fit(X, 1000 * y + 5).order_, method.order_)


def test_behind_the_chosen_the_order_is_by_relevance() -> None:
    X, y, relevant = make_ring(400, 50, random_state=0)
    order = MRMR(1).fit(X, y).order_
    assert sorted(order) == list(range(50))
    assert set(order[:2]) == set(relevant)
