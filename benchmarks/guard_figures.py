"""The figures that `make guard` watches: what each one is, and how one value of it is measured.

A measurement is repeated over seeds, or over folds, that no other benchmark uses; several figures may be read off the
same fit. Qualities depend on the seed alone: one thread, no clock. Times and peak memory are taken in a process of
their own: ``python benchmarks/guard_figures.py time|memory ROWS FEATURES SEED`` prints one value.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import (
    load_dataset,
    make_nonlinear_regression,
    make_orange_skin,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)
from maskrank.study.metrics import best_p

SEED = 31  # of draws and folds; the other benchmarks use 0 to 13 and 2020
PAPER_PROBLEMS = {
    "XOR": (make_xor, DualNetClassifier),
    "regression": (make_nonlinear_regression, DualNetRegressor),
    "orange skin": (make_orange_skin, DualNetClassifier),
}
NEEDLES = {"xor pair": make_xor_pair, "RING+XOR": make_ring_xor, "RING+XOR+SUM": make_ring_xor_sum}
ENHANCER = "gm12878_200bp_3cl"
TIMED_SHAPES = ((512, 10), (833, 64), (5_000, 50), (150, 2_000))
MEMORY_SHAPES = ((100, 20_000), (20_000, 100))
# glibc adapts these limits as a process runs; then the peak of one and the same fit is 130 MB or 315 MB, by chance
_GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "1048576"}


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes
    ----------
    name : str
    unit : str
    digits : int
        Behind the decimal point, where the figure is shown.
    higher_is_better : bool
    kind : {"quality", "time", "memory"}
        A quality is reproducible for a fixed seed; time and memory are not.
    """

    name: str
    unit: str
    digits: int = 3
    higher_is_better: bool = True
    kind: str = "quality"


@dataclass(frozen=True)
class Measurement:
    """Figures that are measured together: ``measure(seed)`` returns one value of each."""

    group: str
    figures: tuple[Figure, ...]
    measure: Callable[[int], tuple[float, ...]]
    repeats: int
    data: str | None = None

    @property
    def kind(self) -> str:
        return self.figures[0].kind


def run(measurement: Measurement, seed: int) -> tuple[float, ...]:
    """One value of each figure, with one thread."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        return measurement.measure(seed)


def paper_problem(name: str, seed: int) -> tuple[float, float]:
    """Whether all relevant features lead the ranking; accuracy, or mean squared error, on 4,096 fresh rows."""
    make, kind = PAPER_PROBLEMS[name]
    X, y, relevant = make(512, random_state=[SEED, seed, 0])
    X_test, y_test, _ = make(4096, random_state=[SEED, seed, 1])
    model = kind(5, random_state=seed).fit(X, y)
    predicted = model.predict(X_test)
    error = np.square(predicted - y_test).mean() if kind is DualNetRegressor else (predicted == y_test).mean()
    return float(model.ranking_[relevant].max() == len(relevant)), float(error)


def needles(name: str, d: int, seed: int) -> tuple[float]:
    """best-p by the ranking, where as many features are asked for as are relevant."""
    X, y, relevant = NEEDLES[name](1000, d, random_state=[SEED, seed, d])
    model = DualNetClassifier(len(relevant), random_state=seed).fit(X, y)
    return (best_p(-model.ranking_, relevant),)


def needles_twice_as_many(name: str, d: int, seed: int) -> tuple[float, float]:
    """best-p by the ranking and by the scores, where twice as many features are asked for as are relevant."""
    X, y, relevant = NEEDLES[name](1000, d, random_state=[SEED, seed, d])
    model = DualNetClassifier(2 * len(relevant), random_state=seed).fit(X, y)
    return best_p(-model.ranking_, relevant), best_p(model.feature_importances_, relevant)


def cross_validated(name: str, sizes: tuple[int, ...], seed: int) -> tuple[float]:
    """Accuracy on one of five folds, averaged over sizes; seeds 5 to 9 are the folds of another shuffle."""
    data = load_dataset(name)
    shuffle, fold = divmod(seed, 5)
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED + shuffle)
    train, test = list(folds.split(data.X, data.y))[fold]
    models = (DualNetClassifier(size, random_state=seed).fit(data.X[train], data.y[train]) for size in sizes)
    return (float(np.mean([model.score(data.X[test], data.y[test]) for model in models])),)


def enhancer(seed: int) -> tuple[float]:
    """Accuracy on the published test rows, as in `maskrank study enhancer`."""
    data = load_dataset(ENHANCER)
    learned, test = np.concatenate([data.splits["train"], data.splits["validation"]]), data.splits["test"]
    model = DualNetClassifier(35, random_state=SEED + seed).fit(data.X[learned], data.y[learned])
    return (float(model.score(data.X[test], data.y[test])),)


def shuffled_labels(seed: int) -> tuple[float]:
    """Whether a fit says that nothing predicts the shuffled target; paper problems and needles, interleaved."""
    name = [*PAPER_PROBLEMS, *NEEDLES][seed % (len(PAPER_PROBLEMS) + len(NEEDLES))]
    make, kind = PAPER_PROBLEMS.get(name) or (partial(NEEDLES[name], n_features=30), DualNetClassifier)
    X, y, _ = make(512, random_state=[SEED, seed, 2])
    y = np.random.default_rng([SEED, seed, 3]).permutation(y)
    return (float(not kind(4, random_state=seed).fit(X, y).signal_),)


def in_own_process(what: str, rows: int, columns: int, seed: int) -> tuple[float]:
    command = [sys.executable, __file__, what, str(rows), str(columns), str(seed)]
    environment = {**os.environ, **(_GIVE_BACK if what == "memory" else {})}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return (float(json.loads(done.stdout)),)


def table_of_shape(rows: int, columns: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng([SEED, seed, rows, columns])
    X = rng.standard_normal((rows, columns))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def time_over_forest(rows: int, columns: int, seed: int) -> float:
    """CPU time of a fit over that of a random forest of 500 trees on the same rows."""
    X, y = table_of_shape(rows, columns, seed)
    DualNetClassifier(2, max_batches=16, random_state=0).fit(*make_xor(64, random_state=0)[:2])  # loads modules
    started = cpu_seconds()
    DualNetClassifier(5, random_state=seed).fit(X, y)
    ours = cpu_seconds() - started
    started = cpu_seconds()
    RandomForestClassifier(500, n_jobs=1, random_state=seed).fit(X, y)
    return ours / (cpu_seconds() - started)


def cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_memory(rows: int, columns: int, seed: int) -> float:
    """Megabytes at the peak, data included, beyond what importing the libraries takes."""
    imported = _peak_megabytes()
    DualNetClassifier(5, random_state=seed).fit(*table_of_shape(rows, columns, seed))
    return _peak_megabytes() - imported


def _peak_megabytes() -> float:
    """The most this process had resident; what ``getrusage`` says may be the peak of the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2  # bytes on macOS


