"""A random causal graph, in which one node is to be predicted from all others (Passemiers et al.).

Most of what predicts the target is not a cause of it, and most causes add nothing once the nearest ones are known.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from maskrank.datasets.synthetic import Problem, Seed, as_generator

_STEEPNESS = 2.0  # standard deviations of a node go through the logistic function twice as steep


def make_dag(
    n_samples: int = 1000,
    n_features: int = 2000,
    *,
    n_isolated: int = 1000,
    density: float = 0.004,
    noise: float = 0.2,
    min_relevant: int = 20,
    random_state: Seed = None,
) -> Problem:
    """Is one node of a random directed acyclic graph above its median? ``relevant`` are all its ancestors.

    Each node is the mean of its parents, with weights from -1 to 1, plus noise, standardised and passed through the
    logistic function. The features are all other nodes, in random order.

    Parameters
    ----------
    n_samples, n_features : int
    n_isolated : int
        Nodes without any edge.
    density : float
        Share of the possible edges among the others.
    noise : float
        Standard deviation of what a node adds to the mean of its parents.
    min_relevant : int
        The target has at least so many ancestors.
    random_state : int, Generator or None
    """
    rng = as_generator(random_state)
    n = n_features + 1
    if n_samples < 1 or not 0 <= n_isolated < n:
        raise ValueError(f"n_samples={n_samples}, n_isolated={n_isolated}: there are {n} nodes")
    edges = np.triu(rng.uniform(size=(n, n)) < density, k=1)  # from a row to a later column
    isolated = rng.permutation(n)[:n_isolated]
    edges[isolated] = edges[:, isolated] = False
    target, ancestors = _target(edges, min_relevant, rng)
    values = _values(edges, n_samples, noise, rng)
    columns = rng.permutation(np.delete(np.arange(n), target))
    y = values[:, target] > np.median(values[:, target])
    return Problem(values[:, columns], y.astype(np.int64), np.flatnonzero(ancestors[columns]))


def _target(edges: NDArray[np.bool_], min_relevant: int, rng: Generator) -> tuple[int, NDArray[np.bool_]]:
    """A node with enough ancestors, drawn at random, and which nodes these are: (n,)."""
    for node in rng.permutation(len(edges)).tolist():
        ancestors = edges[:, node].copy()
        for other in range(node, -1, -1):  # a parent stands before its children
            if ancestors[other]:
                ancestors |= edges[:, other]
        if ancestors.sum() >= min_relevant:
            return node, ancestors
    raise ValueError(f"min_relevant={min_relevant}: no node of this graph has so many ancestors")


def _values(edges: NDArray[np.bool_], n_samples: int, noise: float, rng: Generator) -> NDArray[np.float64]:
    """Samples of all nodes, parents first: (n_samples, n)."""
    values = np.empty((n_samples, len(edges)))
    for node in range(len(edges)):
        parents = np.flatnonzero(edges[:, node])
        mean = values[:, parents] @ rng.uniform(-1, 1, len(parents)) / max(1, len(parents))
        raw = mean + noise * rng.standard_normal(n_samples)
        scaled = _STEEPNESS * (raw - raw.mean()) / max(float(raw.std()), np.finfo(float).tiny)
        values[:, node] = 1 / (1 + np.exp(-scaled))
    return values
