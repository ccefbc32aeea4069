from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.config.predictor import Recipe
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.features import FeatureWorth
from maskrank.core.predictor.recipes import connectivity, usable_recipes


def test_encoded_recipes_are_used_where_there_is_an_encoding() -> None:
    for encoded in (True, False):
        recipes = usable_recipes(DEFAULT.predictor, varied=True, encoded=encoded)
        assert any(recipe.encoded for recipe in recipes) == encoded


def test_plain_recipes_have_no_noise_and_no_encoding_and_are_repeated_where_there_are_too_few() -> None:
    config = DEFAULT.using(predictor__n_recipes=20).predictor
    recipes = usable_recipes(config, varied=False, encoded=True)
    assert all(recipe.input_noise == 0 and not (recipe.encoded or recipe.additive) for recipe in recipes)
    assert len(recipes) == 20


def test_a_net_sees_the_first_features_of_the_ranking_and_their_encoding() -> None:
    scores = torch.tensor([0.1, 0.9, 0.5])

    def seen(recipe: Recipe, n_bins: int, n_useful: int | None = None) -> list[float]:
        worth = FeatureWorth.of(scores, n_useful)
        first, second = connectivity(worth, recipe, Blocks.single(3), n_bins, (6, 4))
        assert first.eq(first[:, :1]).all()  # by every unit
        assert second.shape == (6, 4)
        assert second.all()
        return first[:, 0].tolist()

    assert seen(Recipe(decay=0.1, share=0.6), 2) == [0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert seen(Recipe(decay=0.1, share=0.4, encoded=True), 2) == [0, 1, 0, 0, 0, 1, 1, 0, 0]
    assert seen(Recipe(decay=0.1, share=0.01), 0) == [0, 1, 0]
    assert seen(Recipe(decay=0.1), 0, n_useful=2) == [0, 1, 1]
    assert seen(Recipe(decay=0.1, share=0.6), 0, n_useful=2) == [0, 1, 0]


@pytest.mark.parametrize("s", [1, 3, 5])
def test_in_an_additive_net_no_path_leads_from_two_features_to_one_unit(s: int) -> None:
    worth, recipe = FeatureWorth.of(torch.ones(s)), Recipe(decay=0.1, encoded=True, additive=True)
    layers = connectivity(worth, recipe, Blocks.single(s), 2, (6, 7, 6))
    reached = layers[0]
    for layer in layers[1:]:
        reached = reached @ layer
    by_feature = torch.stack([reached[j] + reached[s + 2 * j : s + 2 * j + 2].sum(dim=0) for j in range(s)]) > 0
    assert by_feature.sum(dim=0).max() == 1
    assert by_feature.any(dim=1).all()


def test_a_net_sees_all_columns_of_a_feature_or_none_and_the_bins_of_its_numbers() -> None:
    blocks = Blocks.of_widths([2, 1, 2], [False, False, True, True, False])
    worth = FeatureWorth.of(torch.tensor([0.9, 0.1, 0.5]))
    first, _ = connectivity(worth, Recipe(decay=0.1, share=0.6, encoded=True), blocks, 2, (6, 4))
    assert first[:, 0].tolist() == [1, 1, 0, 1, 1, 0, 0, 1, 1]
    additive, second = connectivity(worth, Recipe(decay=0.1, additive=True, encoded=True), blocks, 2, (6, 6))
    assert torch.equal(additive[0], additive[1])  # two levels of a category lead to the same units
    reached = (additive @ second > 0).float()
    of_features = torch.zeros((3, 6)).index_add_(0, blocks.of_inputs(2), reached) > 0
    assert of_features.sum(dim=0).tolist() == [1] * 6


def test_required_features_are_useful_whatever_they_score() -> None:
    worth = FeatureWorth.of(torch.tensor([0.5, 0.9, 0.3, -0.1]), n_useful=1, n_required=1)
    assert worth.useful.tolist() == [False, True, False, True]
    first, _ = connectivity(worth, Recipe(decay=0.1), Blocks.single(4), 0, (6, 4))
    assert first[:, 0].tolist() == [0, 1, 0, 1]
