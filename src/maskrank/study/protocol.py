"""The paper's evaluation protocol for one fit: training rows, the model that predicts, and what is recorded.

A data set with published test rows is evaluated on these; each fold leaves out one part of the training rows. A net
with early stopping gets that part, too, and holds out a fifth of its rows itself. Without published test rows each
fold is the test set once, and every method is trained on all the other rows.

A filter method only chooses features: the same Gaussian SVM predicts from them, or for LASSO, LIME and SAN the same
MLP. "rf+mlp" combines the features of one method with the predictions of another. So do "+svm", "+nn" (the nearest
neighbour) and "+trees" (50 extremely randomised trees), for every method and for ours. Where a table is not all
numbers, other methods and these judges get the columns of `TableEncoder`. Hyper-parameters are tuned on training rows,
never on test rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from maskrank.baselines import BASELINES, make_baseline
from maskrank.baselines.encoder import TableEncoder
from maskrank.baselines.mlp import MLP
from maskrank.core.metrics import ACCURACY, MEAN_SQUARED_ERROR, Metric
from maskrank.estimators import DualNetClassifier, DualNetRegressor
from maskrank.estimators.base import DualNetBase
from maskrank.study.names import OURS, check_method
from maskrank.study.runner import Result

Array = NDArray[Any]

_ALL_FEATURES = ("dfs", "avgrad", "rf")  # predict from every feature; the size only says which are shown
_MOST_SCORES = 2_000  # features whose scores are kept with a fit


@dataclass(frozen=True)
class Kind:
    """What a study needs to know of a kind of task.

    Attributes
    ----------
    metric : Metric
    measure : function
        From targets and predictions to the metric.
    estimator, svm, nearest, trees : class
        Ours, the SVM of the filter methods, and other judges of features.
    splitter : class
        Of the folds.
    """

    metric: Metric
    measure: Callable[[Array, Array], float]
    estimator: type[DualNetBase]
    svm: Any
    nearest: Any
    trees: Any
    splitter: Any


KINDS = {
    "classification": Kind(
        ACCURACY,
        accuracy_score,
        DualNetClassifier,
        SVC,
        KNeighborsClassifier,
        ExtraTreesClassifier,
        StratifiedKFold,
    ),
    "regression": Kind(
        MEAN_SQUARED_ERROR,
        mean_squared_error,
        DualNetRegressor,
        SVR,
        KNeighborsRegressor,
        ExtraTreesRegressor,
        KFold,
    ),
}


class Fold(NamedTuple):
    """Samples by number: learned from, kept for early stopping (may be none), tested on."""

    train: Array
    validation: Array
    test: Array


@dataclass(frozen=True)
class Samples:
    """A table, or a part of one: an array, or a pandas frame of columns of any kind; and groups of rows, if any."""

    X: Any
    y: Array
    groups: Array | None = None

    def take(self, rows: Array) -> Samples:
        return Samples(_taken(self.X, rows), self.y[rows], None if self.groups is None else self.groups[rows])

    def only(self, features: Array) -> Samples:
        return Samples(_taken(self.X, slice(None), features), self.y, self.groups)


def _taken(X: Any, *places: Any) -> Any:
    """Rows, or rows and columns, of an array or a pandas frame, by their numbers."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def uses_all_features(method: str) -> bool:
    """Whether a method predicts from all features, so that its figure is the same at every size."""
    return method in _ALL_FEATURES


def divide(y: Array, splits: dict[str, Array], *, task: str, folds: int, seed: int) -> list[Fold]:
    """The folds of a data set.

    Parameters
    ----------
    y : array (n,)
    splits : dict
        Published parts, "train" and "test" among them; empty where there are none.
    """
    cross = KINDS[task].splitter(folds, shuffle=True, random_state=seed)
    nothing = np.arange(0)
    if "test" not in splits:
        return [Fold(train, nothing, test) for train, test in cross.split(np.zeros(len(y)), y)]
    learned = np.concatenate([rows for name, rows in splits.items() if name != "test"])
    return [
        Fold(learned[train], learned[left_out], splits["test"])
        for train, left_out in cross.split(np.zeros(len(learned)), y[learned])
    ]


def orders_once(method: str) -> bool:
    """Whether the order of the features, and so the fit, is the same for every size."""
    name = method.partition("+")[0]
    return name in BASELINES and BASELINES[name].orders_once


def evaluate(method: str, table: Samples, fold: Fold, size: int, **options: Any) -> Result:
    """`evaluate_all` for one size and one judge."""
    return evaluate_all([(method, size)], table, fold, **options)[0]


