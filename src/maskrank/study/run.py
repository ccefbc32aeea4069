"""Runs a study: its jobs, then its tables, its figures, and the facts of the run."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from maskrank.datasets import Dataset, load_dataset
from maskrank.datasets.public import data_folder
from maskrank.files import write_atomically
from maskrank.study.figures import FIGURES, new_figure
from maskrank.study.names import check_method, check_study
from maskrank.study.protocol import KINDS, Samples, divide, evaluate_all, orders_once
from maskrank.study.runner import Job, Result, run_jobs, written
from maskrank.study.spec import Study
from maskrank.study.tables import costs, document

_LONG = ("selected", "scores", "history")  # kept as JSON inside the CSV


def get_study(name: str) -> Study:
    """The declaration of a study of the paper."""
    check_study(name)
    study: Study = import_module(f"maskrank.study.{name}").STUDY
    return study


def run_study(
    study: Study,
    out: Path,
    *,
    data_dir: str | None = None,
    methods: Sequence[str] | None = None,
    n_jobs: int = 1,
    resume: bool = False,
    quiet: bool = False,
    told: Callable[[Result], None] | None = None,
    command: str = "",
) -> tuple[pd.DataFrame, list[Result]]:
    """Run open jobs; write ``fits.csv``, ``tables.md``, ``costs.md``, figures and ``run.json`` to a folder.

    Returns
    -------
    fits : DataFrame
        One row a finished fit; ``attrs["tables"]`` is the text of ``tables.md``.
    failed : list of dict
    """
    started = time.perf_counter()
    for method in methods or ():
        check_method(method)
    if study.figures:
        new_figure(1, 1)  # without matplotlib it ends here, not after the work
    for part in study.parts:
        load_dataset(part.data, data_dir=data_dir)  # a missing file is found before any work is done
    jobs = [job for job in study.jobs() if methods is None or job["method"] in methods]
    folder = data_folder(data_dir)  # workers may have other folders and surroundings
    work = partial(fit_jobs, study=study, data_dir=None if folder is None else str(folder.resolve()))
    finished, failed = run_jobs(
        jobs, work, out, together=_one_fit, n_jobs=n_jobs, resume=resume, quiet=quiet, told=told
    )
    fits = pd.DataFrame(finished)
    if len(fits):
        datasets = {part.data: load_dataset(part.data, data_dir=data_dir) for part in study.parts}
        relevant = {name: data.relevant for name, data in datasets.items() if data.relevant is not None}
        tables = fits.attrs["tables"] = document(study, fits, relevant)
        facts = _facts(study, fits, command, time.perf_counter() - started, n_jobs)
        failed += written(
            {
                out / "fits.csv": lambda file: write_atomically(file, _flat(fits).to_csv(index=False)),
                out / "tables.md": lambda file: write_atomically(file, tables),
                out / "costs.md": lambda file: write_atomically(file, costs(study, fits)),
                **{out / name: partial(_draw, name, fits, datasets) for name in study.figures},
                out / "run.json": lambda file: write_atomically(file, facts),
            }
        )
    return fits, failed


def _draw(name: str, fits: pd.DataFrame, datasets: dict[str, Dataset], file: Path) -> None:
    """The pictures of one kind, in the folder of a file."""
    FIGURES[name](fits, datasets, file.parent)


def _one_fit(job: Job) -> tuple[Any, ...]:
    """Jobs with the same key share one fit: those of one method that differ in its judge, or in a size of one order."""
    job = {**job, "method": job["method"].partition("+")[0]}
    return tuple(value for name, value in job.items() if name != "size" or not orders_once(job["method"]))


def fit_jobs(jobs: list[Job], *, study: Study, data_dir: str | None) -> list[Result]:
    """One method on one fold, at some sizes, by some judges."""
    job = jobs[0]
    part = study.part(job["data"])
    data = _loaded(job["data"], data_dir, job["seed"])
    splits = data.splits if part.published_test else {}
    folds = divide(data.y, splits, task=data.task, folds=max(2, part.folds), seed=job["seed"])
    lines = evaluate_all(
        [(job["method"], job["size"]) for job in jobs],
        Samples(data.X, data.y),
        folds[job["fold"]],
        task=data.task,
        seed=1_000 * job["seed"] + job["fold"],
        settings=dict(part.methods[job["method"]]),
        mlp=part.mlp,
        keep_history=study.keep_history,
    )
    return [{"metric": KINDS[data.task].metric.name, **line} for line in lines]


@lru_cache(maxsize=2)
def _loaded(name: str, data_dir: str | None, seed: int) -> Dataset:
    return load_dataset(name, data_dir=data_dir, random_state=seed)


def _flat(fits: pd.DataFrame) -> pd.DataFrame:
    long = {name: fits[name].map(json.dumps) for name in _LONG if name in fits}
    return fits.assign(**long)


def _facts(study: Study, fits: pd.DataFrame, command: str, seconds: float, n_jobs: int) -> str:
    """What is needed to reproduce the run and to interpret its times."""
    facts: dict[str, Any] = {
        "study": study.name,
        "command": command,
        "fits": len(fits),
        "seeds": sorted(int(seed) for seed in fits["seed"].unique()),
        "seconds_of_fits": round(float(fits["seconds"].sum()), 1),
        "seconds_of_this_run": round(seconds, 1),
        "jobs": n_jobs,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: version(name) for name in ("maskrank", "torch", "scikit-learn", "numpy")},
    }
    return json.dumps(facts, indent=2) + "\n"
