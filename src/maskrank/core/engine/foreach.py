"""One operation on a list of tensors: torch's multi-tensor kernels where it has them, else a plain loop.

The kernels are those of ``torch.optim`` (``foreach=True`` and ``fused=True``). Their names are private to torch and may
go away, so each is looked up when it is called, and the loop beside it computes the same. `KERNELS` lists the names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

KERNELS = (
    "_foreach_add_",
    "_foreach_addcdiv_",
    "_foreach_addcmul_",
    "_foreach_div_",
    "_foreach_lerp_",
    "_foreach_mul_",
    "_foreach_sqrt",
    "_fused_adamw_",
)


RAW_SPARSE = ("_indices", "_values")  # methods of a sparse tensor


def _kernel(name: str) -> Any:
    return getattr(torch, name, None)


def add_(tensors: Sequence[Tensor], value: float) -> None:
    """Add a number to each tensor."""
    kernel = _kernel("_foreach_add_")
    if kernel is not None:
        kernel(tensors, value)
        return
    for tensor in tensors:
        tensor.add_(value)


def mul_(tensors: Sequence[Tensor], factor: float) -> None:
    """Multiply each tensor by a number."""
    kernel = _kernel("_foreach_mul_")
    if kernel is not None:
        kernel(tensors, factor)
        return
    for tensor in tensors:
        tensor.mul_(factor)


def div_(tensors: Sequence[Tensor], divisors: Sequence[float]) -> None:
    """Divide each tensor by its number."""
    kernel = _kernel("_foreach_div_")
    if kernel is not None:
        kernel(tensors, divisors)
        return
    for tensor, divisor in zip(tensors, divisors, strict=True):
        tensor.div_(divisor)


def sqrt(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The square root of each tensor, as new ones."""
    kernel = _kernel("_foreach_sqrt")
    return list(kernel(tensors)) if kernel is not None else [tensor.sqrt() for tensor in tensors]


def lerp_(tensors: Sequence[Tensor], targets: Sequence[Tensor], weight: float) -> None:
    """Move each tensor towards its target by a share of the way."""
    kernel = _kernel("_foreach_lerp_")
    if kernel is not None:
        kernel(tensors, targets, weight)
        return
    for tensor, target in zip(tensors, targets, strict=True):
        tensor.lerp_(target, weight)


def addcmul_(tensors: Sequence[Tensor], a: Sequence[Tensor], b: Sequence[Tensor], value: float) -> None:
    """Add ``value * a * b`` to each tensor."""
    kernel = _kernel("_foreach_addcmul_")
    if kernel is not None:
        kernel(tensors, a, b, value)
        return
    for tensor, one, other in zip(tensors, a, b, strict=True):
        tensor.addcmul_(one, other, value=value)


def addcdiv_(tensors: Sequence[Tensor], a: Sequence[Tensor], b: Sequence[Tensor], values: Sequence[float]) -> None:
    """Add ``value * a / b`` to each tensor, with a value of its own."""
    kernel = _kernel("_foreach_addcdiv_")
    if kernel is not None:
        kernel(tensors, a, b, values)
        return
    for tensor, one, other, value in zip(tensors, a, b, values, strict=True):
        tensor.addcdiv_(one, other, value=value)


def adamw_(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    means: Sequence[Tensor],
    squares: Sequence[Tensor],
    counts: Sequence[Tensor],
    *,
    rate: float,
    betas: tuple[float, float],
    decay: float,
    eps: float,
) -> None:
    """One step of AdamW (Loshchilov and Hutter 2019): parameters and both running means are updated in place.

    Parameters
    ----------
    counts : sequence of Tensor ()
        Steps of each parameter, this one included.
    """
    beta1, beta2 = betas
    kernel = _kernel("_fused_adamw_")
    if kernel is not None:
        options = {"weight_decay": decay, "eps": eps, "amsgrad": False, "maximize": False}
        kernel(parameters, gradients, means, squares, [], counts, lr=rate, beta1=beta1, beta2=beta2, **options)
        return
    for parameter, gradient, mean, square, count in zip(parameters, gradients, means, squares, counts, strict=True):
        steps = float(count)
        parameter.mul_(1 - rate * decay)
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        scale = square.sqrt().div_(math.sqrt(1 - beta2**steps)).add_(eps)
        parameter.addcdiv_(mean, scale, value=-rate / (1 - beta1**steps))


def touched_rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and values of a sparse gradient (d, h) in which no row comes twice: (rows,), (rows, h).

    Autograd forgets that such a gradient is coalesced; to coalesce it again would sort rows that are sorted.
    """
    if all(hasattr(gradient, name) for name in RAW_SPARSE):
        return gradient._indices()[0], gradient._values()
    gradient = gradient.coalesce()
    return gradient.indices()[0], gradient.values()
