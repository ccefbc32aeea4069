from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.grouping import count_groups, deal_folds, deal_groups


@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=30),
    n_folds=st.integers(2, 5),
    seed=st.integers(0, 100),
)
def test_groups_stay_whole_and_every_fold_has_one(sizes: list[int], n_folds: int, seed: int) -> None:
    groups = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    generator = torch.Generator().manual_seed(seed)
    n_folds = min(n_folds, count_groups(groups))
    fold = deal_folds(groups, torch.randn(len(groups), generator=generator), n_folds, generator=generator)
    assert all(len(torch.unique(fold[groups == group])) == 1 for group in range(len(sizes)))
    assert sorted(torch.unique(fold).tolist()) == list(range(n_folds))


def test_folds_have_the_same_size_and_classes_as_far_as_groups_allow(generator: torch.Generator) -> None:
    groups = torch.arange(100).repeat_interleave(5)
    y = (groups % 4 == 0).long()  # one class of a quarter of the groups
    fold = deal_folds(groups, y, 5, generator=generator)
    assert torch.bincount(fold).tolist() == [100] * 5
    assert torch.bincount(fold[y == 1]).tolist() == [25] * 5
    numbers = groups.float()
    fold = deal_folds(groups, numbers, 5, generator=generator)
    means = torch.stack([numbers[fold == f].mean() for f in range(5)])
    assert float(means.std()) < 4  # of values up to 99


def test_parts_may_have_shares_of_their_own_and_are_drawn_at_random() -> None:
    groups, strata = np.repeat(np.arange(60), 3), np.zeros(180)
    parts = [
        deal_groups(groups, strata, [0.7, 0.3], generator=torch.Generator().manual_seed(seed)) for seed in range(3)
    ]
    assert all(np.bincount(part).tolist() == [126, 54] for part in parts)
    assert not np.array_equal(parts[0], parts[1])
