"""How well the search finds what is hard to find; what each of its pieces is worth is in `ablation.py`.

Usage: python benchmarks/search.py [madelon] [weak] [shuffled] [copies] [time] [--jobs 2]

Without names all sections are run. The tables go to results/search.md, one section each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed
from sklearn.datasets import make_classification

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.datasets import (
    make_nonlinear_regression,
    make_orange_skin,
    make_ring,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)

RESULTS = Path(__file__).parent / "results" / "search.md"
PAPER_PROBLEMS = {"xor": make_xor, "regression": make_nonlinear_regression, "orange skin": make_orange_skin}
NEEDLES = {"ring": make_ring, "xor pair": make_xor_pair, "ring+xor": make_ring_xor, "ring+xor+sum": make_ring_xor_sum}


def madelon_rows(seed: int) -> tuple[Any, Any]:
    return make_classification(
        2600,
        500,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        class_sep=1.0,
        flip_y=0.01,
        shuffle=False,
        random_state=seed,
    )


def weak_rows(seed: int) -> tuple[Any, Any]:
    """Ten features of 10,000, each with the same weak linear effect; R² = 0.8 in total, 200 rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 10_000))
    return X, X[:, :10].sum(axis=1) + np.sqrt(2.5) * rng.standard_normal(200)


def copied_rows(name: str, seed: int) -> tuple[Any, Any, int]:
    """A problem of the paper with a copy of each relevant feature, correlated with it by 0.95, at the end."""
    X, y, relevant = PAPER_PROBLEMS[name](512, random_state=[3, seed])
    chosen = X[:, relevant]
    noise = np.random.default_rng([4, seed]).standard_normal(chosen.shape) * chosen.std(axis=0)
    copies = 0.95 * chosen + np.sqrt(1 - 0.95**2) * noise
    return np.hstack([X, copies]), y, len(relevant)


def fit(kind: Any, size: int, X: Any, y: Any, seed: int, config: TrainConfig = DEFAULT) -> tuple[Any, float]:
    torch.set_num_threads(1)
    started = time.perf_counter()
    model = kind(size, preset=config, random_state=seed).fit(X, y)
    return model, time.perf_counter() - started


def precision_of_madelon(seed: int, size: int) -> tuple[float, int, float]:
    X, y = madelon_rows(seed)
    model, seconds = fit(DualNetClassifier, size, X, y, seed)
    chosen = np.flatnonzero(model.support_)
    good = chosen[chosen < 20]
    rank = int(np.linalg.matrix_rank(X[:, good] - X[:, good].mean(axis=0), tol=1e-6 * len(X))) if len(good) else 0
    return len(good) / size, rank, seconds


def madelon(jobs: int) -> list[str]:
    lines = ["| s | precision by seed | mean | dimensions spanned | seconds |", "|---|---|---|---|---|"]
    for size in (5, 20):
        results = Parallel(jobs)(delayed(precision_of_madelon)(seed, size) for seed in range(5))
        precision, rank, seconds = zip(*results, strict=True)
        shown = ", ".join(f"{p:.2f}" for p in precision)
        spans = ", ".join(map(str, rank))
        lines.append(f"| {size} | {shown} | {np.mean(precision):.3f} | {spans} of 5 | {np.mean(seconds):.1f} |")
    return lines


def found_of_weak(seed: int) -> tuple[int, float]:
    model, seconds = fit(DualNetRegressor, 10, *weak_rows(seed), seed)
    return int(model.support_[:10].sum()), seconds


def weak(jobs: int) -> list[str]:
    found, seconds = zip(*Parallel(jobs)(delayed(found_of_weak)(seed) for seed in range(5)), strict=True)
    shown = ", ".join(map(str, found))
    return [
        "| found of 10, by seed | mean | seconds |",
        "|---|---|---|",
        f"| {shown} | {np.mean(found):.1f} | {np.mean(seconds):.1f} |",
    ]


