"""What predicts, without the rest of a model: needs neither torch nor scikit-learn, so that it starts at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from maskrank.core.engine.deployed import Deployed
from maskrank.estimators.answers import Answers, answers_from_document
from maskrank.estimators.encoding import Encoding
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.inputs import Inputs
from maskrank.estimators.persistence import OperatorError, StoredModel, read_model
from maskrank.estimators.scaling import Array

if TYPE_CHECKING:
    import pandas as pd

    from maskrank.estimators.kinds import InputColumn
    from maskrank.tables.selected import ModelColumns

_ONE_AT_A_TIME = threading.Lock()  # predictions of many rows take all cores, and set the threads of BLAS to one


def answers_of(
    predictor: Deployed, encoding: Encoding, chosen: Array, decode: Callable[[Array], Array] = np.asarray
) -> Array:
    """Predictions for the numbers of the chosen columns: (n, columns) -> (n, ...).

    Some rows at a time, in as many threads as there are cores. The prediction of a row does not depend on the other
    rows.

    Parameters
    ----------
    decode : callable, optional
        From the outputs of some rows (rows, outputs) to their predictions (rows, ...); without, the outputs.
    """

    def answers(first: int) -> Array:
        return decode(predictor.outputs(encoding.scaled(chosen[first : first + at_once])))

    at_once = predictor.rows_at_once
    starts = range(0, max(1, len(chosen)), at_once)
    if len(starts) <= 1 or not predictor.threaded:
        return np.concatenate([answers(first) for first in starts])
    with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(_n_cores()) as pool:
        return np.concatenate(list(pool.map(answers, starts)))


@dataclass(frozen=True, eq=False)
class DeployedModel:
    """Predicts rows that hold the chosen columns alone.

    Attributes
    ----------
    columns : dict of str to InputColumn
        The chosen columns by name, and what they hold.
    target_names : sequence of str or None
        Of several targets, where a file names them.
    """

    columns: dict[str, InputColumn]
    target_names: Sequence[str] | None
    answers: Answers
    encoding: Encoding
    predictor: Deployed

    @property
    def chosen_columns(self) -> ModelColumns:
        """The columns as a reader of files takes them."""
        from maskrank.tables.selected import ModelColumns

        return ModelColumns.of(self.columns)

    def outputs(self, selected: pd.DataFrame) -> Array:
        """Of a frame of the chosen columns in this order: (n, columns) -> (n, outputs)."""
        numbers = Inputs(tuple(self.columns.values())).numbers(selected)
        return answers_of(self.predictor, self.encoding, numbers)


def read_deployed(path: str | os.PathLike[str]) -> DeployedModel:
    """What predicts of the model in a file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is not a maskrank model, is damaged, or was written by another version.
    """
    stored = read_model(path)
    try:
        return _deployed(stored)
    except (OperatorError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise stored.damaged(error) from error


def _deployed(stored: StoredModel) -> DeployedModel:
    table = stored.table
    features = FeatureTable.from_document(table["features"], table["columns"])
    support = features.of_columns(stored.arrays["support"], outside=False)
    return DeployedModel(
        columns={table["columns"][j]: features.kind_of(j) for j in np.flatnonzero(support).tolist()},
        target_names=table["targets"],
        answers=answers_from_document(stored.document),
        encoding=Encoding.restored(table["encoding"], stored.named("encoding.")),
        predictor=stored.predictor(),
    )


def _n_cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
