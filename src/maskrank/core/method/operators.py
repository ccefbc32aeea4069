"""The operator f_O(x⊗m, m): the net that learns the task on any subset of the features.

`SubsetMLP` is the paper's MLP; `MaskedModule` makes an operator of a net that takes x⊗m and m, such as `ImageCNN` or a
net of the user's own. At one subset an operator becomes a `Predictor`, exactly.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from maskrank.core import limits
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Batch
from maskrank.core.data.subsets import to_mask, with_required
from maskrank.core.engine.costs import dense_layer
from maskrank.core.engine.gathered import Gathered, subset_affine
from maskrank.core.engine.layers import Dense, Tail, glorot
from maskrank.core.engine.predictor import Predictor as Predictor
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.image_cnn import ImageCNN

# Nets that a model file can build again without the user, and how each describes itself.
SELF_DESCRIBING: dict[type[nn.Module], Callable[[Any], dict[str, Any]]] = {ImageCNN: ImageCNN.spec}


class Operator(nn.Module, ABC):
    """What the core needs to know of an operator.

    Attributes
    ----------
    fine_tunes : bool
        Whether the final predictor is this net fine-tuned at m*, or new nets on the chosen columns.
    """

    fine_tunes: ClassVar[bool]

    @abstractmethod
    def forward(self, batch: Batch, subsets: Tensor) -> Tensor:
        """(batch of rows), (masks, s) -> (masks, batch, outputs)."""

    @abstractmethod
    def specialise(self, subset: Tensor) -> Predictor:
        """The operator at one subset (s,), as a net on its columns and those of required features: f_O(θ*; x, m*)."""


class SubsetMLP(Operator):
    """An MLP on the concatenation of x⊗m and m, computed from the chosen columns alone.

    The first layer is (x⊗m) W_x + m W_m + b. All but s entries of m are zero, so that is the product of s columns
    of x with s rows of W_x, plus the sum of s rows of W_m. A feature of several columns has a row of W_x for each, and
    one of W_m.

    Parameters
    ----------
    blocks : Blocks
        The columns of each feature.
    n_outputs : int
    n_required : int
        The last so many features are in every subset.
    hidden : tuple of int
    activation : "sigmoid", "silu" or "relu"
    fan_in : int
        Number of inputs in Glorot's rule for the first layer: 2d in the paper.
    by_rows : bool
        Whether the first layer's gradients are sparse tensors of the touched rows.
    """

    fine_tunes: ClassVar[bool] = False

    def __init__(
        self,
        blocks: Blocks,
        n_outputs: int,
        *,
        n_required: int = 0,
        hidden: tuple[int, ...],
        activation: str,
        fan_in: int,
        generator: torch.Generator,
        by_rows: bool = False,
    ) -> None:
        super().__init__()
        self.by_rows, self._blocks, self._n_required = by_rows, blocks, n_required
        n_rows = blocks.n_columns if blocks.is_single else blocks.n_columns + 1  # the last one is behind narrow subsets
        self.weight_x = glorot(fan_in, hidden[0], (n_rows, hidden[0]), generator=generator)
        self.weight_m = glorot(fan_in, hidden[0], (len(blocks), hidden[0]), generator=generator)
        self.bias = nn.Parameter(torch.zeros(hidden[0]))
        self.tail = Tail((*hidden, n_outputs), activation, generator=generator)

    def forward(self, batch: Batch, subsets: Tensor) -> Tensor:
        subsets = batch.with_required(subsets)
        shape = (self._blocks.n_columns, self._blocks.mean_width(subsets), self.weight_x.shape[1])
        dense = not self.by_rows and dense_layer(*shape, len(subsets), len(batch))
        hidden = self._dense(batch, subsets) if dense else self._gathered(batch, subsets)  # (masks, batch, h)
        return self.tail(hidden)  # type: ignore[no-any-return]

    def specialise(self, subset: Tensor) -> StackedMLP:
        subset = with_required(subset.unsqueeze(0), len(self._blocks), self._n_required)[0]
        first_weight = self.weight_x[self._blocks.columns_of(subset)]
        first_bias = self.bias + self.weight_m[subset].sum(dim=0)
        layers = [layer for layer in self.tail.layers if isinstance(layer, Dense)]
        weights = [first_weight, *(layer.weight for layer in layers)]
        biases = [first_bias, *(layer.bias for layer in layers)]
        return StackedMLP(
            [weight.detach().clone().unsqueeze(0) for weight in weights],
            [bias.detach().clone()[None, None, :] for bias in biases],
            self.tail.activation,
        )

    def _gathered(self, batch: Batch, subsets: Tensor) -> Tensor:
        """The first layer, from the subsets' columns of x and the rows of each weight that belong to them."""
        parts = [None] if self._blocks.is_single else self._blocks.of_similar_width(subsets)
        gathered = [self._gather(batch, subsets, None if len(parts) == 1 else masks) for masks in parts]
        return subset_affine(gathered, subsets, self.weight_x, self.weight_m, self.bias, sparse=self.by_rows)

    def _gather(self, batch: Batch, subsets: Tensor, masks: Tensor | None) -> Gathered:
        places = self._blocks.expand(subsets if masks is None else subsets[masks])
        return Gathered(masks, batch.at(places), places)

    def _dense(self, batch: Batch, subsets: Tensor) -> Tensor:
        """The first layer with its zeros: worth it where most features are switched on."""
        mask = to_mask(subsets, len(self.weight_m), dtype=self.weight_m.dtype)  # (masks, d)
        shift = torch.addmm(self.bias, mask, self.weight_m)  # (masks, h)
        weight: Tensor = self.weight_x
        if not self._blocks.is_single:
            mask, weight = mask[:, self._blocks.feature_of.to(mask.device)], weight[:-1]
        masked = batch.dense() * mask.unsqueeze(1)  # (masks, batch, columns)
        return torch.matmul(masked, weight).add_(shift.unsqueeze(1))


