"""Other methods that choose features, as scikit-learn selectors: ``make_baseline(name, s).fit(X, y)``."""

from maskrank.baselines.registry import BASELINES, BaselineEntry, make_baseline

__all__ = ["BASELINES", "BaselineEntry", "make_baseline"]
