"""What the engine costs: every figure a ratio, or a limit, measured in one run. `make bench` runs all of it.

Prints one table and stores it, with the machine, the versions and what earlier runs gave, in benchmarks/results/
(engine.md to read, engine.json the history). Usage: python benchmarks/engine.py [--only NAME ...] [--dry], where
``--only`` measures some sections of the latest run anew.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from timing import side_by_side
from torch import nn

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.config import DEFAULT
from maskrank.core.data.rows import Rows
from maskrank.core.engine.costs import step_flops
from maskrank.core.method.construction import build_operator, build_selector
from maskrank.core.method.exploration import UniformExploration
from maskrank.core.method.operators import MaskedModule
from maskrank.core.method.tasks import MulticlassTask
from maskrank.core.method.training import DualNetTrainer
from maskrank.datasets import make_nonlinear_regression, make_orange_skin, make_xor

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    value: float
    unit: str
    demand: str = ""
    note: str = ""


def whole_fit() -> list[Figure]:
    """The default recipe against the paper's: whole fits on the paper's synthetic problems."""
    problems = {
        "xor": (make_xor, DualNetClassifier, "paper:xor"),
        "regression": (make_nonlinear_regression, DualNetRegressor, "paper:regression"),
        "orange skin": (make_orange_skin, DualNetClassifier, "paper:orange_skin"),
    }
    figures = []
    DualNetClassifier(2, max_batches=16).fit(*make_xor(64, random_state=0)[:2])  # what a first fit loads
    for name, (make, estimator, paper) in problems.items():
        took: dict[str, list[float]] = {"default": [], paper: []}
        found: dict[str, list[bool]] = {"default": [], paper: []}
        for seed in range(3):
            X, y, relevant = make(512, random_state=[0, seed])
            for preset in took:
                started = time.perf_counter()
                model = estimator(5, preset=preset, random_state=seed).fit(X, y)
                took[preset].append(time.perf_counter() - started)
                found[preset].append(bool(model.ranking_[relevant].max() == len(relevant)))
        ratio = sum(took[paper]) / sum(took["default"])
        note = (
            f"{np.mean(took[paper]):.1f} s / {np.mean(took['default']):.2f} s; relevant on top in "
            f"{sum(found[paper])} / {sum(found['default'])} of 3"
        )
        figures.append(Figure(f"whole fit, preset paper / default: {name}", ratio, "×", "≥ 10", note))
    return figures


class _DenseMLP(nn.Module):
    """The paper's words: an affine map of the concatenation (x⊗m, m), then the rest of the net."""

    def __init__(self, d: int, hidden: tuple[int, ...], n_outputs: int) -> None:
        super().__init__()
        sizes = (2 * d, *hidden, n_outputs)
        layers: list[nn.Module] = []
        for n_in, n_out in pairwise(sizes):
            layers += [nn.Linear(n_in, n_out), nn.SiLU()]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.cat([x, mask], dim=1))


def gathered_step() -> list[Figure]:
    """An operator step on gathered columns against the dense one: the same net, the same batch, one thread."""
    shapes = [
        (5_748, 50, (100, 50, 20), 128, "≥ 30"),
        (20_264, 49, (1_000, 500, 200), 32, "≥ 35"),
        (784, 85, (500, 250, 100), 32, "≥ 2.5"),
    ]
    figures = []
    for d, s, hidden, masks, demand in shapes:
        g = torch.Generator().manual_seed(0)
        task = MulticlassTask(4)
        rows = Rows(torch.randn((160, d), generator=g), torch.randint(4, (160,), generator=g))
        config = replace(DEFAULT, operator_hidden=hidden, n_subsets=masks)
        operators = [
            build_operator(task, rows, s, config=config, generator=g),
            MaskedModule(_DenseMLP(d, hidden, 4), torch.arange(d), d),
        ]

        selector = build_selector(d, s, config=config, generator=g)
        trainers = [
            DualNetTrainer(
                operator,
                selector,
                task,
                rows,
                rows,
                size=s,
                config=config,
                exploration=UniformExploration(d, s, g),
                generator=g,
            )
            for operator in operators
        ]
        runs = [partial(_one_step, trainer) for trainer in trainers]
        fast, slow = side_by_side(*runs, repeats=3)
        flops = step_flops(config, s, 4)
        note = f"{1e3 * slow:.0f} ms / {1e3 * fast:.1f} ms; {flops / fast / 1e9:.0f} GFLOP/s gathered"
        what = f"step, dense / gathered: d = {d:,}, s = {s}, h = {hidden[0]}, M = {masks}"
        figures.append(Figure(what, slow / fast, "×", demand, note))
    return figures


