"""The checkpoint of a fit: what the fit depends on, its folder, and the refits that are kept in it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from torch import nn

from maskrank.core import limits
from maskrank.estimators.checkpoints import Folder, Identity, digest, open_checkpoint, stored_identity
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.fitting import Part
from maskrank.estimators.preparation import resolve_seed
from maskrank.estimators.scaling import Array
from maskrank.estimators.sources import Source, SparseSource

_FREE = ("checkpoint", "n_repeats", "n_jobs", "metric", "verbose", "random_state")  # what a fit's results do not need
_SEED = "random_state"


def kept_seed(checkpoint: Any, random_state: Any) -> int:
    """The seed of a fit; without a random state, that of the fit which the checkpoint belongs to."""
    if not isinstance(checkpoint, str | os.PathLike | None):
        raise ValueError(f"checkpoint={checkpoint!r} must be the name of a folder, or None")
    kept = stored_identity(checkpoint) if checkpoint is not None and random_state is None else None
    seed = None if kept is None else kept["settings"].get(_SEED)
    return resolve_seed(random_state if not isinstance(seed, int) else seed)


def fit_checkpoint(
    path: str | os.PathLike[str],
    *,
    whole: Part,
    own: Part | None,
    table: FeatureTable,
    parameters: dict[str, Any],
    operator: Any,
    seed: int,
) -> Folder:
    """The folder of a fit.

    Parameters
    ----------
    whole : Part
        All rows.
    own : Part or None
        The user's validation rows.
    parameters : dict of str to what JSON holds
        Of the estimator.
    operator : object
        As the estimator takes it.

    Raises
    ------
    ValueError
        It is of other data or settings.
    """
    data = _digests(whole)
    if own is not None:
        data |= {f"validation {name}": value for name, value in _digests(own).items()}
    data["columns"] = digest(list(table.names), table.document())
    settings = {name: value for name, value in parameters.items() if name not in _FREE}
    return open_checkpoint(path, Identity(data, {**settings, "operator": _described(operator), _SEED: seed}))


def _digests(part: Part) -> dict[str, str]:
    return {
        "weights of rows": digest(part.weights),
        "groups of rows": digest(part.groups),
        "data": _digest_source(part.source, part.rows),
        "targets": digest(part.target),
    }


def _digest_source(source: Source, rows: Array) -> str:
    """A check sum of the values of a table, read some rows at a time."""
    if isinstance(source, SparseSource):
        return digest(source.X.data, source.X.indices, source.X.indptr, source.shape, rows)
    d = source.shape[1]
    columns, height = np.arange(d), max(1, limits.TABLE_PART // max(1, d))
    blocks = (rows[first : first + height] for first in range(0, len(rows), height))
    return digest(source.shape, rows, *(digest(source.select(some, columns)) for some in blocks))


def _described(operator: Any) -> Any:
    """An operator in words: hidden sizes as they are; of a net its class, of one that is made already its numbers."""
    if operator is None or isinstance(operator, list | tuple):
        return operator
    if isinstance(operator, nn.Module):
        state = {name: np.asarray(value.detach().cpu()) for name, value in operator.state_dict().items()}
        return f"{type(operator).__qualname__} {digest(*state, *state.values())}"
    if isinstance(operator, functools.partial):
        return f"{_described(operator.func)} {operator.args} {operator.keywords}"
    return getattr(operator, "__qualname__", type(operator).__qualname__)


class KeptRefits:
    """A function from a seed to arrays, whose results are kept in a folder as soon as they are there.

    Parameters
    ----------
    refit : function
        From a seed to the ranks and the scores of a refit.
    folder : Folder
    """

    def __init__(self, refit: Callable[[SeedSequence], tuple[Array, Array]], folder: Folder) -> None:
        self._refit, self._folder = refit, folder

    def __call__(self, seed: SeedSequence) -> tuple[Array, Array]:
        name = f"refit-{seed.spawn_key[-1]:04d}"
        kept = self._folder.read(name)
        if kept is None:
            kept = self._refit(seed)
            self._folder.write(name, kept)
        ranks, scores = kept
        return ranks, scores
