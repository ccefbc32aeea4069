from __future__ import annotations

from unittest import mock

import pytest
import torch

from maskrank.core.data.rows import Rows
from maskrank.core.proposals import backward_elimination as elimination
from maskrank.core.proposals import ridge as line_machine
from maskrank.core.proposals.backward_elimination import eliminate, few_rows


def few(generator: torch.Generator, d: int = 120, noise: float = 0.3) -> Rows:
    """Sixty rows; a class that features 3 and 7 tell together, neither of them straight."""
    x = torch.randn((60, d), generator=generator)
    y = (x[:, 3].square() + x[:, 7].square() + noise * torch.randn(60, generator=generator) > 1.5).long()
    return Rows(x, y)


def left_of(rows: Rows, size: int, **options: int) -> list[int]:
    again = torch.Generator().manual_seed(1)
    return eliminate([rows], size, generator=again, **{"wanted": size, **options})


def test_of_few_rows_features_that_bend_are_left(generator: torch.Generator) -> None:
    rows = few(generator)
    assert few_rows(rows)
    assert set(left_of(rows, 4)) >= {3, 7}


def test_those_given_up_last_stand_behind_those_left(generator: torch.Generator) -> None:
    rows = few(generator)
    more = left_of(rows, 4, wanted=20)
    assert len(set(more)) == 20
    assert set(more[:4]) == set(left_of(rows, 4))


def test_rows_in_two_parts_are_looked_at_together(generator: torch.Generator) -> None:
    rows = few(generator)
    x, y = rows.all().dense(), rows.y
    parts = [Rows(x[:25], y[:25]), Rows(x[25:], y[25:])]
    left = eliminate(parts, 4, wanted=4, generator=torch.Generator().manual_seed(1))
    assert set(left) == set(left_of(rows, 4))
    assert set(left) != set(left_of(parts[0], 4))


@pytest.mark.parametrize(("most", "by_trial"), [(25, True), (24, False)])
def test_the_training_rows_tell_whether_features_are_given_up_by_trial(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch, most: int, by_trial: bool
) -> None:
    """So that what is chosen again with more rows is chosen in the way that was judged."""
    rows = few(generator)
    x, y = rows.all().dense(), rows.y
    monkeypatch.setattr(elimination, "_ROWS_OF_TRIALS", most)
    kernel = elimination.eliminate_by_kernel
    with mock.patch.object(elimination, "eliminate_by_kernel", wraps=kernel) as machine:
        eliminate([Rows(x[:25], y[:25]), Rows(x[25:], y[25:])], 4, wanted=4, generator=generator)
    assert machine.call_args.kwargs["by_trial"] is by_trial


def test_of_very_many_features_those_best_alone_are_looked_at(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn((50, 400), generator=generator)
    rows = Rows(x, (x[:, 5] + x[:, 300]).unsqueeze(1))
    monkeypatch.setattr(elimination, "_KERNEL_WORK", 50**2 * 30)
    assert set(left_of(rows, 3)) >= {5, 300}


def test_of_many_rows_lines_that_go_together_are_left(generator: torch.Generator) -> None:
    x = torch.randn((500, 40), generator=generator)
    x[:, 20:] = x[:, :20] + 0.5 * torch.randn((500, 20), generator=generator)  # weaker doubles
    rows = Rows(x, x[:, :5].sum(dim=1, keepdim=True) + 0.5 * torch.randn((500, 1), generator=generator))
    assert not few_rows(rows)
    assert set(left_of(rows, 5)) == {0, 1, 2, 3, 4}


def test_many_lines_are_given_up_a_share_at_a_time(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn((400, 60), generator=generator)
    rows = Rows(x, x[:, 50:54].sum(dim=1, keepdim=True))
    monkeypatch.setattr(line_machine, "_ONE_BY_ONE", 10)
    order = left_of(rows, 4, wanted=60)
    assert set(order[:4]) == {50, 51, 52, 53}
    assert sorted(order) == list(range(60))


def test_an_outlier_and_a_constant_leave_numbers() -> None:
    x = torch.randn((40, 60), generator=torch.Generator().manual_seed(2))
    y = x[:, :1].clone()
    x[3, 10], x[:, 11], y[5] = 1e8, 4.0, 1e6
    assert len(set(left_of(Rows(x, y), 5))) == 5
    assert len(set(left_of(Rows(x[:, :20], y), 5))) == 5
