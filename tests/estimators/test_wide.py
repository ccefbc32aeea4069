"""Whole fits of tables with many columns: what is found, and what is said where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from typer.testing import CliRunner

from maskrank import DualNetClassifier, DualNetRegressor, load
from maskrank.cli import app
from maskrank.datasets import make_xor_pair


@pytest.mark.parametrize("kind", ["array", "memory map", "sparse"])
def test_an_interacting_pair_among_four_hundred_is_found(kind: str, tmp_path: Path) -> None:
    X, y, _ = make_xor_pair(600, 400, random_state=0)
    X = (2 * X - 1).astype(np.float32)
    source: Any = X
    if kind == "memory map":
        np.save(tmp_path / "x.npy", X)
        source = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif kind == "sparse":
        source = csr_matrix(X)
    model = DualNetClassifier(2, random_state=0).fit(source, y)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert model.signal_
    assert model.validation_score_ > 0.9
    assert model.history_.optimal[-1][1] == (0, 1)  # in the numbers of the table
    assert (model.feature_importances_[:2] > 10 * np.abs(model.feature_importances_[2:]).mean()).all()


def test_a_feature_that_goes_with_the_target_through_a_better_one_is_not_chosen() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 120))
    X[:, 7] = 0.9 * X[:, 3] + np.sqrt(1 - 0.81) * X[:, 7]
    y = 2 * X[:, 3] + 0.7 * X[:, 50] + 0.5 * rng.standard_normal(400)
    model = DualNetRegressor(2, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [3, 50]


def test_noise_that_wins_a_screen_by_chance_is_not_chosen() -> None:
    """Among 2,000 columns and 150 rows, many go with the target by chance as clearly as the weaker true one."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 2_000))
    y = X[:, 10] + X[:, 20] + 0.8 * X[:, 30] + 0.5 * rng.standard_normal(150)
    by_chance = np.abs(np.corrcoef(X[:, 31:].T, y)[-1, :-1]).max()
    assert by_chance > 0.25
    model = DualNetRegressor(3, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [10, 20, 30]


def test_the_same_seed_gives_the_same_answer_on_a_wide_table() -> None:
    X, y, _ = make_xor_pair(200, 300, random_state=3)
    first, second = (DualNetClassifier(3, random_state=5, max_batches=120).fit(X, y) for _ in range(2))
    assert np.array_equal(first.raw_scores_, second.raw_scores_)
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_shuffled_labels_are_said_to_hold_no_signal(tmp_path: Path) -> None:
    X, y, _ = make_xor_pair(400, 60, random_state=4)
    table, result, model = tmp_path / "t.csv", tmp_path / "r.json", tmp_path / "m.maskrank"
    for seed, labels in enumerate([np.random.default_rng(0).permutation(y), y]):
        header = ",".join([*(f"x{i}" for i in range(60)), "label"])
        np.savetxt(table, np.column_stack([X, labels]), delimiter=",", header=header, comments="")
        asked = ["rank", str(table), "--target", "label", "--size", "2", "--json", str(result), "--model", str(model)]
        done = CliRunner().invoke(app, [*asked, "-q"])
        assert done.exit_code == 0, done.output
        document = json.loads(result.read_text())
        assert document["signal"] is bool(seed)
        assert document["signal_text"] in " ".join(done.stdout.split())
        assert document["signal_text"].startswith("yes (p = " if seed else "none found (p = ")
        assert load(model).signal_ is bool(seed)
        assert (max(document["scores"].values()) > 0.1) == bool(seed)  # near 0 where there is nothing


def test_preset_paper_has_no_screens() -> None:
    X, y, _ = make_xor_pair(100, 40, random_state=5)
    model = DualNetClassifier(2, preset="paper", max_batches=24, random_state=0).fit(X, y)
    assert not model.config_.proposal.enabled
    assert len(np.unique(model.raw_scores_)) == 40  # all were tried
