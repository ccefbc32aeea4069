"""The three synthetic problems of the paper, and four needles in a haystack, as seeded generators.

Each draws all its rows independently: two calls with different seeds share nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator, RandomState
from numpy.typing import NDArray

Seed = int | Generator | RandomState | None


class Problem(NamedTuple):
    """Rows of a synthetic problem.

    Attributes
    ----------
    X : ndarray (n, d)
    y : ndarray (n,)
    relevant : ndarray of int
        Indices of the features that determine y, sorted.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64] | NDArray[np.float64]
    relevant: NDArray[np.int64]


def make_xor(
    n_samples: int = 512, n_features: int = 10, *, noise_variance: float = 0.5, random_state: Seed = None
) -> Problem:
    """Four-way exclusive or on the first three features.

    Class (v0 v2, v1 v2) holds two opposite corners v, -v of the cube {-1, +1}^3; the three features are a corner
    plus noise, all others standard normal. No single feature and no pair tells anything of a single class bit.

    Parameters
    ----------
    n_samples, n_features : int
    noise_variance : float
        Around a corner, in each of the three directions.
    random_state : int, Generator or None
    """
    rng = as_generator(random_state)
    _check(n_samples, n_features, at_least=3)
    corners = rng.choice([-1.0, 1.0], size=(n_samples, 3))
    X = rng.standard_normal((n_samples, n_features))
    X[:, :3] = corners + np.sqrt(noise_variance) * X[:, :3]
    bits = corners[:, :2] * corners[:, 2:] > 0
    return Problem(X, 2 * bits[:, 0].astype(np.int64) + bits[:, 1], np.arange(3))


def make_nonlinear_regression(
    n_samples: int = 512, n_features: int = 10, *, noise_variance: float = 1.0, random_state: Seed = None
) -> Problem:
    """Y = -2 sin(2 x0) + max(x1, 0) + x2 + exp(-x3) + noise; all features standard normal.

    Parameters
    ----------
    n_samples, n_features : int
    noise_variance : float
        Of the noise on y: the least mean squared error there can be.
    random_state : int, Generator or None
    """
    rng = as_generator(random_state)
    _check(n_samples, n_features, at_least=4)
    X = rng.standard_normal((n_samples, n_features))
    signal = -2 * np.sin(2 * X[:, 0]) + np.maximum(X[:, 1], 0) + X[:, 2] + np.exp(-X[:, 3])
    return Problem(X, signal + np.sqrt(noise_variance) * rng.standard_normal(n_samples), np.arange(4))


def make_orange_skin(n_samples: int = 512, n_features: int = 10, *, random_state: Seed = None) -> Problem:
    """Two classes: a normal cloud (0), and the shell 9 <= |x0..x3|^2 <= 16 around its middle (1).

    The other features are standard normal in both classes.

    Parameters
    ----------
    n_samples, n_features : int
    random_state : int, Generator or None
    """
    rng = as_generator(random_state)
    _check(n_samples, n_features, at_least=4)
    X = rng.standard_normal((n_samples, n_features))
    y = rng.integers(0, 2, size=n_samples)
    shell = np.flatnonzero(y == 1)
    directions = X[shell, :4] / np.linalg.norm(X[shell, :4], axis=1, keepdims=True)
    X[shell, :4] = directions * _shell_radii(len(shell), rng)[:, None]
    return Problem(X, y, np.arange(4))


def make_ring(n_samples: int = 1000, n_features: int = 64, *, random_state: Seed = None) -> Problem:
    """Class 1 on a ring in the plane of x0 and x1; like the three that follow, one of Passemiers et al.

    All features are uniform on [0, 1].

    Parameters
    ----------
    n_samples, n_features : int
    random_state : int, Generator or None
    """
    X = _uniform(n_samples, n_features, random_state, at_least=2)
    return Problem(X, _ring(X, 0.1151).astype(np.int64), np.arange(2))


def make_xor_pair(n_samples: int = 1000, n_features: int = 64, *, random_state: Seed = None) -> Problem:
    """Class 1 where exactly one of x0 and x1 is above a half: neither tells anything alone.

    Parameters
    ----------
    n_samples, n_features : int
    random_state : int, Generator or None
    """
    X = _uniform(n_samples, n_features, random_state, at_least=2)
    return Problem(X, (_saddle(X[:, :2]) >= 0).astype(np.int64), np.arange(2))


def make_ring_xor(n_samples: int = 1000, n_features: int = 64, *, random_state: Seed = None) -> Problem:
    """Class 1 on a ring of x0 and x1, or far out in the exclusive or of x2 and x3.

    Parameters
    ----------
    n_samples, n_features : int
    random_state : int, Generator or None
    """
    X = _uniform(n_samples, n_features, random_state, at_least=4)
    return Problem(X, (_ring(X, 0.0704) | (_saddle(X[:, 2:4]) >= 0.0337)).astype(np.int64), np.arange(4))


def make_ring_xor_sum(n_samples: int = 1000, n_features: int = 64, *, random_state: Seed = None) -> Problem:
    """The same with a thinner ring, a narrower exclusive or, or a large sum of x4, x5 and noise.

    Parameters
    ----------
    n_samples, n_features : int
    random_state : int, Generator or None
    """
    rng = as_generator(random_state)
    X = _uniform(n_samples, n_features, rng, at_least=6)
    large = X[:, 4] + X[:, 5] + rng.normal(0, 0.2, n_samples) >= 1.4074
    return Problem(X, (_ring(X, 0.0479) | (_saddle(X[:, 2:4]) >= 0.0598) | large).astype(np.int64), np.arange(6))


def _uniform(n_samples: int, n_features: int, random_state: Seed, *, at_least: int) -> NDArray[np.float64]:
    _check(n_samples, n_features, at_least=at_least)
    return as_generator(random_state).uniform(size=(n_samples, n_features))


def _ring(X: NDArray[np.float64], half_width: float) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) <= half_width
    return near


def _saddle(pair: NDArray[np.float64]) -> NDArray[np.float64]:
    return (pair[:, 0] - 0.5) * (0.5 - pair[:, 1])


def _shell_radii(n: int, rng: Generator) -> NDArray[np.float64]:
    """Lengths of normal vectors in four dimensions, given that the square lies in [9, 16].

    The square is chi-squared with 4 degrees of freedom: P(square > q) = (1 + q/2) exp(-q/2), inverted by bisection.
    """

    def survival(q: NDArray[np.float64]) -> NDArray[np.float64]:
        return (1 + q / 2) * np.exp(-q / 2)

    low, high = np.full(n, 9.0), np.full(n, 16.0)
    level = rng.uniform(survival(high), survival(low))
    for _ in range(60):
        middle = (low + high) / 2
        above = survival(middle) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    length: NDArray[np.float64] = np.sqrt((low + high) / 2)
    return length


def as_generator(random_state: Seed) -> Generator:
    """NumPy's generator of a seed; of an old RandomState, one that it seeds."""
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def _check(n_samples: int, n_features: int, *, at_least: int) -> None:
    if n_samples < 1 or n_features < at_least:
        raise ValueError(
            f"n_samples={n_samples}, n_features={n_features}: at least 1 row and {at_least} features are needed"
        )
