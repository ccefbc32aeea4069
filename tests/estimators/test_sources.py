"""Tables are read where they live: any order of 32-bit floats, memory maps and sparse matrices."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.estimators.scaling import Columns
from maskrank.estimators.sources import DenseSource, check_files, open_source

KINDS = [
    "backwards",
    "float32, C",
    "float32, F",
    "float64, F",
    "strided",
    "memory map",
    "csr_array",
    "csr_matrix",
    "csc_array",
    "int8",
]


QUICK: dict[str, Any] = {"max_batches": 24, "random_state": 0}


def small_table() -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers, mostly zero, so that every kind of table holds them exactly."""
    r = np.random.default_rng(0)
    X = r.integers(-3, 4, (120, 9)) * (r.random((120, 9)) < 0.6)
    return X.astype(np.float64), (X[:, 2] + X[:, 5] > 0).astype(int)


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray]:
    """A copy for each test, some of which write into it."""
    return small_table()


@pytest.fixture(scope="module")
def expected() -> DualNetClassifier:
    """The model of the plain array, which no test changes."""
    return DualNetClassifier(3, **QUICK).fit(*small_table())


@pytest.fixture(scope="module")
def expected_of_parts() -> np.ndarray:
    """The scores of plain arrays where the last rows are for validation."""
    X, y = small_table()
    return np.asarray(DualNetRegressor(3, **QUICK).fit(X[:90], y[:90], X_val=X[90:], y_val=y[90:]).raw_scores_)


def as_kind(X: np.ndarray, kind: str, folder: Path) -> Any:
    if kind == "memory map":
        np.save(folder / "x.npy", X.astype(np.float32))
        return np.load(folder / "x.npy", mmap_mode="r")
    if kind == "strided":
        wide = np.full((2 * len(X), 2 * X.shape[1]), np.nan)
        wide[::2, ::2] = X
        return wide[::2, ::2]
    if kind == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if kind.startswith("cs"):
        return getattr(sparse, kind)(X.astype(np.float32))
    if kind == "int8":
        return X.astype(np.int8)
    dtype, order = kind.split(", ")
    return np.asarray(X, dtype=dtype, order=order)  # type: ignore[call-overload]


