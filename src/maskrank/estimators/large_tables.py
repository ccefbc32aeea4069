"""Fits on tables larger than memory: the features are chosen on a sample, and the predictor learns from more rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from maskrank.core.data.weights import normalised
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.predictor.passes import RowBatch, train_in_passes
from maskrank.core.recorder import Callback, Recorder
from maskrank.estimators.deployment import answers_of
from maskrank.estimators.fitting import Part, Trained, target_tensor
from maskrank.estimators.preparation import resolve_seed, torch_threads
from maskrank.estimators.scaling import Array

if TYPE_CHECKING:
    import pandas as pd

    from maskrank.estimators.base import DualNetBase
    from maskrank.tables.other_rows import Rows
    from maskrank.tables.sample import Sample
    from maskrank.tables.selected import ModelColumns

_BUFFERED = 64  # batches of rows that are shuffled together


class OtherRows(Protocol):
    """The rows of a large table that a fit does not see."""

    @property
    def n_rows(self) -> int:
        """Of the whole table."""

    @property
    def n_sampled(self) -> int:
        """Rows that the fit sees."""

    @property
    def independent(self) -> bool:
        """Whether the predictor may learn from any of them: neither groups nor times keep rows apart."""

    def batches(self, columns: ModelColumns, generator: np.random.Generator) -> Iterator[Rows]:
        """All others, parts of the table in random order."""

    def judging(self, columns: ModelColumns) -> Rows:
        """Some that are neither in the fit nor in the batches."""


@dataclass(frozen=True)
class SampledFrame:
    """The rows of a large table that a fit sees, and the way to the others."""

    X: pd.DataFrame
    others: OtherRows


@dataclass(frozen=True)
class SampleFacts:
    """How much of a table larger than memory a fit has seen.

    Attributes
    ----------
    n_rows : int
        Of the uniform sample on which features were chosen and scored.
    n_all : int
        Of the table.
    n_learned : int
        Rows beside the sample from which the predictor learned; 0 where it was not better for them.
    """

    n_rows: int
    n_all: int
    n_learned: int

    def to_dict(self) -> dict[str, int]:
        """For JSON."""
        return {"rows": self.n_rows, "of": self.n_all, "learned_beside": self.n_learned}


class Given(NamedTuple):
    """What a fit continues with."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    others: OtherRows | None


def sampled_rows(model: DualNetBase, X: Any, y: Any, sample_weight: Any, groups: Any, *, X_val: Any) -> Given:
    """What ``fit`` is given; of a table larger than memory a sample, and the way to the other rows.

    Parameters
    ----------
    model : estimator
    X, y, sample_weight, groups, X_val
        As ``fit`` takes them.
    """
    if isinstance(X, SampledFrame):
        return Given(X.X, y, sample_weight, groups, X.others)
    if type(X).__module__.split(".")[0] in _IN_MEMORY:
        return Given(X, y, sample_weight, groups, None)
    from maskrank.tables.memory import bytes_in_memory, memory_limit, sample_rows
    from maskrank.tables.opening import is_large, open_large_table
    from maskrank.tables.sample import Sample

    if not is_large(X):
        return Given(X, y, sample_weight, groups, None)
    if X_val is not None and is_large(X_val):
        raise ValueError("X_val must be in memory: it judges after every few steps")
    named = NamedColumns.of(y, sample_weight, groups)
    limit, table = memory_limit(model.memory_limit), open_large_table(X, named.every)
    if bytes_in_memory(table.n_rows * len(table.names)) <= limit:
        return named.given(table.frame(), None)
    size = sample_rows(limit, table.n_rows, len(table.names))
    others = FrameRows(Sample.draw(table, size, resolve_seed(model.random_state)), named)
    return named.given(others.sample.reading.frame, others)


@dataclass(frozen=True)
class NamedColumns:
    """Columns of a large table that are no features: its targets, one or several, its weights and groups of rows."""

    targets: list[str]
    single: bool
    weight: str | None
    groups: str | None

    @classmethod
    def of(cls, y: Any, sample_weight: Any, groups: Any) -> NamedColumns:
        """From what ``fit`` is given."""
        several = isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)
        if not (isinstance(y, str) or several):
            raise ValueError("y must be the name of a column, or a list of names: X is a table larger than memory")
        for name, value in (("sample_weight", sample_weight), ("groups", groups)):
            if not (value is None or isinstance(value, str)):
                raise ValueError(f"{name} must be the name of a column: X is a table larger than memory")
        return cls([y] if isinstance(y, str) else list(y), isinstance(y, str), sample_weight, groups)

    @property
    def every(self) -> list[str]:
        """All of these names."""
        return [*self.targets, *(name for name in (self.weight, self.groups) if name is not None)]

    def given(self, frame: pd.DataFrame, others: OtherRows | None) -> Given:
        """All of the rows of a frame that have a target, a weight and a group."""
        X, y, weights = self.rows(frame, None)
        groups = None if self.groups is None else frame.loc[self._present(frame), self.groups].to_numpy()
        return Given(X, y, weights, groups, others)

    def rows(self, frame: pd.DataFrame, features: Sequence[str] | None) -> Rows:
        """The rows of a frame that have a target and count; all features, or these."""
        from maskrank.tables.other_rows import Rows

        present = self._present(frame)
        weights = None if self.weight is None else frame[self.weight].to_numpy(dtype=np.float64, na_value=np.nan)
        frame = frame if present.all() else frame[present].reset_index(drop=True)
        X = frame.drop(columns=self.every) if features is None else frame[list(features)]
        y = frame[self.targets[0]] if self.single else frame[self.targets]
        return Rows(X, y, None if weights is None else weights[present])

    def _present(self, frame: pd.DataFrame) -> Array:
        return np.asarray(frame[self.every].notna().all(axis=1))


