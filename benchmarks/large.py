"""Tables larger than memory, and the memory and time that reading takes: `maskrank rank` as a process of its own.

Usage: python benchmarks/large.py SECTION [--rows N] [--files N] [--columns N] [--memory 2GB] [--out FILE.md]

rows  a folder of Parquet files far larger than the limit: are the relevant features found, in which time and memory?
wide  one Parquet file of few rows and many columns: the peak of memory
csv   one CSV file of many rows: the peak of memory, and the time until a terminal shows progress
cost  a table that fits into memory, ranked within a limit that it does not fit into, and in memory: the times

Each section makes its table in ``--folder``, and removes it. Memory is the peak of the resident set, time that of the
whole process; processor time says what it would be on an idle machine. Each section prints a table in Markdown and a
verdict; --out appends both to a file, with the command beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sections
from score_tools import Options, Section, Verdict

PROG = "large.py"
RELEVANT = (3, 7, 11, 20, 33)  # of the long table
GIGABYTE = 1e9


class Measured(NamedTuple):
    """A process that has ended."""

    seconds: float
    processor: float  # seconds
    peak: float  # gigabytes
    progress: float  # seconds until it showed the first progress; NaN where nothing looked
    ranking: dict[str, Any]

    @property
    def chosen(self) -> list[str]:
        return sorted(self.ranking["selected"])

    @property
    def cells(self) -> list[str]:
        return [f"{self.seconds:.0f} s", f"{self.processor:.0f} s", f"{self.peak:.2f} GB"]


HEAD = ["time", "processor time", "peak"]


def rank(data: Path, *options: str) -> Measured:
    """Run ``maskrank rank`` on a terminal of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "ranking.json"
        command = [sys.executable, "-m", "maskrank", "rank", str(data), "--target", "y", "--json", str(out), *options]
        terminal, other_end = pty.openpty()
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=other_end)
        os.close(other_end)
        progress = _first_progress(terminal, started)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        os.close(terminal)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise SystemExit(f"failed: {' '.join(command)}")
        spent = used.ru_utime + used.ru_stime
        return Measured(seconds, spent, used.ru_maxrss / 1e6, progress, json.loads(out.read_text()))


def _first_progress(terminal: int, started: float) -> float:
    """Read all that is shown; the seconds until it was the bar of reading."""
    shown, first = b"", float("nan")
    while True:
        select.select([terminal], [], [])
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:  # its other end is closed
            return first
        if np.isnan(first) and b"reading" in shown:
            first = time.perf_counter() - started
        shown = shown[-32:]


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="large-", dir=folder))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def long_part(options: Options, part: int, rows: int, columns: int) -> pa.Table:
    """Standard normal columns of 32-bit floats; of five of them the classes depend, of two by their product."""
    rng = np.random.default_rng(options.entropy(20, part))
    X = rng.standard_normal((columns, rows), dtype=np.float32)
    a, b, c, d, e = (X[place] for place in RELEVANT)
    odds = np.exp(-(1.5 * a + 2 * b * c + 2 * np.cos(2 * d) + 1.2 * e))
    y = (rng.random(rows) < 1 / (1 + odds)).astype(np.int8)
    return pa.table([*map(pa.array, X), pa.array(y)], names=[*(f"x{i}" for i in range(columns)), "y"])


