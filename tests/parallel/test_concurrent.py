"""Fits at the same time, in threads and in processes, are those of one after the other."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from maskrank import DualNetClassifier

SEEDS = range(4)


def fitted(seed: int) -> list[bytes]:
    """All that a fit and its predictions give, to the last bit."""
    X = np.random.default_rng(seed).standard_normal((80, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = DualNetClassifier(2, max_batches=24, random_state=seed).fit(X, y)
    found = model.ranking_, model.feature_importances_, model.raw_scores_, model.predict_proba(X)
    return [np.ascontiguousarray(values).tobytes() for values in found]


@pytest.fixture(scope="module")
def serial() -> list[list[bytes]]:
    return [fitted(seed) for seed in SEEDS]


def in_executor(executor: Executor) -> Iterator[list[bytes]]:
    with executor:
        return iter(list(executor.map(fitted, SEEDS)))


def forked() -> Iterator[list[bytes]]:
    """Processes of a server that has imported all that they need, once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return in_executor(ProcessPoolExecutor(4, context))


WAYS: dict[str, Callable[[], Iterator[list[bytes]]]] = {
    "threads": lambda: in_executor(ThreadPoolExecutor(4)),
    "processes": forked,
    "loky": lambda: iter(joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(fitted)(seed) for seed in SEEDS)),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a server of forks")
@pytest.mark.parametrize("way", WAYS)
def test_four_fits_at_once_are_those_of_one_after_the_other(serial: list[list[bytes]], way: str) -> None:
    assert list(WAYS[way]()) == serial
