"""Prediction: rows a second and memory, the start of the command line, the size of model files, and the figures.

Usage: python benchmarks/prediction.py SECTION [--tag 0] [--seeds N] [--jobs 2] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sections
from score_tools import Options, Section, Verdict, in_processes

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.config import DEFAULT

PROG = "prediction.py"
KINDS = ("product", "additive", "linear", "tree")
SIZES = (60, 120, 300, 1_000)  # rows of a table whose figures are measured
N_FRESH = 4_000
ALL_MEMBERS = 1 << 10  # more than there are


def rows_of(kind: str, n: int, d: int, entropy: list[int]) -> tuple[Any, Any]:
    """A table (n, d), and numbers (n,) that depend on some of its columns, without noise."""
    X = np.random.default_rng(entropy).standard_normal((n, d))
    if kind == "product":
        return X, 2 * X[:, 0] * X[:, 1] + X[:, 2]
    if kind == "additive":
        return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + X[:, 2] + 0.7 * np.sign(X[:, 3])
    if kind == "linear":
        return X, X[:, :6] @ np.array([1, 0.8, 0.6, -0.5, 0.4, 0.3])
    below, above = np.where(X[:, 2] > -0.3, 1.0, -2.0), np.where(X[:, 1] > 0.5, 2.0, -1.0)
    return X, np.where(X[:, 0] > 0, above, below)


PREDICT = """
import json, resource, sys, time
import numpy as np
import maskrank
model = maskrank.load(sys.argv[1])
X = np.random.default_rng(0).standard_normal((int(sys.argv[2]), model.n_features_in_))
model.predict(X[:1000])
wall, cpu = time.perf_counter(), time.process_time()
model.predict(X)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def fitted(options: Options, task: str, size: int, n: int, seed: int = 0, **settings: Any) -> tuple[Any, Any, Any]:
    """A model of so many features, and fresh rows with their targets."""
    kind = KINDS[seed % len(KINDS)]
    X, y = rows_of(kind, n + N_FRESH, max(size, 12 if size < 10 else size), options.entropy(seed, n))
    noise = np.random.default_rng(options.entropy(seed, n, 1))
    if task == "classes":
        y = (y + 0.6 * noise.logistic(size=len(y)) > 0).astype(int)
        make: Any = DualNetClassifier
    else:
        y = y + 0.7 * noise.standard_normal(len(y))
        make = DualNetRegressor
    model = make(size, random_state=options.random_state(seed, n), **settings)
    return model.fit(X[:n], y[:n]), X[n:], y[n:]


def speed(options: Options) -> Section:
    """`model.predict` for 1,000,000 rows of 10 features, all chosen, in a process of its own; memory is its peak."""
    body, fastest, most = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seeds):
            task = ("classes", "numbers")[seed % 2]
            model, _, _ = fitted(options, task, 10, 1_000, seed)
            model.save(Path(folder) / "m")
            done = subprocess.run(
                [sys.executable, "-c", PREDICT, str(Path(folder) / "m"), "1000000"],
                capture_output=True,
                text=True,
                check=True,
            )
            wall, cpu, memory = json.loads(done.stdout)
            fastest.append(1e6 / wall)
            most.append(memory)
            members = len(model.predictor_.weights[0])
            encoded = 0 if model.predictor_.bins is None else len(model.predictor_.bins.weights)
            figures = [f"{members} ({encoded})", f"{1e6 / wall:,.0f}", f"{cpu:.2f}", f"{memory:.0f} MB"]
            body.append([f"{task}, {KINDS[seed % len(KINDS)]}", *figures])
    return Section(
        ["table", "nets (encoded)", "rows a second", "CPU-seconds", "memory"],
        body,
        [
            Verdict(f"{min(fastest):,.0f} rows a second at least", "400,000", min(fastest) >= 400_000),
            Verdict(f"{max(most):.0f} MB at most", "500", max(most) <= 500),
        ],
    )


