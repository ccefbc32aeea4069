"""Shares of games whose answer is known."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.scoring.shapley import (
    Game,
    Shares,
    exact_row_shares,
    exact_shares,
    in_precedence,
    sampled_shares,
)

N, S = 40, 6
WORTH = torch.tensor([3.0, 1.0, 0.5, 0.0, -1.0, 2.0], dtype=torch.float64)


def additive(masks: Tensor) -> Tensor:
    return masks.double() @ WORTH


def both(masks: Tensor) -> Tensor:
    """4 where players 1 and 4 are in."""
    return 4.0 * (masks[..., 1] & masks[..., 4]).double()


def uneven(masks: Tensor) -> Tensor:
    """No two rows alike, and no player without the others."""
    row = torch.arange(masks.shape[1], dtype=torch.float64)
    return torch.sin(masks.double() @ WORTH.exp() * (1 + row / N)) * masks.any(dim=-1)


def sampled(game: Game, *, n: int = N, pairs: int = 4, sampling_share: float = 0.0) -> Shares:
    g = torch.Generator().manual_seed(0)
    return sampled_shares(game, n, S, min_pairs=2, max_pairs=pairs, sampling_share=sampling_share, generator=g)


@pytest.mark.parametrize("shares_of", [lambda game: exact_shares(game, N, S), sampled], ids=["exact", "sampled"])
def test_in_an_additive_game_each_player_gets_its_own_worth(shares_of) -> None:  # type: ignore[no-untyped-def]
    shares = shares_of(additive)
    torch.testing.assert_close(shares.values, WORTH)
    assert shares.errors.max() < 1e-9
    assert shares.total == pytest.approx(float(WORTH.sum()))


@pytest.mark.parametrize("shares_of", [lambda game: exact_shares(game, N, S), sampled], ids=["exact", "sampled"])
def test_two_that_count_only_together_get_half_each_and_the_others_nothing(shares_of) -> None:  # type: ignore[no-untyped-def]
    """Antithetic pairs have no error here: in an order and its reverse each of the two comes last once."""
    torch.testing.assert_close(shares_of(both).values, torch.tensor([0, 2, 0, 0, 2, 0], dtype=torch.float64))


@pytest.mark.parametrize("game", [additive, both, uneven])
def test_shares_add_up_to_the_value_of_all_in_every_row(game: Game) -> None:
    everyone = game(torch.ones((1, N, S), dtype=torch.bool))[0]
    for shares in (exact_shares(game, N, S), sampled(game)):
        torch.testing.assert_close(shares.of_rows.sum(dim=1), everyone, atol=1e-9, rtol=0)
        assert abs(float(shares.values.sum()) - shares.total) < 1e-9


def test_sampling_comes_to_the_exact_shares_within_its_error() -> None:
    exact, drawn = exact_shares(uneven, N, S), sampled(uneven, pairs=200)
    torch.testing.assert_close(drawn.of_rows, exact.of_rows, atol=0.25, rtol=0)
    assert ((drawn.values - exact.values).abs() < 0.5 * exact.errors).all()


def test_sampling_stops_where_the_rows_scatter_more() -> None:
    asked = 0

    def rows_differ(masks: Tensor) -> Tensor:
        nonlocal asked
        asked += len(masks)
        return masks.double() @ WORTH * torch.arange(masks.shape[1], dtype=torch.float64)

    sampled(rows_differ, pairs=50, sampling_share=0.1)
    assert asked == 2 * 2 * S  # two pairs of orders


def test_the_error_is_that_of_a_mean_over_rows() -> None:
    def coin(masks: Tensor) -> Tensor:
        sign = 1.0 - 2.0 * (torch.arange(masks.shape[1]) % 2).double()
        return masks[..., 0].double() * sign

    shares = exact_shares(coin, 100, 2)
    assert shares.values[0] == pytest.approx(0.0)
    assert shares.errors[0] == pytest.approx(0.1, rel=0.01)


def test_one_player_gets_all_and_one_row_cannot_tell_its_error() -> None:
    shares = exact_shares(lambda masks: 5.0 * masks[..., 0].double(), 1, 1)
    assert shares.values.tolist() == [5.0]
    assert shares.errors.isinf().all()


def test_memory_limits_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = exact_shares(uneven, N, S), sampled(uneven)
    monkeypatch.setattr(limits, "MASKS", 1)
    for one, two in zip(before, (exact_shares(uneven, N, S), sampled(uneven)), strict=True):
        torch.testing.assert_close(one.of_rows, two.of_rows)


@pytest.mark.parametrize("seed", range(5))
def test_shares_that_are_not_negative_keep_sum_and_order_and_come_nearer_to_the_truth(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    truth = torch.tensor([3.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0]).double()
    shares = Shares.of((truth + 0.5 * torch.randn(7, generator=g)).unsqueeze(0))
    projected = shares.non_negative()
    assert (projected >= 0).all()
    assert float(projected.sum()) == pytest.approx(shares.total)
    order = shares.values.argsort(descending=True)
    assert (projected[order].diff() <= 0).all()
    shifted = truth + (shares.total - truth.sum()) / 7  # of the same sum
    if (shifted >= 0).all():
        assert (projected - shifted).norm() <= (shares.values - shifted).norm() + 1e-12
    nothing = Shares.of(-torch.ones((1, 3)))
    assert (nothing.non_negative() == 0).all()
    same = Shares.of(torch.tensor([[0.5, 0.0, 2.0]]))
    torch.testing.assert_close(same.non_negative(), same.values)


def test_required_players_come_before_the_others_in_every_order() -> None:
    """Players 4 and 5 are required: they share the game among themselves, and the others divide what is left."""
    n_required = 2
    games = in_precedence(uneven, N, S, n_required)
    assert [players for _, players in games] == [4, 2]
    shares = torch.cat([exact_row_shares(game, N, players) for game, players in games], dim=1)
    everyone = torch.ones((1, N, S), dtype=torch.bool)
    torch.testing.assert_close(shares.sum(dim=1), uneven(everyone)[0], atol=1e-9, rtol=0)
    required_alone = everyone & (torch.arange(S) >= S - n_required)
    torch.testing.assert_close(shares[:, -n_required:].sum(dim=1), uneven(required_alone)[0], atol=1e-9, rtol=0)


def test_a_player_that_counts_only_with_a_required_one_gets_all_they_add() -> None:
    games = in_precedence(lambda masks: 4.0 * (masks[..., 1] & masks[..., 5]).double(), N, S, 1)
    shares = torch.cat([exact_row_shares(game, N, players) for game, players in games], dim=1)
    torch.testing.assert_close(shares.mean(dim=0), torch.tensor([0, 4, 0, 0, 0, 0], dtype=torch.float64))


def test_shares_that_are_not_negative_keep_what_the_required_players_are_worth() -> None:
    shares = Shares.of(torch.tensor([[0.4, -0.1, 0.2, -0.1, 0.6]]))
    projected = shares.non_negative(n_required=2)
    assert (projected >= 0).all()
    assert float(projected.sum()) == pytest.approx(1.0)
    assert float(projected[-2:].sum()) == pytest.approx(0.5)
    harmful = Shares.of(torch.tensor([[0.4, 0.2, -0.3]])).non_negative(n_required=1)
    torch.testing.assert_close(harmful, torch.tensor([0.25, 0.05, 0.0], dtype=torch.float64))
