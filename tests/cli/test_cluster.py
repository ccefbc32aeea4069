"""``--cluster``: bad addresses end with one line; the table of a run on a cluster is that of one process."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app
from maskrank.cli.voice import Voice
from maskrank.datasets import make_orange_skin
from maskrank.parallel.fits import ClusterLostError, Fits


@pytest.fixture
def table(tmp_path: Path) -> str:
    X, y, _ = make_orange_skin(80, random_state=0)
    path = tmp_path / "skin.csv"
    pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(y=y).to_csv(path, index=False)
    return str(path)


def fail(*words: str) -> str:
    """The one line of a command that ends with exit code 2."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    return line


def test_a_scheduler_that_does_not_answer_is_named_within_seconds(table: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"  # bound, but nobody listens
        for command in (
            ["rank", table, "--repeats", "2"],
            ["compare", table],
            ["sweep", table],
            ["study", "synthetic"],
        ):
            started = time.monotonic()
            line = fail(*command, "--cluster", address)
            assert line == f"maskrank: no Dask scheduler answers at {address}: is `dask scheduler` running there?"
            assert time.monotonic() - started < 10


def test_an_address_may_be_one_of_ipv6(table: str) -> None:
    line = fail("compare", table, "--cluster", "tcp://[::1]:1")
    assert "no Dask scheduler answers at tcp://[::1]:1" in line


def test_something_else_than_a_scheduler_is_named_within_seconds(table: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert "no Dask scheduler answers" in fail("compare", table, "--cluster", address)


def test_a_scheduler_without_workers_is_waited_for_aloud(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    shown: list[str] = []
    busy = Voice.busy
    monkeypatch.setattr(Voice, "busy", lambda voice, what: shown.append(what) or busy(voice, what))
    monkeypatch.setattr("maskrank.parallel.cluster._SOON", 0.1)
    monkeypatch.setattr("maskrank.parallel.cluster._STARTING", 0.3)
    with LocalCluster(n_workers=0, dashboard_address=None) as empty:
        done = CliRunner().invoke(app, ["compare", table, "--cluster", empty.scheduler_address])
    assert (done.exit_code, shown) == (2, ["cluster"])  # a bar, on a terminal
    waiting, ended = done.stderr.splitlines()
    assert "has no workers yet: waiting up to" in waiting
    assert "`dask worker tcp://127.0.0.1" in ended


@pytest.mark.parametrize(
    "address", ["local", "local:0", "somewhere", "tcp://host", "tcp://host:99999", "tcp://::1:8786", "http://host:8786"]
)
def test_an_address_must_be_one(table: str, address: str) -> None:
    assert f"cluster {address}: tcp://HOST:PORT of a Dask scheduler" in fail("compare", table, "--cluster", address)


def test_without_dask_the_extra_is_named(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert fail("compare", table, "--cluster", "local:2").endswith('pip install "maskrank[cluster]"')


def test_a_single_fit_is_told_that_it_needs_no_cluster(table: str) -> None:
    done = CliRunner().invoke(app, ["rank", table, "--target", "nothing", "--cluster", "local:1"])
    assert "--repeats makes many fits" in done.stderr.splitlines()[0]


class Lost(Fits):
    """Refits of which one is done, and then the workers are gone."""

    workers = 1

    def _arrived(self, wait: bool) -> list[tuple[int, Any]]:
        if len(self._open) == 3:
            return [(0, (np.arange(1.0, 11.0), np.arange(10.0, 0.0, -1.0)))]
        raise ClusterLostError("the Dask scheduler does not answer any more")


@pytest.mark.usefixtures("few_batches")
def test_what_is_finished_is_given_when_the_cluster_is_lost(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maskrank.parallel.repeats.start_fits", lambda work, tasks, n_jobs: Lost(tasks))
    words = ["rank", table, "--target", "y", "--size", "4", "--repeats", "3", "--jobs", "1", "-q"]
    done = CliRunner().invoke(app, [*words, "--json", str(tmp_path / "r.json")])
    assert done.exit_code == 2
    assert done.stderr == "maskrank: the Dask scheduler does not answer any more\n"
    assert "the fit and 1 of 3 refits are done" in done.stdout
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["complete"], document["size"], document["stability"]["repeats"]) == (False, 4, 1)
