"""Does anything break it? Mutated tables, altered model files and hostile names, one seeded case after another.

Usage: python benchmarks/fuzz.py tables|models|reports [--n N] [--seconds S] [--seed 0] [--state FILE] [--out FILE.md]

tables   files of all kinds that are read: mutated, of rare types, with odd names
models   model files with altered bytes, and with altered metadata under a checksum that is right
reports  names of features and labels in pages, CSV, JSON and the terminal

A case is drawn from its seed and its number alone, so that every one can be run again: ``--first I --n 1``. With
``--state`` a run that was stopped goes on. A case is bad if it ends with a traceback or a warning, if a file of altered
bytes predicts, if it takes more than 5 s, or if the process grows beyond 1 GB. Files that were bad once lie in
tests/corpus. Its time is processor time, which other work on the machine does not lengthen; what waits is ended after a
minute.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import fuzz_models
import fuzz_reports
import fuzz_tables
import numpy as np
from sections import commit

TARGETS: dict[str, Any] = {"tables": fuzz_tables, "models": fuzz_models, "reports": fuzz_reports}
SLOW = 5.0  # seconds of processor time of a case
LARGE = 10**9  # bytes that a process may grow to
AT_ONCE = 250  # cases of a process, so that its memory is that of few
HANGS = 60  # seconds after which a case is ended
BAD = ("traceback", "warning", "silent change", "slow", "large", "died")


@dataclass
class Tally:
    """What came of some cases.

    Attributes
    ----------
    done : int
    outcomes : dict of kind to outcome to number
    bad : list of (number of the case, kind, what happened)
    """

    done: int = 0
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    bad: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, number: int, kind: str, outcome: str, said: str) -> None:
        self.done += 1
        self.outcomes.setdefault(kind, Counter())[outcome] += 1
        if outcome in BAD:
            self.bad.append((number, kind, f"{outcome}: {said}"))

    def merge(self, other: Tally) -> None:
        self.done += other.done
        for kind, counted in other.outcomes.items():
            self.outcomes.setdefault(kind, Counter()).update(counted)
        self.bad += other.bad

    def to_document(self) -> dict[str, Any]:
        return {"done": self.done, "outcomes": self.outcomes, "bad": self.bad}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Tally:
        outcomes = {kind: Counter(counted) for kind, counted in document["outcomes"].items()}
        return cls(document["done"], outcomes, [tuple(line) for line in document["bad"]])

    def table(self) -> str:
        """As Markdown: a line for each kind of case."""
        names = [*sorted({name for counted in self.outcomes.values() for name in counted} - set(BAD)), *BAD]
        lines = [["case", *names], ["---", *["---:"] * len(names)]]
        rows = {**dict(sorted(self.outcomes.items())), "all": sum(self.outcomes.values(), Counter())}
        lines += [[kind, *(f"{counted[name]:,}" for name in names)] for kind, counted in rows.items()]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def run_case(target: Any, seed: int, number: int, folder: Path) -> tuple[str, str, str]:
    """One case: its kind, its outcome, and what is to be said of it."""
    kind, case = target.draw(np.random.default_rng([seed, number]), folder)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            outcome, said = case()
        except Warning as error:
            outcome, said = "warning", f"{type(error).__name__}: {error}"
        except Exception as error:
            outcome, said = "traceback", f"{type(error).__name__}: {error}"
    seconds = time.process_time() - began
    if seconds > SLOW and outcome not in BAD:
        outcome, said = "slow", f"{seconds:.1f} s"
    return kind, outcome, " ".join(said.split())[:300]


def run_some(name: str, seed: int, first: int, count: int, folder: Path, limit: int | None = LARGE) -> Tally:
    """Some cases in this process, which may grow to so many bytes."""
    target, tally = TARGETS[name], Tally()
    if limit is not None:  # a child begins with what its parent has
        limit = max(limit, _most_memory() + limit // 2)
    for number in range(first, first + count):
        kind, outcome, said = run_case(target, seed, number, folder)
        grown = _most_memory()
        if limit is not None and grown > limit and outcome not in BAD:
            tally.add(number, kind, "large", "the process grew beyond 1 GB")
            break
        tally.add(number, kind, outcome, said)
    return tally


def _most_memory() -> int:
    """Bytes that this process had at once."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def in_process(name: str, seed: int, first: int, count: int, folder: Path) -> Tally:
    """The same in a process of its own; where it dies or hangs, the case is told."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        _work(sender, name, seed, first, count, folder)
    sender.close()
    tally = Tally()
    while True:
        try:
            if not receiver.poll(HANGS):
                os.kill(child, signal.SIGKILL)
                break
            tally.merge(Tally.of(receiver.recv()))
        except EOFError:
            break
    receiver.close()
    os.waitpid(child, 0)
    if tally.done < count and not (tally.bad and "beyond 1 GB" in tally.bad[-1][2]):
        tally.add(first + tally.done, "any", "died", "the process ended, or took more than a minute")
    return tally


def _work(sender: Any, name: str, seed: int, first: int, count: int, folder: Path) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for number in range(first, first + count):
            tally = run_some(name, seed, number, 1, folder)
            sender.send(tally.to_document())
            if tally.bad and "beyond 1 GB" in tally.bad[-1][2]:
                break
    finally:
        os._exit(0)


def run(given: argparse.Namespace, told: Callable[[Tally], None]) -> Tally:
    """Cases until there are enough, or the time is over."""
    import tempfile

    state: Path | None = given.state
    tally = Tally.of(json.loads(state.read_text())) if state is not None and state.exists() else Tally()
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.append(number)

    signal.signal(signal.SIGINT, stop)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        TARGETS[given.target].prepare(Path(folder))
        while tally.done < given.n and not stopped and time.monotonic() - began < given.seconds:
            count = min(AT_ONCE, given.n - tally.done)
            tally.merge(in_process(given.target, given.seed, given.first + tally.done, count, Path(folder)))
            if state is not None:
                state.write_text(json.dumps(tally.to_document()))
            told(tally)
    return tally


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--n", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def main() -> None:
    given, began = parse(), time.perf_counter()

    def told(tally: Tally) -> None:
        print(f"{tally.done:,}/{given.n:,}, {len(tally.bad)} bad", file=sys.stderr, flush=True)

    tally = run(given, told)
    minutes = (time.perf_counter() - began) / 60
    words = f"python benchmarks/fuzz.py {given.target} --n {given.n} --seed {given.seed}"
    made = (
        f"`{words}`\n\nCommit {commit()}, Python {platform.python_version()}, {tally.done:,} cases, {minutes:.1f} min."
    )
    text = f"## {given.target}\n\n{made}\n\n{tally.table()}\n"
    for number, kind, said in tally.bad[:50]:
        text += f"\n- case {number}, {kind}: {said}"
    print(text)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")
    sys.exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
