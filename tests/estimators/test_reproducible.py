"""A stored config and a seed are enough to run a fit again, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from maskrank import DualNetClassifier, DualNetRegressor, ImageCNN, load
from maskrank.core.config import DEFAULT, PAPER, TrainConfig
from maskrank.datasets import make_nonlinear_regression, make_orange_skin
from tests.estimators.nets import TwoLayers

Fit = tuple[Any, np.ndarray, np.ndarray]


def small_table() -> Fit:
    X, y, _ = make_orange_skin(200, random_state=0)
    return DualNetClassifier(4, max_batches=48, random_state=0), X, y


def regression() -> Fit:
    X, y, _ = make_nonlinear_regression(200, random_state=0)
    return DualNetRegressor(4, max_batches=48, random_state=0), X, y


def interacting_pair() -> Fit:
    X = np.random.default_rng(0).standard_normal((300, 200))
    return DualNetClassifier(4, max_batches=32, random_state=0), X, (X[:, 7] * X[:, 90] > 0).astype(int)


def few_rows() -> Fit:
    """Correlated features, as of genes: elimination proposes a subset, and it is reselected on all rows."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((60, 3))
    X = factors @ rng.standard_normal((3, 100)) + 0.7 * rng.standard_normal((60, 100))
    return DualNetClassifier(5, max_batches=32, random_state=0), X, (factors[:, 0] + factors[:, 1] > 0).astype(int)


def paper() -> Fit:
    X, y, _ = make_orange_skin(200, random_state=1)
    return DualNetClassifier(4, preset="paper", max_batches=32, random_state=0), X, y


def wide_nets() -> Fit:
    X, y, _ = make_orange_skin(120, random_state=2)
    return DualNetClassifier(3, operator=(256, 32), selector=(128,), max_batches=32, refit=False, random_state=3), X, y


def own_net() -> Fit:
    X = np.random.default_rng(2).standard_normal((60, 64))
    cnn = partial(ImageCNN, image_shape=(8, 8))
    return DualNetClassifier(5, operator=cnn, max_batches=8, n_subsets=4, random_state=0), X, (X[:, 9] > 0).astype(int)


@pytest.mark.parametrize(
    "make", [small_table, regression, interacting_pair, few_rows, paper, wide_nets, own_net], ids=lambda f: f.__name__
)
def test_a_stored_config_runs_again_bit_for_bit(make: Callable[[], Fit], tmp_path: Path) -> None:
    model, X, y = make()
    model.fit(X, y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    net = model.operator if callable(model.operator) else None  # a file holds no code
    stored = {"preset": loaded.config_, "random_state": loaded.random_state}
    again = type(loaded)(loaded.n_features_to_select, operator=net, **stored).fit(X, y)
    assert again.config_ == loaded.config_ == model.config_
    for name in ("raw_scores_", "feature_importances_", "support_", "ranking_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes() == getattr(loaded, name).tobytes()
    assert again.predict(X).tobytes() == model.predict(X).tobytes() == loaded.predict(X).tobytes()
    assert again.validation_score_ == model.validation_score_
    assert again.history_.facts == loaded.history_.facts
    expected = {"interacting_pair": "pairs beyond chance", "few_rows": "reselected with the held-out rows"}
    assert expected.get(make.__name__, "") in " ".join(again.history_.facts)  # these helpers did run


def test_a_config_is_taken_as_it_is() -> None:
    config = PAPER.using(max_batches=32, phase1_batches=30, calibration__n_subsets=64)
    X, y, _ = make_orange_skin(80, random_state=0)
    assert DualNetClassifier(3, preset=config, random_state=0).fit(X, y).config_ == config


def test_single_numbers_change_a_config() -> None:
    X, y, _ = make_orange_skin(80, random_state=0)
    given = {"max_batches": 24, "operator": (8, 4), "patience": np.int64(5), "operator_rate": 0.1}
    config = DualNetClassifier(3, preset=PAPER, **given, random_state=0).fit(X, y).config_
    wanted = {"max_batches": 24, "phase1_batches": 16, "operator_hidden": (8, 4), "patience": 5, "operator_rate": 0.1}
    assert config == PAPER.using(**wanted)
    assert type(config.patience) is int


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_batches": 0}, "max_batches=0 must be a whole number of at least 1"),
        ({"phase1_batches": 2_000}, "phase1_batches=2000 leaves nothing of max_batches=2000"),
        ({"stop_on": "never"}, "stop_on='never' is not known"),
        ({"preset": asdict(PAPER)}, "must be the name of a preset, or a TrainConfig"),
    ],
)
def test_the_checks_are_those_of_the_presets(given: dict[str, Any], message: str) -> None:
    X, y, _ = make_orange_skin(80, random_state=0)
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(3, **{"preset": DEFAULT, **given}).fit(X, y)


