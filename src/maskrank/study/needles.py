"""Needles in a haystack: a few relevant features among more and more irrelevant ones (Passemiers et al.).

Four problems of 1,000 rows and d = 2, 4, ..., 2,048 uniform features of which 2 to 6 matter. Six folds, unshuffled;
in each the columns are permuted, five sixths of the rows are learned from, and every method scores all features.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank.baselines import make_baseline
from maskrank.datasets import Problem, make_ring, make_ring_xor, make_ring_xor_sum, make_xor_pair
from maskrank.estimators import DualNetClassifier
from maskrank.files import write_atomically
from maskrank.study.figures import new_figure, save_png
from maskrank.study.markdown import table
from maskrank.study.metrics import auprc, best_p
from maskrank.study.runner import Job, Result, one_by_one, run_jobs, written

PROBLEMS = {
    "RING": make_ring,
    "XOR": make_xor_pair,
    "RING+XOR": make_ring_xor,
    "RING+XOR+SUM": make_ring_xor_sum,
}
WIDTHS = tuple(2**k for k in range(1, 12))
FOLDS = 6
METHODS = ("dualnet", "rf", "mrmr", "avgrad")
OPTIONAL = ("lassonet",)
_SETTINGS: dict[str, dict[str, Any]] = {
    "rf": {"n_estimators": 500, "max_depth": None},
    "avgrad": {"hidden": (100, 50)},
}
_ROWS = 1000
_LEAST_WIDTH = {"RING": 2, "XOR": 2, "RING+XOR": 4, "RING+XOR+SUM": 6}


def run_needles(
    out: Path,
    *,
    methods: Sequence[str] = METHODS,
    widths: Sequence[int] = WIDTHS,
    folds: int = FOLDS,
    seed: int = 0,
    n_jobs: int = 1,
    resume: bool = False,
    quiet: bool = False,
    told: Callable[[Result], None] | None = None,
) -> tuple[pd.DataFrame, list[Result]]:
    """Run the study; write ``needles.csv``, ``needles.md`` and ``needles.png`` to a folder.

    Returns
    -------
    fits : DataFrame
        One row for each finished fit.
    failed : list of dict
    """
    new_figure(1, 1)  # without matplotlib it ends here, not after the work
    jobs: list[Job] = [
        {"problem": problem, "d": d, "fold": fold, "method": method, "seed": seed}
        for method in methods
        for d in widths
        for problem in PROBLEMS
        for fold in range(folds)
        if d >= _LEAST_WIDTH[problem]
    ]
    finished, failed = run_jobs(jobs, one_by_one(fit_one), out, n_jobs=n_jobs, resume=resume, quiet=quiet, told=told)
    fits = pd.DataFrame(finished)
    if len(fits):
        failed += written(
            {
                out / "needles.csv": lambda file: write_atomically(file, fits.to_csv(index=False)),
                out / "needles.md": lambda file: write_atomically(file, tables(fits)),
                out / "needles.png": lambda file: _plot(fits, file),
            }
        )
    return fits, failed


def fit_one(job: Job) -> Result:
    """One method on one fold: how well it finds the relevant features, and how long it takes."""
    problem = fold_of(job["problem"], job["d"], job["fold"], job["seed"])
    started = time.perf_counter()
    scores = _scores(job["method"], problem, job["fold"])
    return {
        "best_p": best_p(scores, problem.relevant),
        "auprc": auprc(scores, problem.relevant),
        "seconds": round(time.perf_counter() - started, 3),
    }


def fold_of(name: str, d: int, fold: int, seed: int) -> Problem:
    """The rows that a fold learns from, with its own order of the columns; features from -1 to 1."""
    X, y, relevant = PROBLEMS[name](_ROWS, d, random_state=np.random.default_rng([seed, d]))
    held_out = np.array_split(np.arange(_ROWS), FOLDS)[fold]
    columns = np.random.default_rng([seed, d, fold]).permutation(d)
    learned = np.delete(np.arange(_ROWS), held_out)
    places = np.flatnonzero(np.isin(columns, relevant))
    return Problem(2 * X[np.ix_(learned, columns)] - 1, y[learned], places)


def _scores(method: str, problem: Problem, seed: int) -> Any:
    X, y, relevant = problem
    d = X.shape[1]
    size = min(len(relevant), d - 1)
    if method == "dualnet":
        order = DualNetClassifier(size, random_state=seed).fit(X, y).result_.order
    else:
        order = make_baseline(method, size, random_state=seed, **_SETTINGS.get(method, {})).fit(X, y).order_
    scores = np.empty(d)
    scores[order] = np.arange(d, 0, -1)
    return scores


def summary(fits: pd.DataFrame) -> str:
    """One screen: best-p averaged over the widths, by width for the exclusive or, and the seconds of a fit."""
    parts = ["best-p in %, averaged over widths and folds", "", _mean_table(fits, "best_p")]
    xor = fits[fits["problem"] == "XOR"]
    if len(xor):
        parts += ["", "best-p in %, XOR by the number of features", "", _width_table(xor, "best_p")]
    return "\n".join([*parts, "", "seconds of a fit", "", _seconds_table(fits)])


def tables(fits: pd.DataFrame) -> str:
    """All figures in Markdown: averaged over the widths, and by width."""
    parts = ["# Needles in a haystack", "", f"{len(fits)} fits; averages over folds, and over widths where not shown."]
    for metric, title in (("best_p", "best-p, %"), ("auprc", "AUPRC, %")):
        parts += ["", f"## {title}", "", _mean_table(fits, metric)]
        for problem, some in fits.groupby("problem", sort=False):
            parts += ["", f"### {title}: {problem}", "", _width_table(some, metric)]
    return "\n".join([*parts, "", "## Seconds per fit", "", _seconds_table(fits), ""])


def _mean_table(fits: pd.DataFrame, metric: str) -> str:
    by_width = fits.groupby(["method", "problem", "d"], sort=False)[metric].mean().reset_index()
    return _markdown(100 * by_width.pivot_table(index="method", columns="problem", values=metric, sort=False))


def _width_table(fits: pd.DataFrame, metric: str) -> str:
    return _markdown(100 * fits.pivot_table(index="method", columns="d", values=metric, sort=False))


def _seconds_table(fits: pd.DataFrame) -> str:
    return _markdown(fits.pivot_table(index="method", columns="d", values="seconds", sort=False))


def _markdown(grid: pd.DataFrame) -> str:
    body = [[name, *(f"{value:.1f}" for value in row)] for name, row in zip(grid.index, grid.to_numpy(), strict=True)]
    return table(["method", *map(str, grid.columns)], body)


def _plot(fits: pd.DataFrame, path: Path) -> None:
    """Metric against width, one line per method."""
    problems = list(dict.fromkeys(fits["problem"]))
    figure = new_figure(3.2 * len(problems), 3.2)
    for place, problem in enumerate(problems, 1):
        axes = figure.add_subplot(1, len(problems), place)
        for number, (method, some) in enumerate(fits[fits["problem"] == problem].groupby("method", sort=False)):
            line = 100 * some.groupby("d")["best_p"].mean()
            axes.plot(line.index, line.to_numpy(), marker="osD^v"[number % 5], markersize=4, label=method)
        axes.set_xscale("log", base=2)
        axes.set_ylim(-4, 104)
        axes.set_title(problem, fontsize=10)
        axes.set_xlabel("features")
        axes.grid(alpha=0.3)
        if place == 1:
            axes.set_ylabel("best-p, %")
            axes.legend(fontsize=8)
    save_png(figure, path)
