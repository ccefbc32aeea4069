"""Folds of a user's own table that respect its structure: rare classes, groups of rows, their order in time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.study.protocol import Fold, divide
from maskrank.tables import Table

Array = NDArray[Any]
_NOTHING = np.arange(0)


def table_folds(table: Table, folds: int, seed: int) -> list[Fold]:
    """The folds of a table.

    Rows of one group are tested together, and the classes are spread over the folds as evenly as the groups allow. With
    an order in time each fold is trained on the past and tested on the next block of rows. Otherwise folds are
    stratified; a class with a single row is learned from in every fold, and tested in none.

    Raises
    ------
    ValueError
        There are fewer rows, groups or times than folds need.
    """
    if table.rows.order is not None:
        return _forward(table, folds)
    if table.rows.groups is not None:
        return _grouped(table, folds, seed)
    return _stratified(table, folds, seed)


def described_folds(table: Table, folds: int) -> str:
    """How rows are tested, in a line."""
    if table.rows.order is not None:
        return f"{folds} folds forward in time, by {table.roles.time_order}: the past teaches, the next block tests"
    together = f", rows of one {table.roles.fold_by} together" if table.rows.groups is not None else ""
    return f"{folds}-fold cross-validation{together}"


def sampled(table: Table) -> list[str]:
    """A line on a table larger than memory: on which of its rows the folds are."""
    if table.others is None:
        return []
    return [f"{len(table.X):,} of {table.n_rows:,} rows are used, a uniform sample: the others do not fit into memory"]


def rare_classes(table: Table, folds: int) -> list[str]:
    """A line on classes with fewer rows than folds; none with groups or an order, which do not count rows."""
    if table.task != "classification" or table.rows.order is not None or table.rows.groups is not None:
        return []
    labels, counts = np.unique(table.y, return_counts=True)
    few = [f"{label} ({count})" for label, count in zip(labels, counts, strict=True) if count < folds]
    if not few or len(few) == len(labels):
        return []
    shown = ", ".join(few[:8]) + (", …" if len(few) > 8 else "")
    return [
        f"fewer rows than {folds} folds in {'class' if len(few) == 1 else 'classes'} {shown}: learned from, and tested "
        "in fewer folds; a single row in none"
    ]


def _stratified(table: Table, folds: int, seed: int) -> list[Fold]:
    """Stratified where the target has classes; single rows of a class are in all training parts."""
    if table.task != "classification":
        if len(table.y) < 2 * folds:
            raise ValueError(f"{len(table.y)} rows are too few for {folds} folds")
        return divide(table.y, {}, task=table.task, folds=folds, seed=seed)
    labels, places, counts = np.unique(table.y, return_inverse=True, return_counts=True)
    if counts.max() < folds:
        label = labels[counts.argmax()]
        raise ValueError(f"the largest class, {label}, has {counts.max()} rows, fewer than {folds} folds: use --folds")
    alone = np.flatnonzero(counts[places] == 1)
    rest = np.flatnonzero(counts[places] > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes rarer than folds, which `rare_classes` names
        divided = divide(table.y[rest], {}, task=table.task, folds=folds, seed=seed)
    return [Fold(np.sort(np.concatenate([rest[train], alone])), _NOTHING, rest[test]) for train, _, test in divided]


def _grouped(table: Table, folds: int, seed: int) -> list[Fold]:
    """Whole groups in each fold, the largest dealt first, to where rows and classes are fewest."""
    groups = np.unique(np.asarray(table.rows.groups), return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    if n_groups < folds:
        raise ValueError(
            f"--fold-by {table.roles.fold_by}: {n_groups} values are fewer than {folds} folds: use --folds {n_groups}"
        )
    dealt = deal_groups(groups, table.y if table.task == "classification" else None, folds, seed)
    every = np.arange(len(groups))
    parts = [Fold(every[dealt[groups] != k], _NOTHING, every[dealt[groups] == k]) for k in range(folds)]
    _check_classes(table, parts, f"--fold-by {table.roles.fold_by}")
    return parts


def deal_groups(groups: Array, labels: Array | None, folds: int, seed: int) -> Array:
    """The fold of each group, so that rows and classes are spread evenly.

    Parameters
    ----------
    groups : ndarray (n,) of int
        From 0 on, without gaps.
    labels : ndarray (n,), optional
        Classes.
    folds : int
        At most the number of groups.
    seed : int
        Decides between groups of one size.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.study.folds import deal_groups
    >>> groups, labels = np.repeat(np.arange(6), 4), np.repeat([0, 0, 0, 1, 1, 1], 4)
    >>> dealt = deal_groups(groups, labels, 3, seed=0)
    >>> sorted(dealt[:3].tolist()), sorted(dealt[3:].tolist())
    ([0, 1, 2], [0, 1, 2])
    """
    classes = np.zeros(len(groups), dtype=np.int64) if labels is None else np.unique(labels, return_inverse=True)[1]
    counts = np.zeros((int(groups.max()) + 1, int(classes.max()) + 1))
    np.add.at(counts, (groups, classes), 1)
    shares = np.column_stack([counts / counts.sum(axis=0), counts.sum(axis=1) / len(groups)])  # of classes, of rows
    shuffled = np.random.default_rng(seed).permutation(len(shares))
    filled, dealt = np.zeros((folds, shares.shape[1])), np.zeros(len(shares), dtype=np.int64)
    for group in shuffled[np.argsort(-counts.sum(axis=1)[shuffled], kind="stable")]:
        fullness = (filled * shares[group]).sum(axis=1)  # an empty fold has 0, and comes first
        dealt[group] = int(fullness.argmin())
        filled[dealt[group]] += shares[group]
    return dealt


def _forward(table: Table, folds: int) -> list[Fold]:
    """The rows in blocks of about the same size, rows of one time together; each block after the first is tested."""
    order = np.asarray(table.rows.order)
    times, places, counts = np.unique(order, return_inverse=True, return_counts=True)
    if len(times) <= folds:
        raise ValueError(
            f"--time-order {table.roles.time_order}: {len(times)} distinct times give at most {len(times) - 1} folds, "
            f"not {folds}: use --folds"
        )
    block = _blocks(counts, folds + 1)[places]
    every = np.arange(len(order))
    parts = [Fold(every[block < k], _NOTHING, every[block == k]) for k in range(1, folds + 1)]
    _check_classes(table, parts, f"--time-order {table.roles.time_order}")
    return parts


def _blocks(counts: Array, n_blocks: int) -> Array:
    """The block of each time: none is empty, and their rows are as many as these times allow."""
    middle = (counts.cumsum() - counts / 2) / counts.sum()
    block: Array = np.minimum((middle * n_blocks).astype(np.int64), n_blocks - 1)
    for place in range(len(block)):  # a jump leaves a block empty
        before = block[place - 1] if place else -1
        left = len(block) - 1 - place
        block[place] = min(max(block[place], before, n_blocks - 1 - left), before + 1)
    return block


def _check_classes(table: Table, parts: Sequence[Fold], option: str) -> None:
    """Refuse folds that have one class to learn from."""
    if table.task != "classification":
        return
    for k, fold in enumerate(parts, 1):
        if len(np.unique(table.y[fold.train])) < 2:
            raise ValueError(f"{option}: fold {k} has one class to learn from; use other --folds")
