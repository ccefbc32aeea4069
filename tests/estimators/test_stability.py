from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from maskrank import DualNetClassifier, DualNetRegressor, Ranking, load
from maskrank.datasets import make_nonlinear_regression, make_orange_skin
from maskrank.estimators.fitting import Part
from maskrank.estimators.stability import Stability, draw_rows, rank_subsample
from maskrank.terminal.ranking import show_ranking, show_stability

X, Y, _ = make_orange_skin(120, random_state=0)
SMALL: dict[str, Any] = {"preset": "paper", "operator": (4,), "selector": (4,), "n_subsets": 4, "batch_size": 8}
QUICK: dict[str, Any] = {**SMALL, "max_batches": 16, "random_state": 0}


def same(a: Stability, b: Stability) -> bool:
    return all(np.array_equal(values, b.arrays()[name]) for name, values in a.arrays().items())


def test_intervals_frequency_and_consensus_of_known_repeats() -> None:
    ranks = np.array([[1, 2, 3, 3]] * 6 + [[2, 3, 1, 3]] * 3 + [[1, 3, 3, 2]])
    scores = np.linspace(0, 1, 40).reshape(10, 4)
    stability = Stability.of(("a", "b", "c", "d"), ranks, scores, size=2)
    assert (stability.repeats, stability.size) == (10, 2)
    assert stability.frequency.tolist() == [1.0, 0.6, 0.3, 0.1]
    assert stability.rank_low.tolist() == [1, 2, 1, 3]  # a feature left out has rank s + 1
    assert stability.rank_median.tolist() == [1, 2, 3, 3]
    assert stability.rank_high.tolist() == [2, 3, 3, 3]
    assert stability.score_median == pytest.approx(np.median(scores, axis=0))
    assert (stability.score_low < stability.score_median).all()
    assert (stability.score_high > stability.score_median).all()
    assert stability.consensus == ("a", "b")


def test_the_consensus_goes_by_frequency_then_rank_then_score() -> None:
    ranks = np.array([[3, 2, 1, 4, 4], [3, 1, 2, 4, 4]])
    scores = np.array([[1.0, 0.2, 0.4, 0.1, 0.3]] * 2)
    assert Stability.of("abcde", ranks, scores, size=3).order.tolist() == [2, 1, 0, 4, 3]
    assert Stability.of("abcde", ranks[:1], scores[:1], size=3).order.tolist() == [2, 1, 0, 4, 3]


def test_a_table_and_json_by_name() -> None:
    ranks = np.array([[1, 2, 3], [2, 3, 1]])
    stability = Stability.of(("a", "b", "c"), ranks, np.arange(6.0).reshape(2, 3), size=2)
    document = stability.to_dict()
    assert document["repeats"] == 2
    assert document["frequency"] == {"a": 1.0, "b": 0.5, "c": 0.5}
    assert document["rank"] == {"a": [1, 1, 2], "b": [2, 2, 3], "c": [1, 1, 3]}
    assert document["score"]["a"] == pytest.approx([0.3, 1.5, 2.7])
    assert document["consensus"] == ["a", "c"]
    frame = stability.to_frame()
    assert frame["feature"].tolist() == ["a", "c", "b"]
    assert frame["rank_high"].tolist() == [2, 3, 3]
    assert type(stability.to_frame("polars")).__module__.startswith("polars")


def test_where_all_features_are_selected_each_is_chosen_every_time() -> None:
    ranks = np.array([[1, 2, 3], [2, 1, 3]])
    stability = Stability.of(("a", "b", "c"), ranks, np.ones((2, 3)), size=3)
    assert (stability.size, stability.frequency.tolist()) == (3, [1.0, 1.0, 1.0])
    assert stability.consensus == ("a", "b", "c")
    screen = io.StringIO()
    show_stability(Console(file=screen, width=80), stability)
    assert "left out" not in screen.getvalue()


@pytest.mark.parametrize("size", ["auto", "all"])
def test_refits_select_as_many_features_as_the_fit(size: str) -> None:
    model = DualNetClassifier(size, max_batches=16, n_repeats=2, random_state=0).fit(X[:, :4], Y)
    assert model.stability_.size == model.n_features_ == model.support_.sum()
    assert model.stability_.frequency.sum() == pytest.approx(model.n_features_)
    assert len(model.stability_.consensus) == model.n_features_
    assert model.stability_.rank_high.max() <= min(model.n_features_ + 1, 4)


