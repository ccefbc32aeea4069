"""The report of one or several rankings: scores, stability, how to read them, and the history of the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.core.metrics import FIGURE_TITLES
from maskrank.core.recorder import History
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figure, Figures
from maskrank.estimators.hazards import RiskGroup
from maskrank.images import among_chosen, overlay, png
from maskrank.notes import model_signal, notes, with_error
from maskrank.report.charts import Line, heat, line_chart, size_chart, spans
from maskrank.report.page import data_address, packed, render
from maskrank.results import flat_settings, ranking_csv, ranking_json
from maskrank.tables.description import share_text
from maskrank.terminal.text import lined_up
from maskrank.units import in_shown_unit, map_scores, score_text, shown_errors

Array = NDArray[Any]

_MOST_BARS = 1_000
_MOST_IN_TIME = 40  # features of the picture of m_opt over time
_MOST_CORRELATED = 30
_MOST_CLASSES = 12
_MOST_COLUMNS = 1_000  # of the table that says how they were read
_MOST_MAPS = 10  # classes with a mean image


@dataclass(frozen=True)
class RankingSection:
    """One ranking of a report.

    Attributes
    ----------
    title : str
    model : fitted DualNetClassifier or DualNetRegressor
    facts : list of (label, value)
        Data, task and result.
    seconds : float
        What the fit took.
    X, y : array or frame (n, d), array (n,), optional
        Training data: for the balance of the classes, correlations and mean images.
    all_features : dict of str to Figure, optional
        The figures of the same nets on all features.
    image_shape : (height, width), optional
        Where the features are the pixels of an image.
    question : dict, optional
        Columns of the table that are no features, for the JSON.
    complete : bool
        False where refits are missing because the run was stopped.
    """

    title: str
    model: DualNetBase
    facts: Sequence[tuple[str, str]]
    seconds: float
    X: Array | pd.DataFrame | None = None
    y: Array | None = None
    all_features: Figures | None = None
    image_shape: tuple[int, int] | None = None
    question: Mapping[str, Any] | None = None
    complete: bool = True


def ranking_report(title: str, sections: Sequence[RankingSection], *, command: str) -> str:
    """The report as HTML text."""
    return render("ranking.html", title=title, command=command, sections=[_view(section) for section in sections])


def _view(section: RankingSection) -> dict[str, Any]:
    model = section.model
    ranking: Ranking = model.result_
    correlations = [] if section.X is None else _correlations(_frame(section.X, ranking.names), ranking.selected)
    return {
        "title": section.title,
        "facts": section.facts,
        "signal": model.signal_,
        "signal_text": model_signal(model),
        "notes": notes(model),
        "size_curve": _size_curve(model),
        "figures": _figures(section),
        "balance": _balance(section.y) if model.task_.discrete and section.y is not None else [],
        "bars": _bars(ranking),
        "measured": ranking.measured,
        "evidence": ranking.measured and ranking.evidence is not None,
        "d": len(ranking.names),
        "size": ranking.size,
        "risk_groups": _risk_groups(model),
        "stability": _stability(model),
        "searched": bool(model.history_.batch),
        "losses": _losses(model.history_) if model.history_.batch else [],
        "in_time": _in_time(ranking, model.history_),
        "correlations": correlations,
        "columns": _columns(model),
        "maps": _maps(section, ranking),
        "settings": {**flat_settings(model.config_), "seed": model.random_state},
        "json": packed(
            ranking_json(model, seconds=section.seconds, question=section.question, complete=section.complete)
        ),
        "csv": packed(ranking_csv(ranking, complete=section.complete)),
    }


def _figures(section: RankingSection) -> dict[str, Any]:
    """The headline figure with those of no feature and of all features, and below it all other figures."""
    model, ranking = section.model, section.model.result_
    headline, others = model.figures_[model.metric_.name], section.all_features or {}
    chosen = f"all {ranking.size:,}" if ranking.support.all() else f"the {ranking.size} chosen"
    values = [("without any feature", headline.baseline), (chosen, headline.value)]
    if headline.metric.name in others:
        values.append((f"all {len(ranking.names):,}, the same nets", others[headline.metric.name].value))
    metric = headline.metric
    largest = 1.0 if metric.higher_is_better else max(value for _, value in values) or 1.0
    texts = lined_up([value for _, value in values], 4)
    errors = ["", with_error(headline)[1], ""]
    rows = [
        (name, text + (error and f" ± {error}"), round(100 * max(0.0, value) / largest, 1))
        for (name, value), text, error in zip(values, texts, errors, strict=False)
    ]
    return {
        "metric": metric.title,
        "rises": metric.higher_is_better,
        "rows": rows,
        "n": model.n_validation_,
        "unseen": model._unseen,
        "all": [_line(figure, others.get(name)) for name, figure in model.figures_.items()],
        "others": bool(others),
    }


def _line(figure: Figure, other: Figure | None) -> dict[str, str]:
    """One figure of the table of all of them, as text."""
    value, error, baseline = with_error(figure)
    low, high = (with_error(replace(figure, value=end))[0] for end in (figure.low, figure.high))
    return {
        "title": figure.metric.title,
        "better": "higher" if figure.metric.higher_is_better else "lower",
        "value": value + (error and f" ± {error}"),
        "interval": f"{low} to {high}",
        "baseline": baseline,
        "other": "" if other is None else with_error(replace(figure, value=other.value))[0],
    }


def _balance(y: Array) -> list[tuple[str, int, float]]:
    """Classes by their rows, the largest first: label, rows, share in %."""
    labels, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = [(str(labels[i]), int(counts[i])) for i in order[:_MOST_CLASSES]]
    if len(order) > _MOST_CLASSES:
        rest = order[_MOST_CLASSES:]
        shown.append((f"{len(rest)} more classes", int(counts[rest].sum())))
    return [(label, count, round(100 * count / len(y), 1)) for label, count in shown]


def _bars(ranking: Ranking) -> list[dict[str, Any]]:
    """The chosen features: where each bar and its whisker begin and how long they are, in % of the track."""
    chosen = ranking.chosen[:_MOST_BARS]
    scores, errors = in_shown_unit(ranking, ranking.scores)[chosen], shown_errors(ranking)
    ends = np.stack([scores, scores] if errors is None else [scores - errors[chosen], scores + errors[chosen]])
    low, high = min(0.0, float(scores.min())), max(0.0, float(scores.max()), float(ends.max()))
    span = (high - low) or 1.0
    starts, stops = (np.clip(100 * (side - low) / span, 0, 100) for side in ends)
    return [
        {
            "rank": rank,
            "name": ranking.names[i],
            "score": score_text(ranking, int(i)),
            "left": round(100 * (min(0.0, float(score)) - low) / span, 2),
            "width": round(100 * abs(float(score)) / span, 2),
            "whisker": None if errors is None else (round(float(start), 2), round(float(stop - start), 2)),
            "zero": round(100 * -low / span, 2),
        }
        for rank, (i, score, start, stop) in enumerate(zip(chosen, scores, starts, stops, strict=True), 1)
    ]


def _size_curve(model: DualNetBase) -> dict[str, Any] | None:
    """The chart of the size curve, where there are at least two sizes."""
    curve = model.size_curve_
    if curve is None or len(curve.sizes) < 2:
        return None
    figure, ends = FIGURE_TITLES[curve.figure], ", by the log-loss" if curve.figure == "accuracy" else ""
    name = f"{figure} on held-out rows, with one standard error"
    points = (curve.sizes.tolist(), curve.figures.tolist(), curve.figures_std.tolist())
    chart = size_chart(*points, curve.enough, name=name, y_label=figure)
    return {"chart": chart, "enough": curve.enough, "by": ends}


def _risk_groups(model: DualNetBase) -> dict[str, Any] | None:
    """Survival curves of the held-out rows by predicted risk; None for other tasks, and of a model from a file."""
    groups = getattr(model, "risk_groups_", [])
    lines = [
        Line(f"{group.name}: {group.n_events} events in {group.n} rows", kind, _stairs(group))
        for group, kind in zip(groups, ("third", "second", "first"), strict=False)
    ]
    return line_chart(lines, x_label="time", y_label="without an event", whole_x=False) if lines else None


def _stairs(group: RiskGroup) -> list[tuple[float, float]]:
    """The corners of a survival curve, from 0 to the last time."""
    before = [1.0, *group.survival.tolist()]
    corners = [
        point
        for t, left, right in zip(group.times.tolist(), before[:-1], before[1:], strict=True)
        for point in ((t, left), (t, right))
    ]
    return [(0.0, 1.0), *corners, (group.last, before[-1])]


def _stability(model: DualNetBase) -> dict[str, Any] | None:
    """Selection frequencies over the refits, if any: features chosen at least once, in consensus order."""
    stability = model.stability_
    if stability is None:
        return None
    ranks = (stability.rank_low, stability.rank_median, stability.rank_high)
    given = (stability.score_low, stability.score_median, stability.score_high)
    scores = [in_shown_unit(model.result_, values) for values in given]
    rows = [
        {
            "name": stability.names[i],
            "frequency": round(100 * float(stability.frequency[i]), 1),
            "rank": tuple(float(values[i]) for values in ranks),
            "score": tuple(float(values[i]) for values in scores),
            "selected": bool(model.support_[i]),
        }
        for i in stability.order
        if stability.frequency[i] > 0
    ]
    return {"repeats": stability.repeats, "rows": rows[:_MOST_BARS]}


def _losses(history: History) -> list[dict[str, Any]]:
    """Both nets' losses over the batches, with the phases marked."""
    begin = [(float(history.batches.get("explore", 0)), "the search begins")]
    operator = Line("operator, all subsets", "first", list(zip(history.batch, history.operator_loss, strict=True)))
    judged = Line("best subset, held-out rows", "second", history.validation, marked=len(history.validation) < 60)
    selector = Line("selector", "third", list(zip(history.batch, history.selector_loss, strict=True)))
    return [
        line_chart([operator, judged], x_label="operator batches", y_label="the operator's loss", marks=begin),
        line_chart([selector], x_label="operator batches", y_label="the selector's loss", marks=begin),
    ]


