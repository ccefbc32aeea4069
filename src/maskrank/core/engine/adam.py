"""Adam and NAdam, for whole parameters and for the touched rows of a gathered layer.

A step of a gathered layer has a gradient for the features of its subsets alone. Dense Adam would still visit all d
rows: to let their moments decay, and to move them by the momentum that is left. Here a parameter whose gradient is
a sparse tensor has its touched rows visited and no others. What differs from dense Adam:

- a row's moments decay when it is touched, not in between, and it does not move in between;
- a row counts its own steps, so that its first gradient is corrected for bias as a first one, however late it comes;
- the small number that keeps a division from zero is added to the uncorrected root, as in the short form that Adam's
  own paper gives.

Where every step touches every row, the two are the same but for that small number.

The formulas are those of ``torch.optim``, whose classes are not used because the first of them to be made loads
torch's compiler, which takes longer than a small fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core import limits
from maskrank.core.engine import foreach

_EPS = 1e-8
_MOMENTUM_DECAY = 4e-3  # of NAdam, as in torch
_NEVER = 1e9  # a count of steps at which nothing is left to correct
_HIGHEST_RATE = 1e36  # what torch takes as the factor of 32-bit floats


class Adam:
    """Adam, or with ``nesterov`` NAdam; ``decay`` is decoupled from the gradient, as in AdamW.

    Parameters
    ----------
    parameters : iterable of Parameter
        Each is updated in whole or by rows, as its gradient is dense or sparse (and then coalesced).
    rate, decay : float
    betas : pair of float
        How slowly the means of the gradients and of their squares forget.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        self.rate = rate
        self._betas, self._decay, self._nesterov = betas, decay, nesterov
        self._parameters = list(parameters)
        self._whole: dict[Tensor, _Whole] = {}
        self._by_rows: dict[Tensor, _ByRows] = {}

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        whole: list[Tensor] = []
        for parameter in self._parameters:
            if parameter.grad is None:
                continue
            if parameter.grad.is_sparse:
                if self._decay:
                    raise ValueError("weight decay is for dense gradients: a row that is not touched would not shrink")
                if parameter not in self._by_rows:
                    self._by_rows[parameter] = _ByRows(parameter, self._betas, nesterov=self._nesterov)
                self._by_rows[parameter].move(parameter, min(self.rate, _HIGHEST_RATE))
            else:
                if parameter not in self._whole:
                    self._whole[parameter] = _Whole.of(parameter)
                whole.append(parameter)
        if whole:
            (self._nadam if self._nesterov else self._adam)(whole)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def state_dict(self) -> dict[str, Any]:
        """The running means of all parameters that have moved, by their places, for a checkpoint."""
        place: dict[Tensor, int] = {parameter: i for i, parameter in enumerate(self._parameters)}
        return {
            "whole": {place[parameter]: dict(vars(state)) for parameter, state in self._whole.items()},
            "by_rows": {place[parameter]: state.state_dict() for parameter, state in self._by_rows.items()},
        }

    @torch.no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state of an optimiser of the same parameters."""
        self._whole, self._by_rows = {}, {}
        for place, state in state_dict["whole"].items():
            self._whole[self._parameters[place]] = _Whole(**state)
        for place, state in state_dict["by_rows"].items():
            table = self._parameters[place]
            self._by_rows[table] = _ByRows(table, self._betas, nesterov=self._nesterov)
            self._by_rows[table].load_state_dict(state)

    def _adam(self, parameters: list[Tensor]) -> None:
        """One step of parameters with dense gradients, all of them in one call."""
        gradients, states = self._of(parameters)
        counts = [state.count for state in states]
        foreach.add_(counts, 1)
        means, squares = [state.mean for state in states], [state.square for state in states]
        foreach.adamw_(
            parameters,
            gradients,
            means,
            squares,
            counts,
            rate=self.rate,
            betas=self._betas,
            decay=self._decay,
            eps=_EPS,
        )

    def _nadam(self, parameters: list[Tensor]) -> None:
        """The same with the momentum of the next step already in it."""
        (beta1, beta2), rate = self._betas, min(self.rate, _HIGHEST_RATE)
        gradients, states = self._of(parameters)
        means, squares = [state.mean for state in states], [state.square for state in states]
        foreach.lerp_(means, gradients, 1 - beta1)
        foreach.mul_(squares, beta2)
        foreach.addcmul_(squares, gradients, gradients, 1 - beta2)
        shares = [state.nadam_shares(beta1) for state in states]
        scales = foreach.sqrt(squares)
        foreach.div_(scales, [math.sqrt(1 - beta2**state.steps) for state in states])
        foreach.add_(scales, _EPS)
        foreach.mul_(parameters, 1 - rate * self._decay)
        foreach.addcdiv_(parameters, means, scales, [-rate * of_mean for of_mean, _ in shares])
        foreach.addcdiv_(parameters, gradients, scales, [-rate * of_gradient for _, of_gradient in shares])

    def _of(self, parameters: list[Tensor]) -> tuple[list[Tensor], list[_Whole]]:
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        return gradients, [self._whole[parameter] for parameter in parameters]


@dataclass
class _Whole:
    """The running means of a parameter's gradients and of their squares, and how many steps it made."""

    mean: Tensor
    square: Tensor
    count: Tensor  # of Adam's steps, where torch's kernel wants it
    steps: int = 0  # of NAdam's
    momentum: float = 1.0  # product of NAdam's momenta so far

    @classmethod
    def of(cls, parameter: Tensor) -> _Whole:
        count = torch.zeros((), dtype=torch.float32, device=parameter.device)
        return cls(torch.zeros_like(parameter), torch.zeros_like(parameter), count)

    def nadam_shares(self, beta1: float) -> tuple[float, float]:
        """Count a step of NAdam; with which shares the mean and the gradient enter it."""
        self.steps += 1
        now, following = (_nadam_momentum(t, beta1) for t in (self.steps, self.steps + 1))
        self.momentum *= now
        return following / (1 - self.momentum * following), (1 - now) / (1 - self.momentum)


