"""maskrank: which columns does a prediction need, and what is each of them worth?

Public names are imported when they are first used, so that ``import maskrank`` and the command line start at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maskrank.core.method.image_cnn import ImageCNN as ImageCNN
    from maskrank.core.recorder import Callback as Callback
    from maskrank.core.recorder import Progress as Progress
    from maskrank.estimators import DualNetClassifier as DualNetClassifier
    from maskrank.estimators import DualNetCounts as DualNetCounts
    from maskrank.estimators import DualNetRegressor as DualNetRegressor
    from maskrank.estimators import DualNetSurvival as DualNetSurvival
    from maskrank.estimators import load as load
    from maskrank.estimators.explanation import Explanation as Explanation
    from maskrank.estimators.ranking import Ranking as Ranking
    from maskrank.plots import plot_size_curve as plot_size_curve

__version__ = "0.1.0"

_HOMES = {
    "Callback": "maskrank.core.recorder",
    "DualNetClassifier": "maskrank.estimators",
    "DualNetCounts": "maskrank.estimators",
    "DualNetRegressor": "maskrank.estimators",
    "DualNetSurvival": "maskrank.estimators",
    "Explanation": "maskrank.estimators.explanation",
    "ImageCNN": "maskrank.core.method.image_cnn",
    "Progress": "maskrank.core.recorder",
    "Ranking": "maskrank.estimators.ranking",
    "load": "maskrank.estimators",
    "plot_size_curve": "maskrank.plots",
}
__all__ = [
    "Callback",
    "DualNetClassifier",
    "DualNetCounts",
    "DualNetRegressor",
    "DualNetSurvival",
    "Explanation",
    "ImageCNN",
    "Progress",
    "Ranking",
    "load",
    "plot_size_curve",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'maskrank' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
