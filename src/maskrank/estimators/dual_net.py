"""The dual net as scikit-learn estimators: `DualNetClassifier` and `DualNetRegressor`; and `load`."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d
from torch import Tensor

from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.persistence import read_model
from maskrank.estimators.scaling import Array, Columns, Scaling

_PARAMETERS = """
    Parameters
    ----------
    n_features_to_select : int, float or None
        s, the number of features to keep: in 1..d-1, a share of them in (0, 1), or None for half.
    preset : str
        The recipe: "default", "paper", or "paper:NAME" with the nets and numbers of the paper for one data set
        (xor, regression, orange_skin, mnist, glass, vowel, tox171, yale, enhancer, rna_seq).
    operator : None, tuple of int, or a net
        None takes the recipe's MLP, a tuple is the hidden sizes of another one. A net is an ``nn.Module``, its
        class, or a function ``(n_features, n_outputs) -> nn.Module``; its ``forward(x, mask)`` takes the masked
        features and the mask, both (rows, d). For images: ``functools.partial(ImageCNN, image_shape=(32, 32))``.
    selector : None or tuple of int
        Hidden sizes of the selector.
    max_batches : int, optional
        The most operator batches; Phase I gets at most two thirds of them, the refit as many steps.
    validation_fraction : float
        Share of the rows held out for early stopping, unless ``fit`` is given some.
    standardize : bool
        Bring each feature (and the target of a regression) to mean 0 and variance 1; undone on output.
    refit : bool
        Train the final predictor anew on the chosen features. Preset "paper" predicts with the operator itself.
    n_subsets, batch_size, phase1_batches, n_perturbed, patience : int, optional
    exploit_share, operator_rate, selector_rate : float, optional
    stop_on : "loss" or "error", optional
        Single numbers of the recipe, see `maskrank.core.config.TrainConfig`; None leaves them to the preset, which
        lowers the rates for nets wider than its own.
    n_repeats : int
        Repeat the fit so often, each time with another seed on another 80 % of the rows, to see what the ranking owes
        to chance: ``stability_``. 0 for none. What the model itself is and predicts does not depend on it.
    n_jobs : int or None
        How many repeats at the same time, each in a process of its own beside the fit; -1 for as many as there are
        cores. None or 1 do them one after the other after the fit. The answer is the same.
    device : str
        "auto" takes CUDA or MPS where there is one.
    callbacks : tuple of callable
        Each is called with a `Progress` after every selector step. A `maskrank.Callback` is also told of each stage as
        it begins, and in a line what a stage found.
    verbose : int
        1 shows a progress bar on standard error.
    random_state : int, Generator, RandomState or None
        The same number gives the same result, bit for bit, on one machine (with a net of your own: and with the
        same number of torch threads).
"""

_ATTRIBUTES = """
    ranking_ : ndarray (d,) of int
        1..s for the chosen features, best first; s+1 for the rest.
    feature_importances_ : ndarray (d,)
        Anchored scores: by how much a feature lowers the predicted loss, 0 = an average feature left out.
    raw_scores_ : ndarray (d,)
        -df_S/dm at m*, of which only differences mean something.
    support_ : ndarray (d,) of bool
        m*, the chosen features.
    result_ : Ranking
        All of these in one object.
    history_ : History
        Losses of both nets, phases, and m_opt over time.
    validation_score_, baseline_score_ : float
        Accuracy, or mean squared error, on the held-out rows: of nets that did not learn from these rows, on
        features chosen without them, and of the best constant answer.
    signal_ : bool
        Whether the loss of these nets on the held-out rows is lower than the best constant answer's, beyond chance.
    stability_ : Stability or None
        What the repeats agree on: how often each feature was chosen, intervals of its rank and its score, and a
        consensus. None without ``n_repeats``.
    config_ : TrainConfig
        The recipe that was used.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


