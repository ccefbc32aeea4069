"""One loader for all data sets: what is drawn, what is read, what is downloaded, and what is said when it can't be."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from maskrank.datasets import load_dataset, make_xor
from maskrank.datasets.catalogue import PUBLIC
from maskrank.datasets.loading import SYNTHETIC
from tests.datasets.originals import WRITERS, small_original

LOADED = {
    "glass": (214, 10, [70, 76, 17, 13, 9, 29]),
    "glass_without_id": (214, 9, [70, 76, 17, 13, 9, 29]),
    "vowel": (990, 10, [90] * 11),
    "tox171": (171, 5748, [45, 45, 39, 42]),
    "yale32": (165, 1024, [11] * 15),
    "mnist38": (13966, 784, [7141, 6825]),
    "gm12878_200bp_3cl": (6468, 93, [2156] * 3),
    "mcf7_200bp": (747, 39, [249] * 3),
    "lung_bhattacharjee2001": (203, 1543, [139, 20, 17, 6, 21]),
    "all_leukemia_12625": (128, 12625, [95, 33]),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address under which it is served."""

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=folder)) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MASKRANK_DATA_DIR", raising=False)
    monkeypatch.setenv("MASKRANK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_rows_are_drawn_once_and_independently(name: str) -> None:
    data, again, other = load_dataset(name), load_dataset(name), load_dataset(name, random_state=1)
    np.testing.assert_array_equal(data.X, again.X)
    assert not np.isin(other.X, data.X).any()
    train, test = (data.X[data.splits[part]] for part in ("train", "test"))
    assert train.shape == (512, 10)
    assert test.shape == (1024, 10)
    assert not np.isin(test, train).any()
    assert data.relevant is not None
    assert data.task == ("regression" if name == "regression" else "classification")
    assert len(data.feature_names) == 10


def test_the_two_kinds_of_xor_differ_in_their_noise() -> None:
    for name, variance in (("xor", 0.5), ("xor_variance1", 1.0)):
        expected = make_xor(512, noise_variance=variance, random_state=np.random.default_rng(0))
        np.testing.assert_array_equal(load_dataset(name).X[:512], expected.X)


@pytest.mark.parametrize("name", LOADED)
def test_the_real_data_sets_are_as_published(name: str, shared_data: Path) -> None:
    data = load_dataset(name, shared_data)
    rows, features, counts = LOADED[name]
    assert data.X.shape == (rows, features)
    assert np.unique(data.y, return_counts=True)[1].tolist() == counts
    assert len(set(data.feature_names)) == features
    assert np.isfinite(data.X).all()
    if data.splits:
        assert sorted(np.concatenate(list(data.splits.values()))) == list(range(rows))


def test_the_splits_are_those_of_the_paper_and_of_uci(shared_data: Path) -> None:
    sizes = {
        name: [len(rows) for rows in load_dataset(name, shared_data).splits.values()]
        for name in ("mnist38", "vowel", "gm12878_200bp_3cl", "glass")
    }
    assert sizes == {"mnist38": [11982, 1984], "vowel": [528, 462], "gm12878_200bp_3cl": [2156] * 3, "glass": []}


@pytest.mark.parametrize("name", [name for name in LOADED if name != "glass_without_id"])
def test_raw_is_the_file_itself(name: str, shared_data: Path) -> None:
    data, entry = load_dataset(name, shared_data, raw=True), PUBLIC[name]
    with np.load(shared_data / str(entry.file), allow_pickle=False) as copy:
        np.testing.assert_array_equal(data.X, copy["X"])
        y = copy["class_names"][copy["y"]] if "class_names" in copy else copy["y"]
        np.testing.assert_array_equal(data.y, y)


def test_the_faces_stand_upright(shared_data: Path) -> None:
    data = load_dataset("yale32", shared_data)
    raw = load_dataset("yale32", shared_data, raw=True)
    faces = data.X.reshape(-1, *data.image_shape)
    np.testing.assert_array_equal(faces, raw.X.reshape(-1, 32, 32).transpose(0, 2, 1))
    mean = faces.mean(axis=0)
    sides = np.abs(mean - mean[:, ::-1]).mean()
    assert sides < np.abs(mean - mean[::-1]).mean()  # left and right of a face are more alike than top and bottom


def test_an_altered_copy_is_refused(shared_data: Path, tmp_path: Path) -> None:
    content = (shared_data / "glass.npz").read_bytes()
    (tmp_path / "glass.npz").write_bytes(content[:-1])
    with pytest.raises(ValueError, match=r"glass\.npz: was altered or cut off"):
        load_dataset("glass", tmp_path)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_missing_file_is_one_line_that_says_what_to_do(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{name}: there is no") as error:
        load_dataset(name, tmp_path)
    text = str(error.value)
    assert "\n" not in text
    assert "MASKRANK_DATA_DIR" in text
    assert "https://" in text or "Debian" in text


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no data set 'iris'; there are xor, .*rnaseq"):
        load_dataset("iris")


@pytest.mark.parametrize("name", WRITERS)
def test_originals_are_downloaded_once(
    name: str, server: tuple[Path, str], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = server
    small_original(name, folder, monkeypatch, url)
    first = load_dataset(name)
    np.testing.assert_array_equal(first.X, load_dataset(name, folder).X)
    shutil.rmtree(folder)
    np.testing.assert_array_equal(first.X, load_dataset(name).X)
    assert {path.name for path in (cache / name).iterdir()} == {source.file for source in PUBLIC[name].sources}


def test_a_download_that_is_another_file_is_refused_and_not_kept(
    server: tuple[Path, str], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = server
    small_original("glass", folder, monkeypatch, url)
    (folder / "glass.data").write_text("1,2,3\n")
    with pytest.raises(ValueError, match=r"glass: http.*glass\.data gives another file"):
        load_dataset("glass")
    assert not list(cache.rglob("glass.data"))


def test_a_download_that_fails_is_one_line(
    server: tuple[Path, str], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = server
    small_original("glass", folder, monkeypatch, url)
    (folder / "glass.data").unlink()
    with pytest.raises(OSError, match=r"glass: glass\.data can't be downloaded .*put it into a folder") as error:
        load_dataset("glass")
    assert "\n" not in str(error.value)


def test_without_pooch_the_error_names_the_extra_and_the_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"maskrank\[study\].*--data-dir"):
        load_dataset("glass")


def test_leukaemia_can_not_be_downloaded_and_says_where_it_is_from(cache: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"r-bioc-all.*not to be downloaded"):
        load_dataset("all_leukemia_12625")


def test_every_address_is_that_of_its_file() -> None:
    for entry in PUBLIC.values():
        for source in entry.sources:
            assert source.url.startswith("https://")
            assert source.url.endswith(f"/{source.file}")
