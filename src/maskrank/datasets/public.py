"""The public data sets of the paper and their stand-ins: what they are, and where a local copy lies."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = "MASKRANK_DATA_DIR"


@dataclass(frozen=True)
class PublicDataset:
    """A data set that does not ship with the package.

    Attributes
    ----------
    file, sha256 : str
        An .npz file with arrays X, y and, where there are names, feature_names.
    rows, features, classes : int
    about : str
    """

    name: str
    file: str
    sha256: str
    rows: int
    features: int
    classes: int
    about: str


PUBLIC = {
    entry.name: entry
    for entry in (
        PublicDataset(
            "glass",
            "glass.npz",
            "fcce32cc66505818f9afda97c3a93884d590d1fcd9dfcf0f077b224e44ba0732",
            214,
            10,
            6,
            "UCI glass identification; column ID gives the class away (rows are sorted by it)",
        ),
        PublicDataset(
            "vowel",
            "vowel.npz",
            "57a8ff5318de348ad197f98c93983d2048cc0165718822308e673a8bef733327",
            990,
            10,
            11,
            "UCI vowel recognition (Deterding)",
        ),
        PublicDataset(
            "tox171",
            "tox171.npz",
            "a5f07ff61f2b64ef7d857362348804ae3457bf607af55a567fc2c0e8889dbf16",
            171,
            5748,
            4,
            "TOX-171 gene expression (ASU feature selection repository)",
        ),
        PublicDataset(
            "yale32",
            "yale32.npz",
            "323a1c53de16e7fbfae800a24589430a2a50fb35fac2ad37a7db1a77aad5feb3",
            165,
            1024,
            15,
            "Yale faces, 32 x 32 pixels, column by column",
        ),
        PublicDataset(
            "mnist38",
            "mnist38.npz",
            "0b0aa66b214ec859446bbf444f93cc569dce9d271b16831cf6523f819bc8ccd1",
            13966,
            784,
            2,
            "MNIST digits 3 and 8, 28 x 28 pixels",
        ),
        PublicDataset(
            "gm12878_200bp_3cl",
            "gm12878_200bp_3cl.npz",
            "cee441672b9cd01dc6e09c275b941405e8388797709946fff35d43a87154c989",
            6468,
            93,
            3,
            "enhancers and promoters of GM12878, 200 bp windows",
        ),
        PublicDataset(
            "mcf7_200bp",
            "mcf7_200bp.npz",
            "3996a333451042975eabc4099673827837a99d8588e872f73b270db74151caaf",
            18249,
            39,
            7,
            "enhancers and promoters of MCF-7, 200 bp windows",
        ),
        PublicDataset(
            "lung_bhattacharjee2001",
            "lung_bhattacharjee2001.npz",
            "de7fbc5e5083ea84f33217328b31d94dd4e68a2583ff7fc1776f7515c759616f",
            203,
            1543,
            5,
            "lung tumours, gene expression",
        ),
        PublicDataset(
            "all_leukemia_12625",
            "all_leukemia_12625.npz",
            "de7bb98de6ffe2f6dc38e780490d2e2b68cb1f8c08413d841f40d49f04aa9655",
            128,
            12625,
            2,
            "acute lymphoblastic leukaemia, gene expression",
        ),
    )
}


def data_folder(data_dir: str | None = None) -> Path | None:
    """The folder of local copies: as given, or from the environment; None where there is neither."""
    folder = data_dir or os.environ.get(ENVIRONMENT)
    return Path(folder) if folder else None


def is_present(name: str, data_dir: str | None = None) -> bool:
    """Whether a local copy lies in the folder (its content is not looked at)."""
    folder = data_folder(data_dir)
    return folder is not None and (folder / PUBLIC[name].file).is_file()


def dataset_path(name: str, data_dir: str | None = None) -> Path:
    """The local copy of a public data set, its checksum verified.

    Raises
    ------
    KeyError
        The name is not known.
    FileNotFoundError
        There is no folder, or no such file in it.
    ValueError
        The file is not the one that was published.
    """
    if name not in PUBLIC:
        raise KeyError(f"there is no data set {name!r}; there are {', '.join(PUBLIC)}")
    entry, folder = PUBLIC[name], data_folder(data_dir)
    if folder is None:
        raise FileNotFoundError(f"{name}: say where {entry.file} lies, with --data-dir DIR or {ENVIRONMENT}")
    path = folder / entry.file
    if not path.is_file():
        raise FileNotFoundError(f"{name}: there is no {entry.file} in {folder}")
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry.sha256:
        raise ValueError(f"{path}: was altered or cut off: its sha256 is not {entry.sha256}")
    return path
