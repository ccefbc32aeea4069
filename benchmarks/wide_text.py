"""How long does CSV of very many columns take to read, beside pandas? CPU time, in one run.

Usage: python benchmarks/wide_text.py [--out FILE.md]
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sections import commit

from maskrank.tables import load_table

SHAPES = ((20, 20_000), (10, 100_000), (100, 20_000))


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    given, rows = parser.parse_args(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.csv"
        for n, d in SHAPES:
            values = np.random.default_rng(0).normal(size=(n, d - 1)).round(3)
            lines = [",".join([*(f"g{i}" for i in range(d - 1)), "y"])]
            lines += [",".join([*map(str, row.tolist()), str(i % 2)]) for i, row in enumerate(values)]
            path.write_text("\n".join(lines) + "\n")
            theirs = cpu_seconds(lambda: pd.read_csv(path))
            ours = cpu_seconds(lambda: load_table(str(path), target="y"))
            rows.append(f"| {n:,} × {d:,} | {theirs:.1f} | {ours:.1f} | {ours / theirs:.1f} |")
    made = f"`python benchmarks/wide_text.py`\n\nCommit {commit()}, Python {platform.python_version()}."
    head = "| rows × columns | pandas, CPU s | load_table, CPU s | times |\n| --- | ---: | ---: | ---: |\n"
    text = f"{made}\n\n{head}" + "\n".join(rows) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(f"# CSV of very many columns\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
