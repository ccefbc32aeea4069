from __future__ import annotations

import functools
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from torch import nn

from maskrank import DualNetClassifier, DualNetRegressor, ImageCNN, Progress
from maskrank.core.recorder import STAGES
from maskrank.datasets import make_nonlinear_regression, make_orange_skin, make_xor
from maskrank.estimators import fitting
from maskrank.estimators.preparation import resolve_device, split_rows
from tests.estimators.nets import TwoLayers

BUDGET = 16
X, Y, _ = make_orange_skin(120, random_state=0)


def quick(s: int | float | None = 3, **parameters: object) -> DualNetClassifier:
    return DualNetClassifier(s, max_batches=BUDGET, **{"random_state": 0, **parameters})


@pytest.fixture(scope="module")
def plain() -> DualNetClassifier:
    """A model that no test changes."""
    return quick().fit(X, Y)


NETS = {
    "mlp": None,
    "sizes": (12, 6),
    "class": TwoLayers,
    "instance": TwoLayers(10, 1),
    "function": lambda d, k: TwoLayers(d, k),
}


def test_the_fitted_attributes_agree_with_each_other() -> None:
    model = quick(4).fit(X, Y)
    assert model.support_.sum() == 4
    assert sorted(model.ranking_[model.support_]) == [1, 2, 3, 4]
    assert (model.ranking_[~model.support_] == 5).all()
    best_first = np.argsort(model.ranking_, kind="stable")[:4]
    assert (np.diff(model.feature_importances_[best_first]) <= 0).all()
    assert (model.feature_importances_[model.support_] > 0).all()
    assert (model.feature_importances_[~model.support_] == 0).all()
    assert (model.feature_importances_std_[~model.support_] == 0).all()
    assert model.n_features_ == model.size_curve_.sizes[-1] == 4
    assert model.to_frame()["feature"].tolist()[:4] == list(model.result_.selected)
    assert set(model.history_.seconds) == set(STAGES)


@pytest.mark.parametrize("kind", NETS)
def test_only_the_chosen_columns_influence_a_prediction(kind: str) -> None:
    model = quick(operator=NETS[kind]).fit(X, Y)
    changed = X.copy()
    changed[:, ~model.support_] = np.random.default_rng(1).normal(0, 1e6, (120, 7))
    np.testing.assert_array_equal(model.predict_proba(changed), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_proba_selected(model.transform(X)), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_selected(model.transform(X)), model.predict(X))
    changed = X.copy()
    changed[:, model.support_] += 1.0
    assert not np.array_equal(model.predict_proba(changed), model.predict_proba(X))


