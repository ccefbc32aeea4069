"""Losses of the tasks against their formulas, and their constant answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_poisson_deviance

from maskrank.core.method.count_tasks import CountTask, SurvivalTask
from maskrank.core.method.tasks import (
    TASKS,
    BinaryTask,
    MulticlassTask,
    MultilabelTask,
    OrderedTask,
    RegressionTask,
    task_from_document,
)
from maskrank.core.probabilities import PROBABILITIES, of_classes, of_ordered_classes, of_two_classes, rate_of, sigmoid

G = torch.Generator().manual_seed(0)
COUNTS = torch.tensor([[0.0], [1.0], [4.0], [0.0], [2.0]])
SURVIVAL = torch.tensor([[1.0, 0.2], [0.0, 0.5], [1.0, 1.7], [0.0, 0.0], [1.0, 0.9]])  # events, exposures
LABELS = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
CLASSES = torch.tensor([0, 2, 1, 2, 3])
EXAMPLES: list[tuple[Any, torch.Tensor]] = [
    (BinaryTask(), CLASSES % 2),
    (MulticlassTask(4), CLASSES),
    (OrderedTask(3), CLASSES),
    (MultilabelTask(2), LABELS),
    (RegressionTask(1), COUNTS),
    (CountTask(), COUNTS),
    (SurvivalTask(), SURVIVAL),
]


def test_every_task_has_an_example_here() -> None:
    assert {task.kind for task, _ in EXAMPLES} == set(TASKS)


@pytest.mark.parametrize(("task", "y"), EXAMPLES)
def test_a_task_survives_its_document(task: Any, y: torch.Tensor) -> None:
    assert task_from_document(task.to_document()) == task


@pytest.mark.parametrize(("task", "y"), EXAMPLES)
def test_the_loss_is_of_each_mask_and_row_and_never_below_0(task: Any, y: torch.Tensor) -> None:
    outputs = torch.randn((3, len(y), task.n_outputs), generator=G)
    losses = task.loss(outputs, y)
    assert losses.shape == task.error(outputs, y).shape == (3, len(y))
    assert (losses >= -1e-6).all()


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 3.0, 1.0, 2.0, 1.0])])
@pytest.mark.parametrize(("task", "y"), EXAMPLES)
def test_no_other_constant_has_a_lower_loss(task: Any, y: torch.Tensor, weights: torch.Tensor | None) -> None:
    constant = task.constant(y, weights)
    of_rows = torch.ones(len(y)) if weights is None else weights

    def loss(answer: torch.Tensor) -> float:
        return float(task.loss(answer.expand(1, len(y), -1), y)[0] @ of_rows.double())

    lowest = loss(constant)
    for moved in torch.randn((20, task.n_outputs), generator=G).double():
        assert loss(constant + 0.1 * moved) >= lowest - 1e-6


def test_weights_of_a_constant_answer_count_rows() -> None:
    repeats = torch.tensor([1, 3, 1, 2, 1])
    for task, y in EXAMPLES:
        repeated = task.constant(y.repeat_interleave(repeats, dim=0))
        torch.testing.assert_close(task.constant(y, repeats.double()), repeated)


def test_the_loss_of_counts_is_half_the_deviance() -> None:
    log_rates = torch.tensor([0.3, -1.0, 1.2, 0.0, 0.5])
    loss = CountTask().loss(log_rates.view(1, -1, 1), COUNTS).mean()
    deviance = mean_poisson_deviance(COUNTS[:, 0].numpy(), log_rates.exp().numpy())
    assert float(loss) == pytest.approx(deviance / 2, rel=1e-6)
    assert float(CountTask().error(log_rates.view(1, -1, 1), COUNTS).mean()) == pytest.approx(deviance, rel=1e-6)


def test_the_loss_of_survival_is_that_of_its_hazard() -> None:
    """An event at cumulative hazard 0.2 and log risk 1: 0.2 e - 1 - (1 - log(1 / 0.2)); censored at 0.5: 0.5 e."""
    loss = SurvivalTask().loss(torch.ones((1, 5, 1)), SURVIVAL)[0]
    assert float(loss[0]) == pytest.approx(0.2 * np.e - 1 - 1 + np.log(5), rel=1e-5)
    assert float(loss[1]) == pytest.approx(0.5 * np.e, rel=1e-6)
    assert float(loss[3]) == 0.0


def test_minus_the_slope_of_survival_is_the_martingale_residual() -> None:
    task, outputs = SurvivalTask(), torch.randn((1, 5, 1), generator=G, requires_grad=True)
    (slope,) = torch.autograd.grad(task.loss(outputs, SURVIVAL).sum(), outputs)
    residual = SURVIVAL[:, 0] - SURVIVAL[:, 1] * outputs[0, :, 0].exp()
    torch.testing.assert_close(-slope[0, :, 0], residual)


def test_screens_see_deviance_residuals_of_survival() -> None:
    """sign(M) √(-2 (M + δ log(δ - M))) of martingale residuals M and events δ (Therneau et al. 1990)."""
    event, exposure = SURVIVAL.double().t()
    martingale = event - event.sum() / exposure.sum() * exposure
    root = (-2 * (martingale + torch.xlogy(event, event - martingale))).clamp(min=0).sqrt()
    torch.testing.assert_close(SurvivalTask().as_numeric(SURVIVAL.double())[:, 0], martingale.sign() * root)


@pytest.mark.parametrize(("task", "y"), [(CountTask(), COUNTS), (SurvivalTask(), SURVIVAL)])
def test_extreme_outputs_have_finite_losses_and_slopes(task: Any, y: torch.Tensor) -> None:
    for extreme in (-1e4, 50.0, 1e4):
        outputs = torch.full((1, 5, 1), extreme, requires_grad=True)
        loss = task.loss(outputs, y).sum()
        loss.backward()
        assert bool(loss.isfinite())
        assert bool(outputs.grad.isfinite().all())


def test_labels_have_the_mean_of_their_log_losses() -> None:
    task, outputs = MultilabelTask(2), torch.randn((1, 5, 2), generator=G)
    probabilities = PROBABILITIES[task.kind](outputs[0].numpy())
    expected = np.mean([log_loss(LABELS[:, k].numpy(), probabilities[:, k]) for k in range(2)])
    assert float(task.loss(outputs, LABELS).mean()) == pytest.approx(expected, rel=1e-5)
    wrong = (probabilities > 0.5) != LABELS.numpy()
    assert float(task.error(outputs, LABELS).mean()) == pytest.approx(wrong.mean())


def test_the_loss_of_ordered_classes_is_of_the_events_beyond_a_class() -> None:
    outputs = torch.tensor([[[2.0, 0.5, -1.0]]])
    y = torch.tensor([2])  # beyond the first and the second, not beyond the third
    expected = np.log1p(np.exp(-2.0)) + np.log1p(np.exp(-0.5)) + np.log1p(np.exp(-1.0))
    assert float(OrderedTask(3).loss(outputs, y)) == pytest.approx(expected, rel=1e-6)


def test_ordered_classes_have_probabilities_whatever_the_outputs_are() -> None:
    outputs = 3 * torch.randn((200, 3), generator=G).numpy()
    probabilities = of_ordered_classes(outputs)
    assert probabilities.shape == (200, 4)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    falling = -np.sort(-outputs, axis=1)
    np.testing.assert_allclose(of_ordered_classes(falling)[:, 0], 1 - sigmoid(falling[:, 0]), rtol=1e-5)
    np.testing.assert_allclose(of_ordered_classes(falling)[:, 3], sigmoid(falling[:, 2]), rtol=1e-5)


def test_ordered_probabilities_do_not_depend_on_which_end_is_first() -> None:
    outputs = 3 * torch.randn((200, 3), generator=G).numpy()
    forwards, backwards = (of_ordered_classes(some) for some in (outputs, -outputs[:, ::-1]))
    np.testing.assert_allclose(forwards, backwards[:, ::-1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 800.0])
def test_probabilities_are_right_however_large_the_outputs(size: float) -> None:
    with np.errstate(all="raise", under="ignore"):
        assert sigmoid(np.array([size, -size])).sum() == pytest.approx(1)
        assert sigmoid(np.array([-size]))[0] == pytest.approx(math.exp(-size) / (1 + math.exp(-size)))
        two, three = of_two_classes(np.array([[size]])), of_classes(np.array([[0, size, -1e4]]))
    assert three[0] == pytest.approx([*two[0], 0])


@pytest.mark.parametrize("log_rate", [-30.0, 0.0, 14.9, 15.0, 40.0])
def test_the_rate_that_is_predicted_is_the_one_that_was_learned(log_rate: float) -> None:
    """Without events the loss of a row is its rate."""
    loss = CountTask().loss(torch.full((1, 1, 1), log_rate).double(), torch.zeros((1, 1)).double())
    assert rate_of(np.array([log_rate]))[0] == pytest.approx(float(loss))
