"""Shapley values of single predictions: what each chosen feature adds to the prediction of a row.

The game of a row is its prediction from a subset of the chosen features, by nets that were trained with random masks
(`subset_predictor`): on-manifold Shapley values (Frye et al. 2021; Jethani et al. 2022). Required features come before
the others in every order: theirs are the values of a game without the others.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScoreConfig
from maskrank.core.scoring.shapley import Game, antithetic_gains, exact_row_shares, in_precedence
from maskrank.core.scoring.subset_predictor import SubsetPredictor

Decode = Callable[[Tensor], Tensor]  # (rows, outputs) of the nets -> (rows, predictions)

_FARTHEST = 1e9  # standardised values beyond it would leave the range of 32-bit floats inside the nets


def explain_rows(
    predictor: SubsetPredictor, x: Tensor, decode: Decode, *, config: ScoreConfig, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Shapley values of each row's decoded prediction.

    Up to ``config.explained_subsets`` subsets are all evaluated. Of more features, random orders are drawn in
    antithetic pairs, the same for all rows, so that a row's values do not depend on the rows beside it.

    Parameters
    ----------
    x : Tensor (n, columns)
        Of the chosen features, then of the required ones; scaled.
    decode : callable
        Outputs of the nets as predictions, in the units of y.

    Returns
    -------
    base : Tensor (predictions,)
        Of no feature.
    values : Tensor (n, s, predictions)
        Over the features they add up to the prediction from all of them, less the base.
    """
    s, n_required = predictor.n_features, predictor.n_required
    sizes = [s - n_required, n_required] if n_required else [s]
    orders = [None if 2**k <= config.explained_subsets else _draw_orders(k, config, generator) for k in sizes]
    base = decode(predictor.constant.double().unsqueeze(0))[0]
    x = x.clamp(-_FARTHEST, _FARTHEST).to(predictor.constant.dtype)
    subsets = max(2**k if order is None else k for k, order in zip(sizes, orders, strict=True))
    at_once = limits.EXPLAINED // (s * subsets)
    parts = []
    for rows in torch.split(x, max(1, min(at_once, limits.EXPLAINED_ROWS))):
        games = in_precedence(_game(predictor, rows, decode, base), len(rows), s, n_required)
        shares = [_row_shares(game, len(rows), k, order) for (game, k), order in zip(games, orders, strict=True)]
        parts.append(torch.cat(shares, dim=1))
    return base, torch.cat(parts)


def _row_shares(game: Game, n: int, s: int, orders: Tensor | None) -> Tensor:
    """By all subsets of s players, or by these orders of them (pairs, s) for all rows: (n, s, outputs)."""
    if orders is None:
        return exact_row_shares(game, n, s)
    pairs = (antithetic_gains(game, order.expand(n, -1)) for order in orders)
    return sum(pairs, torch.zeros(())) / len(orders)


def add_up_to(values: Tensor, base: Tensor, predictions: Tensor, *, together: bool) -> Tensor:
    """The values, changed so that they and the base add up to these predictions.

    The predictions of the final predictor differ from those of the masked nets. The difference of a row is split over
    its features in proportion to their absolute values, or equally where all of them are 0.

    Parameters
    ----------
    values : Tensor (n, s, outputs)
    base : Tensor (outputs,)
    predictions : Tensor (n, outputs)
    together : bool
        Whether the proportions are the same for all outputs, as for probabilities of classes, whose differences add
        up to 0: so a feature's values over the classes still do.
    """
    size = values.abs()
    size = size.sum(dim=2, keepdim=True) if together else size
    whole = size.sum(dim=1, keepdim=True)  # (n, 1, outputs) or (n, 1, 1)
    part = torch.where(whole > 0, size / whole.clamp(min=torch.finfo(size.dtype).tiny), 1 / values.shape[1])
    return values + part * (predictions - base - values.sum(dim=1)).unsqueeze(1)


def _game(predictor: SubsetPredictor, x: Tensor, decode: Decode, base: Tensor) -> Game:
    """What a subset's prediction has beyond that of no feature."""
    predict = predictor.of_rows(x)

    def gain(masks: Tensor) -> Tensor:
        outputs = predict(masks).double()  # (subsets, rows, outputs)
        return decode(outputs.flatten(0, 1)).reshape(*outputs.shape[:2], -1) - base

    return gain


def _draw_orders(s: int, config: ScoreConfig, generator: torch.Generator) -> Tensor:
    """Random orders of s features: (pairs, s)."""
    n_pairs = max(config.min_explained_pairs, config.explained_subsets // (2 * s))
    return torch.rand((n_pairs, s), generator=generator).argsort(dim=1)
