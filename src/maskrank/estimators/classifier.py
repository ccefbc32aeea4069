"""`DualNetClassifier`: the dual net for classes, two or more."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d
from torch import Tensor

from maskrank.core.method.tasks import BinaryTask, MulticlassTask
from maskrank.core.metrics import ACCURACY, CLASS_METRICS, ROC_AUC, Metric
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures, class_figures
from maskrank.estimators.parameters import documented
from maskrank.estimators.scaling import Array


@documented
class DualNetClassifier(ClassifierMixin, DualNetBase):
    """Rank features by their importance to a deep net for classification, and select the best s.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.{attributes}

    Examples
    --------
    >>> from maskrank import DualNetClassifier
    >>> from maskrank.datasets import make_xor
    >>> X, y, relevant = make_xor(512, random_state=0)
    >>> model = DualNetClassifier(n_features_to_select=3, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    _target_checks: ClassVar[dict[str, Any]] = {}
    _metrics: ClassVar[tuple[Metric, ...]] = CLASS_METRICS

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, in the order of ``classes_``, for rows like those learned from.

        ``predict`` answers the most probable class, which a rare one may never be. Where rows or classes have weights,
        probabilities are those under the weights: with classes of equal weight in all, a rare class is answered as
        soon as a row speaks for it more than for the others, and its probability is not its share of such rows.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        return self._probabilities(self._outputs(self._chosen_numbers(X)))

    def predict_proba_selected(self, X: Any) -> Array:
        """`predict_proba` for rows that hold the chosen features alone."""
        check_is_fitted(self)
        return self._probabilities(self._outputs(self._selected_numbers(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As in RFE: None keeps half of the features, and one of two blob coordinates is not enough.
        tags.classifier_tags.poor_score = True
        return tags

    task_: BinaryTask | MulticlassTask

    def _make_task(self) -> BinaryTask | MulticlassTask:
        return BinaryTask() if len(self.classes_) == 2 else MulticlassTask(len(self.classes_))

    def _learn_target(self, y: Array) -> Array:
        check_classification_targets(y)
        if np.asarray(y).dtype.kind not in "OUSbiuf":
            raise ValueError(f"labels of type {np.asarray(y).dtype} are not supported: use text or numbers")
        self.classes_, target = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(self.classes_) == 1:
            raise ValueError(f"y holds one class only, {_shown(self.classes_[0])}: at least 2 classes are needed")
        return target

    def _encode_target(self, y: Array) -> Array:
        target = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[target] != y
        if unknown.any():
            raise ValueError(f"y_val holds the label {_shown(y[unknown][0])}, which y does not")
        return target

    def _check_split(self, target: Array) -> None:
        if np.bincount(target).max() < 2:
            raise ValueError("each class has 1 row: at least one needs 2, one to learn from and one to validate on")

    def _probabilities(self, outputs: Tensor) -> Array:
        return self.task_.probabilities(outputs).numpy()

    def _decode(self, outputs: Tensor) -> Array:
        return np.asarray(self.classes_[self._probabilities(outputs).argmax(axis=1)])

    def _explained(self, outputs: Tensor) -> Array:
        return self._probabilities(outputs)

    def _output_names(self) -> list[Any]:
        return list(self.classes_.tolist())

    def _figures(self, target: Array, outputs: Tensor, weights: Array | None) -> Figures:
        return class_figures(target, self._probabilities(outputs), weights)

    def _usual_metric(self, target: Array, weights: Array | None) -> str:
        counts = np.bincount(target, weights)
        most = counts.max() / counts.sum()
        return (ROC_AUC if most > self.config_.signal.frequent_class else ACCURACY).name

    def _target_document(self) -> dict[str, Any]:
        return {
            "classes": self.classes_.tolist(),
            "class_type": self.classes_.dtype.str,
        }

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.classes_ = np.array(document["classes"], dtype=document["class_type"])
        self._y_scaling = None


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
