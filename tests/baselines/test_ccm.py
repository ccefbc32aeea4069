from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from maskrank.baselines.ccm import CCM, objective, project
from maskrank.datasets import make_nonlinear_regression, make_xor


def test_the_objective_and_its_gradient() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 5)), rng.standard_normal((30, 2))
    Y -= Y.mean(axis=0)
    w = np.array([0.9, 0.5, 0.2, 0.0, 1.0])
    value, gradient = objective(w, X, Y, 0.3, 1.7)
    kernel = np.exp(-np.square((X[:, None] - X) * w).sum(axis=2) / (2 * 1.7))
    H = np.eye(30) - 1 / 30
    assert value == pytest.approx(np.trace(Y @ Y.T @ np.linalg.inv(H @ kernel @ H + 0.3 * np.eye(30))))
    numeric = approx_fprime(w, lambda v: objective(np.abs(v), X, Y, 0.3, 1.7)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_projection_is_the_nearest_allowed_point(seed: int) -> None:
    w = np.random.default_rng(seed).normal(0.4, 0.8, 6)
    found = project(w, 2)
    nearest = minimize(
        lambda v: np.square(v - w).sum(),
        np.full(6, 0.2),
        bounds=[(0, 1)] * 6,
        constraints={"type": "ineq", "fun": lambda v: 2 - v.sum()},
        tol=1e-12,
    ).x
    np.testing.assert_allclose(found, nearest, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_finds_the_exclusive_or(seed: int) -> None:
    X, y, relevant = make_xor(512, 10, random_state=seed)
    method = CCM(3).fit(X, y)
    assert set(method.get_support(indices=True)) == set(relevant)
    assert method.weights_.sum() <= 3 + 1e-9
    assert (method.weights_ >= 0).all()
    assert (method.weights_ <= 1).all()


def test_it_finds_what_a_regression_needs() -> None:
    X, y, relevant = make_nonlinear_regression(512, 10, random_state=0)
    assert set(CCM(4).fit(X, y).get_support(indices=True)) == set(relevant)


def test_steps_never_raise_the_objective() -> None:
    X, y, _ = make_xor(200, 6, random_state=0)
    values = [CCM(3, max_iter=k).fit(X, y).objective_ for k in (1, 2, 5, 20)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]
