"""Deep feature selection (Li, Chen and Wasserman 2016): a one-to-one layer with an elastic net before an MLP."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from maskrank.baselines._base import Array, Baseline, Floats, Predicts
from maskrank.baselines._nets import Net, Training, decode, n_outputs, new_generator, outputs, train_net

_LEARNED = 0.95  # of the constant prediction's loss, on held-out rows: the net has begun to learn
_MOST_STEPS = 500  # after which shrinking sets in all the same


class DFS(Predicts, Baseline):
    """Deep feature selection (Li, Chen and Wasserman 2016), written here with torch from the paper's formula.

    Each input is multiplied by a weight of its own, and the loss of the net behind has a penalty::

        λ1 ((1 - λ2)/2 |w|₂² + λ2 |w|₁) + α1 ((1 - α2)/2 Σ|W|² + α2 Σ|W|₁)

    Adam takes the steps of all but the l1 norm of w. That one has a proximal step in Adam's own metric: each weight is
    drawn towards zero by λ1 λ2 times its step size, and ends there, so that weights are exactly zero, which
    subgradients never reach. It sets in when the net has begun to learn: earlier it would take all inputs away, since
    a fresh net hardly uses them, and later none, since an overfitted net uses all. The weights that
    are kept minimise loss and penalty of w on held-out rows. A feature's score is |w|. ``predict`` uses all features
    whose weight is not zero.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    lambda1, lambda2, alpha1, alpha2 : float
        Of the penalty; the values of Wojtas and Chen for the synthetic data.
    hidden : tuple of int
        Sizes of the hidden layers.
    activation : "sigmoid", "silu" or "relu"
    rate : float
        Of Adam.
    batch_size, max_steps, patience : int
        Large batches: the noise of a gradient has to be less than λ1 for a weight to stay at zero.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None

    Attributes
    ----------
    weights_ : ndarray (columns,)
        Of the one-to-one layer, which multiplies the encoded columns.
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        lambda1: float = 0.01,
        lambda2: float = 1.0,
        alpha1: float = 1e-4,
        alpha2: float = 0.0,
        hidden: tuple[int, ...] = (60, 30, 20),
        activation: str = "sigmoid",
        rate: float = 3e-3,
        batch_size: int = 256,
        max_steps: int = 10_000,
        patience: int = 1_000,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.alpha1 = alpha1
        self.alpha2 = alpha2
        self.hidden = hidden
        self.activation = activation
        self.rate = rate
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.patience = patience
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        generator = new_generator(rng)
        inner = Net((X.shape[1], *self.hidden, n_outputs(self.task_, y)), self.activation, generator=generator)
        net = OneToOne(X.shape[1], inner)
        optimizer = self._adam(net)
        shrinkage = Shrinkage(
            net,
            optimizer,
            self.lambda1,
            self.lambda2,
            begin_at=_LEARNED * constant_loss(y, self.task_),
            begin_by=min(_MOST_STEPS, self.max_steps // 2),
        )
        train_net(
            net,
            X,
            y,
            Training(self.rate, self.batch_size, self.max_steps, self.patience),
            task=self.task_,
            optimizer=optimizer,
            generator=generator,
            penalty=self._rest(net),
            after_step=shrinkage.step,
            judge=shrinkage.judge,
        )
        self.net_ = net
        self.weights_ = net.w.detach().double().numpy()
        return np.asarray(np.abs(self.weights_))

    def _adam(self, net: OneToOne) -> torch.optim.Adam:
        """With both squared penalties as decay, which in Adam is their gradient."""
        groups: list[dict[str, Any]] = [
            {"params": [net.w], "weight_decay": self.lambda1 * (1 - self.lambda2)},
            {"params": net.inner.weights(), "weight_decay": self.alpha1 * (1 - self.alpha2)},
            {"params": net.inner.biases()},
        ]
        return torch.optim.Adam(groups, lr=self.rate, fused=True)

    def _rest(self, net: OneToOne) -> Callable[[], Tensor] | None:
        """The l1 norm of the other weights, which need not be exactly zero: a subgradient will do."""
        if not self.alpha2:
            return None
        return lambda: self.alpha1 * self.alpha2 * torch.stack([w.abs().sum() for w in net.inner.weights()]).sum()

    def _predict_target(self, X: Floats) -> Array:
        return decode(outputs(self.net_, X), self.task_)


class OneToOne(nn.Module):
    """Inputs times a weight each, all 1 at the start, and the net behind."""

    def __init__(self, d: int, inner: Net) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x * self.w)  # type: ignore[no-any-return]


class Shrinkage:
    """The l1 penalty of the one-to-one layer: when it sets in, its steps, and its part in the judgement."""

    def __init__(
        self,
        net: OneToOne,
        adam: torch.optim.Adam,
        lambda1: float,
        lambda2: float,
        *,
        begin_at: float,
        begin_by: int,
    ) -> None:
        self.w, self.adam = net.w, adam
        self.lambda1, self.lambda2 = lambda1, lambda2
        self.begin_at, self.begin_by = begin_at, begin_by
        self.steps, self.on = 0, False

    def step(self) -> None:
        self.steps += 1
        if self.on:
            shrink(self.w, self.adam, self.lambda1 * self.lambda2)

    def judge(self, loss: float) -> float:
        """Held-out loss and penalty; nothing is good enough before the penalty has set in."""
        self.on = self.on or loss < self.begin_at or self.steps >= self.begin_by
        if not self.on:
            return math.inf
        w = self.w.detach()
        return loss + self.lambda1 * float(0.5 * (1 - self.lambda2) * w.square().sum() + self.lambda2 * w.abs().sum())


def constant_loss(y: Array, task: str) -> float:
    """Loss of the best constant prediction of class codes or of standardised numbers."""
    if task == "regression":
        return float(y.var())
    shares = np.bincount(y) / len(y)
    return float(-(shares * np.log(shares)).sum())


@torch.no_grad()
def shrink(w: nn.Parameter, adam: torch.optim.Adam, strength: float) -> None:
    """Soft threshold, in place: the proximal step of strength |w|₁ in the metric of Adam's last step."""
    state, group = adam.state[w], adam.param_groups[0]
    unbiased = state["exp_avg_sq"] / (1 - group["betas"][1] ** state["step"])
    threshold = strength * group["lr"] / (unbiased.sqrt() + group["eps"])
    w.copy_(w.sign() * (w.abs() - threshold).clamp(min=0))
