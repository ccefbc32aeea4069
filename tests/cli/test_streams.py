"""What the commands say where streams are closed, memory ends, or a name is odd: one line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier
from maskrank.cli import app
from maskrank.cli.errors import said_of
from maskrank.datasets import make_xor
from maskrank.results import as_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and a model of it."""
    X, y, _ = make_xor(80, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
    path = tmp_path_factory.mktemp("streams")
    frame.assign(label=y).to_csv(path / "d.csv", index=False)
    DualNetClassifier(2, max_batches=16, random_state=0).fit(frame, np.array(["no", "yes", "a", "b"])[y]).save(
        path / "m"
    )
    return path


def shell(folder: Path, line: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command, in which MASKRANK stands for the program."""
    command = line.replace("MASKRANK", f"{sys.executable} -m maskrank")
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def call(*arguments: str) -> tuple[int, str]:
    """Exit code and errors of a command in this process, where its streams do not matter."""
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stderr


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("MASKRANK predict m - <&-", 2, "maskrank: standard input: can't be read: Bad file descriptor\n"),
        ("MASKRANK predict m d.csv >&-", 1, "maskrank: standard output can't be written: Bad file descriptor\n"),
        ("MASKRANK predict m none.csv >&- 2>&-", 2, ""),
        ("MASKRANK --version >&-", 1, "maskrank: standard output can't be written: Bad file descriptor\n"),
    ],
)
def test_closed_streams(folder: Path, line: str, code: int, said: str) -> None:
    assert shell(folder, line) == (code, "", said)


def test_a_file_opened_in_the_place_of_a_closed_stream_is_not_printed_into(folder: Path) -> None:
    assert shell(folder, "MASKRANK predict m d.csv --out kept.csv <&- >&- 2>&-") == (0, "", "")
    assert len(pd.read_csv(folder / "kept.csv")) == 80


@pytest.mark.parametrize("command", ["predict {0}/m {0}/d.csv --out o.csv", "rank {0}/d.csv --target label --size 1"])
def test_a_folder_that_was_removed(folder: Path, command: str) -> None:
    code, out, said = shell(folder, f"mkdir gone; cd gone; rmdir ../gone; MASKRANK {command.format(folder)}")
    assert (code, out) == (2, "")
    assert said == "maskrank: the folder that this was started in is no longer there: change to another one\n"


def test_names_that_are_no_text(folder: Path) -> None:
    strange = os.fsencode(folder) + b"/d\xff.csv"
    os.link(folder / "d.csv", strange)
    out = os.fsdecode(os.fsencode(folder) + b"/o\xff.csv")
    assert call("predict", str(folder / "m"), os.fsdecode(strange), "--out", out) == (0, "")
    assert len(pd.read_csv(out)) == 80


def test_an_input_is_never_overwritten(folder: Path) -> None:
    for out in ("d.csv", "m"):
        before = (folder / out).read_bytes()
        code, said = call("predict", str(folder / "m"), str(folder / "d.csv"), "--out", str(folder / out))
        assert code == 2
        assert "is read, and would be overwritten" in said
        assert (folder / out).read_bytes() == before


def test_errors_of_memory_depth_and_size_are_lines() -> None:
    try:
        np.empty((1 << 40, 1 << 10))
    except MemoryError as error:
        said = said_of(error)
    assert said == (
        [
            "there is not enough memory for 8.00 PiB at once: --memory chooses on a sample of the rows, --drop leaves "
            "columns out, and fewer --jobs take less"
        ],
        1,
    )
    assert said_of(RuntimeError("can't allocate memory: you tried to allocate 80 bytes."))[0][0].startswith("there is")
    assert said_of(RecursionError("deep")) == (["what was given is nested too deeply"], 2)
    assert said_of(OverflowError("int too large")) == (["a number is too large: int too large"], 2)
    assert said_of(OSError(28, "No space left on device", "a.csv")) == (["a.csv: No space left on device"], 2)
    assert said_of(RuntimeError("a bug")) is None
    (line,), _ = said_of(ValueError("x" * 10_000))
    assert len(line) < 2_100


def test_json_of_any_numbers_and_names() -> None:
    document = {"a": np.float32("inf"), "b": [np.int8(3), np.float64("nan")], "c": np.arange(2), "d": "\ud800"}
    assert as_json(document) == (
        '{\n  "a": null,\n  "b": [\n    3,\n    null\n  ],\n  "c": [\n    0,\n    1\n  ],\n  "d": "\\ud800"\n}\n'
    )
