"""Sections of `questions.py` on figures: intervals against fresh rows, and rare classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from score_tools import PAPER_PROBLEMS, Options, Section, Verdict, in_processes, interleaved, mean_of, percent
from sklearn.metrics import roc_auc_score

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.estimators.figures import class_figures, number_figures

_FRESH = 5_000
Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]


def _linear(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.standard_normal((n, 12))
    return X, (X[:, :3].sum(axis=1) + rng.logistic(size=n) > 0).astype(int)


def _three_classes(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, 30))
    X[:, :2] += 1.5 * np.stack([np.cos(2 * np.pi * y / 3), np.sin(2 * np.pi * y / 3)], axis=1)
    return X, y


def _rare(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.standard_normal((n, 10))
    return X, (1.5 * X[:, :2].sum(axis=1) + rng.logistic(size=n) > 4).astype(int)


def _weak(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.standard_normal((n, 200))
    return X, X[:, :20].sum(axis=1) + 4 * rng.standard_normal(n)


def _friedman(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.random((n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.standard_normal(n)


def _nothing(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    return rng.standard_normal((n, 10)), rng.integers(0, 2, n)


def _of_paper(name: str) -> Draw:
    return lambda rng, n: PAPER_PROBLEMS[name][0](n, random_state=int(rng.integers(2**31)))[:2]


TABLES: dict[str, tuple[Draw, Any, int, int]] = {
    **{f"{name}, {n}": (_of_paper(name), kind, n, 5) for name, (_, kind) in PAPER_PROBLEMS.items() for n in (200, 512)},
    "linear, 100": (_linear, DualNetClassifier, 100, 4),
    "three classes, 300": (_three_classes, DualNetClassifier, 300, 4),
    "rare class, 1000": (_rare, DualNetClassifier, 1_000, 4),
    "weak effects, 400": (_weak, DualNetRegressor, 400, 20),
    "friedman, 300": (_friedman, DualNetRegressor, 300, 5),
    "nothing, 150": (_nothing, DualNetClassifier, 150, 4),
}


class Covered(NamedTuple):
    """The figure shown first, and the same on fresh rows."""

    name: str
    metric: str
    inside: bool
    deviation: float  # of the shown figure from that of fresh rows, in standard errors; above 0 where it is too good


def covered_fit(options: Options, name: str, seed: int) -> Covered:
    draw, kind, n, size = TABLES[name]
    place = list(TABLES).index(name)
    X, y = draw(np.random.default_rng(options.entropy(5, place, seed)), n)
    fresh, answers = draw(np.random.default_rng(options.entropy(6, place, seed)), _FRESH)
    model = options.model(kind, size, 7, place, seed).fit(X, y)
    if kind is DualNetRegressor:
        found = number_figures(answers, model.predict(fresh))
    else:
        found = class_figures(np.searchsorted(model.classes_, answers), model.predict_proba(fresh))
    shown, true = model.figures_[model.metric_.name], found[model.metric_.name].value
    deviation = model.metric_.sign * (shown.value - true) / shown.std
    return Covered(name, model.metric_.name, shown.low <= true <= shown.high, float(deviation))


def coverage(options: Options, tables: list[str]) -> Section:
    """The 95 % interval of the figure shown first, and the figure of the final predictor on 5,000 fresh rows."""
    fits = in_processes(covered_fit, options, interleaved(tables, options.seeds))
    body = []
    for name in tables:
        own = [fit for fit in fits if fit.name == name]
        inside = sum(fit.inside for fit in own)
        body.append([name, own[0].metric, f"{inside} of {len(own)}", f"{mean_of(own, 'deviation'):+.2f}"])
    covered, bias = mean_of(fits, "inside"), mean_of(fits, "deviation")
    return Section(
        ["table, rows", "figure", "inside", "mean deviation in standard errors (+ too good)"],
        body,
        [
            Verdict(f"{percent(covered, 1)} inside", "85 to 99 %", 0.85 <= covered <= 0.99),
            Verdict(f"mean deviation {bias:+.2f} standard errors", "< 0.5 in size", abs(bias) < 0.5),
        ],
    )


class Imbalanced(NamedTuple):
    """One table with a rare class."""

    share: float
    n: int
    first: bool
    signal: bool
    behind: float  # ROC AUC of the true model less ours, on fresh rows
    positives: int  # predicted among the fresh rows with balanced classes


def imbalanced_rows(rng: np.random.Generator, n: int, share: float) -> tuple[Any, Any, Any]:
    """20 features, of which two matter by their sum and one of them by its square, too: X, y, true log-odds."""
    X = rng.standard_normal((n, 20))
    score = 1.5 * X[:, 0] + 1.5 * X[:, 1] + 0.5 * (X[:, 1] ** 2 - 1)
    noise = rng.logistic(size=n)
    bound = np.quantile(score + noise, 1 - share)
    return X, np.where(score + noise > bound, "yes", "no"), score


def imbalanced_fit(options: Options, seed: int) -> Imbalanced:
    share, n = (0.01, 0.04, 0.08)[seed % 3], (2_000, 6_000, 20_000)[seed // 3 % 3]
    X, y, _ = imbalanced_rows(np.random.default_rng(options.entropy(8, seed)), n, share)
    fresh, answers, score = imbalanced_rows(np.random.default_rng(options.entropy(9, seed)), 50_000, share)
    model = options.model(DualNetClassifier, 4, 10, seed).fit(X, y)
    first = set(model.ranking_.argsort(kind="stable")[:2].tolist()) == {0, 1}
    aucs = [roc_auc_score(answers == "yes", some) for some in (score, model.predict_proba(fresh)[:, 1])]
    balanced = options.model(DualNetClassifier, 4, 10, seed, class_weight="balanced").fit(X, y)
    positives = int((balanced.predict(fresh) == "yes").sum())
    return Imbalanced(share, n, first, bool(model.signal_), aucs[0] - aucs[1], positives)


def imbalance(options: Options) -> Section:
    """2,000 to 20,000 rows with 1, 4 or 8 % positives, 2 of 20 features matter, s = 4; ROC AUC on 50,000 fresh rows."""
    fits = in_processes(imbalanced_fit, options, [(seed,) for seed in range(options.seeds)])
    body = []
    for share, n in sorted({(fit.share, fit.n) for fit in fits}):
        own = [fit for fit in fits if (fit.share, fit.n) == (share, n)]
        worst = max(fit.behind for fit in own)
        least = min(fit.positives for fit in own)
        body.append(
            [
                percent(share),
                f"{n:,}",
                *(f"{sum(getattr(fit, name) for fit in own)} of {len(own)}" for name in ("first", "signal")),
                f"{mean_of(own, 'behind'):.3f} ({worst:.3f})",
                f"{least:,}",
            ]
        )
    first, signal, behind = (mean_of(fits, name) for name in ("first", "signal", "behind"))
    rarest = min((fit.positives for fit in fits if fit.share == 0.01), default=0)
    verdicts = [
        Verdict(f"both features first in {percent(first, 1)}", ">= 95 %", first >= 0.95),
        Verdict(f"signal in {percent(signal, 1)}", ">= 95 %", signal >= 0.95),
        Verdict(f"ROC AUC {behind:.3f} below the true model's", "<= 0.02", behind <= 0.02),
        Verdict(f"at 1 % at least {rarest:,} positives predicted", ">= 1", rarest >= 1),
    ]
    return Section(
        ["positives", "rows", "both first", "signal", "ROC AUC below the true model's (worst)", "fewest predicted"],
        body,
        verdicts,
    )


class Subjects(NamedTuple):
    """One table with ten near copies of each subject."""

    grouped: bool
    shown: float
    fresh: float
    inside: bool
    signal: bool


def subject_rows(rng: np.random.Generator, n_subjects: int) -> tuple[Any, Any, Any]:
    """Ten rows of each subject, that differ by a tenth of what subjects do; one label a subject: X, y, subject."""
    subject = np.repeat(np.arange(n_subjects), 10)
    own = rng.standard_normal((n_subjects, 12))
    labels = (own[:, 0] + own[:, 1] + rng.logistic(size=n_subjects) > 0).astype(int)
    return own[subject] + 0.1 * rng.standard_normal((len(subject), 12)), labels[subject], subject


def subject_fit(options: Options, seed: int, grouped: bool) -> Subjects:
    X, y, subject = subject_rows(np.random.default_rng(options.entropy(11, seed)), 80)
    fresh, answers, _ = subject_rows(np.random.default_rng(options.entropy(12, seed)), 500)
    model = options.model(DualNetClassifier, 6, 13, seed).fit(X, y, groups=subject if grouped else None)
    shown, true = model.figures_["accuracy"], float((model.predict(fresh) == answers).mean())
    return Subjects(grouped, shown.value, true, shown.low <= true <= shown.high, bool(model.signal_))


def subjects(options: Options) -> Section:
    """80 subjects with ten near copies each, one label a subject; accuracy shown, and on 500 fresh subjects."""
    jobs = [(seed, grouped) for seed in range(options.seeds) for grouped in (False, True)]
    fits = in_processes(subject_fit, options, jobs)
    body = []
    for grouped, name in ((False, "rows"), (True, "subjects (groups=, --fold-by)")):
        own = [fit for fit in fits if fit.grouped == grouped]
        shown, true = mean_of(own, "shown"), mean_of(own, "fresh")
        counts = (f"{sum(getattr(fit, what) for fit in own)} of {len(own)}" for what in ("inside", "signal"))
        body.append([name, f"{shown:.3f}", f"{true:.3f}", *counts])
    honest, inflated = ([fit for fit in fits if fit.grouped == grouped] for grouped in (True, False))
    inside, above = mean_of(honest, "inside"), mean_of(inflated, "shown") - mean_of(inflated, "fresh")
    return Section(
        ["split by", "accuracy shown", "on fresh subjects", "inside the interval", "signal"],
        body,
        [
            Verdict(f"inside with groups in {percent(inside)}", ">= 85 %", inside >= 0.85),
            Verdict(f"{above:.3f} too high without groups", "> 0.1", above > 0.1),
        ],
    )