def _one_step(trainer: DualNetTrainer) -> None:
    trainer.operator_step(trainer.explore(trainer.config.n_subsets))


def gemm_share() -> list[Figure]:
    """Of the machine's own speed of matrix products, how much a step of the widest net achieves, one thread."""
    d, s, hidden, masks = 20_264, 49, (1_000, 500, 200), 32
    config = replace(DEFAULT, operator_hidden=hidden)
    trainer = _trainer(d, s, config, n=480)
    subsets = trainer.explore(masks)
    a, b = torch.randn(1_024, hidden[0]), torch.randn(hidden[0], hidden[1])
    product, step = side_by_side(lambda: a @ b, lambda: trainer.operator_step(subsets), repeats=3)
    peak, achieved = 2.0 * 1_024 * hidden[0] * hidden[1] / product, step_flops(config, s, 4) / step
    note = f"{achieved / 1e9:.0f} of {peak / 1e9:.0f} GFLOP/s (1,024 × 1,000 × 500)"
    return [Figure("share of the machine's GEMM speed, h = 1,000-500-200", 100 * achieved / peak, "%", "", note)]


def _trainer(d: int, s: int, config=DEFAULT, n: int = 400) -> DualNetTrainer:
    g = torch.Generator().manual_seed(0)
    task = MulticlassTask(4)
    x = torch.randn((d, n), generator=g).t() if d > 8 * n else torch.randn((n, d), generator=g)
    rows = Rows(x, torch.randint(4, (n,), generator=g))
    operator = build_operator(task, rows, s, config=config, generator=g)
    selector = build_selector(d, s, config=config, generator=g)
    exploration = UniformExploration(d, s, g)
    return DualNetTrainer(
        operator, selector, task, rows, rows, size=s, config=config, exploration=exploration, generator=g
    )


def _beat(d: int, s: int) -> Callable[[], None]:
    """Eight operator batches of Phase II with their selector step and search."""
    trainer = _trainer(d, s)
    weights = trainer.weights()
    optimal = [trainer.explore(1)[0]]

    def run() -> None:
        proposed = trainer.propose(optimal[0], optimal[0], 8)
        trainer.selector_step(trainer.operator_beat(proposed, weights))
        optimal[0] = trainer.find_optimal(max_rounds=5)

    return run


def step_over_width() -> list[Figure]:
    """The time of a step, with the selector's and the search's share, as the table gets wider."""
    widths = (1_000, 10_000, 100_000)
    times = side_by_side(*(_beat(d, 50) for d in widths), least=0.3, repeats=5)
    note = ", ".join(f"d = {d:,}: {1e3 * took / 8:.1f} ms" for d, took in zip(widths, times, strict=True))
    return [Figure("step at d = 100,000 / d = 1,000 (s = 50)", times[-1] / times[0], "×", "≤ 2.0", note)]


def _rna_like() -> tuple[np.ndarray, np.ndarray]:
    """600 × 20,264 in 5 classes; one gene in twenty differs between the classes."""
    r = np.random.default_rng(0)
    y = r.integers(5, size=600)
    X = r.standard_normal((600, 20_264), dtype=np.float32)
    X[:, ::20] += r.standard_normal((5, X[:, ::20].shape[1]), dtype=np.float32)[y]
    return X, y


def fit_rna() -> None:
    X, y = _rna_like()
    _report_fit(X, y, DualNetClassifier(49, operator=(1_000, 500, 200), selector=(500, 250, 100), random_state=0))


def fit_million() -> None:
    r = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.npy"
        written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(200, 1_000_000))
        for row in written:
            row[:] = r.standard_normal(1_000_000, dtype=np.float32)
        y = (written[:, :20].sum(axis=1) > 0).astype(int)
        written.flush()
        del written, row
        _report_fit(np.load(path, mmap_mode="r"), y, DualNetClassifier(50, random_state=0))


def _report_fit(X: np.ndarray, y: np.ndarray, model: DualNetClassifier) -> None:
    started = time.perf_counter()
    model.fit(X, y)
    took = time.perf_counter() - started
    peak = _peak_memory() / 1e9
    batches = sum(model.history_.batches.values())
    print(json.dumps({"seconds": took, "peak": peak, "batches": batches, "validation": model.validation_score_}))


