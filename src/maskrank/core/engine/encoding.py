"""Piecewise-linear encoding of numeric features (Gorishniy, Rubachev and Babenko, NeurIPS 2022), with quantile bins.

A feature becomes one more input for each of its bins: 0 below the bin, 1 above it, linear within. A net on these can
follow a relation with edges, as a tree does.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.engine.stacked_mlp import Encoding


def bins_per_feature(s: int, n_rows: int, config: PredictorConfig) -> int:
    """How many bins each of s features has, no more in all than there are rows; 0 where that is too few."""
    each = min(config.max_bins, min(config.max_bins_in_all, n_rows) // s)
    return each if each >= config.min_bins else 0


class PiecewiseLinearEncoding(Encoding):
    """Features, and beside them the standardised position of each value in each bin of its feature.

    Parameters
    ----------
    edges : Tensor (s, bins + 1)
        Not falling; a bin without width is constant.
    centre, scale : Tensor (s, bins)
        What standardises the positions.
    """

    def __init__(self, edges: Tensor, centre: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("edges", edges)
        self.register_buffer("centre", centre)
        self.register_buffer("scale", scale)

    @property
    def n_features(self) -> int:
        return len(self.get_buffer("edges"))

    @property
    def n_inputs(self) -> int:
        """S + s * bins."""
        return self.get_buffer("edges").numel()

    @classmethod
    def fit(cls, x: Tensor, n_bins: int, config: PredictorConfig) -> PiecewiseLinearEncoding:
        """Bins with about as many rows each: (n, s)."""
        x = x[:: -(-len(x) // config.max_quantile_rows)]
        levels = torch.linspace(0, 1, n_bins + 1, dtype=x.dtype, device=x.device)
        edges = torch.quantile(x, levels, dim=0).T.contiguous()
        positions = _positions(x, edges)
        deviation = positions.std(dim=0, correction=0)
        scale = torch.where(deviation > 0, config.encoded_deviation / deviation, 0.0)
        return cls(edges, positions.mean(dim=0), scale)

    def forward(self, x: Tensor) -> Tensor:
        """(..., s) -> (..., s + s * bins)."""
        positions = _positions(x, self.get_buffer("edges"))
        encoded = (positions - self.get_buffer("centre")) * self.get_buffer("scale")  # (..., s, bins)
        return torch.cat([x, encoded.flatten(-2)], dim=-1)


def _positions(x: Tensor, edges: Tensor) -> Tensor:
    """0 below a bin, 1 above it, linear within: (..., s) -> (..., s, bins)."""
    width = edges.diff(dim=1)
    return ((x.unsqueeze(-1) - edges[:, :-1]) / torch.where(width > 0, width, torch.inf)).clamp(0, 1)


class EncodedRows:
    """The inputs of the nets for rows of a table, encoded once where that fits in memory.

    Parameters
    ----------
    x : Tensor (n, s)
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
