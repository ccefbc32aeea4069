"""LassoNet (Lemhadri, Ruan, Abraham and Tibshirani 2021): how long a feature stays on the path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from maskrank.baselines._base import Array, Baseline, Floats, import_library, kept_random_state


class LassoNet(Baseline):
    """LassoNet (Lemhadri et al. 2021); the package of its authors does the work.

    Scores are the penalties at which the features leave the path, so that those that stay to its end lead.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    hidden : tuple of int
        Hidden layers.
    settings : dict or None
        Further arguments of the package's estimator.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        hidden: tuple[int, ...] = (100,),
        settings: dict[str, Any] | None = None,
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.hidden = hidden
        self.settings = settings
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        package = import_library("lassonet", "bench")
        classify = self.task_ == "classification"
        seed = int(rng.integers(2**31))
        model = (package.LassoNetClassifier if classify else package.LassoNetRegressor)(
            hidden_dims=tuple(self.hidden), random_state=seed, torch_seed=seed, verbose=0, **(self.settings or {})
        )
        with kept_random_state():
            model.path(X.astype(np.float32), y if classify else y[:, None].astype(np.float32))
        scores = np.asarray(model.feature_importances_.numpy(), dtype=np.float64)
        most = np.finfo(np.float64).max / self._widths.max()  # those of a feature's columns are added up
        return np.nan_to_num(scores, posinf=most)
