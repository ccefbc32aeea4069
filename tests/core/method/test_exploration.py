from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.config import GuidedExplorationConfig
from maskrank.core.data.subsets import draw_subsets, perturb, to_mask
from maskrank.core.method.exploration import Exploration, GuidedExploration, UniformExploration

GROUPS = [(2, 7), (11,), (3,), (0, 5), (9,)]


def guided(d: int = 30, s: int = 4, seed: int = 0, **settings: float) -> GuidedExploration:
    return GuidedExploration(
        GROUPS, d, s, config=GuidedExplorationConfig(**settings), generator=torch.Generator().manual_seed(seed)
    )


@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 5))
def test_guided_draws_are_subsets(s: int, n: int, seed: int) -> None:
    subsets = guided(s=s, seed=seed).subsets(n)
    assert subsets.shape == (n, s)
    assert (subsets.diff(dim=1) > 0).all()
    assert subsets.numel() == 0 or 0 <= int(subsets.min()) <= int(subsets.max()) < 30


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 5))
def test_guided_neighbours_differ_in_as_many_features_as_asked(s: int, s_p: int, seed: int) -> None:
    explore = guided(s=s, seed=seed)
    (subset,) = draw_subsets(1, 30, s, generator=torch.Generator().manual_seed(seed))
    near = explore.neighbours(subset, 20, s_p)
    assert near.shape == (20, s)
    assert (near.diff(dim=1) > 0).all()
    shared = (to_mask(near, 30) * to_mask(subset, 30)).sum(dim=1)
    assert (shared == s - min(s_p, s)).all()


def test_the_two_of_a_pair_come_together() -> None:
    mask = to_mask(guided().subsets(2_000), 30).bool()
    together = (mask[:, 2] & mask[:, 7]).sum() / mask[:, 2].sum()
    assert together > 0.8


def test_what_is_most_promising_is_drawn_most_and_all_others_now_and_then() -> None:
    share = to_mask(guided().subsets(4_000), 30).mean(dim=0)
    assert share[2] > share[0] > 2 * share[20]
    unnamed = [j for j in range(30) if not any(j in group for group in GROUPS)]
    assert share[unnamed].min() > 0.25 * 4 / 30 / 2  # a quarter of the draws are uniform


def test_neighbours_take_in_what_is_promising_more_often() -> None:
    near = guided().neighbours(torch.tensor([20, 21, 22, 23]), 2_000, 1)
    entered = to_mask(near, 30).sum(dim=0)
    assert entered[2] > 3 * entered[25] > 0


def test_uniform_draws_are_the_papers() -> None:
    explore = UniformExploration(9, 3, torch.Generator().manual_seed(1))
    other = torch.Generator().manual_seed(1)
    assert torch.equal(explore.subsets(5), draw_subsets(5, 9, 3, generator=other))
    subset = torch.tensor([1, 4, 8])
    assert torch.equal(explore.neighbours(subset, 5, 2), perturb(subset, 5, 9, 2, generator=other))


@pytest.mark.parametrize("make", [guided, lambda: UniformExploration(30, 4, torch.Generator().manual_seed(0))])
def test_a_seed_fixes_the_draws(make: object) -> None:
    first, second = make(), make()  # type: ignore[operator]
    explorations: list[Exploration] = [first, second]
    one, two = (explore.subsets(50) for explore in explorations)
    assert torch.equal(one, two)


def test_all_draws_may_be_uniform_or_none() -> None:
    outside = to_mask(guided(uniform_share=1.0).subsets(2_000), 30).mean(dim=0)
    assert outside.max() < 2 * outside.min()
    proposed = to_mask(guided(uniform_share=0.0).subsets(200), 30).sum(dim=0)
    assert proposed[20] == 0  # the groups hold more than s features


def test_a_higher_power_favours_the_first_group() -> None:
    flat, steep = (to_mask(guided(power=power).subsets(2_000), 30).mean(dim=0)[2] for power in (0.0, 6.0))
    assert steep > flat
