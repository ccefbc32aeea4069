"""Each published format, in a file small enough to know by heart, and what is made of it."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from maskrank.datasets import load_dataset
from maskrank.datasets.catalogue import PUBLIC
from tests.datasets.originals import WRITERS, small_original


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def load(name: str, **options):
        small_original(name, tmp_path, monkeypatch)
        return load_dataset(name, tmp_path, **options)

    return load


def test_glass_has_its_id_and_can_be_had_without(small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = small("glass")
    assert data.feature_names == ("ID", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
    assert data.X[:, 0].tolist() == [1, 2]
    assert data.y.tolist() == [1, 7]
    glass = PUBLIC["glass"]
    variant = replace(PUBLIC["glass_without_id"], sources=glass.sources, rows=glass.rows, classes=glass.classes)
    monkeypatch.setitem(PUBLIC, "glass_without_id", variant)
    for raw in (False, True):
        without = load_dataset("glass_without_id", tmp_path, raw=raw)
        assert without.feature_names == data.feature_names[1:]
        np.testing.assert_array_equal(without.X, data.X[:, 1:])


def test_vowel_keeps_the_published_split_and_leaves_the_speaker_out(small) -> None:
    data = small("vowel")
    assert data.feature_names == tuple(f"F{k}" for k in range(10))
    assert data.X[:, 0].tolist() == [-3.639, 0, -2.125]
    assert data.y.tolist() == [0, 1, 2]
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {"train": [0, 1], "test": [2]}


def test_tox_is_kept_as_it_is(small) -> None:
    data = small("tox171")
    assert data.X.dtype == np.float32
    assert data.X[0].tolist() == [np.float32(0.02), np.float32(33922.68)]
    assert data.feature_names == ("f0", "f1")


def test_yale_is_put_row_by_row(small) -> None:
    picture = [[0, 1, 2], [10, 11, 12]]
    data = small("yale32")
    assert data.X[0].reshape(data.image_shape).tolist() == picture
    assert data.feature_names == ("r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2")
    raw = small("yale32", raw=True)
    assert raw.X[0].tolist() == [0, 10, 1, 11, 2, 12]
    assert raw.feature_names[:3] == ("r0c0", "r1c0", "r0c1")
    assert raw.X[0].reshape(raw.image_shape, order=raw.image_order).tolist() == picture


def test_mnist_is_reduced_to_3_and_8(small) -> None:
    data = small("mnist38")
    assert data.y.tolist() == [3, 8, 3, 8]
    assert data.X[:, 0].tolist() == [0, 2 * 784 % 251, 3 * 784 % 251, 0]
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {"train": [0, 1, 2], "test": [3]}
    assert data.feature_names[29] == "r1c1"


def test_mnist_may_be_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = small_original("mnist38", tmp_path, monkeypatch)
    packed = load_dataset("mnist38", tmp_path)
    sources = []
    for source in entry.sources:
        content = gzip.decompress((tmp_path / source.file).read_bytes())
        (tmp_path / source.file).unlink()
        (tmp_path / source.file.removesuffix(".gz")).write_bytes(content)
        sources.append(replace(source, unpacked_sha256=hashlib.sha256(content).hexdigest()))
    monkeypatch.setitem(PUBLIC, "mnist38", replace(entry, sources=tuple(sources)))
    np.testing.assert_array_equal(load_dataset("mnist38", tmp_path).X, packed.X)


def test_enhancers_and_promoters_become_three_balanced_classes_of_logarithms(small) -> None:
    raw = small("gm12878_200bp", raw=True)
    assert raw.X.shape == (10, 3)
    assert len(set(raw.y)) == 7
    data = small("gm12878_200bp")
    assert np.unique(data.y, return_counts=True)[1].tolist() == [2, 2, 2]
    assert set(data.y) == {"A-E", "A-P", "BG"}
    assert data.feature_names == ("ATF2", "C-FOS(FOS)", "ZZZ3")
    rows = np.round(np.exp(data.X[:, 0]) - 0.01).astype(int)  # the first feature counts the rows
    assert (np.diff(rows) > 0).all()
    np.testing.assert_allclose(data.X, np.log(raw.X[rows] + 0.01), rtol=1e-6)
    merged = np.where(np.isin(raw.y, ["A-E", "A-P"]), raw.y, "BG")
    assert (merged[rows] == data.y).all()


def test_down_sampling_follows_the_seed(small) -> None:
    first, again = small("gm12878_200bp"), small("gm12878_200bp")
    np.testing.assert_array_equal(first.X, again.X)
    draws = {small("gm12878_200bp", random_state=seed).X.tobytes() for seed in range(8)}
    assert len(draws) > 1


def test_three_parts_stay_three_splits(small) -> None:
    data = small("gm12878_200bp_3cl")
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {
        "train": [0, 1, 2],
        "validation": [3, 4, 5],
        "test": [6, 7, 8],
    }
    assert data.y.tolist() == ["A-E", "A-P", "BG", "BG", "A-E", "A-P", "A-P", "BG", "A-E"]
    np.testing.assert_allclose(data.X[3], [np.log(0.01), np.log(0.11)])
    assert small("gm12878_200bp_3cl", raw=True).X[3].tolist() == [0, np.float32(0.1)]


def test_rnaseq_loses_its_constant_genes_and_labels_follow_the_samples(small) -> None:
    data = small("rnaseq")
    assert data.feature_names == ("gene_1", "gene_2")
    assert data.X.tolist() == [[1.5, 2.0], [1.25, 2.0], [1.5, 2.5]]
    assert data.y.tolist() == ["LUAD", "PRAD", "PRAD"]
    assert small("rnaseq", raw=True).X.shape == (3, 3)


def test_lung_is_turned_so_that_samples_are_rows(small) -> None:
    assert small("lung_bhattacharjee2001", raw=True).X.tolist() == [[10, 1], [20.5, 2], [30, 3]]
    data = small("lung_bhattacharjee2001")
    np.testing.assert_allclose(data.X[1], np.log([20.51, 2.01]))
    assert data.y.tolist() == ["AD", "AD", "NL"]
    assert data.feature_names == ("1_at", "2_s_at")


@pytest.mark.parametrize("name", WRITERS)
def test_every_original_is_listed_with_its_licence_and_citation(small, name: str) -> None:
    data = small(name)
    assert data.task == "classification"
    assert data.citation
    assert data.licence
    assert data.notes
    assert len(data.feature_names) == data.X.shape[1]
    assert len(data.y) == len(data.X)


@pytest.mark.parametrize("name", [name for name in WRITERS if PUBLIC[name].sources[0].sha256])
def test_an_altered_file_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = small_original(name, tmp_path, monkeypatch)
    path = tmp_path / entry.sources[0].file
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(ValueError, match=f"{path.name}: was altered or cut off.*https://"):
        load_dataset(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "file", "damage"),
    [
        ("gm12878_200bp", "GM12878_200bp_Data.txt", b"0.5\t1.5\t2.5\n"),
        ("gm12878_200bp", "GM12878_200bp_Data.txt", b"no numbers\n"),
        ("rnaseq", "TCGA-PANCAN-HiSeq-801x20531.tar.gz", b"no archive"),
        ("lung_bhattacharjee2001", "bhattacharjee-2001_database.txt", b"GENES\tAD\tNL\n1_at\t1\t2\n"),
        ("lung_bhattacharjee2001", "bhattacharjee-2001_database.txt", b""),
    ],
)
def test_a_file_without_a_known_checksum_is_looked_at(
    name: str, file: str, damage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_original(name, tmp_path, monkeypatch)
    (tmp_path / file).write_bytes(damage)
    with pytest.raises(ValueError, match=f"{name}: .*{file} (was altered|can't be read)"):
        load_dataset(name, tmp_path)


def test_the_checksum_of_vowel_does_not_mind_the_order_of_rows(tmp_path: Path, shared_data: Path) -> None:
    with np.load(shared_data / "vowel.npz", allow_pickle=False) as copy:
        rows = np.column_stack([copy["uci_test"], copy["speaker"], copy["sex"], copy["X"], copy["y"]])
    order = np.random.default_rng(0).permutation(len(rows))
    form = ["%d"] * 3 + ["%.3f"] * 10 + [" %d"]
    np.savetxt(tmp_path / "vowel-context.data", rows[order], fmt=form)
    data = load_dataset("vowel", tmp_path)
    np.testing.assert_array_equal(data.X, load_dataset("vowel", shared_data).X[order])
    assert len(data.splits["test"]) == 462
    rows[0, 5] += 0.01
    np.savetxt(tmp_path / "vowel-context.data", rows, fmt=form)
    with pytest.raises(ValueError, match="other rows"):
        load_dataset("vowel", tmp_path)
