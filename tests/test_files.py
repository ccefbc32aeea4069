"""Writing files: whole or not at all, with the mode of the old one, and without leftovers."""

from __future__ import annotations

import gc
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from maskrank.files import check_distinct, check_writable, write_atomically
from maskrank.tables import open_large

SLOW_WRITE = """
import sys, time
from maskrank.files import write_atomically
def parts():
    yield "half"
    print("ready", flush=True)
    time.sleep(60)
write_atomically(sys.argv[1], parts())
"""


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "kept.csv"
    file.write_text("before")
    file.chmod(mode)
    write_atomically(file, "after")
    assert file.read_text() == "after"
    assert stat.S_IMODE(file.stat().st_mode) == mode


def started(file: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", SLOW_WRITE, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_a_killed_process_left_is_removed_and_the_work_of_another_is_not(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    process = started(file)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".result.json.")
    write_atomically(file, "meanwhile")
    assert left.exists()  # the other process is at work
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert left.exists()
    check_writable(tmp_path / "other.json")
    assert left.exists()  # of another file
    check_writable(file)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert file.read_text() == "meanwhile"


@pytest.mark.parametrize("length", [200, 255])
def test_names_may_be_as_long_as_the_system_allows(tmp_path: Path, length: int) -> None:
    file = tmp_path / ("x" * length)
    check_writable(file)
    write_atomically(file, "a")
    assert file.read_text() == "a"


def test_a_name_that_can_not_be_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="its name has 300 bytes, and at most 255 are allowed"):
        check_writable(tmp_path / ("x" * 300))
    with pytest.raises(OSError, match="characters no file can have"):
        check_writable(str(tmp_path / "\ud800"))
    with pytest.raises(OSError, match="no name of a file"):
        check_writable(str(tmp_path / "a\0b"))
    with pytest.raises(OSError, match="no name of a file"):
        check_writable("")


def test_an_output_may_not_fall_on_what_is_read(tmp_path: Path) -> None:
    data, hard, soft = (tmp_path / name for name in ("data.csv", "hard.csv", "soft.csv"))
    data.write_text("a")
    hard.hardlink_to(data)
    soft.symlink_to(data)
    for path in (data, hard, soft, tmp_path / "." / "data.csv"):
        with pytest.raises(ValueError, match="it is read, and would be overwritten"):
            check_distinct([str(data)], [str(path)])
    new = str(tmp_path / "new.csv")
    with pytest.raises(ValueError, match="each output needs a file of its own"):
        check_distinct([str(data)], [new, str(tmp_path / "x" / ".." / "new.csv")])
    check_distinct([str(data)], [new])
    with pytest.raises(ValueError, match="would be a part of the table"):
        check_distinct([str(tmp_path)], [str(tmp_path / "new.parquet")])


SLOW_READING = """
import sys, time
from maskrank.tables import open_large
table = open_large(sys.argv[1])
print("ready", flush=True)
time.sleep(60)
"""


def test_folders_of_a_killed_process_are_removed_and_those_of_another_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / "maskrank-analysis.scratch"
    own.mkdir()
    (own / "mine.csv").write_text("a,b\n1,2\n")
    words = [sys.executable, "-c", SLOW_READING, str(own / "mine.csv")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (left,) = set(tmp_path.iterdir()) - {own}
    table = open_large(own / "mine.csv")
    assert left.exists()  # the other process is at work
    process.kill()
    process.communicate()
    assert left.exists()
    again = open_large(own / "mine.csv")
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 3
    del table, again
    gc.collect()
    assert list(tmp_path.iterdir()) == [own]
    assert [file.name for file in own.iterdir()] == ["mine.csv"]


def test_text_that_utf8_does_not_have_is_spelled_out(tmp_path: Path) -> None:
    write_atomically(tmp_path / "t", "a\udcff")
    assert (tmp_path / "t").read_text() == "a\\udcff"


def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write anywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="can't be written"):
        check_writable(tmp_path / "t")


def test_locks_do_not_wait(tmp_path: Path) -> None:
    process = started(tmp_path / "t")
    began = time.perf_counter()
    write_atomically(tmp_path / "t", "b")
    assert time.perf_counter() - began < 5
    process.kill()
    process.communicate()
