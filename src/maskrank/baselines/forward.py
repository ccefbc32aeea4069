"""Forward selection on a net (Guyon and Elisseeff 2003): greedily, what lowers the cross-validated loss most."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from maskrank.baselines._base import Array, Baseline, Floats, Predicts
from maskrank.baselines._nets import as_tensors, n_outputs, new_generator
from maskrank.baselines.mlp import MLP
from maskrank.core.engine.training_loop import update

_NETS_AT_ONCE = 96
_RATE = 0.03
_DECAY = 1e-3


class ForwardSelection(Predicts, Baseline):
    """Forward selection by the loss of an MLP (Guyon and Elisseeff 2003), written here with torch.

    From no feature on, each round adds the one with which small nets have the lowest loss on rows they have not learned
    from; what was taken earlier ranks higher. The nets of a round, one for each candidate and fold, have one hidden
    layer and are trained side by side as one batched product, all from the same start. ``predict`` is by an MLP on the
    chosen features.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    judge : int
        Hidden units of these nets.
    n_steps : int
        Of their training; the best held-out loss on the way counts.
    folds : int
    batch_size : int
        Rows of a step; all, where there are fewer.
    hidden : tuple of int
        Hidden layers of the net that predicts.
    max_steps : int
        Of its training, at most.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None

    Attributes
    ----------
    losses_ : ndarray (columns taken,)
        Held-out loss after each column that was taken: s of them, or more where features have several.
    """

    _gives = "order"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        judge: int = 20,
        n_steps: int = 300,
        folds: int = 3,
        batch_size: int = 512,
        hidden: tuple[int, ...] = (60, 30, 20),
        max_steps: int = 10_000,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.judge = judge
        self.n_steps = n_steps
        self.folds = folds
        self.batch_size = batch_size
        self.hidden = hidden
        self.max_steps = max_steps
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        fold = rng.permutation(len(y)) % self.folds
        seed = int(rng.integers(2**31))
        chosen: list[int] = []
        losses: list[float] = []
        left = list(range(X.shape[1]))
        while self._n_features(chosen) < size:
            losses_with = self._losses(X, y, [[*chosen, j] for j in left], fold, seed)
            best = int(losses_with.argmin())
            losses.append(float(losses_with[best]))
            chosen.append(left.pop(best))
            losses_with = np.delete(losses_with, best)
        self.losses_ = np.array(losses)
        self.predictor_ = MLP(self.hidden, max_steps=self.max_steps, task=self.task_, random_state=seed).fit(
            X[:, chosen], y
        )
        self._chosen = chosen
        return np.array([*chosen, *np.array(left)[losses_with.argsort(kind="stable")]])

    def _losses(
        self, X: Floats, y: Array, subsets: list[list[int]], fold: NDArray[np.int64], seed: int
    ) -> NDArray[np.float64]:
        """Held-out loss of each subset, averaged over the folds."""
        n_out = n_outputs(self.task_, y)
        total = np.zeros(len(subsets))
        for number in range(self.folds):
            learn, hold = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            for start in range(0, len(subsets), _NETS_AT_ONCE):
                some = slice(start, start + _NETS_AT_ONCE)
                columns = X[:, subsets[some]].transpose(1, 0, 2)  # (nets, n, features)
                total[some] += self._train(columns, y, learn, hold, n_out, np.random.default_rng([seed, number]))
        return total / self.folds

    def _train(
        self, columns: Array, y: Array, learn: Array, hold: Array, n_out: int, rng: Generator
    ) -> NDArray[np.float64]:
        """Train nets side by side: columns (nets, n, features) -> lowest held-out loss of each (nets,)."""
        generator = new_generator(rng)
        x, target = as_tensors(columns, y, self.task_)
        parameters = _start(len(x), x.shape[2], self.judge, n_out, generator)
        adam = torch.optim.Adam(parameters, lr=_RATE)
        x_learn, y_learn, x_hold, y_hold = x[:, learn], target[learn], x[:, hold], target[hold]
        best = np.full(len(x), np.inf)
        for step in range(self.n_steps):
            rows: slice | Tensor = slice(None)
            if len(learn) > self.batch_size:
                rows = torch.randint(len(learn), (self.batch_size,), generator=generator)
            loss = _losses(_forward(x_learn[:, rows], parameters), y_learn[rows], self.task_).sum()
            loss = loss + 0.5 * _DECAY * (parameters[0].square().sum() + parameters[2].square().sum())
            update(adam, loss)
            if step % 10 == 9:
                with torch.no_grad():
                    best = np.minimum(best, _losses(_forward(x_hold, parameters), y_hold, self.task_).double().numpy())
        return best

    def _predict_target(self, X: Floats) -> Array:
        predicted: Array = self.predictor_.predict(X[:, self._chosen])
        return predicted


def _start(nets: int, n_in: int, hidden: int, n_out: int, generator: torch.Generator) -> list[Tensor]:
    """Weights and biases of nets that all begin alike, so that only their features differ."""
    first = torch.empty(n_in, hidden).normal_(std=n_in**-0.5, generator=generator)
    second = torch.empty(hidden, n_out).normal_(std=hidden**-0.5, generator=generator)
    parts = (first, torch.empty(1, hidden).normal_(generator=generator), second, torch.zeros(1, n_out))
    return [part.repeat(nets, 1, 1).requires_grad_() for part in parts]


def _forward(x: Tensor, parameters: list[Tensor]) -> Tensor:
    """(nets, n, features) -> (nets, n, outputs)."""
    w1, b1, w2, b2 = parameters
    return torch.baddbmm(b2, torch.tanh(torch.baddbmm(b1, x, w1)), w2)


def _losses(output: Tensor, y: Tensor, task: str) -> Tensor:
    """Loss of each net: (nets, n, outputs), (n,) -> (nets,)."""
    if task == "regression":
        return (output[:, :, 0] - y).square().mean(dim=1)
    targets = y.expand(len(output), -1)
    return F.cross_entropy(output.transpose(1, 2), targets, reduction="none").mean(dim=1)
