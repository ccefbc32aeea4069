"""Columns with heavy tails: a table of counts as it is, and what monotone transforms of all columns change.

Usage: python benchmarks/tails.py SECTION [--seeds N] [--tag 0] [--jobs 2] [--out FILE], where SECTION is counts,
monotone or single; MASKRANK_DATA_DIR names the folder with mcf7_200bp.npz. The results are in results/tails.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sections
from score_tools import Options, Section, Verdict, in_processes
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import (
    make_nonlinear_regression,
    make_orange_skin,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
)

PROG = "tails.py"
SIZES = (5, 10)
N_CHOSEN = 5
TABLES: dict[str, Callable[[int], Any]] = {
    "breast cancer": lambda seed: load_breast_cancer(return_X_y=True),
    "wine": lambda seed: load_wine(return_X_y=True),
    "digits": lambda seed: load_digits(return_X_y=True),
    "diabetes": lambda seed: load_diabetes(return_X_y=True),
    "Friedman 1": lambda seed: make_friedman1(500, 12, noise=1.0, random_state=seed),
    "XOR": lambda seed: make_xor(512, random_state=seed),
    "regression": lambda seed: make_nonlinear_regression(512, random_state=seed),
    "orange skin": lambda seed: make_orange_skin(512, random_state=seed),
    "RING+XOR": lambda seed: make_ring_xor(833, 30, random_state=seed),
    "RING+XOR+SUM": lambda seed: make_ring_xor_sum(833, 30, random_state=seed),
}
NUMBERS = ("diabetes", "Friedman 1", "regression")


def cube(X: Any) -> Any:
    """Of standardised columns."""
    scale = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)) ** 3


def log(X: Any) -> Any:
    """Of what lies above a point one tenth of a standard deviation below the least value."""
    return np.log(X - X.min(axis=0) + np.maximum(0.1 * X.std(axis=0), 1e-12))


TRANSFORMS: dict[str, Callable[[Any], Any]] = {"cube": cube, "log": log, "another seed": np.asarray}


def n_changed(options: Options, name: str, how: str) -> int:
    """How many of five features are others than without the transform."""
    X, y = TABLES[name](options.random_state(0) % 2**31)[:2]
    model: Any = DualNetRegressor if name in NUMBERS else DualNetClassifier
    seed = int(how == "another seed")
    plain = model(N_CHOSEN, random_state=0).fit(X, y).support_
    return int((model(N_CHOSEN, random_state=seed).fit(TRANSFORMS[how](X), y).support_ & ~plain).sum())


def monotone(options: Options) -> Section:
    """How many of five chosen features a transform of all columns exchanges; beside it, what another seed does."""
    jobs = [(name, how) for name in TABLES for how in TRANSFORMS]
    found = dict(zip(jobs, in_processes(n_changed, options, jobs), strict=True))
    body = [[name, *(str(found[name, how]) for how in TRANSFORMS)] for name in TABLES]
    most = [max(found[name, how] for name in TABLES) for how in ("cube", "log")]
    text = f"at most {most[0]} by a cube, {most[1]} by a logarithm"
    return Section(["table", *TRANSFORMS], body, [Verdict(text, "1 of 5 on 10 tables", max(most) <= 1)])


def n_changed_by_one(options: Options, name: str, column: int, how: str) -> int:
    """The same where one column is transformed."""
    X, y = TABLES[name](options.random_state(0) % 2**31)[:2]
    model: Any = DualNetRegressor if name in NUMBERS else DualNetClassifier
    changed = np.array(X, dtype=np.float64)
    changed[:, column] = TRANSFORMS[how](changed[:, column : column + 1])[:, 0]
    before, after = (model(N_CHOSEN, random_state=0).fit(some, y).support_ for some in (X, changed))
    return int((after & ~before).sum())


def columns_of(options: Options, name: str, n_random: int = 3) -> list[int]:
    """The five columns that are chosen without a transform, and some that are not."""
    X, y = TABLES[name](options.random_state(0) % 2**31)[:2]
    model: Any = DualNetRegressor if name in NUMBERS else DualNetClassifier
    chosen = model(N_CHOSEN, random_state=0).fit(X, y).support_
    others = np.random.default_rng(options.entropy(0)).permutation(np.flatnonzero(~chosen))[:n_random]
    return [*np.flatnonzero(chosen).tolist(), *others.tolist()]


def single(options: Options) -> Section:
    """How many of five chosen features a transform of one column exchanges: each of the five, and three others."""
    columns = dict(zip(TABLES, in_processes(columns_of, options, [(name,) for name in TABLES]), strict=True))
    jobs = [(name, column, how) for name in TABLES for column in columns[name] for how in ("cube", "log")]
    found = dict(zip(jobs, in_processes(n_changed_by_one, options, jobs), strict=True))
    body = []
    for name in TABLES:
        values = [value for job, value in found.items() if job[0] == name]
        body.append([name, str(len(values)), *(str(values.count(k)) for k in range(3)), str(max(values))])
    within = sum(value <= 1 for value in found.values())
    return Section(
        ["table", "transforms", "none exchanged", "one", "two", "most"],
        body,
        [Verdict(f"at most one in {within} of {len(found)}", "all", within == len(found))],
    )


def counts_table() -> tuple[Any, Any]:
    with np.load(Path(os.environ["MASKRANK_DATA_DIR"]) / "mcf7_200bp.npz") as data:
        return data["X"].astype(np.float64), data["y"]


def judged(options: Options, size: int, fold: int) -> list[list[float]]:
    """Of our features and of a forest's: our figure on held-out training rows; accuracies on the test rows."""
    del options
    X, y = counts_table()
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=7).split(X, y))[fold]
    forest = RandomForestClassifier(300, max_samples=0.5, random_state=fold).fit(X[train], y[train])
    theirs = np.argsort(-forest.feature_importances_)[:size]
    model = DualNetClassifier(size, random_state=fold).fit(X[train], y[train])
    on_theirs = DualNetClassifier("all", random_state=fold).fit(X[train][:, theirs], y[train])
    rows = []
    for net, columns, seen in ((model, model.support_, slice(None)), (on_theirs, theirs, theirs)):
        trees = ExtraTreesClassifier(100, random_state=fold).fit(X[train][:, columns], y[train])
        own = net.score(X[test][:, seen], y[test])
        rows.append([net.figures_["accuracy"].value, own, trees.score(X[test][:, columns], y[test])])
    return rows


