from __future__ import annotations

import numpy as np
import pytest

from maskrank.baselines.mlp import MLP
from maskrank.datasets import make_nonlinear_regression, make_xor


def test_a_sigmoid_net_of_three_layers_learns_the_exclusive_or() -> None:
    X, y, _ = make_xor(1410, 10, random_state=0)
    net = MLP(max_steps=1500, random_state=0).fit(X[:410], y[:410])
    assert net.score(X[410:], y[410:]) > 0.66
    chances = net.predict_proba(X[410:])
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.array_equal(chances.argmax(axis=1), net.predict(X[410:]))


def test_a_regression_is_in_the_units_of_y() -> None:
    X, y, _ = make_nonlinear_regression(600, 4, random_state=0)
    net = MLP((20,), max_steps=1500, random_state=0).fit(X[:400], 50 + 1000 * y[:400])
    assert net.score(X[400:], 50 + 1000 * y[400:]) > 0.6
    assert not hasattr(net, "predict_proba")


def test_held_out_rows_are_a_fifth_with_all_classes() -> None:
    X, y, _ = make_xor(100, 4, random_state=0)
    net = MLP((4,), max_steps=10, random_state=0).fit(X, y)
    assert len(net.held_out_) == pytest.approx(20, abs=2)
    assert set(y[net.held_out_]) == {0, 1, 2, 3}


def test_an_unknown_activation_is_named() -> None:
    with pytest.raises(ValueError, match="activation='step' is not known; there are sigmoid, silu, relu"):
        MLP(activation="step").fit(np.eye(8, 3), np.arange(8) % 2)
