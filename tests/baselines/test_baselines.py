from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from maskrank.baselines import METHODS, score
from maskrank.baselines import saliency as saliency_module
from maskrank.datasets import make_ring, make_xor_pair


@pytest.mark.parametrize("method", ["rf", "mrmr"])
def test_a_ring_is_found_among_sixteen(method: str) -> None:
    X, y, relevant = make_ring(800, 16, random_state=0)
    scores = score(method, X, y, random_state=0)
    assert set(np.argsort(-scores)[:2]) == set(relevant)


def test_an_exclusive_or_is_nothing_to_mrmr() -> None:
    """It judges features by what each tells alone."""
    found = [np.argsort(-score("mrmr", *make_xor_pair(800, 64, random_state=seed)[:2]))[0] for seed in range(5)]
    assert sum(j < 2 for j in found) <= 1


def test_mrmr_takes_a_copy_last() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 3))
    y = (x[:, 0] + 0.7 * x[:, 1] > 0).astype(int)
    scores = score("mrmr", np.column_stack([x[:, :2], x[:, 0]]), y)
    assert sorted(np.argsort(-scores)[:2].tolist()) in ([0, 1], [1, 2])


def test_saliency_is_the_size_of_the_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = make_xor_pair(120, 3, random_state=0)
    kept: list[Any] = []

    class Kept(MLPClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            kept.append((self, X))
            return super().fit(X, y)

    monkeypatch.setattr(saliency_module, "MLPClassifier", Kept)
    scores = score("saliency", X, y, random_state=0)
    net, scaled = kept[0]

    def log_odds(rows: Any) -> Any:
        positive = net.predict_proba(rows)[:, 1]
        return np.log(positive / (1 - positive))

    step = 1e-5
    numeric = [
        np.abs((log_odds(scaled + step * unit) - log_odds(scaled - step * unit)) / (2 * step)).mean()
        for unit in np.eye(3)
    ]
    np.testing.assert_allclose(scores, numeric, rtol=1e-3)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lassonet", None)
    with pytest.raises(ValueError, match=r"maskrank\[bench\]"):
        score("lassonet", np.zeros((4, 2)), np.array([0, 1, 0, 1]))


def test_an_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"there are {', '.join(METHODS)}"):
        score("magic", np.zeros((4, 2)), np.zeros(4))
