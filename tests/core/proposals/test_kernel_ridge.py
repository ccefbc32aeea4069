from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.kernel_ridge import (
    Inputs,
    best_inverse_width,
    eliminate_by_kernel,
    errors_without,
    exchange,
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


def test_errors_without_a_feature_are_those_of_a_mask_that_is_0_there(generator: torch.Generator) -> None:
    x = torch.randn((12, 9), generator=generator, dtype=torch.float64)
    target = torch.randn((12, 2), generator=generator, dtype=torch.float64)
    masks = 1 - torch.eye(9, dtype=torch.float64)
    expected = torch.stack([fitted_without(x, target, mask) for mask in masks])
    torch.testing.assert_close(errors_without(Inputs.single(x), target, ridge=RIDGE), expected)


def test_kernels_at_once_are_a_matter_of_memory_alone(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, target = table(generator, d=9)
    together = errors_without(Inputs.single(x), target, ridge=RIDGE)
    monkeypatch.setattr(limits, "KERNELS", 2)
    torch.testing.assert_close(errors_without(Inputs.single(x), target, ridge=RIDGE), together)


def test_the_width_of_the_lowest_error_is_found_within_the_bounds(generator: torch.Generator) -> None:
    x, target = table(generator)
    distances = squared_distances(x) / (2 * x.shape[1])

    def error(inverse_width: float) -> float:
        return float(leave_one_out_error(distances * inverse_width, target, ridge=RIDGE))

    best = best_inverse_width(Inputs.single(x), target, 1.0, CONFIG)
    assert error(best) <= min(error(best / 2), error(best * 2))
    narrow = EliminationConfig(kernel_widths=(1.0, 1.0))
    assert best_inverse_width(Inputs.single(x), target, 1.0, narrow) == 1.0


def test_features_are_eliminated_by_slope_and_the_last_ones_by_exact_deletion(generator: torch.Generator) -> None:
    x, target = table(generator, d=30)
    config = EliminationConfig(exact_from=10, exchange_rounds=0)
    surviving, eliminated, width = torch.arange(30), [], 1.0
    while len(surviving) > 10:
        width = best_inverse_width(Inputs.single(x[:, surviving]), target, width, config)
        importance = leave_one_out_importance(Inputs.single(x[:, surviving]), target, width, ridge=RIDGE)
        goes = importance.argsort()[: min(max(1, len(surviving) // 10), len(surviving) - 10)]
        eliminated += surviving[goes].tolist()
        surviving = surviving[~torch.isin(surviving, surviving[goes])]
    last = surviving.tolist()
    while len(last) > 2:
        width = best_inverse_width(Inputs.single(x[:, last]), target, width, config)
        eliminated.append(last.pop(int(errors_without(Inputs.single(x[:, last]), target, width, ridge=RIDGE).argmin())))
    order = eliminate_by_kernel(Inputs.single(x), target, 2, exact=True, config=config)
    assert order.tolist() == [*last, *reversed(eliminated)]
    assert last == [3, 7]


def start(surviving: list[int], first: list[int]) -> tuple[Tensor, Tensor]:
    """A subset of twelve features, and the others in the order in which they may return."""
    others = [j for j in range(12) if j not in [*surviving, *first]]
    return torch.tensor(surviving), torch.tensor([*first, *others])


def test_exchanges_bring_back_what_was_eliminated_wrongly(generator: torch.Generator) -> None:
    x, _ = table(generator, d=12)
    target = x[:, [3]] + x[:, [7]]
    surviving, eliminated = exchange(Inputs.single(x), target, *start([8, 9], [0, 1]), 1.0, CONFIG)
    assert surviving.tolist() == [3, 7]
    assert set(eliminated[:2].tolist()) == {8, 9}
    assert sorted([*surviving.tolist(), *eliminated.tolist()]) == list(range(12))


def test_the_least_needed_are_exchanged_for_those_eliminated_last(generator: torch.Generator) -> None:
    x, target = table(generator, d=12)
    surviving, _ = exchange(Inputs.single(x), target, *start([0, 3], [7]), 1.0, EliminationConfig(n_leaving=1))
    assert surviving.tolist() == [3, 7]
    few = EliminationConfig(n_leaving=1, n_entering=2)
    surviving, _ = exchange(Inputs.single(x), target, *start([0, 3], [1, 2, 7]), 1.0, few)
    assert 7 not in surviving.tolist()


def test_an_exchange_that_saves_little_is_not_made(generator: torch.Generator) -> None:
    x, target = table(generator, d=12)
    before = start([3, 5], [7])
    surviving, eliminated = exchange(Inputs.single(x), target, *before, 1.0, EliminationConfig(min_gain=0.99))
    assert torch.equal(surviving, before[0])
    assert torch.equal(eliminated, before[1])
    surviving, _ = exchange(
        Inputs.single(x), 0 * target, *before, 1.0, EliminationConfig(min_gain=0.0)
    )  # no error to save
    assert torch.equal(surviving, before[0])


def test_survivors_of_exact_deletions_are_exchanged_where_the_subset_is_not_large() -> None:
    """Of a product neither factor is needed without the other, so that deletions may go astray."""
    generator = torch.Generator().manual_seed(25)
    x = torch.randn((40, 12), generator=generator, dtype=torch.float64)
    target = x[:, [3]] * x[:, [7]] + 0.5 * x[:, [1]]
    target = (target - target.mean()) / target.std()

    def survivors(exact: bool, **changes: int) -> list[int]:
        return eliminate_by_kernel(Inputs.single(x), target, 3, exact=exact, config=EliminationConfig(**changes))[
            :3
        ].tolist()

    assert survivors(True) == [1, 3, 7]
    assert survivors(True, max_exchange_size=3) == [1, 3, 7]
    assert survivors(True, max_exchange_size=2) == survivors(True, exchange_rounds=0) == [0, 3, 7]
    assert survivors(False) == [0, 3, 7]


def test_without_exact_deletions_the_slope_goes_to_the_end(generator: torch.Generator) -> None:
    x, target = table(generator)
    by_slope = eliminate_by_kernel(Inputs.single(x), target, 4, exact=False, config=CONFIG)
    assert set(by_slope[:4].tolist()) >= {3, 7}
    never_exact = EliminationConfig(exact_from=0, exchange_rounds=0)
    assert torch.equal(by_slope, eliminate_by_kernel(Inputs.single(x), target, 4, exact=True, config=never_exact))


def test_all_features_may_be_wanted(generator: torch.Generator) -> None:
    x, target = table(generator, d=8)
    assert eliminate_by_kernel(Inputs.single(x), target, 8, exact=True, config=CONFIG).tolist() == list(range(8))


def test_one_mask_bit_switches_the_columns_of_a_feature(generator: torch.Generator) -> None:
    """Against the slopes and errors of single columns: squared distances are sums over columns."""
    x = torch.randn((14, 6), generator=generator, dtype=torch.float64)
    target = torch.randn((14, 1), generator=generator, dtype=torch.float64)
    inputs = Inputs(x, Blocks.of_widths([2, 1, 3]))
    slopes = leave_one_out_importance(Inputs.single(x), target, 2.0, ridge=RIDGE)
    expected = torch.stack([slopes[:2].sum(), slopes[2], slopes[3:].sum()])
    torch.testing.assert_close(leave_one_out_importance(inputs, target, 1.0, ridge=RIDGE), expected)
    without = leave_one_out_error(squared_distances(x[:, 2:]) / inputs.scale, target, ridge=RIDGE)
    torch.testing.assert_close(errors_without(inputs, target, ridge=RIDGE)[0], without)


@pytest.mark.parametrize("exact", [True, False])
def test_required_features_stay_in_the_kernel(generator: torch.Generator, exact: bool) -> None:
    """A product of a feature with a required one is seen, and a double of the required one is of no use."""
    x = torch.randn((80, 9), generator=generator, dtype=torch.float64)
    x[:, 0] = x[:, 8] + 0.1 * x[:, 0]
    target = x[:, [4]] * x[:, [8]] + x[:, [8]]
    inputs = Inputs(x, Blocks.of_widths([1, 2, 1, 2, 1, 2]), n_required=1)  # column 4 is of feature 3
    order = eliminate_by_kernel(inputs, target / target.std(), 1, exact=exact, config=CONFIG)
    assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
    assert order[0] == 3
