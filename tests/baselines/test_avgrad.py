from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines._nets import outputs
from maskrank.baselines.avgrad import AvGrad
from maskrank.datasets import make_nonlinear_regression, make_xor

pytest.importorskip("captum", reason="captum takes the gradients")


@pytest.mark.parametrize("make", [make_xor, make_nonlinear_regression])
def test_scores_are_mean_sizes_of_the_numeric_derivative(make: object) -> None:
    X, y, _ = make(120, 4, random_state=0)  # type: ignore[operator]
    method = AvGrad(2, hidden=(8, 6), max_steps=300, random_state=0).fit(X, y)
    net = method.net_.double()
    net_outputs = lambda rows: _centred(outputs_64(net, rows))  # noqa: E731
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    step = 1e-5
    numeric = [
        np.abs((net_outputs(rows + step * unit) - net_outputs(rows - step * unit)) / (2 * step)).mean()
        for unit in np.eye(4)
    ]
    np.testing.assert_allclose(method.feature_importances_, numeric, rtol=1e-4)


def outputs_64(net: object, rows: np.ndarray) -> np.ndarray:
    import torch

    with torch.no_grad():
        return net(torch.from_numpy(rows)).numpy()  # type: ignore[operator,no-any-return]


def _centred(values: np.ndarray) -> np.ndarray:
    return values - values.mean(axis=1, keepdims=True) if values.shape[1] > 1 else values


def test_it_finds_the_exclusive_or_and_predicts_from_all() -> None:
    X, y, relevant = make_xor(1024, 10, random_state=0)
    method = AvGrad(3, max_steps=1500, random_state=0).fit(X[:512], y[:512])
    assert set(method.get_support(indices=True)) == set(relevant)
    assert method.score(X[512:], y[512:]) > 0.6
    shown = (X[512:] - X[:512].mean(axis=0)) / X[:512].std(axis=0)
    assert np.array_equal(method.predict(X[512:]), outputs(method.net_, shown).argmax(axis=1))
