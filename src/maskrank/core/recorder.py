"""What a fit tells while it runs, and what it remembers: one `Recorder` for every stage and every training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from maskrank.core.scoring.ranking import Ranking

Part = TypeVar("Part")
_counter: ContextVar[Callable[[str, float], None] | None] = ContextVar("counter", default=None)  # of the stage

STAGES = ("propose", "explore", "search", "tournament", "calibrate", "score", "predict")


@dataclass(frozen=True)
class Progress:
    """A moment of a training loop: in the search, after each selector step; in the predictor's, after a validation.

    Attributes
    ----------
    phase : "explore", "search" or "predict"
        Phase I, Phase II, and the training of the final predictor.
    batch, max_batches : int
        Operator batches so far, and the most there can be; steps of the predictor's nets.
    operator_loss, selector_loss : float
        Means over the batches since the last selector step.
    validation : float or None
        The last validation figure of m_opt; None before the first.
    optimal : tuple of int
        m_opt, as sorted features of the table; empty in Phase I.
    """

    phase: str
    batch: int
    max_batches: int
    operator_loss: float
    selector_loss: float
    validation: float | None = None
    optimal: tuple[int, ...] = ()


class Callback:
    """Called while a fit runs; override what you need. A plain function of a `Progress` works as well."""

    def __call__(self, progress: Progress) -> None:
        """Progress of a training loop."""

    def on_stage(self, stage: str) -> None:
        """A stage begins, one of `STAGES`; "predict" and "tournament" begin again where features are reselected."""

    def on_fact(self, fact: str) -> None:
        """What a stage found, in a line."""

    def on_share(self, what: str, share: float) -> None:
        """The finished share of a part of the stage: "pairs", 0.25."""

    def on_begin(self, history: History, names: Sequence[str]) -> None:
        """A fit begins: its history, which grows, and the features that ``optimal`` numbers."""

    def on_ranking(self, ranking: Ranking) -> None:
        """The features are chosen and scored; the predictor is still to be made."""


class _FunctionCallback(Callback):
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self._function = function

    def __call__(self, progress: Progress) -> None:
        self._function(progress)


@dataclass
class History:
    """The history of a run, one entry per selector step.

    Attributes
    ----------
    phase, batch, operator_loss, selector_loss : list
        As in `Progress`.
    validation : list of (batch, value)
        Each validation figure of m_opt.
    optimal : list of (batch, features)
        m_opt each time it changed, and m* at the end.
    batches, seconds : dict of stage to number
        What each stage took.
    facts : list of str
        What the stages found, one line each.
    coverage : str or None
        What was tested before training, in one line; None if everything was.
    """

    phase: list[str] = field(default_factory=list)
    batch: list[int] = field(default_factory=list)
    operator_loss: list[float] = field(default_factory=list)
    selector_loss: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)
    optimal: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    batches: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    coverage: str | None = None

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> History:
        """From what ``dataclasses.asdict`` gives, or JSON made of it."""
        plain = {"coverage": None, **document}
        plain = {entry.name: plain[entry.name] for entry in fields(cls)}
        plain["validation"] = [(batch, value) for batch, value in plain["validation"]]
        plain["optimal"] = [(batch, tuple(columns)) for batch, columns in plain["optimal"]]
        return cls(**plain)

    def add(self, progress: Progress) -> None:
        """Add the entry of one selector step."""
        self.phase.append(progress.phase)
        self.batch.append(progress.batch)
        self.operator_loss.append(progress.operator_loss)
        self.selector_loss.append(progress.selector_loss)
        self.add_optimal(progress.optimal)

    def add_optimal(self, optimal: tuple[int, ...]) -> None:
        """Note m_opt where it is another than before."""
        if optimal and (not self.optimal or self.optimal[-1][1] != optimal):
            self.optimal.append((self.batch[-1] if self.batch else 0, optimal))


def counted(parts: Sequence[Part], what: str) -> Iterator[Part]:
    """The same parts; the callbacks of the stage that they belong to are told how many are done."""
    tell = _counter.get()
    for done, part in enumerate(parts):
        if tell is not None and len(parts) > 1:
            tell(what, done / len(parts))
        yield part


class Recorder:
    """Counts batches and seconds, keeps the history, and tells the callbacks.

    Parameters
    ----------
    max_batches : int
    callbacks : sequence of callable
        `Callback` objects, or plain functions of a `Progress`.
    names : sequence of str
        Of the features of the table.
    """

    def __init__(
        self, max_batches: int, callbacks: Sequence[Callable[[Progress], Any]] = (), names: Sequence[str] = ()
    ) -> None:
        self.history = History()
        self.batch = 0
        self.max_batches = max_batches
        self._callbacks = [call if isinstance(call, Callback) else _FunctionCallback(call) for call in callbacks]
        self._since = time.perf_counter()
        self._stage = ""
        for callback in self._callbacks:
            callback.on_begin(self.history, names)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A stage that begins now, and ends with the block."""
        self.begins(name)
        before = _counter.set(self.share)
        try:
            yield
        finally:
            _counter.reset(before)
        self._spent(name)

    def begins(self, stage: str) -> None:
        """Tell of a stage that begins now, unless it goes on; its time is counted by `step`, or by `stage`."""
        if stage == self._stage:
            return
        self._stage = stage
        for callback in self._callbacks:
            callback.on_stage(stage)

    def found(self, fact: str) -> None:
        """Note and tell what a stage found."""
        self.history.facts.append(fact)
        for callback in self._callbacks:
            callback.on_fact(fact)

    def ranked(self, ranking: Ranking) -> None:
        """Tell of the ranking, as soon as there is one."""
        for callback in self._callbacks:
            callback.on_ranking(ranking)

    def covered(self, coverage: str | None) -> None:
        """Note and tell what was looked at, where that is not all."""
        self.history.coverage = coverage
        if coverage is not None:
            self.found(coverage)

    def step(
        self, phase: str, batches: int, operator_loss: float, selector_loss: float, optimal: tuple[int, ...] = ()
    ) -> None:
        """Note one selector step of Phase I or II, and the operator batches before it; m_opt as features."""
        history = self.history
        self.batch += batches
        history.batches[phase] = history.batches.get(phase, 0) + batches
        self._spent(phase)
        validation = history.validation[-1][1] if history.validation else None
        progress = Progress(phase, self.batch, self.max_batches, operator_loss, selector_loss, validation, optimal)
        history.add(progress)
        self.tell(progress)

    def tell(self, progress: Progress) -> None:
        """Tell the callbacks of a loop that the history does not keep."""
        for callback in self._callbacks:
            callback(progress)

    def validated(self, value: float) -> None:
        """Note one validation figure of m_opt."""
        self.history.validation.append((self.batch, value))

    def state_dict(self) -> dict[str, Any]:
        """The history so far, for a checkpoint."""
        return {"history": asdict(self.history), "batch": self.batch}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with a history; callbacks are not told of it."""
        self.history, self.batch = History.from_dict(state_dict["history"]), state_dict["batch"]

    def share(self, what: str, share: float) -> None:
        """Tell how much of a part of the stage is done."""
        for callback in self._callbacks:
            callback.on_share(what, share)

    def _spent(self, stage: str) -> None:
        """Put the time since the last note down to a stage."""
        now = time.perf_counter()
        self.history.seconds[stage] = self.history.seconds.get(stage, 0.0) + now - self._since
        self._since = now
