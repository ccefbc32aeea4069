"""`DualNetClassifier`: the dual net for classes, two or more, ordered or not, and for several labels at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from maskrank.core.config import TrainConfig
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, MultilabelTask, OrderedTask
from maskrank.core.metrics import ACCURACY, CLASS_METRICS, LABEL_ACCURACY, LABEL_METRICS, ROC_AUC, Metric
from maskrank.estimators.answers import ClassAnswers
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures, class_figures, label_figures
from maskrank.estimators.fitting import Part
from maskrank.estimators.labels import as_labels, category_order, check_one_type, label_names
from maskrank.estimators.parameters import documented
from maskrank.estimators.row_weights import class_factors
from maskrank.estimators.scaling import Array

ClassTask = BinaryTask | MulticlassTask | OrderedTask | MultilabelTask


@documented
class DualNetClassifier(ClassifierMixin, DualNetBase):
    """Rank features by their importance to a deep net for classification, and select the best s.

    With a ``y`` (n, L) of zeros and ones, L > 1, each column is a label of its own (multilabel): the loss is the mean
    of the labels' log-losses, ``predict`` and ``predict_proba`` give (n, L), and ``score`` is the share of rows with
    all labels right, as in scikit-learn.

    {parameters}
    ordered : bool
        Whether the classes have an order: that of ``classes_``. The loss is the sum of the log-losses of the events
        "beyond the first class", "beyond the second", ... (Frank and Hall 2001; Cheng et al. 2008), so that near misses
        cost less. With two classes it makes no difference.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted; with ``ordered``, those of an ordered pandas category or a polars Enum in their own order.
        Of several labels, the names of the columns, or their numbers.{attributes}

    Examples
    --------
    >>> from maskrank import DualNetClassifier
    >>> from maskrank.datasets import make_xor
    >>> X, y, relevant = make_xor(512, random_state=0)
    >>> model = DualNetClassifier(n_features_to_select=3, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2])
    """

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True}
    _standardizes_target: ClassVar[bool] = False
    _metrics: ClassVar[tuple[Metric, ...]] = (*CLASS_METRICS, LABEL_ACCURACY)
    _order: list[Any] | None = None  # of the labels, where their type has one
    _label_names: list[Any] | None = None  # of a frame of labels

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        max_features_to_select: int | None = None,
        categorical_features: Any = "from_dtype",
        groups: Any = None,
        required: Any = None,
        class_weight: Any = None,
        ordered: bool = False,
        preset: str | TrainConfig = "default",
        search_effort: str | float = "default",
        operator: Any = None,
        selector: tuple[int, ...] | None = None,
        max_batches: int | None = None,
        validation_fraction: float = 0.2,
        standardize: bool = True,
        refit: bool = True,
        n_subsets: int | None = None,
        batch_size: int | None = None,
        phase1_batches: int | None = None,
        exploit_share: float | None = None,
        n_perturbed: int | None = None,
        operator_rate: float | None = None,
        selector_rate: float | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        metric: str = "auto",
        n_repeats: int = 0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "auto",
        checkpoint: Any = None,
        callbacks: tuple[Any, ...] = (),
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            max_features_to_select=max_features_to_select,
            categorical_features=categorical_features,
            groups=groups,
            required=required,
            preset=preset,
            search_effort=search_effort,
            operator=operator,
            selector=selector,
            max_batches=max_batches,
            validation_fraction=validation_fraction,
            standardize=standardize,
            refit=refit,
            n_subsets=n_subsets,
            batch_size=batch_size,
            phase1_batches=phase1_batches,
            exploit_share=exploit_share,
            n_perturbed=n_perturbed,
            operator_rate=operator_rate,
            selector_rate=selector_rate,
            patience=patience,
            stop_on=stop_on,
            metric=metric,
            n_repeats=n_repeats,
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            device=device,
            checkpoint=checkpoint,
            callbacks=callbacks,
            verbose=verbose,
            random_state=random_state,
        )
        self.class_weight = class_weight
        self.ordered = ordered

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, or of each label, in the order of ``classes_``: (n, classes).

        ``predict`` returns the most probable class, which a rare one may never be. With weights of rows or classes, the
        probabilities are those of the weighted table: with ``class_weight="balanced"`` they are not the shares of
        such rows, but higher for rare classes.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        return self._predicted(self._chosen_numbers(X), self._answers().probabilities)

    def predict_proba_selected(self, X: Any) -> Array:
        """`predict_proba` for rows that hold the chosen features alone."""
        check_is_fitted(self)
        return self._predicted(self._selected_numbers(X), self._answers().probabilities)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As in RFE: None keeps half of the features, and one of two blob coordinates is not enough.
        tags.classifier_tags.poor_score = True
        tags.classifier_tags.multi_label = True
        return tags

    task_: ClassTask

    def _make_task(self) -> ClassTask:
        k = len(self.classes_)
        if self._multilabel:
            return MultilabelTask(k)
        if k == 2:
            return BinaryTask()
        return OrderedTask(k - 1) if self.ordered else MulticlassTask(k)

    def _read_target(self, y: Any, *, reset: bool) -> Any:
        if reset:
            self._order, self._label_names = category_order(y), label_names(y)
        return y

    def _learn_target(self, y: Array) -> Array:
        check_one_type(y)
        check_classification_targets(y)
        self._multilabel = y.ndim == 2 and y.shape[1] > 1
        if self._multilabel:
            return self._learn_labels(y)
        if np.asarray(y).dtype.kind not in "OUSbiuf":
            raise ValueError(f"labels of type {np.asarray(y).dtype} are not supported: use text or numbers")
        classes, target = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(classes) == 1:
            raise ValueError(f"y holds one class only, {_shown(classes[0])}: at least 2 classes are needed")
        if not self.ordered or self._order is None:
            self.classes_ = classes
            return target
        places = np.array([self._order.index(label) for label in classes.tolist()])
        self.classes_ = classes[places.argsort()]
        return np.asarray(places.argsort().argsort()[target])

    def _learn_labels(self, y: Array) -> Array:
        if self.ordered:
            raise ValueError(f"ordered=True: y has {y.shape[1]} columns, and must be one column of classes")
        names = self._label_names
        self.classes_ = np.arange(y.shape[1]) if names is None else np.array(names)
        target = as_labels(y)
        if (target == target[0]).all():
            raise ValueError("y holds the same labels in every row: there is nothing to predict")
        return target

    def _class_factors(self, target: Array, weights: Array | None) -> Array | None:
        if not self._multilabel:
            return class_factors(self.class_weight, self.classes_, target, weights)
        if self.class_weight is not None:
            raise ValueError("class_weight is for one column of classes, and y has several columns of labels")
        return None

    def _encode_target(self, y: Array) -> Array:
        if self._multilabel:
            if y.ndim != 2 or y.shape[1] != len(self.classes_):
                raise ValueError(f"y_val has the shape {y.shape}: it must have {len(self.classes_)} columns, as y has")
            return as_labels(y)
        y, sorter = column_or_1d(y, warn=True), self.classes_.argsort()
        target = sorter[np.searchsorted(self.classes_, y, sorter=sorter).clip(max=len(self.classes_) - 1)]
        unknown = self.classes_[target] != y
        if unknown.any():
            raise ValueError(f"y_val holds the label {_shown(y[unknown][0])}, which y does not")
        return np.asarray(target)

    def _known_targets(self, y: Array) -> Array:
        return super()._known_targets(y) if self._multilabel else np.isin(y, self.classes_)

    def _check_split(self, target: Array) -> None:
        if not self._multilabel and np.bincount(target).max() < 2:
            raise ValueError("each class has 1 row: at least one needs 2, one to learn from and one to validate on")

    def _answers(self) -> ClassAnswers:
        return ClassAnswers(self.task_.kind, self.classes_)

    def _output_names(self) -> list[Any]:
        return list(self.classes_.tolist())

    def _figures(self, judging: Part, outputs: Array) -> Figures:
        of_rows = label_figures if self._multilabel else class_figures
        return of_rows(judging.target, self._answers().probabilities(outputs), judging.weights, judging.groups)

    def _metrics_of_target(self) -> tuple[Metric, ...]:
        return LABEL_METRICS if self._multilabel else CLASS_METRICS

    def _usual_metric(self, target: Array, weights: Array | None) -> str:
        if self._multilabel:
            shares = np.average(target, axis=0, weights=weights)
            most = np.maximum(shares, 1 - shares).mean()
        else:
            counts = np.bincount(target, weights)
            most = counts.max() / counts.sum()
        usual = LABEL_ACCURACY if self._multilabel else ACCURACY
        return (ROC_AUC if most > self.config_.signal.frequent_class else usual).name

    def _target_document(self) -> dict[str, Any]:
        return {
            "classes": self.classes_.tolist(),
            "class_type": self.classes_.dtype.str,
        }

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.classes_ = np.array(document["classes"], dtype=document["class_type"])
        self._multilabel = isinstance(self.task_, MultilabelTask)
        self._y_scaling = None


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
