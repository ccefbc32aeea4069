from __future__ import annotations

import numpy as np

from maskrank.baselines.forward import ForwardSelection
from maskrank.datasets import make_nonlinear_regression, make_xor_pair


def test_earlier_is_better_and_losses_fall() -> None:
    X, y, relevant = make_nonlinear_regression(300, 6, random_state=0)
    method = ForwardSelection(4, n_steps=150, hidden=(20,), max_steps=100, random_state=0).fit(X, y)
    assert set(method.order_[:4]) == set(relevant)
    assert (np.diff(method.losses_) < 0).all()
    assert method.ranking_[method.order_[0]] == 1


def test_two_that_tell_nothing_alone_are_found_once_one_is_taken() -> None:
    X, y, _ = make_xor_pair(400, 5, random_state=0)
    order = list(ForwardSelection(4, n_steps=150, hidden=(8,), max_steps=100, random_state=0).fit(X, y).order_)
    first, second = sorted((order.index(0), order.index(1)))
    assert second == first + 1


def test_prediction_needs_the_chosen_features_alone() -> None:
    X, y, _ = make_nonlinear_regression(300, 5, random_state=0)
    method = ForwardSelection(2, n_steps=50, hidden=(8,), max_steps=100, random_state=0).fit(X, y)
    other = np.where(method.support_, X, 99.0)
    assert np.array_equal(method.predict(X), method.predict(other))
