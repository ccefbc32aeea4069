"""Files that are read in parts give what they give when they are read at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskrank.tables import TableError, load_table, text
from maskrank.tables.files import read_frame

COLUMNS = {
    "numbers": ["1", "2", "3", "4", "5", "6"],
    "later_gap": ["1", "2", "3", "4", "", "6"],
    "later_fraction": ["1", "2", "3", "4", "5.5", "6"],
    "first_empty": ["", "", "3", "4", "5", "6"],
    "text": ["a", "b", "c", "d", "e", "f"],
    "late_text": ["", "", "c", "d", "e", "f"],
    "text_among_numbers": ["01", "2", "3", "4", "five", "6"],
    "truths": ["True", "False", "True", "True", "", "False"],
    "truths_and_numbers": ["True", "False", "1", "0", "1", "0"],
    "large": ["9007199254740993", "2", "3", "4", "", "6"],
    "very_large": ["1", "2", "18446744073709551615", "4", "-5", "6"],
    "nothing": ["", "", "", "", "", ""],
    "last": ["u", "v", "u", "v", "u", "v"],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    lines = [",".join(COLUMNS), *(",".join(row) for row in zip(*COLUMNS.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_parts_of_a_file_give_the_columns_of_the_whole(file: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_frame(str(file))
    monkeypatch.setattr(text, "_AT_ONCE", rows * len(COLUMNS))
    parts = read_frame(str(file))
    pd.testing.assert_frame_equal(parts.frame, whole.frame)
    assert parts.cells is not None
    assert whole.cells is not None
    pd.testing.assert_frame_equal(parts.cells(["large", "numbers"]), whole.cells(["large", "numbers"]))


def test_reading_tells_how_many_bytes_are_done(file: Path) -> None:
    said: list[tuple[int, int]] = []
    read_frame(str(file), lambda done, total: said.append((done, total)))
    assert said[0] == (0, file.stat().st_size)
    assert said[-1] == (file.stat().st_size, file.stat().st_size)


def test_a_file_that_shrinks_while_it_is_read_is_refused(file: Path) -> None:
    size = file.stat().st_size

    def cut(done: int, total: int) -> None:
        if done == total:
            file.write_bytes(file.read_bytes()[:100])

    with pytest.raises(TableError, match=f"became shorter while it was read, 100 bytes instead of {size}"):
        read_frame(str(file), cut)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_wide_parquet_is_what_pandas_reads(tmp_path: Path, kind: type) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame((100 * rng.normal(size=(30, 400))).astype(kind), columns=[f"g{i}" for i in range(400)])
    frame.insert(7, "y", rng.integers(0, 2, 30).astype(np.int8))
    frame.insert(9, "who", [f"p{i % 3}" for i in range(30)])
    if kind is not np.int64:
        frame.loc[3, "g5"] = np.nan
    path = tmp_path / "wide.parquet"
    frame.to_parquet(path)
    said: list[tuple[int, int]] = []
    read = read_frame(str(path), lambda done, total: said.append((done, total))).frame
    pd.testing.assert_frame_equal(read, pd.read_parquet(path))
    assert said[-1] == (path.stat().st_size, path.stat().st_size)
    table = load_table(str(path), target="y")
    assert table.X.shape == (30, 401)


def test_parquet_of_whole_numbers_with_gaps_and_with_an_index(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "gaps.parquet"
    pq.write_table(pa.table({"a": pa.array([1, None, 3]), "b": pa.array([1, 2, 3]), "y": pa.array([0, 1, 0])}), path)
    pd.testing.assert_frame_equal(read_frame(str(path)).frame, pd.read_parquet(path))
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0]}, index=pd.Index([5.0, 6.0], name="who"))
    frame.to_parquet(path)
    assert list(read_frame(str(path)).frame.columns) == ["a", "b"]
