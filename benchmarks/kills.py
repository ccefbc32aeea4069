"""Do fits survive? Processes are killed with signal 9 at random moments, started again, and must give the same bits.

Usage: python benchmarks/kills.py SECTION [--seeds N] [--tag 0] [--out FILE.md]

kills    fits of six kinds, each killed three times at random moments of its course and then left to end
outputs  model files, outputs of rank and of a study, while they are made and written
cost     CPU time that goes into keeping states, in one run of each kind

``--seeds`` is the number of fits (kills), of kills (outputs), or of runs of each kind (cost).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import sections
from kill_outputs import outputs
from score_tools import Options, Section, Verdict

from maskrank import DualNetClassifier, DualNetRegressor, ImageCNN
from maskrank.core.checkpoint import Checkpoint
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.checkpoints import Folder
from maskrank.study.names import OURS
from maskrank.study.own_table import compare_methods
from maskrank.tables import load_table

PROG = "kills.py"
KILLS = 3  # of each fit
ALLOWED = 0.03  # of the CPU time of a fit


def default(seed: int, checkpoint: str | None) -> Any:
    X = np.random.default_rng(seed).standard_normal((1_000, 40))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    return _results(DualNetClassifier(6, random_state=seed, checkpoint=checkpoint).fit(X, y), X)


def wide(seed: int, checkpoint: str | None) -> Any:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((120, 4))
    X = factors @ rng.standard_normal((4, 2_000)) + rng.standard_normal((120, 2_000))
    y = (factors[:, 0] + factors[:, 1] > 0).astype(int)
    return _results(DualNetClassifier(8, random_state=seed, checkpoint=checkpoint).fit(X, y), X)


def mixed(seed: int, checkpoint: str | None) -> Any:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((800, 12)), columns=[f"number {i}" for i in range(12)])
    X["colour"], X["place"] = rng.choice(["red", "green", "blue"], 800), rng.choice([f"p{i}" for i in range(30)], 800)
    X.loc[rng.random(800) < 0.1, "number 1"] = np.nan
    y = (X["colour"] == "red") * 2.0 + X["number 1"].fillna(1.0) + X["number 2"] ** 2
    return _results(DualNetRegressor(5, random_state=seed, checkpoint=checkpoint).fit(X, y), X)


def cnn(seed: int, checkpoint: str | None) -> Any:
    X = np.random.default_rng(seed).standard_normal((150, 64))
    y = (X[:, 9] + X[:, 10] > 0).astype(int)
    operator = partial(ImageCNN, image_shape=(8, 8))
    settings: dict[str, Any] = {"max_batches": 40, "n_subsets": 4, "random_state": seed}
    return _results(DualNetClassifier(6, operator=operator, **settings, checkpoint=checkpoint).fit(X, y), X)


def repeats(seed: int, checkpoint: str | None) -> Any:
    X = np.random.default_rng(seed).standard_normal((300, 20))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = DualNetClassifier(4, random_state=seed, n_repeats=6, n_jobs=2, checkpoint=checkpoint)
    return _results(model.fit(X, y), X)


def sweep(seed: int, checkpoint: str | None) -> Any:
    X = np.random.default_rng(seed).standard_normal((200, 10))
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]).assign(y=(X[:, 0] + X[:, 1] > 0).astype(int))
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(f"{folder}/table.csv", index=False)
        table = load_table(f"{folder}/table.csv", target="y")
    fits, failed = compare_methods(table, [OURS], [1, 2, 4], folds=2, seed=seed, quiet=True, checkpoint=checkpoint)
    assert not failed
    return fits[["size", "fold", "score", "selected"]].to_dict("records")


KINDS: dict[str, Callable[[int, str | None], Any]] = {
    each.__name__: each for each in (default, wide, mixed, cnn, repeats, sweep)
}


def _results(model: DualNetBase, X: Any) -> Any:
    """All that a fit gives, but for the times."""
    arrays = [model.ranking_, model.feature_importances_, model.raw_scores_, model.predict(X)]
    stability = model.stability_
    return {
        "arrays": [hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() for array in arrays],
        "history": {name: value for name, value in asdict(model.history_).items() if name != "seconds"},
        "figures": {name: figure.value for name, figure in model.figures_.items()},
        "signal": model.signal_pvalue_,
        "stability": None if stability is None else stability.to_dict(),
    }


def run_fit(kind: str, seed: int, folder: str, out: str) -> None:
    """What the killed processes run: "ready" on standard output, then a fit, whose results go into a file."""
    print("ready", flush=True)
    results = KINDS[kind](seed, folder or None)
    Path(out).write_text(json.dumps(results, sort_keys=True, default=int))


def start(kind: str, seed: int, folder: str, out: Path) -> subprocess.Popen[str]:
    """A process that fits, with all of its children in a group of its own, when it has imported everything."""
    words = [sys.executable, __file__, "--fit", kind, str(seed), folder, str(out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def killed(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a process and its children after so many seconds; whether it was still at work."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def half_written(folder: Path) -> int:
    """States that can't be read. What a process had not finished to write has another name, and is never read."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(folder, Path(place, "copy"))) if folder.exists() else Path(place)
        return sum(Folder(file.parent).read(file.stem) is None for file in copy.rglob("*.state"))


