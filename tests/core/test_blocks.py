"""Whole fits of features of several columns, and with required features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from maskrank.core.config import DEFAULT, PAPER, TrainConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.features import Features
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import OwnNet
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.pipeline import DualNetResult, fit_dual_net
from maskrank.core.sizing import choose_size

NETS = DEFAULT.using(proposal__enabled=False)  # what the nets find by themselves
QUICK = NETS.using(max_batches=48, phase1_batches=16, predictor__cycles=(40,), calibration__n_subsets=32)
SHORT_PAPER = PAPER.using(max_batches=40, phase1_batches=16)


def indicators(level: Tensor, k: int) -> Tensor:
    """Standardised indicators of k levels."""
    columns = torch.eye(k)[level]
    return (columns - columns.mean(dim=0)) / columns.std(dim=0)


def categories(n: int, d: int) -> Tensor:
    """The levels of d categories of three levels."""
    return torch.randint(3, (n, d), generator=torch.Generator().manual_seed(0))


def fit(
    x: Tensor,
    y: Tensor,
    blocks: Blocks | None,
    *,
    size: int,
    config: TrainConfig,
    n_required: int = 0,
    net: OwnNet | None = None,
) -> DualNetResult:
    cut = 4 * len(y) // 5
    parts = [Rows(x[part], y[part], blocks, n_required) for part in (slice(cut), slice(cut, None))]
    names = [f"c{j}" for j in range(len(parts[0].blocks))]
    features = Features(np.arange(len(names)), names, np.ones(len(names), dtype=bool), n_required)
    return fit_dual_net(
        BinaryTask(),
        *parts,
        features=features,
        size=size,
        config=config,
        generator=torch.Generator().manual_seed(0),
        net=net,
        learn_all=True,
    )


def test_two_categories_that_matter_only_together_are_found_and_predicted_from() -> None:
    level = categories(640, 12)
    y = ((level[:, 2] + level[:, 7]) % 3 == 0).long()
    x = torch.cat([indicators(level[:, j], 3) for j in range(12)], dim=1)
    result = fit(x, y, Blocks.of_widths([3] * 12, [False] * 36), size=2, config=NETS)
    assert set(result.ranking.selected) == {"c2", "c7"}
    assert result.ranking.scores[2] == pytest.approx(result.ranking.scores[7], rel=0.2)
    assert result.ranking.explained > 0.8 * result.ranking.baseline
    right = (result.held_out[:, 0] > 0) == y[512:].bool()
    assert right.float().mean() > 0.95
    chosen = torch.cat([x[:, 6:9], x[:, 21:24]], dim=1)  # what the predictor takes
    assert ((result.predictor(chosen)[:, 0] > 0) == y.bool()).float().mean() > 0.95


@pytest.mark.parametrize("config", [QUICK, SHORT_PAPER], ids=["default", "paper"])
def test_features_of_one_column_give_the_same_bits_with_and_without_blocks(config: TrainConfig) -> None:
    x = torch.randn((200, 9), generator=torch.Generator().manual_seed(1))
    y = (x[:, 3] > 0).long()
    one, two = (fit(x, y, blocks, size=3, config=config) for blocks in (None, Blocks.of_widths([1] * 9)))
    assert np.array_equal(one.ranking.raw_scores, two.ranking.raw_scores)
    assert np.array_equal(one.ranking.scores, two.ranking.scores)
    assert torch.equal(one.held_out, two.held_out)
    assert one.ranking.required is None


def required_table() -> tuple[Tensor, Tensor]:
    """Features 0..7 to choose from, of which 0 is a copy of the required 8, and 5 is what it lacks."""
    g = torch.Generator().manual_seed(2)
    x = torch.randn((600, 9), generator=g)
    x[:, 0] = x[:, 8]
    return x, (x[:, 8] + x[:, 5] + 0.5 * torch.randn(600, generator=g) > 0).long()


def test_what_a_required_feature_tells_already_is_not_chosen() -> None:
    x, y = required_table()
    blocks = Blocks.of_widths([1] * 9)
    ranking = fit(x, y, blocks, size=1, config=NETS, n_required=1).ranking
    assert ranking.selected == ("c5",)
    assert ranking.ranks[[8, 5, 0]].tolist() == [0, 1, 2]
    assert ranking.support.sum() == 2
    assert ranking.scores[[5, 8]].sum() == pytest.approx(ranking.explained, abs=1e-9)
    assert ranking.explained_by_required == pytest.approx(ranking.scores[8])
    assert 0.1 < ranking.explained_by_required < ranking.explained


def test_a_required_feature_of_several_columns_is_in_every_net_and_counted_nowhere() -> None:
    level = categories(640, 1)
    numbers = torch.randn((640, 5), generator=torch.Generator().manual_seed(3))
    y = ((level[:, 0] == 1) ^ (numbers[:, 2] > 0)).long()
    x = torch.cat([numbers, indicators(level[:, 0], 3)], dim=1)
    blocks = Blocks.of_widths([1] * 5 + [3], [True] * 5 + [False] * 3)
    result = fit(x, y, blocks, size=1, config=NETS.using(predictor__cycles=(200,)), n_required=1)
    assert result.ranking.selected == ("c2",)
    assert result.curve.sizes.tolist() == [1]
    assert result.curve.values[0] == pytest.approx(result.ranking.explained, abs=0.1)
    assert ((result.predictor(x[:, [2, 5, 6, 7]])[:, 0] > 0) == y.bool()).float().mean() > 0.9
    assert result.history.optimal[-1][1] == (2,)


def test_the_number_of_features_is_chosen_beside_the_required_ones() -> None:
    x, y = required_table()
    x[:, 0] = torch.randn(600, generator=torch.Generator().manual_seed(3))  # no copy
    parts = [Rows(x[part], y[part], n_required=1) for part in (slice(480), slice(480, None))]
    features = Features(np.arange(9), [f"c{j}" for j in range(9)], np.ones(9, dtype=bool), n_required=1)
    curve = choose_size(
        BinaryTask(),
        *parts,
        features=features,
        bound=7,
        config=NETS,
        generator=torch.Generator().manual_seed(0),
        learn_all=True,
    )
    assert curve.enough == 1
    assert curve.sizes.tolist() == list(range(1, 8))


def test_preset_paper_gives_a_required_feature_the_largest_score() -> None:
    x, y = required_table()
    ranking = fit(x, y, None, size=2, config=SHORT_PAPER, n_required=1).ranking
    assert ranking.scores.argmax() in (8, *np.flatnonzero(ranking.ranks == 1))
    assert ranking.scores[8] == ranking.scores.max()
    assert ranking.explained_by_required is None


class Own(torch.nn.Module):
    def __init__(self, width: int, n_outputs: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2 * width, 16), torch.nn.ReLU(), torch.nn.Linear(16, n_outputs)
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.layers(torch.cat([x, mask], dim=1))


def test_a_net_of_the_users_own_takes_features_of_several_columns() -> None:
    level = categories(200, 4)
    y = (level[:, 1] == 0).long()
    x = torch.cat([indicators(level[:, j], 3) for j in range(4)], dim=1)
    blocks = Blocks.of_widths([3] * 4, [False] * 12)
    net = OwnNet(Own, torch.arange(12), 12)
    result = fit(x, y, blocks, size=1, config=QUICK.using(max_batches=200), n_required=1, net=net)
    assert result.ranking.selected == ("c1",)
    assert ((result.predictor(x[:, [3, 4, 5, 9, 10, 11]])[:, 0] > 0) == y.bool()).float().mean() > 0.9
