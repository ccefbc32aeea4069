from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.features import Features, Pool
from maskrank.core.method.search import subset_importance
from maskrank.core.method.selector import Selector
from maskrank.core.scoring.ranking import Ranking, anchor, rank_features
from maskrank.core.scoring.shapley import Shares

scores = st.lists(st.floats(-5, 5, width=32), min_size=2, max_size=30)


@given(scores, st.data(), st.floats(-100, 100))
def test_anchoring_forgets_what_is_not_identified(raw: list[float], data: st.DataObject, shift: float) -> None:
    support = np.zeros(len(raw), dtype=bool)
    support[: data.draw(st.integers(1, len(raw) - 1))] = True
    values = np.array(raw)
    anchored = anchor(values, support)
    assert abs(anchored[~support].mean()) < 1e-9
    np.testing.assert_allclose(anchor(values + shift, support), anchored, atol=1e-9)
    np.testing.assert_allclose(np.diff(anchored), np.diff(values), atol=1e-9)


@given(scores, st.data())
def test_ranks_are_one_to_s_for_the_chosen_and_s_plus_one_for_the_rest(raw: list[float], data: st.DataObject) -> None:
    support = np.zeros(len(raw), dtype=bool)
    support[data.draw(st.permutations(range(len(raw))))[: data.draw(st.integers(1, len(raw) - 1))]] = True
    values = np.array(raw)
    ranking = Ranking(tuple(f"x{i}" for i in range(len(raw))), support, values, anchor(values, support))
    assert sorted(ranking.ranks[support]) == list(range(1, ranking.size + 1))
    assert (ranking.ranks[~support] == ranking.size + 1).all()
    assert (np.diff(values[ranking.order[: ranking.size]]) <= 0).all()
    assert sorted(ranking.order) == list(range(len(raw)))
    assert set(ranking.selected) == {f"x{i}" for i in np.flatnonzero(support)}


def test_the_score_is_the_importance_at_the_chosen_subset(generator: torch.Generator) -> None:
    selector = Selector(5, hidden=(6,), activation="silu", fan_in=5, generator=generator)
    optimal = torch.tensor([1, 4])
    ranking = rank_features(selector, optimal, Pool(torch.arange(5)), Features.all_of(list("abcde")))
    expected = subset_importance(selector, optimal)
    np.testing.assert_allclose(ranking.raw_scores, expected.numpy(), rtol=1e-6)
    assert ranking.support.tolist() == [False, True, False, False, True]


def test_a_feature_outside_the_pool_scores_as_an_average_one_left_out(generator: torch.Generator) -> None:
    selector = Selector(3, hidden=(6,), activation="silu", fan_in=3, generator=generator)
    ranking = rank_features(selector, torch.tensor([2]), Pool(torch.tensor([0, 2, 5])), Features.all_of(list("abcdef")))
    assert ranking.selected == ("c",)
    known = subset_importance(selector, torch.tensor([1])).numpy()
    np.testing.assert_allclose(ranking.raw_scores[[0, 2, 5]], known, rtol=1e-6)
    np.testing.assert_allclose(ranking.scores[[1, 3, 4]], 0.0, atol=1e-7)


