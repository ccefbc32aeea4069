from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.config.predictor import Recipe
from maskrank.core.data.blocks import Blocks
from maskrank.core.predictor.recipes import connectivity, usable_recipes
from maskrank.core.scoring.measurement import useful_features


def test_encoded_recipes_are_used_where_there_is_an_encoding() -> None:
    for encoded in (True, False):
        recipes = usable_recipes(DEFAULT.predictor, varied=True, encoded=encoded)
        assert any(recipe.encoded for recipe in recipes) == encoded


def test_plain_recipes_have_no_noise_and_no_encoding_and_are_repeated_where_there_are_too_few() -> None:
    config = DEFAULT.using(predictor__n_recipes=20).predictor
    recipes = usable_recipes(config, varied=False, encoded=True)
    assert all(recipe.input_noise == 0 and not (recipe.encoded or recipe.additive) for recipe in recipes)
    assert len(recipes) == 20


def test_a_net_sees_the_useful_features_and_their_encoding() -> None:
    def seen(recipe: Recipe, n_bins: int, useful: list[bool]) -> list[float]:
        first, second = connectivity(torch.tensor(useful), recipe, Blocks.single(3), n_bins, (6, 4))
        assert first.eq(first[:, :1]).all()  # by every unit
        assert second.shape == (6, 4)
        assert second.all()
        return first[:, 0].tolist()

    assert seen(Recipe(decay=0.1), 2, [False, True, True]) == [0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert seen(Recipe(decay=0.1, encoded=True), 2, [False, True, False]) == [0, 1, 0, 0, 0, 1, 1, 0, 0]
    assert seen(Recipe(decay=0.1), 0, [True, True, True]) == [1, 1, 1]


@pytest.mark.parametrize("s", [1, 3, 5])
def test_in_an_additive_net_no_path_leads_from_two_features_to_one_unit(s: int) -> None:
    useful, recipe = torch.ones(s, dtype=torch.bool), Recipe(decay=0.1, encoded=True, additive=True)
    layers = connectivity(useful, recipe, Blocks.single(s), 2, (6, 7, 6))
    reached = layers[0]
    for layer in layers[1:]:
        reached = reached @ layer
    by_feature = torch.stack([reached[j] + reached[s + 2 * j : s + 2 * j + 2].sum(dim=0) for j in range(s)]) > 0
    assert by_feature.sum(dim=0).max() == 1
    assert by_feature.any(dim=1).all()


def test_a_net_sees_all_columns_of_a_feature_or_none_and_the_bins_of_its_numbers() -> None:
    blocks = Blocks.of_widths([2, 1, 2], [False, False, True, True, False])
    useful = torch.tensor([True, False, True])
    first, _ = connectivity(useful, Recipe(decay=0.1, encoded=True), blocks, 2, (6, 4))
    assert first[:, 0].tolist() == [1, 1, 0, 1, 1, 0, 0, 1, 1]
    everything = torch.ones(3, dtype=torch.bool)
    additive, second = connectivity(everything, Recipe(decay=0.1, additive=True, encoded=True), blocks, 2, (6, 6))
    assert torch.equal(additive[0], additive[1])  # two levels of a category lead to the same units
    reached = (additive @ second > 0).float()
    of_features = torch.zeros((3, 6)).index_add_(0, blocks.of_inputs(2), reached) > 0
    assert of_features.sum(dim=0).tolist() == [1] * 6


def test_required_features_are_useful_whatever_they_score() -> None:
    scores = torch.tensor([0.5, 0.9, 0.3, -0.1])
    assert useful_features(scores, 1, 1).tolist() == [False, True, False, True]
    assert useful_features(scores, 4).tolist() == [True] * 4
