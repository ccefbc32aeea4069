from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from maskrank.core.config import DEFAULT, SignalConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, Task
from maskrank.core.scoring.association import Effort, association_pvalue, rank_of_first
from maskrank.core.scoring.signal import SignalTest, combined, held_out_pvalue

CONFIG = SignalConfig()
NONE = torch.zeros(1, dtype=torch.float64)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def of_rows(task: Task, x: torch.Tensor, y: torch.Tensor, seed: int = 0, config: SignalConfig = CONFIG) -> float:
    found = association_pvalue(
        task, Rows(x, y), config=config, screening=DEFAULT.proposal.screening, generator=generator(seed)
    )
    assert found is not None
    return found


def of_predictions(outputs: torch.Tensor, y: torch.Tensor, seed: int = 0, task: Task | None = None) -> float | None:
    task = RegressionTask() if task is None else task
    return held_out_pvalue(task, outputs.double(), y, NONE, config=CONFIG, generator=generator(seed))


def test_the_p_value_of_predictions_is_that_of_all_orders_of_the_targets() -> None:
    """Five rows have 120 orders, which can be enumerated; many random ones agree with them."""
    g = generator(1)
    outputs, y = torch.randn((2, 5, 1), generator=g)
    losses = [float((outputs[list(order)] - y).square().sum()) for order in permutations(range(5))]
    exact = np.mean([loss <= losses[0] + 1e-6 for loss in losses])
    many = SignalConfig(held_out_orders=20_000, max_deviation=1e9)
    found = held_out_pvalue(RegressionTask(), outputs.double(), y, NONE, config=many, generator=g)
    assert found == pytest.approx(exact, abs=0.01)


def test_predictions_close_to_the_target_are_signal_and_noise_is_not() -> None:
    g = generator()
    y, noise = torch.randn((2, 100, 1), generator=g)
    assert of_predictions(y + 0.5 * noise, y) == 1 / CONFIG.held_out_orders
    assert (of_predictions(noise, y) or 0) > 0.05


def test_one_terrible_answer_does_not_hide_many_good_ones() -> None:
    g = generator()
    y = torch.randint(2, (60,), generator=g)
    outputs = (y.double() - 0.5 + 0.5 * torch.randn(60, generator=g)).unsqueeze(1)
    outputs[0] = -100.0 * (2 * y[0] - 1)
    assert (of_predictions(outputs, y, task=BinaryTask()) or 1) < 0.01


def test_predictions_that_are_all_alike_have_a_random_p_value() -> None:
    y = torch.randn((20, 1), generator=generator())
    found = [of_predictions(torch.ones((20, 1)), y, seed) for seed in range(100)]
    assert kstest(found, "uniform").pvalue > 0.01


def test_groups_are_compared_as_wholes() -> None:
    """Ten rows of one group that agree say no more than one row: of a few groups no small p-value comes."""
    y = torch.randn((80, 1), generator=generator())
    groups = torch.arange(80) // 10
    found = held_out_pvalue(
        RegressionTask(), 0.9 * y.double(), y, NONE, groups=groups, config=CONFIG, generator=generator()
    )
    assert found == pytest.approx(1 / 2**8, abs=0.01)
    few = held_out_pvalue(
        RegressionTask(), y.double(), y, NONE, groups=groups // 2, config=CONFIG, generator=generator()
    )
    assert few is None


@pytest.mark.parametrize("task", [BinaryTask(), MulticlassTask(3), RegressionTask()])
def test_shuffled_labels_have_uniform_p_values(task: Task) -> None:
    found = []
    for seed in range(150):
        g = generator(1_000 + seed)
        x, y = torch.randn((30, 8), generator=g), torch.randn((30, 1), generator=g).pow(3)
        if task.discrete:
            y = torch.randint(max(2, task.n_outputs), (30,), generator=g)
            y[:3] = torch.tensor([0, 1, task.n_outputs - 1])
            y = y[torch.randperm(30, generator=g)]
        found.append(of_rows(task, x, y, seed, SignalConfig(max_orders=100)))
    assert kstest(found, "uniform").pvalue > 0.01


@pytest.mark.parametrize("kind", ["line", "wave", "pair", "triple", "many", "needle"])
def test_every_kind_of_association_is_found(kind: str) -> None:
    g = generator(3)
    n, d = (150, 300) if kind == "many" else (150, 12)
    x, noise = torch.randn((n, d), generator=g), torch.randn(n, generator=g)
    truth = {
        "line": x[:, 0],
        "wave": (4 * x[:, 0]).cos(),
        "pair": x[:, 0] * x[:, 1],
        "triple": x[:, 0].sign() * x[:, 1].sign() * x[:, 2].sign(),
        "many": x[:, :60].sum(dim=1),
        "needle": 3.0 * (x[:, 0] > 1.5),
    }[kind]
    assert of_rows(RegressionTask(), x, (truth + 0.5 * noise).unsqueeze(1)) <= 0.01


@pytest.mark.parametrize("d", [1, 2])
def test_one_or_two_columns_and_indicators_alone_can_be_tested(d: int) -> None:
    x = torch.randn((40, d), generator=generator())
    assert of_rows(RegressionTask(), x, x[:, :1]) <= 0.01
    levels = (x > 0).float()
    rows = Rows(levels, x[:, :1], Blocks.of_widths([d], numeric=[False] * d))
    found = association_pvalue(
        RegressionTask(), rows, config=CONFIG, screening=DEFAULT.proposal.screening, generator=generator()
    )
    assert found is not None
    assert found <= 0.01


def test_large_tables_are_tested_with_less() -> None:
    small, wide, huge = (Effort.of(n, d, 1, 5, CONFIG) for n, d in ((400, 10), (150, 2_000), (10**6, 10**6)))
    assert (small.n, small.orders, small.cosines, small.pairs, small.triples) == (400, 500, 5, True, True)
    assert (wide.n, wide.orders, wide.pairs) == (150, 500, False)
    assert (huge.n, huge.orders, huge.cosines) == (CONFIG.min_rows_of_wide, CONFIG.min_orders, 0)


def test_a_share_of_the_chance_of_a_false_claim_goes_to_each_test() -> None:
    """A tenth to the second: of pairs of uniform p-values the result is uniform."""
    random = np.random.default_rng(0)
    found = np.array([combined(*pair, 0.1) for pair in random.random((2_000, 2))])
    assert kstest(found, "uniform").pvalue > 0.01
    assert found.max() <= 1
    assert combined(0.3, None, 0.1) == 0.3
    assert combined(None, 0.3, 0.1) == 0.3
    assert np.isnan(combined(None, None, 0.1))


def test_ranks_count_the_order_seen_and_break_ties_at_random() -> None:
    assert rank_of_first(torch.tensor([3.0, 2.0, 1.0, 0.0]), generator()) == 0.25
    found = {rank_of_first(torch.ones(4), generator(seed)) for seed in range(50)}
    assert found == {0.25, 0.5, 0.75, 1.0}


def test_few_validation_rows_and_rows_that_chose_the_nets_do_not_count() -> None:
    g = generator()
    x, y = torch.randn((40, 3), generator=g), torch.randn((40, 1), generator=g)
    test = SignalTest.begin(RegressionTask(), Rows(x[:20], y[:20]), Rows(x[20:], y[20:]), DEFAULT, 0)
    assert test.association is not None
    seen = torch.zeros(20, dtype=torch.bool)
    seen[:7] = True
    assert test.pvalue(y[20:], seen) == test.association
    assert test.pvalue(y[20:], ~seen) <= 0.01  # a tenth of the chance is for this test, of 1,000 orders
