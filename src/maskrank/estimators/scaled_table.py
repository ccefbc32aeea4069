"""A table as the core takes it: scaled numbers, or encoded categories and gaps, learned on training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from maskrank.core import limits
from maskrank.core.config import EncodingConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.code import Code
from maskrank.core.data.encoded import Encoded
from maskrank.core.data.rows import Values, held_if_small
from maskrank.estimators.derived import heavy_tails
from maskrank.estimators.encoding import Encoding, LearnedEncoding, TrainingRows, learn_encoding
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.scaling import Array, Scaling
from maskrank.estimators.sources import TOO_LARGE, DenseSource, MissingValuesError, Source, check_no_infinity, view

_DENSE = 1 << 28  # values of a sparse matrix that may be spread out


class ScaledTable(Protocol):
    """The features of a table, scaled."""

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which features vary on the training rows: (features,)."""

    def values(self, source: Source, rows: Array, features: Array, device: torch.device) -> Values:
        """Some rows and features."""

    def blocks(self, features: Array) -> Blocks:
        """Which columns of these values belong to each feature."""

    def encoding(self, features: Array, inputs: Array) -> Encoding:
        """How to scale more rows that hold these columns of the table alone."""

    @property
    def of_inputs(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The share of missing values of each column of the table, and which columns vary, on the training rows."""


@dataclass(frozen=True, eq=False)
class NumericTable:
    """Each column is a feature, a number without gaps: read where it is, or copied and scaled."""

    scaling: Scaling
    varies: NDArray[np.bool_]
    fill: Array  # what stands, scaled, for a value that is missing in later rows

    def values(self, source: Source, rows: Array, features: Array, device: torch.device) -> Values:
        return source.values(rows, features, self.scaling.take(features), device)

    def blocks(self, features: Array) -> Blocks:
        return Blocks.single(len(features))

    def encoding(self, features: Array, inputs: Array) -> Encoding:
        scaling, n = self.scaling.take(features), len(features)
        source, fill = np.searchsorted(inputs, features), self.fill[features]
        code = Code(source, np.full(n, np.nan), np.zeros(n, dtype=bool), scaling.mean, scaling.scale, fill)
        return Encoding(len(inputs), (), code, np.ones(n, dtype=np.int64), np.ones(n, dtype=bool))

    @property
    def of_inputs(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        return np.zeros(len(self.varies)), self.varies


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Features of any kind, some of several columns."""

    learned: LearnedEncoding
    trained_on: Source

    @property
    def varies(self) -> NDArray[np.bool_]:
        return self.learned.varies

    def values(self, source: Source, rows: Array, features: Array, device: torch.device) -> Values:
        encoding, X = self.learned.encoding, self.learned.X
        if source is not self.trained_on:
            raw = dense_values(source)
            X = np.hstack([raw, *(one.columns(raw) for one in encoding.derived)]) if encoding.derived else raw
        code = encoding.code.only(encoding.columns_of(features))
        return held_if_small(Encoded(view(X), torch.from_numpy(np.array(rows)), code, device))

    def blocks(self, features: Array) -> Blocks:
        encoding = self.learned.encoding
        return Blocks.of_widths(
            encoding.widths[features].tolist(), encoding.numeric[encoding.columns_of(features)].tolist()
        )

    def encoding(self, features: Array, inputs: Array) -> Encoding:
        return self.learned.encoding.take(features, inputs)

    @property
    def of_inputs(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        return self.learned.missing, self.learned.input_varies


def scale_table(
    source: Source,
    training: TrainingRows,
    table: FeatureTable,
    *,
    others: list[Source],
    standardize: bool,
    config: EncodingConfig,
) -> ScaledTable:
    """Check all values, and learn from the training rows how the features are scaled, or encoded.

    Parameters
    ----------
    training : TrainingRows
    others : list of Source
        Tables of validation rows, to be checked, too.
    """
    if table.is_plain:
        try:
            columns = source.learn(training.rows)
            for other in others:
                other.learn(np.arange(other.shape[0]))
        except MissingValuesError:
            pass
        else:
            scaling = columns.scaling(enabled=standardize)
            if not columns.fits_32_bits(scaling):
                raise ValueError(TOO_LARGE)
            if not (standardize and _has_heavy_tails(source, training.rows, config)):
                fill = np.zeros(len(columns.mean)) if standardize else columns.mean
                return NumericTable(scaling, columns.varies, fill)
    for one in (source, *others):
        check_no_infinity(_counting_values(one))
    learned = learn_encoding(dense_values(source), training, table, standardize=standardize, config=config)
    return EncodedTable(learned, source)


def _has_heavy_tails(source: Source, rows: Array, config: EncodingConfig) -> bool:
    """Whether some column needs normal scores; of an array that can be held in memory, not of one read in place."""
    n, d = source.shape
    if not isinstance(source, DenseSource) or n * d > limits.HELD_TABLE:
        return False
    width = max(1, limits.TABLE_PART // max(1, len(rows)))
    parts = (source.X[:, first : first + width][rows] for first in range(0, d, width))
    return any(bool(heavy_tails(part, config).any()) for part in parts)


def _counting_values(source: Source) -> Array:
    """The rows of the table that count, as an array."""
    values = dense_values(source)
    return values if source.counts is None else values[source.counts]


def dense_values(source: Source) -> Array:
    """The whole table as an array.

    Raises
    ------
    ValueError
        It is a sparse matrix that is too large for that.
    """
    if isinstance(source, DenseSource):
        return source.X if min(source.X.strides) > 0 else np.ascontiguousarray(source.X)  # torch has none below 0
    n, d = source.shape
    if n * d > _DENSE:
        raise ValueError(
            f"X is a sparse matrix of {n:,} x {d:,} values: groups, required and categorical features are taken from "
            f"dense tables, or from sparse ones of up to {_DENSE:,} values"
        )
    return source.select(None, np.arange(d))
