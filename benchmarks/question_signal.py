"""Sections of `questions.py` on signal: p-values of shuffled labels, and how often real signal is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kstest
from score_tools import PAPER_PROBLEMS, Options, Section, Verdict, in_processes, interleaved, percent
from sklearn.datasets import load_breast_cancer

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import load_dataset

_NULL_ROWS, _NULL_FEATURES = (20, 2_000), (5, 2_000)
_TASKS = ("two classes", "three classes", "a rare class", "numbers")


class NullFit(NamedTuple):
    """One table without signal."""

    task: str
    n: int
    d: int
    pvalue: float


def null_fit(options: Options, seed: int) -> NullFit:
    rng = np.random.default_rng(options.entropy(0, seed))
    n, d = (round(np.exp(rng.uniform(*np.log(bounds)))) for bounds in (_NULL_ROWS, _NULL_FEATURES))
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1)) * (seed % 2)  # every other table: correlated
    task = _TASKS[seed % len(_TASKS)]
    y = {
        "two classes": rng.permutation(np.arange(n) % 2),
        "three classes": rng.permutation(np.arange(n) % 3),
        "a rare class": rng.permutation(np.arange(n) < max(3, n // 10)),
        "numbers": rng.standard_t(4, n),
    }[task]
    kind = DualNetRegressor if task == "numbers" else DualNetClassifier
    model = options.model(kind, min(5, d - 1), 1, seed).fit(X, y)
    return NullFit(task, n, d, float(model.signal_pvalue_))


def signal_null(options: Options) -> Section:
    """Targets unrelated to the features, 20 to 2,000 rows, 5 to 2,000 features: p-values should be uniform."""
    fits = in_processes(null_fit, options, [(seed,) for seed in range(options.seeds)])
    parts = {
        "all": fits,
        **{task: [fit for fit in fits if fit.task == task] for task in _TASKS},
        "up to 200 rows": [fit for fit in fits if fit.n <= 200],
        "more rows": [fit for fit in fits if fit.n > 200],
    }
    body = [[name, str(len(some)), *_uniformity([fit.pvalue for fit in some])] for name, some in parts.items() if some]
    pvalues = np.array([fit.pvalue for fit in fits])
    claims, uniform = float((pvalues <= 0.05).mean()), float(kstest(pvalues, "uniform").pvalue)
    return Section(
        ["tables", "fits", "p <= 0.05", "p <= 0.2", "p <= 0.5", "p-value of uniformity"],
        body,
        [
            Verdict(f"{percent(claims, 1)} false claims at level 5 %", "2 to 8 %", 0.02 <= claims <= 0.08),
            Verdict(f"Kolmogorov-Smirnov p = {uniform:.2f}", "> 0.05", uniform > 0.05),
        ],
    )


def _uniformity(pvalues: list[float]) -> list[str]:
    given = np.array(pvalues)
    shares = [percent(float((given <= level).mean()), 1) for level in (0.05, 0.2, 0.5)]
    return [*shares, f"{kstest(given, 'uniform').pvalue:.2f}"]


def weak_genes(rng: np.random.Generator) -> tuple[Any, Any]:
    """90 rows of 3 classes, 1,000 genes in correlated blocks of 20; the means of 30 genes differ a little."""
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 1_000)) + np.repeat(rng.standard_normal((90, 50)), 20, axis=1)
    shifts = 0.5 * rng.standard_normal((3, 30))  # against deviations of 1.4
    X[:, rng.choice(1_000, 30, replace=False)] += shifts[y]
    return X, y


def _paper(name: str) -> Callable[[Options, int], tuple[Any, Any]]:
    return lambda options, seed: PAPER_PROBLEMS[name][0](512, random_state=options.entropy(2, seed))[:2]


def _public(name: str) -> Callable[[Options, int], tuple[Any, Any]]:
    def rows(options: Options, seed: int) -> tuple[Any, Any]:
        data = load_dataset(name)
        return data.X, data.y

    return rows


TABLES: dict[str, tuple[Callable[[Options, int], tuple[Any, Any]], Any, int]] = {
    **{name: (_paper(name), kind, 5) for name, (_, kind) in PAPER_PROBLEMS.items()},
    "glass": (_public("glass"), DualNetClassifier, 5),
    "vowel": (_public("vowel"), DualNetClassifier, 5),
    "tox171": (_public("tox171"), DualNetClassifier, 20),
    "breast cancer": (lambda options, seed: load_breast_cancer(return_X_y=True), DualNetClassifier, 5),
    "weak genes": (
        lambda options, seed: weak_genes(np.random.default_rng(options.entropy(3))),
        DualNetClassifier,
        20,
    ),
}


def real_fit(options: Options, name: str, seed: int) -> tuple[str, float, float, float]:
    rows, kind, size = TABLES[name]
    model = options.model(kind, size, 4, seed).fit(*rows(options, seed))
    return name, float(model.signal_pvalue_), float(model.validation_score_), float(model.baseline_score_)


def signal_real(options: Options, tables: list[str]) -> Section:
    """Labels as they are: every seed splits the rows anew, and should find signal."""
    fits = in_processes(real_fit, options, interleaved(tables, options.seeds))
    body, all_same = [], True
    for name in tables:
        own = np.array([fit[1:] for fit in fits if fit[0] == name])
        found = int((own[:, 0] <= 0.05).sum())
        all_same &= found == len(own)
        body.append(
            [
                name,
                f"{found} of {len(own)}",
                f"{own[:, 0].max():.3f}",
                f"{own[:, 1].mean():.3f}",
                f"{own[:, 2].mean():.3f}",
            ]
        )
    return Section(
        ["table", "signal", "largest p", "figure shown first", "without any feature"],
        body,
        [Verdict("the same answer for every seed", "signal in all fits", all_same)],
    )
