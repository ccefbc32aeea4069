"""What `survival.py` compares with: Cox's model with a lasso penalty, a random survival forest, and LassoNet's Cox.

Each method chooses at most s columns of the table as it came, on the training rows, and predicts risks of test rows.
Categories go in as indicators, of which a feature has one less than levels; numbers are standardised, gaps are means.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance

_TREES, _LEAF = 300, 15  # leaves of 15 rows, as in scikit-survival's own example on gbsg2
_MIN_RATIO = 0.01  # of the lowest penalty to the highest
_RIDGE = 0.1  # of the refits, whose indicators may be collinear


@dataclass(frozen=True)
class Encoded:
    """Training and test rows as numbers; ``owner`` says which column of the table each of their columns is of."""

    train: Any  # (n, columns)
    test: Any
    owner: Any  # (columns,)

    def only(self, features: Any) -> Encoded:
        kept = np.isin(self.owner, features)
        return Encoded(self.train[:, kept], self.test[:, kept], self.owner[kept])


Answer = tuple[Any, dict[str, Any]]  # the chosen columns of the table, and the risks of the test rows by method


def encoded(train: pd.DataFrame, test: pd.DataFrame) -> Encoded:
    """The columns of both, encoded by the training rows."""
    columns: list[tuple[Any, Any, int]] = []
    for place, name in enumerate(train):
        if pd.api.types.is_numeric_dtype(train[name]):
            columns.append((train[name].to_numpy(float), test[name].to_numpy(float), place))
            continue
        for level in sorted(train[name].dropna().astype(str).unique())[1:]:
            parts = [(frame[name].astype(str) == level).to_numpy(float) for frame in (train, test)]
            columns.append((*parts, place))
    shown, hidden = (np.column_stack([column[side] for column in columns]) for side in (0, 1))
    mean, scale = np.nanmean(shown, axis=0), np.nanstd(shown, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    shown, hidden = (np.nan_to_num((values - mean) / scale) for values in (shown, hidden))
    return Encoded(shown, hidden, np.array([column[2] for column in columns]))


def structured(time: Any, event: Any) -> Any:
    """As scikit-survival takes them."""
    return np.array(list(zip(event.astype(bool), time, strict=True)), dtype=[("event", bool), ("time", float)])


def coxnet(data: Encoded, time: Any, event: Any, size: int, seed: int) -> Answer:
    """Risks of the lasso at the lowest penalty with at most s features, and of Cox's model refitted on these."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis

    y = structured(time, event)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=200, alpha_min_ratio=_MIN_RATIO).fit(data.train, y)
    chosen = [np.unique(data.owner[weights != 0]) for weights in path.coef_.T]
    best = max((k for k, features in enumerate(chosen) if len(features) <= size), key=lambda k: (len(chosen[k]), k))
    few = data.only(chosen[best])
    refit = CoxPHSurvivalAnalysis(alpha=_RIDGE).fit(few.train, y)
    return chosen[best], {"Coxnet": data.test @ path.coef_[:, best], "Cox refitted": refit.predict(few.test)}


def forest(data: Encoded, time: Any, event: Any, size: int, seed: int) -> Answer:
    """Risks of a random survival forest on its s best features by permutation importance on the training rows."""
    from sksurv.ensemble import RandomSurvivalForest

    y = structured(time, event)

    def fitted(values: Any) -> Any:
        kind = RandomSurvivalForest(_TREES, min_samples_leaf=_LEAF, random_state=seed, low_memory=True)
        return kind.fit(values, y)

    whole = fitted(data.train)
    importance = permutation_importance(whole, data.train, y, n_repeats=3, random_state=seed).importances_mean
    by_feature = np.bincount(data.owner, importance)
    chosen = by_feature.argsort(kind="stable")[::-1][:size]
    few = data.only(chosen)
    return chosen, {"survival forest": fitted(few.train).predict(few.test)}


def lassonet(data: Encoded, time: Any, event: Any, size: int, seed: int) -> Answer:
    """Risks of LassoNet's Cox model at the lowest penalty with at most s features."""
    from lassonet import LassoNetCoxRegressor

    model = LassoNetCoxRegressor(
        tie_approximation="efron", hidden_dims=(100,), random_state=seed, torch_seed=seed, verbose=0
    )
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        path = model.path(
            data.train.astype(np.float32), np.column_stack([time, event]).astype(np.float32), return_state_dicts=True
        )
    fits = [step for step in path if len(np.unique(data.owner[step.selected.numpy()])) <= size]
    if not fits:
        return (), {"LassoNet": None}
    model.load(fits[0].state_dict)
    return np.unique(data.owner[fits[0].selected.numpy()]), {
        "LassoNet": model.predict(data.test.astype(np.float32)).ravel()
    }


METHODS = (coxnet, forest, lassonet)
