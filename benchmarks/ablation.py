"""What each piece of the method is worth: the default without it, on problems with a known answer.

Every row is a change of the config, every column a problem; a cell is the mean quality over seeds with its standard
error, the last column the CPU time of the fits beside the default's on the same problems. "+" and "-" mark cells more
than two standard errors above or below the default's, by paired differences. A row is run where its piece has something
to act on; --everywhere runs all cells. Values are kept in --cache as they come, so that a run that was stopped goes on.

Usage: python benchmarks/ablation.py [--rows A,B] [--problems C;D] [--everywhere] [--seeds 10] [--jobs 2]
       [--cache FILE] [--out FILE] [--change "title: name=value, name=value"]
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ablation_problems import GENE_TABLES, PROBLEMS
from joblib import Parallel, delayed
from sections import commit
from threadpoolctl import threadpool_limits

from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.core.config.predictor import Recipe
from maskrank.study.markdown import table

NARROW = ("XOR", "regression", "orange skin")
GENES = tuple(f"{name}, s = 10" for name in GENE_TABLES)
TWICE = ("RING+XOR+SUM, 30,", "RING+XOR+SUM, 300,")  # twice as many features are asked for as matter
HARDEST = "RING+XOR+SUM, 1,024"  # of the needles: each kind of them, and far more noise than signal


def recipes_without(left_out: Callable[[Recipe], bool]) -> dict[str, Any]:
    """The predictor has as many nets as before, of the recipes that remain."""
    return {"predictor__recipes": tuple(recipe for recipe in DEFAULT.predictor.recipes if not left_out(recipe))}


# What is switched off, and where it has something to act on (the beginnings of the problems' names).
WITHOUT: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "all proposals": ({"proposal__enabled": False}, (HARDEST,)),
    "pairs": ({"proposal__screening__pairs": False}, (HARDEST,)),
    "joint test of pairs": ({"proposal__screening__joint_pairs": False}, (HARDEST,)),
    "residuals": ({"proposal__screening__residual_rounds": 0}, (*TWICE, HARDEST, "product")),
    "whole curves in the pursuit": ({"proposal__screening__max_feature_share": 0.0}, ("copies",)),
    "correlated features": ({"proposal__screening__correlated": False}, ("Madelon",)),
    "triples": ({"proposal__wide__triple_flops": 0.0}, ("parity",)),
    "extension of tuples": ({"proposal__wide__max_tuple": 2}, ("nested",)),
    "lasso path": ({"proposal__screening__lasso_steps": 0}, ("weak",)),
    "elimination": ({"proposal__elimination__enabled": False}, GENES[3:6]),
    "guided exploration": (
        {"proposal__exploration__enabled": False},
        (HARDEST, "Madelon", "RING+XOR, 256", "regression, 300"),
    ),
    "calibration": ({"calibration__n_subsets": 0}, (*NARROW, "agreement")),
    "tournament": ({"tournament__enabled": False}, (HARDEST, "Madelon")),
    "evidence in the tournament": ({"tournament__weighs_evidence": False}, (HARDEST,)),
    "reselection": ({"reselection__enabled": False}, GENES),
    "normal scores": ({"encoding__normal_scores": False}, ("heavy tails",)),
    "additive nets": (recipes_without(lambda recipe: recipe.additive), NARROW),
    "input noise": (
        recipes_without(lambda recipe: recipe.input_noise > 0),
        (*NARROW, "accuracy, RING+XOR, 30", "digits"),
    ),
    "piecewise-linear encoding": (recipes_without(lambda recipe: recipe.encoded), (*NARROW, "steps")),
}

Cell = tuple[str, str, int]  # row, problem, seed
Value = tuple[float, float]  # quality, CPU-seconds
Rows = dict[str, tuple[dict[str, Any], tuple[str, ...]]]


def measure(config: TrainConfig, problem: str, seed: int) -> Value:
    torch.set_num_threads(1)
    with threadpool_limits(1):
        started = time.process_time()
        quality = PROBLEMS[problem](config, seed)
        return quality, time.process_time() - started


def cells_of(rows: Rows, seeds: int) -> list[Cell]:
    """Seed by seed; the default stands beside each problem that a row is run on."""
    wanted: dict[Cell, None] = {}
    for seed in range(seeds):
        for name, (_, problems) in rows.items():
            for problem in problems:
                wanted["default", problem, seed] = wanted[name, problem, seed] = None
    return list(wanted)


def measured(rows: Rows, seeds: int, jobs: int, cache: Path | None) -> dict[Cell, Value]:
    """The values of all cells, those in the cache as they are."""
    changes = {"default": {}, **{name: change for name, (change, _) in rows.items()}}
    found: dict[Cell, Value] = {}
    if cache is not None and cache.exists():
        for line in cache.read_text().splitlines():
            row, change, problem, seed, quality, cpu = json.loads(line)
            if change == repr(changes.get(row)):
                found[row, problem, seed] = quality, cpu
    cells = cells_of(rows, seeds)
    missing = [cell for cell in cells if cell not in found]
    tasks = (delayed(measure)(DEFAULT.using(**changes[row]), problem, seed) for row, problem, seed in missing)
    results = Parallel(jobs, return_as="generator")(tasks)
    for (row, problem, seed), value in zip(missing, results, strict=True):
        found[row, problem, seed] = value
        if cache is not None:
            with cache.open("a") as file:
                file.write(json.dumps([row, repr(changes[row]), problem, seed, *value]) + "\n")
    return {cell: found[cell] for cell in cells}


def cell_text(values: np.ndarray, default: np.ndarray) -> str:
    """Mean ± standard error in per cent, with a mark where it differs from the default's."""
    n = len(values)
    error = 100 * values.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    apart = values - default
    of_mean = apart.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    mark = "" if abs(apart.mean()) <= 2 * of_mean + 1e-12 else " +" if apart.mean() > 0 else " -"
    return f"{100 * values.mean():.1f} ± {error:.1f}{mark}"


