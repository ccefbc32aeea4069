"""Base classes of the methods: validation and scaling, ``fit``, fitted attributes, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from maskrank.baselines.encoder import ReadsTables
from maskrank.estimators.amounts import resolve_size
from maskrank.estimators.preparation import resolve_seed
from maskrank.estimators.scaling import Columns

Array = NDArray[Any]
Floats = NDArray[np.float64]
_TASKS = ("auto", "classification", "regression")


def resolve_task(task: str, y: Array) -> str:
    """The kind of target; "auto" takes continuous floats for a regression."""
    if task not in _TASKS:
        raise ValueError(f"task={task!r} is not known; there are {', '.join(_TASKS)}")
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"y is {kind}: one label or one number per row is needed")
    if task == "classification" and kind == "continuous":
        raise ValueError("task='classification', but y holds continuous numbers: give labels, or task='regression'")
    if task != "auto":
        return task
    return "regression" if kind == "continuous" else "classification"


def import_library(module: str, extra: str) -> Any:
    """A module of a library that is not always there; ValueError that says what brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        library = module.split(".", maxsplit=1)[0]
        raise ValueError(f"{library} is not installed: pip install 'maskrank[{extra}]' brings it") from error


@contextmanager
def kept_random_state() -> Iterator[None]:
    """Give NumPy's and torch's global random states back as they were: some libraries seed them."""
    before = np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


class TableModel(ReadsTables):
    """Reads a table: validates, encodes and standardises the columns, encodes labels or standardises numbers."""

    _standardize: ClassVar[bool] = True  # trees and ranks need no scale
    task: str
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _learn_table(self, X: Any, y: Any) -> tuple[Floats, Array]:
        """Training rows as the methods want them: X (n, columns), y class codes or standardised numbers (n,)."""
        X, y = self._validate(X, y)
        self.task_ = resolve_task(self.task, y)
        if self.task_ == "classification":
            self.classes_, target = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise ValueError(f"y holds one class only, {self.classes_[0]!r}: at least 2 are needed")
        else:
            values = np.asarray(y, dtype=np.float64)[:, None]
            self._target = Columns.learn(values).scaling()
            target = self._target.apply(values)[:, 0]
        return self._learn_columns(X, target, standardize=self._standardize), target

    def _rng(self) -> Generator:
        return np.random.default_rng(resolve_seed(self.random_state))


class Predicts(TableModel):
    """``predict`` and ``score`` of a method that has a model of its own."""

    @abstractmethod
    def _predict_target(self, X: Floats) -> Array:
        """Class codes or standardised numbers for scaled rows."""

    def predict(self, X: Any) -> Array:
        """Labels, or numbers in the units of y, by the method's own model.

        Parameters
        ----------
        X : frame or array-like (n, d)
        """
        target = self._predict_target(self._read(X))
        return np.asarray(self.classes_[target] if self.task_ == "classification" else self._target.undo(target))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of a classification, R² of a regression.

        Parameters
        ----------
        X : frame or array-like (n, d)
        y : array-like (n,)
        """
        measure = accuracy_score if self.task_ == "classification" else r2_score
        return float(measure(y, self.predict(X)))


class Baseline(SelectorMixin, TableModel):
    """A method that ranks features, as a scikit-learn selector.

    A subclass has its parameters, and ``_rank``, which returns scores of all columns, the higher the better, or all
    columns in their order, best first; ``_gives`` says which.

    Tables hold text, categories, dates and missing values, too. Every method gets them through the same encoding, that
    of our own estimators: categories are one-hot, of many levels their mean targets (computed without the rows of a
    row's own fold), and a missing value has an indicator. A feature of several columns has the sum of their scores; of
    a method that orders columns, it has the place of its first one. Fitted attributes are over the columns of X.

    Attributes
    ----------
    ranking_ : ndarray (d,) of int
        1..s for the chosen, best first; s+1 for the rest.
    support_ : ndarray (d,) of bool
    feature_importances_ : ndarray (d,)
        The method's scores. Of a method that orders without scores, falling shares by rank, and of one that does not
        rank what it chooses, 1/s; both 0 for the rest.
    order_ : ndarray (d,) of int
        All features, best first, as far as the method orders them.
    task_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the columns of X have names.
    """

    _gives: ClassVar[Literal["scores", "order", "set"]] = "scores"
    n_features_to_select: int | float | None

    @abstractmethod
    def _rank(self, X: Floats, y: Array, size: int, rng: Generator) -> Array:
        """Scores or an order of the columns: (columns,). ``size`` counts features, see ``_n_features``."""

    def _n_features(self, columns: Sequence[int] | Array) -> int:
        """How many features some columns belong to: as many as there are columns, in a table of plain numbers."""
        return len(set(self._feature_of[columns].tolist()))

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features and choose the best.

        Parameters
        ----------
        X : frame or array-like (n, d)
        y : array-like (n,)
            Labels or numbers.
        """
        X, y = self._learn_table(X, y)
        d = len(self._widths)
        self._feature_of = np.repeat(np.arange(d), self._widths)  # (columns,)
        size = resolve_size(self.n_features_to_select, d, may_be_all=False)
        rng = self._rng()
        ranked = self._of_features(np.asarray(self._rank(X, y, size, rng)))
        # ties, such as LASSO's many zeros, are broken at random: by position the first columns would gain
        order = np.lexsort((rng.permutation(d), -ranked)) if self._gives == "scores" else ranked
        self.order_ = order.astype(np.int64)
        self.ranking_ = np.full(d, size + 1)
        self.ranking_[order[:size]] = np.arange(1, size + 1)
        self.support_ = self.ranking_ <= size
        self.feature_importances_ = self._importances(ranked, size)
        return self

    def _of_features(self, ranked: Array) -> Array:
        """Scores or an order of the columns as those of the features: (columns,) -> (d,)."""
        if self._gives == "scores":
            return np.add.reduceat(ranked, np.cumsum(self._widths) - self._widths)
        return np.array(list(dict.fromkeys(self._feature_of[ranked].tolist())))

    def _importances(self, ranked: Array, size: int) -> Floats:
        if self._gives == "scores":
            return ranked.astype(np.float64)
        shares = np.full(size, 1 / size) if self._gives == "set" else np.arange(size, 0, -1) * 2 / (size * (size + 1))
        importances = np.zeros(len(ranked))
        importances[ranked[:size]] = shares
        return importances

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        support: NDArray[np.bool_] = self.support_
        return support
