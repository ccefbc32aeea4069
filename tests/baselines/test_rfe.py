from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from maskrank.baselines import rfe
from maskrank.baselines.rfe import RFE, RankingSVM, margin_changes, pair_multipliers
from maskrank.datasets import make_nonlinear_regression, make_ring, make_xor


@pytest.mark.parametrize("seed", [0, 1])
def test_the_rbf_machine_finds_the_exclusive_or(seed: int) -> None:
    X, y, relevant = make_xor(512, 10, random_state=seed)
    assert set(RFE(3).fit(X, y).get_support(indices=True)) == set(relevant)


def test_the_linear_machine_finds_a_linear_rule_and_no_exclusive_or() -> None:
    found = [set(RFE(3, kernel="linear").fit(*make_xor(300, 10, random_state=s)[:2]).order_[:3]) for s in range(4)]
    assert sum(some == {0, 1, 2} for some in found) <= 1
    X = np.random.default_rng(0).standard_normal((200, 6))
    order = RFE(2, kernel="linear").fit(X, X @ [2.0, 1, 0, 0, 0, 0] > 0).order_
    assert list(order[:2]) == [0, 1]


def test_the_criterion_is_what_a_direct_computation_gives() -> None:
    X, y, _ = make_xor(60, 5, random_state=0)
    machine = SVC(gamma=0.3).fit(X, y)
    support, multipliers = X[machine.support_], pair_multipliers(machine)

    def length(columns: list[int]) -> float:
        kernel = np.exp(-0.3 * np.square(support[:, None, columns] - support[:, columns]).sum(axis=2))
        return float(sum(row @ kernel @ row for row in multipliers))

    direct = [length(list(range(5))) - length([k for k in range(5) if k != j]) for j in range(5)]
    np.testing.assert_allclose(margin_changes(support, multipliers, 0.3), direct)


def test_multipliers_of_a_pair_are_those_of_its_own_machine() -> None:
    X, y, _ = make_xor(90, 4, random_state=0)
    machine = SVC(gamma=0.3).fit(X, y)
    pairs = pair_multipliers(machine)
    for row, (i, j) in zip(pairs, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], strict=True):
        some = (y == i) | (y == j)
        alone = SVC(gamma=0.3).fit(X[some], y[some])
        dense = np.zeros(90)
        dense[np.flatnonzero(some)[alone.support_]] = -alone.dual_coef_[0]  # with two classes the first is negative
        mine = np.zeros(90)
        mine[machine.support_] = row
        np.testing.assert_allclose(mine, dense, atol=1e-3)


def test_the_machine_of_a_regression_is_scikit_learns() -> None:
    X, y, _ = make_nonlinear_regression(80, 4, random_state=0)
    machine = SVR(gamma="scale").fit(X, y)
    changes = margin_changes(X[machine.support_], machine.dual_coef_, 1 / (4 * X.var()))
    np.testing.assert_allclose(RankingSVM(classify=False).fit(X, y).feature_importances_, changes - changes.min())


@pytest.mark.parametrize("step", [40, 0.2])
def test_of_many_features_several_leave_at_once_down_to_the_last_hundred(step: float) -> None:
    X, y, _ = make_ring(120, 140, random_state=0)
    rounds = []

    class Counting(RankingSVM):
        def fit(self, X: np.ndarray, y: np.ndarray) -> RankingSVM:
            rounds.append(X.shape[1])
            return super().fit(X, y)

    with mock.patch.object(rfe, "RankingSVM", Counting):
        method = RFE(2, step=step).fit(X, y)
    assert rounds == [140, *([112] if step == 0.2 else []), *range(100, 0, -1)]
    assert sorted(method.order_) == list(range(140))


@pytest.mark.parametrize("step", [0, -1, 1.5, 0.0])
def test_a_bad_step_is_named(step: float) -> None:
    with pytest.raises(ValueError, match=f"step={step} must be a number of features, or a share"):
        RFE(2, step=step).fit(np.eye(8, 3), np.arange(8) % 2)


def test_an_unknown_kernel_is_named() -> None:
    with pytest.raises(ValueError, match="kernel='cubic' is not known; there are rbf, linear"):
        RFE(2, kernel="cubic").fit(np.eye(8, 3), np.arange(8) % 2)
