"""The search on the selector's input gradient: Algorithm 2 of the paper."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from maskrank.core.data.subsets import top_s
from maskrank.core.method.selector import Selector


def importance_gradient(selector: Selector, hidden: Tensor, features: Tensor | None = None) -> Tensor:
    """-df_S/dm: positive where the feature lowers the predicted loss.

    This function owns the sign of every score. The selector predicts a loss, so what helps has a negative
    derivative; the paper prints +df_S/dm.

    Parameters
    ----------
    hidden : Tensor (h,)
        The selector's first layer at the point where the derivative is taken: ``hidden_at`` a subset, or
        ``hidden_at_share``. From there the derivative costs one product of d×h.
    features : Tensor (k,), optional
        Take the derivative by some features alone.

    Returns
    -------
    Tensor (d,) or (k,)
    """
    point = hidden.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(selector.tail(point).squeeze(-1), point)
    weight = selector.weight.detach()
    return _product(weight if features is None else weight[features], -gradient)


def _product(weight: Tensor, vector: Tensor) -> Tensor:
    """(d, h) times (h,). Of a tall table in memory NumPy's product is measured to be three times as fast as torch's."""
    if weight.device.type != "cpu":
        return torch.mv(weight, vector)
    with np.errstate(all="ignore"):
        return torch.from_numpy(weight.numpy() @ vector.numpy())


def subset_importance(selector: Selector, subset: Tensor, features: Tensor | None = None) -> Tensor:
    """The importance of every feature, or of some, at one subset: (s,) -> (d,) or (k,)."""
    with torch.no_grad():
        hidden = selector.hidden_at(subset.unsqueeze(0)).squeeze(0)
    return importance_gradient(selector, hidden, features)


@torch.no_grad()
def find_optimal_subset(
    selector: Selector, s: int, *, start: float, max_rounds: int, n_candidates: int | None = None
) -> Tensor:
    """Algorithm 2: the subset of lowest predicted loss that a local search finds.

    Lines 1-5 take the s features of the highest importance at m_0 = (start, ..., start). A round then tries every
    selected feature of negative importance (step ii), and the least important one (step iii), in exchange for the
    best feature left out, and keeps the exchange that predicts the lowest loss. It ends when none lowers it.

    Returns
    -------
    Tensor (s,)
        Sorted indices.
    """
    optimal = top_s(importance_gradient(selector, selector.hidden_at_share(start)), s)  # m_opt
    return improve_subset(selector, optimal, max_rounds=max_rounds, n_candidates=n_candidates)


@torch.no_grad()
def improve_subset(selector: Selector, optimal: Tensor, *, max_rounds: int, n_candidates: int | None = None) -> Tensor:
    """The validation rounds of Algorithm 2 (lines 6-26), from any subset; never to a higher predicted loss.

    The first round looks at all features; later ones at the ``n_candidates`` most important of that round (None: at
    all), as one exchange in s moves the selector's derivative little.
    """
    d = selector.n_features
    if len(optimal) == d:
        return optimal
    watched = None  # all
    for _ in range(max_rounds):
        importance = subset_importance(selector, optimal, watched)  # line 6
        places = optimal if watched is None else torch.searchsorted(watched, optimal)
        candidates = _exchanges(optimal, places, importance, watched)  # lines 7-13 and 20-22
        predicted = selector(torch.cat([optimal.unsqueeze(0), candidates]))  # (1 + candidates,)
        best = int(predicted.argmin())
        if best == 0:
            break
        if watched is None and n_candidates is not None and d - len(optimal) > n_candidates:
            watched = torch.cat([optimal, importance.topk(n_candidates).indices]).sort().values
        optimal = candidates[best - 1]
    return optimal


def _exchanges(optimal: Tensor, places: Tensor, importance: Tensor, watched: Tensor | None) -> Tensor:
    """Each candidate swap of a round, as a subset: (candidates, s). Leaves -inf where m_opt stands in the importance.

    Parameters
    ----------
    places : Tensor (s,)
        Where the features of m_opt stand among the watched ones, to which the importance belongs.
    """
    inside = importance[places]  # (s,)
    entering = importance.index_fill_(0, places, -torch.inf).argmax()  # i_max
    least = inside.argmin()  # i_min
    leaving = inside < 0  # i_neg
    leaving[least] = True
    positions = leaving.nonzero().squeeze(1)
    candidates = optimal.repeat(len(positions), 1)
    candidates[torch.arange(len(positions)), positions] = entering if watched is None else watched[entering]
    return candidates.sort(dim=1).values
