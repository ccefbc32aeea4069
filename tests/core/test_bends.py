from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.bends import BentPairs
from maskrank.core.evidence import (
    as_normal,
    explained_by,
    interaction,
    lines_of,
    orthonormal,
    target_directions,
    unit_length,
)
from maskrank.datasets import make_ring_xor_sum

NOBODY = torch.arange(0)


def pairs_of(X: np.ndarray, y: np.ndarray, known: torch.Tensor = NOBODY) -> tuple[BentPairs, torch.Tensor]:
    lines = lines_of(torch.from_numpy(X.T.astype(np.float32)))
    places = lines.argsort(dim=1)
    directions = target_directions(torch.from_numpy(np.asarray(y, dtype=float)))
    features = torch.arange(X.shape[1])
    return BentPairs.promising(features, lines, places, directions, known), directions


def thin_ring(seed: int, n: int = 800, d: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).random((n, d))
    return X, np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) < 0.04


@pytest.mark.parametrize("seed", range(4))
def test_a_thin_ring_is_the_most_surprising_pair(seed: int) -> None:
    X, y = thin_ring(seed)
    bent, directions = pairs_of(X, y)
    surprises = bent.surprises(directions, len(y), X.shape[1], NOBODY)
    assert bent.pairs[surprises.argmax()].tolist() == [0, 1]
    assert surprises.max() > 5


def test_noise_is_surprising_as_seldom_as_chance_has_it() -> None:
    rng = np.random.default_rng(0)
    most = []
    for _ in range(40):
        X, y = rng.random((300, 30)), rng.random(300)
        bent, directions = pairs_of(X, y)
        most.append(float(bent.surprises(directions, 300, 30, NOBODY).max()))
    assert np.mean(np.array(most) > 0) <= 0.1


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_that_matters_gets_no_partner_by_chance(seed: int) -> None:
    """The bend of the first is plain by itself; no other has a part in it."""
    X = np.random.default_rng(seed).random((500, 100))
    y = np.abs(X[:, 0] - 0.5) + 0.05 * np.random.default_rng(seed + 50).standard_normal(500)
    bent, directions = pairs_of(X, y)
    with_first = (bent.pairs == 0).any(dim=1)
    assert with_first.any()
    assert bent.surprises(directions, 500, 100, NOBODY)[with_first].max() < 1


def test_what_is_taken_out_is_not_new() -> None:
    X, y = thin_ring(0)
    bent, _ = pairs_of(X, y)
    place = int((bent.pairs == torch.tensor([0, 1])).all(dim=1).nonzero())
    basis = orthonormal(bent.columns[place].t())
    bent.without(basis[:, :3])
    bent.take_out(basis[:, 3:])
    assert bent.gram[place].abs().max() < 1e-4
    bent.without(basis[:, :0])
    assert bent.gram[place].diagonal().sub(1).abs().max() < 1e-4


def test_a_pair_with_a_known_feature_is_judged_by_the_other_alone() -> None:
    X, y = thin_ring(1)
    bent, directions = pairs_of(X, y, torch.tensor([0]))
    known = bent.surprises(directions, len(y), X.shape[1], torch.tensor([0]))
    unknown = bent.surprises(directions, len(y), X.shape[1], NOBODY)
    place = int((bent.pairs == torch.tensor([0, 1])).all(dim=1).nonzero())
    others = ~(bent.pairs == 0).any(dim=1)
    assert known[place] > unknown[place] - 3
    assert torch.equal(known[others], unknown[others])


def test_explained_is_the_squared_length_of_the_projection() -> None:
    rng = np.random.default_rng(0)
    columns = torch.from_numpy(rng.standard_normal((1, 5, 50)))
    directions = orthonormal(torch.from_numpy(rng.standard_normal((50, 2))))
    gram = columns @ columns.transpose(1, 2)
    scale = 1e3  # makes the ridge small
    held = explained_by(scale * (columns @ directions), scale**2 * gram)
    basis = orthonormal(columns[0].t())
    assert float(held) == pytest.approx(float((basis.t() @ directions).square().sum()), rel=1e-4)
    assert abs(float(as_normal(torch.tensor(10.0), 10))) < 0.2


def test_the_ring_of_the_hardest_needle_is_seen_where_no_single_product_shows_it() -> None:
    X, y, _ = make_ring_xor_sum(1000, 256, random_state=5)
    bent, directions = pairs_of(X, y)
    surprises = bent.surprises(directions, 1000, 256, NOBODY)
    place = int((bent.pairs == torch.tensor([0, 1])).all(dim=1).nonzero())
    assert surprises[place] > 0


@pytest.mark.parametrize("kind", ["square", "bend"])
def test_a_feature_and_its_copy_are_no_pair(kind: str) -> None:
    """The product of the two is a curve of either."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 12))
    X[:, 1] = 0.7 * X[:, 0] + np.sqrt(1 - 0.49) * X[:, 1]
    y = X[:, 0] ** 2 if kind == "square" else np.cos(2 * X[:, 0])
    bent, directions = pairs_of(X, y + 0.2 * rng.standard_normal(500))
    assert bent.surprises(directions, 500, 12, NOBODY).max() < 2
    lines = lines_of(torch.from_numpy(X.T.astype(np.float32)))
    product = (lines[:1] * lines[1:2]).unsqueeze(1)
    left = interaction(product, torch.tensor([0]), torch.tensor([1]), lines, lines.argsort(dim=1))[0]
    assert float((left @ directions).abs().max()) < 0.15
    assert float((unit_length(product[0]) @ directions).abs().max()) > 0.25
