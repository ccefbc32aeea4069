"""Many fits on one process, two processes, a Dask cluster and Ray: the same results? How long? And if a worker dies?

Each command runs on each backend in turn, and its results, less measured seconds and megabytes, are compared with those
of the first: the JSON of `rank`, the fits of `sweep` and `study` with their scores as far as they are written. The Dask
cluster is a scheduler and two workers, started by Dask's own commands; in the last run of each command one of its
workers is killed with -9 after a third of the time. Prints tables in Markdown, and writes them with --out.

Usage: python benchmarks/cluster.py [--commands rank,sweep,study] [--backends one,loky,dask,ray,killed] [--rounds N]
       [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from sections import commit

from maskrank.datasets import make_orange_skin
from maskrank.study.markdown import table

COMMANDS = {
    "rank": ["rank", "skin.csv", "--target", "y", "--size", "4", "--repeats", "16", "--json", "out.json"],
    "sweep": ["sweep", "skin.csv", "--target", "y", "--sizes", "2,4", "--folds", "3", "--csv", "out.csv"],
    "study": ["study", "synthetic", "--quick", "--out", "out"],
}
BACKENDS = {
    "one": "one process",
    "loky": "2 processes (loky)",
    "dask": "Dask, 2 workers",
    "ray": "Ray, 2 processors",
    "killed": "Dask, a worker killed",
}
_RAY = """
import sys, joblib, ray
from ray.util.joblib import register_ray
from maskrank.cli import app
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
register_ray()
with joblib.parallel_config(backend="ray"):
    app(sys.argv[1:])
"""
_COSTS = ("seconds", "megabytes", "command")


@contextmanager
def dask_cluster(folder: Path) -> Iterator[str]:
    """A scheduler and two workers; hands out the scheduler's address."""
    file = folder / "scheduler.json"
    dask = str(Path(sys.executable).parent / "dask")
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = ["worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard"]
    with (folder / "log").open("w") as log:
        running = [
            subprocess.Popen([dask, *words], stdout=log, stderr=log, cwd=folder, start_new_session=True)
            for words in (scheduler, worker, worker)
        ]
        try:
            while not (file.exists() and file.read_text()):
                time.sleep(0.1)
            address = str(json.loads(file.read_text())["address"])
            wait_for(address, 2)
            yield address
        finally:
            for process in reversed(running):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(address: str, n: int) -> list[int]:
    """Wait for so many workers; their process numbers."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(n)
        return list(client.run(os.getpid).values())


def busy_worker(address: str) -> int:
    """The process number of a worker that has a fit to do."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        while True:
            busy = [worker for worker, fits in client.processing().items() if fits]
            if busy:
                return int(client.run(os.getpid, workers=busy[:1])[busy[0]])
            time.sleep(0.1)


def run(backend: str, words: list[str], folder: Path, address: str, kill_after: float) -> float:
    """Run a command in a folder; the seconds it took."""
    places = {
        "one": ["--jobs", "1"],
        "loky": ["--jobs", "2"],
        "dask": ["--cluster", address],
        "ray": [],
        "killed": ["--cluster", address],
    }
    start = ["-c", _RAY] if backend == "ray" else ["-m", "maskrank"]
    started = time.perf_counter()
    command = subprocess.Popen([sys.executable, *start, *words, "-q", *places[backend]], cwd=folder, stdout=-3)
    if backend == "killed":
        time.sleep(kill_after)
        os.kill(busy_worker(address), signal.SIGKILL)
    if command.wait():
        raise SystemExit(f"{shlex.join(words)} failed on {backend}")
    return time.perf_counter() - started


def results(folder: Path) -> Any:
    """What a command wrote, without what it measured of its costs."""
    if (folder / "out.json").exists():
        return _timeless(json.loads((folder / "out.json").read_text()))
    file = folder / "out.csv" if (folder / "out.csv").exists() else folder / "out" / "fits.csv"
    fits = pd.read_csv(file)
    return fits.drop(columns=list(_COSTS), errors="ignore").to_csv(index=False)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(inner) for name, inner in value.items() if name not in _COSTS}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def measure(name: str, backends: list[str], folder: Path, address: str, rounds: int) -> list[list[str]]:
    """Lines of the table of one command; the backends take turns, so that a busy hour is shared by all of them."""
    first, same = None, dict.fromkeys(backends, "yes")
    seconds: dict[str, list[float]] = {backend: [] for backend in backends}
    for number, backend in product(range(rounds), backends):
        place = folder / f"{name}-{backend}-{number}"
        place.mkdir()
        X, y, _ = make_orange_skin(300, random_state=0)
        pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(place / "skin.csv", index=False)
        kill_after = min(seconds.get("dask") or [60.0]) / 3
        seconds[backend].append(run(backend, COMMANDS[name], place, address, kill_after))
        found = results(place)
        first = found if first is None else first
        if found != first:
            same[backend] = "NO"
        print(name, backend, same[backend], f"{seconds[backend][-1]:.1f} s", file=sys.stderr, flush=True)
        if backend == "killed":
            wait_for(address, 2)
    load = f"{os.getloadavg()[1]:.0f}"
    middle = {backend: median(times) for backend, times in seconds.items()}
    ratios = {backend: f"{middle[backend] / middle['loky']:.2f}" if "loky" in middle else "" for backend in backends}
    return [[name, BACKENDS[b], same[b], f"{middle[b]:.1f}", ratios[b], load] for b in backends]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--rounds", type=int, default=1, help="runs of each; seconds are their median")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    backends = given.backends.split(",")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(dask_cluster(folder)) if {"dask", "killed"} & set(backends) else ""
        lines: list[list[str]] = []
        for name in given.commands.split(","):
            lines += measure(name, backends, folder, address, given.rounds)
            if given.out is not None:
                given.out.write_text(document(given, lines), encoding="utf-8")
    print(document(given, lines))


def document(given: argparse.Namespace, lines: list[list[str]]) -> str:
    """The table, with the commands that made it."""
    names = list(dict.fromkeys(line[0] for line in lines))
    options = f"--commands {','.join(names)} --backends {given.backends} --rounds {given.rounds}"
    words = f"`python benchmarks/cluster.py {options}`"
    made = f"Commit {commit()}, Python {platform.python_version()}, {os.cpu_count()} cores."
    ran = "\n".join(f"- {name}: `maskrank {shlex.join(COMMANDS[name])}`" for name in names)
    same = f"same as on {BACKENDS[given.backends.split(',')[0]]}"
    head = ["command", "on", same, "seconds", "of loky's time", "load of the machine"]
    return f"# Many fits on a cluster\n\n{words}\n\n{made}\n\n{ran}\n\n{table(head, lines)}\n"


if __name__ == "__main__":
    main()
