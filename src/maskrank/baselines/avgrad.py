"""Average input gradient (Hechtlinger 2016): how much a trained net's outputs move with each input."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn

from maskrank.baselines._base import Array, Baseline, Floats, Predicts, import_library
from maskrank.baselines._nets import Net, Training, adam, decode, n_outputs, new_generator, outputs, train_net

_ROWS_AT_ONCE = 1 << 11


class AvGrad(Predicts, Baseline):
    """Average input gradient of an MLP (Hechtlinger 2016); captum takes the gradients, torch trains the net.

    The score of a feature is the size of the derivative of an output by it, averaged over training rows and outputs.
    Of a classification the outputs are the logits less their mean: what is common to all classes decides nothing.
    ``predict`` uses all features.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    hidden : tuple of int
        Sizes of the hidden layers.
    activation : "sigmoid", "silu" or "relu"
    max_steps : int
        Of training, at most.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        hidden: tuple[int, ...] = (60, 30, 20),
        activation: str = "sigmoid",
        max_steps: int = 10_000,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.hidden = hidden
        self.activation = activation
        self.max_steps = max_steps
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        saliency_of = import_library("captum.attr", "study").Saliency
        generator = new_generator(rng)
        n_out = n_outputs(self.task_, y)
        net = Net((X.shape[1], *self.hidden, n_out), self.activation, generator=generator)
        training = Training(max_steps=self.max_steps)
        train_net(net, X, y, training, task=self.task_, optimizer=adam(net, training), generator=generator)
        self.net_ = net
        saliency = saliency_of(_Centred(net))
        total = np.zeros(X.shape[1])
        for rows in torch.split(torch.from_numpy(X.astype(np.float32)), _ROWS_AT_ONCE):
            for k in range(n_out):
                slopes = saliency.attribute(rows.clone().requires_grad_(), target=k, abs=True)  # (rows, d)
                total += slopes.sum(dim=0).double().numpy()
        return total / (len(X) * n_out)

    def _predict_target(self, X: Floats) -> Array:
        return decode(outputs(self.net_, X), self.task_)


class _Centred(nn.Module):
    """Outputs less their mean over the classes; one output stays as it is."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.net(x)
        return out - out.mean(dim=1, keepdim=True) if out.shape[1] > 1 else out
