"""LassoNet (Lemhadri et al. 2021): how long a feature stays on the path. The package of its authors does the work."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler


def score(X: Any, y: Any, random_state: int) -> Any:
    """Of one hidden layer of 100 units, as the package has it."""
    try:
        from lassonet import LassoNetClassifier
    except ImportError as error:
        raise ValueError("lassonet is not installed: pip install 'maskrank[bench]' brings it") from error
    X = StandardScaler().fit_transform(X).astype("float32")
    model = LassoNetClassifier(hidden_dims=(100,), random_state=random_state, torch_seed=random_state, verbose=0)
    model.path(X, y)
    return model.feature_importances_.numpy()
