"""The search on the selector's input gradient: Algorithm 2 of the paper."""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.selector import Selector
from maskrank.core.subsets import to_mask, top_s


def importance_gradient(selector: Selector, mask: Tensor) -> Tensor:
    """-df_S/dm at a mask: positive where the feature lowers the predicted loss.

    This function owns the sign of every score. The selector predicts a loss, so what helps has a negative
    derivative; the paper prints +df_S/dm.

    Parameters
    ----------
    mask : Tensor (d,)
        Any point of the unit cube.

    Returns
    -------
    Tensor (d,)
    """
    point = mask.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(selector.at_mask(point), point)
    return -gradient


@torch.no_grad()
def find_optimal_subset(selector: Selector, s: int, *, start: float, max_rounds: int) -> Tensor:
    """Algorithm 2: the subset of lowest predicted loss that a local search finds.

    Lines 1-5 take the s features of the highest importance at m_0 = (start, ..., start). A round then tries every
    selected feature of negative importance (step ii), and the least important one (step iii), in exchange for the
    best feature left out, and keeps the exchange that predicts the lowest loss. It ends when none lowers it.

    Returns
    -------
    Tensor (s,)
        Sorted indices.
    """
    d = selector.n_features
    middle = torch.full((d,), start, dtype=selector.weight.dtype, device=selector.weight.device)  # m_0
    optimal = top_s(importance_gradient(selector, middle), s)  # m_opt
    return improve_subset(selector, optimal, max_rounds=max_rounds)


@torch.no_grad()
def improve_subset(selector: Selector, optimal: Tensor, *, max_rounds: int) -> Tensor:
    """The validation rounds of Algorithm 2 (lines 6-26), from any subset; never to a higher predicted loss."""
    d = selector.n_features
    if len(optimal) == d:
        return optimal
    for _ in range(max_rounds):
        importance = importance_gradient(selector, to_mask(optimal, d, dtype=selector.weight.dtype))  # line 6
        candidates = _exchanges(optimal, importance)  # lines 7-13 and 20-22
        predicted = selector(torch.cat([optimal.unsqueeze(0), candidates]))  # (1 + candidates,)
        best = int(predicted.argmin())
        if best == 0:
            break
        optimal = candidates[best - 1]
    return optimal


def _exchanges(optimal: Tensor, importance: Tensor) -> Tensor:
    """Each candidate swap of a round, as a subset: (candidates, s)."""
    inside = importance[optimal]  # (s,)
    outside = importance.clone()
    outside[optimal] = -torch.inf
    entering = outside.argmax()  # i_max
    least = inside.argmin()  # i_min
    leaving = inside < 0  # i_neg
    leaving[least] = True
    positions = leaving.nonzero().squeeze(1)
    candidates = optimal.repeat(len(positions), 1)
    candidates[torch.arange(len(positions)), positions] = entering
    return candidates.sort(dim=1).values