def cpu_seconds(*words: str) -> float:
    """User and system time of a command, where Python may keep compiled modules, as it does unless told otherwise."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "maskrank", *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(options: Options) -> Section:
    """CPU-seconds of a whole command: the ranking of a CSV of 400 × 8, and predictions for 10 of its rows."""
    X, y = rows_of("product", 400, 8, options.entropy(0))
    frame = pd.DataFrame(X.round(4), columns=[f"f{j}" for j in range(8)]).assign(y=(y > 0).astype(int))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_csv(folder / "t.csv", index=False)
        frame.head(10).to_csv(folder / "ten.csv", index=False)
        rank = ("rank", str(folder / "t.csv"), "--target", "y", "--quiet", "--model", str(folder / "m"))
        cpu_seconds(*rank)  # the first run compiles modules
        ranking = [cpu_seconds(*rank) for _ in range(options.seeds)]
        predicting = [cpu_seconds("predict", str(folder / "m"), str(folder / "ten.csv")) for _ in range(options.seeds)]
    times = {"rank, 400 rows": ranking, "predict, 10 rows": predicting}
    return Section(
        ["command", "median", "best", "worst"],
        [[name, *(f"{f(t):.2f}" for f in (np.median, min, max))] for name, t in times.items()],
        [
            Verdict(f"rank {np.median(ranking):.2f} CPU-seconds", "at most 3.5", bool(np.median(ranking) <= 3.5)),
            Verdict(f"predict {np.median(predicting):.2f}", "at most 1.5", bool(np.median(predicting) <= 1.5)),
        ],
    )


def size_of(options: Options, task: str, size: int, n: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        fitted(options, task, size, n, seed)[0].save(Path(folder) / "m")
        return (Path(folder) / "m").stat().st_size


def sizes(options: Options) -> Section:
    """Bytes of a model file, the largest of several tables."""
    kinds = [(task, size, n) for task in ("classes", "numbers") for size in (3, 10) for n in SIZES]
    jobs = [(*kind, seed) for kind in kinds for seed in range(options.seeds)]
    found = np.array(in_processes(size_of, options, jobs)).reshape(len(kinds), -1).max(axis=1)
    body = [
        [f"{task}, {n:,} rows, s = {s}", f"{most / 1e3:.0f} kB"]
        for (task, s, n), most in zip(kinds, found, strict=True)
    ]
    largest = int(found.max())
    return Section(["model", "file"], body, [Verdict(f"{largest / 1e3:.0f} kB", "at most 300", largest <= 300_000)])


def losses(options: Options, task: str, n: int, seed: int) -> tuple[float, float, float, float]:
    """Log-loss or squared error on fresh rows, of the predictor as it is and of all its nets; and errors."""
    out = []
    for config in (DEFAULT, DEFAULT.using(predictor__max_members=ALL_MEMBERS)):
        model, X, y = fitted(options, task, 6, n, seed, preset=config)
        if task == "classes":
            likely = model.predict_proba(X).clip(1e-6, 1)[np.arange(len(y)), y]
            out.append((-np.log(likely).mean(), (model.predict(X) != y).mean()))
        else:
            out.append((np.square(model.predict(X) - y).mean(),) * 2)
    (loss, error), (of_all, error_of_all) = out
    return float(loss), float(of_all), float(error), float(error_of_all)


def figures(options: Options) -> Section:
    """At most six nets against all of them: what the loss and the error on 4,000 fresh rows become, in per cent.

    Six features of twelve; log-loss and misclassified rows for two classes, squared error for numbers; the seeds take
    four kinds of tables in turn. Means over the seeds, ± standard error.
    """
    kinds = [(task, n) for task in ("classes", "numbers") for n in SIZES]
    jobs = [(*kind, seed) for kind in kinds for seed in range(options.seeds)]
    found = np.array(in_processes(losses, options, jobs)).reshape(len(kinds), options.seeds, 4)
    change = 100 * (found[..., [0, 2]] / found[..., [1, 3]] - 1)  # (kinds, seeds, loss and error)

    def shown(values: Any) -> str:
        return f"{values.mean():+.2f} ± {values.std(ddof=1) / np.sqrt(values.size):.2f}"

    body = [
        [f"{task}, {n:,} rows", *(shown(some) for some in one.T)] for (task, n), one in zip(kinds, change, strict=True)
    ]
    body.append(["all", *(shown(change[..., k]) for k in (0, 1))])
    verdicts = []
    for k, name in enumerate(("loss", "error")):
        values = change[..., k]
        error = values.std(ddof=1) / np.sqrt(values.size)
        verdicts.append(Verdict(f"{name} {shown(values)} %", "within one standard error", values.mean() <= error))
    return Section(["table", "loss, %", "error, %"], body, verdicts)


SECTIONS: sections.Sections = {
    "speed": (speed, 4),
    "commands": (commands, 5),
    "sizes": (sizes, 2),
    "figures": (figures, 8),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return sections.parsers(SECTIONS, PROG, __doc__)[0].parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
