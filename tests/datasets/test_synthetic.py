"""The generators against facts: their own definitions, and the limits known for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from maskrank.datasets import (
    Problem,
    make_dag,
    make_nonlinear_regression,
    make_orange_skin,
    make_ring,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)

NEEDLES = [make_ring, make_xor_pair, make_ring_xor, make_ring_xor_sum]
MAKERS = [make_xor, make_nonlinear_regression, make_orange_skin, *NEEDLES]


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_fixes_the_rows_and_leaves_the_global_state(make: Callable[..., Problem]) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second, other = make(50, random_state=3), make(50, random_state=3), make(50, random_state=4)
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    assert not np.isin(first.X, other.X).any()
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("make", MAKERS)
def test_any_width_and_the_relevant_features_come_first(make: Callable[..., Problem]) -> None:
    problem = make(20, 25, random_state=0)
    assert problem.X.shape == (20, 25)
    assert problem.relevant.tolist() == list(range(len(problem.relevant)))
    with pytest.raises(ValueError, match="features are needed"):
        make(20, len(problem.relevant) - 1, random_state=0)


@pytest.mark.parametrize("make", MAKERS)
def test_numpy_generators_are_seeds_too(make: Callable[..., Problem]) -> None:
    seeds = [np.random.default_rng(1), np.random.default_rng(1), np.random.RandomState(1)]
    first, second, _ = (make(10, random_state=seed) for seed in seeds)
    assert np.array_equal(first.X, second.X)


@pytest.mark.parametrize(("variance", "limit"), [(0.5, 0.7828), (1.0, 0.5996)])
def test_xor_has_the_known_best_accuracy(variance: float, limit: float) -> None:
    X, y, _ = make_xor(100_000, noise_variance=variance, random_state=0)
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    labels = 2 * (corners[:, 0] * corners[:, 2] > 0) + (corners[:, 1] * corners[:, 2] > 0)
    likelihood = np.exp(-((X[:, None, :3] - corners) ** 2).sum(axis=2) / (2 * variance))
    posterior = np.stack([likelihood[:, labels == k].sum(axis=1) for k in range(4)], axis=1)
    assert (posterior.argmax(axis=1) == y).mean() == pytest.approx(limit, abs=0.005)


def test_no_single_xor_feature_tells_anything() -> None:
    X, y, _ = make_xor(50_000, random_state=0)
    means = np.stack([X[y == k].mean(axis=0) for k in range(4)])
    assert np.abs(means).max() < 0.05


def test_the_regression_is_its_formula_plus_noise() -> None:
    X, y, _ = make_nonlinear_regression(100_000, random_state=0)
    signal = -2 * np.sin(2 * X[:, 0]) + np.maximum(X[:, 1], 0) + X[:, 2] + np.exp(-X[:, 3])
    assert np.square(y - signal).mean() == pytest.approx(1.0, abs=0.02)
    exact = make_nonlinear_regression(100, noise_variance=0.0, random_state=0)
    assert exact.y[0] == pytest.approx(
        -2 * np.sin(2 * exact.X[0, 0]) + max(exact.X[0, 1], 0) + exact.X[0, 2] + np.exp(-exact.X[0, 3])
    )


def test_the_orange_skin_is_a_shell_around_a_cloud() -> None:
    X, y, _ = make_orange_skin(100_000, random_state=0)
    square = (X[:, :4] ** 2).sum(axis=1)
    assert square[y == 1].min() >= 9
    assert square[y == 1].max() <= 16
    survival = lambda q: (1 + q / 2) * np.exp(-q / 2)  # noqa: E731  chi-squared, 4 degrees of freedom
    middle = (survival(9.0) - survival(12.0)) / (survival(9.0) - survival(16.0))
    assert (square[y == 1] < 12).mean() == pytest.approx(middle, abs=0.01)
    assert np.abs(X[y == 1].mean(axis=0)).max() < 0.05
    likelier = np.where((square >= 9) & (square <= 16), 1, 0)
    assert (likelier == y).mean() == pytest.approx(0.9710, abs=0.003)


@pytest.mark.parametrize("make", NEEDLES)
def test_the_two_classes_of_a_needle_problem_are_as_frequent(make: Callable[..., Problem]) -> None:
    """Passemiers et al. chose their thresholds for that."""
    assert make(40_000, 8, random_state=0).y.mean() == pytest.approx(0.5, abs=0.02)


def test_the_needle_problems_are_their_recipes() -> None:
    X, y, _ = make_ring(200, 6, random_state=1)
    radius = np.sqrt((X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2)
    assert np.array_equal(y, np.abs(radius - 0.35) <= 0.1151)
    X, y, _ = make_xor_pair(200, 6, random_state=1)
    assert np.array_equal(y, (X[:, 0] < 0.5) != (X[:, 1] < 0.5))
    X, y, _ = make_ring_xor(200, 6, random_state=1)
    radius = np.sqrt((X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2)
    ring, saddle = np.abs(radius - 0.35), (X[:, 2] - 0.5) * (0.5 - X[:, 3])
    assert np.array_equal(y, (ring <= 0.0704) | (saddle >= 0.0337))
    X, y, _ = make_ring_xor_sum(200, 6, random_state=1)
    radius = np.sqrt((X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2)
    ring, saddle = np.abs(radius - 0.35), (X[:, 2] - 0.5) * (0.5 - X[:, 3])
    either = (ring <= 0.0479) | (saddle >= 0.0598)
    assert y[either].all()
    large = (y == 1) & ~either
    sums = X[:, 4] + X[:, 5]
    assert sums[large].min() > 1.4074 - 5 * 0.2
    assert not y[~either & (sums < 0.6)].any()


def test_the_target_of_a_graph_depends_on_its_ancestors_alone_or_on_what_they_cause() -> None:
    problem = make_dag(2000, 300, n_isolated=150, density=0.02, min_relevant=10, random_state=6)
    assert problem.X.shape == (2000, 300)
    assert problem.y.mean() == 0.5
    assert len(problem.relevant) >= 10
    strength = np.abs([np.corrcoef(column, problem.y)[0, 1] for column in problem.X.T])
    assert strength[problem.relevant].max() > 0.3  # a parent
    assert np.median(strength) < 0.04  # of an isolated node, by chance


def test_a_graph_without_enough_ancestors_is_refused() -> None:
    with pytest.raises(ValueError, match="no node of this graph has so many ancestors"):
        make_dag(10, 20, n_isolated=0, density=0.0, random_state=0)
    with pytest.raises(ValueError, match="there are 21 nodes"):
        make_dag(10, 20, n_isolated=21, random_state=0)
