"""The figures of the three synthetic problems: do the right features come first, and how good are the predictions?

For each problem and seed: 512 rows in five folds as in the paper, four to learn from and one for early stopping,
and 1,024 fresh rows to test on. Usage: python benchmarks/synthetic.py [--preset paper] [--seeds 1] [--jobs 2]
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import make_nonlinear_regression, make_orange_skin, make_xor

SIZE = 5
PROBLEMS = {
    "xor (variance 0.5)": (make_xor, DualNetClassifier, "paper:xor"),
    "xor (variance 1)": (partial(make_xor, noise_variance=1.0), DualNetClassifier, "paper:xor"),
    "regression": (make_nonlinear_regression, DualNetRegressor, "paper:regression"),
    "orange skin": (make_orange_skin, DualNetClassifier, "paper:orange_skin"),
}


class Fit(NamedTuple):
    """One fit: were all relevant features chosen, and above the rest; scores; test result; cost."""

    chosen: bool
    on_top: bool
    relevant_scores: np.ndarray
    filler_scores: np.ndarray
    result: float
    batches: int
    seconds: float


def run(problem: str, preset: str, seed: int, fold: int) -> Fit:
    make, estimator, paper = PROBLEMS[problem]
    X, y, relevant = make(512, random_state=[0, seed])
    X_test, y_test, _ = make(1024, random_state=[1, seed])
    train, validation = list(KFold(5, shuffle=True, random_state=seed).split(X))[fold]
    model = estimator(SIZE, preset=paper if preset == "paper" else preset, random_state=5 * seed + fold)
    started = time.perf_counter()
    model.fit(X[train], y[train], X_val=X[validation], y_val=y[validation])
    seconds = time.perf_counter() - started
    filler = np.setdiff1d(np.flatnonzero(model.support_), relevant)
    predicted = model.predict(X_test)
    return Fit(
        chosen=bool(model.support_[relevant].all()),
        on_top=bool(model.ranking_[relevant].max() == len(relevant)),
        relevant_scores=model.feature_importances_[relevant],
        filler_scores=model.feature_importances_[filler],
        result=float((predicted == y_test).mean() if problem != "regression" else np.square(predicted - y_test).mean()),
        batches=sum(model.history_.batches.values()),
        seconds=seconds,
    )


def row(problem: str, fits: list[Fit]) -> str:
    relevant = np.concatenate([fit.relevant_scores for fit in fits])
    filler = np.concatenate([fit.filler_scores for fit in fits])
    weakest = np.mean([fit.relevant_scores.min() for fit in fits])
    results = [fit.result for fit in fits]
    return (
        f"| {problem} | {len(fits)} | {sum(f.chosen for f in fits)} | {sum(f.on_top for f in fits)} "
        f"| {100 * (relevant > 0).mean():.1f} % | {filler.mean() / weakest:.2f} "
        f"| {np.mean(results):.4f} ± {np.std(results):.4f} | {np.mean([f.batches for f in fits]):.0f} "
        f"| {np.mean([f.seconds for f in fits]):.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print(f"preset {arguments.preset}, seeds 0..{arguments.seeds - 1}, 5 folds, {arguments.jobs} jobs\n")
    print("| problem | fits | all relevant chosen | all on top | relevant > 0 | filler / weakest relevant ", end="")
    print("| accuracy or MSE | batches | seconds |\n|---|---|---|---|---|---|---|---|---|")
    for problem in PROBLEMS:
        jobs = [(problem, arguments.preset, seed, fold) for seed in range(arguments.seeds) for fold in range(5)]
        print(row(problem, Parallel(n_jobs=arguments.jobs)(delayed(run)(*job) for job in jobs)), flush=True)


if __name__ == "__main__":
    main()
