"""What a training run tells while it goes on, and what it remembers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol


@dataclass(frozen=True)
class Progress:
    """One beat of the training: the operator batches up to one selector step.

    Attributes
    ----------
    phase : "explore", "search" or "refit"
        Phase I, Phase II, and the fit of the final predictor.
    batch, max_batches : int
        Operator batches so far, and the most there can be.
    operator_loss, selector_loss : float
        Means over the beat.
    validation : float or None
        The last validation figure of m_opt; None before the first.
    optimal : tuple of int
        m_opt, as sorted feature indices; empty in Phase I.
    """

    phase: str
    batch: int
    max_batches: int
    operator_loss: float
    selector_loss: float
    validation: float | None = None
    optimal: tuple[int, ...] = ()


class Callback(Protocol):
    """Anything that can be called with a ``Progress``; it is called once a beat.

    One that has a method ``begins(stage)`` is told of each stage as it begins: "screen", "explore", "search",
    "polish", "contest", "refit"; the last two again where features are chosen a second time. One that has a method
    ``learns(fact)`` is told in a line what a stage found.
    """

    def __call__(self, progress: Progress) -> None: ...


@dataclass
class History:
    """The course of a run, one entry a beat.

    Attributes
    ----------
    phase, batch, operator_loss, selector_loss : list
        As in `Progress`.
    validation : list of (batch, value)
        Each judgement of m_opt on the validation rows.
    optimal : list of (batch, indices)
        m_opt each time it changed, and m* at the end.
    batches, seconds : dict of phase to number
        What each phase took.
    """

    phase: list[str] = field(default_factory=list)
    batch: list[int] = field(default_factory=list)
    operator_loss: list[float] = field(default_factory=list)
    selector_loss: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)
    optimal: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    batches: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> History:
        """From what ``dataclasses.asdict`` gives, or JSON made of it."""
        plain = {entry.name: document[entry.name] for entry in fields(cls)}
        plain["validation"] = [(batch, value) for batch, value in plain["validation"]]
        plain["optimal"] = [(batch, tuple(indices)) for batch, indices in plain["optimal"]]
        return cls(**plain)

    def add(self, progress: Progress) -> None:
        """Add one beat."""
        self.phase.append(progress.phase)
        self.batch.append(progress.batch)
        self.operator_loss.append(progress.operator_loss)
        self.selector_loss.append(progress.selector_loss)
        if progress.optimal and (not self.optimal or self.optimal[-1][1] != progress.optimal):
            self.optimal.append((progress.batch, progress.optimal))


class Recorder:
    """Counts batches and seconds, keeps the history, and tells the callbacks.

    Parameters
    ----------
    max_batches : int
    callbacks : sequence of Callback
    """

    def __init__(self, max_batches: int, callbacks: Sequence[Callback] = ()) -> None:
        self._columns: list[int] | None = None
        self.history = History()
        self.batch = 0
        self.max_batches = max_batches
        self._callbacks = callbacks
        self._since = time.perf_counter()

    def begins(self, stage: str) -> None:
        """Tell of a stage that begins now."""
        _tell(self._callbacks, "begins", stage)

    def learns(self, fact: str) -> None:
        """Tell what a stage found."""
        _tell(self._callbacks, "learns", fact)

    def call_features(self, columns: list[int]) -> None:
        """By which numbers the features are called from now on."""
        self._columns = columns

    def beat(
        self, phase: str, batches: int, operator_loss: float, selector_loss: float, optimal: tuple[int, ...] = ()
    ) -> None:
        """Note one beat of a phase."""
        history = self.history
        self.batch += batches
        history.batches[phase] = history.batches.get(phase, 0) + batches
        self.spent(phase)
        optimal = self._called(optimal)
        validation = history.validation[-1][1] if history.validation else None
        progress = Progress(phase, self.batch, self.max_batches, operator_loss, selector_loss, validation, optimal)
        history.add(progress)
        for callback in self._callbacks:
            callback(progress)

    def settled(self, optimal: tuple[int, ...]) -> None:
        """Note m*, where it is not the last m_opt."""
        optimal = self._called(optimal)
        if not self.history.optimal or self.history.optimal[-1][1] != optimal:
            self.history.optimal.append((self.batch, optimal))

    def _called(self, optimal: tuple[int, ...]) -> tuple[int, ...]:
        return optimal if self._columns is None else tuple(self._columns[i] for i in optimal)

    def validated(self, value: float) -> None:
        """Note one judgement of m_opt."""
        self.history.validation.append((self.batch, value))

    def spent(self, phase: str) -> None:
        """Put the time since the last note down to a phase."""
        now = time.perf_counter()
        self.history.seconds[phase] = self.history.seconds.get(phase, 0.0) + now - self._since
        self._since = now


def _tell(callbacks: Sequence[Callback], method: str, text: str) -> None:
    for callback in callbacks:
        listener = getattr(callback, method, None)
        if listener is not None:
            listener(text)
