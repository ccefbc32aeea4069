from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from maskrank.core.engine.adam import Adam
from maskrank.core.engine.training_loop import BestMoment, Schedule, constant, cosine_annealing, linear_decay, train


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        (constant(0.4), [0.4, 0.4, 0.4, 0.4]),
        (linear_decay(0.4), [0.4, 0.3, 0.2, 0.1]),
        (cosine_annealing(0.4), [0.4 * (1 + math.cos(math.pi * k / 4)) / 2 for k in range(4)]),
    ],
)
def test_schedules(schedule: Schedule, rates: list[float]) -> None:
    assert [schedule(step, 4) for step in range(4)] == pytest.approx(rates)


def test_it_is_a_plain_loop_of_the_optimiser() -> None:
    """Bit for bit, with the rate set before every step."""
    data, nets = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)), []
    for _ in range(2):
        torch.manual_seed(0)
        nets.append(nn.Linear(3, 1))
    optimizers = [Adam(net.parameters(), rate=1.0) for net in nets]
    train(optimizers[0], lambda: nets[0](data).square().mean(), steps=7, schedule=linear_decay(0.1))
    for step in range(7):
        optimizers[1].rate = 0.1 * (1 - step / 7)
        loss = nets[1](data).square().mean()
        optimizers[1].zero_grad()
        loss.backward()
        optimizers[1].step()
    for one, two in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        assert torch.equal(one, two)


def test_what_is_called_after_a_step_may_end_it() -> None:
    weight = nn.Parameter(torch.ones(1))
    done: list[int] = []

    def after(step: int, loss: torch.Tensor) -> bool:
        assert not loss.requires_grad
        done.append(step)
        return step == 3

    train(Adam([weight], rate=0.1), lambda: weight.square().sum(), steps=10, schedule=constant(0.1), after=after)
    assert done == [1, 2, 3]


def test_the_best_moment_of_several_nets_is_restored_together() -> None:
    nets = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    best = BestMoment(*nets)
    best.restore()  # nothing was kept yet: they stay as they are
    for value, weight in ((3.0, 1.0), (1.0, 2.0), (1.0, 3.0), (float("nan"), 4.0), (2.0, 5.0)):
        with torch.no_grad():
            for net in nets:
                net.weight.fill_(weight)
        assert best.update(value) == (weight <= 2.0)
    best.restore()
    assert [net.weight.item() for net in nets] == [2.0, 2.0]
    assert best.value == 1.0


def test_from_a_figure_that_is_no_number_nothing_is_better() -> None:
    net = nn.Linear(1, 1, bias=False)
    best, start = BestMoment(net), net.weight.item()
    best.keep(float("nan"))
    with torch.no_grad():
        net.weight.fill_(7.0)
    assert not best.update(1.0)
    best.restore()
    assert net.weight.item() == start