@pytest.mark.parametrize("kind", NETS)
def test_the_same_seed_gives_the_same_bits_and_the_global_state_stays(kind: str) -> None:
    torch_state, numpy_state = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = quick(operator=NETS[kind]).fit(X, Y)
    assert torch.equal(torch.random.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
    torch.rand(3)
    second = quick(operator=NETS[kind]).fit(X, Y)
    assert np.array_equal(first.raw_scores_, second.raw_scores_)
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    other = quick(operator=NETS[kind], random_state=1).fit(X, Y)
    assert not np.array_equal(first.raw_scores_, other.raw_scores_)


def test_two_processes_give_the_same_bits(plain: DualNetClassifier) -> None:
    program = (
        "from maskrank import DualNetClassifier\n"
        "from maskrank.datasets import make_orange_skin\n"
        "X, y, _ = make_orange_skin(120, random_state=0)\n"
        "model = DualNetClassifier(3, max_batches=16, random_state=0).fit(X, y)\n"
        "print(model.raw_scores_.tobytes().hex(), model.predict_proba(X).tobytes().hex())"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.split() == [plain.raw_scores_.tobytes().hex(), plain.predict_proba(X).tobytes().hex()]


def test_without_a_seed_two_fits_differ() -> None:
    assert not np.array_equal(
        quick(random_state=None).fit(X, Y).raw_scores_, quick(random_state=None).fit(X, Y).raw_scores_
    )


def test_numpy_generators_are_seeds_too() -> None:
    fits = [quick(random_state=np.random.default_rng(5)).fit(X, Y) for _ in range(2)]
    assert np.array_equal(fits[0].raw_scores_, fits[1].raw_scores_)


@pytest.mark.parametrize("fails", [False, True])
def test_torchs_threads_are_given_back(fails: bool) -> None:
    def stop(progress: Progress) -> None:
        assert torch.get_num_threads() == 1
        if fails:
            raise KeyboardInterrupt

    torch.set_num_threads(2)
    try:
        if fails:
            with pytest.raises(KeyboardInterrupt):
                quick(callbacks=(stop,)).fit(X, Y)
        else:
            quick(callbacks=(stop,)).fit(X, Y)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize("labels", [["no", "yes"], [7, -3], [True, False], [2.0, 1.0]])
def test_labels_of_any_kind_come_back_sorted(labels: list[object]) -> None:
    y = np.array(labels)[Y]
    model = quick().fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert set(model.predict(X)) <= set(labels)
    picked = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert np.array_equal(picked, model.predict(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_several_targets_at_once() -> None:
    X, y, _ = make_nonlinear_regression(150, random_state=0)
    both = np.column_stack([1000 * y + 5, X[:, 4]])
    model = DualNetRegressor(5, max_batches=BUDGET, random_state=0)
    model.fit(X[:100], both[:100], X_val=X[100:], y_val=both[100:])
    assert model.predict(X).shape == (150, 2)
    error = model.figures_["mse"]
    found = np.square(model.predict(X[100:]) - both[100:]).mean()
    assert error.value == pytest.approx(found, rel=1e-3), "up to the rounding of the weights"
    assert error.baseline == pytest.approx(np.square(both[:100].mean(axis=0) - both[100:]).mean())


def test_scaling_the_target_scales_the_predictions() -> None:
    X, y, _ = make_nonlinear_regression(100, random_state=0)
    plain = DualNetRegressor(5, max_batches=BUDGET, random_state=0).fit(X, y)
    scaled = DualNetRegressor(5, max_batches=BUDGET, random_state=0).fit(X, 1024 * y)
    np.testing.assert_allclose(scaled.predict(X), 1024 * plain.predict(X), rtol=1e-9)
    assert scaled.validation_score_ == pytest.approx(plain.validation_score_)
    for name, factor in (("rmse", 1024), ("mae", 1024), ("mse", 1024**2)):
        assert scaled.figures_[name].value == pytest.approx(factor * plain.figures_[name].value)


def test_shifted_and_scaled_columns_change_nothing(plain: DualNetClassifier) -> None:
    moved = quick().fit(X * 2.0**20 + 2.0**22, Y)
    assert np.array_equal(plain.ranking_, moved.ranking_)
    np.testing.assert_allclose(plain.raw_scores_, moved.raw_scores_, atol=1e-3)
    np.testing.assert_allclose(plain.predict_proba(X), moved.predict_proba(X * 2.0**20 + 2.0**22), atol=1e-3)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_very_small_and_very_large_values(factor: float, plain: DualNetClassifier) -> None:
    scaled = quick().fit(X * factor, Y)
    np.testing.assert_allclose(plain.raw_scores_, scaled.raw_scores_, atol=1e-3)


def test_training_that_leaves_the_range_of_numbers_is_an_error() -> None:
    with pytest.raises(ValueError, match="the training diverged"):
        quick(operator_rate=1e38).fit(X, Y)
    with pytest.raises(ValueError, match="too large for 32-bit floats"):
        quick(standardize=False).fit(X * 1e39, Y)


def test_scaling_is_learned_on_training_rows_only() -> None:
    shifted = np.vstack([X, X[:20] + 100.0])
    model = quick().fit(X, Y, X_val=shifted[120:], y_val=Y[:20])
    np.testing.assert_allclose(model._encoding.code.mean, X[:, model.support_].mean(axis=0))
    np.testing.assert_allclose(model._encoding.code.scale, X[:, model.support_].std(axis=0))


def test_the_split_is_disjoint_and_keeps_the_shares_of_the_classes(generator: torch.Generator) -> None:
    labels = np.repeat([0, 1, 2], [50, 8, 2])
    train, held_out = split_rows(60, 0.2, labels=labels, generator=generator)
    assert sorted([*train, *held_out]) == list(range(60))
    assert np.bincount(labels[held_out]).tolist() == [10, 2, 1]
    train, held_out = split_rows(10, 0.2, labels=None, generator=generator)
    assert sorted([*train, *held_out]) == list(range(10))
    assert len(held_out) == 2


def test_auto_takes_the_best_device_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert resolve_device("auto").type == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto").type == "cuda"


@pytest.mark.parametrize("s", [1, 9])
def test_the_smallest_and_the_largest_size(s: int) -> None:
    assert quick(s).fit(X, Y).support_.sum() == s


@pytest.mark.parametrize(("s", "expected"), [(None, 5), (0.3, 3), (0.01, 1), (np.int64(4), 4), (np.float32(0.5), 5)])
def test_the_size_can_be_a_share(s: object, expected: int) -> None:
    assert quick(s).fit(X, Y).support_.sum() == expected


@pytest.mark.parametrize("s", [0, 11, -1, float("nan"), 0.0, 1.0, 1.5, -0.2, "5", True])
def test_impossible_sizes_say_what_is_allowed(s: object) -> None:
    with pytest.raises(ValueError, match=r"n_features_to_select=.*must be a whole number in 1\.\.10, .*10 features"):
        quick(s).fit(X, Y)


@pytest.mark.parametrize("s", [10, "all"])
def test_all_features_may_be_scored_but_not_as_the_paper_does(s: object) -> None:
    model = quick(s).fit(X, Y)
    assert model.support_.all()
    assert not model.raw_scores_.any()  # there was nothing to select
    assert sorted(model.ranking_) == list(range(1, 11))
    assert model.history_.batch == []
    with pytest.raises(
        ValueError, match="n_features_to_select=10: preset='paper' needs a choice, of at most 9 features"
    ):
        quick(s, preset="paper").fit(X, Y)


def test_the_size_is_chosen_within_its_bound() -> None:
    model = quick("auto", max_features_to_select=3).fit(X, Y)
    assert model.n_features_ == model.support_.sum() == model.size_curve_.enough
    assert model.size_curve_.sizes.tolist() == [1, 2, 3]
    assert quick("auto", max_features_to_select=99).fit(X, Y).size_curve_.sizes[-1] == X.shape[1] - 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_features_to_select": 3}, "max_features_to_select goes with n_features_to_select='auto'"),
        (
            {"n_features_to_select": "auto", "max_features_to_select": 0},
            "max_features_to_select=0 must be .* at least 1",
        ),
        (
            {"n_features_to_select": "auto", "preset": "paper"},
            "'auto' needs measured scores, which preset='paper' does",
        ),
    ],
)
def test_impossible_choices_of_a_size_say_what_is_allowed(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(**{"n_features_to_select": 3, "max_batches": BUDGET, **parameters}).fit(X, Y)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(value: float, plain: DualNetClassifier) -> None:
    bad = X.copy()
    bad[3, 2] = value
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(bad, Y)
    bad[5, 3] = np.nan
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(bad, Y)
    with pytest.raises(ValueError, match="infinity"):
        plain.predict(bad)


def test_a_class_with_one_row_is_learned_from() -> None:
    model = quick().fit(X, np.r_[Y[:-1], 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (120, 3)


def test_a_gap_where_training_had_none_counts_as_the_mean(plain: DualNetClassifier) -> None:
    holes, means = X.copy(), X.copy()
    chosen = plain.get_support(indices=True)[1]
    holes[:, chosen], means[:, chosen] = np.nan, float(plain._encoding.code.mean[1])
    np.testing.assert_allclose(plain.predict_proba(holes), plain.predict_proba(means))


def test_gaps_in_sparse_matrices_are_refused() -> None:
    bad = scipy.sparse.csr_matrix(np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X))
    with pytest.raises(ValueError, match="Input X contains NaN: missing values are taken from dense tables"):
        quick().fit(bad, Y)


def test_targets_that_teach_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="one class only, 'a'"):
        quick().fit(X, np.full(120, "a"))
    with pytest.raises(ValueError, match="y is constant: there is nothing to predict"):
        DualNetRegressor(3).fit(X, np.full(120, 2.5))
    with pytest.raises(ValueError, match="y is constant in column 1"):
        DualNetRegressor(3).fit(X, np.column_stack([X[:, 0], np.ones(120)]))
    with pytest.raises(ValueError, match="each class has 1 row"):
        quick().fit(X[:3], [0, 1, 2])
    with pytest.raises(ValueError, match="every column of X is constant"):
        quick().fit(np.ones((120, 10)), Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"validation_fraction": 1.0}, "validation_fraction=1.0"),
        ({"random_state": -1}, "random_state=-1"),
        ({"operator": "cnn"}, "operator='cnn'"),
        ({"operator": ()}, r"operator=\(\)"),
        ({"selector": (0,)}, r"selector=\(0,\)"),
        ({"device": "abacus"}, "device='abacus'"),
        ({"preset": "paper:yale"}, "has no MLP operator"),
        ({"preset": []}, r"preset=\[\] must be the name of a preset, or a TrainConfig"),
        ({"selector": 8}, "selector=8"),
        ({"callbacks": print}, "callbacks="),
        ({"phase1_batches": BUDGET}, f"leaves nothing of max_batches={BUDGET}"),
    ],
)
def test_impossible_parameters_are_named(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(X, Y)


def test_a_net_that_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match=r"outputs of shape \(2, 4\) .* needs \(2, 1\)"):
        quick(operator=TwoLayers(10, 4)).fit(X, Y)