def _peak_memory() -> int:
    """The most bytes resident so far; what ``getrusage`` says may be the peak of the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def wide_fits() -> list[Figure]:
    """Whole fits of wide tables, each in a process of its own: seconds and the most resident memory."""
    figures = []
    for name, what, minutes, gigabytes in (
        ("fit_rna", "600 × 20,264, 5 classes, s = 49, the paper's nets", "≤ 4", "≤ 1.5"),
        ("fit_million", "200 × 1,000,000 memory-mapped, s = 50", "≤ 10", "≤ 6"),
    ):
        command = [sys.executable, __file__, "--child", name]
        document = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        note = f"{document['batches']} batches; validation accuracy {document['validation']:.3f}"
        figures.append(Figure(f"whole fit: {what}", document["seconds"] / 60, "min", minutes, note))
        figures.append(Figure(f"memory: {what}", document["peak"], "GB", gigabytes))
    return figures


def lassonet() -> list[Figure]:
    """LassoNet's path, until 2 features are left, against one fit: XOR of two of 64 features, 833 rows."""
    from lassonet import LassoNetClassifier

    class EnoughError(Exception):
        pass

    def stop_at_two(model: LassoNetClassifier, history: list) -> None:
        if model.model.selected_count() <= 2:
            raise EnoughError

    r = np.random.default_rng(0)
    X = r.uniform(0, 1, (833, 64))
    y = ((X[:, 0] - 0.5) * (0.5 - X[:, 1]) >= 0).astype(int)
    DualNetClassifier(2, max_batches=16).fit(*make_xor(64, random_state=0)[:2])  # what a first fit loads
    started = time.perf_counter()
    model = DualNetClassifier(2, random_state=0).fit(X, y)
    ours = time.perf_counter() - started
    found = set(np.argsort(model.ranking_, kind="stable")[:2].tolist()) == {0, 1}
    torch.manual_seed(0)
    peer = LassoNetClassifier(hidden_dims=(100,), random_state=0, torch_seed=0, verbose=0)
    started = time.perf_counter()
    with contextlib.suppress(EnoughError):
        peer.path((X.astype(np.float32) - 0.5) * np.sqrt(12), y, callback=stop_at_two)
    theirs = time.perf_counter() - started
    left = np.flatnonzero(peer.model.input_mask().numpy()).tolist()
    note = f"{theirs:.0f} s / {ours:.1f} s; first two of our ranking right: {found}; LassoNet keeps {left}"
    return [Figure("LassoNet 0.0.21 / maskrank (s = 2): XOR, 833 × 64", theirs / ours, "×", "≥ 30", note)]


def lazy_adam() -> list[Figure]:
    """Tables updated by rows against whole ones, where both can be had: the paper's problems, and wider ones."""
    problems = {
        "xor": (make_xor, DualNetClassifier, 5),
        "orange skin": (make_orange_skin, DualNetClassifier, 5),
        "regression": (make_nonlinear_regression, DualNetRegressor, 5),
        "regression among 300": (partial(make_nonlinear_regression, n_features=300), DualNetRegressor, 15),
        "orange skin among 300": (partial(make_orange_skin, n_features=300), DualNetClassifier, 15),
    }
    figures = []
    for name, (make, estimator, size) in problems.items():
        kept: dict[bool, list[float]] = {True: [], False: []}
        scores: dict[bool, list[float]] = {True: [], False: []}
        for seed, by_rows in itertools.product(range(5), (True, False)):
            X, y, relevant = make(512, random_state=[0, seed])
            X_test, y_test, _ = make(1024, random_state=[1, seed])
            with mock.patch(
                "maskrank.core.method.construction.update_by_rows", lambda *shape, by_rows=by_rows: by_rows
            ):
                model = estimator(size, random_state=seed).fit(X, y)
            kept[by_rows].append(float(model.support_[relevant].mean()))
            scores[by_rows].append(model.score(X_test, y_test))
        note = (
            f"share of relevant features chosen {np.mean(kept[True]):.2f} / {np.mean(kept[False]):.2f}; "
            f"score {np.mean(scores[True]):.3f} / {np.mean(scores[False]):.3f} (accuracy or R², 5 seeds)"
        )
        difference = np.mean(scores[True]) - np.mean(scores[False])
        figures.append(Figure(f"score, Adam by rows - whole: {name}", difference, "", "about 0", note))
    return figures


