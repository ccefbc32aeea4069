"""Needles in a haystack: a few relevant features among more and more irrelevant ones (Passemiers et al.).

Four problems of 1,000 rows and d = 2, 4, ..., 2,048 uniform features of which 2 to 6 matter, and a causal graph of
2,000 features whose target has some dozens of ancestors. Six folds, unshuffled; in each the columns are permuted, five
sixths of the rows are learned from, and every method scores all features.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from maskrank.baselines import make_baseline
from maskrank.datasets import Problem, make_dag, make_ring, make_ring_xor, make_ring_xor_sum, make_xor_pair
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
DAG, DAG_WIDTH, DAG_SIZE = "DAG", 2000, 20  # of its dozens of ancestors, most add nothing to the nearest ones
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
_SHOWN_WIDTHS = (8, 128, 2048)
# best-k in % from the result files of Passemiers et al., by (problem, d); not every method has every figure there.
PUBLISHED: dict[str, dict[tuple[str, int], float]] = {
    "random forest": {
        **{("RING", 128): 100, ("RING", 2048): 100, ("XOR", 128): 17, ("XOR", 2048): 0},
        **{("RING+XOR", 8): 100, ("RING+XOR", 128): 100, ("RING+XOR", 2048): 67},
        **{("RING+XOR+SUM", 8): 97, ("RING+XOR+SUM", 128): 97, ("RING+XOR+SUM", 2048): 58, (DAG, DAG_WIDTH): 21},
    },
    "TreeSHAP": {
        **{("RING", 128): 100, ("RING", 2048): 100, ("XOR", 128): 0, ("XOR", 2048): 0},
        **{("RING+XOR", 128): 100, ("RING+XOR", 2048): 54},
        **{("RING+XOR+SUM", 8): 100, ("RING+XOR+SUM", 128): 94, ("RING+XOR+SUM", 2048): 44, (DAG, DAG_WIDTH): 29},
    },
    "LassoNet": {
        **{("RING", 128): 0, ("RING", 2048): 0, ("XOR", 128): 100, ("XOR", 2048): 0},
        **{("RING+XOR", 128): 50, ("RING+XOR", 2048): 0},
        **{("RING+XOR+SUM", 128): 56, ("RING+XOR+SUM", 2048): 33, (DAG, DAG_WIDTH): 14},
    },
    "DeepPINK": {
        **{("RING", 128): 0, ("RING", 2048): 0, ("XOR", 128): 0, ("XOR", 2048): 0},
        **{("RING+XOR", 128): 4, ("RING+XOR", 2048): 0},
        **{("RING+XOR+SUM", 128): 42, ("RING+XOR+SUM", 2048): 28, (DAG, DAG_WIDTH): 14},
    },
}
PUBLISHED_DAG_AUC = 75.4  # the best of all methods there


def run_needles(
    out: Path,
    *,
    methods: Sequence[str] = METHODS,
    widths: Sequence[int] = WIDTHS,
    problems: Sequence[str] = (*PROBLEMS, DAG),
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
        for problem, d in _tables(problems, widths)
        for fold in range(folds)
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


def _tables(problems: Sequence[str], widths: Sequence[int]) -> list[tuple[str, int]]:
    """Problems and their numbers of features; the graph has its own, and comes where so many are asked for."""
    found = [(name, d) for d in widths for name in PROBLEMS if name in problems and d >= _LEAST_WIDTH[name]]
    return [*found, (DAG, DAG_WIDTH)] if DAG in problems and max(widths, default=0) >= DAG_WIDTH else found


def fit_one(job: Job) -> Result:
    """One method on one fold: how well it finds the relevant features and predicts, and how long it takes.

    ``auc`` is that of the method's own predictions for the rows held out; None for methods that only rank.
    """
    learned, held_out = _parts(job["problem"], job["d"], job["fold"], job["seed"])
    size = DAG_SIZE if job["problem"] == DAG else len(learned.relevant)
    started = time.perf_counter()
    scores, model = _scores(job["method"], learned, min(size, job["d"] - 1), job["fold"])
    seconds = time.perf_counter() - started
    likely = None if model is None else model.predict_proba(held_out.X)[:, 1]
    return {
        "best_p": best_p(scores, learned.relevant),
        "best_2p": best_p(scores, learned.relevant, times=2),
        "auprc": auprc(scores, learned.relevant),
        "auc": None if likely is None else float(roc_auc_score(held_out.y, likely)),
        "seconds": round(seconds, 3),
    }


def fold_of(name: str, d: int, fold: int, seed: int) -> Problem:
    """The rows that a fold learns from, with its own order of the columns; features from -1 to 1."""
    return _parts(name, d, fold, seed)[0]


def _parts(name: str, d: int, fold: int, seed: int) -> tuple[Problem, Problem]:
    """The rows that a fold learns from, and those that it holds out."""
    make = make_dag if name == DAG else PROBLEMS[name]
    X, y, relevant = make(_ROWS, d, random_state=np.random.default_rng([seed, d]))
    held_out = np.array_split(np.arange(_ROWS), FOLDS)[fold]
    columns = np.random.default_rng([seed, d, fold]).permutation(d)
    places = np.flatnonzero(np.isin(columns, relevant))
    parts = np.delete(np.arange(_ROWS), held_out), held_out
    learned, rest = (Problem(2 * X[np.ix_(part, columns)] - 1, y[part], places) for part in parts)
    return learned, rest


def _scores(method: str, problem: Problem, size: int, seed: int) -> tuple[Any, Any]:
    """Scores of all features (d,), and what predicts, if anything does."""
    X, y, _ = problem
    d = X.shape[1]
    if method == "dualnet":
        model = DualNetClassifier(size, random_state=seed).fit(X, y)
        order = model.result_.order
    else:
        baseline = make_baseline(method, size, random_state=seed, **_SETTINGS.get(method, {})).fit(X, y)
        order, model = baseline.order_, baseline.model_ if method == "rf" else None
    scores = np.empty(d)
    scores[order] = np.arange(d, 0, -1)
    return scores, model


def summary(fits: pd.DataFrame) -> str:
    """One screen: best-p averaged over the widths, by width for the exclusive or, and the seconds of a fit."""
    needles = fits[fits["problem"] != DAG]
    parts = []
    if len(needles):
        parts += ["best-p in %, averaged over widths and folds", "", _mean_table(needles, "best_p"), ""]
    xor = fits[fits["problem"] == "XOR"]
    if len(xor):
        parts += ["best-p in %, XOR by the number of features", "", _width_table(xor, "best_p"), ""]
    if len(needles) < len(fits):
        parts += ["a causal graph of 2,000 features", "", dag_table(fits), ""]
    return "\n".join([*parts, "seconds of a fit", "", _seconds_table(fits)])


def tables(fits: pd.DataFrame) -> str:
    """All figures in Markdown: beside the published ones, averaged over the widths, and by width."""
    parts = ["# Needles in a haystack", "", f"{len(fits)} fits; averages over folds, and over widths where not shown."]
    parts += beside_published(fits)
    needles = fits[fits["problem"] != DAG]
    for metric, title in (("best_p", "best-p, %"), ("best_2p", "best-2p, %"), ("auprc", "AUPRC, %")):
        measured = needles.dropna(subset=[metric])
        if len(measured):
            parts += ["", f"## {title}", "", _mean_table(measured, metric)]
        for problem, some in measured.groupby("problem", sort=False):
            parts += ["", f"### {title}: {problem}", "", _width_table(some, metric)]
    return "\n".join([*parts, "", "## Seconds per fit", "", _seconds_table(fits), ""])


def beside_published(fits: pd.DataFrame) -> list[str]:
    """best-k and best-2k at some widths, with the published best-k below; and the graph's."""
    grid = 100 * fits.groupby(["method", "problem", "d"], sort=False)[["best_p", "best_2p"]].mean()
    places = [
        (name, d) for name in PROBLEMS for d in _SHOWN_WIDTHS if ((fits["problem"] == name) & (fits["d"] == d)).any()
    ]
    lines = []
    for method in dict.fromkeys(fits["method"]):
        both = [grid.loc[(method, *place)] if (method, *place) in grid.index else None for place in places]
        lines.append([method, *(_both(one) for one in both)])
    for method, known in PUBLISHED.items():
        lines.append([f"{method}, published", *(f"{known[place]:.0f}" if place in known else "" for place in places)])
    parts = []
    if places:
        head = ["best-k / best-2k, %", *(f"{name}, {d:,}" for name, d in places)]
        parts += ["", "## Beside the published figures (best-k)", "", table(head, lines)]
    if (fits["problem"] == DAG).any():
        parts += ["", "## A causal graph of 2,000 features", "", dag_table(fits)]
    return parts


def _both(one: pd.Series | None) -> str:
    """best-k and best-2k of a cell, which earlier fits do not have."""
    if one is None:
        return ""
    return f"{one.best_p:.0f}" if pd.isna(one.best_2p) else f"{one.best_p:.0f} / {one.best_2p:.0f}"


def dag_table(fits: pd.DataFrame) -> str:
    """Ancestors among the best k and 2k, and the AUC of predictions; another draw of the graph than the published."""
    some = fits[fits["problem"] == DAG].groupby("method", sort=False)[["best_p", "best_2p", "auc"]].mean()
    shown = [[name, *("" if pd.isna(v) else f"{100 * v:.1f}" for v in row)] for name, row in some.iterrows()]
    best = {name: known[DAG, DAG_WIDTH] for name, known in PUBLISHED.items()}
    shown += [[f"{name}, published", f"{value:.0f}", "", ""] for name, value in best.items()]
    shown.append(["best of all methods, published", "", "", f"{PUBLISHED_DAG_AUC}"])
    return table(["method", "best-k, %", "best-2k, %", "AUC, %"], shown)


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
    problems = [name for name in dict.fromkeys(fits["problem"]) if name != DAG]
    figure = new_figure(3.2 * max(1, len(problems)), 3.2)
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
