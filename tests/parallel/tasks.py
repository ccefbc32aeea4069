"""In place of fits: what workers do in tests; the module is imported by every worker, so it imports little."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch


class Table:
    """Counts how often it is packed."""

    packed = 0

    def __init__(self) -> None:
        self.values = np.arange(300_000.0)

    def __getstate__(self) -> dict[str, Any]:
        type(self).packed += 1
        return self.__dict__


def total(table: Table, factor: int) -> float:
    return factor * float(table.values.sum())


def about(array: np.ndarray, task: int) -> tuple[float, bool]:
    """A number of an array, and whether it is read from a file."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return float(array[task, 1]), base is not None


def die_once(marks: str, task: int) -> int:
    """Kill the worker the first time that task 1 comes by."""
    mark = Path(marks) / str(task)
    if task == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task


def die(task: int) -> int:
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def threads(task: int) -> tuple[int, int]:
    """torch's threads, and those of joblib inside a fit."""
    return torch.get_num_threads(), joblib.effective_n_jobs(-1)


def fail(task: int) -> None:
    raise KeyError(f"task {task}")


def pid(task: int) -> int:
    return os.getpid()


def nested(task: int) -> list[int]:
    """A fit of many that has several fits of its own: they run in its process, whatever is asked for."""
    from maskrank.parallel.backends import start_fits

    with start_fits(pid, [0, 1], n_jobs=2) as fits:
        return [found - os.getpid() for _, found in fits]
