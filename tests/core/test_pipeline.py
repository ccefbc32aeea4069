"""The course of a fit: which stages run, in which order, and what they hand on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.config import DEFAULT, PAPER, TrainConfig
from maskrank.core.data.features import Features
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.pipeline import DualNetResult, fit_dual_net
from maskrank.core.recorder import STAGES, Callback

D = 20
QUICK = DEFAULT.using(max_batches=48, phase1_batches=16, predictor__cycles=(40,), calibration__n_subsets=32)


class Stages(Callback):
    def __init__(self) -> None:
        self.stages: list[str] = []

    def on_stage(self, stage: str) -> None:
        self.stages.append(stage)


def fitted(
    config: TrainConfig, *, size: int = 2, varying: tuple[int, ...] = tuple(range(D)), callback: Callback | None = None
) -> DualNetResult:
    """Class 1 where feature 3 is positive; the table has a column before each feature that is none."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((200, D), generator=g) * torch.isin(torch.arange(D), torch.tensor(varying))
    y = (x[:, 3] > 0).long()
    names = [f"c{i}" for i in range(2 * D)]
    features = Features(np.arange(1, 2 * D, 2), names, np.isin(np.arange(2 * D), 2 * np.array(varying) + 1))
    return fit_dual_net(
        BinaryTask(),
        Rows(x[:160], y[:160]),
        Rows(x[160:], y[160:]),
        features=features,
        size=size,
        config=config,
        generator=g,
        callbacks=[] if callback is None else [callback],
    )


def test_the_stages_run_in_their_order_and_each_has_its_seconds() -> None:
    callback = Stages()
    result = fitted(QUICK, callback=callback)
    assert callback.stages == list(STAGES)
    assert set(result.history.seconds) == set(STAGES)


def test_the_ranking_is_of_the_tables_columns() -> None:
    result = fitted(QUICK)
    assert result.ranking.selected[0] == "c7"  # feature 3
    assert len(result.ranking.names) == 2 * D
    assert set(result.history.optimal[-1][1]) == set(result.ranking.support.nonzero()[0].tolist())
    assert result.held_out.shape == (40, 1)


def test_measured_scores_add_up_to_what_the_chosen_features_explain() -> None:
    ranking = fitted(QUICK.using(score__enabled=True)).ranking
    assert ranking.measured
    assert ranking.explained == pytest.approx(ranking.scores.sum(), abs=1e-6)
    assert 0 < ranking.explained < ranking.baseline
    assert (ranking.scores[~ranking.support] == 0).all()
    assert (ranking.scores_std[ranking.support] > 0).all()
    varies = np.arange(2 * D) % 2 == 1
    assert ranking.evidence[varies].argmax() == 3
    assert (ranking.evidence[~varies] < ranking.evidence[varies].min()).all()


@pytest.mark.parametrize("config", [QUICK.using(score__enabled=False), PAPER.using(max_batches=40, phase1_batches=16)])
def test_scores_that_are_not_measured_are_the_anchored_derivatives(config: TrainConfig) -> None:
    result = fitted(config)
    assert result.measured is None
    assert not result.ranking.measured
    raw, left_out = result.ranking.raw_scores, ~result.ranking.support & (np.arange(2 * D) % 2 == 1)
    np.testing.assert_allclose(result.ranking.scores, raw - raw[left_out].mean())


def test_where_few_features_vary_each_is_chosen_before_a_constant_one() -> None:
    result = fitted(QUICK, varying=(3, 11), size=3)
    assert {"c7", "c23"} < set(result.ranking.selected)
    assert result.history.facts[0] == f"screening: none, all {D} features are searched"


def test_with_all_features_nothing_is_searched_and_each_is_scored() -> None:
    callback = Stages()
    result = fitted(QUICK, size=D, callback=callback)
    assert callback.stages == ["propose", "score", "predict"]
    ranking = result.ranking
    assert ranking.size == D
    assert ranking.selected[0] == "c7"
    assert ranking.scores.sum() == pytest.approx(ranking.explained)
    assert (ranking.raw_scores[ranking.support] == 0).all()
    assert result.curve.sizes.tolist() == list(range(1, D + 1))
    assert result.curve.enough < D // 4  # one feature matters, and the nets are trained for a moment


def test_sorted_scores_are_the_ranking_and_have_no_feature_left_out_before_a_chosen_one() -> None:
    for size in (1, 6, D):
        ranking = fitted(QUICK, size=size).ranking
        by_score = np.argsort(-ranking.scores, kind="stable")[:size]
        assert by_score.tolist() == ranking.order[:size].tolist()
        assert ranking.scores[ranking.support].min() > 0
        assert ranking.scores[ranking.support].min() < 1e-6 or size == 1


@pytest.mark.parametrize("config", [QUICK, PAPER.using(max_batches=40, phase1_batches=16)], ids=["default", "paper"])
def test_it_is_reproducible_for_a_fixed_seed(config: TrainConfig) -> None:
    one, two = fitted(config), fitted(config)
    assert np.array_equal(one.ranking.raw_scores, two.ranking.raw_scores)
    assert torch.equal(one.held_out, two.held_out)
