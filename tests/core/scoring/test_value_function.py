"""What subsets are worth, where it is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import DEFAULT
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask
from maskrank.core.scoring.masked_nets import draw_masks
from maskrank.core.scoring.scored_rows import cross_fitted_rows
from maskrank.core.scoring.shapley import Shares
from maskrank.core.scoring.value_function import ValueFunction, fit_value_function

CONFIG = DEFAULT


def table(n: int, s: int, seed: int = 0) -> Tensor:
    return torch.randn((n, s), generator=torch.Generator().manual_seed(seed))


def fitted(task, x: Tensor, y: Tensor, n_training: int | None = None, seed: int = 1) -> tuple[ValueFunction, Shares]:  # type: ignore[no-untyped-def]
    g = torch.Generator().manual_seed(seed)
    value = fit_value_function(task, x, y, n_training=n_training, config=CONFIG, generator=g)
    return value, value.shares(CONFIG.score, g)


def test_shares_of_a_linear_model_are_shares_of_the_variance() -> None:
    x = table(1500, 4)
    y = (x @ torch.tensor([2.0, 1.0, 1.0, 0.0])).unsqueeze(1) + table(1500, 1, seed=2)
    value, shares = fitted(RegressionTask(), x, y)
    expected = torch.tensor([4, 1, 1, 0]) / 7.0  # the noise keeps the rest
    assert (shares.values - expected).abs().max() < 0.05
    assert value.baseline == pytest.approx(1.0)
    assert shares.total == pytest.approx(float(value(torch.ones((1, value.n_rows, 4), dtype=torch.bool)).mean()))


def test_both_factors_of_a_product_get_half() -> None:
    x = table(1500, 3)
    y = (x[:, 0] * x[:, 1]).unsqueeze(1)
    _, shares = fitted(RegressionTask(), x, y)
    assert shares.total > 0.8
    assert abs(shares.values[0] - shares.values[1]) < 0.1 * shares.total
    assert abs(shares.values[2]) < 0.03 * shares.total


def test_what_tells_the_class_is_worth_its_entropy_and_noise_nothing() -> None:
    x = table(1000, 3)
    y = (x[:, 1] > 0).long()
    value, shares = fitted(BinaryTask(), x, y)
    assert value.baseline == pytest.approx(math.log(2), abs=0.01)
    assert 0.8 * math.log(2) < shares.values[1] < math.log(2)
    assert shares.values[[0, 2]].abs().max() < 0.05 * shares.values[1]


def test_shares_of_a_target_that_nothing_tells_are_0_within_their_errors() -> None:
    z = []
    for seed in range(6):
        x, y = table(300, 6, seed), torch.randint(3, (300,), generator=torch.Generator().manual_seed(100 + seed))
        _, shares = fitted(MulticlassTask(3), x, y, seed=seed)
        z.append(shares.values / shares.errors.clamp(min=1e-12))
        assert abs(shares.total) < 0.03
    assert torch.cat(z).abs().gt(2).double().mean() <= 0.12


def test_no_features_are_worth_nothing_and_subsets_are_rows_own() -> None:
    x = table(100, 3)
    value, _ = fitted(BinaryTask(), x, (x[:, 0] > 0).long())
    masks = draw_masks((5, value.n_rows), 3, torch.Generator().manual_seed(0))
    masks[0] = False
    values = value(masks)
    assert (values[0] == 0).all()
    each = torch.stack([value(masks[k : k + 1])[0] for k in range(5)])
    torch.testing.assert_close(values, each)


def test_without_leave_to_learn_from_them_the_last_rows_judge() -> None:
    x = table(300, 2)
    y = (x[:, 0] > 0).long()
    y[200:] = 1 - y[200:]  # the opposite of what was learned
    value, shares = fitted(BinaryTask(), x, y, n_training=200)
    assert value.n_rows == 100
    assert shares.total <= 0


@pytest.mark.parametrize("n", [2, 3, 7, 30])
def test_few_rows_have_finite_shares(n: int) -> None:
    x = table(n, 9)
    for task, y in ((RegressionTask(), x[:, :1]), (BinaryTask(), torch.arange(n) % 2)):
        value, shares = fitted(task, x, y)
        assert shares.values.isfinite().all()
        assert value.n_rows <= n


def test_a_constant_feature_and_a_constant_target_are_worth_nothing() -> None:
    x = table(60, 3)
    x[:, 2] = 0.0
    _, shares = fitted(RegressionTask(), x, torch.zeros((60, 1)))
    assert shares.values.isfinite().all()
    _, shares = fitted(RegressionTask(), x, x[:, :1])
    assert abs(shares.values[2]) < 0.01  # not quite 0: nets on more features are shrunk by another factor


def test_every_row_is_held_out_once_and_never_by_a_net_that_learned_from_it() -> None:
    y = torch.arange(53) % 2
    rows = cross_fitted_rows(y, n_folds=5, max_held_out=1000, generator=torch.Generator().manual_seed(0))
    held = rows.held_out.flatten()
    assert len(held) == len(held.unique()) == 50
    for learned, held_out in zip(rows.learned, rows.held_out, strict=True):
        assert not torch.isin(held_out, learned).any()
        assert len(learned.unique()) == 43


def test_masks_are_of_every_size() -> None:
    sizes = draw_masks((30_000,), 4, torch.Generator().manual_seed(0)).sum(dim=1)
    expected = torch.tensor([1, 2, 3, 4, 5]).double() / 15  # proportional to k + 1
    torch.testing.assert_close(torch.bincount(sizes).double() / 30_000, expected, atol=0.01, rtol=0)


def test_masks_of_an_order_are_its_first_features_all_sizes_alike() -> None:
    order = torch.tensor([2, 0, 3, 1])
    masks = draw_masks((30_000,), 4, torch.Generator().manual_seed(0), order)
    assert (masks[:, order].long().diff(dim=1) <= 0).all()
    expected = torch.full((5,), 0.2).double()
    torch.testing.assert_close(torch.bincount(masks.sum(dim=1)).double() / 30_000, expected, atol=0.01, rtol=0)


def test_memory_limits_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = table(80, 4)
    value, before = fitted(RegressionTask(), x, x[:, :1])
    monkeypatch.setattr(limits, "VALUED", 1)
    after = value.shares(CONFIG.score, torch.Generator().manual_seed(0))
    torch.testing.assert_close(after.of_rows, before.of_rows, atol=1e-5, rtol=0)
