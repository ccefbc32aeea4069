"""Runs jobs in parallel and writes each result to disk at once, so that a stopped run can be resumed.

A folder holds one line of JSON for each job. Jobs with a result are skipped when a run is resumed; a failed job has a
line with its error and is run anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from maskrank.parallel.backends import start_fits
from maskrank.terminal.progress_bar import FitsBar

Job = dict[str, Any]  # what tells it from others
Result = dict[str, Any]

_FILE = "fits.jsonl"


def run_jobs(
    jobs: Sequence[Job],
    work: Callable[[list[Job]], list[Result]],
    folder: Path | None,
    *,
    together: Callable[[Job], Hashable] | None = None,
    n_jobs: int = 1,
    resume: bool = False,
    quiet: bool = False,
    told: Callable[[Result], None] | None = None,
) -> tuple[list[Result], list[Result]]:
    """Run the jobs that have no result yet.

    Parameters
    ----------
    jobs : list of dict
    work : function
        From some jobs to their results; all must survive being sent to another process. See `one_by_one`.
    folder : Path or None
        Where results are kept; None keeps them in memory alone.
    together : function, optional
        Jobs for which it gives the same are handed to ``work`` at once; else each job by itself.
    told : function, optional
        Called with each result as it arrives, first with those of an earlier run.

    Returns
    -------
    finished, failed : list of dict
        The job together with its result, or with an "error"; in the order of the jobs. A file that can't be written
        is among those that failed.
    """
    file = None if folder is None else _file(folder, resume=resume)
    if not jobs:
        return [], []
    names = tuple(jobs[0])
    done = {} if file is None else {_key(line, names): line for line in _lines(file, names) if "error" not in line}
    open_jobs = [job for job in jobs if _key(job, names) not in done]
    if told is not None:
        for job in jobs:
            if (line := done.get(_key(job, names))) is not None:
                told(line)
    groups: dict[Hashable, list[Job]] = {}
    for job in open_jobs:
        groups.setdefault(_key(job, names) if together is None else together(job), []).append(job)
    failed: dict[tuple[Any, ...], Result] = {}
    unwritten: list[Result] = []
    tasks = list(groups.values())
    with (
        _appending(file) as note,
        FitsBar(len(jobs), done=len(jobs) - len(open_jobs), quiet=quiet) as bar,
        start_fits(partial(_attempt, work), tasks, n_jobs=n_jobs) as fits,
    ):
        waiting = [_title(group[0]) for group in reversed(tasks)] if fits.workers == 1 else []  # the next one last
        bar.name(waiting.pop() if waiting else "fits")
        bar.workers(fits.workers)
        for place, result in fits:
            lines = [_failed(job, result) for job in tasks[place]] if isinstance(result, Exception) else result
            for line in lines:
                try:
                    note(json.dumps(line))
                except OSError as error:  # a full disk: the result is kept in memory, and the run goes on
                    unwritten = unwritten or [_unwritten(file, error)]
                (failed if "error" in line else done)[_key(line, names)] = line
                if told is not None:
                    told(line)
            bar.advance(len(lines))
            bar.name(waiting.pop() if waiting else "fits")
            bar.workers(fits.workers)
    keys = [_key(job, names) for job in jobs]
    errors = [failed[key] for key in keys if key in failed]
    return [done[key] for key in keys if key in done], [*errors, *unwritten]


def written(files: Mapping[Path, Callable[[Path], None]]) -> list[Result]:
    """Write each file by its function; what is said of those that could not be written."""
    failed = []
    for file, write in files.items():
        try:
            write(file)
        except OSError as error:
            failed.append(_unwritten(file, error))
    return failed


def _unwritten(file: Path | None, error: OSError) -> Result:
    """A file that could not be written, among the jobs that failed."""
    return {"file": str(file), "error": f"{file} can't be written: {error.strerror}" if error.strerror else str(error)}


def _title(job: Job) -> str:
    """The name of a job in the progress bar."""
    return "fits: " + ", ".join(str(job[name]) for name in ("data", "problem", "method", "size") if name in job)


def _file(folder: Path, *, resume: bool) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(f"{folder} can't hold results: a file is in its place; give another --out") from error
    if (folder / _FILE).exists() and not resume:
        raise ValueError(f"{folder} holds results of an earlier run: --resume continues it, or give another --out")
    return folder / _FILE


@contextmanager
def _appending(file: Path | None) -> Iterator[Callable[[str], None]]:
    """A function that adds a line to a file, on disk at once."""
    if file is None:
        yield lambda text: None
        return
    out = file.open("a", encoding="utf-8")

    def note(text: str) -> None:
        out.write(text + "\n")
        out.flush()

    try:
        if file.stat().st_size and not file.read_bytes().endswith(b"\n"):
            note("")  # behind a line that was cut short
        yield note
    finally:
        with suppress(OSError):  # was told when it was noted
            out.close()


def one_by_one(work: Callable[[Job], Result]) -> Callable[[list[Job]], list[Result]]:
    """What `run_jobs` takes, from a function of one job."""
    return partial(_each, work)


def _each(work: Callable[[Job], Result], jobs: list[Job]) -> list[Result]:
    return [work(job) for job in jobs]


def _attempt(work: Callable[[list[Job]], list[Result]], jobs: list[Job]) -> list[Result]:
    try:
        return [{**job, **result} for job, result in zip(jobs, work(jobs), strict=True)]
    except Exception as error:
        return [_failed(job, error) for job in jobs]


def _failed(job: Job, error: Exception) -> Result:
    return {**job, "error": f"{type(error).__name__}: {error}"}


def _lines(file: Path, names: Sequence[str]) -> list[Result]:
    """What a file holds; a line that was cut short by a crash, or is no result of a job, is left out."""
    found = []
    for text in file.read_bytes().split(b"\n") if file.exists() else []:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if _is_result(line, names):
            found.append(line)
    usual = Counter(frozenset(line) for line in found if "error" not in line).most_common(1)
    return [line for line in found if "error" in line or frozenset(line) == usual[0][0]]


def _is_result(line: Any, names: Sequence[str]) -> bool:
    """Whether a line names a job, and says more of it."""
    if not isinstance(line, dict) or not set(names) < set(line):
        return False
    return all(isinstance(line[name], str | int | float) for name in names)


def _key(job: Job, names: Sequence[str]) -> tuple[Any, ...]:
    """What tells a job from others."""
    return tuple(job[name] for name in names)
