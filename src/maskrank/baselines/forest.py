"""Random forest (Breiman 2001): the mean decrease of impurity."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from maskrank.baselines._base import Array, Baseline, Floats, Predicts
from maskrank.estimators.preparation import resolve_seed

_TREES = (50, 90, 130, 170, 220)
_DEPTHS = (7, 11, 15, 19, 24)


class RandomForest(Predicts, Baseline):
    """Random forest (Breiman 2001); scikit-learn does the work. Scores are the mean decrease of impurity.

    As in Wojtas and Chen, 50 to 220 trees of depth 7 to 24 are compared by their out-of-bag score, and trees are
    added to a forest that stands, so that the whole grid costs five forests of 220 trees. ``predict`` uses all
    features.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    n_estimators : int or "search"
    max_depth : int, None or "search"
        None lets trees grow until their leaves are pure.
    task : "auto", "classification" or "regression"
    random_state : int, NumPy generator or None

    Attributes
    ----------
    model_ : RandomForestClassifier or RandomForestRegressor
    """

    _standardize = False

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_estimators: int | str = "search",
        max_depth: int | str | None = "search",
        task: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.task = task
        self.random_state = random_state

    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        seed = resolve_seed(self.random_state)  # the very number that was given: the forest is scikit-learn's own
        kind = RandomForestClassifier if self.task_ == "classification" else RandomForestRegressor
        trees, depth = self._search(kind, X, y, seed)
        self.model_ = kind(trees, max_depth=depth, random_state=seed).fit(X, y)
        scores: Array = self.model_.feature_importances_
        return scores

    def _search(self, kind: Any, X: Floats, y: Array, seed: int) -> tuple[Any, Any]:
        """Number and depth of the trees with the lowest out-of-bag error."""
        counts = _TREES if self.n_estimators == "search" else (self.n_estimators,)
        depths = _DEPTHS if self.max_depth == "search" else (self.max_depth,)
        if len(counts) == len(depths) == 1:
            return counts[0], depths[0]
        found: dict[tuple[Any, Any], float] = {}
        for depth in depths:
            forest = kind(max_depth=depth, warm_start=True, oob_score=True, random_state=seed)
            for count in counts:
                found[count, depth] = forest.set_params(n_estimators=count).fit(X, y).oob_score_
        return max(found, key=found.__getitem__)

    def _predict_target(self, X: Floats) -> Array:
        predicted: Array = self.model_.predict(X)
        return predicted
