"""Are outputs whole, and is nothing left? Processes that write them are killed with signal 9 at random moments."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from score_tools import Options, Section, Verdict

from maskrank import DualNetClassifier, load
from maskrank.cli import app
from maskrank.core.config import DEFAULT

BETWEEN = 10  # kills between two runs that are left to end
SOON = 0.4  # seconds after the first sign of an output in which half of the kills fall


def save(folder: Path) -> None:
    """A model is loaded and saved again."""
    load(folder / "model.maskrank").save(folder / "out" / "model.maskrank")


def rank(folder: Path) -> None:
    words = ["rank", str(folder / "data.csv"), "--target", "y", "--size", "1", "--quiet"]
    outputs = [("--json", "r.json"), ("--report", "r.html"), ("--model", "r.maskrank"), ("--csv", "r.csv")]
    app([*words, *(word for name, file in outputs for word in (name, str(folder / "out" / file)))])


def study(folder: Path) -> None:
    words = ["study", "needles", "--methods", "mrmr", "--widths", "6", "--folds", "2", "--quiet", "--resume"]
    app([*words, "--out", str(folder / "out")])


@dataclass(frozen=True)
class Kind:
    """What is killed, and its share of the kills."""

    run: Callable[[Path], None]
    share: float


KINDS = {"save": Kind(save, 0.5), "rank": Kind(rank, 0.25), "study": Kind(study, 0.25)}


def outputs(options: Options) -> Section:
    """Processes that save a model, rank with --json --report --model --csv, or run a study, killed with signal 9.

    Half of the kills fall on any moment of an undisturbed run, half on the first 0.4 s behind the first sign of an
    output, mostly on the beginning. After each of them every file that is there is read to its end; after every tenth a
    run is left to end, in the same folder: then all outputs must be there, and nothing else, also among the temporary
    files.
    """
    rng, counts = random.Random(options.tag), {name: Counter[str]() for name in KINDS}
    torch.set_num_threads(1)  # processes that are forked off could wait for threads that they lack
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tempfile.tempdir = str(folder / "temporary")
        _prepare(folder)
        for name, kind in KINDS.items():
            counts[name] = _killed(name, kind, folder, round(options.seeds * kind.share), rng)
    tempfile.tempdir = None
    names = ("kills", "while it wrote", "damaged", "runs to the end", "not complete", "left behind")
    body = [[name, *(str(found[column]) for column in names)] for name, found in counts.items()]
    total = sum(counts.values(), Counter[str]())
    body.append(["all", *(str(total[column]) for column in names)])
    verdicts = [
        Verdict(f"{total[column]} {column}", "0", not total[column])
        for column in ("damaged", "not complete", "left behind")
    ]
    return Section(["what", *names], body, verdicts)


def _prepare(folder: Path) -> None:
    (folder / "temporary").mkdir()
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    y = (X["a"] > 0).astype(int)
    X.assign(y=y).to_csv(folder / "data.csv", index=False)
    preset = DEFAULT.using(max_batches=8, phase1_batches=8, predictor__cycles=(10,))
    DualNetClassifier(2, preset=preset, random_state=0).fit(X, y).save(folder / "model.maskrank")


def _killed(name: str, kind: Kind, folder: Path, n_kills: int, rng: random.Random) -> Counter[str]:
    """What came of the kills of one kind."""
    out, counts = folder / "out", Counter[str]()
    out.mkdir()
    began = time.perf_counter()
    _wait(_start(kind, folder))
    longest, whole = time.perf_counter() - began, sorted(_names(out))
    while counts["kills"] < n_kills:
        before, child = _state(out), _start(kind, folder)
        writing = rng.random() < 0.5 and _seen(out, before, child)
        time.sleep(rng.random() ** 3 * SOON if writing else rng.uniform(0, longest))
        if not _kill(child):
            _empty(out, name)
            continue
        counts["kills"] += 1
        counts["while it wrote"] += writing
        counts["damaged"] += sum(not _is_whole(file) for file in out.iterdir() if not file.name.startswith("."))
        if counts["kills"] % BETWEEN == 0 or counts["kills"] == n_kills:
            _wait(_start(kind, folder))
            counts["runs to the end"] += 1
            counts["not complete"] += len(set(whole) - set(_names(out)))
            counts["left behind"] += len(set(_names(out)) - set(whole)) + len(_names(folder / "temporary"))
            _empty(out, name)
        print(f"{name} {dict(counts)}", file=sys.stderr, flush=True)
    shutil.rmtree(out)
    return counts


def _empty(out: Path, name: str) -> None:
    """A study that is finished has nothing to do when it is resumed: it begins anew."""
    if name == "study":
        shutil.rmtree(out)
        out.mkdir()


def _start(kind: Kind, folder: Path) -> int:
    """A process that has imported everything, in a group of its own."""
    child = os.fork()
    if child:
        with suppress(OSError):  # it has ended, or has its group already
            os.setpgid(child, child)
        return child
    try:
        os.setpgrp()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        kind.run(folder)
    finally:
        os._exit(0)


def _wait(child: int) -> None:
    os.waitpid(child, 0)


def _kill(child: int) -> bool:
    """Kill a process; whether it was still at work."""
    ended, _ = os.waitpid(child, os.WNOHANG)
    if ended:
        return False
    os.killpg(child, signal.SIGKILL)
    _wait(child)
    return True


def _names(folder: Path) -> list[str]:
    return [str(file.relative_to(folder)) for file in folder.rglob("*")]


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Names, sizes and times of files."""
    found = {}
    for entry in os.scandir(folder):
        try:
            facts = entry.stat()
        except FileNotFoundError:  # replaced meanwhile
            continue
        found[entry.name] = facts.st_size, facts.st_mtime_ns
    return found


def _seen(out: Path, before: dict[str, tuple[int, int]], child: int) -> bool:
    """Wait for the first sign of an output; whether there was one before the process ended."""
    while _state(out) == before:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        time.sleep(0.002)
    return True


def _is_whole(file: Path) -> bool:
    """Whether a file of an output can be read to its end; of a study's fits, the last line may be cut short."""
    content = file.read_bytes()
    if file.suffix == ".maskrank":
        try:
            load(file)
        except ValueError:
            return False
        return True
    if file.suffix in (".json", ".jsonl"):
        lines = [content] if file.suffix == ".json" else content.split(b"\n")[:-1]
        try:
            return all(json.loads(line) is not None for line in lines)
        except ValueError:
            return False
    ends = {".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".csv": b"\n", ".md": b"\n"}
    return content.endswith((ends[file.suffix], ends[file.suffix] + b"\n"))
