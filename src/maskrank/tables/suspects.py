"""Columns to check before a ranking is believed: identifiers, leaks, subjects with several rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from maskrank.tables.identifiers import find_identifiers, identifier_lines
from maskrank.tables.leaks import find_leaks, follow_up_times, leak_line, survival_leaks
from maskrank.tables.roles import Roles
from maskrank.tables.subjects import find_subject, subject_line
from maskrank.tables.target import CLASSES, Outcome
from maskrank.terminal.text import drop_flags, shell_word

_MOST_LINES = 5


def suspicious_columns(
    X: pd.DataFrame, outcome: Outcome, roles: Roles, asked: Sequence[str], *, left_out: pd.DataFrame
) -> list[str]:
    """One line for each column that looks as if it did not belong, which names it and says what to check.

    Parameters
    ----------
    X : DataFrame (n, d)
    outcome : Outcome
    roles : Roles
    asked : sequence of str
        Names of the columns that are predicted.
    left_out : DataFrame (n, columns)
        Columns that are no features.
    """
    first = outcome.columns[0]
    found = find_identifiers(X, first)
    known, lines = set(found), identifier_lines(found)
    classes = outcome.task in (*CLASSES, "multilabel")
    single = not (roles.targets or roles.is_survival)
    subject = None
    if single and roles.fold_by is None:
        subject = find_subject(X, first, discrete=classes, left_out=left_out)
        if subject is not None:
            known.add(subject)
            lines.append(f"{subject_line(subject)}; keep them together with --fold-by {shell_word(subject)}")
    leaks = _leaks(X.drop(columns=list(known), errors="ignore"), outcome, asked, classes)
    lines += [f"{line}, or leave it out with {drop_flags([name])}" for name, line in leaks.items()][:_MOST_LINES]
    more = len(leaks) - _MOST_LINES
    return lines + ([f"{more} more columns alone predict the target almost perfectly"] if more > 0 else [])


def _leaks(X: pd.DataFrame, outcome: Outcome, asked: Sequence[str], classes: bool) -> dict[str, str]:
    """Columns that may leak the target, and the line about each."""
    if outcome.task == "survival":
        time, event = outcome.columns
        return {
            name: f"column {name!r} leaks {what}: check that it is known when the observation begins"
            for name, what in survival_leaks(X, time, event).items()
        }
    found: dict[str, str] = {}
    for target, values in zip(asked, outcome.columns, strict=True):
        for name, why in find_leaks(X, values, discrete=classes).items():
            found.setdefault(name, leak_line(name, f"the target {target!r}", why))
    if outcome.task == "classification" and len(asked) == 1:
        for name in follow_up_times(X, outcome.values, asked[0]):
            line = (
                f"column {name!r} looks like the time until {asked[0]!r}, which is not known beforehand: ask with "
                f"--time {shell_word(name)} --event {shell_word(asked[0])}"
            )
            found.setdefault(name, line)
    return found
