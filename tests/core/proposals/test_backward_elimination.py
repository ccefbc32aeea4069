from __future__ import annotations

from typing import Any

import pytest
import torch

from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, Task
from maskrank.core.proposals.backward_elimination import eliminate, few_rows

CONFIG = EliminationConfig()


def few(generator: torch.Generator, d: int = 120, noise: float = 0.3) -> Rows:
    """Sixty rows; a class that features 3 and 7 tell together by their squares."""
    x = torch.randn((60, d), generator=generator)
    y = (x[:, 3].square() + x[:, 7].square() + noise * torch.randn(60, generator=generator) > 1.5).long()
    return Rows(x, y)


def order_of(*parts: Rows, size: int, wanted: int | None = None, **changes: Any) -> list[int]:
    task: Task = RegressionTask() if parts[0].y.is_floating_point() else BinaryTask()
    config, generator = EliminationConfig(**changes), torch.Generator().manual_seed(1)
    return eliminate(task, parts, size, wanted=wanted or size, config=config, generator=generator)


def test_of_few_rows_features_with_curved_effects_survive(generator: torch.Generator) -> None:
    rows = few(generator)
    assert few_rows(rows, CONFIG)
    assert set(order_of(rows, size=4)) >= {3, 7}


def test_those_eliminated_last_stand_behind_the_survivors(generator: torch.Generator) -> None:
    rows = few(generator)
    more = order_of(rows, size=4, wanted=20)
    assert len(set(more)) == 20
    assert set(more[:4]) == set(order_of(rows, size=4))


def halves(rows: Rows) -> tuple[Rows, Rows]:
    x, y = rows.all().dense(), rows.y
    return Rows(x[:25], y[:25]), Rows(x[25:], y[25:])


def test_rows_in_two_parts_are_used_together(generator: torch.Generator) -> None:
    rows = few(generator)
    parts = halves(rows)
    order = order_of(*parts, size=4)
    assert set(order) == set(order_of(rows, size=4))
    assert set(order) != set(order_of(parts[0], size=4))


def test_of_very_many_features_those_that_correlate_most_are_used(generator: torch.Generator) -> None:
    x = torch.randn((50, 400), generator=generator)
    rows = Rows(x, (x[:, 5] + x[:, 300]).unsqueeze(1))
    assert set(order_of(rows, size=3, wanted=3, kernel_work=50**2 * 30)) >= {5, 300}
    assert len(order_of(rows, size=3, wanted=20, kernel_work=1)) == 20  # as many as are wanted, at the least


def test_of_many_rows_features_that_go_together_survive(generator: torch.Generator) -> None:
    x = torch.randn((500, 40), generator=generator)
    x[:, 20:] = x[:, :20] + 0.5 * torch.randn((500, 20), generator=generator)  # weaker doubles
    rows = Rows(x, x[:, :5].sum(dim=1, keepdim=True) + 0.5 * torch.randn((500, 1), generator=generator))
    assert not few_rows(rows, CONFIG)
    assert set(order_of(rows, size=5)) == {0, 1, 2, 3, 4}


def test_many_features_are_eliminated_a_share_at_a_time(generator: torch.Generator) -> None:
    x = torch.randn((400, 60), generator=generator)
    rows = Rows(x, x[:, 50:54].sum(dim=1, keepdim=True))
    order = order_of(rows, size=4, wanted=60, single_from=10)
    assert set(order[:4]) == {50, 51, 52, 53}
    assert sorted(order) == list(range(60))


def test_many_rows_of_too_many_features_have_no_order(generator: torch.Generator) -> None:
    x = torch.randn((80, 60), generator=generator)
    assert order_of(Rows(x, x[:, :1]), size=4, max_ridge_features=59) == []


@pytest.mark.parametrize(("n", "d", "is_few"), [(59, 60, True), (60, 60, False), (60, 61, True), (61, 99, False)])
def test_rows_are_few_below_the_number_of_features_and_up_to_a_bound(n: int, d: int, is_few: bool) -> None:
    rows = Rows(torch.zeros((n, d)), torch.zeros((n, 1)))
    assert few_rows(rows, EliminationConfig(max_kernel_rows=60)) is is_few


def test_an_outlier_and_a_constant_are_no_trouble() -> None:
    x = torch.randn((40, 60), generator=torch.Generator().manual_seed(2))
    y = x[:, :1].clone()
    x[3, 10], x[:, 11], y[5] = 1e8, 4.0, 1e6
    assert len(set(order_of(Rows(x, y), size=5))) == 5
    assert len(set(order_of(Rows(x[:, :20], y), size=5))) == 5


@pytest.mark.parametrize("n", [45, 400])
def test_features_of_several_columns_survive_by_all_of_them(generator: torch.Generator, n: int) -> None:
    """By kernel ridge and by ridge regression; what a required feature tells is not needed twice."""
    blocks = Blocks.of_widths([3] * 17)
    x = torch.randn((n, 51), generator=generator)
    x[:, :3] = x[:, 48:] + 0.2 * x[:, :3]
    y = x[:, 15:18].sum(dim=1) + x[:, 30:33].sum(dim=1) + 2 * x[:, 48:].sum(dim=1)
    rows, beyond = (Rows(x, y.unsqueeze(1), blocks, n_required) for n_required in (0, 1))
    assert few_rows(rows, CONFIG) is (n == 45)
    assert 16 in order_of(rows, size=3)
    assert set(order_of(beyond, size=2)) == {5, 10}
    assert sorted(order_of(beyond, size=2, wanted=16)) == list(range(16))


def test_of_too_many_columns_the_features_that_correlate_most_are_used(generator: torch.Generator) -> None:
    x = torch.randn((300, 60), generator=generator)
    rows = Rows(x, x[:, 30:33].sum(dim=1, keepdim=True), Blocks.of_widths([3] * 20))
    order = order_of(rows, size=1, wanted=20, max_ridge_features=30)
    assert order[0] == 10
    assert len(order) == 20  # as many as are wanted
    assert len(order_of(rows, size=1, wanted=4, max_ridge_features=30)) == 4


def test_rare_classes_count_as_much_as_frequent_ones(generator: torch.Generator) -> None:
    """Five of ninety rows are of a class that one feature tells; the others of two classes that another tells."""
    y = torch.cat([torch.full((5,), 2), torch.arange(85) % 2])
    x = torch.randn((90, 120), generator=generator)
    x[:, 4] += 4.0 * (y == 2)
    x[:, 9] += 1.5 * (y == 1)
    order = eliminate(
        MulticlassTask(3), [Rows(x, y)], 2, wanted=2, config=CONFIG, generator=torch.Generator().manual_seed(1)
    )
    assert set(order) == {4, 9}


def test_a_double_of_a_required_feature_is_of_no_use(generator: torch.Generator) -> None:
    x = torch.randn((60, 80), generator=generator)
    x[:, 0] = x[:, 79] + 0.1 * x[:, 0]
    y = 2 * x[:, [79]] + x[:, [5]]
    assert order_of(Rows(x, y, Blocks.single(80), 1), size=1) == [5]


def test_few_strong_effects_survive(generator: torch.Generator) -> None:
    """Of ten features a derivative at one point does not tell the five that matter."""
    x = torch.randn((60, 100), generator=generator)
    rows = Rows(x, x[:, :5].sum(dim=1, keepdim=True) + 0.5 * torch.randn((60, 1), generator=generator))
    assert set(order_of(rows, size=5)) == {0, 1, 2, 3, 4}
