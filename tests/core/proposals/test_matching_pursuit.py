from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Rows
from maskrank.core.proposals.matching_pursuit import Dictionary, Residual
from maskrank.core.proposals.proposal import FeatureGroup
from maskrank.core.proposals.statistics import target_directions
from maskrank.core.proposals.univariate import univariate_evidence

CONFIG = ScreeningConfig()


def dictionary_of(
    x: torch.Tensor, y: torch.Tensor, config: ScreeningConfig = CONFIG, *, known: tuple[int, ...] = ()
) -> tuple[Dictionary, Residual]:
    batch, directions = Rows(x, y).all(), target_directions(y, config)
    univariate = univariate_evidence(batch, x.shape[1], directions, config)
    return Dictionary.promising(batch, univariate, directions, list(known), config), Residual.of(directions, config)


def test_what_is_projected_out_leaves_the_target_and_is_not_new_again(generator: torch.Generator) -> None:
    columns = torch.randn((60, 3), generator=generator)
    residual = Residual.of(torch.randn((60, 2), generator=generator), CONFIG)
    assert residual.project_out(columns).shape == (60, 3)
    assert (columns.t() @ residual.target).abs().max() < 1e-4
    assert residual.project_out(columns[:, :2] + 1e-3 * columns[:, 1:]).shape[1] == 0
    torch.testing.assert_close(residual.basis.t() @ residual.basis, torch.eye(3), rtol=0, atol=1e-5)


def test_a_feature_that_correlates_through_a_better_one_is_not_taken(generator: torch.Generator) -> None:
    x = torch.randn((600, 20), generator=generator)
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    y = 2 * x[:, 0] + x[:, 2] + torch.randn(600, generator=generator)
    atoms, residual = dictionary_of(x, y)
    groups: dict[FeatureGroup, float] = {}
    atoms.pursue(residual, groups, 10, significant_only=True)
    assert list(groups) == [(0,), (2,)]


def test_a_pursuit_ends_with_the_groups_wanted_or_the_share_of_directions(generator: torch.Generator) -> None:
    x = torch.randn((100, 80), generator=generator)
    y = torch.randn((100, 1), generator=generator)
    for config, wanted, taken in ((CONFIG, 7, 7), (ScreeningConfig(max_basis_share=0.05, pairs=False), 50, 5)):
        atoms, residual = dictionary_of(x, y, config)
        groups: dict[FeatureGroup, float] = {}
        atoms.pursue(residual, groups, wanted, significant_only=False)
        assert len(groups) == taken


def test_a_joint_pair_is_projected_out_whole() -> None:
    X = np.random.default_rng(3).random((400, 400))
    y = torch.from_numpy(np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) < 0.04).double()
    batch, directions = Rows(torch.from_numpy(X.astype(np.float32)), y).all(), target_directions(y, CONFIG)
    atoms = Dictionary.promising(batch, torch.zeros(400), directions, [], CONFIG)
    assert atoms.joint is not None
    residual, groups = Residual.of(directions, CONFIG), {}
    atoms.pursue(residual, groups, 4, significant_only=True)
    assert (0, 1) in groups
    place = int((atoms.joint.pairs == torch.tensor([0, 1])).all(dim=1).nonzero())
    assert atoms.joint.gram[place].abs().max() < 0.05
    assert (atoms.joint.columns[place] @ residual.target).abs().max() < 0.02


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
def test_features_that_are_nearly_the_same_are_no_trouble(noise: float, seed: int) -> None:
    """All curves are shared: what is projected out once is not so again, and the basis stays orthonormal."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((400, 1))
    X = factor + noise * rng.standard_normal((400, 8))
    y = factor[:, 0] ** 2 + 0.3 * rng.standard_normal(400)
    atoms, residual = dictionary_of(torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y))
    groups: dict[FeatureGroup, float] = {}
    for significant_only in (True, False):
        atoms.pursue(residual, groups, 20, significant_only=significant_only)
    basis = residual.basis
    assert (basis.t() @ basis - torch.eye(basis.shape[1])).abs().max() < 1e-3
    assert groups
    assert all(len(set(group)) == len(group) for group in groups)


def test_the_config_switches_pairs_off(generator: torch.Generator) -> None:
    x = torch.randn((300, 30), generator=generator)
    y = x[:, 4] * x[:, 9]
    atoms, _ = dictionary_of(x, y)
    assert len(atoms.pairs)
    assert atoms.joint is not None
    without_joint, _ = dictionary_of(x, y, ScreeningConfig(joint_pairs=False))
    assert torch.equal(without_joint.pairs, atoms.pairs)
    assert without_joint.joint is None
    singles, _ = dictionary_of(x, y, ScreeningConfig(pairs=False))
    assert not len(singles.pairs)
    assert singles.joint is None


def test_the_config_bounds_the_pairs_but_those_of_known_features(generator: torch.Generator) -> None:
    x = torch.randn((200, 40), generator=generator)
    config = ScreeningConfig(n_pairs=3, n_partners=6)
    assert len(dictionary_of(x, x[:, 0], config)[0].pairs) <= 6  # of columns, and of cosines
    with_known = dictionary_of(x, x[:, 0], config, known=(7,))[0].pairs
    assert (with_known == 7).any(dim=1).sum() >= 12