def test_constant_columns_are_never_above_an_informative_one() -> None:
    wide = np.column_stack([np.full(120, 3.0), X, np.zeros((120, 2))])
    model = quick(5).fit(wide, Y)
    constant = [0, 11, 12]
    assert not model.support_[constant].any()
    assert model.feature_importances_[constant].max() <= model.feature_importances_[1:11].min()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("s", [2, 3, 4])
def test_more_places_than_columns_that_vary(s: int, seed: int) -> None:
    narrow = np.column_stack([np.ones((120, 3)), X[:, 8:]])  # two columns of noise are still better than constants
    model = quick(s, random_state=seed).fit(narrow, Y)
    assert model.support_.sum() == s
    assert sorted(model.ranking_[[3, 4]]) == [1, 2]


def test_history_and_callbacks_call_the_columns_by_their_own_numbers() -> None:
    heard: list[Progress] = []
    wide = np.column_stack([np.zeros((120, 3)), X])
    model = quick(callbacks=(heard.append,)).fit(wide, Y)
    told = {i for p in heard for i in p.optimal} | {i for _, indices in model.history_.optimal for i in indices}
    assert min(told) >= 3
    assert max(told) <= 12


def test_validation_targets_may_be_a_column() -> None:
    y = X[:, 0]
    fits = [
        DualNetRegressor(3, max_batches=BUDGET, random_state=0).fit(X, a, X_val=X[:30], y_val=b)
        for a in (y, y[:, None])
        for b in (y[:30], y[:30, None])
    ]
    assert len({round(model.validation_score_, 9) for model in fits}) == 1


