from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from maskrank.baselines.forest import RandomForest
from maskrank.datasets import make_nonlinear_regression, make_ring


def test_a_fixed_forest_is_that_of_scikit_learn() -> None:
    X, y, relevant = make_ring(300, 8, random_state=0)
    method = RandomForest(2, n_estimators=30, max_depth=None, random_state=4).fit(X, y)
    theirs = RandomForestClassifier(30, random_state=4).fit(X, y)
    assert np.array_equal(method.feature_importances_, theirs.feature_importances_)
    assert set(method.get_support(indices=True)) == set(relevant)


def test_the_out_of_bag_error_chooses_trees_and_depth() -> None:
    X, y, _ = make_nonlinear_regression(120, 5, random_state=0)
    method = RandomForest(2, random_state=0).fit(X, y)
    assert 50 <= method.model_.n_estimators <= 220
    assert 7 <= method.model_.max_depth <= 24
    shallow = RandomForest(2, n_estimators=60, random_state=0).fit(X, y)
    assert shallow.model_.n_estimators == 60
