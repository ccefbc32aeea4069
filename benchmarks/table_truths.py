"""Sections of `tables.py` on tables whose relevant features are known: mixed kinds with gaps, and groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from score_tools import Options, Section, Verdict, in_processes, interleaved, percent

from maskrank import DualNetClassifier, DualNetRegressor

ROWS, FEATURES, GAPS = 1_000, 200, 0.1
IDENTIFIER = "identifier"
_N_GROUPS, _RELEVANT_GROUPS, _GROUP_ROWS = 100, 4, 500
_GROUP_NOISE = 0.1056  # variance, of the signal's: the sign of their sum is that of the signal in 90 % of the rows


class Truth(NamedTuple):
    """The relevant columns, before gaps, and the target by which of their values are missing."""

    columns: dict[str, Any]
    target: Callable[[pd.DataFrame], Any]


@dataclass(frozen=True)
class TruthProblem:
    """A kind of problem.

    Attributes
    ----------
    draw : function
        From a generator to a `Truth`.
    estimator : class
    best : str
        What the true function reaches where it sees the table with its gaps.
    """

    draw: Callable[[np.random.Generator], Truth]
    estimator: Any
    best: str


def levels_of(codes: Any) -> Any:
    """Level numbers as text."""
    return np.array([f"level {code}" for code in codes], dtype=object)


def flipped(rng: np.random.Generator, y: Any, share: float) -> Any:
    return np.where(rng.random(len(y)) < share, ~y, y)


def xor(rng: np.random.Generator) -> Truth:
    """The exclusive or of two categories of two levels."""
    a, b = rng.integers(0, 2, (2, ROWS))
    return Truth({"a": levels_of(a), "b": levels_of(b)}, lambda gaps: a != b)


def category_times_sign(rng: np.random.Generator) -> Truth:
    """The sign of a number, turned round by half of six levels."""
    code, x = rng.integers(0, 6, ROWS), rng.standard_normal(ROWS)
    return Truth({"category": levels_of(code), "number": x}, lambda gaps: (x > 0) != (code < 3))


def missing(rng: np.random.Generator) -> Truth:
    """Whether a number or a category is missing; a tenth of the labels is wrong."""
    columns = {"number": rng.standard_normal(ROWS), "category": levels_of(rng.integers(0, 4, ROWS))}
    return Truth(columns, lambda gaps: flipped(rng, gaps.any(axis=1).to_numpy(), 0.1))


def fifty_levels(rng: np.random.Generator) -> Truth:
    """A number that has one of three means, by which third of fifty levels a row has; the noise is a tenth of it."""
    code, thirds = rng.integers(0, 50, ROWS), rng.permutation(50) % 3
    y = (thirds[code] - 1) * 1.5**0.5 * 0.9**0.5 + 0.1**0.5 * rng.standard_normal(ROWS)
    return Truth({"category": levels_of(code)}, lambda gaps: y)


def six(rng: np.random.Generator) -> Truth:
    """The sign of a sum of six equal parts: two numbers, two categories, an ordered category, a date."""
    x, size, two, five, ordered, day = (
        *rng.standard_normal((2, ROWS)),
        *(rng.integers(0, k, ROWS) for k in (2, 5, 4)),
        rng.integers(0, 2_000, ROWS),
    )
    effects = rng.permutation(5)[five]
    parts = np.stack([x, np.abs(size), two, effects, ordered, day], axis=1)
    total = ((parts - parts.mean(axis=0)) / parts.std(axis=0)).sum(axis=1)
    columns = {
        "number": x,
        "size of a number": size,
        "two levels": levels_of(two),
        "five levels": levels_of(five),
        "ordered": pd.Categorical.from_codes(ordered, ["low", "middle", "high", "top"], ordered=True),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D"),
    }
    return Truth(columns, lambda gaps: total > 0)


PROBLEMS = {
    "xor": TruthProblem(xor, DualNetClassifier, "90.5 % of labels"),  # both are there in 81 %
    "category x sign": TruthProblem(category_times_sign, DualNetClassifier, "90.5 % of labels"),
    "missing": TruthProblem(missing, DualNetClassifier, "90 % of labels"),
    "50 levels": TruthProblem(fifty_levels, DualNetRegressor, "R² 0.81"),
    "six of mixed kinds": TruthProblem(six, DualNetClassifier, "90 % of labels"),
}


def background(rng: np.random.Generator, n_categories: int, n_numbers: int) -> dict[str, Any]:
    """Features of nothing: categories of 2 to 30 levels, and numbers, some of them counts, dates or ordered."""
    columns: dict[str, Any] = {}
    for k in range(n_categories):
        columns[f"text {k}"] = levels_of(rng.integers(0, rng.integers(2, 31), ROWS))
    for k in range(n_numbers):
        if k % 10 == 0:
            columns[f"date {k}"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2_000, ROWS), "D")
        elif k % 10 == 1:
            grades = pd.Categorical.from_codes(rng.integers(0, 3, ROWS), ["low", "middle", "high"], ordered=True)
            columns[f"grade {k}"] = grades
        else:
            columns[f"number {k}"] = rng.poisson(3, ROWS) if k % 10 == 2 else rng.standard_normal(ROWS)
    return columns


def mixed_table(options: Options, name: str, seed: int) -> tuple[pd.DataFrame, Any, list[str]]:
    """A table of 200 features in random order, its target, and the names of the relevant features."""
    rng = np.random.default_rng(options.entropy(list(PROBLEMS).index(name), seed))
    truth = PROBLEMS[name].draw(rng)
    n_categories = sum(values.dtype.kind == "O" for values in truth.columns.values() if isinstance(values, np.ndarray))
    n_numbers = len(truth.columns) - n_categories
    half = FEATURES // 2
    frame = pd.DataFrame(
        {
            **truth.columns,
            **background(rng, half - n_categories - 1, half - n_numbers),
            IDENTIFIER: [f"{number:016x}" for number in rng.permutation(2**40 + np.arange(ROWS))],
        }
    )
    gaps = pd.DataFrame(rng.random(frame.shape) < GAPS, columns=frame.columns)
    gaps[IDENTIFIER] = False
    y = truth.target(gaps[list(truth.columns)])
    return frame.mask(gaps)[rng.permutation(frame.columns)], y, list(truth.columns)


class Found(NamedTuple):
    """One fit: share of the relevant features in the choice, and whether the identifier is in it."""

    share: float
    identifier: bool


def kinds_fit(options: Options, name: str, seed: int) -> Found:
    X, y, relevant = mixed_table(options, name, seed)
    model = options.model(PROBLEMS[name].estimator, len(relevant), seed).fit(X, y)
    chosen = set(X.columns[model.support_])
    return Found(len(chosen & set(relevant)) / len(relevant), IDENTIFIER in chosen)


def kinds(options: Options, problems: list[str]) -> Section:
    """1,000 rows, 200 features, half of them text of 2 to 30 levels, 10 % of all values missing; s = p.

    Targets follow the values before the gaps, or the gaps. A text of all-distinct values is among the features.
    """
    jobs = interleaved(problems, options.seeds)
    fits = in_processes(kinds_fit, options, jobs)
    body = []
    for title in problems:
        some = [fit for (name, _), fit in zip(jobs, fits, strict=True) if name == title]
        shares = [fit.share for fit in some]
        shown = ", ".join(percent(share) for share in shares)
        body.append([title, PROBLEMS[title].best, percent(float(np.mean(shares))), shown])
    found = float(np.mean([fit.share for fit in fits]))
    wrong = sum(fit.identifier for fit in fits)
    return Section(
        ["problem", "the true function reaches", "relevant found", "each draw"],
        body,
        [
            Verdict(f"{percent(found, 1)} found on average", ">= 95 %", found >= 0.95),
            Verdict(f"the all-distinct text is chosen in {wrong} of {len(fits)} fits", "0", wrong == 0),
        ],
    )


def grouped_table(options: Options, seed: int) -> tuple[pd.DataFrame, Any, dict[str, list[str]], set[str]]:
    """Groups of 3 to 40 standard normal columns; each of four adds the normalised sum of its members, signs drawn."""
    rng = np.random.default_rng(options.entropy(len(PROBLEMS), seed))
    sizes = rng.integers(3, 41, _N_GROUPS)
    names = {f"group {g}": [f"g{g}.{k}" for k in range(size)] for g, size in enumerate(sizes)}
    X = pd.DataFrame(
        rng.standard_normal((_GROUP_ROWS, sizes.sum())), columns=[name for some in names.values() for name in some]
    )
    relevant = [f"group {g}" for g in rng.choice(_N_GROUPS, _RELEVANT_GROUPS, replace=False)]
    signal = np.zeros(_GROUP_ROWS)
    for group in relevant:
        signs = rng.choice([-1.0, 1.0], len(names[group]))
        signal += X[names[group]].to_numpy() @ signs / len(signs) ** 0.5
    noise = (_GROUP_NOISE * _RELEVANT_GROUPS) ** 0.5 * rng.standard_normal(_GROUP_ROWS)
    return X, signal + noise > 0, names, set(relevant)


def groups_fit(options: Options, seed: int) -> float:
    X, y, names, relevant = grouped_table(options, seed)
    model = options.model(DualNetClassifier, len(relevant), seed, groups=names).fit(X, y)
    chosen = set(X.columns[model.support_])
    return sum(chosen.issuperset(names[group]) for group in relevant) / len(relevant)


def single_groups_fit(options: Options, seed: int) -> bool:
    """Whether groups of one column give the very answer of the columns."""
    X, y, *_ = grouped_table(options, seed)
    X = X.iloc[:, :60]
    plain = options.model(DualNetClassifier, 4, seed).fit(X, y)
    grouped = options.model(DualNetClassifier, 4, seed, groups={name: [name] for name in X}).fit(X, y)
    pairs = [(getattr(plain, name), getattr(grouped, name)) for name in ("ranking_", "feature_importances_")]
    pairs.append((plain.predict_proba(X), grouped.predict_proba(X)))
    return all(np.array_equal(one, other) for one, other in pairs)


def groups(options: Options) -> Section:
    """500 rows, 100 groups of 3 to 40 columns, four relevant; each member carries an equal share of its group's part.

    The target is the sign of the sum of four equal parts and noise; the sum itself predicts 90 % of the labels.
    """
    shares = in_processes(groups_fit, options, [(seed,) for seed in range(options.seeds)])
    same = in_processes(single_groups_fit, options, [(0,)])[0]
    found = float(np.mean(shares))
    return Section(
        ["draw", "relevant groups found"],
        [[str(seed), percent(share)] for seed, share in enumerate(shares)],
        [
            Verdict(f"{percent(found, 1)} found on average", ">= 90 %", found >= 0.9),
            Verdict("groups of one column give the answer without groups", "bit for bit", same),
        ],
    )
