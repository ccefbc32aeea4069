"""Piecewise-linear encoding of numeric features (Gorishniy, Rubachev and Babenko, NeurIPS 2022), with quantile bins.

A column of numbers becomes one more input for each of its bins: 0 below the bin, 1 above it, linear within. A net on
these can follow a relation with edges, as a tree does. Indicators, which have two values, are left as they are.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.engine.deployed import Array, Bins
from maskrank.core.engine.stacked_mlp import Encoding


def bins_per_column(n_numeric: int, n_rows: int, config: PredictorConfig) -> int:
    """How many bins each column of numbers has, no more in all than there are rows; 0 where that is too few."""
    each = min(config.max_bins, min(config.max_bins_in_all, n_rows) // n_numeric) if n_numeric else 0
    return each if each >= config.min_bins else 0


class PiecewiseLinearEncoding(Encoding):
    """All columns, and beside them the standardised position of each number in each bin of its column.

    Parameters
    ----------
    edges : Tensor (k, bins + 1)
        Of the k columns of numbers. Not falling; a bin without width is constant.
    centre, scale : Tensor (k, bins)
        What standardises the positions.
    numeric : Tensor (columns,) of bool, optional
        Which columns hold numbers; without, all of them.
    """

    def __init__(self, edges: Tensor, centre: Tensor, scale: Tensor, numeric: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("edges", edges)
        self.register_buffer("centre", centre)
        self.register_buffer("scale", scale)
        self.register_buffer("numeric", numeric)

    @property
    def n_columns(self) -> int:
        return len(self.get_buffer("edges") if self._numeric is None else self._numeric)

    @property
    def n_bins(self) -> int:
        """Of each column of numbers."""
        return self.get_buffer("centre").shape[1]

    @property
    def n_inputs(self) -> int:
        """All columns, and k * bins."""
        return self.n_columns + self.get_buffer("centre").numel()

    @property
    def _numeric(self) -> Tensor | None:
        return self._buffers["numeric"]

    @classmethod
    def fit(
        cls, x: Tensor, n_bins: int, config: PredictorConfig, numeric: Tensor | None = None
    ) -> PiecewiseLinearEncoding:
        """Bins with about as many rows each: (n, columns), of which some hold numbers: (columns,) of bool."""
        x = x[:: -(-len(x) // config.max_quantile_rows)]
        if numeric is not None:
            numeric = None if bool(numeric.all()) else numeric.to(x.device)
        x = x if numeric is None else x[:, numeric]
        levels = torch.linspace(0, 1, n_bins + 1, dtype=x.dtype, device=x.device)
        edges = torch.quantile(x, levels, dim=0).T.contiguous()
        positions = _positions(x, edges)
        deviation = positions.std(dim=0, correction=0)
        scale = torch.where(deviation > 0, config.encoded_deviation / deviation, 0.0)
        return cls(edges, positions.mean(dim=0), scale, numeric)

    def forward(self, x: Tensor) -> Tensor:
        """(..., columns) -> (..., columns + k * bins)."""
        positions = _positions(x if self._numeric is None else x[..., self._numeric], self.get_buffer("edges"))
        encoded = (positions - self.get_buffer("centre")) * self.get_buffer("scale")  # (..., k, bins)
        return torch.cat([x, encoded.flatten(-2)], dim=-1)

    def bins(self, weights: Array) -> Bins:
        edges, centre, scale = (
            self.get_buffer(name).cpu().numpy().astype(np.float32) for name in ("edges", "centre", "scale")
        )
        return Bins(edges, centre, scale, weights, None if self._numeric is None else self._numeric.cpu().numpy())


def _positions(x: Tensor, edges: Tensor) -> Tensor:
    """0 below a bin, 1 above it, linear within: (..., k) -> (..., k, bins)."""
    width = edges.diff(dim=1)
    return ((x.unsqueeze(-1) - edges[:, :-1]) / torch.where(width > 0, width, torch.inf)).clamp(0, 1)


class EncodedRows:
    """The inputs of the nets for rows of a table, encoded once where that fits in memory.

    Parameters
    ----------
    x : Tensor (n, columns)
    encoding : Encoding, optional
    """

    def __init__(self, x: Tensor, encoding: Encoding | None) -> None:
        self._x, self._encoding = x, encoding
        width = x.shape[1] if encoding is None else encoding.n_inputs
        self._encoded = self._encode(x) if len(x) * width <= limits.ENCODED else None

    def take(self, index: Tensor) -> Tensor:
        """(...,) -> (..., inputs), a copy."""
        return self._encode(self._x[index]) if self._encoded is None else self._encoded[index]

    def _encode(self, x: Tensor) -> Tensor:
        return x if self._encoding is None else self._encoding(x)