@pytest.mark.parametrize("held", [True, False], ids=["held", "in place"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_model(
    kind: str,
    held: bool,
    table: tuple[np.ndarray, np.ndarray],
    expected: DualNetClassifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table
    if not held:
        monkeypatch.setattr("maskrank.core.limits.HELD_TABLE", 0)
    given_table = as_kind(X, kind, tmp_path)
    model = DualNetClassifier(3, **QUICK).fit(given_table, y)
    assert np.array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(model.raw_scores_, expected.raw_scores_, rtol=1e-2, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(given_table), expected.predict_proba(X), atol=1e-2)
    assert model.transform(given_table).shape == (120, 3)


@pytest.mark.parametrize("kind", ["float32, C", "float32, F", "memory map", "csr_array"])
def test_validation_rows_may_be_of_any_kind(
    kind: str, table: tuple[np.ndarray, np.ndarray], expected_of_parts: np.ndarray, tmp_path: Path
) -> None:
    X, y = table
    learned, judging = as_kind(X[:90], kind, tmp_path), as_kind(X[90:], "csr_array", tmp_path)
    model = DualNetRegressor(3, **QUICK).fit(learned, y[:90], X_val=judging, y_val=y[90:])
    np.testing.assert_allclose(model.raw_scores_, expected_of_parts, rtol=1e-2, atol=1e-4)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_table_is_neither_copied_nor_changed(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskrank.core.limits.HELD_TABLE", 0)
    r = np.random.default_rng(0)
    X = np.asarray(r.standard_normal((300, 40_000), dtype=np.float32), order=order)  # type: ignore[call-overload]
    X.flags.writeable = False
    tracemalloc.start()
    DualNetClassifier(5, max_batches=8, search_effort="quick", random_state=0).fit(X, X[:, 7] > 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes  # a copy in 64 bits would be twice as much


def test_a_memory_map_that_shrank_is_named_wherever_it_is_read(tmp_path: Path) -> None:
    """Reading behind the end of the file would end the process, and this test with it."""
    r = np.random.default_rng(0)
    whole, y = r.standard_normal((120, 400)), np.arange(120) % 2
    model = DualNetClassifier(3, max_batches=8, random_state=0).fit(whole, y)

    def cut(dtype: Any, name: str) -> np.ndarray:
        np.save(tmp_path / name, whole.astype(dtype))
        X: np.ndarray = np.load(tmp_path / name, mmap_mode="r")
        os.truncate(tmp_path / name, 20_000)
        return X

    X = cut(np.float64, "x.npy")
    for view in (X, X[:, :50], np.asarray(X), X[10:]):
        with pytest.raises(ValueError, match=r"up to byte 384,128 of a file that has only 20,000: it was cut"):
            check_files(view)
    fresh = DualNetClassifier(3, max_batches=8)
    sparse_map = sparse.csr_array(
        (cut(np.float64, "d.npy").reshape(-1)[:240], np.arange(240) % 9, np.arange(0, 241, 2))
    )
    for read in (
        lambda: fresh.fit(X, y),
        lambda: fresh.fit(cut(np.int16, "i.npy"), y),
        lambda: fresh.fit(cut(">f4", "b.npy"), y),
        lambda: fresh.fit(sparse_map, y),
        lambda: fresh.fit(whole, y, X_val=X, y_val=y),
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.transform(X),
        lambda: model.predict_selected(X[:, :3]),
    ):
        with pytest.raises(ValueError, match="cut after it was opened"):
            read()


def test_a_map_that_begins_inside_its_file_is_measured_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    np.zeros(40_000, dtype=np.float32).tofile(path)
    X = np.memmap(path, dtype=np.float32, mode="r", offset=10_000, shape=(100, 300))
    check_files(X)
    os.truncate(path, 129_000)
    with pytest.raises(ValueError, match="up to byte 130,000 of a file that has only 129,000"):
        check_files(X)


def test_memory_without_a_file_is_no_file() -> None:
    check_files(np.frombuffer(mmap.mmap(-1, 4096)))
    check_files([[1.0]])


def test_a_column_may_be_called_dtype(table: tuple[np.ndarray, np.ndarray]) -> None:
    frame = pd.DataFrame(table[0], columns=["dtype", *"abcdefgh"])
    model = DualNetClassifier(3, max_batches=8, random_state=0).fit(frame, table[1])
    assert len(model.predict(frame)) == 120


@pytest.mark.parametrize("held", [True, False])
def test_entries_that_are_stored_twice_are_summed(
    held: bool, table: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table
    if not held:
        monkeypatch.setattr("maskrank.core.limits.HELD_TABLE", 0)
    once = sparse.csr_array(X)
    doubled = np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr
    twice = sparse.csr_array(doubled, shape=X.shape)
    fits = [DualNetClassifier(3, **QUICK).fit(matrix, y) for matrix in (once, twice)]
    np.testing.assert_allclose(fits[0].raw_scores_, fits[1].raw_scores_, rtol=1e-4)
    assert twice.nnz == 2 * once.nnz  # the user's own matrix is left alone


def test_reading_where_it_lives_needs_little_memory(tmp_path: Path) -> None:
    """In a process of its own, as the memory of torch is nobody's to trace: the table is never held whole."""
    code = f"""
import numpy as np
from maskrank import DualNetClassifier
from maskrank.core import limits
limits.HELD_TABLE = 0
def own_memory():
    return int([line for line in open("/proc/self/status") if line.startswith("RssAnon")][0].split()[1]) * 1024
r = np.random.default_rng(0)
X = np.lib.format.open_memmap({str(tmp_path / "x.npy")!r}, mode="w+", dtype=np.float32, shape=(40_000, 2_500))
for row in X:
    row[:] = r.standard_normal(2_500, dtype=np.float32)
y = X[:, 3] > 0
before, most = own_memory(), [0]
watch = lambda progress: most.append(own_memory())
DualNetClassifier(20, max_batches=16, search_effort="quick", random_state=0, callbacks=(watch,)).fit(X, y)
print((max(*most, own_memory()) - before) / X.nbytes)
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell a process's own memory")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert float(done.stdout) < 0.8  # working blocks of a fixed size; a copy, or all rows at once, gives at least 1


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("kind", ["float32, C", "float32, F", "memory map", "csr_array"])
def test_what_is_infinite_is_refused_wherever_it_is(
    kind: str,
    held: bool,
    table: tuple[np.ndarray, np.ndarray],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table
    if not held:
        monkeypatch.setattr("maskrank.core.limits.HELD_TABLE", 0)
    monkeypatch.setattr("maskrank.core.limits.TABLE_PART", 50)
    X[-1, -1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        DualNetClassifier(3, max_batches=8).fit(as_kind(X, kind, tmp_path), y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        DualNetClassifier(3, max_batches=8).fit(X[:60] * 0 + 1.0 * table[1][:60, None], y[:60], X_val=X, y_val=y)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1, "b"], [2, {}], [3, "f"], [4, "h"]], dtype=object),
        np.ones((4, 2), dtype=complex),
        sparse.csr_array(np.ones((4, 2), dtype=complex)),
        np.zeros((4, 2), dtype="datetime64[s]"),
    ],
    ids=["objects", "complex", "sparse complex", "dates"],
)
def test_what_is_not_numbers_is_refused(X: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        DualNetClassifier(1).fit(X, [0, 1, 0, 1])


@given(st.integers(2, 40), st.integers(1, 7), st.integers(0, 10_000), st.integers(1, 60), st.booleans())
def test_columns_learned_in_parts_are_those_of_the_whole(
    n: int, d: int, seed: int, at_once: int, by_columns: bool
) -> None:
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, d)) * 10.0 ** r.integers(-150, 150, d) + 10.0 ** r.integers(-150, 150, d)
    X[:, r.random(d) < 0.3] = r.standard_normal()
    rows = np.sort(r.choice(n, r.integers(1, n + 1), replace=False))
    whole = Columns.learn(X[rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maskrank.core.limits.TABLE_PART", at_once)
        parts = DenseSource(np.asfortranarray(X) if by_columns else X).learn(rows)
    assert parts.n == whole.n
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)
    np.testing.assert_array_equal(parts.varies, whole.varies)
    unit = np.maximum(np.abs(whole.low), np.abs(whole.high))
    np.testing.assert_allclose(parts.mean / unit, whole.mean / unit, atol=1e-12)
    np.testing.assert_allclose(parts.std / unit, whole.std / unit, atol=1e-7)


@given(st.integers(2, 40), st.integers(1, 7), st.integers(0, 10_000))
def test_columns_of_a_sparse_matrix_are_those_of_the_dense_one(n: int, d: int, seed: int) -> None:
    r = np.random.default_rng(seed)
    X = r.standard_normal((n, d)) * (r.random((n, d)) < r.random(d))
    dense, found = Columns.learn(X), Columns.learn_sparse(sparse.csr_array(X))
    for name in ("low", "high", "mean", "std"):
        np.testing.assert_allclose(getattr(found, name), getattr(dense, name), atol=1e-12)


def test_a_sparse_source_reads_explicit_zeros_and_unsorted_rows() -> None:
    matrix = sparse.csr_array((np.array([0.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    values = open_source(matrix).select(None, np.array([0, 2]))
    assert values.tolist() == [[2.0, 0.0], [0.0, 0.0]]


def test_a_small_net_is_trained_on_one_thread(table: tuple[np.ndarray, np.ndarray]) -> None:
    seen: list[int] = []
    watch = (lambda progress: seen.append(torch.get_num_threads()),)
    DualNetClassifier(3, max_batches=8, callbacks=watch, random_state=0).fit(*table)
    assert set(seen) == {1}


def test_threads_are_given_back(table: tuple[np.ndarray, np.ndarray]) -> None:
    before = torch.get_num_threads()
    DualNetClassifier(3, max_batches=8, operator=(600, 600), random_state=0).fit(*table)
    assert torch.get_num_threads() == before
