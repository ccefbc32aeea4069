"""Tables on disk that are read in batches: what they hold, in any format, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from maskrank.tables import LargeTable, TableError, load_table, memory_limit, open_large
from maskrank.tables.memory import bytes_in_memory, sample_rows, size_text
from maskrank.tables.sampling import draw_rows

N = 90


def frame(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n).astype(np.float32),
            "b": rng.integers(0, 9, n),
            "c": rng.choice(["u", "v", "w"], n),
            "y": np.arange(n) % 2,
        }
    )


def folder_of(path: Path, n_files: int = 3, data: pd.DataFrame | None = None) -> Path:
    path.mkdir(exist_ok=True)
    data = frame() if data is None else data
    for k, rows in enumerate(np.array_split(np.arange(len(data)), n_files)):
        table = pa.Table.from_pandas(data.iloc[rows], preserve_index=False)
        pq.write_table(table, path / f"part-{k}.parquet", row_group_size=7)
    return path


@pytest.mark.parametrize("form", ["parquet", "folder", "feather", "csv"])
def test_a_table_is_the_same_in_every_format(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"table.{form}"
    if form == "folder":
        folder_of(path)
    elif form == "feather":
        pyarrow.feather.write_feather(frame(), path)
    elif form == "parquet":
        frame().to_parquet(path)
    else:
        frame().to_csv(path, index=False)
    table = open_large(path)
    assert (table.n_rows, table.names) == (N, ["a", "b", "c", "y"])
    pd.testing.assert_frame_equal(table.frame(), frame(), check_dtype=form != "csv", rtol=1e-6)
    rows = np.array([0, 5, 44, 89])
    pd.testing.assert_frame_equal(table.take(rows, ["b", "c"]), frame().iloc[rows][["b", "c"]].reset_index(drop=True))


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_a_table(tmp_path: Path, order: str) -> None:
    values = np.asarray(np.random.default_rng(0).normal(size=(50, 3)), order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "x.npy", values)
    table = open_large(tmp_path / "x.npy")
    assert table.names == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(table.frame(["x2", "x0"]), values[:, [2, 0]])


def test_a_partitioned_folder_has_the_columns_of_its_folders(tmp_path: Path) -> None:
    ds.write_dataset(
        pa.Table.from_pandas(frame()), tmp_path / "t", format="parquet", partitioning=["c"], partitioning_flavor="hive"
    )
    table = open_large(tmp_path / "t")
    assert sorted(table.names) == ["a", "b", "c", "y"]
    assert sorted(table.frame()["c"].astype(str)) == sorted(frame()["c"])


def test_csv_is_converted_with_the_types_of_whole_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskrank.tables import text

    monkeypatch.setattr(text, "_AT_ONCE", 12)
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,y\n1,1,x,0\n2,2,x,1\n3,3,y,0\n4.5,x,,1\n5,007,z,0\n,6,z,1\n")
    read = open_large(path).frame()
    assert read["a"].tolist()[:5] == [1, 2, 3, 4.5, 5]
    assert read["b"].tolist() == ["1", "2", "3", "x", "007", "6"]
    assert read["y"].tolist() == [0, 1, 0, 1, 0, 1]
    path.write_text("a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n2,3\n4,5,6\n")
    with pytest.raises(TableError, match="line 8 has 3 fields, the header has 2"):
        open_large(path)


def test_long_whole_numbers_of_csv_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskrank.tables import text

    monkeypatch.setattr(text, "_AT_ONCE", 12)  # two rows a part
    path = tmp_path / "t.csv"
    exact, long = [123456789012345678 + k for k in range(6)], 20_000_000_000_000_000
    rows = [
        f"{number},{short},{gap},{long + k},{2**63 + k},{k}"
        for k, (number, short, gap) in enumerate(
            zip(exact, [1, 2, 3, 4, 5, long], ["", "", long, long, 0.5, 0.5], strict=True)
        )
    ]
    path.write_text("\n".join(["exact,short,gap,more,huge,y", *rows]) + "\n")
    found = open_large(path).frame()
    assert found["exact"].tolist() == exact
    assert found["short"].tolist() == [1, 2, 3, 4, 5, long]
    assert found["gap"].astype(float).tolist()[2:] == [long, long, 0.5, 0.5]
    assert found["gap"].isna().tolist() == [True, True, False, False, False, False]
    assert found["huge"].astype(float).tolist() == [float(2**63)] * 6


def test_batches_in_random_order_hold_every_row_once(tmp_path: Path) -> None:
    table = open_large(folder_of(tmp_path / "t", data=frame().assign(a=np.arange(N))))
    said: list[tuple[int, int]] = []
    batches = list(
        table.batches(["a"], shuffled=np.random.default_rng(0), told=lambda done, total: said.append((done, total)))
    )
    starts = [batch.start for batch in batches]
    assert starts != sorted(starts)
    assert all(batch.frame()["a"].iloc[0] == batch.start for batch in batches)
    assert sorted(np.concatenate([batch.frame()["a"] for batch in batches])) == list(range(N))
    assert said[-1] == (table.n_bytes, table.n_bytes)


def test_a_sample_is_uniform_and_depends_on_the_seed_alone() -> None:
    rows = draw_rows(100_000, 1_000, seed=3)
    assert len(np.unique(rows)) == 1_000
    assert (rows == draw_rows(100_000, 1_000, seed=3)).all()
    assert not (rows == draw_rows(100_000, 1_000, seed=4)).all()
    counts = np.bincount(np.concatenate([draw_rows(200, 20, seed) for seed in range(300)]), minlength=200)
    assert abs(counts.mean() - 30) < 1e-9
    assert counts.std() < 1.4 * np.sqrt(30)
    assert (draw_rows(10, 20, 0) == np.arange(10)).all()


def test_files_of_different_columns_are_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "t")
    first, last = folder / "part-0.parquet", folder / "part-3.parquet"
    for data, message in (
        (frame().drop(columns="b"), f"{last}: lacks the column 'b' of {first}"),
        (frame().astype({"b": str}), f"{last}: the column 'b' is of type large_string, and of type int64 in {first}"),
        (frame().assign(z=1), f"{last}: has a column 'z', which {first} lacks"),
    ):
        data.to_parquet(last)
        with pytest.raises(TableError, match=message):
            open_large(folder)


@pytest.mark.parametrize("name", ["t.parquet", "t"])
def test_names_that_occur_twice_are_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.suffix == "":
        path.mkdir()
    table = pa.table([np.arange(20), np.arange(20), np.arange(20) % 2], names=["a", "a", "y"])
    pq.write_table(table, path / "part.parquet" if path.is_dir() else path)
    with pytest.raises(TableError, match=r"column name .*occurs twice; names must be unique"):
        load_table(str(path), target="y")


def test_files_that_change_and_folders_that_hold_nothing_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "t")
    table = open_large(folder)
    last = folder / "part-2.parquet"
    last.write_bytes(last.read_bytes()[:-200])
    with pytest.raises(TableError, match=rf"{last}: became shorter while it was read"):
        table.frame()
    last.unlink()
    with pytest.raises(TableError, match="was removed while it was read"):
        table.frame()
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"no file ending in \.parquet, \.arrow or \.feather"):
        open_large(tmp_path / "empty")
    with pytest.raises(TableError, match="there is no such file"):
        open_large(tmp_path / "nothing.parquet")
    np.save(tmp_path / "one.npy", np.arange(3))
    with pytest.raises(TableError, match=r"numbers \(rows, columns\) are needed"):
        open_large(tmp_path / "one.npy")


@pytest.mark.parametrize("given", ["much", "4 XB", 0, -1, 1.5, "0GB", "9" * 400, True])
def test_limits_that_are_none(given: object) -> None:
    with pytest.raises(ValueError, match=r"bytes above 0 are needed, or text such as 500MB, 4GB or 4GiB"):
        memory_limit(given)


def test_a_limit_below_what_is_possible_says_the_least() -> None:
    assert memory_limit(None) > 0
    with pytest.raises(ValueError, match=r"--memory: 100 MB are too little .* at least (\S+ \S+) are needed") as caught:
        sample_rows(10**8, 10**6, 100, "--memory")
    least = memory_limit(str(caught.value).split("at least ")[1].split(" are")[0])
    assert sample_rows(least, 10**6, 100) >= 10_000
    assert size_text(least) in str(caught.value)
    with pytest.raises(ValueError, match=size_text(bytes_in_memory(2_000 * 50_000))):
        sample_rows(10**9, 2_000, 50_000)  # all rows fit before a sample would


def test_a_folder_that_fits_is_read_as_a_whole(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "t")
    table = load_table(str(folder), target="y", memory=bytes_in_memory(N * 4))
    assert table.others is None
    frame().to_parquet(tmp_path / "one.parquet")
    pd.testing.assert_frame_equal(table.X, load_table(str(tmp_path / "one.parquet"), target="y").X)


def test_a_scratch_folder_goes_with_its_table(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "t.csv", index=False)
    table: LargeTable | None = open_large(tmp_path / "t.csv")
    assert table is not None
    scratch = next(iter(table._files._known)).parent
    assert scratch.exists()
    table = None
    assert not scratch.exists()


def test_rows_that_a_file_only_claims_to_have_are_refused(tmp_path: Path) -> None:
    nothing = pa.nulls(10**6)
    pyarrow.feather.write_feather(pa.table({"a": nothing, "y": nothing}), tmp_path / "t.feather")
    with pytest.raises(TableError, match="says that it has 1,000,000 rows, and does not hold them"):
        open_large(tmp_path / "t.feather")
    pq.write_table(pa.table({"a": np.arange(100)}), tmp_path / "t.parquet", compression=None)
    content = (tmp_path / "t.parquet").read_bytes()
    rows = content.rindex(b"\x16\xc8\x01")  # the number of rows of its one group, as Thrift writes it
    (tmp_path / "t.parquet").write_bytes(content[:rows] + b"\x16\xfe\x7f" + content[rows + 3 :])
    with pytest.raises(TableError, match="says that it has 8,191 rows, and does not hold them"):
        open_large(tmp_path / "t.parquet")
