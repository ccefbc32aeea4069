"""Many fits: the same results on every backend, data that travels once, workers that die."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import torch

from maskrank import DualNetClassifier
from maskrank.core.proposals.top_list import Runner, Workers, in_turn
from maskrank.core.proposals.wide_pairs import strongest_pairs
from maskrank.datasets import make_orange_skin
from maskrank.parallel import on_dask
from maskrank.parallel.backends import start_fits
from maskrank.parallel.blocks import block_runner
from maskrank.parallel.cluster import on_cluster
from maskrank.parallel.fits import ClusterLostError, WorkerDiedError
from maskrank.parallel.payload import Payload, versions
from tests.parallel import tasks
from tests.parallel.conftest import OneCluster

X, Y, _ = make_orange_skin(120, random_state=0)
QUICK: dict[str, Any] = {
    "preset": "paper",
    "operator": (4,),
    "selector": (4,),
    "n_subsets": 4,
    "batch_size": 8,
    "max_batches": 16,
    "random_state": 0,
}


def repeated(n_jobs: int = 1) -> dict[str, np.ndarray]:
    model = DualNetClassifier(3, n_repeats=3, n_jobs=n_jobs, **QUICK).fit(X, Y)
    return model.stability_.arrays()


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(values, b[name]) for name, values in a.items())


def finished(work: Callable[[Any], Any], numbers: list[int], n_jobs: int = 1) -> list[Any]:
    with start_fits(work, numbers, n_jobs=n_jobs) as fits:
        found = dict(fits)
    return [found[place] for place in range(len(numbers))]


def pairs(run_blocks: Runner) -> list[list[int]]:
    """The strongest pairs of 2,500 columns, in six blocks."""
    generator = torch.Generator().manual_seed(0)
    columns = torch.randn(2500, 30, generator=generator).sign() / 30**0.5
    found = strongest_pairs(
        columns,
        torch.arange(2500),
        torch.nn.functional.normalize(columns[7] * columns[2300], dim=0).unsqueeze(1),
        n_pairs=20,
        min_strength=0.0,
        max_correlation=0.9,
        workers=Workers(run_blocks),
    )
    assert found[0].tolist() == [7, 2300]
    return [list(pair) for pair in found.tolist()]


def check(work_of: Callable[[], dict[str, np.ndarray]], n_jobs: int = 1) -> None:
    """What holds on every backend of several processes."""
    assert same(work_of(), repeated())
    tasks.Table.packed = 0
    table = tasks.Table()
    assert finished(partial(tasks.total, table), list(range(6)), n_jobs) == [
        tasks.total(table, factor) for factor in range(6)
    ]
    assert tasks.Table.packed == 1
    assert finished(tasks.threads, [0, 1], n_jobs) == [(1, 1), (1, 1)]
    assert finished(tasks.nested, [0, 1], n_jobs) == [[0, 0], [0, 0]]
    assert pairs(block_runner(2)) == pairs(in_turn)
    with pytest.raises(KeyError, match="task 0"):
        finished(tasks.fail, [0, 0, 0], n_jobs)


def check_death(folder: Path) -> None:
    """A worker that is killed with -9 is replaced, and its fit is done again."""
    assert finished(partial(tasks.die_once, str(folder)), [0, 1, 2, 3]) == [0, 10, 20, 30]


def check_files(folder: Path, n_jobs: int) -> None:
    """An array in a file is not sent."""
    np.save(folder / "table.npy", np.arange(40_000.0).reshape(10_000, 4))
    mapped = np.load(folder / "table.npy", mmap_mode="r")
    for array in (mapped, np.asarray(mapped)[5:], np.asfortranarray(mapped)):
        assert finished(partial(tasks.about, array), [2, 3], n_jobs) == [tasks.about(array, 2), tasks.about(array, 3)]


def test_processes_of_this_machine(tmp_path: Path) -> None:
    check(partial(repeated, 2), n_jobs=2)
    check_files(tmp_path, n_jobs=2)
    with joblib.parallel_config(backend="threading", n_jobs=2):  # processes in place of threads
        assert os.getpid() not in finished(tasks.pid, [0, 1], n_jobs=2)
    with joblib.parallel_config(backend="sequential"):
        assert finished(tasks.pid, [0, 1], n_jobs=2) == [os.getpid()] * 2


def test_a_fit_that_kills_every_worker_is_given_up_and_the_others_are_done() -> None:
    one, two = finished(tasks.die, [1, 2], n_jobs=2)
    assert two == 2
    assert isinstance(one, WorkerDiedError)
    assert "out of memory?" in str(one)


def test_a_dask_cluster(cluster: str, tmp_path: Path) -> None:
    with on_cluster(cluster) as warnings:
        assert not warnings
        check(repeated)
        check_files(tmp_path, n_jobs=1)
        check_death(tmp_path)
        zero, one, two = finished(tasks.die, [0, 1, 2])
        assert (zero, two) == (0, 2)
        assert isinstance(one, WorkerDiedError)


def test_a_scheduler_that_dies_is_named(short_lived: OneCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskrank.parallel.cluster._PATIENCE", 1)  # seconds for which it is looked for
    lost = rf"^the Dask scheduler( at {short_lived.address})? does not answer any more$"
    with on_cluster(short_lived.address):
        with start_fits(time.sleep, [0, 600], n_jobs=1) as fits:
            assert next(iter(fits)) == (0, None)
            short_lived.scheduler.kill()
            with pytest.raises(ClusterLostError, match=lost):
                next(iter(fits))
        with pytest.raises(ClusterLostError, match=lost):
            start_fits(time.sleep, [0], n_jobs=1)


def test_workers_with_another_version_are_refused(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("maskrank", "torch"):
        with monkeypatch.context() as patch:
            patch.setattr(on_dask, "versions", lambda name=name: {**versions(), name: "99.1"})
            theirs = version(name).partition("+")[0]
            with pytest.raises(ImportError, match=rf"worker tcp://\S+ has {name} {theirs}, and 99\.1 is needed"):
                on_cluster(cluster).__enter__()
    monkeypatch.setattr(on_dask, "PACKAGES", ("no-such-package",))
    monkeypatch.setattr(on_dask, "versions", lambda: {"no-such-package": "1.0"})
    with pytest.raises(ImportError, match=r"worker tcp://\S+ has no no-such-package, and 1\.0 is needed"):
        on_cluster(cluster).__enter__()


def test_a_worker_that_joins_late_with_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = Payload(abs, is_shared=lambda path: True)
    assert payload.work(-2) == 2
    late = Payload(abs, is_shared=lambda path: True)
    monkeypatch.setattr("maskrank.parallel.payload.version", lambda name: "0.0.1")
    with pytest.raises(ImportError, match=r"has maskrank 0\.0\.1, and \S+ is needed"):
        _ = late.work


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray
    from ray.util.joblib import register_ray

    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(root), str(root / "src"))))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray"):
            check(repeated)
            check_death(tmp_path)
    finally:
        ray.shutdown()
