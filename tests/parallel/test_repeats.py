"""Fits in parallel processes: the same result for any number of them, one bar, a clean end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.random import SeedSequence

from maskrank import DualNetClassifier, Progress
from maskrank.datasets import make_orange_skin
from maskrank.estimators.stability import Stability
from maskrank.parallel.repeats import Repeats

X, Y, _ = make_orange_skin(120, random_state=0)
SMALL: dict[str, Any] = {"preset": "paper", "operator": (4,), "selector": (4,), "n_subsets": 4, "batch_size": 8}
QUICK: dict[str, Any] = {**SMALL, "max_batches": 16, "random_state": 0}


def same(a: Stability, b: Stability) -> bool:
    return all(np.array_equal(values, b.arrays()[name]) for name, values in a.arrays().items())


def drawn(seed: SeedSequence) -> tuple[np.ndarray, np.ndarray]:
    """In place of a fit: numbers that tell its seed."""
    random = np.random.default_rng(seed)
    return random.permutation(5), random.standard_normal(5)


def test_results_come_in_the_order_of_their_seeds() -> None:
    for n_jobs in (None, 2):
        with Repeats(drawn, 3, seed=7, n_jobs=n_jobs, verbose=0) as repeats:
            ranks, scores = repeats.results()
        for place, seed in enumerate(SeedSequence(7).spawn(3)):
            assert np.array_equal(ranks[place], drawn(seed)[0])
            assert np.array_equal(scores[place], drawn(seed)[1])


def test_the_answer_is_the_same_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    wide = np.random.default_rng(0).normal(size=(120, 1200))  # large enough for joblib to put it into a file
    wide[:, :10] = X
    np.save(tmp_path / "wide.npy", wide)
    mapped = np.load(tmp_path / "wide.npy", mmap_mode="r")
    here = DualNetClassifier(3, n_repeats=2, **QUICK).fit(wide, Y).stability_
    beside = DualNetClassifier(3, n_repeats=2, n_jobs=2, **QUICK)
    assert same(here, beside.fit(wide, Y).stability_)
    assert same(here, beside.fit(mapped, Y).stability_)
    assert not same(here, DualNetClassifier(3, n_repeats=2, **{**QUICK, "random_state": 1}).fit(wide, Y).stability_)

    sparse = scipy.sparse.csr_matrix(np.where(wide > 1.5, wide, 0))
    alone = DualNetClassifier(3, n_repeats=2, **QUICK).fit(sparse, Y).stability_
    assert same(alone, beside.fit(sparse, Y).stability_)


def test_a_fit_that_ends_early_ends_its_repeats_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    model = DualNetClassifier(3, n_repeats=4, n_jobs=2, callbacks=(interrupt,), **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not recwarn.list


def test_one_bar_counts_all_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr("maskrank.terminal.progress_bar.FitsBar.show", lambda self, done: shown.append(done))
    DualNetClassifier(3, n_repeats=3, verbose=1, **QUICK).fit(X, Y)
    assert shown[-1] == 4
    assert shown == sorted(shown)
