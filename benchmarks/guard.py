"""The headline figures beside the last accepted ones. `make guard` runs all of them and says how long it took.

Prints one table and marks what FELL, or rose, by more than two standard errors of the difference. Draws, folds and
seeds are fixed, so that for one commit on one machine only times and memory differ between runs; these are marked
apart, when they change by more than half. The exit code is 1 if anything fell.

Usage: python benchmarks/guard.py [--only GROUP,...] [--jobs 2] [--accept]

``--accept`` stores the figures in benchmarks/results/: guard.json has every accepted run, guard.md shows them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from guard_figures import MEASUREMENTS, Figure, Measurement, run
from joblib import Parallel, delayed

from maskrank.datasets import load_dataset
from maskrank.study.markdown import table

RESULTS = Path(__file__).parent / "results"
FIGURES = [figure for measurement in MEASUREMENTS for figure in measurement.figures]
STANDARD_ERRORS = 2.0  # a quality that changes by more is marked
FACTOR = 1.5  # a time, or a memory, that changes by more is marked
_ROUNDING = 1e-9
_WORDS = {"quality": ("FELL", "rose"), "time": ("slower", "faster"), "memory": ("larger", "smaller")}


@dataclass(frozen=True)
class Estimate:
    """A figure as measured: mean and standard error over seeds or folds, the values, and the commit of the code."""

    mean: float
    standard_error: float
    n: int
    commit: str
    values: tuple[float, ...]


Run = dict[str, Any]  # "date", "commit", "machine", and "figures": the estimates by name


def estimate(values: Iterable[float], commit: str) -> Estimate:
    values = tuple(values)
    n = len(values)
    error = float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    return Estimate(float(np.mean(values)), error, n, commit, values)


def gain(figure: Figure, before: Estimate, now: Estimate) -> float:
    """How much better a figure is than it was."""
    return (now.mean - before.mean) * (1 if figure.higher_is_better else -1)


def gain_in_standard_errors(figure: Figure, before: Estimate, now: Estimate) -> float:
    """The gain over the standard error of the difference; infinite where that is 0."""
    gained = gain(figure, before, now)
    error = math.hypot(before.standard_error, now.standard_error)
    if abs(gained) <= _ROUNDING:
        return 0.0
    return gained / error if error > 0 else math.copysign(math.inf, gained)


def mark(figure: Figure, before: Estimate | None, now: Estimate) -> str:
    """What became of a figure, in one word: "=" where it is not marked."""
    if before is None:
        return "new"
    worse, better = _WORDS[figure.kind]
    if figure.kind == "quality":
        gained = gain_in_standard_errors(figure, before, now)
        return worse if gained < -STANDARD_ERRORS else better if gained > STANDARD_ERRORS else "="
    return worse if now.mean > FACTOR * before.mean else better if now.mean * FACTOR < before.mean else "="


def shown(figure: Figure, value: Estimate | None) -> str:
    return "" if value is None else f"{value.mean:.{figure.digits}f} ± {value.standard_error:.{figure.digits}f}"


def comparison(before: dict[str, Estimate], now: dict[str, Estimate]) -> str:
    """The table that is printed: one line for each figure that was measured now."""
    lines = []
    for figure in (figure for figure in FIGURES if figure.name in now):
        old, new = before.get(figure.name), now[figure.name]
        if old is None:
            apart = ""
        elif figure.kind == "quality":
            apart = f"{gain_in_standard_errors(figure, old, new):+.1f}"
        else:
            apart = f"{new.mean / old.mean:.2f} ×" if old.mean else ""
        better = "higher" if figure.higher_is_better else "lower"
        cells = [shown(figure, old), shown(figure, new), figure.unit, better, apart, mark(figure, old, new)]
        lines.append([figure.name, *cells])
    return table(["figure", "accepted ± s.e.", "now ± s.e.", "unit", "better", "gain / s.e.", "mark"], lines)


def same_values(before: dict[str, Estimate], now: dict[str, Estimate]) -> str:
    """How many qualities have exactly the accepted value for every seed, as after a change that only moves code."""
    names = [figure.name for figure in FIGURES if figure.kind == "quality" and figure.name in now]
    same = [name for name in names if name in before and before[name].values == now[name].values]
    return f"{len(same)} of {len(names)} qualities have exactly the accepted values"


def document(history: list[Run]) -> str:
    """guard.md: the last accepted figures, and all accepted runs by commit, the latest first."""
    last = history[-1]
    accepted = [
        [figure.name, shown(figure, value), str(value.n), figure.unit, value.commit]
        for figure in FIGURES
        if (value := last["figures"].get(figure.name)) is not None
    ]
    latest_first = history[::-1]
    earlier = [
        [figure.name, *(shown(figure, accepted_run["figures"].get(figure.name)) for accepted_run in latest_first)]
        for figure in FIGURES
    ]
    commits = [f"{accepted_run['commit']} ({accepted_run['date']})" for accepted_run in latest_first]
    return "\n".join(
        [
            "# The guard",
            "",
            f"`make guard`; accepted on {last['date']} at {last['commit']}; {last['machine']}.",
            "",
            "Mean ± standard error over n seeds or folds. A commit is the last one that changed `src/`.",
            "",
            table(["figure", "accepted ± s.e.", "n", "unit", "commit"], accepted),
            "",
            "## History by commit",
            "",
            table(["figure", *commits], earlier),
            "",
        ]
    )


def to_json(history: list[Run]) -> str:
    plain = [
        {**accepted_run, "figures": {name: asdict(value) for name, value in accepted_run["figures"].items()}}
        for accepted_run in history
    ]
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> list[Run]:
    history = json.loads(text)
    for accepted_run in history:
        for name, value in accepted_run["figures"].items():
            accepted_run["figures"][name] = Estimate(**{**value, "values": tuple(value["values"])})
    return history


def with_accepted(history: list[Run], accepted_run: Run) -> list[Run]:
    """The history with a run at its end, in the place of one of its commit; figures it lacks stay as they were."""
    names = {figure.name for figure in FIGURES}
    known = {name: value for name, value in history[-1]["figures"].items() if name in names} if history else {}
    earlier = [old for old in history if old["commit"] != accepted_run["commit"]]
    return [*earlier, {**accepted_run, "figures": {**known, **accepted_run["figures"]}}]


def measure_all(measurements: list[Measurement], jobs: int, commit: str) -> dict[str, Estimate]:
    """Qualities in parallel processes, then times and memory one at a time."""
    found: dict[str, Estimate] = {}
    qualities = [one for one in measurements if one.kind == "quality"]
    alone = [one for one in measurements if one.kind != "quality"]
    for some, n_jobs in ((qualities, jobs), (alone, 1)):
        if not some:
            continue
        asked = [(one, seed) for one in some for seed in range(one.repeats)]
        values = Parallel(n_jobs, batch_size=1, return_as="generator")(delayed(run)(*job) for job in asked)
        for one in some:
            by_figure = zip(*(next(values) for _ in range(one.repeats)), strict=True)
            for figure, of_seeds in zip(one.figures, by_figure, strict=True):
                found[figure.name] = estimate(of_seeds, commit)
                print(f"{figure.name}: {shown(figure, found[figure.name])}", file=sys.stderr, flush=True)
    return found


def at_hand(measurement: Measurement) -> bool:
    """Whether the data set of a measurement can be loaded; says so where it can't."""
    if measurement.data is None:
        return True
    try:
        load_dataset(measurement.data)
    except (OSError, ImportError) as error:
        print(f"left out: {', '.join(figure.name for figure in measurement.figures)}: {error}")
        return False
    return True


