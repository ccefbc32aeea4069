"""What the benchmark of the scores draws, counts and writes down."""

from __future__ import annotations

import importlib
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from maskrank import DualNetClassifier

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("scores")


@pytest.fixture
def tools(scores: ModuleType) -> ModuleType:
    return importlib.import_module("score_tools")


def test_fresh_rows_have_their_columns_in_the_same_order(tools):
    options = tools.Options(tag=3)
    some, fresh = (tools.draw(options, "orange skin", 1, rows=200, d=10, fresh=fresh) for fresh in (False, True))
    assert some.relevant.tolist() == fresh.relevant.tolist() != [0, 1, 2, 3]
    for X, y, relevant in (some, fresh):
        squares = np.square(X[:, relevant]).sum(axis=1)[y == 1]
        assert squares.min() >= 9
        assert squares.max() <= 16
    assert not np.isin(some.X, fresh.X).any()


def test_each_tag_has_draws_and_seeds_of_its_own(tools):
    one, other = tools.Options(tag=0), tools.Options(tag=1)
    assert one.random_state(5) == tools.Options(tag=0).random_state(5) != other.random_state(5)
    first, second = (tools.draw(options, "xor", 0, rows=50, d=10).X for options in (one, other))
    assert not np.isin(first, second).any()


@pytest.mark.parametrize(
    ("ranks", "relevant", "right"),
    [
        ([1, 2, 3, 5, 5], [0, 1], True),
        ([1, 3, 2, 5, 5], [0, 1], False),
        ([1, 2, 3, 5, 5], [0, 4], True),  # what was not chosen is another matter
        ([1, 2, 3, 5, 5], [3, 4], True),
    ],
)
def test_relevant_features_are_in_order_above_fillers(scores, ranks, relevant, right):
    ranks = np.array(ranks)
    assert scores.score_rankings.in_order(ranks, ranks < 5, relevant) is right


def test_fillers_are_compared_with_the_weakest_relevant_feature(scores):
    ratio, chosen = scores.score_rankings.filler_ratio, np.array([True, True, True, False])
    assert ratio(np.array([0.5, 0.2, 0.01, 9.0]), chosen, [0, 1]) == pytest.approx(0.05)
    assert ratio(np.array([0.5, 0.0, 0.01, 9.0]), chosen, [0, 1]) == np.inf
    assert ratio(np.array([0.5, 0.2, 0.1, 9.0]), chosen, [0, 1, 2]) == 0


def test_the_command_in_a_results_file_repeats_the_run(scores):
    for name in scores.SECTIONS:
        given = scores.parse([name, "--tag", "7", "--out", "results.md"])
        words = shlex.split(scores.command_of(given))
        again = vars(scores.parse(words[2:]))
        assert again == {**vars(given), "out": None}


def test_a_verdict_says_what_was_wanted(tools):
    shown = str(tools.Section(["a"], [["1"]], [tools.Verdict("x 1", ">= 2", False), tools.Verdict("y 3")]))
    assert shown.endswith("Verdict: x 1 (wanted >= 2: NOT MET); y 3.")


def test_single_rows_and_fresh_rows_have_the_values_of_the_value_function(scores, tools):
    X, y, _ = tools.draw(tools.Options(), "xor pair", 0, rows=100, d=6)
    model = DualNetClassifier(3, max_batches=32, random_state=0)
    model, measured = tools.value_function_of(model, X, y)
    value, rows = measured.value, torch.tensor([3, 41, 3, 99])
    masks = torch.tensor([[1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]]).bool()
    found = scores.score_values.RowsOfValue(value).saved(rows, masks)
    for i, row in enumerate(rows):
        expected = value(masks[i].expand(1, value.n_rows, 3))[0, row]
        torch.testing.assert_close(found[i], expected, rtol=1e-4, atol=1e-6)
    fresh = tools.on_fresh_rows(model, value, X, y)
    assert fresh.n_rows == len(value.inputs) * len(X)
    every = fresh.predictor.nets.nets.inputs(torch.from_numpy(model._encoding.scaled(X[:, model.support_])).float())
    torch.testing.assert_close(fresh.inputs[0], every)
    known = (fresh.inputs[0].unsqueeze(1) - value.inputs.flatten(0, 1)).abs().sum(dim=2).min(dim=0).values
    assert known.max() < 1e-4, "rows are scaled as in the fit"
