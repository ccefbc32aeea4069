"""A fit that can be ended at any moment and started again: results of stages, and states of training loops, in a store.

A fit is a fixed course of computations, whose random numbers all come from one generator. So the same call takes the
same course again: what a store holds is taken from it, with the state of the generator behind it, and what it lacks is
computed anew, to the same bits. Whether a state is kept is therefore a question of time alone, and so it is decided.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import torch

from maskrank.core.recorder import Recorder

State = Any  # numbers, text, None, tensors and arrays, in lists, tuples and dicts
Value = TypeVar("Value")

EVERY = 1.0  # seconds between two states of a loop
_PAUSE = 50  # times as long as the last state took to write passes before the next
_FIRST = 0.002  # seconds that the first one is thought to take


class Stateful(Protocol):
    """Something with a state of tensors and plain values."""

    def state_dict(self) -> State: ...

    def load_state_dict(self, state_dict: State) -> Any: ...


class Store(Protocol):
    """Where states are kept, by name; a state is there as a whole, or not at all."""

    every: float  # seconds between two states of a loop, at least; 0 keeps every state

    def read(self, name: str) -> State | None:
        """What was kept; None where there is nothing."""

    def write(self, name: str, state: State) -> None:
        """Keep a state in place of the last of this name."""

    def remove(self, beginning: str) -> None:
        """Forget all states whose names begin so."""

    def misfit(self, name: str, error: Exception) -> ValueError:
        """The error of a state that is not one of this fit."""

    def within(self, name: str) -> Store:
        """A store of its own for a part of the fit."""


class Codec(Protocol):
    """Makes states of the results of stages, and results of states."""

    def encode(self, value: Any) -> State: ...

    def decode(self, state: State) -> Any: ...


class Checkpoint:
    """The stages of one fit, each computed or taken from a store.

    Parameters
    ----------
    recorder : Recorder
        Told of every stage; its history is kept with every state.
    generator : torch.Generator, optional
        Of all random numbers of the fit; needed where there is a store.
    store : Store, optional
        Without one, stages are computed, and nothing is kept.
    codec : Codec, optional
        Of results that are more than plain values.
    """

    def __init__(
        self,
        recorder: Recorder,
        generator: torch.Generator | None = None,
        store: Store | None = None,
        codec: Codec | None = None,
    ) -> None:
        self.recorder = recorder
        self._generator, self._store, self._codec = generator, store, codec
        self._always: list[Stateful] = [recorder]
        self._n_stages, self._stage = 0, ""
        self._written, self._cost = time.perf_counter(), _FIRST

    def keep_with_all(self, *parts: Stateful) -> None:
        """From now on, these belong to every state."""
        self._always += parts

    def stage(self, name: str, compute: Callable[[], Value], *parts: Stateful, last: bool = False) -> Value:
        """The result of a stage; where the store has it, taken from there.

        Parameters
        ----------
        name : str
            As the recorder knows it.
        compute : callable
            Returns the result.
        parts : Stateful
            What the stage changes; they are put into the state that they had after it.
        last : bool
            The result of the last stage is kept however short it was.
        """
        self._n_stages += 1
        self._stage = f"{self._n_stages:02d}-{name}"
        with self.recorder.stage(name):
            kept = None if self._store is None else self._store.read(self._stage)
            value: Value = compute() if kept is None else self._restored(self._stage, kept, parts)
        if kept is None and self._store is not None and (last or self._is_due(0.0)):
            encoded = value if self._codec is None else self._codec.encode(value)
            self._write(self._stage, encoded, parts)
            self._store.remove(self._loop_name(""))
        return value

    def loop(self, name: str, *parts: Stateful) -> Loop:
        """A training loop of the stage that runs, and what it changes."""
        return Loop(self, name, parts)

    def read_loop(self, name: str, parts: tuple[Stateful, ...], default: Value) -> Value:
        """Put the parts of a loop into the state kept last; the variables kept with it, or the default."""
        kept = None if self._store is None else self._store.read(self._loop_name(name))
        return default if kept is None else self._restored(self._loop_name(name), kept, parts)

    def write_loop(self, name: str, parts: tuple[Stateful, ...], variables: State) -> None:
        """Keep a loop's state, if the last one kept is old enough."""
        if self._store is not None and self._is_due(self._store.every):
            self._write(self._loop_name(name), variables, parts)

    def _loop_name(self, name: str) -> str:
        return f"{self._stage}-{name}"

    def _is_due(self, least: float) -> bool:
        """Whether the last state was written at least so many seconds ago, and long enough to have been worth it."""
        assert self._store is not None
        pause = _PAUSE * self._cost if self._store.every else 0.0
        return time.perf_counter() - self._written >= max(least, pause)

    def _write(self, name: str, value: State, parts: tuple[Stateful, ...]) -> None:
        assert self._store is not None
        assert self._generator is not None
        started = time.perf_counter()
        state = {
            "value": value,
            "generator": self._generator.get_state(),
            "parts": [part.state_dict() for part in (*self._always, *parts)],
        }
        self._store.write(name, state)
        self._written = time.perf_counter()
        self._cost = self._written - started

    def _restored(self, name: str, state: State, parts: tuple[Stateful, ...]) -> Any:
        assert self._store is not None
        assert self._generator is not None
        try:
            for part, kept in zip((*self._always, *parts), state["parts"], strict=True):
                part.load_state_dict(kept)
            self._generator.set_state(state["generator"])
            is_loop = name != self._stage
            return state["value"] if is_loop or self._codec is None else self._codec.decode(state["value"])
        except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
            raise self._store.misfit(name, error) from error


class Loop:
    """A training loop that goes on where its last kept state was."""

    def __init__(self, checkpoint: Checkpoint, name: str, parts: tuple[Stateful, ...]) -> None:
        self._checkpoint, self._name, self._parts = checkpoint, name, parts

    def resume(self, default: Value) -> Value:
        """Put the parts into the state kept last; the variables kept with it, or the default where there is none."""
        return self._checkpoint.read_loop(self._name, self._parts, default)

    def keep(self, variables: State) -> None:
        """Keep the loop's state and these variables, if the last one kept is old enough."""
        self._checkpoint.write_loop(self._name, self._parts, variables)