def growth() -> list[Figure]:
    """Exponents of the fit's time in rows, features, subset size and subsets a batch."""

    def fit(n: int = 2_000, d: int = 100, s: int = 10, masks: int = 32) -> float:
        r = np.random.default_rng(0)
        X = r.standard_normal((n, d), dtype=np.float32)
        y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
        model = DualNetClassifier(s, n_subsets=masks, max_batches=480, patience=480, random_state=0)
        return min(_timed(lambda: model.fit(X, y)) for _ in range(2))

    figures = []
    for name, argument, values in (
        ("rows", "n", (500, 2_000, 10_000, 100_000)),
        ("features", "d", (100, 1_000, 10_000, 100_000)),
        ("subset size", "s", (5, 10, 20, 40)),
        ("subsets a batch", "masks", (16, 32, 64, 128)),
    ):
        base = {"n": 400} if argument == "d" else {}
        took = [fit(**base, **{argument: value}) for value in values]
        slopes = np.diff(np.log(took)) / np.diff(np.log(values))
        exponent = np.polyfit(np.log(values), np.log(took), 1)[0]
        note = ", ".join(f"{value:,}: {t:.1f} s" for value, t in zip(values, took, strict=True))
        note += f"; steepest step {slopes.max():.2f}"
        figures.append(Figure(f"exponent of fit time in {name}", exponent, "", "≤ 1", note))
    return figures


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


SECTIONS: dict[str, Callable[[], list[Figure]]] = {
    "whole_fit": whole_fit,
    "gathered_step": gathered_step,
    "gemm_share": gemm_share,
    "step_over_width": step_over_width,
    "wide_fits": wide_fits,
    "lassonet": lassonet,
    "lazy_adam": lazy_adam,
    "growth": growth,
}
CHILDREN = {"fit_rna": fit_rna, "fit_million": fit_million}


def machine() -> dict[str, str]:
    names = [line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")]
    return {
        "date": date.today().isoformat(),
        "processor": names[0] if names else platform.machine(),
        "cores": str(os.cpu_count()),
        "versions": ", ".join(
            f"{package} {version(package)}" for package in ("maskrank", "torch", "numpy", "scikit-learn")
        )
        + f", Python {platform.python_version()}",
    }


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def table(history: list[dict]) -> str:
    """All runs, the latest first; figures by their names."""
    latest, *earlier = reversed(history)
    head = ["figure", "wanted", latest["machine"]["date"], *(run["machine"]["date"] for run in earlier), "how"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for figure in latest["figures"]:
        then = [next((_shown(old) for old in run["figures"] if old["what"] == figure["what"]), "") for run in earlier]
        lines.append(
            "| " + " | ".join([figure["what"], figure["demand"], _shown(figure), *then, figure["note"]]) + " |"
        )
    return "\n".join(lines)


def _shown(figure: dict) -> str:
    return f"{figure['value']:.3g} {figure['unit']}".strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--dry", action="store_true", help="store nothing")
    parser.add_argument("--child", choices=list(CHILDREN), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        CHILDREN[arguments.child]()
        return
    figures: list[Figure] = []
    for name in arguments.only:
        threads = torch.get_num_threads()
        torch.set_num_threads(1 if name in ("gathered_step", "gemm_share", "step_over_width") else threads)
        started = time.perf_counter()
        figures += SECTIONS[name]()
        torch.set_num_threads(threads)
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    run = {"machine": machine(), "figures": [asdict(figure) for figure in figures]}
    stored = RESULTS / "engine.json"
    history = json.loads(stored.read_text()) if stored.exists() else []
    if set(arguments.only) != set(SECTIONS) and history:
        run = _with_figures(history.pop(), run["figures"])
    text = table([*history, run])
    print(text)
    if not arguments.dry:
        stored.write_text(json.dumps([*history, run], indent=1) + "\n")
        about = "{processor}, {cores} cores; {versions}".format(**run["machine"])
        (RESULTS / "engine.md").write_text(f"# The engine\n\n`make bench`; {about}.\n\n{text}\n")


def _with_figures(run: dict, figures: list[dict]) -> dict:
    """A run with some of its figures measured anew."""
    anew = {figure["what"]: figure for figure in figures}
    kept = [anew.pop(figure["what"], figure) for figure in run["figures"]]
    return {**run, "figures": [*kept, *anew.values()]}


if __name__ == "__main__":
    main()
