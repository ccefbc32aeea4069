"""The answer of a comparison: which method is best, and which are tied with it.

Methods are compared on the same folds. Training rows of the folds overlap, so that differences between folds vary less
than those between new tables would; the standard error is corrected for it (Nadeau and Bengio 2003). A method is tied
with the best if it is behind by at most that error, and so are all better ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from maskrank.core.metrics import METRICS, Metric
from maskrank.findings.finding import Certainty, Finding, capital, certainty_of, counted, listed, named, to_error
from maskrank.terminal.text import lined_up

_MOST_NAMED = 3  # methods
_DIGITS = 12  # beyond, differences are those of rounding


@dataclass(frozen=True)
class Behind:
    """How far a method is behind the best one, over the folds that both have; with its standard error.

    It is tied with the best where it is behind by no more than that, and so are all methods in front of it.
    """

    method: str
    mean: float
    difference: float
    error: float
    tied: bool


@dataclass(frozen=True)
class Comparison(Finding):
    """The answer of a comparison, and the facts in it.

    Attributes
    ----------
    best : tuple of str
        The best method, and those that are tied with it.
    """

    best: tuple[str, ...] = ()


def comparison_finding(
    fits: pd.DataFrame,
    target: str,
    *,
    expected: Mapping[str, int] | None = None,
    of_all: Collection[str] = (),
) -> Comparison:
    """The answer of all fits, or of those that are done.

    Parameters
    ----------
    fits : DataFrame
        One row per fit: method, fold, metric, score.
    target : str
    expected : dict of str to int, optional
        How many fits there should be of each method; by default those that there are.
    of_all : collection of str
        Methods that predict from all features, not from the chosen ones.
    """
    metric = METRICS[fits["metric"].iloc[0]]
    standings = compared(fits, metric)
    tied = tuple(each.method for each in standings if each.tied)
    others, said_of = standings[1:], named(target)
    folds = int(fits["fold"].nunique())
    certainty: Certainty = "untested"
    if not others:
        title, sentences = f"{named(tied[0])} on {said_of}", [_alone(fits, metric, standings[0], folds)]
    elif len(tied) == 1:
        certainty = certainty_of(others[0].difference, others[0].error)
        title = f"{named(tied[0])} is best for {said_of}"
        sentences = [_ahead(metric, standings, said_of, certainty, folds)]
    else:
        certainty = "unclear"
        title = f"{_several(tied)} are tied for {said_of}"
        sentences = [_tie(metric, standings, tied, said_of, folds)]
    if everything := [method for method in tied if method in of_all]:
        verb = "predicts" if len(everything) == 1 else "predict"
        sentences.append(f"{listed(everything)} {verb} from all features, not from the chosen ones.")
    done = fits["method"].value_counts()
    if lacking := [method for method, n in (expected or {}).items() if done.get(method, 0) < n]:
        sentences.append(f"Fits of {_several(tuple(lacking))} are missing, so this is not the whole comparison.")
    return Comparison(title, tuple(sentences), certainty, tied)


def compared(fits: pd.DataFrame, metric: Metric) -> list[Behind]:
    """All methods, the best first, each with how far it is behind the best."""
    scores = fits.pivot_table(index="fold", columns="method", values="score", sort=False)
    means = scores.mean().sort_values(ascending=not metric.higher_is_better, kind="stable")
    best, tied = str(means.index[0]), True
    found = []
    for method, mean in means.items():
        apart = (metric.sign * (scores[best] - scores[method])).dropna().to_numpy()
        difference = round(float(apart.mean()), _DIGITS) if len(apart) else 0.0  # over the folds that both have
        error = 0.0 if method == best else paired_error(apart)
        tied = tied and not difference > error
        found.append(Behind(str(method), float(mean), difference, error, tied))
    return found


def paired_error(apart: np.ndarray) -> float:
    """The standard error of the mean of differences over folds, each of which is tested on once; infinite of one fold.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.findings.comparisons import paired_error
    >>> round(paired_error(np.array([0.1, 0.2, 0.3, 0.2, 0.2])), 4)
    0.0474
    """
    k = len(apart)
    if k < 2:
        return math.inf
    return round(float(np.sqrt(apart.var(ddof=1) * (1 / k + 1 / (k - 1)))), _DIGITS)


def _alone(fits: pd.DataFrame, metric: Metric, only: Behind, folds: int) -> str:
    (mean,) = lined_up([only.mean], 3)
    who = f"{named(only.method)} has {metric.title} {mean} on average over {_folds(folds)}"
    return f"{who}; there is nothing to compare it with."


def _several(methods: tuple[str, ...]) -> str:
    """Methods by name, or many of them by number."""
    return listed(methods) if len(methods) <= _MOST_NAMED else f"{capital(counted(len(methods)))} methods"


def _ahead(metric: Metric, standings: list[Behind], target: str, certainty: Certainty, folds: int) -> str:
    best, second = standings[:2]
    mean, difference, error = to_error([best.mean, second.difference], second.error)
    nearest = [each.method for each in standings[1:] if each.difference == second.difference]
    those = "that" if len(nearest) == 1 else "those"
    side = "higher" if metric.higher_is_better else "lower"
    doubt = ", which is less than two standard errors" if certainty == "likely" else ""
    return (
        f"{named(best.method)} is best for {target}: its {metric.title} is {mean} on average over "
        f"{_folds(folds)}, {difference} ± {error} {side} than {those} of {listed(nearest)}, the next{doubt}."
    )


def _tie(metric: Metric, standings: list[Behind], tied: tuple[str, ...], target: str, folds: int) -> str:
    means = [each.mean for each in standings if each.tied]
    behind = [each.method for each in standings if not each.tied]
    if folds < 2:
        return f"One fold can't tell which method is best for {target}: a difference has no standard error."
    every = len(tied) == len(standings) > _MOST_NAMED
    who = f"All {counted(len(tied))} methods" if every else _several(tied)
    low, high = lined_up([means[0], means[-1]], 3)
    shown = f"{metric.title} {low}" if low == high else f"{metric.title} {low} to {high}"
    line = f"{who} are tied for {target} ({shown}, mean over {_folds(folds)}): "
    line += "they differ by less than the standard error."
    if behind:
        line += f" {listed(behind)} {'is' if len(behind) == 1 else 'are'} behind."
    return line


def _folds(folds: int) -> str:
    return f"{folds} fold{'' if folds == 1 else 's'}"
