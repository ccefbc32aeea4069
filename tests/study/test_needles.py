from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from typer.testing import CliRunner

from maskrank.cli import app
from maskrank.study import needles
from maskrank.study.metrics import auprc, best_p
from maskrank.study.needles import DAG, PROBLEMS, fold_of, run_needles
from maskrank.study.runner import one_by_one, run_jobs


def test_best_p_counts_relevant_ones_among_the_p_best() -> None:
    assert best_p(np.array([3.0, 1.0, 2.0, 0.0]), np.array([0, 2])) == 1.0
    assert best_p(np.array([3.0, 1.0, 2.0, 0.0]), np.array([1, 3])) == 0.0
    assert best_p(np.array([3.0, 1.0, 2.0, 0.0]), np.array([1, 3]), times=2) == 1.0
    assert auprc(np.array([3.0, 1.0, 2.0, 0.0]), np.array([0, 1])) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_fold_permutes_the_columns_and_names_the_relevant_ones(problem: str) -> None:
    X, y, relevant = PROBLEMS[problem](1000, 16, random_state=np.random.default_rng([3, 16]))
    folds = [fold_of(problem, 16, fold, 3) for fold in range(6)]
    for fold in folds:
        assert fold.X.min() >= -1
        assert fold.X.max() <= 1
        assert len(fold.X) in (833, 834)
    shown = {tuple(column) for column in np.round(2 * X[:, relevant].T - 1, 9)[:, 167:]}
    assert {tuple(column) for column in np.round(folds[0].X[:, folds[0].relevant].T, 9)} == shown
    assert len({tuple(fold.relevant) for fold in folds}) > 1
    assert np.array_equal(folds[0].y, y[167:])


def test_the_graph_keeps_its_target_predictable_in_every_fold() -> None:
    folds = [fold_of(DAG, 2000, fold, 3) for fold in (0, 1)]
    assert all(len(fold.relevant) >= 20 for fold in folds)
    first, second = (fold.X[-660:, fold.relevant] for fold in folds)  # rows that both learn from
    assert {tuple(column) for column in first.T} == {tuple(column) for column in second.T}


def test_methods_that_predict_are_judged_by_their_predictions() -> None:
    forest, mrmr = (
        needles.fit_one({"problem": "RING", "d": 4, "fold": 0, "method": method, "seed": 3})
        for method in ("rf", "mrmr")
    )
    assert forest["auc"] > 0.9
    assert mrmr["auc"] is None
    assert forest["best_2p"] == mrmr["best_2p"] == 1.0  # four of four


def quick(out: Path, **changes: Any) -> Any:
    return run_needles(out, **{"methods": ["rfe", "mrmr"], "widths": [4, 8], "folds": 1, "quiet": True, **changes})


def test_a_run_writes_its_tables_and_goes_on_where_it_was(tmp_path: Path) -> None:
    fits, failed = quick(tmp_path)
    assert len(fits) == 2 * (3 + 4)  # RING+XOR+SUM needs six features
    assert not failed
    assert set(fits.columns) >= {"problem", "d", "fold", "method", "best_p", "best_2p", "auprc", "auc", "seconds"}
    text = (tmp_path / "needles.md").read_text()
    assert "TreeSHAP, published" in text
    assert "graph" not in text  # it has 2,000 features
    with pytest.raises(ValueError, match="--resume continues it"):
        quick(tmp_path)
    with mock.patch.object(needles, "fit_one", side_effect=AssertionError("done again")):
        again, failed = quick(tmp_path, resume=True)
    assert again.equals(fits)
    assert not failed


def test_a_line_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    fits, _ = quick(tmp_path, methods=["mrmr"])
    file = tmp_path / "fits.jsonl"
    file.write_text(file.read_text()[:-20] + "\n")
    again, _ = quick(tmp_path, methods=["mrmr"], resume=True)
    assert again.drop(columns="seconds").equals(fits.drop(columns="seconds"))


def _halves(job: dict[str, Any]) -> dict[str, Any]:
    if job["x"] == 1:
        raise RuntimeError("no luck")
    return {"half": job["x"] / 2}


def test_a_failed_job_is_reported_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    jobs = [{"x": x} for x in range(4)]
    finished, failed = run_jobs(jobs, one_by_one(_halves), tmp_path, quiet=True)
    assert [line["half"] for line in finished] == [0.0, 1.0, 1.5]
    assert [line["error"] for line in failed] == ["RuntimeError: no luck"]
    assert len([json.loads(line) for line in (tmp_path / "fits.jsonl").read_text().splitlines()]) == 4
    _, failed = run_jobs(jobs, one_by_one(_halves), tmp_path, resume=True, quiet=True)
    assert len(failed) == 1  # tried again


def test_jobs_that_belong_together_are_done_in_one_call(tmp_path: Path) -> None:
    calls = []

    def work(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        calls.append([job["x"] for job in jobs])
        return [{"half": job["x"] / 2} for job in jobs]

    jobs = [{"x": x} for x in range(5)]
    run_jobs(jobs[:2], work, tmp_path, together=lambda job: job["x"] % 2, quiet=True)
    finished, _ = run_jobs(jobs, work, tmp_path, together=lambda job: job["x"] % 2, resume=True, quiet=True)
    assert calls == [[0], [1], [2, 4], [3]]
    assert [line["half"] for line in finished] == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_the_command_line_runs_a_slice(tmp_path: Path) -> None:
    out = tmp_path / "needles"
    asked = ["study", "needles", "--out", str(out), "--methods", "mrmr", "--widths", "4", "--folds", "1", "-q"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert "| mrmr" in result.stdout
    assert (out / "needles.csv").exists()
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 2
    assert "earlier run" in result.stderr
    result = CliRunner().invoke(app, [*asked[:3], str(out / "needles.csv"), *asked[4:]])
    assert result.exit_code == 2
    assert "needles.csv can't hold results: a file is in its place; give another --out" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["haystack"], "study 'haystack' is not known"),
        (["needles", "--methods", "magic"], "--methods magic: there are dualnet, rf"),
        (["needles", "--data", "XOR,HAY"], "--data XOR,HAY: there are RING, XOR"),
        (["needles", "--widths", "four"], "--widths four: whole numbers"),
        (["needles", "--widths", "1"], "at least 2 features"),
    ],
)
def test_bad_requests_are_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["study", *arguments, "--out", str(tmp_path / "x")])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_the_dual_net_finds_the_needles_of_a_quick_slice() -> None:
    for problem, d in (("XOR", 256), ("RING+XOR", 64)):
        result = needles.fit_one({"problem": problem, "d": d, "fold": 0, "method": "dualnet", "seed": 1})
        assert result["best_p"] == 1.0, problem
