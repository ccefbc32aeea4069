"""The presets hold the numbers of the paper's supplement."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from maskrank.core.config import DEFAULT, PAPER, PAPER_TABLES, TrainConfig, preset


def test_the_paper_preset() -> None:
    assert PAPER.activation == "sigmoid"
    assert (PAPER.weight_best, PAPER.weight_optimal, PAPER.exploit_share) == (10, 5, 0.5)
    assert (PAPER.selector_every, PAPER.search_rounds, PAPER.search_start) == (8, 5, "half")
    assert (PAPER.operator_optimizer, PAPER.operator_rate, PAPER.selector_rate) == ("nadam", 1e-3, 1e-3)
    assert not PAPER.centre_targets
    assert PAPER.calibration.n_subsets == PAPER.predictor.n_recipes == 0


@pytest.mark.parametrize(
    ("name", "operator", "selector", "e1", "masks", "s_p"),
    [  # supplement A, Tables 1 and 2
        ("xor", (60, 30, 20), (100, 50, 10), 6000, 32, 2),
        ("regression", (100, 50, 25), (100, 50, 10), 6000, 32, 2),
        ("orange_skin", (60, 30, 20), (100, 50, 10), 6000, 32, 2),
        ("mnist", (500, 250, 100), (300, 200, 100), 10000, 32, 5),
        ("glass", (50, 25, 10), (500, 250, 100), 10000, 128, 2),
        ("vowel", (50, 25, 10), (500, 250, 100), 6000, 128, 2),
        ("tox171", (100, 50, 20), (500, 250, 100), 1500, 128, 5),
        ("yale", (), (500, 250, 100), 4500, 128, 5),
        ("enhancer", (300, 200, 50), (500, 250, 100), 10000, 64, 5),
        ("rna_seq", (1000, 500, 200), (500, 250, 100), 8000, 32, 5),
    ],
)
def test_the_tables_of_the_supplement(
    name: str, operator: tuple[int, ...], selector: tuple[int, ...], e1: int, masks: int, s_p: int
) -> None:
    config = preset(f"paper:{name}")
    assert config == PAPER_TABLES[name]
    assert (config.operator_hidden, config.selector_hidden) == (operator, selector)
    assert (config.phase1_batches, config.n_subsets, config.n_perturbed) == (e1, masks, s_p)


def test_yale_stops_on_the_validation_accuracy() -> None:
    assert preset("paper:yale").stop_on == "error"


def test_a_smaller_budget_leaves_time_for_the_search() -> None:
    assert preset("default", max_batches=90).phase1_batches == 60
    assert preset("default").phase1_batches == DEFAULT.phase1_batches
    assert preset("default", max_batches=90, phase1_batches=8).phase1_batches == 8
    assert preset("default", max_batches=90).predictor.cycles == (80, 10)
    assert preset("default", max_batches=400).predictor.cycles == (80, 120, 200)


def test_wide_tables_get_a_longer_phase_one_without_screens() -> None:
    narrow, wide = (preset("default", shape=shape, proposal__enabled=False) for shape in ((5, 10), (20, 5_000)))
    assert narrow == DEFAULT.using(proposal__enabled=False)
    assert wide.phase1_batches * wide.n_subsets * 20 / 5_000 == pytest.approx(64, rel=0.01)  # draws of a feature
    assert wide.calibration.n_subsets == 2 * DEFAULT.calibration.n_subsets
    assert wide.calibration.steps == 2 * DEFAULT.calibration.steps
    assert preset("default", shape=(20, 10**6), proposal__enabled=False).phase1_batches == 600
    assert preset("default", shape=(20, 5_000), proposal__enabled=False, phase1_batches=8).phase1_batches == 8
    assert preset("paper", shape=(20, 5_000)) == PAPER
    assert preset("default", shape=(20, 5_000)) == DEFAULT


def test_wide_nets_learn_at_smaller_rates_unless_asked_otherwise() -> None:
    wide = preset("default", operator_hidden=(1_024, 64), selector_hidden=(256,))
    assert wide.operator_rate == pytest.approx(DEFAULT.operator_rate / 4)
    assert wide.selector_rate == pytest.approx(DEFAULT.selector_rate / 2)
    assert preset("default", operator_hidden=(16,)).operator_rate == DEFAULT.operator_rate
    assert preset("default", operator_hidden=(1_024,), operator_rate=0.01).operator_rate == 0.01
    assert preset("paper", operator_hidden=(1_024,)).operator_rate == PAPER.operator_rate


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_batches": 0}, "max_batches=0"),
        ({"n_subsets": 2}, "n_subsets=2"),
        ({"batch_size": 1.5}, "batch_size=1.5"),
        ({"exploit_share": 0.0}, "exploit_share=0.0"),
        ({"operator_rate": -1.0}, "operator_rate=-1.0"),
        ({"operator_rate": float("nan")}, "operator_rate=nan"),
        ({"n_perturbed": 0}, "n_perturbed=0"),
        ({"n_perturbed": 2.5}, "n_perturbed=2.5"),
        ({"max_batches": True}, "max_batches=True"),
        ({"phase1_batches": -5}, "phase1_batches=-5"),
        ({"operator_rate": "x"}, "operator_rate='x'"),
        ({"stop_on": "accuracy"}, "stop_on='accuracy'"),
    ],
)
def test_impossible_numbers_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preset("default", **changes)


def test_numpy_integers_are_whole_numbers() -> None:
    assert preset("default", n_subsets=np.int64(8)).n_subsets == 8


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'fast' is not known; there are default, paper, paper:xor"):
        preset("fast")


def test_a_net_of_ones_own_is_not_screened_for_and_learns_at_the_papers_rate() -> None:
    own = preset("default", own_net=True)
    assert not own.proposal.enabled
    assert own.operator_rate == PAPER.operator_rate < DEFAULT.operator_rate
    assert own.calibration.n_subsets == DEFAULT.calibration.n_subsets / 4
    assert preset("default", own_net=True, operator_rate=0.02).operator_rate == 0.02
    assert preset("paper", own_net=True) == PAPER
    wide = preset("default", shape=(10, 5_000), own_net=True)
    assert wide.phase1_batches > DEFAULT.phase1_batches
    assert wide.calibration.n_subsets == DEFAULT.calibration.n_subsets / 2


def test_a_setting_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="TrainConfig has no setting 'foo__bar'; it has operator_hidden"):
        DEFAULT.using(foo__bar=1)
    with pytest.raises(ValueError, match="TournamentConfig has no setting 'round'; it has enabled"):
        DEFAULT.using(tournament__round=1)
    with pytest.raises(ValueError, match="no setting 'patience__more'"):
        DEFAULT.using(patience__more=1)
    with pytest.raises(ValueError, match="activation='tanh' must be one of sigmoid, silu, relu"):
        DEFAULT.using(activation="tanh")


def test_a_config_comes_back_from_json() -> None:
    assert TrainConfig.from_dict(json.loads(json.dumps(asdict(DEFAULT), allow_nan=False))) == DEFAULT