def write_long(folder: Path, options: Options, rows: int, files: int, columns: int) -> Path:
    made = folder / "parts"
    made.mkdir()
    for part in range(files):
        pq.write_table(
            long_part(options, part, rows // files, columns), made / f"{part:04}.parquet", use_dictionary=False
        )
    return made


def rows(options: Options, rows: int, files: int, columns: int, memory: str, folder: Path) -> Section:
    """A folder of Parquet files, ranked within a limit; then 1 % of the rows, in memory. Five columns are relevant."""
    wanted = sorted(f"x{place}" for place in RELEVANT)
    with scratch(folder) as made:
        parts = write_long(made, options, rows, files, columns)
        size = sum(file.stat().st_size for file in parts.iterdir()) / GIGABYTE
        large = rank(parts, "--size", "5", "--memory", memory)
        few = made / "few.parquet"
        pq.write_table(long_part(options, 0, max(1_000, rows // 100), columns), few)
        small = rank(few, "--size", "5")
    sample = large.ranking["sample"]
    body = [
        [f"{rows:,} rows, {size:.1f} GB, --memory {memory}", *large.cells, " ".join(large.chosen)],
        [f"{rows // 100:,} rows in memory", *small.cells, " ".join(small.chosen)],
    ]
    return Section(
        ["table", *HEAD, "chosen"],
        body,
        [
            Verdict(f"chosen on {sample['rows']:,} rows; the predictor learned from {sample['learned_beside']:,} more"),
            Verdict("the relevant features, both times", "yes", large.chosen == small.chosen == wanted),
            Verdict(f"{large.seconds / 60:.1f} minutes", "under 10", large.seconds < 600),
            Verdict(f"peak {large.peak:.2f} GB", "at most 2.5 GB with --memory 2GB", large.peak <= 2.5),
        ],
    )


def wide(options: Options, rows: int, columns: int, folder: Path) -> Section:
    """One Parquet file of 64-bit floats, ranked in memory."""
    rng = np.random.default_rng(options.entropy(21))
    with scratch(folder) as made:
        X = rng.standard_normal((columns, rows))
        y = (X[0] + X[1] + 0.5 * rng.standard_normal(rows) > 0).astype(np.int64)
        pq.write_table(pa.table([*X, y], names=[*(f"x{i}" for i in range(columns)), "y"]), made / "wide.parquet")
        del X
        found = rank(made / "wide.parquet", "--size", "2")
    return Section(
        ["table", *HEAD, "chosen"],
        [[f"{rows:,} × {columns:,}", *found.cells, " ".join(found.chosen)]],
        [Verdict(f"peak {found.peak:.2f} GB", "at most 2 GB for 2,000 × 50,000; it was 12.8 GB", found.peak <= 2)],
    )


def csv(options: Options, rows: int, columns: int, folder: Path) -> Section:
    """One CSV file of numbers with four digits, ranked in memory."""
    rng = np.random.default_rng(options.entropy(22))
    with scratch(folder) as made:
        path = made / "long.csv"
        with path.open("w") as file:
            file.write(",".join([*(f"x{i}" for i in range(columns)), "y"]) + "\n")
            for first in range(0, rows, 10_000):
                X = rng.standard_normal((min(10_000, rows - first), columns))
                y = X[:, 0] + X[:, 1] * X[:, 2] > 0
                np.savetxt(file, np.column_stack([X, y]), fmt=["%.4f"] * columns + ["%d"], delimiter=",")
        size = path.stat().st_size / 1e6
        found = rank(path, "--size", "3")
    return Section(
        ["table", *HEAD, "first progress", "chosen"],
        [[f"{rows:,} × {columns}, {size:.0f} MB", *found.cells, f"{found.progress:.2f} s", " ".join(found.chosen)]],
        [
            Verdict(f"peak {found.peak:.2f} GB", "at most 1.5 GB for 1,000,000 × 50; it was 3.5", found.peak <= 1.5),
            Verdict(f"first progress after {found.progress:.2f} s", "within 1 s", found.progress <= 1),
        ],
    )


def cost(options: Options, rows: int, files: int, columns: int, memory: str, folder: Path) -> Section:
    """A folder of Parquet files, ranked within a limit that it does not fit into, and in memory."""
    with scratch(folder) as made:
        parts = write_long(made, options, rows, files, columns)
        large, small = rank(parts, "--size", "5", "--memory", memory), rank(parts, "--size", "5", "--memory", "1TB")
    ratio = large.processor / small.processor
    return Section(
        ["way", *HEAD, "chosen"],
        [
            [f"--memory {memory}", *large.cells, " ".join(large.chosen)],
            ["in memory", *small.cells, " ".join(small.chosen)],
        ],
        [
            Verdict("the same features", "yes", large.chosen == small.chosen),
            Verdict(f"{ratio:.2f} times the processor time in memory", "at most 1.5", ratio <= 1.5),
            Verdict(f"{large.seconds / small.seconds:.2f} times the time"),
        ],
    )


SECTIONS: sections.Sections = {"rows": (rows, 1), "wide": (wide, 1), "csv": (csv, 1), "cost": (cost, 1)}
SIZES = {
    "rows": {"rows": 40_000_000, "files": 80, "columns": 40, "memory": "2GB"},
    "wide": {"rows": 2_000, "columns": 50_000},
    "csv": {"rows": 1_000_000, "columns": 50},
    "cost": {"rows": 2_000_000, "files": 8, "columns": 40, "memory": "1GB"},
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    for name, sizes in SIZES.items():
        for option, value in sizes.items():
            own[name].add_argument(f"--{option}", type=type(value), default=value)
        own[name].add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
