from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines import bahsic
from maskrank.baselines.bahsic import BAHSIC, hsic, target_kernel
from maskrank.datasets import make_nonlinear_regression, make_xor


def gaussian(x: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.square(x[:, None] - x))


def estimates(n: int, dependence: float, repeats: int = 60) -> np.ndarray:
    rng = np.random.default_rng(n)
    draws = (rng.standard_normal((2, n)) for _ in range(repeats))
    return np.array([hsic(gaussian(x), gaussian(dependence * x**2 + noise)) for x, noise in draws])


def test_independent_variables_have_none_with_an_error_of_one_over_n() -> None:
    small, large = estimates(40, 0), estimates(160, 0)
    for values in (small, large):
        assert abs(values.mean()) < 3 * values.std() / np.sqrt(len(values))
    assert 2.5 < small.std() / large.std() < 6.4  # four times the rows, a quarter of the error
    assert (estimates(160, 1.0) > 5 * large.std()).all()


def test_the_estimate_is_the_formula_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    K, L = gaussian(rng.standard_normal(12)), gaussian(rng.standard_normal(12))
    value, n, one = hsic(K, L), 12, np.ones(12)
    K, L = K - np.eye(12), L - np.eye(12)
    parts = np.trace(K @ L) + one @ K @ one * (one @ L @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * one @ K @ L @ one
    assert value == pytest.approx(parts / (n * (n - 3)))


@pytest.mark.parametrize("seed", [0, 1])
def test_it_finds_the_exclusive_or(seed: int) -> None:
    X, y, relevant = make_xor(512, 10, random_state=seed)
    assert set(BAHSIC(3).fit(X, y).get_support(indices=True)) == set(relevant)


def test_it_finds_what_a_regression_needs() -> None:
    X, y, _ = make_nonlinear_regression(512, 10, random_state=0)
    assert {0, 2, 3} <= set(BAHSIC(4).fit(X, y).get_support(indices=True))


def test_one_at_a_time_leaves_what_a_direct_elimination_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bahsic, "DISTANCES_AT_ONCE", 1000)  # several blocks
    X, y, _ = make_xor(40, 6, random_state=0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)

    def dependence(columns: list[int]) -> float:
        distances = np.sqrt(np.square(scaled[:, None, columns] - scaled[:, columns]).sum(axis=2))
        return hsic(1 / (distances + 0.1), target_kernel(y, "classification"))

    left, removed = list(range(6)), []
    while len(left) > 1:
        removed.append(max(left, key=lambda j: dependence([k for k in left if k != j])))
        left.remove(removed[-1])
    assert list(BAHSIC(3, fraction=0.01).fit(X, y).order_) == [*left, *removed[::-1]]


def test_rows_of_a_class_share_one() -> None:
    kernel = target_kernel(np.array([0, 0, 1]), "classification")
    assert np.array_equal(kernel, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])


def test_a_bad_fraction_is_named() -> None:
    with pytest.raises(ValueError, match=r"fraction=1 must lie in \(0, 1\)"):
        BAHSIC(2, fraction=1).fit(np.eye(8, 3), np.arange(8) % 2)