class MaskedModule(Operator):
    """An operator made of any net with ``forward(x, mask)``.

    Parameters
    ----------
    net : nn.Module
        Takes x⊗m and m, both (rows, width), and returns (rows, outputs).
    columns : Tensor (columns,)
        Where the columns of the rows stand in the net's input; what is left of its width is never switched on.
    width : int
    blocks : Blocks, optional
        The columns of each feature, which are switched on together; without, every column is a feature.
    n_required : int
        The last so many features are in every subset.
    """

    fine_tunes: ClassVar[bool] = True

    def __init__(
        self, net: nn.Module, columns: Tensor, width: int, blocks: Blocks | None = None, n_required: int = 0
    ) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("columns", columns)
        self.width = width
        self._blocks, self._n_required = Blocks.single(len(columns)) if blocks is None else blocks, n_required

    @property
    def rows_at_once(self) -> int:
        """How many masked rows one forward should hold, so that a net's inner layers fit in memory."""
        return max(1, limits.OWN_NET // self.width)

    def forward(self, batch: Batch, subsets: Tensor) -> Tensor:
        at_once = max(1, self.rows_at_once // len(subsets))
        if len(batch) > at_once and not torch.is_grad_enabled():
            return torch.cat([self(part, subsets) for part in batch.split(at_once)], dim=1)
        x = self._spread(batch.dense())  # (batch, width)
        features = to_mask(batch.with_required(subsets), len(self._blocks), dtype=x.dtype)  # (masks, d)
        mask = self._spread(features[:, self._blocks.feature_of.to(x.device)])  # (masks, width)
        shape = (len(subsets), len(batch), self.width)
        masked = (x.unsqueeze(0) * mask.unsqueeze(1)).flatten(0, 1)  # (masks * batch, width)
        mask = mask.unsqueeze(1).expand(shape).flatten(0, 1)  # (masks * batch, width)
        return self.net(masked, mask).unflatten(0, shape[:2])  # type: ignore[no-any-return]

    def specialise(self, subset: Tensor) -> MaskedPredictor:
        subset = with_required(subset.unsqueeze(0), len(self._blocks), self._n_required)[0]
        places = self.get_buffer("columns")[self._blocks.columns_of(subset)]
        return MaskedPredictor(copy.deepcopy(self.net), places, self.width)

    def _spread(self, values: Tensor) -> Tensor:
        """Values of the columns at their places in the net's input: (n, columns) -> (n, width)."""
        return values.new_zeros((len(values), self.width)).index_copy(1, self.get_buffer("columns"), values)


class MaskedPredictor(Predictor):
    """A net with ``forward(x, mask)`` at one subset: its columns are put in their places, all others are zero.

    Parameters
    ----------
    net : nn.Module
    places : Tensor (columns,)
        Where these stand in the net's input.
    width : int
    """

    def __init__(self, net: nn.Module, places: Tensor, width: int) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("places", places)
        self.width = width

    @property
    def rows_at_once(self) -> int:
        return max(1, limits.OWN_PREDICTOR // self.width)

    def spec(self) -> dict[str, Any]:
        """Of a user's own net, a subclass of `ImageCNN` included, a file can know the name of its class alone."""
        describe = SELF_DESCRIBING.get(type(self.net))
        net = {"kind": "custom", "net": type(self.net).__name__} if describe is None else describe(self.net)
        return {**net, "width": self.width}

    def forward(self, x: Tensor) -> Tensor:
        places = self.get_buffer("places").expand(len(x), -1)
        full = torch.zeros((len(x), self.width), dtype=x.dtype, device=x.device)
        mask = torch.zeros_like(full).scatter_(1, places, 1.0)
        return self.net(full.scatter(1, places, x), mask)  # type: ignore[no-any-return]