def test_a_ranking_prints_as_a_table() -> None:
    ranking = Ranking(("a", "bb"), np.array([True, False]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert str(ranking).splitlines() == ["rank  feature  score", "   1  a        +1.0000"]


def test_columns_that_do_not_vary_stay_below_those_that_do(generator: torch.Generator) -> None:
    selector = Selector(2, hidden=(6,), activation="silu", fan_in=2, generator=generator)
    varies = np.array([False, True, False, True])
    features = Features(np.array([1, 3]), ["a", "b", "c", "d"], varies)
    every = rank_features(selector, torch.tensor([0]), Pool(torch.arange(2)), features)
    assert every.selected == ("b",)
    assert every.names == ("a", "b", "c", "d")
    assert (every.raw_scores[~varies] < every.raw_scores[varies].min()).all()
    assert every.scores[3] == 0  # the one left out that varies is the zero


def test_measured_scores_order_the_chosen_and_evidence_orders_the_rest() -> None:
    ranking = Ranking(
        names=tuple("abcdef"),
        support=np.array([True, True, False, False, True, False]),
        raw_scores=np.array([9.0, 1.0, 5.0, 6.0, 2.0, 7.0]),
        scores=np.array([-0.1, 0.4, 0.0, 0.0, 0.2, 0.0]),
        scores_std=np.array([0.1, 0.1, 0.0, 0.0, 0.1, 0.0]),
        evidence=np.array([0.0, 0.0, 3.0, -1.0, 0.0, -1.0]),
        explained=0.5,
        baseline=0.7,
    )
    assert [ranking.names[i] for i in ranking.order] == ["b", "e", "a", "c", "f", "d"]  # equals by their raw scores
    assert ranking.measured
    assert ranking.selected == ("b", "e", "a")


def test_without_measured_scores_raw_scores_order_all() -> None:
    raw, evidence = np.array([1.0, 3.0, 2.0, 4.0]), np.array([9.0, 0.0, 8.0, 1.0])
    ranking = Ranking(tuple("abcd"), np.array([True, True, False, False]), raw, raw, evidence=evidence)
    assert not ranking.measured
    assert ranking.order.tolist() == [1, 0, 3, 2]


def with_required(measured: bool) -> Ranking:
    return Ranking(
        names=tuple("abcdef"),
        support=np.array([True, True, False, False, True, True]),
        raw_scores=np.array([9.0, 9.0, 5.0, 6.0, 2.0, 9.0]),
        scores=np.array([0.1, 0.4, 0.0, 0.0, 0.5, 1e-13]),
        scores_std=np.full(6, 0.1) if measured else None,
        explained=1.0 if measured else None,
        required=np.array([True, False, False, False, False, True]),
    )


def test_required_features_stand_first_and_are_not_counted() -> None:
    ranking = with_required(measured=True)
    assert [ranking.names[i] for i in ranking.order] == ["a", "f", "e", "b", "d", "c"]
    assert (ranking.size, ranking.n_required) == (2, 2)
    assert ranking.selected == ("e", "b")
    assert ranking.ranks.tolist() == [0, 2, 3, 3, 1, 0]
    assert ranking.explained_by_required == 0.1
    document = ranking.to_dict()
    assert document["selected"] == ["e", "b"]
    assert document["required"] == ["a", "f"]
    assert document["explained_by_required"] == 0.1
    assert [line.split()[1] for line in str(ranking).splitlines()] == ["feature", "e", "b"]
    assert with_required(measured=False).explained_by_required is None


def test_without_measured_scores_required_features_score_as_the_best(generator: torch.Generator) -> None:
    selector = Selector(3, hidden=(6,), activation="silu", fan_in=3, generator=generator)
    features = Features(np.array([0, 1, 3, 2]), list("abcd"), np.ones(4, dtype=bool), n_required=1)
    ranking = rank_features(selector, torch.tensor([1]), Pool(torch.arange(3)), features)
    assert ranking.selected == ("b",)
    assert ranking.required.tolist() == [False, False, True, False]
    assert ranking.support.tolist() == [False, True, True, False]
    assert ranking.scores[2] == ranking.scores[1]
    assert ranking.ranks.tolist() == [2, 1, 0, 2]


def test_without_a_share_a_feature_that_others_predict_comes_before_one_that_nothing_speaks_for() -> None:
    of_rows = torch.tensor([[0.5, -0.02, -0.03, -0.04]]).expand(10, -1)  # the first has all, nothing is left over
    measured = SimpleNamespace(shares=Shares.of(of_rows), value=SimpleNamespace(baseline=1.0))
    features, pool = Features.all_of(list("abcde")), Pool(torch.arange(5))
    ranking = rank_features(None, torch.arange(4), pool, features, measured=measured, redundant=[3])  # type: ignore[arg-type]
    assert ranking.selected == ("a", "d", "b", "c")
    assert np.argsort(-ranking.scores).tolist() == [0, 3, 1, 2, 4]
