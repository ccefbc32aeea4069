"""What do the commands do where memory, disk or streams are missing? Each must work, or say in one line why not.

Usage: python benchmarks/surroundings.py [--seconds S] [--commands ...] [--only ...] [--out FILE.md]

Needs Linux, and the rights to mount a file system in memory; without them the two lines of disks are left out.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sections import commit

from maskrank import DualNetClassifier

COMMANDS = {
    "rank": "rank {data} --target y --size 1 --quiet --json r.json --report r.html --model r.maskrank",
    "predict": "predict {model} {data} --quiet --out p.csv",
    "explain": "explain {model} {data} --quiet --out e.csv --report e.html",
    "export": "export {model} --quiet --out m.onnx",
    "compare": "compare {data} --target y --size 1 --methods rf --folds 2 --quiet --json c.json --report c.html",
    "sweep": "sweep {data} --target y --sizes 1 --folds 2 --quiet --json s.json --report s.html",
    "study": "study needles --methods mrmr --widths 6 --folds 1 --quiet --out study",
    "demo": "demo --quiet --report d.html",
    "doctor": "doctor --json f.json",
}
# What stands before the command, in a shell, in a folder of its own; MASKRANK stands for the command.
SURROUNDINGS = {
    "memory of 1.5 GB": "ulimit -v 1500000; MASKRANK",
    "disk of 64 kB": "MASKRANK",
    "read-only disk": "MASKRANK",
    "no standard input": "MASKRANK <&-",
    "no standard output": "MASKRANK >&-",
    "no streams": "MASKRANK <&- >&- 2>&-",
    "folder removed": "mkdir gone; cd gone; rmdir ../gone; MASKRANK",
    "LANG=C": "LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 MASKRANK",
    "no HOME": "env -u HOME MASKRANK",
    "HOME not there": "HOME=/nowhere MASKRANK",
}
WIDE = "wide tables"
DISKS = {"disk of 64 kB": "size=64k", "read-only disk": "ro"}


def prepare(folder: Path) -> None:
    """A table, some wide ones, and a model."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    frame = pd.DataFrame(X, columns=["größe", "b", "c", "d"])
    y = np.where(X[:, 0] > 0, "ja", "nein")
    frame.assign(y=y).to_csv(folder / "data.csv", index=False)
    DualNetClassifier(2, max_batches=16, random_state=0).fit(frame, y).save(folder / "model.maskrank")


def outcome(line: str, folder: Path, seconds: float) -> str:
    """What came of a command: works, one line, or what else."""
    try:
        done = subprocess.run(
            ["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return f"**not done in {seconds:.0f} s**"
    lines = [text for text in done.stderr.splitlines() if text.strip()]
    said = [text for text in lines if not text.startswith("maskrank: warning: ")]  # those of the table stay
    if "Traceback" in done.stderr or done.returncode not in (0, 1, 2):
        return f"**exit {done.returncode}: {said[-1][:80] if said else 'nothing said'}**"
    if done.returncode == 0:
        return "works"
    of_program = all(text.startswith("maskrank: ") for text in said)
    if "2>&-" in line or (of_program and len(said) == 1):
        return f"one line, exit {done.returncode}"
    return f"{len(said)} lines, exit {done.returncode}" if of_program else f"**{said[-1][:80]}**"


def tried(name: str, command: str, place: Path, seconds: float) -> str:
    """A command in its surroundings, on a disk of its own where that is asked for."""
    program = f"{sys.executable} -m maskrank {command}"
    line = SURROUNDINGS[name].replace("MASKRANK", program)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        if name not in DISKS:
            return outcome(line, Path(folder), seconds)
        mount = ["mount", "-t", "tmpfs", "-o", DISKS[name], "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            return "not tried"
        try:
            return outcome(line, Path(folder), seconds)
        finally:
            subprocess.run(["umount", folder], check=True)


def wide_tables(place: Path, seconds: float) -> list[list[str]]:
    """Five wide tables under 1.5 GB of address space: one line each."""
    rng, rows = np.random.default_rng(0), []
    for n, d in ((200, 20_000), (100, 50_000), (1_000, 10_000), (50, 100_000), (2_000, 8_000)):
        np.savez(place / "wide.npz", X=rng.normal(size=(n, d)), y=np.arange(n) % 2)
        line = f"ulimit -v 1500000; {sys.executable} -m maskrank rank {place}/wide.npz --size 5 --quiet"
        rows.append([f"{n:,} × {d:,}", outcome(line, place, seconds)])
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="the most that a command may take")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--only", nargs="*", default=[*SURROUNDINGS, WIDE], choices=[*SURROUNDINGS, WIDE])
    parser.add_argument("--out", type=Path)
    given, began = parser.parse_args(), time.perf_counter()
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = [["surroundings", *given.commands]]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prepare(place)
        for name in [name for name in SURROUNDINGS if name in given.only]:
            row = [name]
            for command in given.commands:
                words = COMMANDS[command].format(data=place / "data.csv", model=place / "model.maskrank")
                row.append(tried(name, words, place, given.seconds))
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
        wide = [
            ["rows × columns in 1.5 GB", "rank"],
            *(wide_tables(place, given.seconds) if WIDE in given.only else []),
        ]
    options = {"--commands": (given.commands, COMMANDS), "--only": (given.only, [*SURROUNDINGS, WIDE])}
    chosen = [shlex.join([option, *some]) for option, (some, every) in options.items() if list(some) != list(every)]
    words = " ".join(["python benchmarks/surroundings.py", *chosen])
    minutes = (time.perf_counter() - began) / 60
    made = f"`{words}`\n\nCommit {commit()}, Python {platform.python_version()}, {minutes:.1f} minutes."
    text = "\n\n".join([made, *(table(found) for found in (rows, wide) if len(found) > 1)]) + "\n"
    print(text)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")


if __name__ == "__main__":
    main()
