from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from maskrank.core.config import ProposalConfig, ScreeningConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import MulticlassTask, RegressionTask, Task
from maskrank.core.proposals.proposal import features_of
from maskrank.core.proposals.screening import Screen, correlated_features, groups_wanted, screen, screen_residual
from maskrank.datasets import make_nonlinear_regression

CONFIG = ProposalConfig()


def screened(
    x: Tensor, y: Tensor, *, wanted: int = 12, seed: int = 0, config: ScreeningConfig = CONFIG.screening
) -> Screen:
    task: Task = RegressionTask() if y.is_floating_point() else MulticlassTask(int(y.max()) + 1)
    generator = torch.Generator().manual_seed(seed)
    return screen(task, Rows(x, y), wanted=wanted, config=ProposalConfig(screening=config), generator=generator)


def table(n: int, d: int, seed: int = 0) -> Tensor:
    return torch.randn((n, d), generator=torch.Generator().manual_seed(seed))


def test_a_pair_that_tells_nothing_alone_comes_first() -> None:
    x = table(500, 300)
    y = (x[:, 17] * x[:, 203] > 0).long()
    found = screened(x, y)
    assert found.groups[0] == (17, 203)
    assert next(iter(found.evidence)) == (17, 203)


def test_without_pairs_single_features_alone_are_screened() -> None:
    x = table(500, 60)
    y = (x[:, [17]] * x[:, [43]] + x[:, [5]]).sign()
    assert (17, 43) in screened(x, y).evidence
    without = screened(x, y, config=ScreeningConfig(pairs=False))
    assert all(len(group) == 1 for group in without.groups)
    assert next(iter(without.evidence)) == (5,)


def test_a_near_copy_of_a_steep_curve_has_no_evidence_beside_it() -> None:
    X, y, relevant = make_nonlinear_regression(512, random_state=[3, 110])
    x, noise = torch.from_numpy(X).float(), table(512, 1)[:, 0]
    x[:, 9] = 0.95 * x[:, 3] + (1 - 0.95**2) ** 0.5 * noise
    target = torch.from_numpy(y).float()
    assert set(screened(x, target).evidence) == {(j,) for j in relevant.tolist()}
    in_part = screened(x, target, config=ScreeningConfig(max_feature_share=0.0)).evidence
    assert any(9 in group for group in in_part)


def test_a_ring_is_seen_as_a_pair() -> None:
    x = torch.rand((700, 200), generator=torch.Generator().manual_seed(1))
    radius = (x[:, :2] - 0.5).norm(dim=1)
    assert screened(x, ((radius - 0.35).abs() <= 0.1151).long()).groups[0] == (0, 1)


def test_a_thin_ring_is_seen_by_the_joint_test_alone() -> None:
    X = np.random.default_rng(3).random((400, 400))
    y = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) < 0.04
    x, labels = torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y.astype(np.int64))
    assert (0, 1) in screened(x, labels, wanted=20).evidence
    assert (0, 1) not in screened(x, labels, wanted=20, config=ScreeningConfig(joint_pairs=False)).evidence


@pytest.mark.parametrize("kind", ["linear", "square", "classes"])
def test_a_single_feature_is_seen(kind: str) -> None:
    x = table(400, 150, seed=2)
    targets = {
        "linear": (x[:, 40] + table(400, 1, seed=3)[:, 0]).unsqueeze(1),
        "square": (x[:, 40].square() + table(400, 1, seed=3)[:, 0]).unsqueeze(1),
        "classes": torch.bucketize(x[:, 40].contiguous(), torch.tensor([-0.5, 0.5])),
    }
    assert screened(x, targets[kind]).groups[0] == (40,)


def test_a_feature_that_correlates_through_a_better_one_has_little_evidence() -> None:
    x = table(600, 60, seed=4)
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    y = (2 * x[:, 0] + x[:, 2] + table(600, 1, seed=5)[:, 0]).unsqueeze(1)
    evidence = screened(x, y).evidence
    assert (1,) in evidence  # by itself it is significant
    assert 10 * evidence[(1,)] < min(evidence[(0,)], evidence[(2,)])


def test_a_weak_effect_is_seen_once_the_strong_ones_are_projected_out() -> None:
    x = table(200, 2_000, seed=6)
    y = (x[:, :10].sum(dim=1) + math.sqrt(2.5) * table(200, 1, seed=7)[:, 0]).unsqueeze(1)
    alone = (x - x.mean(dim=0)).t() @ (y - y.mean())
    among_the_best_alone = set(alone.abs().squeeze(1).topk(12).indices.tolist()) & set(range(10))
    named = set(features_of(screened(x, y, wanted=12).groups[:24])) & set(range(10))
    assert len(named) >= 9 > len(among_the_best_alone)