def test_a_model_with_a_config_is_cloned_and_saved(tmp_path: Path) -> None:
    X, y, _ = make_orange_skin(80, random_state=0)
    model = clone(DualNetClassifier(3, preset=PAPER.using(max_batches=16), phase1_batches=8, random_state=0))
    model.fit(X, y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded.preset, TrainConfig)
    assert loaded.get_params() == model.get_params()


def test_settings_of_the_default_serve_a_net_of_the_users_own_which_no_proposal_reaches() -> None:
    """A wide table, which would be screened, and few rows, which would be eliminated and reselected."""
    rng = np.random.default_rng(0)
    settings = DEFAULT.using(max_batches=16, phase1_batches=8, predictor__cycles=(8,), calibration__n_subsets=8)
    for n, d, s in ((80, 120, 2), (40, 60, 30)):
        X = rng.standard_normal((n, d))
        model = DualNetClassifier(s, preset=settings, operator=TwoLayers, random_state=0).fit(X, X[:, 0] > 0)
        assert isinstance(model.predictor_.predictor.net, TwoLayers)
        assert not model.config_.proposal.enabled  # what really ran


def test_the_config_says_so_where_constant_columns_leave_nothing_to_propose() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((60, 4)), np.ones((60, 20))])
    model = DualNetClassifier(6, preset=DEFAULT.using(max_batches=16, phase1_batches=8), random_state=0)
    assert not model.fit(X, X[:, 0] > 0).config_.proposal.enabled


def test_a_subclass_of_the_same_name_does_not_take_over_saved_models(tmp_path: Path) -> None:
    model, X, y = small_table()
    model.fit(X, y).save(tmp_path / "model")
    kept = [type("DualNetClassifier", (DualNetClassifier,), {})]
    assert type(load(tmp_path / "model")) is DualNetClassifier
    assert kept


def test_a_listener_that_is_no_callback_is_told_what_is_missing() -> None:
    class Listener:
        def __call__(self, progress: object) -> None: ...

        def on_stage(self, stage: str) -> None: ...

    model, X, y = small_table()
    with pytest.raises(ValueError, match="Listener has on_stage or on_fact: it must subclass"):
        model.set_params(callbacks=(Listener(),)).fit(X, y)


def test_measured_scores_add_up_are_kept_in_the_file_and_shown_with_their_errors(tmp_path: Path) -> None:
    model, X, y = small_table()
    model.set_params(preset="default").fit(X, y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert model.result_.explained == pytest.approx(model.feature_importances_.sum(), abs=1e-6)
    assert (model.feature_importances_[~model.support_] == 0).all()
    for name in ("feature_importances_", "feature_importances_std_", "evidence_", "ranking_"):
        values, kept = getattr(model, name), getattr(loaded, name)
        assert (values is None and kept is None) or values.tobytes() == kept.tobytes()
    assert loaded.result_.explained_share == model.result_.explained_share
    frame = model.to_frame()
    assert frame["importance_std"][: model.result_.size].gt(0).all()
    assert frame["importance"][: model.result_.size].is_monotonic_decreasing
