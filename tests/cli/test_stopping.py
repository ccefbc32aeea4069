"""Ctrl-C and SIGTERM through the real command line: what is finished is there, and nothing is left running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import Callback
from maskrank.cli import app
from maskrank.datasets import make_xor

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of a terminal")

QUICK = {"max_batches": 24, "phase1_batches": 16, "calibration__steps": 24, "predictor__cycles": (24,)}
PROGRAM = f"""
import hashlib, os, signal, sys, threading, time
from maskrank import interrupts
from maskrank.core.config import DEFAULT, PRESETS
PRESETS["default"] = DEFAULT.using(**{QUICK!r})
told = sys.argv.pop(1)

def stop(number):
    open(told, "w").write(str(time.time()))
    os.killpg(0, number)
"""
AT_REFITS = """
from maskrank.estimators.stopping import Course
waits_for = Course.waits_for
def stopping(self, repeats, model):
    waits_for(self, repeats, model)
    stop(signal.SIGINT)
Course.waits_for = stopping
"""
IN_COMPILED_CODE = """
from maskrank.cli.fits_results import FitsResults
before = FitsResults.told
def stopping(self, line):
    before(self, line)
    threading.Timer(0.1, stop, [signal.SIGTERM]).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes without a look at signals
FitsResults.told = stopping
"""
MAIN = """
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for jobs in the background
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # and what started this one may have blocked it
from maskrank.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y, _ = make_xor(200, random_state=0)
    path = tmp_path_factory.mktemp("data") / "xor.csv"
    pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(label=np.array(list("abcd"))[y]).to_csv(
        path, index=False
    )
    return path


def stopped(moment: str, tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that stops itself, with all its processes, at a moment."""
    told, program = tmp_path / "told", PROGRAM + moment + MAIN
    command = [sys.executable, "-c", program, str(told), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    process.wait(120)
    seconds = time.time() - float(told.read_text())
    shown, said = process.communicate()
    assert process.returncode == 130, said
    assert seconds < 3  # 2 s on a machine that has nothing else to do
    assert "Traceback" not in said
    assert _workers(process.pid) == []
    return subprocess.CompletedProcess(command, 130, shown, said)


def _workers(session: int) -> list[str]:
    """Processes of a session that are not about to end."""
    time.sleep(0.2)
    listed = subprocess.run(["ps", "-s", str(session), "-o", "stat=,args="], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if not line.startswith("Z") and "resource_tracker" not in line]


def test_a_ranking_is_kept_when_its_refits_are_stopped(table: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html", "maskrank")}
    result = stopped(
        AT_REFITS,
        tmp_path,
        *("rank", table, "--target", "label", "--size", 3, "--repeats", 6, "--jobs", 2, "--json", files["json"]),
        *("--csv", files["csv"], "--report", files["html"], "--model", files["maskrank"]),
    )
    document = json.loads(files["json"].read_text())
    assert document["complete"] is False
    assert all(f" {name} " in result.stdout for name in document["selected"])
    assert "the fit and" in result.stderr
    assert not pd.read_csv(files["csv"])["complete"].any()
    assert "it was stopped" in files["html"].read_text()
    assert files["maskrank"].stat().st_size


def test_compiled_code_does_not_hold_up_a_stop(table: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv")}
    options = ("--target", "label", "--size", 3, "--methods", "mrmr", "--json", files["json"], "--csv", files["csv"])
    result = stopped(IN_COMPILED_CODE, tmp_path, "compare", table, *options)
    assert "1 of 5" in result.stdout
    assert result.stderr.splitlines()[-1] == "maskrank: stopped: 1 of 5 fits are done"
    document = json.loads(files["json"].read_text())
    assert (document["complete"], len(document["fits"])) == (False, 1)
    assert pd.read_csv(files["csv"])["complete"].tolist() == [False]


class Stop(Callback):
    """Raises at the first ranking, or at the first batch of a phase."""

    def __init__(self, phase: str) -> None:
        self._phase = phase

    def __call__(self, progress: object) -> None:
        if progress.phase == self._phase:  # type: ignore[attr-defined]
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("phase", "finished"),
    [
        ("explore", "no features are chosen yet"),
        ("search", "the search had come to 3 features, which are not scored"),
        ("predict", "the features are chosen and scored, the predictor is not made"),
    ],
)
@pytest.mark.usefixtures("few_batches")
def test_rank_keeps_what_the_stages_left(
    phase: str, finished: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maskrank.cli.voice.Stages", lambda tell: Stop(phase))
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html")}
    asked = ["--json", files["json"], "--csv", files["csv"], "--report", files["html"]]
    result = CliRunner().invoke(
        app, [str(a) for a in ("rank", table, "--target", "label", "--size", 3, "--verbose", *asked)]
    )
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == f"maskrank: stopped: {finished}"
    assert f"{files['html']} is not written: the fit is not done" in result.stderr
    if phase == "explore":
        assert not files["json"].exists()
        return
    document = json.loads(files["json"].read_text())
    assert document["complete"] is False
    assert len(document["selected"]) == 3
    assert all(name in result.stdout for name in document["selected"])
    assert ("scores" in document) == (phase == "predict")
    assert set(document["selected"]) <= set(pd.read_csv(files["csv"])["feature"])


def test_sweep_counts_the_folds_that_are_done(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"method": "dualnet", "size": 1, "metric": "accuracy", "score": 0.5, "seconds": 1.0, "selected": [0]}

    def run_jobs(*args: object, told: object, **kwargs: object) -> None:
        for fold in range(2):
            told({**line, "fold": fold})  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr("maskrank.study.own_table.run_jobs", run_jobs)
    file = tmp_path / "out.json"
    result = CliRunner().invoke(app, ["sweep", str(table), "--target", "label", "--sizes", "1,2", "--json", str(file)])
    assert result.exit_code == 130
    assert "2 of 5" in result.stdout
    assert "fewest" not in result.stdout
    document = json.loads(file.read_text())
    assert (document["complete"], document["enough"], len(document["fits"])) == (False, None, 2)


def test_a_command_that_is_done_is_no_longer_stopped() -> None:
    """Python, when it ends, gives signals their default back: it would kill a process whose files are written."""
    program = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGINT)\n" + MAIN
    done = subprocess.run([sys.executable, "-c", program, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("maskrank ")
