from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines.lasso import Lasso
from maskrank.datasets import make_xor_pair


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_linear_rule_is_ranked_by_its_weights(task: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6)) * [1, 10, 100, 1, 1, 1]
    signal = X @ [3, 0.2, 0.01, 0, 0, 0] + 0.2 * rng.standard_normal(400)
    method = Lasso(3, random_state=0).fit(X, signal if task == "regression" else signal > 0)
    assert list(method.order_[:3]) == [0, 1, 2]
    assert (method.feature_importances_[3:] < 0.2 * method.feature_importances_[2]).all()


def test_an_exclusive_or_is_nothing_to_it() -> None:
    X, y, _ = make_xor_pair(600, 8, random_state=0)
    assert Lasso(2, random_state=0).fit(X, y).feature_importances_[:2].max() < 0.1


def test_where_all_scores_are_zero_the_first_columns_have_no_advantage() -> None:
    X, y = np.random.default_rng(0).standard_normal((60, 8)), np.tile([0.0, 0.5, 1.2], 20)
    fits = [Lasso(2, random_state=seed).fit(X, y) for seed in range(8)]
    assert all((fit.feature_importances_ == 0).all() for fit in fits)
    assert len({tuple(fit.order_[:2]) for fit in fits}) > 4


def test_a_class_of_fewer_rows_than_folds_is_no_obstacle() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.repeat([0, 1, 2], [19, 18, 3])
    assert np.isfinite(Lasso(1, random_state=0).fit(X, y).feature_importances_).all()
