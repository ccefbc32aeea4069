from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from maskrank.baselines.dfs import DFS, constant_loss, shrink
from maskrank.datasets import make_xor


def test_weights_of_noise_are_exactly_zero_and_of_relevant_features_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 8))
    y = X[:, 0] - X[:, 1]
    method = DFS(2, hidden=(20,), max_steps=3000, random_state=0).fit(X, y)
    assert (method.weights_[2:] == 0).all()
    assert (np.abs(method.weights_[:2]) > 0.1).all()
    assert np.array_equal(method.feature_importances_, np.abs(method.weights_))


def test_without_the_penalty_no_weight_is_zero() -> None:
    X, y, _ = make_xor(200, 5, random_state=0)
    assert (DFS(2, lambda1=0.0, hidden=(8,), max_steps=300, random_state=0).fit(X, y).weights_ != 0).all()


def test_it_finds_the_exclusive_or() -> None:
    X, y, relevant = make_xor(512, 10, random_state=0)
    method = DFS(3, max_steps=1000, random_state=0).fit(X, y)
    assert set(method.get_support(indices=True)) == set(relevant)


def test_the_proximal_step_is_the_soft_threshold_of_adams_metric() -> None:
    w = nn.Parameter(torch.tensor([0.5, -0.5, 0.001]))
    adam = torch.optim.Adam([w], lr=0.1)
    (w * torch.tensor([2.0, 4.0, 0.5])).sum().backward()
    adam.step()
    before = w.detach().clone()  # 0.4, -0.6, -0.099
    shrink(w, adam, 0.6)
    threshold = 0.1 * 0.6 / torch.tensor([2.0, 4.0, 0.5])  # after one step the root mean square is the gradient
    expected = before.sign() * (before.abs() - threshold).clamp(min=0)
    torch.testing.assert_close(w.detach(), expected)
    assert w[2] == 0


def test_the_elastic_net_has_its_other_parts() -> None:
    X, y, _ = make_xor(200, 5, random_state=0)
    plain, ridge, sparse = (
        DFS(2, hidden=(8,), max_steps=300, random_state=0, **settings).fit(X, y).net_.inner.weights()[0].abs().sum()
        for settings in ({}, {"alpha1": 0.1}, {"alpha1": 0.1, "alpha2": 1.0})
    )
    assert ridge < plain
    assert sparse < plain


def test_the_constant_loss_is_the_entropy_or_the_variance() -> None:
    assert constant_loss(np.array([0, 0, 1, 1]), "classification") == pytest.approx(np.log(2))
    assert constant_loss(np.array([-1.0, 1.0]), "regression") == 1
