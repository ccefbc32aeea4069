"""What is learned: one small object for each kind of task, and the losses of Eq. 2 made of it.

A task owns everything that depends on the kind of target: the size of the operator's output, the loss, the error and
the metric that people look at, the best constant answer, the target as numbers, and its part of a model file. Losses
and errors are always lower for the better. To add a task, add a class here and put it in `TASKS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.core.data.rows import Batch
from maskrank.core.data.weights import mean_of_rows
from maskrank.core.metrics import ACCURACY, MEAN_SQUARED_ERROR, Metric


class Task(Protocol):
    """What the core needs to know of a task."""

    kind: ClassVar[str]  # what a model file calls it
    metric: ClassVar[Metric]  # the figure that people look at
    discrete: ClassVar[bool]  # whether targets are class numbers (n,), or else numbers (n, outputs)

    @property
    def n_outputs(self) -> int:
        """Size of the operator's output."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """l(x⊗m, y) for each mask and row: (masks, batch, outputs), (batch, ...) -> (masks, batch)."""

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        """What the metric is the mean of, for each mask and row; lower is better."""

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        """The outputs of the best answer that looks at no feature, on rows of these weights: (outputs,)."""

    def as_numeric(self, y: Tensor) -> Tensor:
        """The target as columns of numbers, for closed-form models: (n, ...) -> (n, columns)."""

    def to_document(self) -> dict[str, Any]:
        """What a model file holds of the task; `task_from_document` reads it."""


class _ClassTask:
    """What tasks with classes have in common. Targets are 0..k-1."""

    metric: ClassVar[Metric] = ACCURACY
    discrete: ClassVar[bool] = True

    def as_numeric(self, y: Tensor) -> Tensor:
        """One column of zeros and ones for each class."""
        return F.one_hot(y)


@dataclass(frozen=True)
class BinaryTask(_ClassTask):
    """Two classes, one output: the log-odds of class 1."""

    kind: ClassVar[str] = "binary"
    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        logits = outputs.squeeze(-1)
        return F.binary_cross_entropy_with_logits(logits, y.to(logits.dtype).expand_as(logits), reduction="none")

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return ((outputs.squeeze(-1) > 0) != y.bool()).float()

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return torch.logit(weighted_mean(y.double(), weights), eps=1e-6).reshape(1)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """(..., 1) -> (..., 2)."""
        positive = torch.sigmoid(outputs)
        return torch.cat([1 - positive, positive], dim=-1)

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class MulticlassTask(_ClassTask):
    """k classes, k outputs: logits."""

    kind: ClassVar[str] = "multiclass"
    n_outputs: int

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        masks, batch, k = outputs.shape
        flat = F.cross_entropy(outputs.reshape(-1, k), y.repeat(masks), reduction="none")
        return flat.reshape(masks, batch)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs.argmax(dim=-1) != y).float()

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        weights = torch.ones_like(y, dtype=torch.float64) if weights is None else weights.double()
        counts = torch.bincount(y, weights, minlength=self.n_outputs)
        return (counts / counts.sum()).clamp(min=1e-6).log()

    def probabilities(self, outputs: Tensor) -> Tensor:
        """(..., k) -> (..., k)."""
        return torch.softmax(outputs, dim=-1)

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class RegressionTask:
    """Real targets (batch, outputs); squared error, averaged over the outputs."""

    kind: ClassVar[str] = "regression"
    metric: ClassVar[Metric] = MEAN_SQUARED_ERROR
    discrete: ClassVar[bool] = False
    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs - y).square().mean(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self.loss(outputs, y)

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return weighted_mean(y.double(), weights)

    def as_numeric(self, y: Tensor) -> Tensor:
        return y

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


TASKS: dict[str, Any] = {task.kind: task for task in (BinaryTask, MulticlassTask, RegressionTask)}


def task_from_document(document: dict[str, Any]) -> Task:
    """The task that ``to_document`` described."""
    settings = {name: value for name, value in document.items() if name != "kind"}
    task: Task = TASKS[document["kind"]](**settings)
    return task


def weighted_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """The mean over rows, the first dimension: (n, ...) -> (...)."""
    if weights is None:
        return values.mean(dim=0)
    weights = weights.to(values)
    mean: Tensor = torch.tensordot(weights, values, dims=1) / weights.sum()
    return mean


def subset_losses(operator: nn.Module, task: Task, batch: Batch, subsets: Tensor) -> Tensor:
    """Mean loss of each subset over the batch, by the weights of its rows: (masks,). Their mean is L_O, Eq. 2a."""
    return mean_of_rows(task.loss(operator(batch, subsets), batch.y), batch.weights)


def selector_loss(predicted: Tensor, observed: Tensor, weights: Tensor | None = None) -> Tensor:
    """L_S, Eq. 2b: half the mean of the (weighted) squared differences."""
    squares = (predicted - observed).square()
    return 0.5 * (squares if weights is None else weights * squares).mean()
