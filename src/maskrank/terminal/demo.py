"""``maskrank demo``: the three synthetic problems of the paper on one screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from sklearn.metrics import accuracy_score, mean_squared_error

from maskrank.datasets import Problem, make_nonlinear_regression, make_orange_skin, make_xor
from maskrank.estimators import DualNetClassifier, DualNetRegressor
from maskrank.estimators.all_features import all_features_figures
from maskrank.estimators.base import DualNetBase
from maskrank.notes import notes
from maskrank.report import RankingSection
from maskrank.terminal.ranking import show_ranking

_SIZE = 5


@dataclass(frozen=True)
class DemoProblem:
    """A problem, its metric, and the best attainable value of it, by Monte Carlo over 2 million rows."""

    title: str
    make: Callable[..., Problem]
    estimator: type[DualNetBase]
    measure: Callable[..., float]
    attainable: float


PROBLEMS = (
    DemoProblem("XOR as 4-way classification", make_xor, DualNetClassifier, accuracy_score, 0.7828),
    DemoProblem("Nonlinear regression", make_nonlinear_regression, DualNetRegressor, mean_squared_error, 1.0),
    DemoProblem("Binary classification (orange skin)", make_orange_skin, DualNetClassifier, accuracy_score, 0.9710),
)


def run_demo(
    console: Console,
    *,
    done: Callable[[RankingSection], None] | None = None,
    verbose: int = 0,
    max_batches: int | None = None,
    callbacks: tuple[Any, ...] = (),
    after_fit: Callable[[Any], None] | None = None,
) -> None:
    """Fit and show the three problems: 512 rows to learn from, 1,024 fresh ones to test on.

    Parameters
    ----------
    done : callable, optional
        Called with what a report says of each problem.
    callbacks : tuple of callable
        Of each fit.
    after_fit : callable, optional
        Called with each fitted model.
    """
    for problem in PROBLEMS:
        X, y, relevant = problem.make(512, random_state=0)
        X_test, y_test, _ = problem.make(1024, random_state=1)
        started = time.perf_counter()
        model = problem.estimator(
            _SIZE, random_state=0, verbose=verbose, max_batches=max_batches, callbacks=callbacks
        ).fit(X, y)
        seconds = time.perf_counter() - started
        if after_fit is not None:
            after_fit(model)
        value = float(problem.measure(y_test, model.predict(X_test)))
        metric = model.task_.metric.title
        result = f"{value:.3f} on 1,024 test rows; the best attainable is {problem.attainable:.3f}"
        known = _ranked_first({f"x{i}" for i in relevant}, model.result_.selected)
        console.print(f"{problem.title}: {_SIZE} of {X.shape[1]} features, {seconds:.1f} s", style="bold")
        console.print(f"relevant: {known}")
        show_ranking(console, model.result_)
        if (size := notes(model).get("size")) is not None:
            console.print(f"size: {size}", markup=False)
        console.print(f"{metric} {result}\n")
        if done is not None:
            facts = [("relevant", known), (metric, result), ("time", f"{seconds:.1f} s")]
            reference = all_features_figures(model, X, y)
            done(RankingSection(problem.title, model, facts, seconds, X, y, all_features=reference, row_by_row=True))


def _ranked_first(relevant: set[str], selected: tuple[str, ...]) -> str:
    """The features that matter, and how many of them were ranked before all others.

    Examples
    --------
    >>> _ranked_first({"x0", "x1"}, ("x1", "x0", "x7")), _ranked_first({"x0", "x1"}, ("x1", "x7"))
    ('x0, x1; both come first', 'x0, x1; 1 of 2 is among the first 2')
    """
    n = len(relevant)
    first = len(relevant.intersection(selected[:n]))
    every = "both" if n == 2 else f"all {n}"
    found = (
        f"{every} come first" if first == n else f"{first} of {n} {'is' if first == 1 else 'are'} among the first {n}"
    )
    return f"{', '.join(sorted(relevant))}; {found}"
