"""The dual net as scikit-learn estimators: their parameters, ``fit``, predictions, model files, notebook display.

Validation, scaling and splits turn a user's arrays into what `core` takes. Reading files and column types is in
`tables`, pages are in `report`. Names are imported on first use: a process that only refits needs no scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maskrank.estimators.classifier import DualNetClassifier as DualNetClassifier
    from maskrank.estimators.counts import DualNetCounts as DualNetCounts
    from maskrank.estimators.loading import load as load
    from maskrank.estimators.regressor import DualNetRegressor as DualNetRegressor
    from maskrank.estimators.survival import DualNetSurvival as DualNetSurvival

_HOMES = {
    "DualNetClassifier": "maskrank.estimators.classifier",
    "DualNetCounts": "maskrank.estimators.counts",
    "DualNetRegressor": "maskrank.estimators.regressor",
    "DualNetSurvival": "maskrank.estimators.survival",
    "load": "maskrank.estimators.loading",
}
__all__ = ["DualNetClassifier", "DualNetCounts", "DualNetRegressor", "DualNetSurvival", "load"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'maskrank.estimators' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
