"""How good the chosen features are: figures that people quote, next to those of no feature and of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.core.metrics import ACCURACY, CONCORDANCE, LABEL_ACCURACY, MEAN_ABSOLUTE_ERROR, R_SQUARED, ROC_AUC
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figure, Figures
from maskrank.findings.finding import capital
from maskrank.notes import with_error
from maskrank.results import BESIDE

_QUOTED = (ACCURACY, LABEL_ACCURACY, R_SQUARED, CONCORDANCE, ROC_AUC, MEAN_ABSOLUTE_ERROR)  # beside the headline
_MOST_QUOTED = 2  # in all
_MOST_CLASSES = 12


def quality_view(model: DualNetBase, all_features: Figures | None) -> dict[str, Any]:
    """The headline figure and the one next to it, and below them all others."""
    headline, others = model.figures_[model.metric_.name], all_features or {}
    second = [BESIDE.get(headline.metric.name, ""), *(metric.name for metric in _QUOTED)]
    quoted = [model.figures_[name] for name in second if name in model.figures_ and name != headline.metric.name]
    shown, ranking = [headline, *quoted][:_MOST_QUOTED], model.result_
    lines = [("without any feature", [figure.baseline for figure in shown])]
    size = f"{ranking.size:,}"
    lines.append((f"all {size}" if ranking.support.all() else f"the {size} chosen", [figure.value for figure in shown]))
    if all(figure.metric.name in others for figure in shown):
        lines.append((f"all {len(ranking.names):,}, the same nets", [others[f.metric.name].value for f in shown]))
    most = 1.0 if headline.metric.higher_is_better else max(values[0] for _, values in lines) or 1.0
    rows = [
        {
            "name": name,
            "share": round(100 * min(max(0.0, values[0] / most), 1.0), 1) if np.isfinite(values[0]) else 0.0,
            "texts": [_text(figure, value, error=place == 1) for figure, value in zip(shown, values, strict=True)],
        }
        for place, (name, values) in enumerate(lines)
    ]
    return {
        "drawn": headline.metric.title,
        "falling": [figure.metric.title for figure in shown if not figure.metric.higher_is_better],
        "titles": [_title(figure) for figure in shown],
        "rows": rows,
        "n": model.n_validation_,
        "unseen": model._unseen,
        "all": [_line(figure, others.get(name)) for name, figure in model.figures_.items()],
        "others": bool(others),
    }


def _title(figure: Figure) -> str:
    return capital(figure.metric.title)


def _text(figure: Figure, value: float, *, error: bool) -> str:
    shown, spread, _ = with_error(replace(figure, value=value))
    return (shown + (f" ± {spread}" if error and spread else "")).replace("-", "−")


def _line(figure: Figure, other: Figure | None) -> dict[str, str]:
    """One figure of the table of all of them, as text."""
    _, _, baseline = with_error(figure)
    low, high = (with_error(replace(figure, value=end))[0] for end in (figure.low, figure.high))
    return {
        "title": figure.metric.title,
        "better": "higher" if figure.metric.higher_is_better else "lower",
        "value": _text(figure, figure.value, error=True),
        "interval": f"{low} to {high}".replace("-", "−"),
        "baseline": baseline.replace("-", "−"),
        "other": "" if other is None else _text(figure, other.value, error=False),
    }


def balance_view(y: NDArray[Any]) -> list[tuple[str, int, float]]:
    """Classes by their rows, the largest first: label, rows, share in %."""
    labels, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = [(str(labels[i]), int(counts[i])) for i in order[:_MOST_CLASSES]]
    if len(order) > _MOST_CLASSES:
        rest = order[_MOST_CLASSES:]
        shown.append((f"{len(rest)} more classes", int(counts[rest].sum())))
    return [(label, count, round(100 * count / len(y), 1)) for label, count in shown]
