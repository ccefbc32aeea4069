"""`load`: a fitted estimator from a model file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

from maskrank.estimators.base import DualNetBase
from maskrank.estimators.classifier import DualNetClassifier
from maskrank.estimators.counts import DualNetCounts
from maskrank.estimators.persistence import OperatorError, read_model
from maskrank.estimators.regressor import DualNetRegressor
from maskrank.estimators.survival import DualNetSurvival

Estimator = DualNetClassifier | DualNetRegressor | DualNetCounts | DualNetSurvival


def load(path: str | os.PathLike[str], *, operator: Any = None) -> Estimator:
    """Read a model that was saved with ``model.save(path)``.

    Parameters
    ----------
    path : path
    operator : nn.Module, its class, or a function, optional
        Needed where the model's operator was a net of your own: a file holds its numbers, not its code.

    Returns
    -------
    DualNetClassifier, DualNetRegressor, DualNetCounts or DualNetSurvival
        Its predictions are those of the saved model, bit for bit.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is not a maskrank model, is damaged, or was written by a newer version.
    """
    stored = read_model(path)
    shipped: tuple[type[DualNetBase], ...] = (DualNetClassifier, DualNetRegressor, DualNetCounts, DualNetSurvival)
    estimators = {kind.__name__: kind for kind in (*_subclasses(DualNetBase), *shipped)}  # the last of a name counts
    name = stored.document.get("estimator")
    if isinstance(name, str) and name not in estimators:
        raise ValueError(f"{path} was saved by {name}, an estimator that is not imported here: import it first")
    try:
        model = estimators[stored.document["estimator"]]._restored(stored, operator)
    except (OperatorError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise stored.damaged(error) from error
    return cast(Estimator, model)


def _subclasses(kind: type[DualNetBase]) -> Iterator[type[DualNetBase]]:
    """All estimators that are imported, a user's own among them."""
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)