def git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent.parent), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def machine() -> str:
    """What the bits of a fit depend on beside the code."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(f"{package} {version(package)}" for package in ("torch", "numpy", "scikit-learn"))
    processor = names[0] if names else platform.machine()
    return f"{processor}, {os.cpu_count()} cores; {versions}, Python {platform.python_version()}"


def asked_for() -> argparse.Namespace:
    """The options; ends with an error where they can't be met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    groups = list(dict.fromkeys(measurement.group for measurement in MEASUREMENTS))
    parser.add_argument("--only", default=",".join(groups), metavar="GROUP,...", help=f"of {', '.join(groups)}")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--accept", action="store_true", help="store the figures as the accepted ones; exit code 0")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(groups):
        parser.error(f"--only {','.join(sorted(unknown))}: the groups are {', '.join(groups)}")
    options.changed = git("status", "--porcelain", "--", "src")
    if options.accept and options.changed:
        parser.error(f"--accept needs src/ as committed; there are changes:\n{options.changed}")
    return options


def main() -> None:
    options = asked_for()
    started = time.perf_counter()
    commit = git("log", "-1", "--format=%h", "--", "src") + ("+changes" if options.changed else "")
    stored = RESULTS / "guard.json"
    history = from_json(stored.read_text()) if stored.exists() else []
    before = history[-1]["figures"] if history else {}
    measurements = [one for one in MEASUREMENTS if one.group in options.only and at_hand(one)]
    now = measure_all(measurements, options.jobs, commit)

    print(f"\n{comparison(before, now)}\n\n{same_values(before, now)}")
    if history and history[-1]["machine"] != machine():
        print(f"The accepted figures are of another machine: {history[-1]['machine']}. Qualities may differ, too.")
    marks = [mark(figure, before.get(figure.name), now[figure.name]) for figure in FIGURES if figure.name in now]
    print(f"{commit}: {marks.count('FELL')} of {len(marks)} figures fell; {time.perf_counter() - started:.0f} s")
    if options.accept:
        accepted_run = {"date": date.today().isoformat(), "commit": commit, "machine": machine(), "figures": now}
        history = with_accepted(history, accepted_run)
        stored.write_text(to_json(history))
        (RESULTS / "guard.md").write_text(document(history))
    sys.exit("FELL" in marks and not options.accept)


if __name__ == "__main__":
    main()
