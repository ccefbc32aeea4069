"""The answer of a study: on how many of its data sets our method is best, tied or behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from maskrank.core.metrics import METRICS, Metric
from maskrank.findings.comparisons import compared
from maskrank.findings.finding import Certainty, Finding, counted, listed, named
from maskrank.terminal.text import lined_up

OURS = "dualnet"
_BEST_P = Metric("best_p", "best-p", higher_is_better=True)
_MOST_TOLD = 3  # data sets with their figures


def finished_fits(folder: Path) -> list[pd.DataFrame]:
    """The fits that a study has written to a folder."""
    return [pd.read_csv(file) for file in (folder / "fits.csv", folder / "needles.csv") if file.exists()]


def study_finding(name: str, studies: Sequence[pd.DataFrame]) -> Finding:
    """The answer of one or several studies.

    Parameters
    ----------
    name : str
        Of the study.
    studies : sequence of DataFrame
        One row per fit: data, method, size, fold, metric and score, or problem, method, d, fold and best_p.
    """
    parts = [part for fits in studies for part in study_parts(fits)]
    if not parts:
        return Finding(f"Study {name}", ("No fit of this study is done.",), "untested")
    verdicts = [_verdict(part) for part in parts]
    compared_on = [verdict for verdict in verdicts if verdict.kind != "alone"]
    if not compared_on:
        more = f"; {counted(len(verdicts) - _MOST_TOLD)} more below" if len(verdicts) > _MOST_TOLD else ""
        return Finding(f"Study {name}: one method", (f"{_told(verdicts)}{more}.",), "untested")
    lines = [_count(compared_on)]
    if behind := [verdict for verdict in compared_on if verdict.kind == "behind"]:
        more = f" and {counted(len(behind) - _MOST_TOLD)} more" if len(behind) > _MOST_TOLD else ""
        lines.append(f"It is behind on {_told(behind)}{more}.")
    certainty: Certainty = "clear" if any(verdict.kind == "best" for verdict in compared_on) else "unclear"
    n, ahead = len(compared_on), len(compared_on) - len(behind)
    title = f"Study {name}: {OURS} is best or tied on {ahead} of {n} data set{'' if n == 1 else 's'}"
    return Finding(title, tuple(lines), certainty)


@dataclass(frozen=True)
class StudyPart:
    """The fits of one data set, at the sizes that all methods have; a fold is one of a seed."""

    data: str
    fits: pd.DataFrame
    metric: Metric


def study_parts(fits: pd.DataFrame) -> list[StudyPart]:
    """The fits of a study by data set."""
    needles = "best_p" in fits
    if needles:
        fits = fits.rename(columns={"problem": "data", "d": "size", "best_p": "score"})
    found = []
    for data, some in fits.groupby("data", sort=False):
        several = some.groupby("method")["size"].transform("nunique") > 1
        shared = [set(own["size"]) for _, own in some[several].groupby("method")]
        if shared and (common := set.intersection(*shared)):
            some = some[~several | some["size"].isin(common)]
        keys = [name for name in ("seed", "fold") if name in some]
        metric = _BEST_P if needles else METRICS[some["metric"].iloc[0]]
        found.append(StudyPart(str(data), some.assign(fold=some[keys].astype(str).agg("/".join, axis=1)), metric))
    return found


class _Verdict(NamedTuple):
    """Best, tied, behind or alone, and the figures that say so."""

    data: str
    kind: str
    text: str


def _verdict(part: StudyPart) -> _Verdict:
    standings, title = compared(part.fits, part.metric), part.metric.title
    ours = next((each for each in standings if each.method == OURS), None)
    if ours is None or len(standings) == 1:
        (mean,) = lined_up([standings[0].mean], 3)
        return _Verdict(part.data, "alone", f"{title} {mean} by {named(standings[0].method)}")
    mean, best = lined_up([ours.mean, standings[0].mean], 3)
    if not ours.tied:
        return _Verdict(part.data, "behind", f"{title} {mean} against {best} of {named(standings[0].method)}")
    alone = sum(each.tied for each in standings) == 1
    return _Verdict(part.data, "best" if alone else "tied", f"{title} {mean}")


def _count(verdicts: Sequence[_Verdict]) -> str:
    """On how many data sets our method is where."""
    n = len(verdicts)
    where = []
    for kind, words in (("best", "best"), ("tied", "tied for the best"), ("behind", "behind")):
        some = [verdict for verdict in verdicts if verdict.kind == kind]
        if len(some) == n:
            every = f"all {counted(n)} data sets" if n > 2 else "both data sets" if n == 2 else "the one data set"
            return f"{OURS} is {words} on {every}: {_told(some)}{', …' if n > _MOST_TOLD else ''}."
        if some:
            names = f" ({listed([verdict.data for verdict in some])})" if len(some) <= _MOST_TOLD else ""
            where.append(f"{words} on {counted(len(some))}{names}")
    return f"On {counted(n)} data sets, {OURS} is {', '.join(where[:-1])} and {where[-1]}."


def _told(verdicts: Sequence[_Verdict]) -> str:
    return ", ".join(f"{named(verdict.data)} ({verdict.text})" for verdict in verdicts[:_MOST_TOLD])
