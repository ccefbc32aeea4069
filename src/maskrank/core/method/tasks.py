"""What is learned: one small object for each kind of task, and the losses of Eq. 2 made of it.

A task owns everything that depends on the kind of target: the size of the operator's output, the loss, the error and
the metric that people look at, the best constant answer, the target as numbers, and its part of a model file. Losses
and errors are always lower for the better. Tasks with a Poisson likelihood are in `count_tasks`. To add a task, add a
class and put it in `TASKS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.core.data.rows import Batch
from maskrank.core.data.weights import mean_of_rows
from maskrank.core.method.count_tasks import CountTask, SurvivalTask
from maskrank.core.metrics import ACCURACY, LABEL_ACCURACY, MEAN_SQUARED_ERROR, Metric
from maskrank.core.probabilities import of_ordered_classes


class Task(Protocol):
    """What the core needs to know of a task."""

    kind: ClassVar[str]  # what a model file calls it
    metric: ClassVar[Metric]  # the figure that people look at
    discrete: ClassVar[bool]  # whether targets are class numbers (n,), or else numbers (n, columns)
    stratified: ClassVar[bool]  # whether a split keeps the shares of the target's values, of the first column's
    # Whether predictions are probabilities: what a feature saves is told in nats, and else as a share of the loss of
    # the constant answer.
    probabilistic: ClassVar[bool]
    figure: ClassVar[str]  # that of a size curve: "accuracy", or what that share is called, "r2" or "d2"

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

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        """What predictions leave over, as screens take it: from the slope of the losses by the outputs, and the losses.

        (masks, n, outputs), (masks, n) -> (masks, n, outputs).
        """

    def to_document(self) -> dict[str, Any]:
        """What a model file holds of the task; `task_from_document` reads it."""


class _ClassTask:
    """What tasks with classes have in common. Targets are 0..k-1."""

    metric: ClassVar[Metric] = ACCURACY
    discrete: ClassVar[bool] = True
    stratified: ClassVar[bool] = True
    probabilistic: ClassVar[bool] = True
    figure: ClassVar[str] = "accuracy"

    def as_numeric(self, y: Tensor) -> Tensor:
        """One column of zeros and ones for each class."""
        return F.one_hot(y)

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        return -slope


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

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class OrderedTask(_ClassTask):
    """k classes in an order, k - 1 outputs: the log-odds of a class beyond the first, the second, ...

    The loss is the sum of the log-losses of these k - 1 events (Frank and Hall 2001; Cheng et al. 2008): an answer
    costs the more, the further it is from the class.
    """

    kind: ClassVar[str] = "ordered"
    n_outputs: int

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        beyond = self.as_numeric(y).to(outputs.dtype).expand_as(outputs)
        return F.binary_cross_entropy_with_logits(outputs, beyond, reduction="none").sum(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        probabilities = torch.from_numpy(of_ordered_classes(outputs.detach().cpu().numpy())).to(y.device)
        return (probabilities.argmax(dim=-1) != y).float()

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return torch.logit(weighted_mean(self.as_numeric(y).double(), weights), eps=1e-6)

    def as_numeric(self, y: Tensor) -> Tensor:
        """Whether the class is beyond the first, the second, ...: (n, k - 1) of 0 and 1."""
        return (y.unsqueeze(-1) > torch.arange(self.n_outputs, device=y.device)).long()

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class MultilabelTask:
    """Several labels, each 0 or 1: (batch, labels); log-odds, and the log-loss averaged over the labels."""

    kind: ClassVar[str] = "multilabel"
    metric: ClassVar[Metric] = LABEL_ACCURACY
    discrete: ClassVar[bool] = False
    stratified: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = True
    figure: ClassVar[str] = "accuracy"
    n_outputs: int

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        losses = F.binary_cross_entropy_with_logits(outputs, y.to(outputs.dtype).expand_as(outputs), reduction="none")
        return losses.mean(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return ((outputs > 0) != y.bool()).float().mean(dim=-1)

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return torch.logit(weighted_mean(y.double(), weights), eps=1e-6)

    def as_numeric(self, y: Tensor) -> Tensor:
        return y

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        return -slope

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class RegressionTask:
    """Real targets (batch, outputs); squared error, averaged over the outputs."""

    kind: ClassVar[str] = "regression"
    metric: ClassVar[Metric] = MEAN_SQUARED_ERROR
    discrete: ClassVar[bool] = False
    stratified: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = False
    figure: ClassVar[str] = "r2"
    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs - y).square().mean(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self.loss(outputs, y)

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return weighted_mean(y.double(), weights)

    def as_numeric(self, y: Tensor) -> Tensor:
        return y

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        return -slope

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


TASKS: dict[str, Any] = {
    task.kind: task
    for task in (BinaryTask, MulticlassTask, OrderedTask, MultilabelTask, RegressionTask, CountTask, SurvivalTask)
}


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
