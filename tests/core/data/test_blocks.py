"""Features of several columns: which columns a subset of features switches on."""

import pytest
import torch

from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows


def rows_of(widths: list[int], n_required: int = 0) -> Rows:
    blocks = Blocks.of_widths(widths)
    x = torch.arange(4 * blocks.n_columns, dtype=torch.float32).view(4, -1)
    return Rows(x, torch.zeros(4), blocks, n_required)


@pytest.mark.parametrize("widths", [[1, 3, 2], [2, 1, 1, 4], [5], [1, 1, 1]])
def test_every_column_belongs_to_the_feature_whose_columns_name_it(widths):
    blocks = Blocks.of_widths(widths)
    for feature in range(len(widths)):
        columns = blocks.columns_of(torch.tensor([feature]))
        assert len(columns) == widths[feature]
        assert blocks.feature_of[columns].eq(feature).all()
    assert blocks.columns_of(torch.arange(len(widths))).tolist() == list(range(sum(widths)))


def test_features_of_one_column_are_their_columns():
    subsets = torch.tensor([[0, 2], [1, 2]])
    assert Blocks.single(3).expand(subsets) is subsets
    assert Blocks.of_widths([1, 1, 1]).is_single


def test_values_of_a_subset_are_those_of_its_columns_and_zeros_behind_them():
    rows = rows_of([1, 3, 2])
    values = rows.all().columns(torch.tensor([[0, 1], [0, 2]]))  # (2, 4, 4)
    dense = rows.all().dense()
    assert torch.equal(values[0], dense[:, [0, 1, 2, 3]])
    assert torch.equal(values[1, :, :3], dense[:, [0, 4, 5]])
    assert values[1, :, 3].eq(0).all()


def test_some_features_keep_their_columns_and_the_required_ones_stay_behind_them():
    rows = rows_of([1, 3, 2, 2], n_required=1)
    assert rows.n_features == 3
    some = rows.only(torch.tensor([1, 2]))
    assert (some.n_features, some.blocks.widths.tolist()) == (2, [3, 2, 2])
    subsets = some.all().with_required(torch.tensor([[0], [1]]))
    assert subsets.tolist() == [[0, 2], [1, 2]]
    assert torch.equal(some.all().columns(subsets)[0], rows.all().dense()[:, [1, 2, 3, 6, 7]])


@pytest.mark.parametrize("widths", [[1, 3, 2, 30, 40, 1], [1, 1, 1, 500], [2, 2, 2]])
def test_subsets_of_similar_width_are_padded_at_most_to_twice_their_own(widths):
    blocks = Blocks.of_widths(widths)
    subsets = torch.combinations(torch.arange(len(widths)), 2)
    parts = blocks.of_similar_width(subsets)
    assert sorted(torch.cat(parts).tolist()) == list(range(len(subsets)))
    for part in parts:
        counts = blocks.column_counts(subsets[part])
        assert counts.max() <= 2 * counts.min()
        assert blocks.expand(subsets[part]).shape[1] == counts.max()


def test_inputs_are_all_columns_and_then_the_bins_of_those_that_hold_numbers():
    blocks = Blocks.of_widths([2, 1, 1], [True, False, False, True])
    assert blocks.of_inputs(2).tolist() == [0, 0, 1, 2, 0, 0, 2, 2]
    assert blocks.n_numeric == 2


def test_a_chosen_subset_comes_with_the_required_features_behind_it():
    rows = rows_of([1, 3, 2, 2], n_required=1)
    x, blocks = rows.chosen(torch.tensor([1]))
    assert torch.equal(x, rows.all().dense()[:, [1, 2, 3, 6, 7]])
    assert blocks.widths.tolist() == [3, 2]
    assert rows.active_columns(2) == 6  # twice the mean of 1, 3 and 2, and the required ones
