"""Sections of `scores.py` on the number of features that "auto" chooses, and on what the scores cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from guard_figures import TIMED_SHAPES, table_of_shape
from score_tools import (
    NEEDLES,
    PAPER_PROBLEMS,
    PROBLEMS,
    Options,
    Section,
    StageClock,
    Verdict,
    cpu_seconds,
    draw,
    in_processes,
    interleaved,
    percent,
    warm_up,
)
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import KFold, StratifiedKFold

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import load_dataset

SWEEP = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
SKLEARN_TABLES: dict[str, tuple[Callable[..., Any], Any]] = {
    "breast cancer": (load_breast_cancer, DualNetClassifier),
    "wine": (load_wine, DualNetClassifier),
    "diabetes": (load_diabetes, DualNetRegressor),
}
REAL_TABLES = (*SKLEARN_TABLES, "vowel")
COST_SHAPES = (*TIMED_SHAPES, (1_000, 300), (20_000, 100))


class Chosen(NamedTuple):
    """One fit of `auto`."""

    size: int
    wanted: int
    time_ratio: float


def auto_fit(options: Options, name: str, seed: int) -> Chosen:
    rows, d = (512, 10) if name in PAPER_PROBLEMS else (1000, 300)
    X, y, relevant = draw(options, name, seed, rows=rows, d=d)
    warm_up()
    started = cpu_seconds()
    model = options.model(PROBLEMS[name][1], "auto", seed).fit(X, y)
    spent = cpu_seconds() - started
    started = cpu_seconds()
    options.model(PROBLEMS[name][1], int(model.size_curve_.sizes[-1]), seed).fit(X, y)
    return Chosen(int(model.n_features_), len(relevant), spent / (cpu_seconds() - started))


def auto(options: Options) -> Section:
    """The size that "auto" chooses: the paper's problems (512 x 10) and needles among 300 (1,000 rows)."""
    jobs = interleaved((*PAPER_PROBLEMS, *NEEDLES), options.seeds)
    fits = in_processes(auto_fit, options, jobs)
    body = []
    for title in (*PAPER_PROBLEMS, *NEEDLES):
        some = [fit for (name, _), fit in zip(jobs, fits, strict=True) if name == title]
        near = sum(abs(fit.size - fit.wanted) <= 1 for fit in some)
        sizes = ", ".join(str(fit.size) for fit in some)
        ratio = np.mean([fit.time_ratio for fit in some])
        body.append([title, str(some[0].wanted), sizes, f"{near} of {len(some)}", f"{ratio:.2f}"])
    near = np.mean([abs(fit.size - fit.wanted) <= 1 for fit in fits])
    ratio = float(np.mean([fit.time_ratio for fit in fits]))
    return Section(
        ["problem", "relevant", "sizes chosen", "within ±1", "CPU time over a fit at the bound"],
        body,
        [
            Verdict(f"within ±1 in {percent(near)} of {len(fits)} fits", ">= 80 %", near >= 0.8),
            Verdict(f"mean time ratio {ratio:.2f}", "<= 2.5", ratio <= 2.5),
        ],
    )


def real_table(name: str) -> tuple[Any, Any, Any]:
    if name in SKLEARN_TABLES:
        load, kind = SKLEARN_TABLES[name]
        return (*load(return_X_y=True), kind)
    data = load_dataset(name)
    return data.X, data.y, DualNetClassifier


def held_out_fit(options: Options, name: str, size: Any, fold: int) -> tuple[float, int]:
    X, y, kind = real_table(name)
    folds = (StratifiedKFold if kind is DualNetClassifier else KFold)(
        5, shuffle=True, random_state=options.random_state(8)
    )
    train, test = list(folds.split(X, y))[fold]
    model = options.model(kind, size, fold)
    model.fit(X[train], y[train])
    return float(model.score(X[test], y[test])), int(model.support_.sum())


def auto_real(options: Options) -> Section:
    """Accuracy, or R², on held-out folds: "auto" against every size of a sweep."""
    sizes = {name: ["auto", *(s for s in SWEEP if s < real_table(name)[0].shape[1])] for name in REAL_TABLES}
    n_folds = min(5, options.seeds)
    jobs = [(name, size, fold) for name in REAL_TABLES for size in sizes[name] for fold in range(n_folds)]
    results = dict(zip(jobs, in_processes(held_out_fit, options, jobs), strict=True))
    body, within = [], []
    for name in REAL_TABLES:
        figures = {size: [results[name, size, fold][0] for fold in range(n_folds)] for size in sizes[name]}
        best = max(sizes[name][1:], key=lambda size, figures=figures: np.mean(figures[size]))
        error = np.std(figures[best], ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.nan
        reached, most = np.mean(figures["auto"]), np.mean(figures[best])
        within.append(bool(reached >= most - error) if n_folds > 1 else bool(reached >= most))
        chosen = ", ".join(str(results[name, "auto", fold][1]) for fold in range(n_folds))
        shown = [f"{reached:.4f}", chosen, f"{most:.4f} ± {error:.4f}", str(best)]
        body.append([name, *shown, "yes" if within[-1] else "no"])
    return Section(
        ["table", "auto", "sizes chosen", "best fixed ± standard error", "its size", "within one standard error"],
        body,
        [Verdict(f"within one standard error of the best on {sum(within)} of {len(within)}", "all", all(within))],
    )


def cost_fit(options: Options, name: str, rows: int, columns: int, seed: int) -> tuple[float, float]:
    if name in SKLEARN_TABLES:
        X, y, kind = real_table(name)
    else:
        (X, y), kind = table_of_shape(rows, columns, options.random_state(seed)), DualNetClassifier
    warm_up()
    clock, started = StageClock(), time.process_time()
    options.model(kind, 5, seed, callbacks=(clock,)).fit(X, y)
    total = time.process_time() - started
    return clock.spent["score"] / total, total


def explain_seconds(options: Options, seed: int) -> float | None:
    """CPU seconds of ``explain`` on 1,000 rows and 10 chosen features; None where there is no such method."""
    X, y, _ = draw(options, "ring+xor+sum", seed, rows=1000, d=20)
    model = options.model(DualNetClassifier, 10, seed).fit(X, y)
    if not hasattr(model, "explain"):
        return None
    started = time.process_time()
    model.explain(X)
    return time.process_time() - started


def cost(options: Options) -> Section:
    """The share of a fit's CPU time that the stage "score" takes, s = 5, one thread."""
    tables = [(f"{rows:,} x {columns:,}", rows, columns) for rows, columns in COST_SHAPES]
    tables += [(name, 0, 0) for name in SKLEARN_TABLES]
    jobs = [(*shape, seed) for shape in tables for seed in range(options.seeds)]
    fits = np.reshape(in_processes(cost_fit, options, jobs), (len(tables), options.seeds, 2))
    shares, totals = np.median(fits[:, :, 0], axis=1), fits[:, :, 1].mean(axis=1)
    body = [
        [name, f"{totals[i]:.2f}", f"{shares[i] * totals[i]:.2f}", percent(shares[i], 1)]
        for i, (name, *_) in enumerate(tables)
    ]
    median = float(np.median(shares))
    explained = in_processes(explain_seconds, options, [(0,)])[0]
    said = "no explain in this version" if explained is None else f"explain, 1,000 rows x 10: {explained:.2f} CPU s"
    return Section(
        ["table", "CPU seconds of a fit", "of them scores", "share"],
        body,
        [Verdict(f"median share {percent(median, 1)}", "<= 25 %", median <= 0.25), Verdict(said)],
    )
