"""The problems of `ablation.py`: draws with a known answer, or development tables, and how well a fit answers.

Each takes a config and a seed and returns one quality, where more is better. No published table is among them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from search import copied_rows, madelon_rows, weak_rows
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import StratifiedKFold
from wide import parity

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.config import TrainConfig
from maskrank.datasets import (
    make_nonlinear_regression,
    make_orange_skin,
    make_ring,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)
from maskrank.study.metrics import best_p

SEED = 83  # of all draws and folds; the other benchmarks use 0 to 13, 31, 47 and 2020
DEV = Path(__file__).parents[2] / "shared" / "data" / "dev"
N_TEST = 4096
PAPER_PROBLEMS = {
    "XOR": (make_xor, DualNetClassifier),
    "regression": (make_nonlinear_regression, DualNetRegressor),
    "orange skin": (make_orange_skin, DualNetClassifier),
}
NEEDLES = {"RING": make_ring, "XOR pair": make_xor_pair, "RING+XOR": make_ring_xor, "RING+XOR+SUM": make_ring_xor_sum}
GENE_TABLES = (
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
TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}

Quality = Callable[[TrainConfig, int], float]


def paper_problem(name: str, config: TrainConfig, seed: int) -> float:
    """Accuracy, or R², on fresh rows; 512 rows of 10 features, s = 5."""
    make, kind = PAPER_PROBLEMS[name]
    X, y, _ = make(512, random_state=[SEED, seed, 0])
    X_test, y_test, _ = make(N_TEST, random_state=[SEED, seed, 1])
    predicted = kind(5, preset=config, random_state=seed).fit(X, y).predict(X_test)
    return float((r2_score if kind is DualNetRegressor else accuracy_score)(y_test, predicted))


def needles(name: str, d: int, times: int, config: TrainConfig, seed: int) -> float:
    """best-p by the ranking, of 833 rows; s = so many times the relevant features."""
    X, y, relevant = NEEDLES[name](833, d, random_state=[SEED, seed, d])
    model = DualNetClassifier(times * len(relevant), preset=config, random_state=seed).fit(X, y)
    return best_p(-model.ranking_, relevant)


def with_fillers(name: str, d: int, config: TrainConfig, seed: int) -> float:
    """Accuracy on fresh rows; 833 rows, s = twice the relevant features, so that half of the chosen ones are noise."""
    make = NEEDLES[name]
    X, y, relevant = make(833 + N_TEST, d, random_state=[SEED, seed, d, 1])
    model = DualNetClassifier(2 * len(relevant), preset=config, random_state=seed).fit(X[:833], y[:833])
    return float(model.score(X[833:], y[833:]))


def wide_regression(d: int, config: TrainConfig, seed: int) -> float:
    """R² on fresh rows of the paper's regression among d columns; 512 rows, s = 5."""
    X, y, _ = make_nonlinear_regression(512 + N_TEST, d, random_state=[SEED, seed, d])
    model = DualNetRegressor(5, preset=config, random_state=seed).fit(X[:512], y[:512])
    return float(model.score(X[512:], y[512:]))


def triple(d: int, config: TrainConfig, seed: int) -> float:
    """Share found of a parity of three columns."""
    X, y, relevant = parity(d, np.random.default_rng([SEED, seed, d]))
    return float(DualNetClassifier(3, preset=config, random_state=seed).fit(X, y).support_[relevant].mean())


def nested(d: int, config: TrainConfig, seed: int) -> float:
    """Share found of four columns whose signs act in pairs, in threes and together; 833 rows."""
    rng = np.random.default_rng([SEED, seed, d])
    X = rng.standard_normal((833, d))
    relevant = rng.choice(d, 4, replace=False)
    signs = np.sign(X[:, relevant]).cumprod(axis=1)
    y = signs[:, 1:].sum(axis=1) + 0.5 * rng.standard_normal(833)
    return float(DualNetRegressor(4, preset=config, random_state=seed).fit(X, y).support_[relevant].mean())


def madelon(config: TrainConfig, seed: int) -> float:
    """Share of 20 chosen features that are among the 20 that matter."""
    X, y = madelon_rows(100 + seed)
    return float(DualNetClassifier(20, preset=config, random_state=seed).fit(X, y).support_[:20].mean())


def weak(n: int, config: TrainConfig, seed: int) -> float:
    """Share found of ten weak linear effects among 10,000."""
    X, y = (part[:n] for part in weak_rows(100 + seed))
    return float(DualNetRegressor(10, preset=config, random_state=seed).fit(X, y).support_[:10].mean())


def weak_beside_product(config: TrainConfig, seed: int) -> float:
    """Share found of a pair whose signs act together, and of a feature of a weak effect: 600 rows of 300 columns."""
    rng = np.random.default_rng([SEED, seed, 4])
    X = rng.standard_normal((600, 300))
    y = np.sign(X[:, 0] * X[:, 1]) + 0.12 * X[:, 2]
    return float(DualNetRegressor(3, preset=config, random_state=seed).fit(X, y).support_[:3].mean())


