from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Rows


def test_features_know_their_places_in_the_table() -> None:
    features = Features(np.array([1, 3]), ("a", "b", "c", "d"), np.array([False, True, False, True]))
    assert len(features) == 2
    assert features.places_of(torch.tensor([1])) == (3,)
    assert features.candidates.tolist() == [1, 3]
    assert Features.all_of(["a", "b"]).in_table.tolist() == [0, 1]


def test_required_features_are_numbered_behind_those_to_choose_from_and_not_counted() -> None:
    features = Features(np.array([1, 3, 0]), list("abcd"), np.array([True, True, False, True]), n_required=1)
    assert len(features) == 2
    assert (features.candidates.tolist(), features.required.tolist()) == ([1, 3], [0])
    assert features.places_of(torch.tensor([0, 2])) == (1, 0)
    assert features.to_choose_first(2).tolist() == [0, 1]
    assert features.to_choose_first(1) is None


@given(st.sets(st.integers(0, 50), min_size=1), st.data())
def test_places_in_a_pool_and_numbers_are_each_others_inverse(members: set[int], data: st.DataObject) -> None:
    pool = Pool(torch.tensor(sorted(members)))
    some = torch.tensor(data.draw(st.lists(st.sampled_from(sorted(members)), min_size=1)))
    assert torch.equal(pool.at(pool.places(some)), some)
    assert int(pool.places(some).max()) < len(pool)


def test_rows_of_a_pool_hold_its_features_alone() -> None:
    x = torch.arange(12.0).view(3, 4)
    rows = Rows(x, torch.zeros(3))
    assert torch.equal(Pool(torch.tensor([1, 3])).of(rows).all().dense(), x[:, [1, 3]])
    assert Pool(torch.arange(4)).of(rows) is rows  # nothing is copied