class DualNetClassifier(ClassifierMixin, DualNetBase):  # type: ignore[misc]
    """Rank features by what they are worth to a deep net that classifies, and keep the best s.

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

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        """
        return self._probabilities(self._outputs(self._chosen_columns(X)))

    def predict_proba_selected(self, X: Any) -> Array:
        """`predict_proba` for rows that hold the chosen features alone."""
        check_is_fitted(self)
        return self._probabilities(self._outputs(self._selected_array(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As in RFE: None keeps half of the features, and one of two blob coordinates is not enough.
        tags.classifier_tags.poor_score = True
        return tags

    def _task(self) -> BinaryTask | MulticlassTask:
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
        counts = np.bincount(target)
        if counts.min() < 2:
            raise ValueError(
                f"class {_shown(self.classes_[counts.argmin()])} has 1 row: each class needs at least 2, one to learn "
                "from and one to validate on"
            )

    def _probabilities(self, outputs: Tensor) -> Array:
        return self._task().probabilities(outputs).numpy()

    def _decode(self, outputs: Tensor) -> Array:
        return self.classes_[self._probabilities(outputs).argmax(axis=1)]

    def _measure(self, target: Array, outputs: Tensor) -> float:
        return float((self._probabilities(outputs).argmax(axis=1) == target).mean())

    def _measure_constant(self, target: Array, training: Array) -> float:
        return float((np.bincount(training).argmax() == target).mean())

    def _target_document(self) -> dict[str, Any]:
        return {
            "n_outputs": self._task().n_outputs,
            "classes": self.classes_.tolist(),
            "class_type": self.classes_.dtype.str,
        }

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.classes_ = np.array(document["classes"], dtype=document["class_type"])
        self._y_scaling = None


class DualNetRegressor(RegressorMixin, MultiOutputMixin, DualNetBase):  # type: ignore[misc]
    """Rank features by what they are worth to a deep net that predicts numbers, and keep the best s.

    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from maskrank import DualNetRegressor
    >>> from maskrank.datasets import make_nonlinear_regression
    >>> X, y, relevant = make_nonlinear_regression(512, random_state=0)
    >>> model = DualNetRegressor(n_features_to_select=4, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3])
    """

    _target_checks: ClassVar[dict[str, Any]] = {"y_numeric": True, "multi_output": True}

    def _task(self) -> RegressionTask:
        return RegressionTask(self.n_outputs_)

    def _learn_target(self, y: Array) -> Array:
        constant = ~Columns.learn(_columns(y).astype(np.float64)).varies
        if constant.any():
            which = "" if y.ndim == 1 else f" in column {constant.argmax()}"
            raise ValueError(f"y is constant{which}: there is nothing to predict")
        self._single_output = y.ndim == 1
        self.n_outputs_ = _columns(y).shape[1]
        return y.astype(np.float64)

    def _encode_target(self, y: Array) -> Array:
        if _columns(y).shape[1] != self.n_outputs_:
            raise ValueError(f"y_val has {_columns(y).shape[1]} outputs, y has {self.n_outputs_}")
        values = _columns(y).astype(np.float64)
        return values[:, 0] if self._single_output else values

    def _decode(self, outputs: Tensor) -> Array:
        values = self._y_scaling.undo(outputs.numpy())
        return values[:, 0] if self._single_output else values

    def _measure(self, target: Array, outputs: Tensor) -> float:
        return float(np.square(self._decode(outputs) - target).mean())

    def _measure_constant(self, target: Array, training: Array) -> float:
        return float(np.square(training.mean(axis=0) - target).mean())

    def _target_document(self) -> dict[str, Any]:
        return {
            "n_outputs": self.n_outputs_,
            "single_output": self._single_output,
            "y_mean": self._y_scaling.mean.tolist(),
            "y_scale": self._y_scaling.scale.tolist(),
        }

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.n_outputs_, self._single_output = document["n_outputs"], document["single_output"]
        self._y_scaling = Scaling(np.array(document["y_mean"]), np.array(document["y_scale"]))


for _class in (DualNetClassifier, DualNetRegressor):
    _class.__doc__ = (_class.__doc__ or "").format(parameters=_PARAMETERS.strip(), attributes=_ATTRIBUTES.rstrip())


def load(path: str | os.PathLike[str], *, operator: Any = None) -> DualNetClassifier | DualNetRegressor:
    """Read a model that was saved with ``model.save(path)``.

    Parameters
    ----------
    path : path
    operator : nn.Module, its class, or a function, optional
        Needed where the model's operator was a net of your own: a file holds its numbers, not its code.

    Returns
    -------
    DualNetClassifier or DualNetRegressor
        It predicts what the saved one did, bit for bit.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is not a maskrank model, is damaged, or was written by a newer version.
    """
    stored = read_model(path, operator)
    estimators = {kind.__name__: kind for kind in (DualNetClassifier, DualNetRegressor)}
    try:
        return estimators[stored.document["estimator"]]._restored(stored, operator)  # type: ignore[no-any-return]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path} is damaged: its parts do not fit together ({error!r})") from error


def _columns(y: Array) -> Array:
    return y.reshape(-1, 1) if y.ndim == 1 else y


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
