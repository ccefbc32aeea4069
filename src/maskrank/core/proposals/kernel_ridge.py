"""Features given up by what a Gaussian kernel machine with a mask on its inputs makes of rows left out.

The derivative of its leave-one-out error by the mask, at a mask of ones, says what each feature is worth beside the
others, as the selector's derivative does for the nets; many features are given up by it. When few are left, and rows
are few, each deletion and then some exchanges are tried: a slope says little about taking out one of five.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_RIDGE = 0.3
_WIDTHS = (2.0**-8, 2.0**4)  # of the kernel, against the mean distance of rows
_GIVEN_UP = 0.1  # of the features that are left, at once
_TRIED_FROM = 40  # features that are left, from which on each deletion is tried
_EXCHANGES = 4
_MOST_EXCHANGED = 64  # features of a subset that exchanges are tried in
_OUT, _IN = 8, 24  # features that may be exchanged: the least needed ones for those given up last
_GAIN = 0.005  # share of the error that an exchange must save
_AT_ONCE = 8  # trials


def eliminate_by_kernel(x: Tensor, target: Tensor, size: int, *, by_trial: bool) -> Tensor:
    """Places of all features: the s that are left first, then those given up last.

    Parameters
    ----------
    x : Tensor (n, k)
        Features of deviation 1.
    target : Tensor (n, outputs)
    by_trial : bool
        Whether each deletion is tried from 40 features on, and then exchanges in a subset of at most 64. A trial takes
        the third power of the rows.
    """
    left, narrow = torch.arange(x.shape[1], device=x.device), 1.0
    given_up: list[Tensor] = []  # the last ones in front
    while len(left) > size:
        some = x[:, left]
        # At the width that suits the features best, a stronger mask helps those that tell something and no other.
        narrow = _best_width(some, target, narrow)
        if by_trial and len(left) <= _TRIED_FROM:
            order = _errors_without(some, target, narrow).argsort(descending=True, stable=True)
            keep = len(left) - 1
        else:
            order = loo_importance(some, target, narrow).argsort(descending=True, stable=True)
            stop = max(size, _TRIED_FROM if by_trial else 0)
            keep = max(stop, len(left) - max(1, int(_GIVEN_UP * len(left))))
        given_up.insert(0, left[order[keep:]])
        left = left[order[:keep].sort().values]
    others = torch.cat([left[:0], *given_up])
    if by_trial and size <= _MOST_EXCHANGED:
        left, others = _exchange(x, target, left, others, narrow)
    return torch.cat([left, others])


def _exchange(x: Tensor, target: Tensor, left: Tensor, others: Tensor, narrow: float) -> tuple[Tensor, Tensor]:
    """Exchange one feature for another that was given up, while the error falls; the one that goes leads the others."""
    for _ in range(_EXCHANGES if len(left) and len(others) else 0):
        some = x[:, left]
        narrow = _best_width(some, target, narrow)
        scale = narrow / (2 * len(left))
        apart = _apart_by(some)
        least_needed = _errors_without(some, target, narrow).argsort(stable=True)[:_OUT].tolist()
        without = [apart - _apart_by(some[:, [out]]) for out in least_needed]
        new = [_apart_by(x[:, [j]]) for j in others[:_IN].tolist()]
        errors = torch.stack([_errors(((rest + one) * scale for one in new), target) for rest in without])  # (out, in)
        best = int(errors.argmin())
        if not errors.flatten()[best] < (1 - _GAIN) * _errors_left_out(apart * scale, target):
            break
        out, taken = least_needed[best // len(new)], best % len(new)
        leaves, comes = left[out : out + 1], others[taken : taken + 1]
        left = torch.cat([left[:out], left[out + 1 :], comes]).sort().values
        others = torch.cat([leaves, others[:taken], others[taken + 1 :]])
    return left, others


def _best_width(x: Tensor, target: Tensor, narrow: float) -> float:
    """The width of the least error, by halves and doubles of the last one."""
    apart = _apart_by(x) / (2 * x.shape[1])
    errors = {narrow: float(_errors_left_out(apart * narrow, target))}
    for factor in (0.5, 2.0):
        by = min(errors, key=errors.__getitem__) * factor
        while by not in errors and _WIDTHS[0] <= by <= _WIDTHS[1]:
            errors[by] = float(_errors_left_out(apart * by, target))
            if errors[by] > min(errors.values()):
                break
            by *= factor
    return min(errors, key=errors.__getitem__)


def loo_importance(x: Tensor, target: Tensor, narrow: float = 1.0) -> Tensor:
    """Minus the derivative of a Gaussian kernel machine's leave-one-out error by the mask on its inputs: (k,).

    The machine is a kernel ridge regression with K = exp(-c Σ m (x - x')² / 2k) at m = (1, ..., 1).

    Parameters
    ----------
    x : Tensor (n, k)
        Features of deviation 1.
    target : Tensor (n, outputs)
    narrow : float
        c.
    """
    with torch.enable_grad():
        mask = torch.ones(x.shape[1], dtype=x.dtype, device=x.device, requires_grad=True)
        apart = _distances((x * mask) @ x.t())
        error = _errors_left_out(apart * (narrow / (2 * x.shape[1])), target)
        (slope,) = torch.autograd.grad(error, mask)
    return -slope


def _errors_without(x: Tensor, target: Tensor, narrow: float = 1.0) -> Tensor:
    """The leave-one-out error of that machine with each feature's mask at 0 in turn: (k,)."""
    apart = _apart_by(x)
    scale = narrow / (2 * x.shape[1])
    return _errors(((apart - _apart_by(x[:, [j]])) * scale for j in range(x.shape[1])), target)


def _errors(aparts: Iterable[Tensor], target: Tensor) -> Tensor:
    """Errors of several machines, some at once."""
    waiting, errors = [], []
    for apart in aparts:
        waiting.append(apart)
        if len(waiting) == _AT_ONCE:
            errors.append(_errors_left_out(torch.stack(waiting), target))
            waiting = []
    if waiting:
        errors.append(_errors_left_out(torch.stack(waiting), target))
    return torch.cat(errors)


def _apart_by(x: Tensor) -> Tensor:
    """Squared distances of rows by some features: (n, k) -> (n, n)."""
    return _distances(x @ x.t())


def _distances(products: Tensor) -> Tensor:
    """Squared distances, from scalar products: (n, n)."""
    squares = products.diagonal()
    return (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * products).clamp(min=0)


def _errors_left_out(apart: Tensor, target: Tensor) -> Tensor:
    """The mean squared error of rows left out, by machines with K = exp(-apart): (..., n, n) -> (...).

    It is known without training again: a row's weight in the machine, over the diagonal of the inverse.
    """
    n = apart.shape[-1]
    ridge = _RIDGE * torch.eye(n, dtype=apart.dtype, device=apart.device)
    inverse = torch.linalg.inv(torch.exp(-apart) + 1 / n + ridge)  # 1 / n stands for the intercept
    errors: Tensor = (inverse @ target) / inverse.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    return errors.square().mean(dim=(-2, -1))
