from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import torch

from maskrank.core.data.rows import Rows
from maskrank.core.proposals import matching_pursuit as screens
from maskrank.core.proposals.interactions import BentPairs
from maskrank.core.proposals.matching_pursuit import screen
from maskrank.core.proposals.statistics import (
    best_partners,
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


def place_of(bent: BentPairs, first: int, second: int) -> int:
    return int((bent.pairs == torch.tensor([first, second])).all(dim=1).nonzero())


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
    place = place_of(bent, 0, 1)
    basis = orthonormal(bent.columns[place].t())
    bent.without(basis[:, :3])
    bent.take_out(basis[:, 3:])
    assert bent.gram[place].abs().max() < 1e-4
    assert bent.surprises(target_directions(torch.from_numpy(y)), 800, 200, NOBODY)[place] == -torch.inf
    bent.without(basis[:, :0])
    assert bent.gram[place].diagonal().sub(1).abs().max() < 1e-4


def test_a_pair_with_a_known_feature_is_judged_by_the_other_alone() -> None:
    """As a partner of a known feature it is one of d, and what the known one does alone does not count."""
    X, y = thin_ring(1)
    bent, directions = pairs_of(X, y, torch.tensor([0]))
    n, d = X.shape
    one_known = bent.surprises(directions, n, d, torch.tensor([0]))
    many_known = bent.surprises(directions, n, d, torch.tensor([0, *range(100, 150)]))
    both_known = bent.surprises(directions, n, d, torch.tensor([0, 1]))
    other_known = bent.surprises(directions, n, d, torch.tensor([1]))
    unknown = bent.surprises(directions, n, d, NOBODY)
    place = place_of(bent, 0, 1)
    others = ~(bent.pairs == 0).any(dim=1)
    assert torch.equal(one_known[others], unknown[others])
    assert float(one_known[place] - many_known[place]) == pytest.approx(np.log(51), rel=1e-3)
    lower = min(one_known[place], other_known[place])
    assert float(lower - both_known[place]) == pytest.approx(np.log(2), rel=1e-3)


def test_what_a_known_feature_does_alone_is_no_evidence_for_a_pair() -> None:
    X = np.random.default_rng(3).random((500, 40))
    y = np.cos(4 * np.pi * X[:, 0]) + 0.3 * np.random.default_rng(4).standard_normal(500)
    known = torch.tensor([0])
    bent, directions = pairs_of(X, y, known)
    with_known = (bent.pairs == 0).any(dim=1)
    assert with_known.sum() >= 4
    assert bent.surprises(directions, 500, 40, known)[with_known].max() < 1


def test_explained_is_the_squared_length_of_the_projection() -> None:
    rng = np.random.default_rng(0)
    columns = torch.from_numpy(rng.standard_normal((1, 5, 50)))
    directions = orthonormal(torch.from_numpy(rng.standard_normal((50, 2))))
    gram = columns @ columns.transpose(1, 2)
    scale = 1e3  # makes the ridge small
    held = explained_by(scale * (columns @ directions), scale**2 * gram)
    basis = orthonormal(columns[0].t())
    assert float(held) == pytest.approx(float((basis.t() @ directions).square().sum()), rel=1e-4)


def test_the_ring_of_the_hardest_needle_is_seen_where_no_single_product_shows_it() -> None:
    X, y, _ = make_ring_xor_sum(1000, 256, random_state=5)
    bent, directions = pairs_of(X, y)
    surprises = bent.surprises(directions, 1000, 256, NOBODY)
    place = place_of(bent, 0, 1)
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


def test_the_screens_see_a_ring_by_its_bends_alone() -> None:
    X, y = thin_ring(3, n=400, d=400)
    rows = Rows(torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y.astype(np.int64)))

    def clear() -> set[tuple[int, ...]]:
        return set(screen(rows, wanted=20, generator=torch.Generator().manual_seed(0)).clear)

    assert (0, 1) in clear()
    with mock.patch.object(screens.BentPairs, "promising", return_value=None):
        assert (0, 1) not in clear()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
def test_features_that_are_nearly_the_same_are_no_trouble(noise: float, seed: int) -> None:
    """All bends are shared: what is taken out once is not taken out again, and the basis stays orthonormal."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((400, 1))
    X = factor + noise * rng.standard_normal((400, 8))
    y = factor[:, 0] ** 2 + 0.3 * rng.standard_normal(400)
    rows = Rows(torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y.astype(np.float32)[:, None]))
    kept = []

    class Kept(screens._Rest):
        def explain(self, columns: torch.Tensor) -> torch.Tensor:
            kept.append(self)
            return super().explain(columns)

    with mock.patch.object(screens, "_Rest", Kept):
        hint = screen(rows, wanted=20, generator=torch.Generator().manual_seed(0))
    basis = kept[-1].basis
    assert (basis.t() @ basis - torch.eye(basis.shape[1])).abs().max() < 1e-3
    assert all(len(set(unit)) == len(unit) for unit in hint.units)


def test_partners_are_two_features_that_are_unlike() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(200)
    X[:, 2] = -X[:, 0] + 0.05 * rng.standard_normal(200)
    X[:, 5] = 1.0
    lines = lines_of(torch.from_numpy(X.T.astype(np.float32)))
    directions = target_directions(torch.from_numpy(X[:, 0] ** 2))
    known = torch.tensor([0, 5])
    found = best_partners([(lines, lines)], lines, directions, known, pairs=10, partners=5).tolist()
    alike = {0, 1, 2}
    assert found
    assert all(first < second and not {first, second} <= alike for first, second in found)
    assert sum(0 in pair for pair in found) == 3  # as many as are unlike the known one
    same = lines[[0, 1]]
    assert len(best_partners([(same, same)], same, directions, known[:1], pairs=10, partners=5)) == 0


def test_what_a_bent_pair_explains_is_taken_out_whole() -> None:
    X, y = thin_ring(3, n=400, d=400)
    batch = Rows(torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y.astype(np.int64))).all()
    directions = target_directions(torch.from_numpy(y.astype(float)))
    atoms = screens._Atoms.promising(batch, torch.zeros(400), directions, [])
    assert atoms.bent is not None
    rest, units = screens._Rest.of(directions), {}
    atoms.explain(rest, units, 4, beyond_chance=True)
    assert (0, 1) in units
    place = place_of(atoms.bent, 0, 1)
    assert atoms.bent.gram[place].abs().max() < 0.05
    assert (atoms.bent.columns[place] @ rest.target).abs().max() < 0.02
