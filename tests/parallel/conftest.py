"""A Dask cluster of two worker processes, started as users do: by the commands of Dask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]


class OneCluster(NamedTuple):
    """The address of a scheduler, and its process."""

    address: str
    scheduler: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the scheduler; a fit whose worker dies twice is given up."""
    with started(tmp_path_factory.mktemp("cluster"), n_workers=2) as found:
        yield found.address


@pytest.fixture
def short_lived(tmp_path: Path) -> Iterator[OneCluster]:
    """A cluster of one worker whose scheduler may be killed."""
    with started(tmp_path, n_workers=1) as found:
        yield found


@contextmanager
def started(folder: Path, *, n_workers: int) -> Iterator[OneCluster]:
    """A cluster, as long as the block goes on."""
    dask = str(Path(sys.executable).parent / "dask")
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),  # tests send functions of their own
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }
    file = folder / "scheduler.json"
    commands = [
        ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        ["worker", "--scheduler-file", str(file), "--nworkers", str(n_workers), "--nthreads", "1", "--no-dashboard"],
    ]
    with (folder / "log").open("w") as log:
        running = [
            subprocess.Popen(
                [dask, *words], stdout=log, stderr=log, cwd=folder, env=surroundings, start_new_session=True
            )
            for words in commands
        ]
        try:
            yield OneCluster(_address(file), running[0])
        finally:
            for process in reversed(running):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with the processes that the workers run in
                process.wait()


def _address(file: Path) -> str:
    for _ in range(600):
        if file.exists() and (text := file.read_text()):
            return str(json.loads(text)["address"])
        time.sleep(0.1)
    raise TimeoutError("no scheduler")
