"""Self-attention network (Škrlj, Džeroski, Lavrač and Petković 2020): features by the attention they get."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.baselines._base import Array, Baseline, Floats
from maskrank.baselines._nets import as_tensors, decode, n_outputs, new_generator, outputs, target_loss
from maskrank.core.engine.layers import Dense
from maskrank.core.engine.training_loop import update

_ROWS_AT_ONCE = 1 << 13


class SAN(Baseline):
    """Self-attention network (Škrlj et al. 2020), written here with torch from the paper's formulas.

    The net multiplies its inputs by attention, softmax(W x + b), averaged over k heads, and has one hidden layer of
    SELU behind. Scores are the attention averaged over training rows that are predicted right ("aggr"; all rows of a
    regression), or the softmax of the diagonal of W ("global").

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    aggregate : "aggr" or "global"
    heads : int
        k of the paper.
    dropout : float
        Of attended inputs and of hidden units.
    epochs, batch_size : int
    hidden : int
        Hidden units.
    rate : float
        Of Adam.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None

    Attributes
    ----------
    net_ : torch.nn.Module
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        aggregate: str = "aggr",
        heads: int = 1,
        dropout: float = 0.2,
        epochs: int = 32,
        batch_size: int = 32,
        hidden: int = 128,
        rate: float = 1e-3,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.aggregate = aggregate
        self.heads = heads
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.hidden = hidden
        self.rate = rate
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        if self.aggregate not in ("aggr", "global"):
            raise ValueError(f"aggregate={self.aggregate!r} is not known; there are aggr, global")
        generator = new_generator(rng)
        self.net_ = AttentionNet(
            X.shape[1], self.hidden, n_outputs(self.task_, y), self.heads, self.dropout, generator=generator
        )
        self._train(*as_tensors(X, y, self.task_), generator)
        if self.aggregate == "global":
            return self.net_.global_attention().double().numpy()
        right = np.ones(len(y), dtype=bool)
        if self.task_ == "classification":
            right = decode(outputs(self.net_, X), self.task_) == y
        rows = X[right] if right.any() else X
        blocks = torch.split(torch.from_numpy(rows.astype(np.float32)), _ROWS_AT_ONCE)
        with torch.no_grad():
            total = torch.stack([self.net_.attention(block).sum(dim=0) for block in blocks]).sum(dim=0)
        return (total / len(rows)).double().numpy()

    def _train(self, x: Tensor, y: Tensor, generator: torch.Generator) -> None:
        adam = torch.optim.Adam(self.net_.parameters(), lr=self.rate, foreach=True)
        self.net_.train()
        for _ in range(self.epochs):
            for rows in torch.split(torch.randperm(len(x), generator=generator), self.batch_size):
                loss = target_loss(self.net_(x[rows]), y[rows], self.task_)
                update(adam, loss)
        self.net_.eval()


class AttentionNet(nn.Module):
    """Attention on the inputs, one hidden layer behind; dropout draws from the generator it is given."""

    def __init__(
        self, d: int, hidden: int, n_out: int, heads: int, dropout: float, *, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.heads = nn.ModuleList(Dense(d, d, generator=generator) for _ in range(heads))
        self.inner = Dense(d, hidden, generator=generator)
        self.outer = Dense(hidden, n_out, generator=generator)
        self.share = dropout
        self.generator = generator

    def attention(self, x: Tensor) -> Tensor:
        """Of each row; it sums to 1: (n, d) -> (n, d)."""
        return torch.stack([F.softmax(head(x), dim=1) for head in self.heads]).mean(dim=0)

    @torch.no_grad()
    def global_attention(self) -> Tensor:
        """Softmax of the diagonal of the attention's weights: (d,)."""
        diagonals = [F.softmax(head.weight.diagonal(), dim=0) for head in self.heads]  # type: ignore[operator]
        return torch.stack(diagonals).mean(dim=0)

    def forward(self, x: Tensor) -> Tensor:
        attended = self._drop(x * self.attention(x))
        return self.outer(self._drop(F.selu(self.inner(attended))))  # type: ignore[no-any-return]

    def _drop(self, x: Tensor) -> Tensor:
        if not self.training or not self.share:
            return x
        kept = torch.rand(x.shape, generator=self.generator) >= self.share
        return x * kept / (1 - self.share)
