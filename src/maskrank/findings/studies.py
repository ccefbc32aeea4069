"""The answer of a study: on how many of its data sets our method is best, tied or behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from maskrank.core.metrics import METRICS
from maskrank.findings.comparisons import compared
from maskrank.findings.finding import Certainty, Finding, capital, counted, listed, named
from maskrank.terminal.text import lined_up

OURS = "dualnet"


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
    parts = [part for fits in studies for part in _parts(fits)]
    if not parts:
        return Finding(f"Study {name}", ("No fit of this study is done.",), "untested")
    verdicts = [(data, *_verdict(some)) for data, some in parts]
    if all(verdict == "alone" for _, verdict, _ in verdicts):
        shown = "; ".join(f"{named(data)}: {text}" for data, _, text in verdicts[:3])
        more = f"; {counted(len(verdicts) - 3)} more below" if len(verdicts) > 3 else ""
        return Finding(f"Study {name}: {OURS} alone", (f"{shown}{more}.",), "untested")
    compared_on = [entry for entry in verdicts if entry[1] != "alone"]
    counts = {kind: [entry for entry in compared_on if entry[1] == kind] for kind in ("best", "tied", "behind")}
    lines = [_count(counts, len(compared_on))]
    if counts["behind"]:
        lines.append(f"It is behind on {_told(counts['behind'])}.")
    certainty: Certainty = "clear" if counts["best"] and not counts["behind"] else "unclear"
    ahead = len(counts["best"]) + len(counts["tied"])
    return Finding(f"Study {name}: best or tied on {ahead} of {len(compared_on)}", tuple(lines), certainty)


def _parts(fits: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The fits of each data set, at the sizes that all methods have; a fold is one of a seed."""
    if "best_p" in fits:
        fits = fits.rename(columns={"problem": "data", "d": "size", "best_p": "score"}).assign(metric="accuracy")
    found = []
    for data, some in fits.groupby("data", sort=False):
        several = some.groupby("method")["size"].transform("nunique") > 1
        shared = [set(own["size"]) for _, own in some[several].groupby("method")]
        if shared and (common := set.intersection(*shared)):
            some = some[~several | some["size"].isin(common)]
        keys = [name for name in ("seed", "fold") if name in some]
        found.append((str(data), some.assign(fold=some[keys].astype(str).agg("/".join, axis=1))))
    return found


def _verdict(fits: pd.DataFrame) -> tuple[str, str]:
    """Best, tied, behind or alone, and the figures that say so."""
    metric = METRICS[fits["metric"].iloc[0]]
    standings = compared(fits, metric)
    ours = next((each for each in standings if each.method == OURS), None)
    if ours is None or len(standings) == 1:
        (mean,) = lined_up([standings[0].mean], 3)
        return "alone", f"{metric.title} {mean}"
    mean, best = lined_up([ours.mean, standings[0].mean], 3)
    if not ours.tied:
        return "behind", f"{mean} against {best} of {named(standings[0].method)}"
    alone = sum(each.tied for each in standings) == 1
    return ("best" if alone else "tied"), f"{metric.title} {mean}"


def _count(counts: dict[str, list[tuple[str, str, str]]], n: int) -> str:
    """On how many data sets our method is where."""
    of = f"On {counted(n)} data set{'' if n == 1 else 's'}, {OURS} is"
    said = [
        f"{word} on {'all' if len(entries) == n > 1 else counted(len(entries))}"
        + (f" ({listed([data for data, *_ in entries])})" if len(entries) < n and len(entries) <= 3 else "")
        for word, entries in (
            ("best", counts["best"]),
            ("tied for the best", counts["tied"]),
            ("behind", counts["behind"]),
        )
        if entries
    ]
    return f"{capital(of)} {'; '.join(said)}."


def _told(entries: list[tuple[str, str, str]]) -> str:
    shown = "; ".join(f"{named(data)} ({text})" for data, _, text in entries[:3])
    return shown + (f" and {counted(len(entries) - 3)} more" if len(entries) > 3 else "")
