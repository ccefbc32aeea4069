"""The dual net as scikit-learn estimators, and what turns a user's arrays into what the core takes and back.

Names are imported when they are first used: a process that only repeats a fit needs no scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maskrank.estimators.dual_net import DualNetClassifier as DualNetClassifier
    from maskrank.estimators.dual_net import DualNetRegressor as DualNetRegressor
    from maskrank.estimators.dual_net import load as load

__all__ = ["DualNetClassifier", "DualNetRegressor", "load"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'maskrank.estimators' has no attribute {name!r}")
    from maskrank.estimators import dual_net

    return getattr(dual_net, name)
