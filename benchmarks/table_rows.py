"""The section of `tables.py` on many rows: seconds and memory of the command line on a Parquet file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from score_tools import Options, Section, Verdict, needed

_MOST_SECONDS, _MOST_GIGABYTES = 60.0, 4.0


def mixed_rows(options: Options, count: int, run: int) -> pd.DataFrame:
    """Ten numbers, six texts of 2 to 30 levels, one of 5,000, two dates, a truth value; and a target of two classes.

    The sign of the first number decides, turned round by half of the levels of the first text; a tenth of all values is
    missing, and a twentieth of the labels wrong.
    """
    rng = np.random.default_rng(options.entropy(run))
    columns = {f"number {k}": rng.standard_normal(count) for k in range(10)}
    codes = {f"text {k}": rng.integers(0, levels, count) for k, levels in enumerate((2, 4, 8, 12, 20, 30, 5_000))}
    wrong = rng.random(count) < 0.05
    y = (columns["number 0"] > 0) ^ (codes["text 0"] == 0) ^ wrong
    start = np.datetime64("2020-01-01", "s")
    frame = pd.DataFrame(
        {
            **columns,
            **{name: np.array([f"level {k}" for k in range(code.max() + 1)])[code] for name, code in codes.items()},
            **{f"date {k}": start + rng.integers(0, 10**8, count).astype("timedelta64[s]") for k in range(2)},
            "flag": rng.random(count) < 0.5,
        }
    )
    for name in frame.columns:
        frame[name] = frame[name].mask(rng.random(count) < 0.1)
    return frame.assign(target=np.where(y, "yes", "no"))


class Measured(NamedTuple):
    """One run of the command line."""

    code: int
    seconds: float
    gigabytes: float
    chosen: str


def measured(options: Options, count: int, run: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        data, ranking = Path(folder) / "rows.parquet", Path(folder) / "ranking.csv"
        mixed_rows(options, count, run).to_parquet(data, index=False)
        command = [sys.executable, "-m", "maskrank", "rank", str(data), "--target", "target", "--size", "5"]
        command += ["--preset", options.preset, "--seed", str(options.tag + run), "--quiet", "--csv", str(ranking)]
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        leading = ""
        if ranking.exists():
            frame = pd.read_csv(ranking).sort_values("rank")
            leading = ", ".join(frame.loc[frame["selected"].astype(bool), "feature"])
    return Measured(child.returncode, seconds, usage.ru_maxrss / 2**20, leading)  # Linux counts in kilobytes


def rows(options: Options, count: int) -> Section:
    """`maskrank rank FILE.parquet --target T --size 5` on 20 columns of mixed kinds, with all cores, start included."""
    needed("pyarrow")
    runs = [measured(options, count, run) for run in range(options.seeds)]
    seconds, gigabytes = max(run.seconds for run in runs), max(run.gigabytes for run in runs)
    return Section(
        ["rows", "exit code", "seconds", "GB at the peak", "chosen"],
        [[f"{count:,}", str(run.code), f"{run.seconds:.1f}", f"{run.gigabytes:.2f}", run.chosen] for run in runs],
        [
            Verdict(f"{seconds:.0f} s at most", f"< {_MOST_SECONDS:.0f} s", seconds < _MOST_SECONDS),
            Verdict(f"{gigabytes:.2f} GB at most", f"< {_MOST_GIGABYTES:.0f} GB", gigabytes < _MOST_GIGABYTES),
            Verdict("every run ended well", "all", all(run.code == 0 for run in runs)),
        ],
    )
