from __future__ import annotations

import itertools

import pytest
import torch

from maskrank.core.data.subsets import draw_subsets, perturb, top_s


@pytest.mark.parametrize(("d", "s"), [(5, 2), (5, 3), (300, 2), (300, 298)])
def test_every_feature_is_drawn_equally_often(d: int, s: int, generator: torch.Generator) -> None:
    n = 20_000
    counts = draw_subsets(n, d, s, generator=generator).flatten().bincount(minlength=d).double()
    share = s / d
    deviation = (counts / n - share) / (share * (1 - share) / n) ** 0.5
    assert deviation.abs().max() < 4.5


def test_every_subset_is_drawn_equally_often(generator: torch.Generator) -> None:
    drawn = [tuple(row) for row in draw_subsets(10_000, 5, 2, generator=generator).tolist()]
    counts = torch.tensor([drawn.count(pair) for pair in itertools.combinations(range(5), 2)]).double()
    assert ((counts - 1_000) ** 2 / 1_000).sum() < 27.9  # chi-squared with 9 degrees of freedom, 0.1 %


def test_a_perturbation_never_returns_the_subset_itself(generator: torch.Generator) -> None:
    subset = torch.tensor([0, 2, 4, 6, 8])
    neighbours = perturb(subset, 2_000, 10, 2, generator=generator)
    assert (neighbours != subset).any(dim=1).all()
    assert neighbours.unique(dim=0).shape[0] == 10 * 10  # C(5,2) leaving times C(5,2) entering


def test_a_perturbation_of_none_is_empty(generator: torch.Generator) -> None:
    assert perturb(torch.tensor([1, 2]), 0, 5, 1, generator=generator).shape == (0, 2)


def test_ties_go_to_the_first_features() -> None:
    assert top_s(torch.zeros(6), 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("s", [0, 6, -1])
def test_impossible_sizes_are_refused(s: int, generator: torch.Generator) -> None:
    with pytest.raises(ValueError, match=r"size must lie in 1\.\.5"):
        draw_subsets(3, 5, s, generator=generator)


def test_the_global_random_state_is_not_touched(generator: torch.Generator) -> None:
    before = torch.random.get_rng_state()
    draw_subsets(10, 500, 3, generator=generator)
    assert torch.equal(before, torch.random.get_rng_state())
