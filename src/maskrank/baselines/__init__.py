"""Other methods that score features, behind one function: ``score(name, X, y, random_state)``."""

from maskrank.baselines.registry import METHODS, score

__all__ = ["METHODS", "score"]
