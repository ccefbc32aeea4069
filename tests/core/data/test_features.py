from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.features import Feature, Features, Pool
from maskrank.core.data.rows import Rows


def test_a_feature_knows_its_name_and_its_columns() -> None:
    features = Features(np.array([1, 3]), ("a", "b", "c", "d"), np.array([False, True, False, True]))
    assert list(features) == [Feature("b", (1,)), Feature("d", (3,))]
    assert len(features) == 2
    assert features.columns_of(torch.tensor([1])) == (3,)


def test_every_column_may_be_a_feature() -> None:
    assert list(Features.all_of(["a", "b"])) == [Feature("a", (0,)), Feature("b", (1,))]


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
