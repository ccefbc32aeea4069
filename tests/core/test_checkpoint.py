"""Stages and loops that are taken from a store in place of being computed."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from maskrank.core.checkpoint import Checkpoint, State
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.training_loop import BestMoment, constant, train
from maskrank.core.recorder import Recorder


class Memory:
    """A store in memory."""

    def __init__(self, every: float = 0.0) -> None:
        self.every = every
        self.states: dict[str, State] = {}

    def read(self, name: str) -> State | None:
        return copy.deepcopy(self.states.get(name))

    def write(self, name: str, state: State) -> None:
        self.states[name] = copy.deepcopy(state)

    def remove(self, beginning: str) -> None:
        self.states = {name: state for name, state in self.states.items() if not name.startswith(beginning)}

    def misfit(self, name: str, error: Exception) -> ValueError:
        return ValueError(f"{name} does not fit")

    def within(self, name: str) -> Memory:
        return Memory(self.every)


def draw_two(store: Memory | None, *, fail: bool = False) -> list[float]:
    """Two stages with a random number each; the second may fail."""
    generator = torch.Generator().manual_seed(0)
    fit = Checkpoint(Recorder(10), generator, store)

    def draw() -> float:
        return float(torch.rand((), generator=generator))

    first = fit.stage("propose", draw)
    if fail:
        raise KeyboardInterrupt
    return [first, fit.stage("score", draw)]


def test_a_stage_is_computed_once_and_the_random_numbers_go_on_behind_it() -> None:
    store = Memory()
    with pytest.raises(KeyboardInterrupt):
        draw_two(store, fail=True)
    assert list(store.states) == ["01-propose"]
    assert draw_two(store) == draw_two(None)
    store.states["01-propose"]["value"] = 7.0
    assert draw_two(store)[0] == 7.0  # not computed again


def test_a_stage_that_was_not_kept_is_computed_to_the_same_bits() -> None:
    store = Memory()
    draw_two(store)
    del store.states["01-propose"]
    assert draw_two(store) == draw_two(None)


def test_short_stages_are_not_kept_but_the_last_one_is() -> None:
    store = Memory(every=1.0)
    fit = Checkpoint(Recorder(10), torch.Generator(), store)
    fit.stage("propose", lambda: 1)
    fit.stage("predict", lambda: 2, last=True)
    assert list(store.states) == ["02-predict"]


def test_a_state_of_another_fit_is_an_error_of_one_line() -> None:
    store = Memory()
    store.states["01-propose"] = {"value": 1}
    with pytest.raises(ValueError, match=r"^01-propose does not fit$"):
        draw_two(store)


def fit_line(store: Memory | None, *, nesterov: bool, stop_after: int = 100) -> tuple[list[float], float]:
    """A net of one layer learns from random rows, in a loop that may be stopped."""
    generator = torch.Generator().manual_seed(0)
    net = torch.nn.Linear(3, 1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    optimizer, best = Adam(net.parameters(), rate=0.1, nesterov=nesterov), BestMoment(net)
    fit = Checkpoint(Recorder(10), generator, store)

    def loss_of() -> torch.Tensor:
        x = torch.randn((8, 3), generator=generator)
        return (net(x)[:, 0] - x[:, 0]).square().mean()

    def after(step: int, loss: torch.Tensor) -> None:
        best.update(float(loss))
        if step == stop_after:
            raise KeyboardInterrupt

    def learn() -> list[float]:
        loop = fit.loop("steps", net, optimizer, best)
        train(optimizer, loss_of, steps=20, schedule=constant(0.1), after=after, loop=loop)
        best.restore()
        return [*net.weight[0].tolist(), *net.bias.tolist()]

    return fit.stage("search", learn), best.value


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("stop_after", [1, 7, 20])
def test_a_loop_goes_on_to_the_same_bits(nesterov: bool, stop_after: int) -> None:
    store = Memory()
    with pytest.raises(KeyboardInterrupt):
        fit_line(store, nesterov=nesterov, stop_after=stop_after)
    kept: Any = store.states.get("01-search-steps", {"value": 0})
    assert kept["value"] == stop_after - 1
    assert fit_line(store, nesterov=nesterov)[0] == fit_line(None, nesterov=nesterov)[0]
    assert list(store.states) == ["01-search"]  # the states of its loop are gone