def counts(options: Options) -> Section:
    """mcf7_200bp as it is: 7 classes, 39 columns of counts with values up to 60 deviations out, 18,249 rows, 5 folds.

    Ours / the five or ten features of a forest (300 trees); both judged by our figure on held-out training rows, by our
    predictor on the test rows, and by extremely randomised trees on the test rows.
    """
    jobs = [(size, fold) for size in SIZES for fold in range(options.seeds)]
    found = dict(zip(jobs, in_processes(judged, options, jobs), strict=True))
    body = [
        [str(size), str(fold), *(f"{a:.3f} / {b:.3f}" for a, b in zip(*found[size, fold], strict=True))]
        for size, fold in jobs
    ]
    apart = np.array([np.subtract(*found[job]) for job in jobs])  # (jobs, 3)
    for size in SIZES:
        some = apart[[job[0] == size for job in jobs]]
        body.append([str(size), "ours less theirs", *(f"{value:+.4f}" for value in some.mean(axis=0))])
    better = int((apart[:, 0] >= 0).sum())
    return Section(
        ["s", "fold", "held-out rows", "test rows", "test rows, extremely randomised trees"],
        body,
        [
            Verdict(f"at least the forest's on held-out rows in {better} of {len(jobs)}", "all", better == len(jobs)),
            Verdict(f"trees {apart[:, 2].mean():+.4f} on average", "at least 0", bool(apart[:, 2].mean() >= 0)),
        ],
    )


SECTIONS: sections.Sections = {"counts": (counts, 5), "monotone": (monotone, 1), "single": (single, 1)}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return sections.parsers(SECTIONS, PROG, __doc__)[0].parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