def document(found: dict[Cell, Value], rows: Rows, seeds: int) -> str:
    """One column a problem; a cell that was not run is empty."""
    problems = [name for name in PROBLEMS if ("default", name, 0) in found]
    values = {
        (row, problem): np.array([found[row, problem, seed] for seed in range(seeds)])  # (seeds, 2)
        for row, problem, seed in found
        if seed == 0
    }
    lines = []
    for row in ("default", *rows):
        cells, ratios = [], []
        for problem in problems:
            mine, default = values.get((row, problem)), values["default", problem]
            cells.append("" if mine is None else cell_text(mine[:, 0], default[:, 0]))
            if mine is not None:
                ratios.append(mine[:, 1].sum() / default[:, 1].sum())
        lines.append([row, *cells, f"{np.exp(np.mean(np.log(ratios))):.2f}"])
    return table(["without", *problems, "CPU time"], lines)


def chosen_rows(given: argparse.Namespace) -> Rows:
    """Those asked for by name and by change, each with its problems."""
    starts = None if given.problems is None else [start.strip() for start in given.problems.split(";")]
    asked = [name for name in PROBLEMS if starts is None or any(name.startswith(start) for start in starts)]
    rows: Rows = {}
    for name, (change, where) in WITHOUT.items():
        if given.rows is None or name in given.rows.split(","):
            acts = [p for p in asked if given.everywhere or any(p.startswith(start) for start in where)]
            rows[name] = change, tuple(acts)
    for text in given.change:
        title, _, body = text.partition(":")
        call = ast.parse(f"f({body})", mode="eval").body
        assert isinstance(call, ast.Call)
        rows[title] = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}, tuple(asked)
    return {name: row for name, row in rows.items() if row[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="separated by commas")
    parser.add_argument("--problems", help="separated by semicolons; the beginning of a name is enough")
    parser.add_argument("--everywhere", action="store_true", help="all cells, not only those where a piece acts")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--change", action="append", default=[], help="a further row: 'title: name=value, ...'")
    given = parser.parse_args()
    rows = chosen_rows(given)
    text = document(measured(rows, given.seeds, given.jobs, given.cache), rows, given.seeds)
    print(text)
    if given.out is not None:
        command = "python benchmarks/ablation.py" + (f' --rows "{given.rows}"' if given.rows else "")
        made = f"`{command} --seeds {given.seeds}`; commit {commit()}. Quality in per cent ± standard error."
        given.out.write_text(f"# What each piece is worth\n\n{made}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
