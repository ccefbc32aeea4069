"""The losses of Eq. 2, and one small object for each kind of task.

A task says how many outputs the operator has, what a wrong answer costs, and what the outputs mean. Losses and
errors are always lower for the better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.core.data.rows import Batch

_LEAST_ROWS = 8
_MOST_OF_A_ROW = 3.0  # that a row counts for, against the mean
_BEYOND_SCATTER = 2.5  # standard errors; the same rows chose the best moment of the nets, so more than the usual 2


class Task(Protocol):
    """What the trainer needs to know of a task."""

    @property
    def n_outputs(self) -> int:
        """Size of the operator's output."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """l(x⊗m, y) for each mask and row: (masks, batch, outputs), (batch, ...) -> (masks, batch)."""

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The figure people look at, for each mask and row; lower is better."""

    def constant(self, y: Tensor) -> Tensor:
        """The outputs of the best answer that looks at no feature: (outputs,)."""


@dataclass(frozen=True)
class BinaryTask:
    """Two classes, one output: the log-odds of class 1. Targets are 0 or 1."""

    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        logits = outputs.squeeze(-1)
        return F.binary_cross_entropy_with_logits(logits, y.to(logits.dtype).expand_as(logits), reduction="none")

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return ((outputs.squeeze(-1) > 0) != y.bool()).float()

    def constant(self, y: Tensor) -> Tensor:
        return torch.logit(y.double().mean(), eps=1e-6).reshape(1)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """(..., 1) -> (..., 2)."""
        positive = torch.sigmoid(outputs)
        return torch.cat([1 - positive, positive], dim=-1)


@dataclass(frozen=True)
class MulticlassTask:
    """k classes, k outputs. Targets are 0..k-1."""

    n_outputs: int

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        masks, batch, k = outputs.shape
        flat = F.cross_entropy(outputs.reshape(-1, k), y.repeat(masks), reduction="none")
        return flat.reshape(masks, batch)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs.argmax(dim=-1) != y).float()

    def constant(self, y: Tensor) -> Tensor:
        return (torch.bincount(y, minlength=self.n_outputs).double() / len(y)).clamp(min=1e-6).log()

    def probabilities(self, outputs: Tensor) -> Tensor:
        """(..., k) -> (..., k)."""
        return torch.softmax(outputs, dim=-1)


@dataclass(frozen=True)
class RegressionTask:
    """Real targets (batch, outputs); squared error, averaged over the outputs."""

    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs - y).square().mean(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self.loss(outputs, y)

    def constant(self, y: Tensor) -> Tensor:
        return y.double().mean(dim=0)


def subset_losses(operator: nn.Module, task: Task, batch: Batch, subsets: Tensor) -> Tensor:
    """Mean loss of each subset over the batch: (masks,). Their mean is L_O, Eq. 2a."""
    return task.loss(operator(batch, subsets), batch.y).mean(dim=1)


def selector_loss(predicted: Tensor, observed: Tensor, weights: Tensor | None = None) -> Tensor:
    """L_S, Eq. 2b: half the mean of the (weighted) squared differences."""
    squares = (predicted - observed).square()
    return 0.5 * (squares if weights is None else weights * squares).mean()


def beats_constant(task: Task, outputs: Tensor, y: Tensor, seen: Tensor) -> bool:
    """Whether predictions are better than the best constant answer, beyond the scatter between the rows.

    A handful of rows can't tell.

    Parameters
    ----------
    outputs : Tensor (n, outputs)
        On rows that were not learned from.
    y : Tensor
        Their targets.
    seen : Tensor
        Targets of the rows that were learned from.
    """
    constant = task.constant(seen).expand_as(outputs)
    without, with_features = task.loss(torch.stack([constant, outputs.double()]), y)
    gain = without - with_features  # (n,)
    bound = _MOST_OF_A_ROW * gain.abs().mean()
    gain = gain.clamp(-bound, bound)  # a few rows should neither make the difference nor hide it
    return len(gain) >= _LEAST_ROWS and bool(gain.mean() > _BEYOND_SCATTER * gain.std() / math.sqrt(len(gain)))
