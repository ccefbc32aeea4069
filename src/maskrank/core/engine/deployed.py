"""The predictor as it is deployed: NumPy alone, so that a process that only predicts needs no torch.

Weights are rounded to half precision once, when a fit ends. Products are computed in double precision and the outputs
rounded to single precision: the order in which a BLAS library adds up a row's products depends on the rows beside it,
on the number of threads and on the processor, and the rounding hides it. A model file holds what is held here, so that
a model that was read predicts as the one that was saved, bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maskrank.core import limits

Array = NDArray[Any]
LARGEST_INPUT = 1e15  # an input beyond it is taken for it: sums of products with it stay far within single precision


class Deployed(ABC):
    """Predicts from the chosen columns alone."""

    threaded: ClassVar[bool]  # whether several threads may ask at once

    @property
    @abstractmethod
    def rows_at_once(self) -> int:
        """How many rows one call should hold, so that inner layers fit in the caches, or in memory."""

    @abstractmethod
    def outputs(self, x: Array) -> Array:
        """(rows, columns) -> (rows, outputs), both of 64-bit floats."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """How to build it again, as JSON holds it; its ``kind`` and its arrays do the rest.

        `maskrank.core.predictor.specs.deployed_from_spec` reads it.
        """

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """All its numbers."""


@dataclass(frozen=True, eq=False)
class Bins:
    """A piecewise-linear encoding, see `PiecewiseLinearEncoding`, and the weights on it.

    Attributes
    ----------
    edges : ndarray (k, bins + 1) of 32-bit floats
    centre, scale : ndarray (k, bins) of 32-bit floats
    weights : ndarray (members, k * bins, units) of 16-bit floats
        Of the first layer of the members that see the encoding.
    numeric : ndarray (columns,) of bool, optional
        Which columns are encoded; without, all of them.
    """

    edges: Array
    centre: Array
    scale: Array
    weights: Array
    numeric: Array | None = None

    def on_positions(self) -> tuple[Array, Array]:
        """Weights (members, k * bins, units) on positions that are not standardised, and their biases: (m, units)."""
        weights = self.weights.astype(np.float64) * self.scale.reshape(-1, 1)
        return weights, -np.tensordot(weights, self.centre.reshape(-1), axes=(1, 0))

    def write_positions(self, x: Array, out: Array) -> None:
        """Write the place of each number in each bin of its column, 0 below it and 1 above.

        Parameters
        ----------
        x : ndarray (rows, columns)
        out : ndarray (rows, k * bins)
        """
        x = x if self.numeric is None else x[:, self.numeric]
        width = np.diff(self.edges, axis=1)
        slope = np.divide(1, width, out=np.zeros_like(width), where=width > 0)
        places = out.reshape(len(x), *slope.shape)  # a view: the last axis alone is split
        np.subtract(x[:, :, None], self.edges[:, :-1], out=places)
        places *= slope
        np.clip(places, 0, 1, out=places)


class DeployedMLP(Deployed):
    """MLPs of one shape; the prediction is the sum of their outputs.

    Parameters
    ----------
    weights : sequence of ndarray (members, inputs, units) of 16-bit floats
        Of each layer; those of the first on the columns alone.
    biases : sequence of ndarray (members, units) of 16-bit floats
    activation : "sigmoid", "silu" or "relu"
    bins : Bins, optional
        Seen by the first members.
    """

    threaded = True

    def __init__(
        self, weights: Sequence[Array], biases: Sequence[Array], activation: str, bins: Bins | None = None
    ) -> None:
        self.weights, self.biases, self.activation, self.bins = list(weights), list(biases), activation, bins
        first = _side_by_side(np.concatenate([biases[0][:, None], weights[0]], axis=1))  # (1 + columns, all units)
        n_encoded = 0  # units that see the encoding
        self._first_encoded = first[:, :0]  # (1 + columns + k * bins, these units)
        if bins is not None:
            on_positions, shift = bins.on_positions()
            n_encoded = shift.size
            self._first_encoded = np.concatenate([first[:, :n_encoded], _side_by_side(on_positions)])
            self._first_encoded[0] += shift.reshape(-1)
        self._first = np.ascontiguousarray(first[:, n_encoded:])  # (1 + columns, the other units)
        self._n_columns = len(first) - 1
        self._inner = [
            (weight.astype(np.float64), bias.astype(np.float64).reshape(-1))
            for weight, bias in zip(self.weights[1:-1], self.biases[1:-1], strict=True)
        ]
        widths = [first.shape[1], *(weight.shape[0] * weight.shape[2] for weight, _ in self._inner)]
        self._widths = widths  # of the hidden layers: the units of all members
        self._last = self.weights[-1].astype(np.float64).reshape(-1, self.weights[-1].shape[2])  # (units, outputs)
        self._constant = self.biases[-1].astype(np.float64).sum(axis=0)

    @property
    def rows_at_once(self) -> int:
        return limits.DEPLOYED_ROWS

    def spec(self) -> dict[str, Any]:
        encoded = self.bins is not None
        return {"kind": "mlp", "layers": len(self.weights), "activation": self.activation, "encoded": encoded}

    def arrays(self) -> dict[str, Array]:
        arrays = {f"weights.{i}": weight for i, weight in enumerate(self.weights)}
        arrays |= {f"biases.{i}": bias for i, bias in enumerate(self.biases)}
        if self.bins is not None:
            arrays |= {f"bins.{name}": value for name, value in vars(self.bins).items() if value is not None}
        return arrays

    @classmethod
    def from_arrays(cls, spec: dict[str, Any], arrays: dict[str, Array]) -> DeployedMLP:
        """From what ``spec`` and ``arrays`` gave."""
        weights, biases = ([arrays[f"{part}.{i}"] for i in range(spec["layers"])] for part in ("weights", "biases"))
        bins = None
        if spec["encoded"]:
            edges, centre, scale, on_bins = (arrays[f"bins.{name}"] for name in ("edges", "centre", "scale", "weights"))
            bins = Bins(edges, centre, scale, on_bins, arrays.get("bins.numeric"))
        return cls(weights, biases, spec["activation"], bins)

    def outputs(self, x: Array) -> Array:
        if x.shape[1] != self._n_columns:
            raise ValueError(f"there are {x.shape[1]} columns; the nets take {self._n_columns}")
        n_rows = min(len(x), limits.DEPLOYED_BLOCK)
        inputs = np.ones((n_rows, max(1 + self._n_columns, len(self._first_encoded))))  # the first column is for biases
        one, other = np.empty((2, n_rows, max(self._widths)))
        rounded = np.empty((len(x), self._last.shape[1]), np.float32)
        # Memory is taken once: to take it for each layer of each block would cost as much as the products.
        for first in range(0, len(x), max(1, n_rows)):
            some = x[first : first + n_rows]
            rows = slice(len(some))
            np.clip(some, -LARGEST_INPUT, LARGEST_INPUT, out=inputs[rows, 1 : 1 + self._n_columns])
            hidden = self._last_hidden_layer(inputs[rows], one[rows], other[rows])
            rounded[first : first + n_rows] = hidden @ self._last + self._constant
        return rounded.astype(np.float64)

    def _last_hidden_layer(self, inputs: Array, one: Array, other: Array) -> Array:
        """(rows, inputs) -> (rows, units of all members), in one of the other two arrays, which are overwritten."""
        activate = _ACTIVATE[self.activation]
        hidden = one[:, : self._widths[0]]
        with np.errstate(over="ignore"):  # of an exponential: the unit is 0 then
            self._first_layer(inputs, hidden)
            activate(hidden, other[:, : self._widths[0]])
            for (weight, bias), width in zip(self._inner, self._widths[1:], strict=True):
                one, other = other, one
                before, hidden = hidden, one[:, :width]
                _layer(before, weight, bias, hidden)
                activate(hidden, other[:, :width])
        return hidden

    def _first_layer(self, inputs: Array, out: Array) -> None:
        """(rows, inputs) -> (rows, units of all members)."""
        n_seen, n_encoded = 1 + self._n_columns, self._first_encoded.shape[1]
        if self.bins is not None:
            self.bins.write_positions(inputs[:, 1:n_seen], inputs[:, n_seen:])
            np.matmul(inputs, self._first_encoded, out=out[:, :n_encoded])
        np.matmul(inputs[:, :n_seen], self._first, out=out[:, n_encoded:])


def _layer(hidden: Array, weights: Array, bias: Array, out: Array) -> None:
    """Each member's layer on its own units: (rows, units of all members) -> (rows, units of all members)."""
    _, n_in, n_out = weights.shape
    for k, weight in enumerate(weights):
        np.matmul(hidden[:, k * n_in : (k + 1) * n_in], weight, out=out[:, k * n_out : (k + 1) * n_out])
    out += bias


def _side_by_side(weights: Array) -> Array:
    """The units of all members in one layer: (members, inputs, units) -> (inputs, members * units)."""
    return weights.astype(np.float64).transpose(1, 0, 2).reshape(weights.shape[1], -1)


def _relu(x: Array, scratch: Array) -> None:
    np.maximum(x, 0, out=x)


def _sigmoid(x: Array, scratch: Array) -> None:
    np.reciprocal(_one_plus_exp(x, scratch), out=x)


def _silu(x: Array, scratch: Array) -> None:
    np.divide(x, _one_plus_exp(x, scratch), out=x)


def _one_plus_exp(x: Array, out: Array) -> Array:
    """1 + exp(-x), in few passes."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    return out


# In place; the second array is overwritten.
_ACTIVATE: dict[str, Callable[[Array, Array], None]] = {"sigmoid": _sigmoid, "silu": _silu, "relu": _relu}