def _in_time(ranking: Ranking, history: History) -> dict[str, Any]:
    """When each feature was in the best subset, those of the final one first."""
    if not history.optimal or not history.batch:
        return {"rows": [], "left_out": 0}
    first, last = history.optimal[0][0], max([*history.batch, history.optimal[-1][0] + 1])
    found = spans(history.optimal, last)
    ranks = ranking.ranks
    order = sorted(found, key=lambda i: (ranks[i], -sum(b - a for a, b in found[i])))
    length = (last - first) or 1
    rows = [
        {
            "name": ranking.names[i],
            "kept": bool(ranking.support[i]),
            "batches": sum(b - a for a, b in found[i]),
            "spans": [
                (round(100 * (a - first) / length, 2), round(max(0.4, 100 * (b - a) / length), 2), a, b)
                for a, b in found[i]
            ],
        }
        for i in order[:_MOST_IN_TIME]
    ]
    return {"rows": rows, "left_out": len(order) - len(rows), "first": first, "last": last}


def _frame(X: Array | pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=list(names))


def _columns(model: DualNetBase) -> dict[str, Any]:
    """How the columns were read, those of a plain table of numbers in a word."""
    rows = [
        {
            "name": feature.name,
            "kind": feature.kind,
            "levels": f"{feature.n_levels:,}" if feature.levels is not None else "",
            "missing": share_text(feature.missing) if feature.missing else "",
            "note": feature.note or "",
        }
        for feature in model.features_
    ]
    plain = all(row["kind"] == "numeric" and not row["missing"] and not row["note"] for row in rows)
    return {"rows": [] if plain else rows[:_MOST_COLUMNS], "all": len(rows)}


