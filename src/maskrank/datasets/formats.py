"""Readers of the files in which the public data sets are published.

Each takes the paths of one data set and gives a `Table`. Values have the type of our own copies, so that a data set is
the same array whichever file it was read from. No reader runs code from a file or unpacks one to disk.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

GLASS_COLUMNS = ("ID", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
THREE_CLASSES = {
    "EnhancerActive": "A-E",
    "PromoterActive": "A-P",
    "EnhancerInactive+PromoterInactive+Exon+Unknown": "BG",
}


class Table(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    X : ndarray (n, d)
    y : ndarray (n,)
    names : tuple of str or None
        None where the file has no names of features.
    splits : dict of str to ndarray of int
        Rows of each published part.
    """

    X: Array
    y: Array
    names: tuple[str, ...] | None = None
    splits: dict[str, Array] = {}  # noqa: RUF012  never written to


def read_npz(path: Path) -> Table:
    """Our own copies: X, y, and where there are any feature_names, class_names and a split."""
    with np.load(path, allow_pickle=False) as archive:
        y = archive["y"]
        if "class_names" in archive:
            y = archive["class_names"][y]
        names = tuple(archive["feature_names"].tolist()) if "feature_names" in archive else None
        parts = next((archive[key] for key in ("split", "is_test", "uci_test") if key in archive), None)
        return Table(archive["X"], y, names, {} if parts is None else _splits(parts))


def read_glass(path: Path) -> Table:
    """UCI's glass.data: ID, nine features, class; no header."""
    values = np.loadtxt(path, delimiter=",", ndmin=2)
    return Table(values[:, :-1], values[:, -1].astype(np.uint8), GLASS_COLUMNS)


def read_vowel(path: Path) -> Table:
    """UCI's vowel-context.data: test or not, speaker, sex, ten features, class."""
    values = np.loadtxt(path, ndmin=2)
    X = np.ascontiguousarray(values[:, 3:-1])
    names = tuple(f"F{column}" for column in range(X.shape[1]))
    return Table(X, values[:, -1].astype(np.uint8), names, _splits(values[:, 0]))


def read_mat(path: Path) -> Table:
    """A MATLAB file of scikit-feature, with X and Y; pixels become bytes."""
    from scipy.io import loadmat

    content = loadmat(path, variable_names=["X", "Y"])
    X = np.asarray(content["X"])
    pixels = np.array_equal(X, np.clip(np.round(X), 0, 255))
    return Table(X.astype(np.uint8 if pixels else np.float32), np.ravel(content["Y"]).astype(np.int8))


def read_idx(path: Path) -> Array:
    """An array of bytes in MNIST's format, compressed or not."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise ValueError("no idx file of bytes")
    n_dims = content[3]
    shape = np.frombuffer(content, ">u4", count=n_dims, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dims).reshape(shape)


def read_mnist38(train_images: Path, train_labels: Path, test_images: Path, test_labels: Path) -> Table:
    """The digits 3 and 8 of MNIST's four files, training rows first."""
    parts = []
    for images, labels in ((train_images, train_labels), (test_images, test_labels)):
        digits = read_idx(labels)
        rows = np.isin(digits, (3, 8))
        parts.append((read_idx(images)[rows].reshape(rows.sum(), -1), digits[rows]))
    is_test = np.repeat([0, 1], [len(y) for _, y in parts])
    return Table(np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts]), None, _splits(is_test))


def read_decres(data: Path, classes: Path, features: Path) -> Table:
    """Values, classes and names of features in three text files, as in DECRES."""
    return Table(_values(data), np.array(_lines(classes)), tuple(_lines(features)))


def read_three_splits(*paths: Path) -> Table:
    """Six files, values and classes of training, validation and test rows, then the names of the features."""
    *parts, features = paths
    X = [_values(path) for path in parts[::2]]
    y = [THREE_CLASSES[label] for path in parts[1::2] for label in _lines(path)]
    part = np.repeat(np.arange(len(X)), [len(rows) for rows in X])
    return Table(np.concatenate(X), np.array(y), tuple(_lines(features)), _splits(part))


def read_rnaseq(path: Path) -> Table:
    """UCI's archive with data.csv and labels.csv, each with the sample in its first column."""
    import pandas as pd

    with tarfile.open(path, "r:gz") as archive:
        data = pd.read_csv(_member(archive, "data.csv"), index_col=0)
        labels = pd.read_csv(_member(archive, "labels.csv"), index_col=0)
    y = labels["Class"].loc[data.index]
    return Table(data.to_numpy(np.float64), np.array(y.tolist()), tuple(data.columns))


def read_biclustlib(path: Path) -> Table:
    """A row for each gene, after a header with the class of each sample."""
    header, *rows = [line.split("\t") for line in _lines(path)]
    values = np.array([row[1:] for row in rows], dtype=np.float64).T
    return Table(np.ascontiguousarray(values, np.float32), np.array(header[1:]), tuple(row[0] for row in rows))


READERS: dict[str, Callable[..., Table]] = {
    "glass": read_glass,
    "vowel": read_vowel,
    "mat": read_mat,
    "mnist38": read_mnist38,
    "decres": read_decres,
    "three_splits": read_three_splits,
    "rnaseq": read_rnaseq,
    "biclustlib": read_biclustlib,
}


def _splits(part: Array) -> dict[str, Array]:
    """Rows of each part, where two parts are train and test, and three have validation between."""
    names = ("train", "test") if part.max() < 2 else ("train", "validation", "test")
    return {name: np.flatnonzero(part == k) for k, name in enumerate(names)}


def _values(path: Path) -> Array:
    # Read as doubles first: that is how our copies were rounded.
    return np.loadtxt(path, delimiter="\t", ndmin=2).astype(np.float32)


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """A file of an archive by its last name; it is read where it is."""
    for member in archive.getmembers():
        if member.isfile() and PurePosixPath(member.name).name == name:
            content = archive.extractfile(member)
            if content is not None:
                return content
    raise ValueError(f"there is no {name} in it")
