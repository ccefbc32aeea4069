"""Which recipes the nets of an ensemble follow, and the connectivity of additive nets.

A sum of one-feature nets (a generalised additive model, Hastie and Tibshirani 1986; as nets, Agarwal et al. 2021) is an
MLP of the same shape with some weights held at zero. So are the weights on features that only made predictions worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from maskrank.core.config.predictor import PredictorConfig, Recipe
from maskrank.core.data.blocks import Blocks


def usable_recipes(config: PredictorConfig, *, varied: bool, encoded: bool) -> list[Recipe]:
    """The first ``config.n_recipes`` recipes that apply, from the start again where there are fewer.

    Parameters
    ----------
    varied : bool
        Whether enough held-out rows judge to tell all kinds of recipes apart; if not, fully connected nets without
        input noise are taken.
    encoded : bool
        Whether there is a piecewise-linear encoding to see.
    """
    usable = [
        recipe
        for recipe in config.recipes
        if (varied or not (recipe.input_noise or recipe.encoded or recipe.additive)) and (encoded or not recipe.encoded)
    ]
    return [usable[place % len(usable)] for place in range(config.n_recipes)]


def connectivity(useful: Tensor, recipe: Recipe, blocks: Blocks, n_bins: int, hidden: Sequence[int]) -> list[Tensor]:
    """Masks of zeros and ones on the weights of a net, for each layer but the last.

    In an additive net each hidden unit belongs to one feature; of more features than units, to a few.

    Parameters
    ----------
    useful : Tensor (s,) of bool
        Which features the net sees; the s features include required ones.
    blocks : Blocks
        Their columns.
    n_bins : int
        Of the encoding of each column of numbers; 0 where there is none.
    hidden : sequence of int

    Returns
    -------
    list of Tensor
        (columns and their bins, first of the hidden sizes), (first, second), ...
    """
    s, device = len(useful), useful.device
    feature = blocks.of_inputs(n_bins).to(device)  # (inputs,)
    is_bin = torch.arange(len(feature), device=device) >= blocks.n_columns
    seen = useful.float()[feature] * torch.where(is_bin, float(recipe.encoded), 1.0)
    owners = [feature % min(s, *hidden)]
    owners += [torch.arange(units, device=device) % min(s, *hidden) for units in hidden]
    masks = [
        (a.unsqueeze(1) == b).float() if recipe.additive else torch.ones(len(a), len(b)) for a, b in pairwise(owners)
    ]
    return [seen.unsqueeze(1) * masks[0].to(device), *(mask.to(device) for mask in masks[1:])]
