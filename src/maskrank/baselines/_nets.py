"""A small MLP and its training: Adam, early stopping on held-out rows, one generator for all that is drawn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.core.engine.layers import ACTIVATIONS, Dense
from maskrank.core.engine.training_loop import update
from maskrank.estimators.preparation import split_rows

_SIGMOID_GAIN = 4.0  # its slope at 0 is a quarter: without it three layers hardly begin to learn (Glorot & Bengio 2010)
_CHECK_EVERY = 50  # steps between two looks at the held-out rows
_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Training:
    """How a net is trained.

    Attributes
    ----------
    rate : float
        Of Adam.
    batch_size : int
    max_steps : int
    patience : int
        Steps without a better loss on the held-out rows.
    weight_decay : float
        Times half the squared weights, in the loss.
    validation_fraction : float
    """

    rate: float = 3e-3
    batch_size: int = 64
    max_steps: int = 10_000
    patience: int = 1_000
    weight_decay: float = 5e-4
    validation_fraction: float = 0.2


class Split(NamedTuple):
    """Training rows that are learned from, and those that early stopping looks at."""

    learned: NDArray[np.int64]
    held_out: NDArray[np.int64]


class Net(nn.Module):
    """Affine layers with an activation between them.

    Parameters
    ----------
    sizes : tuple of int
        Inputs, hidden layers, outputs.
    activation : "sigmoid", "silu" or "relu"
    generator : torch.Generator
    """

    def __init__(self, sizes: tuple[int, ...], activation: str, *, generator: torch.Generator) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation={activation!r} is not known; there are {', '.join(ACTIVATIONS)}")
        self.activation = activation
        self.layers = nn.ModuleList(Dense(n_in, n_out, generator=generator) for n_in, n_out in pairwise(sizes))
        if activation == "sigmoid":
            with torch.no_grad():
                for layer in list(self.layers)[1:-1]:  # the first has inputs of unit variance and needs none
                    layer.weight.mul_(_SIGMOID_GAIN)  # type: ignore[operator]

    def forward(self, x: Tensor) -> Tensor:
        activate = ACTIVATIONS[self.activation]
        for layer in list(self.layers)[:-1]:
            x = activate(layer(x))
        return self.layers[-1](x)  # type: ignore[no-any-return]

    def weights(self) -> list[nn.Parameter]:
        return [layer.weight for layer in self.layers]  # type: ignore[misc]

    def biases(self) -> list[nn.Parameter]:
        return [layer.bias for layer in self.layers]  # type: ignore[misc]


def adam(net: Net, training: Training) -> torch.optim.Adam:
    """Adam with the decay on the weights and none on the biases; in Adam, "decay" is the gradient of the penalty."""
    groups: list[dict[str, Any]] = [
        {"params": net.weights(), "weight_decay": training.weight_decay},
        {"params": net.biases()},
    ]
    return torch.optim.Adam(groups, lr=training.rate, fused=True)


def new_generator(rng: Generator) -> torch.Generator:
    """A torch generator that follows from NumPy's."""
    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def n_outputs(task: str, y: NDArray[Any]) -> int:
    """Outputs of a net: one per class, or one."""
    return int(y.max()) + 1 if task == "classification" else 1


def target_loss(output: Tensor, y: Tensor, task: str) -> Tensor:
    """Cross-entropy of a classification, mean squared error of a regression."""
    if task == "classification":
        return F.cross_entropy(output, y)
    return F.mse_loss(output[:, 0], y)


def as_tensors(X: NDArray[Any], y: NDArray[Any], task: str) -> tuple[Tensor, Tensor]:
    """Features as 32-bit floats; class codes as integers, or numbers as 32-bit floats."""
    target = torch.from_numpy(y.astype(np.int64 if task == "classification" else np.float32))
    return torch.from_numpy(X.astype(np.float32)), target


def train_net(
    net: nn.Module,
    X: NDArray[Any],
    y: NDArray[Any],
    training: Training,
    *,
    task: str,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    penalty: Callable[[], Tensor] | None = None,
    after_step: Callable[[], None] | None = None,
    judge: Callable[[float], float] | None = None,
) -> Split:
    """Train a net in place; it ends with the weights that did best on the held-out rows.

    Parameters
    ----------
    net : nn.Module
    X : ndarray (n, d)
    y : ndarray (n,)
        Class codes or standardised numbers.
    training : Training
    task : "classification" or "regression"
    optimizer : Optimizer
    generator : torch.Generator
        Draws the held-out rows and the batches.
    penalty : callable, optional
        Added to the loss of a batch.
    after_step : callable, optional
        Called after each step, such as for a proximal one.
    judge : callable, optional
        From the held-out loss to the value that the best weights minimise; the loss itself if not given.
    """
    labels = y if task == "classification" else None
    split = Split(*split_rows(len(y), training.validation_fraction, labels=labels, generator=generator))
    x, target = as_tensors(X, y, task)
    x_held, target_held = x[split.held_out], target[split.held_out]
    x, target = x[split.learned], target[split.learned]
    best, best_step, best_state = np.inf, 0, copy.deepcopy(net.state_dict())
    for step in range(training.max_steps):
        if step % _CHECK_EVERY == 0:
            loss = float(target_loss(forward(net, x_held), target_held, task))
            value = judge(loss) if judge else loss
            if value < best:
                best, best_step, best_state = value, step, copy.deepcopy(net.state_dict())
            elif step - best_step >= training.patience:
                break
        rows = torch.randint(len(x), (min(training.batch_size, len(x)),), generator=generator)
        batch_loss = target_loss(net(x[rows]), target[rows], task)
        update(optimizer, batch_loss + penalty() if penalty else batch_loss)
        if after_step:
            after_step()
    net.load_state_dict(best_state)
    return split


@torch.no_grad()
def forward(net: nn.Module, x: Tensor) -> Tensor:
    """Outputs (n, k), a block of rows at a time."""
    return torch.cat([net(rows) for rows in torch.split(x, _ROWS_AT_ONCE)])


def outputs(net: nn.Module, X: NDArray[Any]) -> NDArray[np.float32]:
    """The same for an array."""
    values: NDArray[np.float32] = forward(net, torch.from_numpy(np.asarray(X, dtype=np.float32))).numpy()
    return values


def decode(values: NDArray[Any], task: str) -> NDArray[Any]:
    """Outputs (n, k) as class codes or standardised numbers (n,)."""
    return values.argmax(axis=1) if task == "classification" else values[:, 0].astype(np.float64)
