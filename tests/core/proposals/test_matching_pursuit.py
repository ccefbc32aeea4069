from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from maskrank.core.data.rows import Rows
from maskrank.core.proposals.matching_pursuit import Hint, screen, screen_again, with_companions


def look(x: Tensor, y: Tensor, *, wanted: int = 12, seed: int = 0) -> Hint:
    return screen(Rows(x, y), wanted=wanted, generator=torch.Generator().manual_seed(seed))


def table(n: int, d: int, seed: int = 0) -> Tensor:
    return torch.randn((n, d), generator=torch.Generator().manual_seed(seed))


def test_a_pair_that_tells_nothing_alone_comes_first() -> None:
    x = table(500, 300)
    hint = look(x, (x[:, 17] * x[:, 203] > 0).long())
    assert hint.units[0] == (17, 203)
    assert next(iter(hint.clear)) == (17, 203)


def test_a_ring_is_seen_as_a_pair_of_bends() -> None:
    x = torch.rand((700, 200), generator=torch.Generator().manual_seed(1))
    radius = (x[:, :2] - 0.5).norm(dim=1)
    hint = look(x, ((radius - 0.35).abs() <= 0.1151).long())
    assert hint.units[0] == (0, 1)


@pytest.mark.parametrize("kind", ["line", "bend", "classes"])
def test_a_single_feature_is_seen(kind: str) -> None:
    x = table(400, 150, seed=2)
    targets = {
        "line": (x[:, 40] + table(400, 1, seed=3)[:, 0]).unsqueeze(1),
        "bend": (x[:, 40].square() + table(400, 1, seed=3)[:, 0]).unsqueeze(1),
        "classes": torch.bucketize(x[:, 40].contiguous(), torch.tensor([-0.5, 0.5])),
    }
    assert look(x, targets[kind]).units[0] == (40,)


def test_what_goes_with_the_target_through_a_better_one_adds_nothing() -> None:
    x = table(600, 60, seed=4)
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    y = (2 * x[:, 0] + x[:, 2] + table(600, 1, seed=5)[:, 0]).unsqueeze(1)
    hint = look(x, y)
    assert (1,) in hint.clear  # by itself it is beyond chance
    assert 10 * hint.clear[(1,)] < min(hint.clear[(0,)], hint.clear[(2,)])


def test_a_weak_effect_is_seen_once_the_strong_ones_are_out_of_the_way() -> None:
    x = table(200, 2_000, seed=6)
    y = (x[:, :10].sum(dim=1) + math.sqrt(2.5) * table(200, 1, seed=7)[:, 0]).unsqueeze(1)
    alone = (x - x.mean(dim=0)).t() @ (y - y.mean())
    among_the_best_alone = set(alone.abs().squeeze(1).topk(12).indices.tolist()) & set(range(10))
    named = {j for unit in look(x, y, wanted=12).units[:24] for j in unit} & set(range(10))
    assert len(named) >= 9 > len(among_the_best_alone)


def test_nothing_is_clear_where_there_is_nothing() -> None:
    clear = [look(table(200, 300, seed), torch.arange(200) % 2, seed=seed).clear for seed in range(20)]
    assert sum(bool(units) for units in clear) <= 4


def test_equal_values_do_not_carry_the_order_of_the_rows_into_the_screen() -> None:
    """A table sorted by its target, and features of two values: their ranks are ties."""
    y = (torch.arange(400) >= 200).long()
    x = torch.randint(2, (400, 40), generator=torch.Generator().manual_seed(8)).float()
    assert not look(x, y).clear


def test_a_target_that_one_feature_explains_wholly_ends_the_looks() -> None:
    x = table(50, 5, seed=9)
    assert look(x, x[:, 3:4]).units[0] == (3,)


def test_one_outlier_makes_no_pair() -> None:
    x = table(200, 100, seed=10)
    y = table(200, 1, seed=11)
    x[7, 3], x[7, 4], y[7] = 50.0, 50.0, 50.0
    assert (3, 4) not in look(x, y).clear


def test_a_second_look_adds_what_goes_with_the_rest() -> None:
    x = table(400, 80, seed=12)
    rest = x[:, 5] * x[:, 6]
    before = Hint([(1,)], {(1,): 9.0}, [], [])
    after = screen_again(Rows(x, rest), torch.arange(400), rest.unsqueeze(1), before, wanted=6)
    assert list(after.clear)[:2] == [(1,), (5, 6)]
    assert after.units[:2] == [(1,), (5, 6)]


def test_companions_are_what_the_clear_features_tell_most_of() -> None:
    x = table(300, 50, seed=13)
    x[:, 20] = x[:, 0] - x[:, 1]
    hint = Hint([(0,), (1,)], {(0,): 9.0, (1,): 9.0}, [], [])
    rows, generator = Rows(x, x[:, :1]), torch.Generator().manual_seed(0)
    assert with_companions(rows, hint, most=5, generator=generator).companions == [20]
    nothing = Hint([(0,)], {}, [], [])
    assert with_companions(rows, nothing, most=5, generator=generator) == nothing


def test_a_hint_is_renamed_to_places() -> None:
    hint = Hint([(3, 9), (5,)], {(5,): 1.0}, [7], []).renamed(torch.tensor([3, 5, 7, 9]))
    assert hint == Hint([(0, 3), (1,)], {(1,): 1.0}, [2], [])


@pytest.mark.parametrize("seed", range(4))
def test_a_column_that_is_constant_on_the_rows_looked_at_is_passed_by(seed: int) -> None:
    """A rare indicator is constant on most choices of 2,048 rows; the looks must end."""
    x = table(3_000, 3, seed)
    x[:, 0] = 0.0
    x[7, 0] = 50.0
    units = look(x, torch.arange(3_000) % 2, wanted=18, seed=seed).units
    assert {1, 2} <= {j for unit in units for j in unit}


def test_lines_are_given_up_in_the_order_of_what_they_are_worth_together() -> None:
    """A sum that a noisy stand-in for it explains best alone: beside its parts the stand-in is given up."""
    x = table(300, 30, seed=15)
    x[:, 9] = x[:, 0] + x[:, 1] + 0.7 * x[:, 9]
    y = (x[:, 0] + x[:, 1] + 0.1 * table(300, 1, seed=16)[:, 0]).unsqueeze(1)
    assert sorted(look(x, y, wanted=6).straight[:2]) == [0, 1]


def test_one_of_many_outputs_is_enough() -> None:
    found = 0
    for seed in range(5):
        x, y = table(500, 200, seed), table(500, 20, seed + 50)
        y[:, 15] = x[:, 3]
        found += (3,) in look(x, y, seed=seed).clear
    assert found >= 4


def test_a_pair_with_a_known_feature_needs_less_to_be_clear() -> None:
    x = table(300, 400, seed=17)
    rest = 0.24 * x[:, 5] * x[:, 6] + table(300, 1, seed=18)[:, 0]
    rows, index = Rows(x, rest), torch.arange(300)
    unknown, known = Hint([], {}, [], []), Hint([(5,)], {(5,): 9.0}, [], [])
    seen = [screen_again(rows, index, rest.unsqueeze(1), hint, wanted=6).clear for hint in (unknown, known)]
    assert ((5, 6) in seen[0], (5, 6) in seen[1]) == (False, True)


def test_values_near_the_end_of_the_range_of_floats_are_looked_at() -> None:
    x = table(200, 20, seed=19)
    assert look(1e25 * x, x[:, 4:5]).units[0] == (4,)