def _paper_figures(name: str) -> tuple[Figure, Figure]:
    on_top = Figure(f"{name}: relevant features on top", "share of fits")
    if name == "regression":
        return on_top, Figure(f"{name}: mean squared error", "MSE", 4, higher_is_better=False)
    return on_top, Figure(f"{name}: accuracy", "accuracy", 4)


def _all_measurements() -> list[Measurement]:
    several = [
        Measurement(name.lower().replace(" ", "-"), _paper_figures(name), partial(paper_problem, name), 16)
        for name in PAPER_PROBLEMS
    ]
    several += [
        Measurement(f"needles-{d}", (Figure(f"{name} among {d}, s = p", "best-p"),), partial(needles, name, d), 8)
        for d in (64, 512)
        for name in NEEDLES
    ]
    for d in (30, 300):
        for name in ("RING+XOR", "RING+XOR+SUM"):
            orders = tuple(Figure(f"{name} among {d}, s = 2p, by {by}", "best-p") for by in ("ranking", "score"))
            several.append(Measurement(f"twice-{d}", orders, partial(needles_twice_as_many, name, d), 10))
    for group, name, sizes, repeats in (
        ("tox171", "tox171", (10,), 10),
        ("glass", "glass", (4, 5, 6), 5),
        ("glass", "glass_without_id", (4, 5, 6), 5),
    ):
        title = f"{name}, s = {' to '.join(map(str, (sizes[0], sizes[-1])[: len(sizes)]))}"
        measure = partial(cross_validated, name, sizes)
        several.append(Measurement(group, (Figure(title, "accuracy", 4),), measure, repeats, data=name))
    several.append(
        Measurement("enhancer", (Figure("enhancer, s = 35", "accuracy", 4),), enhancer, 8, data=ENHANCER),
    )
    nothing = Figure("shuffled labels: signal_ is False", "share of fits")
    several.append(Measurement("shuffled", (nothing,), shuffled_labels, 12))
    for what, title, unit, digits, shapes, repeats in (
        ("time", "time over a forest's", "×", 2, TIMED_SHAPES, 3),
        ("memory", "peak memory", "MB", 0, MEMORY_SHAPES, 2),
    ):
        for rows, columns in shapes:
            figure = Figure(f"{title}, {rows:,} × {columns:,}", unit, digits, higher_is_better=False, kind=what)
            several.append(Measurement(what, (figure,), partial(in_own_process, what, rows, columns), repeats))
    return several


MEASUREMENTS = _all_measurements()


if __name__ == "__main__":
    torch.set_num_threads(1)
    with threadpool_limits(1):
        print(json.dumps({"time": time_over_forest, "memory": peak_memory}[sys.argv[1]](*map(int, sys.argv[2:]))))
