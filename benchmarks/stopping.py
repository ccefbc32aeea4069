"""What is left when commands are stopped at random moments, and when the disk is full.

Ctrl-C, as a terminal sends it to all processes of a command, at random moments of `rank --repeats`, `sweep` and
`compare`: exit code, seconds until the command has ended, processes left behind, and whether what it says is finished
is in the files that it was asked for. Then every command with its outputs on a file system of 64 kB (which needs the
right to mount one): exit code, lines on standard error, and whether the result was printed.
Usage: python benchmarks/stopping.py [--moments 20] [--seed 0] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import maskrank
from maskrank.datasets import make_xor

RESULTS = Path(__file__).parent / "results" / "stopping.md"
LIMIT = 2.0  # seconds
EARLIEST = 1.0  # seconds after the start; before it, on a busy machine, Python itself is still starting
COMMANDS = {
    "rank": ["rank", "--size", "3", "--repeats", "4", "--jobs", "2"],
    "sweep": ["sweep", "--sizes", "2,3", "--folds", "2", "--jobs", "2"],
    "compare": ["compare", "--size", "3", "--methods", "mrmr,rf,dualnet", "--folds", "2"],
}


@dataclass(frozen=True)
class Stop:
    """One stop: after how long, how it ended, and what was finished."""

    after: float
    code: int
    seconds: float
    left: int
    said: str
    kept: bool


def start(arguments: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "maskrank", *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_heed_ctrl_c,
    )


def _heed_ctrl_c() -> None:
    """A job in the background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def command_line(name: str, table: Path, folder: Path) -> list[str]:
    command, *options = COMMANDS[name]
    files = ["--json", str(folder / "out.json"), "--csv", str(folder / "out.csv")]
    return [command, str(table), "--target", "label", *options, *files]


def stop(name: str, table: Path, after: float) -> Stop:
    """Stop a command after some seconds."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        process = start(command_line(name, table, folder))
        time.sleep(after)
        sent = time.perf_counter()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.wait()
        seconds = time.perf_counter() - sent
        shown, said = process.communicate()
        time.sleep(0.3)
        last = said.strip().splitlines()[-1] if said.strip() else ""
        return Stop(
            after, process.returncode, seconds, left_behind(process.pid), last, is_kept(last, shown, said, folder)
        )


def left_behind(session: int) -> int:
    """Processes of a session that still run."""
    listed = subprocess.run(["ps", "-s", str(session), "-o", "stat="], capture_output=True, text=True).stdout
    return sum(not line.startswith("Z") for line in listed.split())


def is_kept(last: str, shown: str, said: str, folder: Path) -> bool:
    """Whether what the last line says is finished was printed and is in the files, and nothing else is."""
    if "Traceback" in said:
        return False
    file = folder / "out.json"
    names = sorted(path.name for path in folder.iterdir())
    if not last.startswith("maskrank: stopped"):  # it ended before
        return names == ["out.csv", "out.json"] and json.loads(file.read_text())["complete"]
    fits = re.search(r"(\d+) of \d+ fits are done", last)
    nothing = "no features are chosen" in last or last == "maskrank: stopped" or (fits and fits[1] == "0")
    if nothing:
        return names == [] and shown == ""
    if not file.exists():
        return False
    document = json.loads(file.read_text())
    if fits:
        return not document["complete"] and len(document["fits"]) == int(fits[1]) and bool(shown)
    done = re.search(r"(\d+) of \d+ refits", last)
    repeats = document.get("stability", {}).get("repeats", 0)
    complete = last.endswith("the fit is done")
    agrees = done is None or int(done[1]) == repeats
    return document["complete"] == complete and agrees and all(name in shown for name in document["selected"])


def stops(table: Path, moments: int, seed: int) -> Iterator[str]:
    random = np.random.default_rng(seed)
    yield "| command | undisturbed | stops | exit 130 | slowest end | processes left | what was finished is there |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as place:
            started = time.perf_counter()
            start(command_line(name, table, Path(place))).communicate()
            whole = time.perf_counter() - started
        found = []
        for after in random.uniform(EARLIEST, whole, moments):
            found.append(stop(name, table, float(after)))
            print(f"{name}: {found[-1]}", file=sys.stderr, flush=True)
        real = [one for one in found if one.said.startswith("maskrank: stopped")]
        yield (
            f"| `{' '.join(COMMANDS[name])}` | {whole:.0f} s | {len(real)} | {sum(one.code == 130 for one in real)} | "
            f"{max(one.seconds for one in real):.2f} s | {sum(one.left for one in real)} | "
            f"{sum(one.kept for one in real)} |"
        )


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def full_disks(table: Path, folder: Path) -> Iterator[str]:
    model = folder / "model.maskrank"
    start(["rank", str(table), "--target", "label", "--size", "3", "--model", str(model)]).communicate()
    target = [str(table), "--target", "label"]
    outputs = {
        "rank": (["rank", *target, "--size", "3"], ("json", "csv", "report", "model")),
        "predict": (["predict", str(model), str(table)], ("out",)),
        "explain": (["explain", str(model), str(table)], ("out", "report")),
        "compare": (
            ["compare", *target, "--size", "3", "--methods", "mrmr", "--folds", "2"],
            ("json", "csv", "report"),
        ),
        "sweep": (["sweep", *target, "--sizes", "2", "--folds", "2"], ("json", "csv", "report")),
        "demo": (["demo"], ("report",)),
        "study": (["study", "needles", "--quick", "--methods", "rf", "--widths", "4,8"], ("out",)),
    }
    yield "| command | outputs | exit | files written | lines on standard error | result printed |"
    yield "|---|---|---:|---:|---|---|"
    for name, (command, kinds) in outputs.items():
        with small_disk(64) as disk:
            (disk / "ballast").write_bytes(b"x" * 1024 * (24 if name in ("rank", "demo") else 56))
            asked = [part for kind in kinds for part in (f"--{kind}", str(disk / f"out.{kind}"))]
            process = start([*command, *asked, *([] if name == "study" else ["--quiet"])])
            shown, said = process.communicate()
            written = sum(f.is_file() and f.stat().st_size > 0 for f in disk.rglob("*")) - 1
            lines = [
                line.replace(str(disk), "") for line in said.strip().splitlines() if not line.startswith("written:")
            ]
        printed = "yes" if shown.strip() else "no"
        yield f"| `{name}` | {', '.join(kinds)} | {process.returncode} | {written} | {'<br>'.join(lines)} | {printed} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="What is left when commands are stopped, or the disk is full.")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"Write {RESULTS.name}.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        X, y, _ = make_xor(512, random_state=0)
        table = folder / "xor.csv"
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
        frame.assign(label=np.array(list("abcd"))[y]).to_csv(table, index=False)
        busy = os.getloadavg()[1]
        lines = [
            "# Stops at random moments, and full disks",
            "",
            f"`python benchmarks/stopping.py --moments {given.moments}`; {platform.machine()}, {os.cpu_count()} cores, "
            f"load average {busy:.0f} when it began; maskrank {maskrank.__version__}. Wanted: exit code 130 within "
            f"{LIMIT:.0f} s, no process left, what is finished printed and in the files. Ctrl-C goes to all processes "
            'of a command; "undisturbed" is the time without a stop, and stops are drawn uniformly from it, '
            "but for the first second, in which Python itself may still be starting.",
            "",
            *stops(table, given.moments, given.seed),
            "",
            "Outputs on a file system of 64 kB that is filled in part, so that not all of them fit:",
            "",
            *full_disks(table, folder),
        ]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
