from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.config import ScreeningConfig
from maskrank.core.proposals.interactions import JointPairs, PairedColumns, best_partners, without_main_effects
from maskrank.core.proposals.statistics import orthonormal_basis, standardised, target_directions, unit_length
from maskrank.datasets import make_ring_xor_sum

CONFIG = ScreeningConfig()
NONE = torch.arange(0)


def columns_of(X: np.ndarray) -> torch.Tensor:
    return standardised(torch.from_numpy(X.T.astype(np.float32)), CONFIG.clip)


def directions_of(y: np.ndarray) -> torch.Tensor:
    return target_directions(torch.from_numpy(np.asarray(y, dtype=float)), CONFIG)


def pairs_of(
    X: np.ndarray, y: np.ndarray, known: torch.Tensor = NONE, config: ScreeningConfig = CONFIG
) -> tuple[JointPairs, torch.Tensor]:
    columns, directions = columns_of(X), directions_of(y)
    paired = PairedColumns(torch.arange(X.shape[1]), columns, columns.argsort(dim=1))
    return JointPairs.promising(paired, directions, known, config), directions


def place_of(joint: JointPairs, first: int, second: int) -> int:
    return int((joint.pairs == torch.tensor([first, second])).all(dim=1).nonzero())


def thin_ring(seed: int, n: int = 800, d: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).random((n, d))
    return X, np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35) < 0.04


@pytest.mark.parametrize("seed", range(4))
def test_a_thin_ring_is_the_pair_of_the_highest_evidence(seed: int) -> None:
    X, y = thin_ring(seed)
    joint, directions = pairs_of(X, y)
    evidence = joint.evidence(directions, len(y), X.shape[1], NONE)
    assert joint.pairs[evidence.argmax()].tolist() == [0, 1]
    assert evidence.max() > 5


def test_noise_is_significant_as_seldom_as_chance_has_it() -> None:
    rng = np.random.default_rng(0)
    highest = []
    for _ in range(40):
        X, y = rng.random((300, 30)), rng.random(300)
        joint, directions = pairs_of(X, y)
        highest.append(float(joint.evidence(directions, 300, 30, NONE).max()))
    assert np.mean(np.array(highest) > 0) <= 0.1


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_that_matters_gets_no_partner_by_chance(seed: int) -> None:
    """The curve of the first feature is plain by itself; no other feature has a part in it."""
    X = np.random.default_rng(seed).random((500, 100))
    y = np.abs(X[:, 0] - 0.5) + 0.05 * np.random.default_rng(seed + 50).standard_normal(500)
    joint, directions = pairs_of(X, y)
    with_first = (joint.pairs == 0).any(dim=1)
    assert with_first.any()
    assert joint.evidence(directions, 500, 100, NONE)[with_first].max() < 1


def test_what_is_projected_out_is_not_new() -> None:
    X, y = thin_ring(0)
    joint, _ = pairs_of(X, y)
    place = place_of(joint, 0, 1)
    basis = orthonormal_basis(joint.columns[place].t())
    joint.restart(basis[:, :3])
    joint.project_out(basis[:, 3:])
    assert joint.gram[place].abs().max() < 1e-4
    assert joint.evidence(directions_of(y), 800, 200, NONE)[place] == -torch.inf
    joint.restart(basis[:, :0])
    assert joint.gram[place].diagonal().sub(1).abs().max() < 1e-4


def test_a_pair_with_a_known_feature_is_judged_by_the_other_alone() -> None:
    """As a partner of a known feature it is one of d, and what the known one does alone does not count."""
    X, y = thin_ring(1)
    joint, directions = pairs_of(X, y, torch.tensor([0]))
    n, d = X.shape
    one_known = joint.evidence(directions, n, d, torch.tensor([0]))
    many_known = joint.evidence(directions, n, d, torch.tensor([0, *range(100, 150)]))
    both_known = joint.evidence(directions, n, d, torch.tensor([0, 1]))
    other_known = joint.evidence(directions, n, d, torch.tensor([1]))
    unknown = joint.evidence(directions, n, d, NONE)
    place = place_of(joint, 0, 1)
    others = ~(joint.pairs == 0).any(dim=1)
    assert torch.equal(one_known[others], unknown[others])
    assert float(one_known[place] - many_known[place]) == pytest.approx(np.log(51), rel=1e-3)
    lower = min(one_known[place], other_known[place])
    assert float(lower - both_known[place]) == pytest.approx(np.log(2), rel=1e-3)


def test_what_a_known_feature_does_alone_is_no_evidence_for_a_pair() -> None:
    X = np.random.default_rng(3).random((500, 40))
    y = np.cos(4 * np.pi * X[:, 0]) + 0.3 * np.random.default_rng(4).standard_normal(500)
    known = torch.tensor([0])
    joint, directions = pairs_of(X, y, known)
    with_known = (joint.pairs == 0).any(dim=1)
    assert with_known.sum() >= 4
    assert joint.evidence(directions, 500, 40, known)[with_known].max() < 1


def test_the_ring_of_the_hardest_needle_is_seen_where_no_single_product_shows_it() -> None:
    X, y, _ = make_ring_xor_sum(1000, 256, random_state=5)
    joint, directions = pairs_of(X, y)
    assert joint.evidence(directions, 1000, 256, NONE)[place_of(joint, 0, 1)] > 0


def test_the_config_sets_the_cosines_and_the_number_of_pairs() -> None:
    X, y = thin_ring(0, n=200, d=40)
    joint, _ = pairs_of(X, y, config=ScreeningConfig(joint_cosines=(2, 3, 4), n_joint_pairs=5))
    assert joint.columns.shape[1] == 3 + 3 + 9
    assert 1 <= len(joint.pairs) <= 5


@pytest.mark.parametrize("kind", ["square", "cosine"])
def test_a_feature_and_its_copy_are_no_pair(kind: str) -> None:
    """The product of the two is a curve of either."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 12))
    X[:, 1] = 0.7 * X[:, 0] + np.sqrt(1 - 0.49) * X[:, 1]
    y = X[:, 0] ** 2 if kind == "square" else np.cos(2 * X[:, 0])
    joint, directions = pairs_of(X, y + 0.2 * rng.standard_normal(500))
    assert joint.evidence(directions, 500, 12, NONE).max() < 2
    columns = columns_of(X)
    product = (columns[:1] * columns[1:2]).unsqueeze(1)
    first, second = torch.tensor([0]), torch.tensor([1])
    residual = without_main_effects(product, first, second, columns, columns.argsort(dim=1), CONFIG)[0]
    assert float((residual @ directions).abs().max()) < 0.15
    assert float((unit_length(product[0]) @ directions).abs().max()) > 0.25


def test_partners_are_two_features_that_are_not_alike() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(200)
    X[:, 2] = -X[:, 0] + 0.05 * rng.standard_normal(200)
    X[:, 5] = 1.0
    columns, directions = columns_of(X), directions_of(X[:, 0] ** 2)

    def partners(table: torch.Tensor, known: list[int]) -> list[list[int]]:
        found = best_partners(
            [(table, table)],
            table,
            torch.arange(len(table)),
            directions,
            torch.tensor(known),
            n_pairs=10,
            n_partners=5,
            max_correlation=CONFIG.max_pair_correlation,
        )
        return found.tolist()

    found = partners(columns, [0, 5])
    alike = {0, 1, 2}
    assert found
    assert all(first < second and not {first, second} <= alike for first, second in found)
    assert sum(0 in pair for pair in found) == 3  # as many as are unlike the known one
    assert not partners(columns[[0, 1]], [0])
