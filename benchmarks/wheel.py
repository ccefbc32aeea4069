"""Does the wheel install into an empty environment, and work there?

Usage: python benchmarks/wheel.py [--wheel FILE] [--python python3.11 --python python3.12 ...] [--out FILE.md]

The wheel and the source archive are built in `dist`, where no wheel is given. For each interpreter an empty environment
is made, the wheel is installed into it with the extra report, under constraints.txt, and commands and a snippet are run
in an empty folder. With --wheel, nothing but Python itself is needed.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SNIPPET = """
from maskrank import DualNetClassifier, load
from maskrank.datasets import make_xor

X, y, relevant = make_xor(512, random_state=0)
model = DualNetClassifier(3, random_state=0).fit(X, y)
assert set(model.get_support(indices=True)) == set(relevant), model.result_
model.save("xor.maskrank")
assert (load("xor.maskrank").predict(X) == model.predict(X)).all()
model.plot_ranking().figure.savefig("xor.png")
"""
STEPS = {
    "version": ["maskrank", "--version"],
    "doctor": ["maskrank", "doctor"],
    "demo": ["maskrank", "demo", "--quiet", "--report", "demo.html"],
    "snippet": ["python", "-c", SNIPPET],
}


def run(command: list[str], folder: Path) -> tuple[str, float]:
    """Run a command to its end in a folder: what it printed, and the seconds it took."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout, time.perf_counter() - started


def build() -> Path:
    """The wheel in `dist`, made of the source archive there."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run([sys.executable, "-m", "build", "--no-isolation"], ROOT)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    return wheel


def try_out(python: str, wheel: Path) -> list[str]:
    """A line of the table: the interpreter's version, and the seconds of each step."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty").mkdir()
        _, making = run([python, "-m", "venv", "there"], folder)
        bin_folder = folder / "there" / "bin"
        install = [str(bin_folder / "pip"), "install", "-q", "-c", str(ROOT / "constraints.txt"), f"{wheel}[report]"]
        _, installing = run(install, folder)
        shown, _ = run([str(bin_folder / "python"), "--version"], folder)
        seconds = [making + installing]
        for step, (program, *arguments) in STEPS.items():
            said, took = run([str(bin_folder / program), *arguments], folder / "empty")
            seconds.append(took)
            print(f"{shown.strip()}, {step}: {took:.1f} s\n{said}", flush=True)
    return [shown.split()[1], *(f"{took:.1f}" for took in seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="a wheel that is there already")
    parser.add_argument("--python", action="append", help="an interpreter; may be given again; this one if not given")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    options = parser.parse_args()
    wheel = build() if options.wheel is None else options.wheel.resolve()
    size = wheel.stat().st_size
    assert size < 1_000_000, f"{wheel.name} has {size:,} bytes"
    lines = [try_out(python, wheel) for python in options.python or [sys.executable]]
    head = ["Python", "install", *STEPS]
    rows = [head, ["---:"] * len(head), *lines]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    text = (
        f"# The wheel in an empty environment\n\n`{wheel.name}`, {size:,} bytes; seconds of each step.\n\n{table}\n\n"
        f"Made by `python benchmarks/wheel.py`, {platform.system()} {platform.machine()}.\n"
    )
    print(text)
    if options.out is not None:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
