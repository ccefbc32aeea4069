"""The one training loop: an optimiser's steps under a rate schedule, and the best moment of what is trained.

What is learned comes in as a function that returns the loss of a step; nothing here knows about tasks or subsets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from maskrank.core.checkpoint import Loop, Stateful
from maskrank.core.engine.adam import Adam

Schedule = Callable[[int, int], float]  # (step, steps) -> rate, of step 0 .. steps - 1


class Optimizer(Protocol):
    """An optimiser of ours, or of torch."""

    def zero_grad(self) -> None: ...

    def step(self) -> Any: ...


def update(optimizer: Optimizer, loss: Tensor) -> None:
    """One step of an optimiser down the gradient of a loss, a scalar."""
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()


def constant(rate: float) -> Schedule:
    """The same rate at every step."""
    return lambda step, steps: rate


def linear_decay(rate: float) -> Schedule:
    """A rate that falls linearly, to reach 0 after the last step."""
    return lambda step, steps: rate * (1 - step / steps)


def cosine_annealing(rate: float) -> Schedule:
    """A rate that falls along half a cosine (Loshchilov and Hutter 2017)."""
    return lambda step, steps: rate * 0.5 * (1 + math.cos(math.pi * step / steps))


def train(
    optimizer: Adam,
    loss_of: Callable[[], Tensor],
    *,
    steps: int,
    schedule: Schedule,
    after: Callable[[int, Tensor], bool | None] | None = None,
    loop: Loop | None = None,
) -> None:
    """Minimise a loss by so many steps.

    Parameters
    ----------
    optimizer : Adam
        Its rate is set before every step.
    loss_of : callable
        Draws what it needs and returns the loss of a step, a scalar.
    steps : int
    schedule : Schedule
    after : callable, optional
        Called after every update with the number of steps done and the step's loss, detached; True ends the training.
        Decay that differs between weights, running averages and validation belong here.
    loop : Loop, optional
        Keeps what the steps change, and resumes from it.
    """
    for step in range(0 if loop is None else loop.resume(0), steps):
        optimizer.rate = schedule(step, steps)
        loss = loss_of()
        update(optimizer, loss)
        if after is not None and after(step + 1, loss.detach()):
            break
        if loop is not None:
            loop.keep(step + 1)


class BestMoment:
    """Copies of the states of some nets at the lowest figure so far.

    Parameters
    ----------
    nets : Stateful
        Kept and restored together.
    """

    def __init__(self, *nets: Stateful | nn.Module) -> None:
        self._nets = nets
        self._states: tuple[dict[str, Tensor], ...] | None = None
        self.value = math.inf

    @torch.no_grad()
    def update(self, value: float) -> bool:
        """Keep the nets as they are if the figure is lower than ever; whether it was."""
        if not value < self.value:
            return False
        self.keep(value)
        return True

    @torch.no_grad()
    def keep(self, value: float) -> None:
        """Keep the nets as they are, whatever the figure; from one that is not a number, nothing is better."""
        self.value = value
        states = tuple(net.state_dict() for net in self._nets)
        if self._states is None:
            self._states = tuple({name: entry.clone() for name, entry in state.items()} for state in states)
        else:
            for kept, state in zip(self._states, states, strict=True):
                for name, entry in state.items():
                    kept[name].copy_(entry)

    def state_dict(self) -> dict[str, Any]:
        """The figure and the copies, for a checkpoint."""
        return {"value": self.value, "states": self._states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with a figure and copies."""
        self.value, self._states = state_dict["value"], state_dict["states"]

    def restore(self) -> None:
        """Put the nets back to that moment; as they are, if there was none."""
        if self._states is not None:
            for net, state in zip(self._nets, self._states, strict=True):
                net.load_state_dict(state)
