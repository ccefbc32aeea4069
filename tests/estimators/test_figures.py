from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from maskrank import DualNetClassifier, DualNetRegressor, load
from maskrank.core.metrics import CLASS_METRICS, NUMBER_METRICS
from maskrank.estimators.figures import Figure, class_figures, number_figures
from maskrank.results import facts, ranking_json

RNG = np.random.default_rng(0)


def guesses(n: int, k: int, seed: int = 0, edge: float = 0.3) -> tuple[Any, Any]:
    """Classes, and probabilities with ties that lean towards them."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, k, n)
    scores = rng.random((n, k)).round(1) + 0.01
    scores[np.arange(n), target] += edge
    return target, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 4])
def test_figures_of_classes_are_those_of_scikit_learn(k: int, weighted: bool) -> None:
    target, given = guesses(200, k)
    weights = RNG.random(200) if weighted else None
    found = class_figures(target, given, weights)
    answers, options = given.argmax(axis=1), {"sample_weight": weights}
    against_rest = [(target == c, given[:, c]) for c in (range(k) if k > 2 else [1])]
    expected = {
        "accuracy": metrics.accuracy_score(target, answers, **options),
        "balanced_accuracy": metrics.balanced_accuracy_score(target, answers, **options),
        "roc_auc": np.mean([metrics.roc_auc_score(*pair, **options) for pair in against_rest]),
        "average_precision": np.mean([metrics.average_precision_score(*pair, **options) for pair in against_rest]),
        "log_loss": metrics.log_loss(target, given, **options),
    }
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_figures_of_numbers_are_those_of_scikit_learn(outputs: int, weighted: bool) -> None:
    y = 50 + 7 * RNG.standard_normal((120, outputs))
    predicted, weights = y + RNG.standard_normal(y.shape), RNG.random(120) if weighted else None
    found = number_figures(y, predicted, weights)
    expected = {
        "r2": metrics.r2_score(y, predicted, sample_weight=weights),
        "rmse": metrics.root_mean_squared_error(y, predicted, sample_weight=weights),
        "mae": metrics.mean_absolute_error(y, predicted, sample_weight=weights),
        "mse": metrics.mean_squared_error(y, predicted, sample_weight=weights),
    }
    assert {name: figure.value for name, figure in found.items()} == pytest.approx(expected)


def test_weights_that_are_counts_give_the_figures_of_repeated_rows() -> None:
    target, given = guesses(60, 3)
    counts = RNG.integers(1, 4, 60)
    weighted, repeated = (
        class_figures(target, given, counts),
        class_figures(*(np.repeat(a, counts, 0) for a in (target, given))),
    )
    for name, figure in weighted.items():
        assert figure.value == pytest.approx(repeated[name].value)
        assert figure.std > repeated[name].std  # the same rows again are no more evidence


@pytest.mark.parametrize("numbers", [False, True])
def test_standard_errors_are_those_of_the_bootstrap(numbers: bool) -> None:
    rng = np.random.default_rng(1)
    if numbers:
        target = rng.standard_normal(300)
        given, measure = target + 0.5 * rng.standard_normal(300), number_figures
    else:
        (target, given), measure = guesses(300, 3), class_figures
    draws = [rng.integers(0, 300, 300) for _ in range(400)]
    again = [measure(target[rows], given[rows]) for rows in draws]
    for name, figure in measure(target, given).items():
        assert figure.std == pytest.approx(np.std([one[name].value for one in again]), rel=0.15), name


@pytest.mark.parametrize("n", [15, 60])
def test_intervals_hold_the_figure_of_new_rows(n: int) -> None:
    """Predictions of a known quality: in about 95 % of the samples, the interval holds what very many rows give."""
    held, everyone = dict.fromkeys((metric.name for metric in (*CLASS_METRICS, *NUMBER_METRICS)), 0.0), 200

    def rows(count: int, seed: int) -> dict[str, Figure]:
        rng = np.random.default_rng([n, seed])
        y = rng.standard_normal(count)
        return {
            **class_figures(*guesses(count, 2, seed, edge=0.4)),
            **number_figures(y, 0.7 * y + 0.5 * rng.standard_normal(count)),
        }

    truth = rows(100_000, 0)
    for seed in range(1, everyone + 1):
        for name, figure in rows(n, seed).items():
            held[name] += (figure.low <= truth[name].value <= figure.high) / everyone
    assert min(held.values()) > 0.87, held
    assert max(held.values()) < 0.995, held


def test_a_figure_without_a_single_mistake_is_not_certain() -> None:
    target = np.array([0, 1] * 4)
    found = class_figures(target, np.eye(2)[target])
    for name in ("accuracy", "balanced_accuracy", "roc_auc", "average_precision"):
        assert found[name].value == found[name].high == 1
        assert found[name].low < 0.7
        assert found[name].std > 0.05


def test_classes_that_do_not_occur_are_left_out() -> None:
    target, given = guesses(50, 3)
    some = target < 2
    found = class_figures(target[some], given[some])
    expected = np.mean([metrics.roc_auc_score(target[some] == c, given[some, c]) for c in (0, 1)])
    assert found["roc_auc"].value == pytest.approx(expected)
    alone = class_figures(np.zeros(5, dtype=int), given[:5])
    assert set(alone) == {"accuracy", "balanced_accuracy", "log_loss"}
    assert np.isinf(number_figures(np.zeros(1), np.ones(1))["rmse"].std)


def rare(n: int = 400) -> tuple[Any, Any]:
    X = np.random.default_rng(3).standard_normal((n, 6))
    return X, np.where(X[:, 0] + X[:, 1] > 2, "yes", "no")


def test_a_rare_class_is_judged_by_roc_auc_and_numbers_by_r2_in_every_unit(tmp_path: Path) -> None:
    X, y = rare()
    model = DualNetClassifier(2, max_batches=24, random_state=0).fit(X, y)
    assert model.metric_.name == "roc_auc"
    assert (model.validation_score_, model.baseline_score_) == (model.figures_["roc_auc"].value, 0.5)
    assert model.figures_["average_precision"].baseline == pytest.approx(np.mean(y == "yes"), abs=0.01)
    even = DualNetClassifier(2, max_batches=24, random_state=0).fit(X, X[:, 0] > 0)
    assert even.metric_.name == "accuracy"
    prices = DualNetRegressor(2, max_batches=24, random_state=0).fit(X, 250_000 + 40_000 * X[:, 0])
    assert prices.metric_.name == "r2"
    shown = dict(facts(prices, time="1 s"))
    assert "±" in shown["R²"]
    assert "; 41,702 without any feature" in shown["root mean squared error"]

    document = json.loads(ranking_json(model, seconds=1.0))
    assert document["metric"] == "roc_auc"
    assert set(document["figures"]["log_loss"]) == {"value", "std", "low", "high", "baseline"}
    assert document["figures"]["roc_auc"]["value"] == document["validation"]
    assert document["signal"] == (document["signal_pvalue"] <= 0.05)
    assert document["validation_rows"] == model.n_validation_ == 80

    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    names = (
        "figures_",
        "metric_",
        "n_validation_",
        "signal_",
        "signal_pvalue_",
        "validation_score_",
        "baseline_score_",
    )
    for name in names:
        assert getattr(again, name) == getattr(model, name), name


def test_the_figure_shown_first_may_be_named() -> None:
    X, y = rare()
    model = DualNetClassifier(2, metric="log_loss", max_batches=24, random_state=0).fit(X, y)
    assert model.validation_score_ == model.figures_["log_loss"].value
    with pytest.raises(ValueError, match="metric='r2' must be one of auto, accuracy, balanced_accuracy, roc_auc"):
        DualNetClassifier(2, metric="r2").fit(X, y)


def test_the_test_of_signal_changes_nothing_else_and_is_reproducible() -> None:
    X, y = rare(120)
    fits = [DualNetClassifier(2, max_batches=24, random_state=seed).fit(X, y) for seed in (0, 0)]
    assert fits[0].signal_pvalue_ == fits[1].signal_pvalue_
    assert 0 < fits[0].signal_pvalue_ <= 0.05


def test_ones_own_validation_rows_are_all_judged_on() -> None:
    X, y = rare()
    model = DualNetClassifier(2, max_batches=24, random_state=0).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.n_validation_ == 100
    expected = metrics.roc_auc_score(y[300:] == "yes", model.predict_proba(X[300:])[:, 1])
    assert model.figures_["roc_auc"].value == pytest.approx(expected)


@pytest.mark.parametrize("of", ["classes", "numbers"])
def test_rows_of_one_group_are_no_surer_than_one_row(of: str) -> None:
    """Each row three times, in a group of its own: the figures of the rows taken once."""
    if of == "numbers":
        rng = np.random.default_rng(0)
        parts, measure = (rng.standard_normal(60), rng.standard_normal(60)), number_figures
    else:
        parts, measure = guesses(60, 3), class_figures
    once = measure(*parts)
    copies = measure(*(np.repeat(part, 3, axis=0) for part in parts), groups=np.repeat(np.arange(60), 3))
    for name, figure in once.items():
        assert copies[name].value == pytest.approx(figure.value), name
        assert copies[name].std == pytest.approx(figure.std), name
        assert (copies[name].low, copies[name].high) == pytest.approx((figure.low, figure.high)), name