@dataclass(frozen=True)
class FrameRows:
    """Rows of a large table whose columns have the types they should have."""

    sample: Sample
    named: NamedColumns

    @property
    def n_rows(self) -> int:
        return self.sample.table.n_rows

    @property
    def n_sampled(self) -> int:
        return self.sample.n_rows

    @property
    def independent(self) -> bool:
        return self.named.groups is None

    def batches(self, columns: ModelColumns, generator: np.random.Generator) -> Iterator[Rows]:
        from maskrank.tables.other_rows import other_frames

        for frame in other_frames(self.sample, [*columns.kinds, *self.named.every], generator):
            yield self.named.rows(frame, list(columns.kinds))

    def judging(self, columns: ModelColumns) -> Rows:
        return self.named.rows(self.sample.judging, list(columns.kinds))


def learn_others(
    model: DualNetBase,
    trained: Trained,
    validation: Part,
    others: OtherRows,
    factors: Array | None,
    *,
    seed: int,
    callbacks: Sequence[Callback] = (),
) -> Trained:
    """Train the predictor on with rows beside the sample, and keep it where it is better; sets ``sample_``.

    Where groups or times keep rows apart it stays as it is: others of the groups that were held out, or rows of the
    same time, are among them.

    Parameters
    ----------
    model : estimator
        Fitted on the sample, but for its figures.
    trained : Trained
    validation : Part
        Rows of the sample that were held out.
    others : OtherRows
    factors : ndarray (k,) or None
        What the weights of each class's rows are multiplied by.
    """
    model.sample_ = SampleFacts(others.n_sampled, others.n_rows, 0)
    if not others.independent:
        return trained
    reader, settings = _Reader(model, factors), trained.config.predictor
    judging = reader.rows(others.judging(model.chosen_columns))
    left = max(0, others.n_rows - others.n_sampled - len(judging.y))
    n_learned = min(settings.max_passes * left, settings.max_pass_rows)
    if not isinstance(trained.predictor, StackedMLP) or not settings.n_recipes or n_learned < settings.pass_batch:
        return trained
    generator = np.random.default_rng([seed, 2])
    share = min(1.0, settings.max_pass_rows / left)

    def batches() -> Iterator[RowBatch]:
        parts = (reader.rows(rows, share, generator) for rows in others.batches(model.chosen_columns, generator))
        return shuffled_batches(parts, settings.pass_batch, generator)

    recorder = Recorder(0, callbacks)
    with recorder.stage("predict"), torch_threads(1):  # the nets are small: threads would wait for each other
        steps = n_learned // settings.pass_batch
        better = train_in_passes(
            trained.predictor, model.task_, batches, judging, steps=steps, config=settings, callbacks=(recorder.tell,)
        )
    if better is None:
        return trained
    model.sample_ = replace(model.sample_, n_learned=min(n_learned, left))
    model.predictor_ = better.deployed()
    if bool(trained.unseen.all()):  # the nets were cross-fitted: these rows can't judge the new ones
        return replace(trained, predictor=better)
    places = np.flatnonzero(model.support_)
    chosen = validation.source.select(validation.rows, places)
    held_out = torch.from_numpy(answers_of(model.predictor_, model._encoding, chosen))
    return replace(trained, predictor=better, held_out=held_out)


@dataclass(frozen=True)
class _Reader:
    """Turns rows of a table into those that the predictor takes."""

    model: DualNetBase
    factors: Array | None

    def rows(self, given: Rows, share: float = 1.0, generator: np.random.Generator | None = None) -> RowBatch:
        """All rows of a target that is known, or a random share of them."""
        model = self.model
        y = model._read_target(given.y, reset=False)
        y = np.asarray(y)
        kept = model._known_targets(y)
        if generator is not None and share < 1:
            kept = kept & (generator.random(len(kept)) < share)
        target = model._encode_target(y[kept])
        weights = None if given.weights is None else given.weights[kept]
        if self.factors is not None:
            weights = self.factors[target] if weights is None else weights * self.factors[target]
        x = torch.from_numpy(model._encoding.scaled(model._selected_numbers(given.X[kept]))).float()
        return RowBatch(
            x,
            target_tensor(target, model._y_scaling),
            None if weights is None else normalised(torch.from_numpy(np.asarray(weights)).float()),
        )


def shuffled_batches(parts: Iterator[RowBatch], n_batch: int, generator: np.random.Generator) -> Iterator[RowBatch]:
    """Batches of rows drawn from a buffer that holds some parts at a time; what is left at the end is left out."""
    held: list[RowBatch] = []
    for part in parts:
        held.append(part)
        if sum(len(some.y) for some in held) >= _BUFFERED * n_batch:
            held = yield from _emptied(held, n_batch, generator)
    if held:
        yield from _emptied(held, n_batch, generator)


def _emptied(
    held: list[RowBatch], n_batch: int, generator: np.random.Generator
) -> Generator[RowBatch, None, list[RowBatch]]:
    """All full batches of the buffer, in random order; the rest goes on."""
    x, y = torch.cat([part.x for part in held]), torch.cat([part.y for part in held])
    known = [part.weights for part in held if part.weights is not None]
    weights = torch.cat(known) if known else None
    order = torch.from_numpy(generator.permutation(len(y)))
    full = len(y) // n_batch * n_batch

    def take(index: Tensor) -> RowBatch:
        return RowBatch(x[index], y[index], None if weights is None else weights[index])

    for index in torch.split(order[:full], n_batch):
        yield take(index)
    return [take(order[full:])]


_IN_MEMORY = ("numpy", "pandas", "scipy", "builtins")  # where types of tables in memory are from
