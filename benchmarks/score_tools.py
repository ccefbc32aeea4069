"""What the sections of `scores.py` share: fresh draws, fits in processes of one thread, verdicts, value functions."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import Any
from unittest import mock

import numpy as np
import torch
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from maskrank import Callback, DualNetClassifier, DualNetRegressor
from maskrank.core.pipeline import DualNetResult, fit_dual_net
from maskrank.core.scoring.measurement import MeasuredScores
from maskrank.core.scoring.value_function import ValueFunction
from maskrank.datasets import (
    Problem,
    make_nonlinear_regression,
    make_orange_skin,
    make_ring_xor,
    make_ring_xor_sum,
    make_xor,
    make_xor_pair,
)
from maskrank.estimators.fitting import target_tensor
from maskrank.study.markdown import table

SEED = 47  # of all draws; the other benchmarks use 0 to 13, 31 and 2020
PAPER_PROBLEMS: dict[str, tuple[Callable[..., Problem], Any]] = {
    "xor": (make_xor, DualNetClassifier),
    "regression": (make_nonlinear_regression, DualNetRegressor),
    "orange skin": (make_orange_skin, DualNetClassifier),
}
NEEDLES: dict[str, tuple[Callable[..., Problem], Any]] = {
    "xor pair": (make_xor_pair, DualNetClassifier),
    "ring+xor": (make_ring_xor, DualNetClassifier),
    "ring+xor+sum": (make_ring_xor_sum, DualNetClassifier),
}
PROBLEMS = PAPER_PROBLEMS | NEEDLES


@dataclass(frozen=True)
class Options:
    """What the command line asks for.

    Attributes
    ----------
    preset : str
    seeds : int
        Draws of each problem, or folds.
    tag : int
        Part of every random state: settings are chosen under one tag and published under another.
    jobs : int
        Processes, of one thread each.
    """

    preset: str = "default"
    seeds: int = 1
    tag: int = 0
    jobs: int = 1

    def entropy(self, *parts: int) -> list[int]:
        return [SEED, self.tag, *parts]

    def random_state(self, *parts: int) -> int:
        """A seed where a list of numbers will not do."""
        return int(np.random.SeedSequence(self.entropy(*parts)).generate_state(1)[0])

    def model(self, kind: Any, size: Any, *parts: int, **settings: Any) -> Any:
        return kind(size, preset=self.preset, random_state=self.random_state(*parts), **settings)


@dataclass(frozen=True)
class Verdict:
    """A figure against the wanted one; ``met`` is None where none is set."""

    figure: str
    wanted: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        if self.met is None:
            return self.figure
        return f"{self.figure} (wanted {self.wanted}: {'met' if self.met else 'NOT MET'})"


@dataclass(frozen=True)
class Section:
    """A table, and what it says."""

    head: Sequence[str]
    body: Sequence[Sequence[str]]
    verdicts: Sequence[Verdict]

    def __str__(self) -> str:
        return f"{table(self.head, self.body)}\n\nVerdict: {'; '.join(map(str, self.verdicts))}."


def draw(options: Options, name: str, seed: int, *, rows: int, d: int, fresh: bool = False) -> Problem:
    """Rows of a problem with its columns permuted, so that no tie is broken in favour of the relevant ones.

    ``fresh`` rows are others of the same problem, with the columns in the same order.
    """
    place = list(PROBLEMS).index(name)
    X, y, relevant = PROBLEMS[name][0](rows, d, random_state=options.entropy(place, seed, d, int(fresh)))
    columns = np.random.default_rng(options.entropy(place, seed, d, 2)).permutation(d)
    return Problem(X[:, columns], y, np.flatnonzero(np.isin(columns, relevant)))


def in_processes(measure: Callable[..., Any], options: Options, jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """``measure(options, *job)`` for each job, in their order; the count of finished ones goes to stderr."""
    asked, results, started = list(jobs), [], time.perf_counter()
    for result in Parallel(options.jobs, return_as="generator")(delayed(_alone)(measure, options, j) for j in asked):
        results.append(result)
        print(f"\r{len(results)}/{len(asked)}, {time.perf_counter() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    return results


def _alone(measure: Callable[..., Any], options: Options, job: tuple[Any, ...]) -> Any:
    torch.set_num_threads(1)
    with threadpool_limits(1):
        return measure(options, *job)


def cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@cache
def warm_up() -> None:
    """Load all modules that a fit needs, once in a process."""
    DualNetClassifier(2, max_batches=16, random_state=0).fit(*make_xor(64, random_state=0)[:2])


class StageClock(Callback):
    """CPU seconds of each stage of a fit; a stage ends where the next one begins."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._stage, self._since = "", time.process_time()

    def on_stage(self, stage: str) -> None:
        now = time.process_time()
        self.spent[self._stage] += now - self._since
        self._stage, self._since = stage, now


def standard_errors(model: Any) -> Any:
    """Of the chosen features' shares, which a preset with measured scores has."""
    if model.feature_importances_std_ is None:
        raise SystemExit(f"preset {model.preset!r} measures no scores: try --preset default")
    return model.feature_importances_std_


def value_function_of(model: Any, X: Any, y: Any) -> tuple[Any, MeasuredScores]:
    """The model, fitted, and the value function behind its scores, which estimators do not keep.

    ``fit`` runs as ever, all its random draws included; the core's result is kept on its way to the estimator.
    """
    results: list[DualNetResult] = []

    def kept(*arguments: Any, **settings: Any) -> DualNetResult:
        results.append(fit_dual_net(*arguments, **settings))
        return results[-1]

    with mock.patch("maskrank.estimators.fitting.fit_dual_net", kept):
        model.fit(X, y)
    standard_errors(model)
    measured = results[-1].measured
    assert measured is not None
    shown = measured.shares.non_negative().numpy()
    np.testing.assert_allclose(shown, model.feature_importances_[model.support_], atol=1e-11)
    return model, measured


def on_fresh_rows(model: Any, value: ValueFunction, X: Any, y: Any) -> ValueFunction:
    """The same nets, each judged on all of these rows, with the mean of the parts' shrinkage factors.

    Shares of the variance are of the variance of these rows.
    """
    scaled = model._encoding.scaled(X[:, model.support_]).astype(np.float32)
    target = target_tensor(model._encode_target(y), model._y_scaling)
    n_folds, n_rows = len(value.inputs), len(scaled)
    factors = value.shrinkage.flatten(0, 1)[: model.config_.score.shrinkage_parts].mean(dim=0)  # (s + 1,)
    judged = replace(
        value,
        inputs=value.predictor.nets.nets.inputs(torch.from_numpy(scaled)).expand(n_folds, -1, -1),
        y=target.expand(n_folds, *target.shape),
        shrinkage=factors.expand(n_folds, n_rows, -1),
        unit=1.0,
    )
    return judged if value.task.probabilistic else replace(judged, unit=judged.baseline)


def needed(*modules: str) -> None:
    """Stop where a module of another project is missing."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise SystemExit(f"not installed: {', '.join(missing)}; pip install -e '.[bench]' -c constraints.txt")


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def mean_of(results: Sequence[Any], name: str) -> float:
    return float(np.mean([getattr(result, name) for result in results]))


def interleaved(names: Iterable[str], seeds: int) -> list[tuple[str, int]]:
    """(name, seed) with all names for one seed before the next seed."""
    several = list(names)
    return [(name, seed) for seed in range(seeds) for name in several]
