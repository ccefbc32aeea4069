"""The paper's synthetic problems on fresh draws: our method and others on the same rows, side by side.

`maskrank study synthetic` follows the paper: its folds share one draw of the data and one of the test rows, so that
its deviations say nothing of other draws. Here every draw has 512 rows and 4,096 test rows of its own, and every
method is fitted on the same 512. Prints a table in Markdown. Usage: python benchmarks/draws.py [--draws 10]
[--problems regression,...] [--methods dualnet,dfs,...]
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
import torch

from maskrank.datasets import make_nonlinear_regression, make_orange_skin, make_xor
from maskrank.study.markdown import table
from maskrank.study.names import OURS
from maskrank.study.protocol import Fold, Samples, evaluate

PROBLEMS: dict[str, tuple[Any, str, tuple[int, ...]]] = {
    "xor": (make_xor, "classification", (60, 30, 20)),
    "regression": (make_nonlinear_regression, "regression", (100, 50, 25)),
    "orange_skin": (make_orange_skin, "classification", (60, 30, 20)),
}
_HAVE_NETS = ("dfs", "avgrad")


def scores_of(problem: str, methods: list[str], draw: int) -> list[float]:
    """Accuracy, or mean squared error, of each method on one draw."""
    make, task, hidden = PROBLEMS[problem]
    parts = [make(n, random_state=[2020, draw, n])[:2] for n in (512, 4096)]
    rows = Samples(*(np.concatenate(both) for both in zip(*parts, strict=True)))
    fold = Fold(np.arange(512), np.arange(0), np.arange(512, 512 + 4096))
    return [
        evaluate(
            method,
            rows,
            fold,
            5,
            task=task,
            seed=draw,
            settings={"hidden": hidden} if method in _HAVE_NETS else {},
            mlp=hidden,
        )["score"]
        for method in methods
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--methods", default="dualnet,dfs")
    options = parser.parse_args()
    torch.set_num_threads(1)  # more are slower on nets of this size
    methods = [OURS, *(name for name in options.methods.split(",") if name != OURS)]
    lines = []
    for problem in options.problems.split(","):
        scores = np.array([scores_of(problem, methods, draw) for draw in range(options.draws)])  # (draws, methods)
        for place, method in enumerate(methods):
            apart = scores[:, 0] - scores[:, place]
            error = apart.std(ddof=1) / math.sqrt(len(apart))
            difference = "" if method == OURS else f"{apart.mean():+.4f} ± {error:.4f}"
            lines.append([problem, method, f"{scores[:, place].mean():.4f}", difference])
    print(table(["problem", "method", f"mean of {options.draws} draws", "ours less it ± standard error"], lines))


if __name__ == "__main__":
    main()
