"""The rows of a large table outside a sample, read as the rows of the sample were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.cells import row_numbers
from maskrank.tables.roles import Roles
from maskrank.tables.sample import Sample
from maskrank.tables.selected import ModelColumns, select_from
from maskrank.tables.target import CLASSES, clean_target
from maskrank.tables.text import Reading

Array = NDArray[Any]


class Rows(NamedTuple):
    """Features, targets and, where there are some, weights of rows."""

    X: pd.DataFrame
    y: Array
    weights: Array | None


@dataclass(frozen=True)
class OtherRows:
    """What is left of a large table.

    Attributes
    ----------
    sample : Sample
    asked : list of str
        Names of the columns that are predicted.
    roles : Roles
    task : str
        As the sample's target was read.
    target_type : numpy.dtype
        Of the sample's target.
    skip_missing : bool
        Leave out rows that lack a value of a chosen feature.
    """

    sample: Sample
    asked: list[str]
    roles: Roles
    task: str
    target_type: np.dtype[Any]
    skip_missing: bool = False

    @property
    def n_rows(self) -> int:
        """Of the whole table."""
        return self.sample.table.n_rows

    @property
    def n_sampled(self) -> int:
        """Rows that a fit sees."""
        return self.sample.n_rows

    @property
    def independent(self) -> bool:
        """Whether any row may be learned from: neither groups nor times keep rows apart."""
        return self.roles.fold_by is None and self.roles.time_order is None

    def batches(self, columns: ModelColumns, generator: np.random.Generator) -> Iterator[Rows]:
        """The rows that are not in the sample, parts of the table in random order.

        Parameters
        ----------
        columns : ModelColumns
            Of the chosen features.
        generator : numpy.random.Generator
        """
        for frame in other_frames(self.sample, self._read_columns(columns), generator):
            yield self._rows(frame, columns)

    def judging(self, columns: ModelColumns) -> Rows:
        """Rows that are in no batch, nor in what a fit sees."""
        return self._rows(self.sample.judging[self._read_columns(columns)], columns)

    def _read_columns(self, columns: ModelColumns) -> list[str]:
        weight = [] if self.roles.weight is None else [self.roles.weight]
        return list(dict.fromkeys([*columns.kinds, *self.asked, *weight]))

    def _rows(self, frame: pd.DataFrame, columns: ModelColumns) -> Rows:
        """Features, targets and weights of the rows that have a target and count."""
        separator = self.sample.reading.separator
        y, present = self._targets(frame, separator)
        X, _ = select_from(Reading(frame, separator=separator), self.sample.table.name, columns)
        weights = None
        if self.roles.weight is not None:
            weights, _ = row_numbers(frame[self.roles.weight], np.arange(len(frame)), separator)
            present = present & np.isfinite(weights) & (weights > 0)
        if self.skip_missing:
            present = present & X.notna().all(axis=1).to_numpy()
        return Rows(X[present].reset_index(drop=True), y[present], None if weights is None else weights[present])

    def _targets(self, frame: pd.DataFrame, separator: str | None) -> tuple[Array, NDArray[np.bool_]]:
        """Targets as those of the sample, and which rows have one."""
        if self.task in CLASSES:
            column = clean_target(frame[self.asked[0]], self.task, separator)
            present = column.notna().to_numpy()
            if self.target_type.kind == "i":
                numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
                present = present & np.isfinite(numbers) & (numbers == np.rint(numbers))
                return np.where(present, numbers, 0).astype(np.int64), present
            return column.astype(str).to_numpy(dtype=str), present
        rows = np.arange(len(frame))
        cleaned = [clean_target(frame[name], self.task, separator) for name in self.asked]
        values = np.stack([row_numbers(column, rows, separator)[0] for column in cleaned], axis=1)
        present = np.isfinite(values).all(axis=1)
        if self.task == "survival":
            made = np.empty(len(values), dtype=self.target_type)
            made["time"], made["event"] = np.where(present, values[:, 0], 0.0), values[:, 1] == 1
            return made, present & (values[:, 0] >= 0)
        values = np.where(np.isfinite(values), values, 0.0).astype(self.target_type)
        return (values if self.roles.targets else values[:, 0]), present


def other_frames(sample: Sample, columns: Sequence[str], generator: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Some columns of the rows that are not in a sample; parts of the table in random order."""
    for batch in sample.table.batches(columns, shuffled=generator):
        n = batch.values.num_rows
        first, last = np.searchsorted(sample.rows, [batch.start, batch.start + n])
        kept = np.ones(n, dtype=bool)
        kept[sample.rows[first:last] - batch.start] = False
        if kept.any():
            yield batch.frame()[kept].reset_index(drop=True)
