"""Greedy ensemble selection (Caruana, Niculescu-Mizil, Crew and Ksikes, ICML 2004): forward, with replacement."""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.data.weights import mean_of_rows
from maskrank.core.method.tasks import Task


@torch.no_grad()
def greedy_selection(task: Task, outputs: Tensor, y: Tensor, *, n_picks: int, weights: Tensor | None = None) -> Tensor:
    """Weights of models in a mean: so many times, the model is added that lowers the loss of the mean most.

    Parameters
    ----------
    outputs : Tensor (models, n, outputs)
        For rows that were not learned from.
    y : Tensor (n,) or (n, outputs)
    n_picks : int
        A model may be picked more than once.
    weights : Tensor (n,), optional
        Of the rows.

    Returns
    -------
    Tensor (models,)
        Of sum 1.
    """
    picked = torch.zeros(len(outputs), device=outputs.device)
    total = torch.zeros_like(outputs[0])
    for pick in range(1, n_picks + 1):
        best = mean_of_rows(task.loss((total + outputs) / pick, y), weights).argmin()
        picked[best] += 1
        total += outputs[best]
    return picked / n_picks


def few_members(weight: Tensor, n_folds: int, n: int) -> Tensor:
    """Weights of at most n members in place of more: of each recipe as many folds as its share of the weight.

    Recipes are taken by systematic sampling, at n points with equal distances along their cumulated weights, and the
    folds in turn, so that as many of them as possible have a part.

    Parameters
    ----------
    weight : Tensor (recipes * folds,)
        In the order of the recipes, and of the folds within a recipe.
    """
    if int((weight > 0).sum()) <= n:
        return weight
    cumulated = weight.view(-1, n_folds).sum(dim=1).cumsum(dim=0)
    place = torch.arange(n, device=weight.device)
    recipe = torch.searchsorted(cumulated, (place + 0.5) / n * cumulated[-1])
    counts = torch.bincount(recipe * n_folds + place % n_folds, minlength=len(weight))
    return counts.to(weight) / n