def copies(name: str, config: TrainConfig, seed: int) -> float:
    """Share of the relevant features of which one of two near copies was chosen."""
    X, y, p = copied_rows(name, 100 + seed)
    model = PAPER_PROBLEMS[name][1](p, preset=config, random_state=seed)
    chosen = np.flatnonzero(model.fit(X, y).support_)
    return len({j if j < 10 else j - 10 for j in chosen.tolist()} & set(range(p))) / p


def heavy_tails(config: TrainConfig, seed: int) -> float:
    """Accuracy on fresh rows of the orange skin, where only the exponentials of four times the columns are seen."""
    (X, y, _), (X_test, y_test, _) = (
        make_orange_skin(n, random_state=[SEED, seed, 2 + part]) for part, n in enumerate((512, N_TEST))
    )
    model = DualNetClassifier(5, preset=config, random_state=seed).fit(np.exp(4 * X), y)
    return float(model.score(np.exp(4 * X_test), y_test))


def steps(config: TrainConfig, seed: int) -> float:
    """R² on fresh rows of a target that jumps at values of three columns, as trees do; 600 rows of 6 columns."""
    rng = np.random.default_rng([SEED, seed, 5])
    X = rng.standard_normal((600 + N_TEST, 6))
    below, above = np.where(X[:, 2] > -0.3, 1.0, -2.0), np.where(X[:, 1] > 0.5, 2.0, -1.0)
    y = np.where(X[:, 0] > 0, above, below) + 0.7 * rng.standard_normal(len(X))
    return float(DualNetRegressor(4, preset=config, random_state=seed).fit(X[:600], y[:600]).score(X[600:], y[600:]))


def agreement(config: TrainConfig, seed: int) -> float:
    """Rank correlation of the derivatives of all features in two fits of the same rows with other seeds."""
    X, y = load_breast_cancer(return_X_y=True)
    one, other = (
        DualNetClassifier(5, preset=config, random_state=2 * seed + k).fit(X, y).raw_scores_ for k in range(2)
    )
    return float(spearmanr(one, other).statistic)


def judged(X: Any, y: Any, size: int, config: TrainConfig, seed: int) -> float:
    """Mean of the accuracies of our predictor and of extremely randomised trees on our choice, on one of five folds."""
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=SEED + seed // 5).split(X, y))[seed % 5]
    model = DualNetClassifier(size, preset=config, random_state=seed).fit(X[train], y[train])
    chosen = model.support_
    trees = ExtraTreesClassifier(300, random_state=seed).fit(X[train][:, chosen], y[train])
    return float((model.score(X[test], y[test]) + trees.score(X[test][:, chosen], y[test])) / 2)


def public_table(name: str, size: int, config: TrainConfig, seed: int) -> float:
    """A table that scikit-learn ships."""
    return judged(*TABLES[name](return_X_y=True), size, config, seed)


def development_table(name: str, size: int, config: TrainConfig, seed: int) -> float:
    """A gene-expression table of `shared/data/dev`, as logarithms."""
    with np.load(DEV / f"{name}.npz") as data:
        X, y = data["X"].astype(np.float64), data["y"]
    return judged(np.log2(np.clip(X, 1.0, None)) if np.nanmin(X) >= 0 else X, y, size, config, seed)


PROBLEMS: dict[str, Quality] = {
    **{name: partial(paper_problem, name) for name in PAPER_PROBLEMS},
    "heavy tails": heavy_tails,
    "steps": steps,
    "RING+XOR+SUM, 8, s = 6": partial(needles, "RING+XOR+SUM", 8, 1),
    "RING+XOR+SUM, 30, s = 12": partial(needles, "RING+XOR+SUM", 30, 2),
    "RING+XOR+SUM, 300, s = 12": partial(needles, "RING+XOR+SUM", 300, 2),
    "accuracy, RING+XOR, 30, s = 8": partial(with_fillers, "RING+XOR", 30),
    "accuracy, RING+XOR+SUM, 300, s = 12": partial(with_fillers, "RING+XOR+SUM", 300),
    "regression, 300, s = 5": partial(wide_regression, 300),
    "RING+XOR, 256, s = 4": partial(needles, "RING+XOR", 256, 1),
    "RING+XOR+SUM, 1,024, s = 6": partial(needles, "RING+XOR+SUM", 1024, 1),
    "parity, 300, s = 3": partial(triple, 300),
    "nested tuples, 2,000, s = 4": partial(nested, 2000),
    "Madelon, s = 20": madelon,
    "weak effects, 170 rows, s = 10": partial(weak, 170),
    "weak effects, 200 rows, s = 10": partial(weak, 200),
    "copies, s = 4": partial(copies, "regression"),
    "copies of orange skin, s = 4": partial(copies, "orange skin"),
    "product and a weak effect, 300, s = 3": weak_beside_product,
    "agreement of derivatives, breast cancer": agreement,
    "breast cancer, s = 5": partial(public_table, "breast cancer", 5),
    "wine, s = 4": partial(public_table, "wine", 4),
    "digits, s = 16": partial(public_table, "digits", 16),
    "su_2001, s = 20": partial(development_table, "su_2001", 20),
    **{f"{name}, s = 10": partial(development_table, name, 10) for name in GENE_TABLES},
}
