"""The report of one or several rankings: scores, stability, how to read them, and the history of the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.core.metrics import ACCURACY, FIGURE_TITLES
from maskrank.core.recorder import History
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.effects import feature_effects
from maskrank.estimators.figures import Figures
from maskrank.estimators.hazards import RiskGroup
from maskrank.findings import RankingFinding, ranking_finding
from maskrank.images import among_chosen, overlay, png
from maskrank.notes import notes
from maskrank.report.charts import Line, heat, line_chart, size_chart, spans
from maskrank.report.details import feature_details
from maskrank.report.page import data_address, packed, render
from maskrank.report.pictures import Bar, share_picture
from maskrank.report.quality import balance_view, quality_view
from maskrank.report.swarms import beeswarm
from maskrank.results import EXPLAINED, flat_settings, ranking_csv, ranking_json
from maskrank.tables.description import share_text
from maskrank.units import explains, in_shown_unit, map_scores, score_text, shown_errors

Array = NDArray[Any]

_MOST_BARS = 1_000
_MOST_IN_TIME = 40  # features of the picture of m_opt over time
_MOST_CORRELATED = 30
_MOST_EXPLAINED = 400  # rows of a beeswarm, about
_EXPLAINED_VALUES, _WIDEST_EXPLAINED = 10_000, 100  # rows times features, and features: beyond, it takes too long
_MOST_OUTPUTS = 6  # with a beeswarm each
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
    target : str, optional
        What the target is called in the answer.
    row_by_row : bool
        Whether rows of X are explained, and the effects of the chosen features drawn; X is then as it was fitted on.
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
    target: str | None = None
    row_by_row: bool = False


def ranking_report(title: str, sections: Sequence[RankingSection], *, command: str) -> str:
    """The report as HTML text."""
    return render("ranking.html", title=title, command=command, sections=[_view(section) for section in sections])


def _view(section: RankingSection) -> dict[str, Any]:
    model = section.model
    ranking: Ranking = model.result_
    finding, bars = ranking_finding(model, section.target), _bars(ranking)
    doubtful = finding.certainty in ("none", "untested")
    correlations = [] if section.X is None else _correlations(_frame(section.X, ranking.names), ranking.selected)
    return {
        "title": section.title,
        "finding": finding,
        "doubtful": doubtful,
        "explained": _explained(model),
        "facts": section.facts,
        "notes": notes(model),
        "size_curve": None if doubtful else _size_curve(model),
        "figures": quality_view(model, section.all_features),
        "balance": balance_view(section.y) if model.task_.discrete and section.y is not None else [],
        "bars": bars,
        "picture": _picture(finding, ranking, bars),
        **_row_by_row(section, doubtful=doubtful),
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
            ranking_json(
                model,
                seconds=section.seconds,
                question=section.question,
                complete=section.complete,
                target=section.target,
            )
        ),
        "csv": packed(ranking_csv(ranking, complete=section.complete)),
    }


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


def _explained(model: DualNetBase) -> str:
    """What the shares are shares of, in a sentence."""
    ranking = model.result_
    every = "both" if ranking.size == 2 else f"all {ranking.size}"
    whole = "it explains" if ranking.size == 1 else f"{every} explain together"
    if not explains(ranking) or ranking.explained_share is None:
        return f"A share is the feature's Shapley share of what {whole} on held-out rows: here nothing."
    of = EXPLAINED[model.task_.figure]
    return (
        f"A share is the feature's Shapley share of what {whole} on held-out rows: "
        f"{100 * ranking.explained_share:.1f} % of the {of}."
    )


def _picture(finding: RankingFinding, ranking: Ranking, bars: Sequence[Mapping[str, Any]]) -> str:
    """The picture to share; bars begin at 0."""
    shown = [
        Bar(
            row["name"],
            row["score"],
            row["left"] + row["width"] - row["zero"] if row["left"] >= row["zero"] else 0.0,
            None if row["whisker"] is None else (row["whisker"][0], sum(row["whisker"])),
            muted=finding.certainty in ("none", "untested"),
        )
        for row in bars
    ]
    label = "share of what they explain together, ± standard error" if ranking.measured else "score"
    return share_picture(finding.title, finding.answer, shown, label=label)


def _row_by_row(section: RankingSection, *, doubtful: bool) -> dict[str, Any]:
    """Beeswarms of some rows, and the details of features; nothing where there is nothing to explain."""
    model, X = section.model, section.X
    size = int(model.support_.sum())
    if not section.row_by_row or X is None or doubtful or model._subset_predictor is None or size > _WIDEST_EXPLAINED:
        return {"swarms": [], "details": []}
    step = max(1, len(X) // min(_MOST_EXPLAINED, _EXPLAINED_VALUES // size))
    explained = model.explain(X.iloc[::step] if isinstance(X, pd.DataFrame) else X[::step])
    names = explained.output_names[:_MOST_OUTPUTS]
    swarms = [
        {
            "title": explained.title(name),
            "view": beeswarm(explained.of_output(name)[0], explained.data, explained.feature_names),
        }
        for name in names
    ]
    outputs = [explained.title(name) for name in explained.output_names]
    return {"swarms": swarms, "details": feature_details(model, feature_effects(model, X), outputs)}


def _size_curve(model: DualNetBase) -> dict[str, Any] | None:
    """The chart of the size curve, where there are at least two sizes."""
    curve = model.size_curve_
    if curve is None or len(curve.sizes) < 2:
        return None
    figure, ends = FIGURE_TITLES[curve.figure], ", by the log-loss" if curve.figure == "accuracy" else ""
    heights, errors = curve.figures, curve.figures_std
    baseline = model.result_.baseline
    if curve.figure == "accuracy" and model.metric_ != ACCURACY and baseline:  # the accuracy would say little
        figure, ends = "explained share of the log-loss", ""
        heights, errors = curve.values / baseline, curve.values_std / baseline
    name = f"{figure} on held-out rows, with one standard error"
    points = (curve.sizes.tolist(), heights.tolist(), errors.tolist())
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
