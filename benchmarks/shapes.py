"""What a default fit costs on tables of twelve shapes, beside a random forest of 500 trees on the same rows.

CPU time of one thread; each fit has a process of its own, in which the same estimators were fitted once before on a
small table. With --before, the fits of an earlier version take turns with these: `git worktree add FOLDER COMMIT`, and
--before FOLDER. Prints a table in Markdown, and writes it with --out.

Usage: python benchmarks/shapes.py [--shapes 400x8,512x10] [--seeds 3] [--before FOLDER] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

SEED = 101  # of all draws; the other benchmarks use 0 to 13, 31, 47, 83 and 2020
SOURCE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Shape:
    """Rows, features, and classes; 0 classes for numbers. Tables of genes have correlated columns."""

    rows: int
    features: int
    classes: int
    genes: bool = False

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.features}"

    @property
    def title(self) -> str:
        kind = "numbers" if not self.classes else f"{self.classes} classes"
        return f"{self.rows:,} × {self.features:,}, {kind}{', genes' if self.genes else ''}"


SHAPES = (
    Shape(60, 2_000, 2, genes=True),
    Shape(120, 6_000, 4, genes=True),
    Shape(200, 3_000, 10, genes=True),
    Shape(200, 20_000, 2),
    Shape(400, 8, 2),
    Shape(512, 10, 0),
    Shape(833, 64, 2),
    Shape(1_000, 500, 4),
    Shape(2_000, 100, 0),
    Shape(5_000, 50, 10),
    Shape(20_000, 30, 0),
    Shape(100_000, 20, 2),
)


def draw(shape: Shape, seed: int) -> tuple[Any, Any]:
    """A product of two columns, a third one, and noise; of genes, many weak effects in correlated blocks."""
    rng = np.random.default_rng([SEED, seed, shape.rows, shape.features])
    X = rng.standard_normal((shape.rows, shape.features))
    if shape.genes:
        blocks = rng.standard_normal((shape.rows, shape.features // 20 + 1))
        X = 0.6 * X + 0.8 * blocks[:, np.arange(shape.features) // 20]
        signal = blocks[:, :30] @ rng.uniform(0.5, 1.5, 30) / 5
    else:
        signal = X[:, 0] * X[:, 1] + X[:, 2]
    signal = signal + 0.5 * rng.standard_normal(shape.rows)
    if not shape.classes:
        return X, signal
    return X, np.searchsorted(np.quantile(signal, np.arange(1, shape.classes) / shape.classes), signal)


def cpu_seconds(what: str, shape: Shape, seed: int) -> float:
    """Of one fit; called in a process of its own."""
    import time

    import torch
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from threadpoolctl import threadpool_limits

    from maskrank import DualNetClassifier, DualNetRegressor

    torch.set_num_threads(1)
    forest, ours = (
        (RandomForestClassifier, DualNetClassifier) if shape.classes else (RandomForestRegressor, DualNetRegressor)
    )

    def fit(table: Shape, n_trees: int, **settings: Any) -> None:
        X, y = draw(table, seed)
        model = forest(n_trees, random_state=seed) if what == "forest" else ours(5, random_state=seed, **settings)
        model.fit(X, y)

    with threadpool_limits(1):
        fit(Shape(64, 8, shape.classes and 2), 5, **({} if what == "forest" else {"max_batches": 16}))
        started = time.process_time()
        fit(shape, 500)
        return time.process_time() - started


def measured(what: str, shape: Shape, seed: int, source: Path = SOURCE) -> float:
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--one", what, shape.name, str(seed)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        what, name, seed = sys.argv[2:5]
        print(cpu_seconds(what, next(shape for shape in SHAPES if shape.name == name), int(seed)))
        return
    from sections import commit

    from maskrank.study.markdown import table

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--before", type=Path, help="the folder of an earlier version")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    shapes = [shape for shape in SHAPES if given.shapes is None or shape.name in given.shapes.split(",")]
    lines, over_forest, over_before = [], [], []
    for shape in shapes:
        ours, before, forest = [], [], []
        for seed in range(given.seeds):
            ours.append(measured("ours", shape, seed))
            forest.append(measured("forest", shape, seed))
            if given.before is not None:
                before.append(measured("ours", shape, seed, given.before.resolve()))
        over_forest.append(median(ours) / median(forest))
        cells = [f"{median(ours):.2f}", f"{median(forest):.2f}", f"{over_forest[-1]:.2f}"]
        if before:
            over_before.append(median(ours) / median(before))
            cells += [f"{median(before):.2f}", f"{over_before[-1]:.2f}"]
        lines.append([shape.title, *cells])
        print(lines[-1], file=sys.stderr, flush=True)
    head = ["table", "CPU-seconds", "forest", "over the forest's"]
    head += ["before", "over before"] if given.before is not None else []
    text = f"{table(head, lines)}\n\nOver the forest's: median {median(over_forest):.2f}, most {max(over_forest):.2f}."
    if over_before:
        text += f" Over the time before: median {median(over_before):.2f}, most {max(over_before):.2f}."
    print(text)
    if given.out is not None:
        made = f"`python benchmarks/shapes.py --seeds {given.seeds}`; commit {commit()}, Python "
        made += f"{platform.python_version()}, {os.cpu_count()} cores. CPU time of one thread, medians."
        given.out.write_text(f"# The time of a fit\n\n{made}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
