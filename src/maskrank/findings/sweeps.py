"""The answer of a sweep: the fewest features that are as good as any number of them."""

from __future__ import annotations

import math

import pandas as pd

from maskrank.core.metrics import METRICS
from maskrank.findings.finding import Certainty, Finding, capital, counted, named
from maskrank.size_choice import smallest_size
from maskrank.terminal.text import lined_up


def sweep_finding(fits: pd.DataFrame, target: str, d: int, *, complete: bool = True) -> Finding:
    """The answer of all fits of a sweep, or of those that are done.

    Parameters
    ----------
    fits : DataFrame
        One row per fit: size, fold, metric, score.
    target : str
    d : int
        Number of features of the table.
    complete : bool
        Whether there are no more to come.
    """
    metric, by_size = METRICS[fits["metric"].iloc[0]], fits.groupby("size")["score"]
    means, errors = by_size.mean(), by_size.sem()
    enough, best = smallest_size(fits), int((metric.sign * means).idxmax())
    value, top, error = lined_up([means[enough], means[best], errors[best]], 3)
    spread = f" ± {error}" if math.isfinite(errors[best]) else ""
    said_of, certainty = named(target), _certainty(len(means), spread)
    who = f"{capital(counted(enough))} of {counted(d)} features {'is' if enough == 1 else 'are'} enough for {said_of}"
    if len(means) == 1:
        lines = [
            f"{capital(counted(enough))} of {counted(d)} features give {metric.title} {value}; no other size was tried."
        ]
    elif enough != best:
        lines = [f"{who}: {metric.title} {value} is within one standard error of the best, {top}{spread} with {best}."]
    elif enough == int(means.index.min()):
        lines = [f"{who}: {metric.title} {value}{spread} is the best there is, and no fewer were tried."]
    else:
        lines = [f"{who}: {metric.title} {value}{spread} is the best, and fewer are worse by more than that error."]
    if len(means) > 1 and enough == int(means.index.max()) and enough < d - 1:
        lines.append("That is the largest size that was tried: more may be better.")
    if not complete:
        lines.append("Fits are missing, so this is not the whole sweep.")
    plural = "feature is" if enough == 1 else "features are"
    title = f"{capital(counted(enough))} {plural} enough for {said_of}" if len(means) > 1 else f"One size for {said_of}"
    return Finding(title, tuple(lines), certainty)


def _certainty(sizes: int, spread: str) -> Certainty:
    return "untested" if sizes == 1 else "unclear" if not spread else "clear"
