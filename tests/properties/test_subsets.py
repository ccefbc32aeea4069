"""What holds of every subset, whatever d, s and the seed."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.subsets import complement, draw_subsets, nth_outside, perturb, to_mask, top_s

seeds = st.integers(0, 2**32 - 1)


@st.composite
def sizes(draw: st.DrawFn, largest: int = 600) -> tuple[int, int]:
    d = draw(st.integers(2, largest))
    return d, draw(st.integers(1, d - 1))


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(sizes(), seeds)
def test_a_drawn_subset_is_s_distinct_sorted_features(size: tuple[int, int], seed: int) -> None:
    d, s = size
    subsets = draw_subsets(7, d, s, generator=seeded(seed))
    assert subsets.shape == (7, s)
    assert (subsets[:, 1:] > subsets[:, :-1]).all()
    assert subsets.min() >= 0
    assert subsets.max() < d


@given(sizes(), seeds, st.integers(1, 8))
def test_a_perturbation_exchanges_exactly_s_p_features(size: tuple[int, int], seed: int, s_p: int) -> None:
    d, s = size
    g = seeded(seed)
    subset = draw_subsets(1, d, s, generator=g)[0]
    neighbours = perturb(subset, 9, d, s_p, generator=g)
    changed = to_mask(neighbours, d) != to_mask(subset, d)
    assert (to_mask(neighbours, d).sum(dim=1) == s).all()
    assert (changed.sum(dim=1) == 2 * min(s_p, s, d - s)).all()


@given(sizes(), seeds)
def test_complement_and_nth_outside_name_the_same_features(size: tuple[int, int], seed: int) -> None:
    d, s = size
    subset = draw_subsets(1, d, s, generator=seeded(seed))[0]
    outside = complement(subset.unsqueeze(0), d)[0]
    assert torch.equal(nth_outside(subset, torch.arange(d - s)), outside)
    assert torch.equal(torch.cat([subset, outside]).sort().values, torch.arange(d))


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=40), st.data())
def test_top_s_holds_no_feature_below_one_left_out(scores: list[int], data: st.DataObject) -> None:
    s = data.draw(st.integers(1, len(scores)))
    values = torch.tensor(scores, dtype=torch.float32)
    chosen = top_s(values, s)
    left_out = torch.ones(len(scores), dtype=torch.bool)
    left_out[chosen] = False
    assert len(chosen.unique()) == s
    if left_out.any():
        assert values[chosen].min() >= values[left_out].max()