def evaluate_all(
    wanted: Sequence[tuple[str, int]],
    table: Samples,
    fold: Fold,
    *,
    task: str,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    mlp: tuple[int, ...] = (60, 30, 20),
    keep_history: bool = False,
) -> list[Result]:
    """Fit one method on one fold, and evaluate it at some sizes by some judges on the test rows.

    There is one fit for each size, or for all sizes if the method orders the features once.

    Parameters
    ----------
    wanted : sequence of (str, int)
        The method with its judge, and a size; sizes that are equal follow each other.

    Returns
    -------
    list of dict
        Of each size "score" (accuracy or mean squared error), "seconds" and "megabytes" of the fit, "selected" (best
        first), "scores" of the features, and for our method "history" where it is asked for.
    """
    train, test = table.take(fold.train), table.take(fold.test)
    lines: list[Result] = []
    fitted = 0  # the size of the last fit
    for method, size in wanted:
        check_method(method)
        name, _, judge = method.partition("+")
        if not lines or (size != fitted and not orders_once(method)):
            learned, fitted = _learned(name, fold, table), size
            started = time.perf_counter()
            with _peak_memory() as memory:
                if name == OURS:
                    model = KINDS[task].estimator(size, random_state=seed, **(settings or {}))
                    model.fit(learned.X, learned.y, **_row_groups(learned))
                    order = np.argsort(model.ranking_, kind="stable")
                else:
                    model = make_baseline(name, size, task=task, random_state=seed, **(settings or {}))
                    order = model.fit(learned.X, learned.y).order_
            seconds = time.perf_counter() - started
        chosen = order[:size]
        judged_by = judge or ("own" if name == OURS else BASELINES[name].scored_by)
        predict = model.predict if judged_by == "own" else _predictor(judged_by, chosen, train, task, mlp, seed)
        line: Result = {
            "score": float(KINDS[task].measure(test.y, predict(test.X))),
            "seconds": round(seconds, 3),
            "megabytes": memory[0],
            "selected": [int(i) for i in chosen],
        }
        if len(order) <= _MOST_SCORES:
            line["scores"] = [float(f"{value:.6g}") for value in model.feature_importances_]
        if keep_history and name == OURS:
            line["history"] = _course(model)
        lines.append(line)
    return lines


def _learned(method: str, fold: Fold, table: Samples) -> Samples:
    """Training rows of a method: a net with early stopping also gets the validation rows, as it holds out a fifth."""
    stops_early = method == OURS or (BASELINES[method].scored_by == "own" and method != "rf")
    rows = np.concatenate([fold.train, fold.validation]) if stops_early else fold.train
    return table.take(rows)


def _predictor(judge: str, chosen: Array, train: Samples, task: str, mlp: tuple[int, ...], seed: int) -> Any:
    """A judge on the chosen features: a function that predicts from a table."""
    chosen = np.sort(chosen)
    learned = train.only(chosen)
    if judge == "mlp":
        predict = MLP(hidden=mlp, task=task, random_state=seed).fit(learned.X, learned.y).predict
    elif judge == "svm":
        predict = _svm(learned, task)
    else:
        model = KINDS[task].nearest(1) if judge == "nn" else KINDS[task].trees(50, random_state=seed)
        predict = make_pipeline(TableEncoder(task), StandardScaler(), model).fit(learned.X, learned.y).predict
    return lambda X: predict(_taken(X, slice(None), chosen))


def _svm(train: Samples, task: str) -> Any:
    """The Gaussian SVM of the paper, C = 1 and gamma = 1 / (columns x variance); a regression has standardised y."""
    mean, scale = (0.0, 1.0) if task == "classification" else (train.y.mean(), train.y.std() or 1.0)
    y = train.y if task == "classification" else (train.y - mean) / scale
    svm = make_pipeline(TableEncoder(task), StandardScaler(), KINDS[task].svm(C=1.0, gamma="scale")).fit(train.X, y)
    if task == "classification":
        return svm.predict
    return lambda X: svm.predict(X) * scale + mean


def _course(model: Any) -> dict[str, Any]:
    """The losses over the batches, to four digits."""
    history = asdict(model.history_)
    return {
        "batch": history["batch"],
        "phase": history["phase"],
        "operator_loss": [float(f"{value:.4g}") for value in history["operator_loss"]],
        "selector_loss": [float(f"{value:.4g}") for value in history["selector_loss"]],
        "validation": [[batch, float(f"{value:.4g}")] for batch, value in history["validation"]],
    }


@contextmanager
def _peak_memory() -> Iterator[list[float | None]]:
    """Peak growth of the process in megabytes; None where the system does not report it."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    grown: list[float | None] = [None]
    try:
        reset.write_text("5")  # the peak begins anew
        before = _status(status, "VmRSS")
    except OSError:
        yield grown
        return
    yield grown
    grown[0] = round((_status(status, "VmHWM") - before) / 1024, 1)


def _status(file: Path, name: str) -> int:
    return int(next(line for line in file.read_text().splitlines() if line.startswith(name)).split()[1])


def _row_groups(samples: Samples) -> dict[str, Array]:
    """Groups of rows for a fit; a single group can't be split, and is none."""
    return {} if samples.groups is None or len(np.unique(samples.groups)) < 2 else {"groups": samples.groups}
