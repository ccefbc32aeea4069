"""A slice of benchmarks/synthetic.py: the paper's problems, one fold each, as a user would fit them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import make_nonlinear_regression, make_orange_skin, make_xor

CASES = {
    "xor": (make_xor, DualNetClassifier, 0.72),
    "regression": (make_nonlinear_regression, DualNetRegressor, 0.80),
    "orange skin": (make_orange_skin, DualNetClassifier, 0.90),
}


@pytest.mark.parametrize("case", CASES)
def test_the_relevant_features_are_on_top_whatever_the_order_of_the_columns(case: str) -> None:
    make, estimator, score = CASES[case]
    X, y, relevant = make(512, random_state=7)
    X_test, y_test, _ = make(1024, random_state=8)
    model: Any = estimator(5, random_state=0).fit(X, y)
    assert set(np.argsort(model.ranking_, kind="stable")[: len(relevant)]) == set(relevant)
    assert (model.feature_importances_[relevant] > 0).all()
    filler = np.setdiff1d(np.flatnonzero(model.support_), relevant)
    assert model.feature_importances_[filler].mean() < 0.25 * model.feature_importances_[relevant].min()
    assert model.score(X_test, y_test) > score

    order = np.random.default_rng(0).permutation(10)
    permuted: Any = estimator(5, random_state=1).fit(X[:, order], y)
    found = set(order[np.argsort(permuted.ranking_, kind="stable")[: len(relevant)]])
    assert found == set(relevant)


def test_the_paper_preset_finds_the_xor_features() -> None:
    X, y, relevant = make_xor(512, random_state=7)
    short = {"phase1_batches": 2_400, "max_batches": 4_000}  # 40 % of the preset's own, which studies run in full
    model = DualNetClassifier(5, preset="paper:xor", **short, random_state=0).fit(X, y)
    assert model.support_[relevant].all()
