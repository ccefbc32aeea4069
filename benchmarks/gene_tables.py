"""Development tables of few rows and many features: ten of gene expression, and three generators that resemble them.

No published table is among them, so that settings may be chosen on them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

FOLDER = Path(os.environ.get("MASKRANK_DEV_DIR", Path(__file__).parents[2] / "shared" / "data" / "dev"))
REAL = (
    "armstrong_2002_v2",
    "dyrskjot_2003",
    "gordon_2002",
    "khan_2001",
    "lapointe_2004_v2",
    "pomeroy_2002_v2",
    "ramaswamy_2001",
    "su_2001",
    "tomlins_2006",
    "yeoh_2002_v2",
)
GENERATED = ("weak", "batches", "tails")
TABLES = (*REAL, *GENERATED)
N_DIVISIONS = 5
_N_TRAINING, _N_TEST = {"weak": 120, "batches": 100, "tails": 90}, 1000
_N_CLASSES = {"weak": 4, "batches": 3, "tails": 5}
_N_GENES, _IN_BLOCK = 1_600, 20


@dataclass(frozen=True)
class Division:
    """Training and test rows of a table."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


def divide(name: str, number: int) -> Division:
    """One of five divisions: a fold of a real table, new rows of a generated one."""
    if name in GENERATED:
        X, y = gene_like(name, number)
        n = _N_TRAINING[name]
        return Division(X[:n], y[:n], X[n:], y[n:])
    with np.load(FOLDER / f"{name}.npz") as file:
        X, y = logarithms(file["X"]), np.unique(file["y"], return_inverse=True)[1]
    folds = list(StratifiedKFold(N_DIVISIONS, shuffle=True, random_state=7).split(X, y))
    training, test = folds[number]
    means = np.nanmean(X[training], axis=0)
    X = np.where(np.isnan(X), means, X)
    return Division(X[training], y[training], X[test], y[test])


def logarithms(X: NDArray[Any]) -> NDArray[Any]:
    """Of intensities; tables with negative values are logarithms of ratios already."""
    X = X.astype(np.float64)
    if np.nanmin(X) < 0:
        return X
    return np.log2(np.maximum(X, X[X > 0].min()))


def gene_like(name: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Blocks of correlated genes, of which many tell a little of the class.

    ``weak``: the common factor of every third block is shifted a little by class, and so are some genes of their own.
    ``batches``: fewer, stronger shifts; rows come from four batches that move many blocks. ``tails``: noise of a t
    distribution with 2.5 degrees of freedom, and factors that act through an exponential.
    """
    rng = np.random.default_rng([17, GENERATED.index(name), seed])
    fixed = np.random.default_rng([18, GENERATED.index(name), seed])  # effects, the same for training and test rows
    n, blocks, classes = _N_TRAINING[name] + _N_TEST, _N_GENES // _IN_BLOCK, _N_CLASSES[name]
    y = rng.choice(classes, n, p=fixed.dirichlet(np.full(classes, 8.0)))
    y[:classes] = np.arange(classes)
    strength = {"weak": 0.55, "batches": 0.8, "tails": 0.9}[name]
    share = {"weak": 0.33, "batches": 0.15, "tails": 0.2}[name]
    shifts = strength * fixed.standard_normal((classes, blocks)) * (fixed.random(blocks) < share)
    factors = shifts[y] + rng.standard_normal((n, blocks))
    loadings = fixed.uniform(0.3, 1.0, (blocks, _IN_BLOCK)) * fixed.choice(
        [-1.0, 1.0], (blocks, _IN_BLOCK), p=[0.2, 0.8]
    )
    own = 0.6 * strength * fixed.standard_normal((classes, _N_GENES)) * (fixed.random(_N_GENES) < 0.1)
    if name == "batches":
        moved = fixed.standard_normal((4, blocks)) * (fixed.random(blocks) < 0.6)
        factors += moved[rng.integers(4, size=n)]
    noise = rng.standard_t(2.5, (n, _N_GENES)) * 0.6 if name == "tails" else rng.standard_normal((n, _N_GENES))
    X = (factors[:, :, None] * loadings).reshape(n, _N_GENES) + own[y] + 0.8 * noise
    if name == "tails":
        skewed = fixed.random(_N_GENES) < 0.5
        X[:, skewed] = np.exp(np.clip(X[:, skewed], -8, 8) / 2)
    return X.astype(np.float32).astype(np.float64), y