def signal_of(name: str, seed: int, shuffled: bool) -> tuple[str, bool, bool, float]:
    kind = DualNetRegressor if name in ("regression", "weak") else DualNetClassifier
    if name in PAPER_PROBLEMS:
        (X, y, _), size = PAPER_PROBLEMS[name](512, random_state=[5, seed]), 5
    elif name in NEEDLES:
        X, y, relevant = NEEDLES[name](1000, 256, random_state=[5, seed])
        size = len(relevant)
    else:
        (X, y), size = (weak_rows(seed), 10) if name == "weak" else (madelon_rows(seed), 5)
    if shuffled:
        y = np.random.default_rng([6, seed]).permutation(y)
    model, _ = fit(kind, size, X, y, seed)
    return name, shuffled, model.signal_, float(np.abs(model.feature_importances_).max())


def shuffled(jobs: int) -> list[str]:
    names = [*PAPER_PROBLEMS, *NEEDLES, "madelon", "weak"]
    asked = [(names[seed % len(names)], seed, True) for seed in range(20)]
    asked += [(name, seed, False) for name in PAPER_PROBLEMS for seed in range(5)]
    results = Parallel(jobs)(delayed(signal_of)(*job) for job in asked)
    lines = ["| labels | fits | signal is false | median of the largest score |", "|---|---|---|---|"]
    for title, mixed in (("shuffled, all problems", True), ("true, the paper's three problems", False)):
        some = [(signal, largest) for _, was, signal, largest in results if was == mixed]
        none = sum(not signal for signal, _ in some)
        lines.append(f"| {title} | {len(some)} | {none} | {np.median([largest for _, largest in some]):.4f} |")
    return lines


def one_of_each(name: str, seed: int) -> bool:
    X, y, p = copied_rows(name, seed)
    model, _ = fit(DualNetRegressor if name == "regression" else DualNetClassifier, p, X, y, seed)
    chosen = np.flatnonzero(model.support_)
    originals = sorted(j if j < 10 else j - 10 for j in chosen)
    return originals == list(range(p))


def copies(jobs: int) -> list[str]:
    lines = ["| problem | one of each pair, of 20 |", "|---|---|"]
    for name in PAPER_PROBLEMS:
        held = Parallel(jobs)(delayed(one_of_each)(name, seed) for seed in range(20))
        lines.append(f"| {name} | {sum(held)} |")
    return lines


def time_of_small(jobs: int) -> list[str]:
    """With and without the pieces of the search, interleaved and one at a time."""
    del jobs
    lines = ["| problem, s = 5 | with | without | ratio |", "|---|---|---|---|"]
    for name, make in PAPER_PROBLEMS.items():
        kind = DualNetRegressor if name == "regression" else DualNetClassifier
        spent = np.zeros((6, 2))
        for seed in range(6):
            X, y, _ = make(512, random_state=[8, seed])
            spent[seed, 0] = fit(kind, 5, X, y, seed)[1]
            plain = DEFAULT.using(proposal__enabled=False, tournament__enabled=False)
            spent[seed, 1] = fit(kind, 5, X, y, seed, plain)[1]
        first, second = spent[1:].mean(axis=0)  # the first fits warm up
        lines.append(f"| {name} | {first:.2f} s | {second:.2f} s | {first / second:.2f} |")
    return lines


SECTIONS: dict[str, tuple[str, Callable[[int], list[str]]]] = {
    "madelon": ("Madelon's recipe: 20 columns of 500 that span 5 dimensions", madelon),
    "weak": ("Ten weak linear effects among 10,000, 200 rows", weak),
    "shuffled": ("Is there anything in the data?", shuffled),
    "copies": ("Correlated copies (r = 0.95), s = the number of relevant features", copies),
    "time": ("What the search costs where it is not needed: 512 rows of 10 features", time_of_small),
}


def store(name: str, text: str) -> None:
    """Put a section in the place of its earlier one."""
    found: dict[str, str] = {}
    if RESULTS.exists():
        for part in RESULTS.read_text().split("\n## ")[1:]:
            title, body = part.split("\n", 1)
            found[title] = body.strip()
    found[SECTIONS[name][0]] = text
    order = [title for title, _ in SECTIONS.values() if title in found]
    body = "".join(f"\n## {title}\n\n{found[title]}\n" for title in order)
    RESULTS.write_text(f"# The search\n\n`python benchmarks/search.py`\n{body}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        title, run = SECTIONS[name]
        started = time.perf_counter()
        text = "\n".join(run(arguments.jobs))
        print(f"{title}\n\n{text}\n\n{time.perf_counter() - started:.0f} s\n", flush=True)
        store(name, text)


if __name__ == "__main__":
    main()
