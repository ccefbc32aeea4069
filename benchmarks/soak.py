"""Is memory flat? Fits, saves, loads, predictions, explanations and refused files, one after the other for a while.

Usage: nice python benchmarks/soak.py [--minutes 30] [--rows 20] [--keep-freed] [--out FILE.md]

A round fits one of five kinds of estimators, four of them at once in new threads every tenth round, and compares the
results of these with those of the same fits one after the other. Two figures are noted at the end of each round, behind
a collection of garbage: the resident memory, and the bytes that are allocated and not freed, as glibc counts them. The
slope is that of a line through all but the first fifth of the time, in which caches fill and libraries are imported. It
must be below 5 MB for 100 rounds, and the last tenth of the rounds may take at most 20 MB more than the second: for
both figures.

glibc keeps what threads have freed: a thread's arena gives back what lies at its end only where that is larger than the
trim threshold, which glibc raises to twice the largest block that was freed, up to 64 MB an arena. That is no leak, and
grows only until the arenas are full, but hides one. Therefore the threshold is fixed here at 128 kB, by
MALLOC_TRIM_THRESHOLD_; ``--keep-freed`` leaves it to glibc.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import platform
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sections import commit

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor, DualNetSurvival, load
from maskrank.core.config import DEFAULT
from maskrank.study.markdown import table
from maskrank.tables import TableError, load_table

PRESET = DEFAULT.using(max_batches=16, phase1_batches=16, predictor__cycles=(20,))
TOGETHER = 10  # rounds between two of four fits at once
TRIM = "MALLOC_TRIM_THRESHOLD_"
STEEP, MORE = 5.0, 20.0  # MB for 100 rounds, and between the second and the last tenth of them


def resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class _Mallinfo(ctypes.Structure):
    """What glibc's mallinfo2 tells."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = tuple((name, ctypes.c_size_t) for name in _names)


def allocated() -> float:
    """Megabytes that were allocated in C, by all threads, and are not freed."""
    told = ctypes.CDLL(None).mallinfo2
    told.restype = _Mallinfo
    found = told()
    return float(found.uordblks + found.hblkhd) / 1e6


def fitted(number: int) -> Any:
    """One of five kinds of estimators, on a table of its own."""
    rng = np.random.default_rng(number)
    X = pd.DataFrame(rng.normal(size=(80, 6)), columns=list("abcdef")).assign(g=rng.choice(["u", "v", "w"], 80))
    X.loc[number % 80, "a"] = np.nan
    z = X["b"] + (X["g"] == "u") + 0.5 * rng.normal(size=80)
    model, y = (
        (DualNetClassifier, (z > 0).map({True: "yes", False: "no"})),
        (DualNetRegressor, z),
        (DualNetCounts, np.floor(np.exp(z.clip(-2, 2))).astype(int)),
        (DualNetSurvival, (np.exp(z).to_numpy(), rng.random(80) < 0.7)),
        (DualNetClassifier, number % 3 + np.arange(80) % 3),
    )[number % 5]
    return model(2, preset=PRESET, random_state=number).fit(X, y), X


def one_round(number: int, folder: Path) -> None:
    """A fit and all that is done with it; what is written is read again, and must say the same."""
    model, X = fitted(number)
    path = folder / f"{number % 3}.maskrank"
    model.save(path)
    again = load(path)
    assert np.array_equal(again.predict(X), model.predict(X))
    again.explain(X.head(5))
    X.assign(y=np.arange(80) % 2).to_csv(folder / "table.csv", index=False)
    load_table(str(folder / "table.csv"), target="y")
    X.assign(y=np.arange(80) % 2).to_parquet(folder / "table.parquet")
    load_table(str(folder / "table.parquet"), target="y")
    _refused(path, folder)


def _refused(path: Path, folder: Path) -> None:
    """A model and a table that are damaged."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    try:
        load(path)
    except ValueError:
        pass
    else:
        raise AssertionError("a damaged model was loaded")
    (folder / "table.parquet").write_bytes(content)
    try:
        load_table(str(folder / "table.parquet"), target="y")
    except TableError:
        return
    raise AssertionError("a damaged table was read")


def together(number: int) -> bool:
    """Four fits at once in threads: whether they are those of one after the other."""
    seeds = range(number, number + 4)
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(fitted, seeds))
    alone = map(fitted, seeds)
    return all(
        a.feature_importances_.tobytes() == b.feature_importances_.tobytes()
        and np.array_equal(a.predict(X), b.predict(X))
        for (a, X), (b, _) in zip(at_once, alone, strict=True)
    )


def slope(seconds: list[float], memory: list[float]) -> tuple[float, float]:
    """Megabytes for 100 rounds behind the first fifth of the time, and what the end takes beyond the beginning."""
    first = next(k for k, at in enumerate(seconds) if at >= 0.2 * seconds[-1])
    tenth = max(1, len(memory) // 10)
    rounds = np.arange(first, len(memory))
    steep = np.polyfit(rounds, memory[first:], 1)[0] * 100 if len(rounds) > 1 else 0.0
    return float(steep), float(np.mean(memory[-tenth:]) - np.mean(memory[tenth : 2 * tenth] or memory[-1:]))


def report(seconds: list[float], figures: dict[str, list[float]], n_rows: int) -> tuple[str, bool]:
    """The table of memory and what is to be said of it; whether it is flat."""
    places = np.unique(np.linspace(0, len(seconds) - 1, n_rows).round().astype(int))
    rows = [
        [f"{seconds[k] / 60:.1f}", str(k + 1), *(f"{values[k]:.1f}" for values in figures.values())] for k in places
    ]
    said, flat = [], True
    for name, values in figures.items():
        steep, more = slope(seconds, values)
        flat &= steep < STEEP and more < MORE
        said.append(f"{name} {steep:+.2f} MB for 100 rounds, its last tenth {more:+.1f} MB beyond the second")
    wanted = f"(below {STEEP:g} and {MORE:g} wanted): {'flat' if flat else '**not flat**'}."
    head = ["minutes", "rounds", *(f"{name} MB" for name in figures)]
    return f"{table(head, rows)}\n\n{'; '.join(said)} {wanted}", flat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rows", type=int, default=20, help="of the table of memory")
    parser.add_argument("--keep-freed", action="store_true", help="memory that is freed stays with glibc, as it likes")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if not given.keep_freed and TRIM not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, TRIM: str(1 << 17)})
    began, number, equal, tried = time.perf_counter(), 0, 0, 0
    seconds: list[float] = []
    memory: list[float] = []
    held: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        while time.perf_counter() - began < 60 * given.minutes:
            one_round(number, Path(folder))
            number += 1
            if number % TOGETHER == 0:
                tried, equal = tried + 1, equal + together(10**6 + 4 * number)
            gc.collect()
            seconds.append(time.perf_counter() - began)
            memory.append(resident())
            held.append(allocated())
            print(f"{number} rounds, {seconds[-1]:.0f} s, {memory[-1]:.0f} MB", file=sys.stderr, flush=True)
    cpu = f"{number} rounds, {time.process_time():.0f} s of processor time"
    words, flat = report(seconds, {"resident": memory, "allocated": held}, given.rows)
    text = (
        f"`python benchmarks/soak.py --minutes {given.minutes:g}{' --keep-freed' if given.keep_freed else ''}`\n\n"
        f"Commit {commit()}, Python {platform.python_version()}, {cpu}.\n\n{words} Four fits at once in threads were "
        f"those of one after the other in {equal} of {tried}.\n"
    )
    print(text)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")
    sys.exit(0 if flat and equal == tried else 1)


if __name__ == "__main__":
    main()