class Normalised(TwoLayers):
    def __init__(self, n_features: int, n_outputs: int) -> None:
        super().__init__(n_features, n_outputs)
        self.layers.insert(1, nn.BatchNorm1d(8))


def test_batch_normalisation_and_dropout_stay_in_training_mode() -> None:
    modes: list[bool] = []

    class Watching(Normalised):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            modes.append(self.training)
            return super().forward(x, mask)

    model = quick(operator=Watching).fit(X, Y)
    assert sum(modes) >= 2 * BUDGET  # every operator batch of both phases, and the fine-tuning
    one_by_one = np.vstack([model.predict_proba(row[None]) for row in X[:5]])
    np.testing.assert_allclose(one_by_one, model.predict_proba(X[:5]))


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (lambda d, k: "net", "must make an nn.Module, not str"),
        (lambda d, k: nn.Identity(), "has no parameters"),
        (lambda d, k: nn.Linear(d, k), r"can't be called as net\(x, mask\)"),
    ],
)
def test_an_operator_that_is_no_net_of_two_inputs(operator: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quick(operator=operator).fit(X, Y)


def test_the_validation_figure_is_of_the_nets_that_did_not_learn_from_these_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With nets in their place that always give the mean: as good as the best constant answer."""
    whole, learned_all = fitting.fit_dual_net, []

    def with_mean_as_judged(*args: Any, **options: Any) -> Any:
        learned_all.append(options["learn_all"])
        result = whole(*args, **options)
        return replace(result, held_out=torch.zeros_like(result.held_out))

    monkeypatch.setattr(fitting, "fit_dual_net", with_mean_as_judged)
    model = DualNetRegressor(2, max_batches=16, random_state=0)
    assert model.fit(X, X[:, 0]).validation_score_ == pytest.approx(model.baseline_score_)
    assert np.square(model.predict(X) - X[:, 0]).mean() < 0.5 * model.figures_["mse"].baseline
    model.fit(X[:90], X[:90, 0], X_val=X[90:], y_val=X[90:, 0])
    assert learned_all == [True, False]


def test_validation_rows_of_ones_own() -> None:
    train, held_out = slice(0, 90), slice(90, 120)
    model = quick().fit(X[train], Y[train], X_val=X[held_out], y_val=Y[held_out])
    assert model.validation_score_ == pytest.approx((model.predict(X[held_out]) == Y[held_out]).mean())
    with pytest.raises(ValueError, match="go together"):
        quick().fit(X, Y, X_val=X)
    with pytest.raises(ValueError, match="label 5, which y does not"):
        quick().fit(X, Y, X_val=X[:2], y_val=[0, 5])


def test_frames_in_names_out() -> None:
    polars = pytest.importorskip("polars")
    names = [f"gene {i}" for i in range(10)]
    pandas_model = quick().fit(pd.DataFrame(X, columns=names), Y)
    polars_frame = polars.DataFrame(X, schema=names)
    polars_model = quick().fit(polars_frame, Y)
    assert list(pandas_model.get_feature_names_out()) == list(polars_model.get_feature_names_out())
    assert isinstance(pandas_model.to_frame(), pd.DataFrame)
    assert isinstance(polars_model.to_frame(), polars.DataFrame)
    assert polars_model.to_frame()["feature"].to_list() == pandas_model.to_frame()["feature"].tolist()
    assert np.array_equal(polars_model.predict(polars_frame), pandas_model.predict(pd.DataFrame(X, columns=names)))
    assert set(pandas_model.result_.selected) == set(pandas_model.get_feature_names_out())


def test_images_go_through_the_cnn() -> None:
    rng = np.random.default_rng(0)
    images = rng.normal(size=(60, 64))
    y = (images[:, 10] > 0).astype(int)
    cnn = functools.partial(ImageCNN, image_shape=(8, 8))
    model = DualNetClassifier(6, operator=cnn, max_batches=24, n_subsets=4, random_state=0).fit(images, y)
    assert model.feature_importances_.shape == (64,)
    assert model.predict(images).shape == (60,)


def test_a_net_sees_its_whole_input_though_some_pixels_never_change() -> None:
    rng = np.random.default_rng(0)
    images = rng.normal(size=(60, 64))
    images[:, :20] = 0.0  # a border
    y = (images[:, 30] > 0).astype(int)
    cnn = functools.partial(ImageCNN, image_shape=(8, 8))
    model = DualNetClassifier(6, operator=cnn, max_batches=16, n_subsets=4, random_state=0).fit(images, y)
    assert not model.support_[:20].any()
    changed = images.copy()
    changed[:, ~model.support_] = 7.0
    assert np.array_equal(model.predict_proba(changed), model.predict_proba(images))


def test_pickle_keeps_a_fitted_model(plain: DualNetClassifier) -> None:
    again = pickle.loads(pickle.dumps(plain))
    assert np.array_equal(again.predict_proba(X), plain.predict_proba(X))


def test_callbacks_hear_of_all_phases() -> None:
    heard: list[Progress] = []
    DualNetClassifier(3, max_batches=48, random_state=0, callbacks=(heard.append,)).fit(X, Y)
    assert {p.phase for p in heard} == {"explore", "search", "predict"}


def test_refit_can_be_left_out() -> None:
    assert quick(refit=False).fit(X, Y).config_.predictor.n_recipes == 0
    assert quick(refit=False, operator=TwoLayers).fit(X, Y).predict(X).shape == (120,)


def test_three_classes_and_the_paper_preset() -> None:
    X, y, _ = make_xor(120, random_state=0)
    model = DualNetClassifier(5, preset="paper:xor", max_batches=BUDGET, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (120, 4)


def test_the_library_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    quick().fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")
    quick(verbose=1).fit(X, Y)  # not a terminal: no bar either
    assert capfd.readouterr().out == ""


def test_a_notebook_shows_the_diagram_and_below_it_the_ranking() -> None:
    model = quick()
    plain = model._repr_html_()
    assert "<table" not in plain or "feature</th>" not in plain
    frame = pd.DataFrame(X, columns=[f"<i>f{i}" for i in range(10)])
    shown = model.fit(frame, Y)._repr_html_()
    assert "sk-top-container" in shown
    assert shown.endswith(model.result_._repr_html_())
    assert model._repr_mimebundle_()["text/html"].endswith(model.result_._repr_html_())
    assert "&lt;i&gt;f0" in model.result_._repr_html_()
