"""What a command is asked: the target and other columns with a role, and the model and rows that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from maskrank.cli.common import listed
from maskrank.terminal.text import shell_word

if TYPE_CHECKING:
    from maskrank.estimators.base import DualNetBase
    from maskrank.tables import Roles, Table

HELD_OUT = 0.2  # share of the rows, as the estimators' validation_fraction


@dataclass(frozen=True)
class Question:
    """What is asked of a table.

    Attributes
    ----------
    target : str or None
    task : str
        As ``--task``.
    drop : list of str
        Columns to leave out.
    skip_missing : bool
    roles : Roles
        Columns that are no features.
    """

    target: str | None
    task: str
    drop: list[str]
    skip_missing: bool
    roles: Roles


def ask(
    target: Sequence[str] | None,
    task: str,
    *,
    drop: Sequence[str] | None,
    skip_missing: bool,
    targets: str | None = None,
    time: str | None = None,
    event: str | None = None,
    weight: str | None = None,
    fold_by: str | None = None,
    time_order: str | None = None,
) -> Question:
    """The question that options ask; what contradicts itself is refused before anything is read."""
    from maskrank.tables import Roles
    from maskrank.tables.target import TASKS

    if task not in TASKS:
        raise ValueError(f"--task {task}: use {', '.join(TASKS[:-1])} or {TASKS[-1]}")
    named = list(target or ())
    if len(named) > 1:
        together = shell_word(",".join(named))
        raise ValueError(f"--target is given {len(named)} times: to predict several columns use --targets {together}")
    several = [] if targets is None else listed(targets)
    if targets is not None and len(several) < 2:
        raise ValueError(f"--targets {targets}: at least two columns are needed; one is --target")
    if (time is None) != (event is None):
        given, other = ("--time", "--event") if event is None else ("--event", "--time")
        raise ValueError(f"{given} goes with {other}: a survival table has a time and an event in each row")
    asked = [*(["--target"] if named else []), *(["--targets"] if several else []), *(["--time"] if time else [])]
    if len(asked) > 1:
        raise ValueError(f"{' and '.join(asked)} exclude each other: each says what to predict")
    if task == "survival" and time is None:
        raise ValueError("--task survival needs --time and --event")
    if time is not None and task not in ("auto", "survival"):
        raise ValueError(f"--task {task} does not go with --time and --event: they are survival")
    if fold_by is not None and time_order is not None:
        raise ValueError("--fold-by and --time-order exclude each other: give one of them")
    roles = Roles(several, time, event, weight, fold_by, time_order)
    return Question(named[0] if named else None, task, list(drop or ()), skip_missing, roles)


def check_metric(metric: str) -> None:
    """Refuse a figure that there is not."""
    from maskrank.core.metrics import METRICS

    known = ("auto", *METRICS)
    if metric not in known:
        raise ValueError(f"--metric {metric}: use {', '.join(known[:-1])} or {known[-1]}")


def make_model(table: Table, size: Any, *, balanced: bool, metric: str, **settings: Any) -> DualNetBase:
    """The estimator for the task of a table, not fitted yet.

    Parameters
    ----------
    table : Table
    size : int, float, str or None
        As the estimators take it.
    balanced : bool
        Whether all classes count the same.
    metric : str
        The figure to judge by.
    settings : dict
        Other parameters of the estimators.
    """
    import maskrank

    classes = table.task in ("classification", "ordered")
    if balanced and not classes:
        raise ValueError(f"--balanced is for classes, and the task is {table.task}")
    if balanced:
        settings["class_weight"] = "balanced"
    if table.task == "ordered":
        settings["ordered"] = True
    kind: type[DualNetBase] = getattr(maskrank, _ESTIMATORS.get(table.task, "DualNetClassifier"))
    allowed = kind.metric_names()
    if metric not in allowed:
        raise ValueError(f"--metric {metric} does not fit {table.task}; use {', '.join(allowed)}")
    return kind(size, metric=metric, **settings)


_ESTIMATORS = {"regression": "DualNetRegressor", "counts": "DualNetCounts", "survival": "DualNetSurvival"}


def fit_table(model: DualNetBase, table: Table) -> None:
    """Fit on a table: its weights and groups are handed on, and its latest rows judge where there is an order."""
    from maskrank.tables import latest_rows

    order = table.rows.order
    if order is None:
        model.fit(given_features(table), given_target(table), **row_arguments(table))
        return
    late = latest_rows(order, HELD_OUT)
    past, recent = table.take(~late), table.take(late)
    _check_past(past, recent)
    own = {"X_val": recent.X, "y_val": given_target(recent), **row_arguments(recent, "_val")}
    model.fit(given_features(past), given_target(past), **row_arguments(past), **own)


def given_features(table: Table) -> Any:
    """The features as the estimators take them: of a sample, with the way to the other rows of its table."""
    if table.others is None:
        return table.X
    from maskrank.estimators.large_tables import SampledFrame

    return SampledFrame(table.X, table.others)


def given_target(table: Table) -> Any:
    """The target as the estimators take it: several labels with their names."""
    import pandas as pd

    return pd.DataFrame(table.y, columns=list(table.roles.targets)) if table.task == "multilabel" else table.y


def row_arguments(table: Table, suffix: str = "") -> dict[str, Any]:
    """Weights and groups of rows as arguments of ``fit``, where there are some."""
    weights, groups = table.rows.weights, table.rows.groups
    given = {} if weights is None else {f"sample_weight{suffix}": weights}
    return given if groups is None or suffix else {**given, "groups": groups}


def _check_past(past: Table, recent: Table) -> None:
    """Refuse classes that only the latest rows have."""
    import numpy as np

    if past.task in ("classification", "ordered"):
        new = np.setdiff1d(recent.y, past.y)
        if len(new):
            raise ValueError(
                f"--time-order {past.roles.time_order}: class {str(new[0])!r} of the target only occurs in the latest "
                f"{len(recent.y):,} rows: it can't be learned from earlier ones"
            )
