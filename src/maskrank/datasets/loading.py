"""`load_dataset`: every data set of the paper, and substitutes for those that are not public."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.datasets.catalogue import PUBLIC, PublicDataset
from maskrank.datasets.download import download
from maskrank.datasets.formats import READERS, Table, read_npz
from maskrank.datasets.preparation import prepare
from maskrank.datasets.public import data_folder, find_in_folder
from maskrank.datasets.synthetic import Problem, make_nonlinear_regression, make_orange_skin, make_xor

Array = NDArray[Any]

_SYNTHETIC: dict[str, Callable[..., Problem]] = {
    "xor": make_xor,
    "xor_variance1": partial(make_xor, noise_variance=1.0),
    "regression": make_nonlinear_regression,
    "orange_skin": make_orange_skin,
}
SYNTHETIC = tuple(_SYNTHETIC)
TRAIN_ROWS, TEST_ROWS = 512, 1024


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, ready for an estimator.

    Attributes
    ----------
    name : str
    X : ndarray (n, d)
        Not standardised: that belongs to training rows, and the estimators do it.
    y : ndarray (n,)
    feature_names : tuple of str
        Those of the file; else ``f0``, ``f1``, … or, for pixels, ``r0c0``, ``r0c1``, …
    task : {"classification", "regression"}
    splits : dict of str to ndarray of int
        Rows of each part as published, such as ``train`` and ``test``; empty where there is no such split.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape, order=image_order)`` is the picture.
    image_order : {"C", "F"}
        "F" only for ``yale32`` with ``raw=True``: its file has the pixels column by column.
    relevant : ndarray of int or None
        The features that determine y, where that is known.
    citation, licence, notes : str
    """

    name: str
    X: Array
    y: Array
    feature_names: tuple[str, ...]
    task: str
    splits: dict[str, Array] = field(default_factory=dict)
    image_shape: tuple[int, ...] | None = None
    image_order: str = "C"
    relevant: Array | None = None
    citation: str = ""
    licence: str = ""
    notes: str = ""


def load_dataset(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    raw: bool = False,
    random_state: int | np.random.Generator = 0,
) -> Dataset:
    """Load a data set of the paper, or one of its stand-ins.

    Synthetic: ``xor``, ``xor_variance1``, ``regression`` and ``orange_skin``, 512 training rows and 1,024 test rows,
    drawn independently. Public: see ``maskrank datasets list``.

    A public data set is read from the folder that ``data_dir`` or the environment variable MASKRANK_DATA_DIR names. It
    holds our .npz copy or the original files. Where no folder is named, the original files are downloaded from their
    public addresses into a cache (MASKRANK_CACHE_DIR, or the usual place of the platform), which needs pooch, of the
    extra ``study``. Files are checked against their sha256; where it is not known (``rnaseq``, the values of
    ``gm12878_200bp``, the original file of ``lung_bhattacharjee2001``) their shape is checked.

    Parameters
    ----------
    name : str
    data_dir : path or None
    raw : bool
        The rows, columns, values and labels of the file as they are, instead of what the paper makes of them: three
        balanced classes and log(x + 0.01) for enhancers and promoters, no constant features for ``rnaseq``, the
        pixels of ``yale32`` row by row. ``glass_without_id`` is without its ID in any case.
    random_state : int or Generator
        Of the synthetic rows, and of the rows that down-sampling keeps.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        The name is not known, or a file is not the one that was published.
    OSError
        A file is missing, or can't be downloaded.
    ImportError
        A download is needed and pooch is not installed.

    Examples
    --------
    >>> from maskrank.datasets import load_dataset
    >>> data = load_dataset("xor")
    >>> data.X.shape, len(data.splits["train"]), data.relevant.tolist()
    ((1536, 10), 512, [0, 1, 2])
    """
    if name in _SYNTHETIC:
        return _generate(name, random_state)
    if name not in PUBLIC:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join([*SYNTHETIC, *PUBLIC])}")
    entry, folder = PUBLIC[name], data_folder(data_dir)
    table = _read(entry, download(entry) if folder is None else find_in_folder(entry, folder))
    in_file_order = raw and entry.variant_of is None
    if not in_file_order:
        table = prepare(table, entry, random_state)
    return Dataset(
        name=name,
        X=table.X,
        y=table.y.astype(np.int64) if table.y.dtype.kind in "iu" else table.y,
        feature_names=table.names or (),
        task="classification",
        splits=table.splits,
        image_shape=entry.image_shape,
        image_order=entry.image_order if in_file_order else "C",
        citation=entry.citation,
        licence=entry.licence,
        notes=entry.notes,
    )


def _generate(name: str, random_state: int | np.random.Generator) -> Dataset:
    rng = np.random.default_rng(random_state)
    train, test = (_SYNTHETIC[name](rows, random_state=rng) for rows in (TRAIN_ROWS, TEST_ROWS))
    return Dataset(
        name=name,
        X=np.concatenate([train.X, test.X]),
        y=np.concatenate([train.y, test.y]),
        feature_names=tuple(f"f{column}" for column in range(train.X.shape[1])),
        task="regression" if name == "regression" else "classification",
        splits={"train": np.arange(TRAIN_ROWS), "test": np.arange(TRAIN_ROWS, TRAIN_ROWS + TEST_ROWS)},
        relevant=train.relevant,
        citation="Wojtas, M. and Chen, K. (2020). Feature importance ranking for deep learning. NeurIPS; after "
        "Chen, J. et al. (2017). Kernel feature selection via conditional covariance minimization. NeurIPS.",
        licence="generated",
        notes="All rows are drawn independently; no test row is a training row.",
    )


def _read(entry: PublicDataset, paths: tuple[Path, ...]) -> Table:
    """The table in the files, with a name for every feature, after a look at its shape."""
    of_ours = paths[0].suffix == ".npz"
    try:
        table = read_npz(paths[0]) if of_ours else READERS[str(entry.reader)](*paths)
    except (ValueError, LookupError, EOFError, OSError, tarfile.TarError, zlib.error) as error:
        raise ValueError(f"{entry.name}: {paths[0]} can't be read: {error}") from error
    base = PUBLIC[entry.variant_of or entry.name]
    found = (*table.X.shape, len(np.unique(table.y)))
    if found != (base.rows, base.features, base.classes) or len(table.y) != base.rows:
        raise ValueError(
            f"{entry.name}: {paths[0]} was altered or cut off: it has {found[0]} rows, {found[1]} features and "
            f"{found[-1]} classes instead of {base.rows}, {base.features} and {base.classes}"
        )
    names = table.names or _default_names(base)
    if len(names) != base.features:
        raise ValueError(f"{entry.name}: {paths[-1]} has {len(names)} names for {base.features} features")
    return table._replace(names=names)


def _default_names(entry: PublicDataset) -> tuple[str, ...]:
    if entry.image_shape is None:
        return tuple(f"f{column}" for column in range(entry.features))
    pixels = np.unravel_index(np.arange(entry.features), entry.image_shape, order=entry.image_order)  # type: ignore[call-overload]
    return tuple(f"r{row}c{column}" for row, column in zip(*pixels, strict=True))