_ROW_STATES = ("_mean", "_square", "_count", "_momentum")


class _ByRows:
    """The same for a table (d, h), with a count for each row."""

    def __init__(self, table: Tensor, betas: tuple[float, float], *, nesterov: bool) -> None:
        self._betas = betas
        self._nesterov = nesterov
        self._mean, self._square = torch.zeros_like(table), torch.zeros_like(table)
        self._count = torch.zeros(len(table), dtype=table.dtype, device=table.device)
        self._momentum = torch.ones_like(self._count)  # product of NAdam's momenta so far
        self._never = torch.tensor(_NEVER, dtype=torch.float32, device=table.device)

    def state_dict(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in _ROW_STATES}

    def load_state_dict(self, state_dict: dict[str, Tensor]) -> None:
        for name in _ROW_STATES:
            getattr(self, name).copy_(state_dict[name])

    def move(self, table: Tensor, rate: float) -> None:
        """One step of the rows in the table's gradient, a few at a time: what is fetched stays in the caches."""
        assert table.grad is not None
        rows, gradient = foreach.touched_rows(table.grad)
        count = self._count.index_select(0, rows).add_(1)
        self._count.index_copy_(0, rows, count)
        shares = self._nadam_shares(rows, count) if self._nesterov else self._adam_shares(count)  # (rows, 2)
        for part in _parts(len(rows), table.shape[1]):
            some, new = rows[part], gradient[part]
            mean, square = self._mean.index_select(0, some), self._square.index_select(0, some)
            change = (self._nadam if self._nesterov else self._adam)(new, mean, square, shares[part], rate)
            self._mean.index_copy_(0, some, mean)
            self._square.index_copy_(0, some, square)
            table.index_add_(0, some, change)

    def _adam(self, new: Tensor, mean: Tensor, square: Tensor, shares: Tensor, rate: float) -> Tensor:
        """Bring the means up to date; the change of these rows, made as if of long history and then corrected."""
        change = torch.zeros_like(new)
        counts = [self._never]
        foreach.adamw_([change], [new], [mean], [square], counts, rate=rate, betas=self._betas, decay=0.0, eps=_EPS)
        return change.mul_(shares)

    def _adam_shares(self, count: Tensor) -> Tensor:
        """What corrects each row's step for its short history: (rows, 1)."""
        beta1, beta2 = self._betas
        return ((1 - beta2**count).sqrt() / (1 - beta1**count)).unsqueeze(1)

    def _nadam(self, new: Tensor, mean: Tensor, square: Tensor, shares: Tensor, rate: float) -> Tensor:
        """The same with the momentum of the next step already in it."""
        beta1, beta2 = self._betas
        mean.lerp_(new, 1 - beta1)
        square.mul_(beta2).addcmul_(new, new, value=1 - beta2)
        of_mean, of_gradient = (shares[:, i : i + 1] for i in (0, 1))
        return (mean * of_mean).addcmul_(new, of_gradient).div_(square.sqrt().add_(_EPS)).mul_(-rate)

    def _nadam_shares(self, rows: Tensor, count: Tensor) -> Tensor:
        """With which corrected shares the mean and the gradient enter NAdam's step: (rows, 2)."""
        beta1, beta2 = self._betas
        now, following = (_nadam_momentum(t, beta1) for t in (count, count + 1))
        product = self._momentum.index_select(0, rows) * now
        self._momentum.index_copy_(0, rows, product)
        shares = torch.stack([following / (1 - product * following), (1 - now) / (1 - product)], dim=1)
        return shares * (1 - beta2**count).sqrt().unsqueeze(1)


def _parts(rows: int, h: int) -> list[slice]:
    at_once = max(1, limits.ADAM_ROWS // h)
    return [slice(a, a + at_once) for a in range(0, rows, at_once)]


def _nadam_momentum(count: Any, beta1: float) -> Any:
    """Of one step, by its number or by those of several rows."""
    return beta1 * (1 - 0.5 * 0.96 ** (count * _MOMENTUM_DECAY))
