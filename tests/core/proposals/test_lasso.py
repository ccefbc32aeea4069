"""The lasso path against scikit-learn's, where it is known, and where a matching pursuit goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import lars_path
from torch import Tensor

from maskrank.core.config import ProposalConfig, ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import RegressionTask
from maskrank.core.proposals.lasso import first_of_lasso_path
from maskrank.core.proposals.screening import screen

CONFIG = ScreeningConfig(max_basis_share=1.0, lasso_factor=0.99, lasso_steps=400, lasso_tolerance=1e-5)


def unit_columns(k: int, n: int, seed: int) -> Tensor:
    columns = torch.randn((k, n), generator=torch.Generator().manual_seed(seed))
    columns = columns - columns.mean(dim=1, keepdim=True)
    return columns / columns.norm(dim=1, keepdim=True)


def first(columns: Tensor, target: Tensor, wanted: int, blocks: Blocks | None = None) -> list[int]:
    blocks = Blocks.single(len(columns)) if blocks is None else blocks
    return first_of_lasso_path(columns, target, wanted, blocks=blocks, config=CONFIG).tolist()


def test_of_orthogonal_columns_those_of_the_largest_products_enter_first() -> None:
    columns = torch.linalg.qr(torch.randn((50, 50), generator=torch.Generator().manual_seed(0)))[0]
    weights = torch.zeros(50)
    weights[[3, 8, 11, 40]] = torch.tensor([4.0, -3.0, 2.0, 1.0])
    target = (columns.t() @ weights).unsqueeze(1)
    assert first(columns, target, 3) == [3, 8, 11]
    assert first(columns, target, 50) == [3, 8, 11, 40]


@pytest.mark.parametrize("seed", range(4))
def test_the_first_features_are_those_of_the_exact_path(seed: int) -> None:
    columns = unit_columns(200, 80, seed)
    target = columns[:6].sum(dim=0) + 0.3 * unit_columns(1, 80, seed + 50)[0]
    _, _, weights = lars_path(columns.t().double().numpy(), target.double().numpy(), method="lasso")
    active = weights != 0  # (features, steps)
    exact = set(np.flatnonzero(active[:, active.sum(axis=0) >= 20][:, 0]))
    ours = set(first(columns, target.unsqueeze(1), 20))
    assert len(exact & ours) >= 19  # one step of the penalty may take several


def test_a_feature_enters_with_all_its_columns_and_all_outputs_weigh_together() -> None:
    columns = torch.linalg.qr(torch.randn((40, 40), generator=torch.Generator().manual_seed(1)))[0]
    blocks = Blocks.of_widths([1, 3, *[1] * 36])
    target = torch.stack([columns[1] + columns[2], columns[3] + 0.1 * columns[10]], dim=1)
    assert first(columns, target, 1, blocks) == [1]
    assert first(columns, target, 2, blocks) == [1, 8]


def test_copies_and_columns_of_nothing_end_the_path() -> None:
    columns = unit_columns(6, 60, 2)
    columns[1], columns[2] = columns[0], 0.0
    assert set(first(columns, columns[:1].t(), 6)) <= {0, 1}
    assert first(columns, torch.zeros((60, 1)), 6) == []


def test_the_path_ends_where_rows_are_too_few_for_more() -> None:
    columns = unit_columns(300, 40, 3)
    config = ScreeningConfig(max_basis_share=0.25)
    target = columns[:20].sum(dim=0).unsqueeze(1)
    assert len(first_of_lasso_path(columns, target, 40, blocks=Blocks.single(300), config=config)) <= 10


def test_weak_effects_that_mislead_a_pursuit_lead_the_linear_order() -> None:
    """Ten equal effects among 5,000 columns, four fifths of the variance together, in 150 rows."""

    def found(lasso_steps: int) -> float:
        config = ProposalConfig(screening=ScreeningConfig(lasso_steps=lasso_steps, pairs=False))
        shares = []
        for seed in range(6):
            rng = np.random.default_rng([7, seed])
            X = rng.standard_normal((150, 5_000))
            y = X[:, :10].sum(axis=1) + np.sqrt(2.5) * rng.standard_normal(150)
            rows = Rows(torch.tensor(X).float(), torch.tensor(y).float().unsqueeze(1))
            generator = torch.Generator().manual_seed(0)
            order = screen(RegressionTask(), rows, wanted=36, size=10, config=config, generator=generator).linear_order
            shares.append(sum(j < 10 for j in order[:10]) / 10)
        return float(np.mean(shares))

    assert found(0) < 0.85 < 0.9 < found(100)


def test_copies_do_not_change_the_order_of_the_others() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 40))
    y = X[:, :4] @ np.array([1.0, 0.8, 0.6, 0.4]) + 0.3 * rng.standard_normal(200)
    X[:, 20:24] = X[:, :4]
    rows = Rows(torch.tensor(X).float(), torch.tensor(y).float().unsqueeze(1))
    generator = torch.Generator().manual_seed(0)
    found = screen(RegressionTask(), rows, wanted=16, size=8, config=ProposalConfig(), generator=generator)
    assert list(dict.fromkeys(j % 20 for j in found.linear_order))[:4] == [0, 1, 2, 3]


def test_a_category_of_very_many_levels_leaves_room_for_numbers() -> None:
    g = torch.Generator().manual_seed(4)
    level = torch.randint(120, (400,), generator=g)
    x = torch.cat([torch.nn.functional.one_hot(level, 120).float(), torch.randn((400, 30), generator=g)], dim=1)
    y = torch.randn(120, generator=g)[level] + x[:, 121] + x[:, 122]
    blocks = Blocks.of_widths([120, *[1] * 30], [False] * 120 + [True] * 30)
    rows = Rows(x, y.unsqueeze(1), blocks)
    found = screen(RegressionTask(), rows, wanted=20, size=3, config=ProposalConfig(), generator=g).linear_order
    assert {2, 3} <= set(found[:4])
    assert len(found) > 3
