"""What each piece of the method is worth: the default without it, on problems with a known answer.

Every row is a change of the config, every column a problem; a cell is the mean quality over seeds with its standard
error, the last column the CPU time of the fits beside the default's. "+" and "-" mark cells more than two standard
errors above or below the default's, by paired differences. Values are kept in --cache as they come, so that a run
that was stopped goes on.

Usage: python benchmarks/ablation.py [--rows A,B] [--problems C,D] [--seeds 10] [--jobs 2] [--cache FILE] [--out FILE]
       [--change "title: name=value, name=value"]
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ablation_problems import PROBLEMS
from joblib import Parallel, delayed
from sections import commit
from threadpoolctl import threadpool_limits

from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.study.markdown import table

WITHOUT: dict[str, dict[str, Any]] = {
    "default": {},
    "all proposals": {"proposal__enabled": False},
    "pairs": {"proposal__screening__pairs": False},
    "joint test of pairs": {"proposal__screening__joint_pairs": False},
    "residuals": {"proposal__screening__residual_rounds": 0},
    "correlated features": {"proposal__screening__correlated": False},
    "triples": {"proposal__wide__triple_flops": 0.0},
    "elimination": {"proposal__elimination__enabled": False},
    "exchanges": {"proposal__elimination__exchange_rounds": 0},
    "guided exploration": {"proposal__exploration__enabled": False},
    "calibration": {"calibration__n_subsets": 0},
    "tournament": {"tournament__enabled": False},
    "evidence in the tournament": {"tournament__weighs_evidence": False},
    "reselection": {"reselection__enabled": False},
    "normal scores": {"encoding__normal_scores": False},
}

Cell = tuple[str, str, int]  # row, problem, seed
Value = tuple[float, float]  # quality, CPU-seconds


def measure(config: TrainConfig, problem: str, seed: int) -> Value:
    torch.set_num_threads(1)
    with threadpool_limits(1):
        started = time.process_time()
        quality = PROBLEMS[problem](config, seed)
        return quality, time.process_time() - started


def measured(rows: dict[str, dict[str, Any]], problems: list[str], seeds: int, jobs: int, cache: Path | None) -> Any:
    """The values of all cells, those in the cache as they are."""
    found: dict[Cell, Value] = {}
    if cache is not None and cache.exists():
        for line in cache.read_text().splitlines():
            row, changes, problem, seed, quality, cpu = json.loads(line)
            if changes == repr(rows.get(row)):
                found[row, problem, seed] = quality, cpu
    cells = [(row, problem, seed) for seed in range(seeds) for problem in problems for row in rows]
    missing = [cell for cell in cells if cell not in found]
    tasks = (delayed(measure)(DEFAULT.using(**rows[row]), problem, seed) for row, problem, seed in missing)
    results = Parallel(jobs, return_as="generator")(tasks)
    for (row, problem, seed), value in zip(missing, results, strict=True):
        found[row, problem, seed] = value
        if cache is not None:
            with cache.open("a") as file:
                file.write(json.dumps([row, repr(rows[row]), problem, seed, *value]) + "\n")
    return {cell: found[cell] for cell in cells}


def cell_text(values: np.ndarray, default: np.ndarray) -> str:
    """Mean ± standard error in per cent, with a mark where it differs from the default's."""
    n = len(values)
    error = 100 * values.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    apart = values - default
    of_mean = apart.std(ddof=1) / math.sqrt(n) if n > 1 else 0.0
    mark = "" if abs(apart.mean()) <= 2 * of_mean + 1e-12 else " +" if apart.mean() > 0 else " -"
    return f"{100 * values.mean():.1f} ± {error:.1f}{mark}"


def document(found: dict[Cell, Value], rows: list[str], problems: list[str], seeds: int) -> str:
    qualities = {
        (row, problem): np.array([found[row, problem, seed][0] for seed in range(seeds)])
        for row in rows
        for problem in problems
    }
    cpu = {row: [sum(found[row, problem, seed][1] for seed in range(seeds)) for problem in problems] for row in rows}
    lines = []
    for row in rows:
        cells = [cell_text(qualities[row, problem], qualities["default", problem]) for problem in problems]
        ratio = np.exp(np.mean(np.log(np.array(cpu[row]) / np.array(cpu["default"]))))
        lines.append([row, *cells, f"{ratio:.2f}"])
    return table(["without", *problems, "CPU time"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="separated by commas")
    parser.add_argument("--problems", help="separated by semicolons; the beginning of a name is enough")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--change", action="append", default=[], help="a further row: 'title: name=value, ...'")
    given = parser.parse_args()
    rows = {name: changes for name, changes in WITHOUT.items() if given.rows is None or name in given.rows.split(",")}
    rows = {"default": {}, **rows}
    for change in given.change:
        title, _, body = change.partition(":")
        call = ast.parse(f"f({body})", mode="eval").body
        assert isinstance(call, ast.Call)
        rows[title] = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    starts = None if given.problems is None else [start.strip() for start in given.problems.split(";")]
    problems = [name for name in PROBLEMS if starts is None or any(name.startswith(start) for start in starts)]
    found = measured(rows, problems, given.seeds, given.jobs, given.cache)
    text = document(found, list(rows), problems, given.seeds)
    print(text)
    if given.out is not None:
        command = "python benchmarks/ablation.py" + (f" --rows {given.rows}" if given.rows else "")
        made = f"`{command} --seeds {given.seeds}`; commit {commit()}. Quality in per cent ± standard error."
        given.out.write_text(f"# What each piece is worth\n\n{made}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
