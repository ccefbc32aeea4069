"""Models that look as if they had been fitted, made from the facts that an answer is about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskrank import DualNetClassifier, Ranking
from maskrank.core.metrics import ACCURACY, METRICS
from maskrank.estimators.figures import Figure
from maskrank.estimators.stability import Stability
from tests.report.pages import curve_of, fitted

STRONG, SURE = (0.40, 0.28, 0.18, 0.14), (0.02, 0.02, 0.02, 0.02)


def named(d: int) -> tuple[str, ...]:
    return tuple(f"c{i}" for i in range(d))


def model_of(
    *,
    d: int = 11,
    scores: Sequence[float] = STRONG,
    errors: Sequence[float] | None = SURE,
    metric: str = "r2",
    value: float = 0.59,
    std: float = 0.05,
    baseline: float = 0.0,
    pvalue: float = 0.002,
    chosen_again: Sequence[int] = (),
    repeats: int = 6,
    size: int | str | None = None,
    bound: int = 6,
    enough: int | None = None,
    required: int = 0,
    frequent: float | None = None,
    unseen: bool = True,
    grouped: bool = False,
) -> DualNetClassifier:
    """The first features are chosen, behind those that are required.

    Parameters
    ----------
    enough : int, optional
        How many of the chosen features the size curve calls enough; all of them if not given.
    chosen_again : sequence of int
        How many refits chose each of the chosen features; the rest are given to others.
    frequent : float, optional
        The share of the most frequent class.
    """
    s, names = len(scores), named(d)
    model = fitted(names, s)
    support, must = np.arange(d) < s + required, np.arange(d) < required
    values, spread = np.zeros((2, d))
    values[required : required + s] = scores
    values[:required] = 0.1
    spread[: s + required] = 0.01
    if errors is not None:
        spread[required : required + s] = errors
    raw = np.linspace(1, 0, d)
    model.result_ = Ranking(
        names,
        support,
        raw,
        values if errors is not None else np.where(support, raw, 0.0),
        None if errors is None else spread,
        None,
        None if errors is None else float(values.sum()),
        None if errors is None else 2.0,
        must if required else None,
    )
    model.support_ = np.ones(d + 2, dtype=bool) if grouped else support
    model.n_features_to_select = s if size is None else size
    model.size_curve_ = curve_of(np.linspace(0.3, 0.6, bound if size == "auto" else s).tolist(), enough or s)
    kind = METRICS[metric]
    model.figures_ = {metric: Figure(kind, value, std, value - 2 * std, value + 2 * std, baseline)}
    if frequent is not None:
        model.figures_.setdefault("accuracy", Figure(ACCURACY, frequent, 0.01, 0.0, 1.0, frequent))
    model.metric_, model._unseen = kind, unseen
    model.signal_pvalue_, model.signal_ = pvalue, not math.isnan(pvalue) and pvalue <= 0.05
    model.stability_ = stability_of(names, chosen_again, s, repeats) if chosen_again else None
    return model


def stability_of(names: tuple[str, ...], chosen_again: Sequence[int], s: int, repeats: int) -> Stability:
    ranks: Any = np.full((repeats, len(names)), s + 1)
    for i, times in enumerate(chosen_again):
        ranks[:times, i] = i + 1
    return Stability.of(names, ranks, -ranks / 10, size=s)
