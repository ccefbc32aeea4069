"""Results of a fitted model as text: JSON, CSV, and the summary above a ranking."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

import maskrank
from maskrank.core.config import TrainConfig
from maskrank.core.scoring.ranking import Ranking
from maskrank.csv_text import csv_text
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.ranking import ranking_columns
from maskrank.estimators.stopping import Finished
from maskrank.findings import ranking_finding
from maskrank.notes import figure_text, model_signal, notes, with_error

EXPLAINED = {"accuracy": "log-loss without any feature", "r2": "variance (R²)", "d2": "deviance (D²)"}
BESIDE = {"accuracy": "roc_auc", "roc_auc": "average_precision", "r2": "rmse"}  # a second figure on the screen


def task_name(model: DualNetBase) -> str:
    """The task as in ``--task``: classification, or what kind of numbers."""
    return "classification" if model.task_.discrete else model.task_.kind


def flat_settings(config: TrainConfig) -> dict[str, str]:
    """Every number of a config as text, those of a nested part as ``part.name``.

    Examples
    --------
    >>> from maskrank.core.config import DEFAULT
    >>> from maskrank.results import flat_settings
    >>> shown = flat_settings(DEFAULT)
    >>> shown["operator_hidden"], shown["tournament.enabled"]
    ('64, 32', 'True')
    """
    return dict(_flat("", config))


def _flat(prefix: str, part: Any) -> Iterator[tuple[str, str]]:
    for entry in fields(part):
        value = getattr(part, entry.name)
        if is_dataclass(value):
            yield from _flat(f"{prefix}{entry.name}.", value)
        else:
            yield f"{prefix}{entry.name}", _setting(value)


def _setting(value: Any) -> str:
    """A number, a text, a tuple of them, or a tuple of parts, of which only what is not their default is shown."""
    if isinstance(value, tuple):
        return ("; " if any(map(is_dataclass, value)) else ", ").join(map(_setting, value))
    if is_dataclass(value):
        own = {entry.name: getattr(value, entry.name) for entry in fields(value)}
        changed = {entry.name: own[entry.name] for entry in fields(value) if own[entry.name] != entry.default}
        return ", ".join(name if number is True else f"{name} {number}" for name, number in changed.items())
    return "none" if value is None else str(value)


def ranking_json(
    model: DualNetBase,
    *,
    seconds: float,
    question: Mapping[str, Any] | None = None,
    complete: bool = True,
    target: str | None = None,
) -> str:
    """The result of ``rank``, for other programs.

    Parameters
    ----------
    model : fitted estimator
    seconds : float
        What the fit took.
    question : dict, optional
        Columns of the table that are no features: target, weight, fold_by, ...
    complete : bool
        False where refits are missing because the run was stopped.
    target : str, optional
        What the target is called in the answer.
    """
    ranking, curve, finding = model.result_, model.size_curve_, ranking_finding(model, target)
    evidence = None if ranking.evidence is None else dict(zip(ranking.names, ranking.evidence.tolist(), strict=True))
    document = {
        "version": maskrank.__version__,
        "complete": complete,
        "answer": finding.answer,
        "certainty": finding.certainty,
        "task": task_name(model),
        **({} if question is None else {"question": dict(question)}),
        **({} if model.sample_ is None else {"sample": model.sample_.to_dict()}),
        "size": ranking.size,
        **ranking.to_dict(),
        "evidence": evidence,
        "size_curve": None if curve is None else _records(curve.columns()),
        "enough": None if curve is None else curve.enough,
        "metric": model.metric_.name,
        "validation": model.validation_score_,
        "baseline": model.baseline_score_,
        "validation_rows": model.n_validation_,
        "figures": {name: figure.to_dict() for name, figure in model.figures_.items()},
        "signal": model.signal_,
        "signal_pvalue": model.signal_pvalue_,
        "signal_text": model_signal(model),
        "notes": list(notes(model).values()),
        **({} if model.stability_ is None else {"stability": model.stability_.to_dict()}),
        "seconds": round(seconds, 3),
        "config": {**asdict(model.config_), "seed": model.random_state},
    }
    return as_json(document)


def stopped_json(finished: Finished, *, task: str, question: Mapping[str, Any] | None = None) -> str:
    """The result of a ``rank`` that was stopped before its fit was done: a ranking, or features that are not scored."""
    ranking = finished.ranking
    document = {
        "version": maskrank.__version__,
        "complete": False,
        "task": task,
        **({} if question is None else {"question": dict(question)}),
        "stage": finished.stage,
        "size": len(finished.subset) if ranking is None else ranking.size,
        **({"selected": list(finished.subset)} if ranking is None else ranking.to_dict()),
        "seconds": round(finished.seconds, 3),
    }
    return as_json(document)


def stopped_csv(finished: Finished) -> str:
    """The same as CSV: the column ``complete`` says that the fit was not done."""
    if finished.ranking is not None:
        return ranking_csv(finished.ranking, complete=False)
    return csv_text(["feature", "complete"], [(name, False) for name in finished.subset])


def as_json(document: Mapping[str, Any]) -> str:
    """A document as text, with null for a number that JSON does not know."""
    text = json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", errors="backslashreplace").decode() + "\n"  # a half of a pair of characters is \ud800


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """One object a row."""
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _finite(value: Any) -> Any:
    """The same document in plain Python, with null for a number that JSON does not know, such as the standard error of
    a single row.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def ranking_csv(ranking: Ranking, *, complete: bool = True) -> str:
    """All features, best first; a column ``complete`` only where the run was stopped."""
    columns = {"feature": np.array(ranking.names, dtype=object), **ranking_columns(ranking)}
    ordered = {name: columns[name][ranking.order].tolist() for name in ("rank", *columns)}
    if not complete:
        ordered["complete"] = [False] * len(ranking.names)
    return csv_text(list(ordered), list(zip(*ordered.values(), strict=True)))


