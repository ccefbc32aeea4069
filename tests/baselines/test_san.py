from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.baselines.san import SAN


def obvious(n: int = 320, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).standard_normal((n, 6))
    return X, np.where(X[:, 4] > 0, "up", "down")


def test_attention_of_a_row_sums_to_one() -> None:
    X, y = obvious()
    net = SAN(2, heads=2, epochs=2, random_state=0).fit(X, y).net_
    with torch.no_grad():
        attention = net.attention(torch.from_numpy(X.astype(np.float32)))
    torch.testing.assert_close(attention.sum(dim=1), torch.ones(len(X)))
    assert (attention > 0).all()
    assert float(net.global_attention().sum()) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_an_obvious_feature_gets_most_attention(seed: int) -> None:
    method = SAN(1, random_state=seed).fit(*obvious(640, seed))
    assert method.order_[0] == 4
    assert method.feature_importances_.sum() == pytest.approx(1, abs=1e-5)


def test_only_rows_that_are_predicted_right_count() -> None:
    X, y = obvious()
    method = SAN(1, epochs=1, random_state=0).fit(X, y)
    scaled = torch.from_numpy(((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32))
    with torch.no_grad():
        attention = method.net_.attention(scaled).numpy()
        right = method.classes_[method.net_(scaled).argmax(dim=1).numpy()] == y
    assert 0 < right.sum() < len(y)
    np.testing.assert_allclose(method.feature_importances_, attention[right].mean(axis=0), rtol=1e-4)


def test_global_attention_is_the_softmax_of_the_diagonal() -> None:
    method = SAN(1, aggregate="global", epochs=2, random_state=0).fit(*obvious())
    diagonal = method.net_.heads[0].weight.detach().diagonal().double().exp().numpy()
    np.testing.assert_allclose(method.feature_importances_, diagonal / diagonal.sum(), rtol=1e-5)


def test_dropout_works_in_training_alone() -> None:
    X, y = obvious()
    net = SAN(1, epochs=1, random_state=0).fit(X, y).net_
    rows = torch.from_numpy(X.astype(np.float32))
    assert torch.equal(net(rows), net(rows))
    net.train()
    assert not torch.equal(net(rows), net(rows))


def test_an_unknown_aggregate_is_named() -> None:
    with pytest.raises(ValueError, match="aggregate='sum' is not known; there are aggr, global"):
        SAN(1, aggregate="sum").fit(*obvious())