def test_the_screen_keeps_to_eighty_columns() -> None:
    names = tuple(f"{i} is the name of a feature with far too many letters" for i in range(200))
    scores = np.linspace(1000, -1000, 200)
    ranking = Ranking(names, scores > 0, scores, scores)
    screen = io.StringIO()
    ranks = np.stack([ranking.ranks] * 1000)
    stability = Stability.of(names, ranks, np.stack([scores] * 1000), size=ranking.size)
    show_ranking(Console(file=screen, width=80), ranking, stability)
    show_stability(Console(file=screen, width=80), stability)
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 1 + 40 + 1 + 7  # head, rows, how many more, consensus of ten long names, and note
    assert lines[1].split()[-3:-1] == ["100%", "1"]


def test_a_resample_keeps_the_classes_and_no_row_twice() -> None:
    labels = np.repeat([0, 1, 2], [100, 10, 2])
    rows = draw_rows(112, labels, np.random.default_rng(0))
    assert np.bincount(labels[rows]).tolist() == [80, 8, 2]
    assert len(np.unique(rows)) == len(rows)
    assert len(draw_rows(50, None, np.random.default_rng(0))) == 40
    assert not np.array_equal(rows, draw_rows(112, labels, np.random.default_rng(1)))


def test_the_fit_itself_does_not_change() -> None:
    plain = DualNetClassifier(3, **QUICK).fit(X, Y)
    repeated = DualNetClassifier(3, n_repeats=3, **QUICK).fit(X, Y)
    assert plain.stability_ is None
    assert np.array_equal(plain.raw_scores_, repeated.raw_scores_)
    assert np.array_equal(plain.predict_proba(X), repeated.predict_proba(X))
    assert repeated.stability_.frequency.sum() == pytest.approx(3)
    assert repeated.stability_.names == repeated.result_.names


def test_repeats_of_a_regression_keep_validation_rows_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = make_nonlinear_regression(100, random_state=0)
    seen: list[Part | None] = []
    monkeypatch.setattr(
        "maskrank.estimators.base.rank_subsample", lambda *given: (seen.append(given[2]), rank_subsample(*given))[1]
    )
    model = DualNetRegressor(4, n_repeats=2, **QUICK).fit(X[:80], y[:80], X_val=X[80:], y_val=y[80:])
    assert model.stability_.frequency.sum() == pytest.approx(4)
    assert [len(own.rows) for own in seen if own is not None] == [20, 20]


def test_users_callbacks_hear_of_the_fit_alone() -> None:
    beats: list[int] = []
    DualNetClassifier(3, n_repeats=2, callbacks=(lambda progress: beats.append(progress.batch),), **QUICK).fit(X, Y)
    repeated = len(beats)
    DualNetClassifier(3, callbacks=(lambda progress: beats.append(progress.batch),), **QUICK).fit(X, Y)
    assert len(beats) == 2 * repeated


def test_it_is_saved_and_pickled_with_the_model(tmp_path: Path) -> None:
    frame = pd.DataFrame(X).add_prefix("f")
    model = DualNetClassifier(3, n_repeats=2, n_jobs=1, **QUICK).fit(frame, Y)
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert same(model.stability_, again.stability_)
        assert again.stability_.to_dict() == model.stability_.to_dict()
        assert again.get_params() == model.get_params()
    DualNetClassifier(3, **QUICK).fit(frame, Y).save(tmp_path / "plain")
    assert load(tmp_path / "plain").stability_ is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_repeats": -1}, "n_repeats=-1 must be 0 for none, or a whole number from 2 on"),
        ({"n_repeats": 1}, "n_repeats=1 must be .*: one repeat shows no spread"),
        ({"n_repeats": 2.5}, "n_repeats=2.5 must be"),
        ({"n_repeats": None}, "n_repeats=None must be"),
        ({"n_repeats": True}, "n_repeats=True must be"),
        ({"n_repeats": 2, "n_jobs": 0}, "n_jobs=0 must be None, a whole number from 1 on, or -1"),
        ({"n_jobs": "all"}, "n_jobs='all' must be"),
    ],
)
def test_numbers_that_make_no_sense_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(3, **parameters, **QUICK).fit(X, Y)
