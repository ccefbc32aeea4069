"""Features that matter only together among very many: pairs, triples, and what is claimed where there is nothing.

Usage: python benchmarks/wide.py SECTION [--seeds 5] [--tag 0] [--out FILE], where SECTION is pairs, triples,
triples-null or million. The published results are in results/wide.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import sections
import torch
from numpy.typing import NDArray
from score_tools import Options, Section, Verdict, cpu_seconds, in_processes, warm_up

from maskrank import DualNetClassifier
from maskrank.datasets import Problem, make_xor_pair

PROG = "wide.py"
EFFORTS = {20_000: "default", 100_000: "thorough"}
N_TRIPLE = 833  # rows
N_MILLION = 200
MIXED = "ring+xor+triple"


@dataclass(frozen=True)
class Found:
    """One fit: whether it chose what matters, what it cost, and what it says of its search."""

    right: bool
    seconds: float
    cpu: float
    gigabytes: float
    coverage: str | None
    n_triples: int


def permuted(X: NDArray[Any], y: NDArray[Any], n_relevant: int, rng: np.random.Generator) -> Problem:
    """The columns in a random order, so that no tie is broken in favour of the relevant ones, which were the first."""
    columns = rng.permutation(X.shape[1])
    return Problem(X[:, columns], y, np.flatnonzero(columns < n_relevant))


def parity(d: int, rng: np.random.Generator) -> Problem:
    """Class 1 where an even number of three columns is below a half."""
    X = rng.uniform(size=(N_TRIPLE, d))
    return permuted(X, ((X[:, :3] - 0.5).prod(axis=1) > 0).astype(np.int64), 3, rng)


def ring_xor_triple(d: int, rng: np.random.Generator) -> Problem:
    """Class 1 on a thin ring, far out in an exclusive or, or far out in a parity of three: a fifth of the rows each."""
    X = rng.uniform(size=(N_TRIPLE, d))
    centred = X - 0.5
    ring = np.abs(np.hypot(centred[:, 0], centred[:, 1]) - 0.35) <= 0.0479
    xor = -centred[:, 2] * centred[:, 3] >= 0.0598
    triple = centred[:, 4:7].prod(axis=1) >= 0.0127
    return permuted(X, (ring | xor | triple).astype(np.int64), 7, rng)


def fit(problem: Problem, options: Options, *parts: int, **settings: Any) -> Found:
    warm_up()
    model = options.model(DualNetClassifier, len(problem.relevant), *parts, **settings)
    started, cpu = time.perf_counter(), cpu_seconds()
    model.fit(problem.X, problem.y)
    seconds, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    return Found(
        right=bool(np.array_equal(np.flatnonzero(model.support_), problem.relevant)),
        seconds=seconds,
        cpu=cpu,
        gigabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        coverage=model.history_.coverage,
        n_triples=sum(" triples beyond chance" in fact for fact in model.history_.facts),
    )


def fit_pair(options: Options, d: int, seed: int) -> Found:
    torch.set_num_threads(2)
    X, y, _ = make_xor_pair(1000, d, random_state=options.entropy(0, seed, d))
    problem = permuted(X, y, 2, np.random.default_rng(options.entropy(1, seed, d)))
    del X
    return fit(problem, options, seed, search_effort=EFFORTS[d])


def pairs(options: Options, widths: list[int]) -> Section:
    """An exclusive or of two columns among very many, 1,000 rows, s = 2; one fit at a time, with two threads."""
    body, verdicts = [], []
    for d in widths:
        results = []
        for seed in range(options.seeds):  # a process each: its largest memory is that of one fit
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                results.append(pool.submit(fit_pair, options, d, seed).result())
        body.append([f"{d:,}", EFFORTS[d], *_figures(results), f"{max(one.gigabytes for one in results):.1f}"])
        right = sum(one.right for one in results)
        verdicts.append(Verdict(f"{d:,}: found in {right} of {len(results)}", "all", right == len(results)))
    return Section(["features", "effort", "found", "seconds", "CPU-seconds", "most memory, GB"], body, verdicts)


def fit_triple(options: Options, name: str, d: int, seed: int) -> Found:
    make, place = (ring_xor_triple, 3) if name == MIXED else (parity, 2)
    return fit(make(d, np.random.default_rng(options.entropy(place, seed, d))), options, seed)


def triples(options: Options) -> Section:
    """A parity of three columns (s = 3), and one beside a ring and an exclusive or (s = 7); 833 rows."""
    kinds = [("parity", 100), ("parity", 300), ("parity", 1000), (MIXED, 500)]
    jobs = [(*kind, seed) for kind in kinds for seed in range(options.seeds)]
    results = dict(zip(jobs, in_processes(fit_triple, options, jobs), strict=True))
    body = [[name, f"{d:,}", *_figures([results[name, d, k] for k in range(options.seeds)])] for name, d in kinds]
    of_parity = [result.right for (name, *_), result in results.items() if name == "parity"]
    of_mixed = [result.right for (name, *_), result in results.items() if name == MIXED]
    slowest = max(result.cpu for (name, d, _), result in results.items() if d == 1000)
    return Section(
        ["problem", "features", "found", "seconds", "CPU-seconds"],
        body,
        [
            Verdict(f"parity in {sum(of_parity)} of {len(of_parity)}", "14 of 15", np.mean(of_parity) >= 14 / 15),
            Verdict(f"{MIXED} in {sum(of_mixed)} of {len(of_mixed)}"),
            Verdict(f"{slowest:.0f} CPU-seconds at most among 1,000", "at most 60", slowest <= 60),
        ],
    )


def fit_null(options: Options, d: int, seed: int) -> Found:
    rng = np.random.default_rng(options.entropy(4, seed, d))
    X, y, relevant = parity(d, rng)
    return fit(Problem(X, rng.permutation(y), relevant), options, seed, max_batches=60)


def triples_null(options: Options) -> Section:
    """The same with shuffled labels, among 100, 300 and 1,000 columns in turn: how often any triple is claimed."""
    widths = (100, 300, 1000)
    results = in_processes(fit_null, options, [(widths[seed % 3], seed) for seed in range(options.seeds)])
    none = sum(result.n_triples == 0 for result in results)
    enough = none >= 0.95 * len(results)
    body = [[str(len(results)), str(none)]]
    return Section(["fits", "no triple claimed"], body, [Verdict(f"none in {none}", "19 of 20", enough)])


def fit_million(options: Options, effort: str) -> Found:
    d = 1_000_000
    rng = np.random.default_rng(options.entropy(5, d))
    X = rng.standard_normal((N_MILLION, d), dtype=np.float32)
    problem = Problem(X, (X[:, 7] > 0).astype(np.int64), np.array([7]))
    return fit(problem, options, search_effort=effort)


def million(options: Options) -> Section:
    """1,000,000 columns of 200 rows, one of which tells the class, s = 1: what a fit says that it looked at."""
    results = {effort: fit_million(options, effort) for effort in ("quick", "default")}
    body = [
        [name, *_figures([one]), f"{one.gigabytes:.1f}", one.coverage or "everything"] for name, one in results.items()
    ]
    told = all(one.coverage for one in results.values())
    head = ["effort", "found", "seconds", "CPU-seconds", "most memory so far, GB", "it says"]
    return Section(head, body, [Verdict("what was not looked at is said", "in a line", told)])


def _figures(results: list[Found]) -> list[str]:
    """How many are right, and the time that a fit takes: its mean and the longest."""
    shown = [f"{sum(result.right for result in results)} of {len(results)}"]
    for name in ("seconds", "cpu"):
        values = [getattr(result, name) for result in results]
        shown.append(f"{np.mean(values):.0f} (at most {max(values):.0f})")
    return shown


SECTIONS: sections.Sections = {
    "pairs": (pairs, 5),
    "triples": (triples, 5),
    "triples-null": (triples_null, 20),
    "million": (million, 1),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    own["pairs"].add_argument("--widths", nargs="+", type=int, default=list(EFFORTS), choices=list(EFFORTS))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