def _correlations(X: pd.DataFrame, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Pair-wise correlations of the first chosen features that are columns of numbers, one row each; gaps are means."""
    numbers = X.select_dtypes("number")
    shown = [name for name in chosen if name in numbers.columns][:_MOST_CORRELATED]
    given = numbers[shown].astype(np.float64)
    columns = given.fillna(given.mean()).fillna(0.0).to_numpy()
    columns = columns - columns.mean(axis=0)
    lengths = np.sqrt(np.square(columns).sum(axis=0))
    columns /= np.where(lengths > 0, lengths, 1.0)
    matrix = columns.T @ columns
    return [
        {"name": name, "cells": [{"value": float(value), **heat(float(value))} for value in row]}
        for name, row in zip(shown, matrix, strict=True)
    ]


def _maps(section: RankingSection, ranking: Ranking) -> list[dict[str, str]]:
    """The importance map alone, and over the mean image of each class (of all rows for numbers)."""
    if section.image_shape is None:
        return []
    scores = among_chosen(map_scores(ranking), ranking.support)
    backgrounds = [("alone", np.zeros(len(scores)))]
    if section.X is not None and section.y is not None and section.model.task_.discrete:
        labels, pixels = np.unique(section.y)[:_MOST_MAPS], np.asarray(section.X)
        backgrounds += [(f"over the mean of {label}", pixels[section.y == label].mean(axis=0)) for label in labels]
    elif section.X is not None:
        backgrounds.append(("over the mean", np.asarray(section.X).mean(axis=0)))
    height, width = section.image_shape
    return [
        {"title": title, "image": data_address(png(overlay(scores, image).reshape(height, width, 3)), "image/png")}
        for title, image in backgrounds
    ]