def survive(kind: str, seed: int, rng: random.Random) -> dict[str, int]:
    """One fit: undisturbed, then killed some times and left to end; what is counted of it."""
    with tempfile.TemporaryDirectory() as place:
        out, folder = Path(place, "out.json"), Path(place, "kept")
        process, started = start(kind, seed, "", out), time.perf_counter()
        assert process.wait() == 0
        longest, undisturbed = (time.perf_counter() - started) / KILLS, out.read_text()
        n_kills = damaged = 0
        while n_kills < KILLS:
            process, started = start(kind, seed, str(folder), out), time.perf_counter()
            if killed(process, rng.uniform(0, longest)):
                n_kills += 1
            else:
                longest = min(longest, time.perf_counter() - started)
            damaged += half_written(folder)
        out.unlink(missing_ok=True)
        assert start(kind, seed, str(folder), out).wait() == 0
        return {"fits": 1, "kills": n_kills, "equal": int(out.read_text() == undisturbed), "half-written": damaged}


def kills(options: Options) -> Section:
    """Fits of six kinds, each killed with signal 9 at three random moments and then left to end.

    A moment is drawn from the first third of the time that an undisturbed run takes, since the process was ready: three
    of them reach all parts of its course. Equal: ranking, scores, predictions, history, figures and stability have the
    bits of an undisturbed run without a checkpoint. Half-written: files of the folder that can't be read after a kill.
    """
    rng, names = random.Random(options.tag), ("fits", "kills", "equal", "half-written")
    counts = {kind: dict.fromkeys(names, 0) for kind in KINDS}
    for number in range(options.seeds):
        kind = list(KINDS)[number % len(KINDS)]
        found = survive(kind, 1_000 * options.tag + number, rng)
        counts[kind] = {name: counts[kind][name] + found[name] for name in names}
        print(f"{number + 1}/{options.seeds} {kind} {found}", file=sys.stderr, flush=True)
    total = {name: sum(of_kind[name] for of_kind in counts.values()) for name in names}
    body = [[kind, *map(str, of_kind.values())] for kind, of_kind in (counts | {"all": total}).items()]
    equal = f"{total['equal']} of {total['fits']} results equal after {total['kills']} kills"
    verdicts = [
        Verdict(equal, "all", total["equal"] == total["fits"]),
        Verdict(f"{total['half-written']} files half-written", "0", not total["half-written"]),
    ]
    return Section(["kind", *names], body, verdicts)


def cost(options: Options) -> Section:
    """CPU seconds in which the data are hashed and states are gathered and written, as a share of a fit's."""
    body, shares = [], []
    for kind in (default, wide, mixed, cnn):
        spent: list[float] = []
        timed = [
            mock.patch.object(owner, name, _timed(getattr(owner, name), spent))
            for owner, name in ((Checkpoint, "_write"), (DualNetBase, "_open_checkpoint"))
        ]
        began = time.process_time()
        with timed[0], timed[1]:
            for seed in range(options.seeds):
                with tempfile.TemporaryDirectory() as folder:
                    kind(1_000 * options.tag + seed, folder)
        whole = time.process_time() - began
        shares.append(sum(spent) / whole)
        body.append([kind.__name__, f"{whole / options.seeds:.2f}", str(len(spent)), f"{100 * shares[-1]:.2f} %"])
    most = f"at most {100 * max(shares):.2f} % of the CPU time"
    verdict = Verdict(most, f"at most {100 * ALLOWED:.0f} %", max(shares) <= ALLOWED)
    return Section(["kind", "CPU seconds of a fit", "states", "share"], body, [verdict])


def _timed(call: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return call(*arguments, **named)
        finally:
            spent.append(time.process_time() - started)

    return timed


SECTIONS: sections.Sections = {"kills": (kills, 20), "outputs": (outputs, 200), "cost": (cost, 2)}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, _ = sections.parsers(SECTIONS, PROG, __doc__)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        run_fit(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
    else:
        sections.run_section(SECTIONS, parse(), PROG)
