"""``compare`` and ``sweep``: cross-validation of methods, and of sizes, on a user's own table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.core.metrics import METRICS, R_SQUARED, ROOT_MEAN_SQUARED_ERROR
from maskrank.estimators.checkpoints import Identity, digest, open_checkpoint
from maskrank.parallel.time_limit import TimeLimit, close_workers
from maskrank.size_choice import smallest_size
from maskrank.study.folds import table_folds
from maskrank.study.names import OURS, check_method, check_sizes
from maskrank.study.protocol import KINDS, Samples, evaluate, uses_all_features
from maskrank.study.runner import Job, Result, one_by_one, run_jobs
from maskrank.tables import Table
from maskrank.terminal.text import brief_seconds, grouped, lined_up, short

Array = NDArray[Any]


def compare_methods(
    table: Table,
    methods: Sequence[str],
    sizes: Sequence[int],
    *,
    folds: int = 5,
    seed: int = 0,
    preset: str = "default",
    n_jobs: int = 1,
    timeout: float | None = None,
    quiet: bool = False,
    told: Callable[[Result], None] | None = None,
    checkpoint: str | None = None,
) -> tuple[pd.DataFrame, list[Result]]:
    """Each method at each size on each fold of a table (see `table_folds`); our method receives the groups of rows.

    Parameters
    ----------
    timeout : float, optional
        Seconds after which a fit is ended, and fails (see `timed_out`).
    checkpoint : str, optional
        A folder that stores every finished fit; fits in it are not repeated.

    Returns
    -------
    fits : DataFrame
        One row per fit: method, size, fold, metric, score, seconds, selected; of numbers the score is R²,
        and rmse is in the unit of the target.
    failed : list of dict
    """
    _check(table, methods, sizes)
    jobs = table_jobs(methods, sizes, folds)
    numbers = all(kind == np.float64 for kind in table.X.dtypes)
    rows = Samples(table.X.to_numpy() if numbers else table.X, np.asarray(table.y), table.rows.groups)
    divided = table_folds(table, folds, seed)
    fit = one_by_one(partial(_fit, rows=rows, folds=divided, task=table.task, seed=seed, preset=preset))
    work = fit if timeout is None else TimeLimit(fit, timeout)
    folder = None
    if checkpoint is not None:
        folder = open_checkpoint(checkpoint, _identity(table, rows, folds=folds, seed=seed, preset=preset)).path
    try:
        finished, failed = run_jobs(jobs, work, folder, n_jobs=n_jobs, resume=True, quiet=quiet, told=told)
    finally:
        close_workers()
    return pd.DataFrame(finished), failed


def table_jobs(methods: Sequence[str], sizes: Sequence[int], folds: int) -> list[Job]:
    """What `compare_methods` runs; a method that predicts from all features at the first size alone."""
    return [
        {"method": method, "size": size, "fold": fold}
        for method in methods
        for size in (sizes[:1] if uses_all_features(method) else sizes)
        for fold in range(folds)
    ]


def timed_out(line: Result) -> bool:
    """Whether a fit ran out of time."""
    return str(line.get("error", "")).startswith(_TIMED_OUT)


_TIMED_OUT = "TimeoutError: "  # before the message, as `run_jobs` notes errors


def _identity(table: Table, rows: Samples, **settings: Any) -> Identity:
    """What a fit of a comparison depends on, beside its method, size and fold."""
    values = [rows.X[name].to_numpy() for name in rows.X] if isinstance(rows.X, pd.DataFrame) else [rows.X]
    data = {
        "data": digest(*values),
        "columns": digest(list(table.names), list(map(str, table.X.dtypes))),
        "targets": digest(rows.y),
        "groups of rows": digest(rows.groups),
        "order of rows": digest(table.rows.order),
    }
    return Identity(data, {"task": table.task, **settings})


def _fit(job: Job, *, rows: Samples, folds: list[Any], task: str, seed: int, preset: str) -> Result:
    settings = {"preset": preset} if job["method"].partition("+")[0] == OURS else {}
    fold = folds[job["fold"]]
    line = evaluate(job["method"], rows, fold, job["size"], task=task, seed=seed + job["fold"], settings=settings)
    if task == "regression":
        return {"metric": R_SQUARED.name, **line, **_of_error(line["score"], rows.y)}
    return {"metric": KINDS[task].metric.name, **line}


def _of_error(mean_squared: float, y: Array) -> dict[str, float]:
    """R² by the variance of the whole target, so that its mean over folds is that of all rows, and the RMSE."""
    return {"score": float(1 - mean_squared / np.var(y)), "rmse": float(np.sqrt(mean_squared))}


def _check(table: Table, methods: Sequence[str], sizes: Sequence[int]) -> None:
    for method in methods:
        check_method(method)
    check_sizes(sizes, table.X.shape[1])


def comparison_rows(
    fits: pd.DataFrame, names: Sequence[str], *, folds: int | None = None, failed: Sequence[Result] = ()
) -> tuple[list[str], list[list[str]]]:
    """Head and lines of a table, the best method first: score, what a fit takes, and what every fold chose.

    Parameters
    ----------
    folds : int, optional
        How many there should be: a column counts those that are done, where some are missing.
    failed : list of dict
        Fits that took too long, among others; methods without any other are below.
    """
    late = [line for line in failed if timed_out(line)]
    without = [method for method in dict.fromkeys(line["method"] for line in late) if not _has(fits, method)]
    head, lines = _compared(fits, names) if len(fits) else (["method", "score", "± std", "seconds", ""], [])
    lines += [[method, "", "", "", ""] for method in without]
    for line in lines:
        own = [entry for entry in late if entry["method"] == line[0].removesuffix(_ALL)]
        if own:
            said = own[0]["error"].removeprefix(_TIMED_OUT)
            line[-1] = said if line[0] in without else f"{line[-1]}; {said}: {len(own)} of {folds} folds"
    if folds is not None and any(_done(fits, line[0]) < folds for line in lines):
        head.insert(-1, "folds")
        for line in lines:
            line.insert(-1, f"{_done(fits, line[0])} of {folds}")
    return head, lines


_ALL = " (all features)"


def _has(fits: pd.DataFrame, method: str) -> bool:
    return bool(len(fits)) and method in set(fits["method"])


def _done(fits: pd.DataFrame, label: str) -> int:
    return int((fits["method"] == label.removesuffix(_ALL)).sum()) if len(fits) else 0


def _compared(fits: pd.DataFrame, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    metric = fits["metric"].iloc[0]
    body = []
    for method, some in fits.groupby("method", sort=False):
        always = set.intersection(*(set(chosen) for chosen in some["selected"]))
        shown = ", ".join(short(names[i]) for i in some["selected"].iloc[0] if i in always)
        label = f"{method}{_ALL}" if uses_all_features(str(method)) else str(method)
        error = some["rmse"].mean() if "rmse" in some else 0.0
        spread, seconds = some["score"].std(ddof=0), some["seconds"].mean()
        body.append((some["score"].mean(), spread, error, seconds, label, shown or "none"))
    body.sort(key=lambda line: line[0], reverse=METRICS[metric].higher_is_better)
    means, spreads, errors, times, labels, shown_features = zip(*body, strict=True)
    in_unit = [grouped(errors, 4)] if "rmse" in fits else []
    columns = (labels, lined_up(means, 4), lined_up(spreads, 2), *in_unit, map(brief_seconds, times), shown_features)
    head = ["method", METRICS[metric].title, "± std", *_unit_head(fits), "seconds", "chosen in every fold"]
    return head, [list(line) for line in zip(*columns, strict=True)]


def _unit_head(fits: pd.DataFrame) -> list[str]:
    return [ROOT_MEAN_SQUARED_ERROR.name.upper()] if "rmse" in fits else []


def sweep_rows(fits: pd.DataFrame, *, folds: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Head and lines of a table, one per size: score, standard error, seconds; the size to take is marked.

    With the number of folds that there should be, they are counted in place of that.
    """
    chosen = smallest_size(fits)
    by_size = fits.groupby("size")
    means, errors = by_size["score"].mean(), by_size["score"].std(ddof=1) / np.sqrt(by_size["score"].count())
    columns = (
        [str(size) for size in means.index],
        lined_up(means.tolist(), 4),
        [text.replace("nan", "") for text in lined_up(errors.tolist(), 2)],
        *([grouped(by_size["rmse"].mean().tolist(), 4)] if "rmse" in fits else []),
        [brief_seconds(value) for value in by_size["seconds"].mean()],
        ["enough" if size == chosen else "" for size in means.index]
        if folds is None
        else [f"{count} of {folds}" for count in by_size["score"].count()],
    )
    figure = METRICS[fits["metric"].iloc[0]].title
    head = ["size", figure, "std. error", *_unit_head(fits), "seconds", "" if folds is None else "folds"]
    return head, [list(line) for line in zip(*columns, strict=True)]
