"""Other methods of feature selection, as scikit-learn selectors: ``make_baseline(name, s).fit(X, y)``.

One file per method, and one registry; how they are compared is in `study`.
"""

from maskrank.baselines.registry import BASELINES, BaselineEntry, make_baseline

__all__ = ["BASELINES", "BaselineEntry", "make_baseline"]
