"""Features given up by what a ridge regression on their lines would lose, singly; of more than 256, a tenth at once."""

from __future__ import annotations

import torch
from torch import Tensor

_ONE_BY_ONE = 256  # features that are left, from which on they are given up singly
_GIVEN_UP = 0.1  # of more, at once


def eliminate_by_lines(lines: Tensor, target: Tensor, size: int, *, ridge: float) -> Tensor:
    """Places of all features: the s that are left first, then those given up last.

    Parameters
    ----------
    lines : Tensor (k, n)
        Of length 1; with almost no ridge they must be independent.
    target : Tensor (n, outputs)
    """
    lines = lines.double()
    gram, overlap = lines @ lines.t(), lines @ target.double()
    left = torch.arange(len(gram), device=gram.device)
    given_up: list[Tensor] = []
    inverse = weights = gram[:0]
    while len(left) > size:
        if len(inverse) != len(left):  # at first, or several were given up
            some = gram[left][:, left]
            inverse = torch.linalg.inv(some + ridge * torch.eye(len(left), dtype=gram.dtype, device=gram.device))
            weights = inverse @ overlap[left]
        lost = weights.square().sum(dim=1) / inverse.diagonal()
        if len(left) > max(size, _ONE_BY_ONE):
            keep = max(size, _ONE_BY_ONE, len(left) - max(1, int(_GIVEN_UP * len(left))))
            order = lost.argsort(descending=True, stable=True)
            given_up.append(left[order[keep:]])
            left = left[order[:keep].sort().values]
            continue
        out = int(lost.argmin())
        column, pivot = inverse[:, out], inverse[out, out]
        weights = weights - torch.outer(column / pivot, weights[out])
        inverse = inverse - torch.outer(column / pivot, column)
        rest = torch.arange(len(left), device=gram.device) != out
        inverse, weights = inverse[rest][:, rest], weights[rest]
        given_up.append(left[out : out + 1])
        left = left[rest]
    return torch.cat([left, *reversed(given_up)])
