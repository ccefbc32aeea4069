"""Outputs: printed before they are written, each by itself, to files or to standard output."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from maskrank.cli import app
from maskrank.cli.outputs import Outputs
from maskrank.datasets import make_xor
from maskrank.files import write_atomically

pytestmark = pytest.mark.usefixtures("few_batches")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y, _ = make_xor(200, random_state=0)
    path = tmp_path_factory.mktemp("data") / "xor.csv"
    pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(label=np.array(list("abcd"))[y]).to_csv(
        path, index=False
    )
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def rank(table: Path, *arguments: object) -> Result:
    return run("rank", table, "--target", "label", "--size", 3, "--quiet", *arguments)


@contextmanager
def full_disk(kilobytes: int) -> Iterator[None]:
    """No file may grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * kilobytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_names_the_file_and_keeps_the_rest(table: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    with full_disk(24):
        result = rank(table, "--json", files["json"], "--csv", files["csv"], "--report", files["html"])
    assert result.exit_code == 1
    assert result.stderr.strip() == f"maskrank: {files['html']} can't be written: File too large"
    document = json.loads(files["json"].read_text())
    assert document["complete"] is True
    assert all(f" {name} " in result.stdout for name in document["selected"])
    assert len(pd.read_csv(files["csv"])) == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.json"]


def test_a_checkpoint_without_space_does_not_end_the_fit(table: Path, tmp_path: Path) -> None:
    with full_disk(4):
        result = rank(table, "--repeats", 2, "--jobs", 1, "--checkpoint", tmp_path / "kept")
    assert result.exit_code == 1
    assert result.stderr == f"maskrank: checkpoint {tmp_path / 'kept'} can't be written: File too large\n"
    assert "2 refits" in result.stdout


def test_a_checkpoint_without_space_does_not_end_a_comparison(table: Path, tmp_path: Path) -> None:
    words = ["--target", "label", "--size", 3, "--methods", "mrmr", "--folds", 9, "-q", "--json", "-"]
    with full_disk(1):
        result = run("compare", table, *words, "--checkpoint", tmp_path / "kept")
    assert result.exit_code == 1
    assert result.stderr.endswith(f"maskrank: {tmp_path / 'kept' / 'fits.jsonl'} can't be written: File too large\n")
    document = json.loads(result.stdout)
    assert (document["complete"], len(document["fits"]), document["failed"]) == (True, 9, [])


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "kept.txt"
    file.write_text("before")
    with full_disk(1), pytest.raises(OSError, match=r"kept\.txt can't be written: File too large"):
        write_atomically(file, "x" * 5000)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert file.read_text() == "before"


def test_standard_output_holds_the_output_alone(table: Path) -> None:
    shown = rank(table, "--json", "-")
    assert json.loads(shown.stdout)["complete"] is True
    assert "rank  feature" in shown.stderr
    said = next(line for line in shown.stderr.splitlines() if line.startswith("time "))
    total, reading, fitting = (float(word) for word in said.replace(",", "").split() if word[0].isdigit())
    assert total >= reading + fitting - 0.11  # the time waited
    csv = rank(table, "--csv", "/dev/stdout").stdout
    assert list(pd.read_csv(io.StringIO(csv)).columns[:2]) == ["rank", "feature"]


def test_standard_output_takes_one_output(table: Path, tmp_path: Path) -> None:
    twice = rank(table, "--json", "-", "--csv", "/dev/stdout")
    assert (twice.exit_code, twice.stdout) == (2, "")
    assert "only one output can go to standard output" in twice.stderr
    assert rank(table, "--model", "-").exit_code == 2
    assert "is given twice" in rank(table, "--json", tmp_path / "x", "--csv", tmp_path / "x").stderr
    assert "is given twice" in run("predict", tmp_path / "m", table, "--out", table).stderr


def test_fits_go_to_standard_output(table: Path) -> None:
    shown = run(
        "compare", table, "--target", "label", "--size", 3, "--methods", "mrmr", "--folds", 2, "--csv", "-", "-q"
    )
    assert pd.read_csv(io.StringIO(shown.stdout))["fold"].tolist() == [0, 1]
    assert "mrmr" in shown.stderr


def test_a_stop_in_the_middle_of_a_write_writes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    outputs = Outputs([], json=str(tmp_path / "out.json"))
    with monkeypatch.context() as patched:
        patched.setattr("maskrank.files.write_atomically", interrupted)
        with pytest.raises(KeyboardInterrupt):
            outputs.write("json", lambda: "{}")
    outputs.write("json", lambda: "{}")
    outputs.write("json", lambda: "another")
    assert (tmp_path / "out.json").read_text() == "{}"


def shell(command: str) -> subprocess.CompletedProcess[str]:
    program = f"set -o pipefail; {command.replace('maskrank', f'{sys.executable} -m maskrank')}"
    return subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)


def test_a_reader_that_leaves_is_no_error() -> None:
    closed = shell("maskrank datasets list | true")
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_full_standard_output_is_one() -> None:
    full = shell("maskrank datasets list > /dev/full")
    assert full.returncode == 1
    assert full.stderr == "maskrank: standard output can't be written: No space left on device\n"


def timing_out(monkeypatch: pytest.MonkeyPatch, late: Callable[[dict[str, object]], bool]) -> None:
    """Let the time limit end the fits that are late, at once."""

    class Limited:
        def __init__(self, work: object, seconds: float) -> None:
            self.work, self.seconds = work, seconds

        def __call__(self, jobs: list[dict[str, object]]) -> object:
            if late(jobs[0]):
                raise TimeoutError(f"timed out after {self.seconds:g} s")
            return self.work(jobs)  # type: ignore[operator]

    monkeypatch.setattr("maskrank.study.own_table.TimeLimit", Limited)


def test_a_method_that_takes_too_long_is_in_the_table(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timing_out(monkeypatch, lambda job: job["method"] == "lasso" or job["fold"] == 1)
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    result = run(
        *("compare", table, "--target", "label", "--size", 3, "--methods", "mrmr,lasso", "--folds", 2, "--timeout", 60),
        *("--json", files["json"], "--csv", files["csv"], "--report", files["html"]),
    )
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: " ".join(line.split()) for line in result.stdout.split("\n\n", 1)[1].splitlines()}
    assert "Fits of mrmr and lasso are missing" in " ".join(result.stdout.split())
    assert " 1 of 2 " in rows["mrmr"]
    assert rows["lasso"] == "lasso 0 of 2 timed out after 60 s"
    document = json.loads(files["json"].read_text())
    assert (document["complete"], len(document["fits"]), len(document["failed"])) == (True, 1, 3)
    assert pd.read_csv(files["csv"])["error"].notna().sum() == 3
    assert "timed out after 60 s" in files["html"].read_text()


def test_a_comparison_in_which_no_fit_ended_is_an_error(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timing_out(monkeypatch, lambda job: True)
    words = ("--size", 3, "--methods", "mrmr,lasso", "--folds", 2, "--timeout", 60)
    result = run("compare", table, "--target", "label", *words)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "maskrank: no fit ended within the --timeout of 60 s"
    assert [" ".join(line.split()) for line in result.stdout.splitlines() if line.startswith(("mrmr", "lasso"))] == [
        "mrmr 0 of 2 timed out after 60 s",
        "lasso 0 of 2 timed out after 60 s",
    ]
