from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines.lassonet import LassoNet

pytest.importorskip("lassonet", reason="maskrank[bench] brings lassonet")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_an_obvious_feature_leads(task: str) -> None:
    X = np.random.default_rng(0).standard_normal((120, 5))
    y = 3 * X[:, 2] if task == "regression" else np.where(X[:, 2] > 0, "a", "b")
    settings = {"n_iters": (100, 10), "lambda_start": 1.0, "path_multiplier": 1.3}
    assert LassoNet(1, hidden=(10,), settings=settings, random_state=0).fit(X, y).order_[0] == 2
