"""Small files in the formats of the published ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from maskrank.datasets.catalogue import PUBLIC, PublicDataset


def write_glass(folder: Path) -> None:
    (folder / "glass.data").write_text(
        "1,1.52,13.6,4.5,1.1,71.8,0.1,8.8,0,0,1\n2,1.51,13.9,3.6,1.4,72.7,0.5,7.8,0,0.2,7\n"
    )


def write_vowel(folder: Path) -> None:
    rows = ["0 0 0 -3.639", "0 7 1 -0.000", "1 9 0 -2.125"]
    text = "".join(f"{row} {' '.join(f'{k}.500' for k in range(9))}  {k}\n" for k, row in enumerate(rows))
    (folder / "vowel-context.data").write_text(text)


def write_tox(folder: Path) -> None:
    savemat(folder / "TOX-171.mat", {"X": np.array([[0.02, 33922.68], [1.5, 2.5], [3.0, 4.0]]), "Y": [[1], [2], [2]]})


def write_yale(folder: Path) -> None:
    """Two pictures of 2 x 3 pixels, column by column; the value is 10 row + column."""
    picture = np.array([[0, 1, 2], [10, 11, 12]])
    savemat(folder / "Yale.mat", {"X": np.stack([picture.ravel("F"), 200 - picture.ravel("F")]), "Y": [[1], [2]]})


def write_mnist(folder: Path) -> None:
    for part, labels in (("train", [3, 1, 8, 3]), ("t10k", [8, 9])):
        images = np.arange(len(labels) * 784).reshape(-1, 28, 28) % 251
        for kind, array in (("images-idx3", images), ("labels-idx1", np.array(labels))):
            head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


def write_decres(folder: Path) -> None:
    classes = ["A-E"] * 2 + ["A-P"] * 3 + ["A-X", "I-E", "I-P", "I-X", "UK"]
    rows = "".join(f"{k}.00\t0.00\t{k / 4:.2f}\n" for k in range(len(classes)))
    (folder / "GM12878_200bp_Data.txt").write_text(rows)
    (folder / "GM12878_200bp_Classes.txt").write_text("\n".join(classes) + "\n")
    (folder / "GM12878_Features.txt").write_text("ATF2\nC-FOS(FOS)\nZZZ3\n")


def write_three_splits(folder: Path) -> None:
    classes = ["EnhancerActive", "PromoterActive", "EnhancerInactive+PromoterInactive+Exon+Unknown"]
    for k, part in enumerate(("Train", "Valid", "Test")):
        name = f"3Cl_l2normalized_{part}Set.txt"
        (folder / f"GM12878_200bp_Data_{name}").write_text(f"0.0\t0.{k}\n" * 3)
        (folder / f"GM12878_200bp_Classes_{name}").write_text("\n".join(np.roll(classes, k)) + "\n")
    (folder / "GM12878_Features_Unique.txt").write_text("ATF2\nATF3\n")


def write_rnaseq(folder: Path) -> None:
    data = ",gene_0,gene_1,gene_2\nsample_0,0.0,1.5,2.0\nsample_1,0.0,1.25,2.0\nsample_2,0.0,1.5,2.5\n"
    labels = ",Class\nsample_2,PRAD\nsample_0,LUAD\nsample_1,PRAD\n"
    with tarfile.open(folder / "TCGA-PANCAN-HiSeq-801x20531.tar.gz", "w:gz") as archive:
        for name, text in (("data.csv", data), ("labels.csv", labels)):
            member = tarfile.TarInfo(f"TCGA-PANCAN-HiSeq-801x20531/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def write_lung(folder: Path) -> None:
    (folder / "bhattacharjee-2001_database.txt").write_text(
        "GENES\tAD\tAD\tNL\n1_at\t10.0\t20.5\t30.0\n2_s_at\t1\t2\t3\n"
    )


WRITERS = {
    "glass": (write_glass, (2, 10, 2)),
    "vowel": (write_vowel, (3, 10, 3)),
    "tox171": (write_tox, (3, 2, 2)),
    "yale32": (write_yale, (2, 6, 2)),
    "mnist38": (write_mnist, (4, 784, 2)),
    "gm12878_200bp": (write_decres, (10, 3, 7)),
    "gm12878_200bp_3cl": (write_three_splits, (9, 2, 3)),
    "rnaseq": (write_rnaseq, (3, 3, 2)),
    "lung_bhattacharjee2001": (write_lung, (3, 2, 2)),
}


def small_original(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, url: str | None = None) -> PublicDataset:
    """Write the small files of a data set, and make the catalogue expect them."""
    write, (rows, features, classes) = WRITERS[name]
    write(folder)
    sources = tuple(
        replace(
            source,
            sha256=source.sha256 and hashlib.sha256((folder / source.file).read_bytes()).hexdigest(),
            rows_sha256=None,
            url=f"{url}/{source.file}" if url else source.url,
        )
        for source in PUBLIC[name].sources
    )
    shape = (2, 3) if name == "yale32" else PUBLIC[name].image_shape
    entry = replace(PUBLIC[name], rows=rows, features=features, classes=classes, sources=sources, image_shape=shape)
    monkeypatch.setitem(PUBLIC, name, entry)
    return entry