def test_nothing_is_significant_where_there_is_nothing() -> None:
    found = [screened(table(200, 300, seed), torch.arange(200) % 2, seed=seed).evidence for seed in range(20)]
    assert sum(bool(evidence) for evidence in found) <= 4


def test_equal_values_do_not_carry_the_order_of_the_rows_into_the_screen() -> None:
    """A table sorted by its target, and features of two values: their ranks are ties."""
    y = (torch.arange(400) >= 200).long()
    x = torch.randint(2, (400, 40), generator=torch.Generator().manual_seed(8)).float()
    assert not screened(x, y).evidence


def test_a_target_that_one_feature_explains_wholly_ends_the_pursuit() -> None:
    x = table(50, 5, seed=9)
    assert screened(x, x[:, 3:4]).groups[0] == (3,)


def test_one_outlier_makes_no_pair() -> None:
    x = table(200, 100, seed=10)
    y = table(200, 1, seed=11)
    x[7, 3], x[7, 4], y[7] = 50.0, 50.0, 50.0
    assert (3, 4) not in screened(x, y).evidence


def test_a_screen_of_a_residual_adds_what_is_significant_there() -> None:
    x = table(400, 80, seed=12)
    residual = x[:, 5] * x[:, 6]
    before = Screen([(1,)], {(1,): 9.0}, [1])
    after = screen_residual(
        Rows(x, residual), torch.arange(400), residual.unsqueeze(1), before, wanted=6, config=CONFIG
    )
    assert list(after.evidence)[:2] == [(1,), (5, 6)]
    assert after.groups[:2] == [(1,), (5, 6)]
    assert after.evidence[(1,)] == 9.0
    assert after.linear_order == [1]


def test_correlated_features_are_those_that_the_significant_ones_predict() -> None:
    x = table(300, 50, seed=13)
    x[:, 20] = x[:, 0] - x[:, 1]
    rows, generator = Rows(x, x[:, :1]), torch.Generator().manual_seed(0)

    def found(significant: list[int], config: ScreeningConfig = CONFIG.screening) -> list[int]:
        return correlated_features(rows, significant, max_features=5, config=config, generator=generator)

    assert found([0, 1]) == [20]
    assert found([]) == []
    assert found([0, 1], ScreeningConfig(correlated_z=1e3)) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_column_that_is_constant_on_the_rows_that_are_drawn_is_passed_by(seed: int) -> None:
    """A rare indicator is constant on most draws of 2,048 rows; the pursuit must end."""
    x = table(3_000, 3, seed)
    x[:, 0] = 0.0
    x[7, 0] = 50.0
    groups = screened(x, torch.arange(3_000) % 2, wanted=18, seed=seed).groups
    assert {1, 2} <= set(features_of(groups))


def test_the_linear_elimination_order_is_by_what_features_are_worth_together() -> None:
    """A sum that a noisy stand-in for it explains best alone: beside its parts the stand-in is eliminated."""
    x = table(300, 30, seed=15)
    x[:, 9] = x[:, 0] + x[:, 1] + 0.7 * x[:, 9]
    y = (x[:, 0] + x[:, 1] + 0.1 * table(300, 1, seed=16)[:, 0]).unsqueeze(1)
    assert sorted(screened(x, y, wanted=6).linear_order[:2]) == [0, 1]


def test_one_of_many_outputs_is_enough() -> None:
    found = 0
    for seed in range(5):
        x, y = table(500, 200, seed), table(500, 20, seed + 50)
        y[:, 15] = x[:, 3]
        found += (3,) in screened(x, y, seed=seed).evidence
    assert found >= 4


def test_a_pair_with_a_known_feature_needs_less_to_be_significant() -> None:
    x = table(300, 400, seed=17)
    residual = 0.24 * x[:, 5] * x[:, 6] + table(300, 1, seed=18)[:, 0]
    rows, index = Rows(x, residual), torch.arange(300)
    unknown, known = Screen(), Screen([(5,)], {(5,): 9.0})
    found = [
        screen_residual(rows, index, residual.unsqueeze(1), before, wanted=6, config=CONFIG).evidence
        for before in (unknown, known)
    ]
    assert ((5, 6) in found[0], (5, 6) in found[1]) == (False, True)


def test_values_near_the_end_of_the_range_of_floats_are_screened() -> None:
    x = table(200, 20, seed=19)
    assert screened(1e25 * x, x[:, 4:5]).groups[0] == (4,)


def test_the_config_says_how_many_groups_are_wanted() -> None:
    assert groups_wanted(5, ScreeningConfig()) == 26
    assert groups_wanted(5, ScreeningConfig(groups_per_feature=3, extra_groups=1)) == 16
