from __future__ import annotations

import functools
import hashlib
import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maskrank
from maskrank import DualNetClassifier, DualNetRegressor, ImageCNN, load
from maskrank.datasets import make_orange_skin
from tests.estimators.nets import TwoLayers

X, Y, _ = make_orange_skin(80, random_state=0)


def same(a: DualNetClassifier, b: DualNetClassifier, X: np.ndarray = X) -> bool:
    attributes = ("ranking_", "feature_importances_", "raw_scores_", "support_")
    return np.array_equal(a.predict(X), b.predict(X)) and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in attributes
    )


@given(
    s=st.integers(1, 9),
    labels=st.sampled_from([["no", "yes"], ["é", "<b>"], [3, 1], [True, False], [2.0, 1.0]]),
    names=st.none() | st.lists(st.text(min_size=1), min_size=10, max_size=10, unique=True),
    seed=st.none() | st.integers(0, 9),
)
@settings(max_examples=8)
def test_a_saved_classifier_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, s: int, labels: list[object], names: list[str] | None, seed: int | None
) -> None:
    path = tmp_path_factory.mktemp("models") / "model.maskrank"
    data = X if names is None else pd.DataFrame(X, columns=names)
    model = DualNetClassifier(s, max_batches=16, random_state=seed, operator=(6, 4)).fit(data, np.array(labels)[Y])
    model.save(path)
    again = load(path)
    assert same(model, again, data)
    assert np.array_equal(again.predict_proba(data), model.predict_proba(data))
    assert again.classes_.dtype == model.classes_.dtype
    assert again.get_params() == model.get_params()
    assert (again.config_, again.history_) == (model.config_, model.history_)
    assert list(again.get_feature_names_out()) == list(model.get_feature_names_out())
    assert again.to_frame().equals(model.to_frame())


@pytest.mark.parametrize("outputs", [None, 1, 2])
def test_a_saved_regressor_comes_back_as_it_was(tmp_path: Path, outputs: int | None) -> None:
    y = X[:, 0] if outputs is None else X[:, :outputs]
    model = DualNetRegressor(3, max_batches=16, random_state=0).fit(X, y)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert same(model, again)
    assert again.predict(X).shape == y.shape
    assert again.validation_score_ == model.validation_score_


def test_the_cnn_is_rebuilt_and_ones_own_net_is_asked_for(tmp_path: Path) -> None:
    images = np.random.default_rng(0).normal(size=(30, 64))
    cnn = functools.partial(ImageCNN, image_shape=(8, 8))
    model = DualNetClassifier(5, operator=cnn, max_batches=8, n_subsets=4, random_state=0).fit(images, Y[:30])
    model.save(tmp_path / "cnn")
    assert np.array_equal(load(tmp_path / "cnn").predict_proba(images), model.predict_proba(images))

    own = DualNetClassifier(5, operator=TwoLayers, max_batches=16, random_state=0).fit(X, Y)
    own.save(tmp_path / "own")
    assert same(load(tmp_path / "own", operator=TwoLayers), own)
    with pytest.raises(ValueError, match="a net of your own, TwoLayers: load it with operator=TwoLayers"):
        load(tmp_path / "own")
    with pytest.raises(ValueError, match="does not fit the saved net"):
        load(tmp_path / "own", operator=TwoLayers(10, 3))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.maskrank"
    DualNetClassifier(3, max_batches=8, random_state=0).fit(X, Y).save(path)
    return path


def rewritten(path: Path, **changes: object) -> None:
    """Change the metadata of a model file, and its checksum with it."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    document = json.loads(header["__metadata__"]["maskrank"]) | changes
    header["__metadata__"] = {"maskrank": json.dumps(document), "sha256": "0" * 64}
    data = json.dumps(header).encode()
    altered = struct.pack("<Q", len(data)) + data + content[8 + length :]
    path.write_bytes(altered.replace(b"0" * 64, hashlib.sha256(altered).hexdigest().encode(), 1))


def test_an_older_format_asks_for_a_new_fit(saved: Path) -> None:
    rewritten(saved, format=1, version="0.0.9")
    with pytest.raises(ValueError, match=r"earlier maskrank, 0\.0\.9, in format 1.*fit and save"):
        load(saved)


def test_a_newer_format_asks_for_an_update(saved: Path) -> None:
    rewritten(saved, format=99, version="7.0")
    with pytest.raises(ValueError, match=r"written by maskrank 7\.0 in format 99.*update"):
        load(saved)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved: Path, share: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"is damaged|is not a maskrank model"):
        load(saved)


@pytest.mark.parametrize("changes", [{"estimator": None}, {"task": None}, {"predictor": {}}, {"parameters": {"x": 1}}])
def test_metadata_that_does_not_fit_is_refused(saved: Path, changes: dict[str, object]) -> None:
    rewritten(saved, **changes)
    with pytest.raises(ValueError, match="is damaged"):
        load(saved)


def test_a_file_that_was_altered_in_any_place_is_refused(saved: Path) -> None:
    content, rng = saved.read_bytes(), np.random.default_rng(0)
    head = 8 + struct.unpack("<Q", content[:8])[0]
    places = [*range(12), *rng.integers(head, size=60).tolist(), *rng.integers(len(content), size=60).tolist()]
    for place in places:
        altered = bytearray(content)
        altered[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(altered)
        with pytest.raises(ValueError, match=r"is damaged|is not a maskrank model|maskrank"):
            load(saved)
    saved.write_bytes(content)
    load(saved)


def test_an_estimator_that_is_not_imported_is_named(saved: Path) -> None:
    rewritten(saved, estimator="Other")
    with pytest.raises(ValueError, match="was saved by Other, an estimator that is not imported here"):
        load(saved)


def test_foreign_files_are_refused_and_pickles_never_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (pytest.fail, ("a pickle was opened",))

    path = tmp_path / "model"
    for content in (b"", b"hello", b"PK\x03\x04", pickle.dumps(Bomb()), b"\x02\0\0\0\0\0\0\0{}"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a maskrank model"):
            load(path)
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        load(tmp_path / "absent")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()
    model = load(saved)

    def full_disk(*args: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("maskrank.files.os.replace", full_disk)
    with pytest.raises(OSError, match="no space left"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_path_that_can_not_be_written_is_named(saved: Path, tmp_path: Path) -> None:
    model = load(saved)
    with pytest.raises(OSError, match="is a folder"):
        model.save(tmp_path)
    with pytest.raises(OSError, match="there is no folder"):
        model.save(tmp_path / "absent" / "model")


def test_a_file_says_which_version_wrote_it(saved: Path) -> None:
    assert maskrank.__version__.encode() in saved.read_bytes()