def frame_csv(frame: pd.DataFrame) -> str:
    """Any frame, without its index; what is missing is empty."""
    filled = frame.astype(object).where(frame.notna(), "")
    return csv_text([str(name) for name in frame.columns], list(filled.itertuples(index=False, name=None)))


def facts(model: DualNetBase, *, time: str) -> list[tuple[str, str]]:
    """Labels and values of a fit: size, figures, signal, repeats, and the time it took."""
    stability = model.stability_
    repeats = [] if stability is None else [("repeats", f"{stability.repeats} refits on random 80 % subsamples")]
    size, required = model.result_.size, model.result_.n_required
    d = len(model.result_.names) - required
    kept = f", in addition to {required} required" if required else ""
    return [
        *_sample(model),
        ("chosen", (f"all {d:,} features" if size == d else f"{size} of {d:,} features") + kept),
        *_figures(model),
        *_explained(model),
        ("signal", model_signal(model)),
        *repeats,
        ("time", time),
    ]


def _sample(model: DualNetBase) -> list[tuple[str, str]]:
    """Of a table larger than memory: which rows chose, and which the predictor learned from."""
    sample = model.sample_
    if sample is None:
        return []
    more = f"; the predictor learned from {sample.n_learned:,} more" if sample.n_learned else ""
    return [("sample", f"chosen on a uniform sample of {sample.n_rows:,} of {sample.n_all:,} rows{more}")]


def _figures(model: DualNetBase) -> list[tuple[str, str]]:
    """The figure that is shown first, and a second one."""
    first = model.figures_[model.metric_.name]
    lines = [(first.metric.title, figure_text(first, model.n_validation_, unseen=model._unseen))]
    beside = model.figures_.get(BESIDE.get(model.metric_.name, ""))
    if beside is not None:
        value, error, baseline = with_error(beside)
        lines.append((beside.metric.title, f"{value}{error and f' ± {error}'}; {baseline} without any feature"))
    return lines


def _explained(model: DualNetBase) -> list[tuple[str, str]]:
    share = model.result_.explained_share
    if share is None:
        return []
    of = EXPLAINED[model.task_.figure]
    return [("explained", f"{100 * share:.1f} % of the {of}; scores are shares of it")]
