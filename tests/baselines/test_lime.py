from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines.lime import LIME

pytest.importorskip("lime", reason="lime explains the net")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_linear_rule_is_ranked_by_the_size_of_its_weights(task: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    signal = X @ [-2.0, 1.0, 0.4, 0.0]
    y = signal if task == "regression" else np.where(signal > 0, "a", "b")
    method = LIME(2, hidden=(10,), max_steps=1000, max_rows=25, n_samples=300, random_state=0).fit(X, y)
    assert list(method.order_) == [0, 1, 2, 3]
    if task == "regression":
        shares = method.feature_importances_ / method.feature_importances_[0]
        np.testing.assert_allclose(shares, [1, 0.5, 0.2, 0], atol=0.15)


def test_the_number_of_explained_rows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = []

    def explain(self: LIME, explainer: object, row: np.ndarray) -> np.ndarray:
        explained.append(row)
        return np.arange(3.0)

    monkeypatch.setattr(LIME, "_explain", explain)
    X = np.random.default_rng(0).standard_normal((100, 3))
    assert list(LIME(1, hidden=(4,), max_steps=100, max_rows=7, random_state=0).fit(X, X[:, 0] > 0).order_) == [2, 1, 0]
    assert len(explained) == 7
