"""The measured scores of the chosen features: a value function on their columns, its Shapley shares, the size curve."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import joined_weights
from maskrank.core.method.tasks import Task
from maskrank.core.scoring.shapley import Shares
from maskrank.core.scoring.size_curve import SizeCurve, cross_fitted_orders, enough_features, size_curve, values_by_size
from maskrank.core.scoring.value_function import ValueFunction, fit_value_function


@dataclass(frozen=True)
class MeasuredScores:
    """What the chosen features are worth.

    Attributes
    ----------
    value : ValueFunction
        Of subsets of the chosen features, in the order of the table, and of the required ones, behind them.
    shares : Shares
        Of these features, in the same order. Required ones come first: theirs are shares of what they are worth
        without the others, and the others' of what these add to all of them.
    curve : SizeCurve
        The worth of the best 1, 2, ... of the chosen features, beside the required ones.
    useful : Tensor (s + required,) of bool
        Which features the predictor should see: those that are enough, where predictions were worse with all of them,
        else all. Required ones are.
    """

    value: ValueFunction
    shares: Shares
    curve: SizeCurve
    useful: Tensor


def measure_scores(
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    *,
    learn_all: bool,
    config: TrainConfig,
    generator: torch.Generator,
) -> MeasuredScores | None:
    """Measure what each feature of a subset is worth. None where that is switched off, or the nets left all bounds.

    Parameters
    ----------
    rows, validation : Rows
    subset : Tensor (s,)
        Features of these rows; the required ones are measured with them.
    learn_all : bool
        Whether nets may learn from validation rows; if not, these rows judge, and no others.
    """
    if not config.score.enabled:
        return None
    (x, blocks), (held_out, _) = rows.chosen(subset), validation.chosen(subset)
    value = fit_value_function(
        task,
        torch.cat([x, held_out]),  # (n, columns)
        torch.cat([rows.y, validation.y]),
        blocks=blocks,
        n_required=rows.n_required,
        n_training=None if learn_all else len(rows),
        weights=joined_weights([rows.weights, validation.weights], [len(rows), len(validation)]),
        groups=_joined_groups(rows, validation),
        config=config,
        generator=generator,
    )
    shares = value.shares(config.score, generator)
    if not bool(shares.of_rows.isfinite().all()):
        return None
    orders = cross_fitted_orders(shares.of_rows, len(value.inputs), rows.n_required).to(rows.device)
    along = value.along(orders, config=config, generator=generator)
    values, errors = values_by_size(along, orders)
    curve = size_curve(along, values, errors)
    # Validation rows do not say which features the predictor sees, where training rows can: its validation figure
    # should owe little to them.
    judges = (value.table.numbers.flatten() < len(rows)).cpu()
    judges = judges if bool(judges.any()) else ~judges
    judged = values[:, judges]
    weights, groups = (None if some is None else some.cpu()[judges] for some in (value.weights, value.groups))
    enough = enough_features(judged, weights, groups)
    others_hurt = bool(judged[-1].mean() < judged[enough - 1].mean())
    scores = shares.of_rows[judges].mean(dim=0)
    useful = useful_features(scores, enough if others_hurt else len(subset), rows.n_required)
    return MeasuredScores(value, shares, curve, useful)


def useful_features(scores: Tensor, n_useful: int, n_required: int = 0) -> Tensor:
    """The first so many chosen features by score, and all required ones, whose scores come last: (s + required,)."""
    chosen = scores[: len(scores) - n_required]
    places = chosen.argsort(descending=True, stable=True).argsort()
    return torch.cat([places < n_useful, torch.ones(n_required, dtype=torch.bool, device=scores.device)])


def _joined_groups(rows: Rows, validation: Rows) -> Tensor | None:
    """Of training and validation rows; None where the rows have none, or validation rows of the user's own."""
    if rows.groups is None or validation.groups is None:
        return None
    return torch.cat([rows.groups, validation.groups])
