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
