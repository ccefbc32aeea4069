from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.kernel_ridge import (
    Inputs,
    eliminate_by_kernel,
    leave_one_out_error,
    leave_one_out_importance,
    squared_distances,
)

CONFIG = EliminationConfig()
RIDGE = CONFIG.kernel_ridge


def table(generator: torch.Generator, n: int = 60, d: int = 30) -> tuple[Tensor, Tensor]:
    """A target that two features, 3 and 7, tell together by their squares."""
    x = torch.randn((n, d), generator=generator, dtype=torch.float64)
    target = x[:, 3].square() + x[:, 7].square() + 0.1 * torch.randn(n, generator=generator, dtype=torch.float64)
    return x, ((target - target.mean()) / target.std()).unsqueeze(1)


def fitted_without(x: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """The leave-one-out error by as many fits as there are rows."""
    n, k = x.shape
    distances = (x.unsqueeze(0) - x.unsqueeze(1)).square() @ mask
    kernel = torch.exp(-distances / (2 * k)) + 1 / n
    errors = []
    for row in range(n):
        others = torch.arange(n) != row
        penalised = kernel[others][:, others] + RIDGE * torch.eye(n - 1, dtype=x.dtype)
        weights = torch.linalg.solve(penalised, target[others])
        errors.append(target[row] - kernel[row, others] @ weights)
    return torch.stack(errors).square().mean()


def test_importance_is_the_slope_of_the_leave_one_out_error(generator: torch.Generator) -> None:
    x = torch.randn((12, 4), generator=generator, dtype=torch.float64)
    target = torch.randn((12, 2), generator=generator, dtype=torch.float64)
    ones, small = torch.ones(4, dtype=torch.float64), 1e-5
    slopes = [
        (fitted_without(x, target, ones + small * unit) - fitted_without(x, target, ones - small * unit)) / (2 * small)
        for unit in torch.eye(4, dtype=torch.float64)
    ]
    importance = leave_one_out_importance(Inputs.single(x), target, ridge=RIDGE)
    torch.testing.assert_close(importance, -torch.stack(slopes), rtol=1e-4, atol=1e-8)


def test_rows_of_a_group_are_left_out_together(generator: torch.Generator) -> None:
    x, target = table(generator, n=30, d=8)
    groups = torch.arange(30) % 7
    exponent = squared_distances(x) / 8
    kernel, errors = torch.exp(-exponent) + 1 / 30, torch.zeros_like(target)
    for group in range(7):
        others = groups != group
        penalised = kernel[others][:, others] + RIDGE * torch.eye(int(others.sum()), dtype=x.dtype)
        weights = torch.linalg.solve(penalised, target[others])
        errors[~others] = target[~others] - kernel[~others][:, others] @ weights
    found = leave_one_out_error(exponent, target, ridge=RIDGE, groups=groups)
    torch.testing.assert_close(found, errors.square().mean())


def test_groups_of_one_row_are_rows(generator: torch.Generator) -> None:
    x, target = table(generator, n=30, d=8)
    exponent = squared_distances(x) / 8
    each = leave_one_out_error(exponent, target, ridge=RIDGE, groups=torch.arange(30))
    torch.testing.assert_close(each, leave_one_out_error(exponent, target, ridge=RIDGE))


def test_features_are_eliminated_a_share_at_a_time_by_slopes_of_explicit_fits(generator: torch.Generator) -> None:
    x, target = table(generator, n=20, d=12)
    surviving, eliminated, small = list(range(12)), [], 1e-4
    while len(surviving) > 2:
        some = x[:, surviving]
        ones = torch.ones(len(surviving), dtype=x.dtype)
        lost = [fitted_without(some, target, ones - small * unit) for unit in torch.eye(len(surviving), dtype=x.dtype)]
        goes = torch.stack(lost).argsort()[: max(1, len(surviving) // 5)].tolist()
        goes = goes[: len(surviving) - 2]
        eliminated += [surviving[place] for place in goes]
        surviving = [j for place, j in enumerate(surviving) if place not in goes]
    order = eliminate_by_kernel(Inputs.single(x), target, 2, exact=False, config=EliminationConfig(drop_share=0.2))
    assert order.tolist() == [*surviving, *reversed(eliminated)]


def test_features_with_curved_effects_survive(generator: torch.Generator) -> None:
    x, target = table(generator)
    assert eliminate_by_kernel(Inputs.single(x), target, 2, exact=True, config=CONFIG)[:2].tolist() == [3, 7]


def test_all_features_may_be_wanted(generator: torch.Generator) -> None:
    x, target = table(generator, d=8)
    assert eliminate_by_kernel(Inputs.single(x), target, 8, exact=True, config=CONFIG).tolist() == list(range(8))


def test_one_mask_bit_switches_the_columns_of_a_feature(generator: torch.Generator) -> None:
    """Against the slopes of single columns: squared distances are sums over columns."""
    x = torch.randn((14, 6), generator=generator, dtype=torch.float64)
    target = torch.randn((14, 1), generator=generator, dtype=torch.float64)
    inputs = Inputs(x, Blocks.of_widths([2, 1, 3]))
    slopes = leave_one_out_importance(Inputs.single(x * 2**0.5), target, ridge=RIDGE)  # divided by 6, not by 3
    expected = torch.stack([slopes[:2].sum(), slopes[2], slopes[3:].sum()])
    torch.testing.assert_close(leave_one_out_importance(inputs, target, ridge=RIDGE), expected)


def test_required_features_stay_in_the_kernel(generator: torch.Generator) -> None:
    """A product of a feature with a required one is seen."""
    x = torch.randn((80, 9), generator=generator, dtype=torch.float64)
    target = x[:, [4]] * x[:, [8]]
    inputs = Inputs(x, Blocks.of_widths([1, 2, 1, 2, 1, 2]), n_required=1)  # column 4 is of feature 3
    order = eliminate_by_kernel(inputs, target / target.std(), 1, exact=True, config=CONFIG)
    assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
    assert order[0] == 3
