"""`DualNetSurvival`: forms of the target, what is found and predicted, model files, and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from maskrank import DualNetSurvival, load
from maskrank.estimators.hazards import CumulativeHazard, concordance_index, risk_groups
from maskrank.estimators.survival_target import read_survival
from maskrank.report import RankingSection, ranking_report
from maskrank.results import facts


@pytest.fixture(scope="module")
def patients() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hazard rises with the distance of x2 from 0, and falls with x5; a third is censored."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    death, end = rng.exponential(np.exp(-2 * np.abs(X[:, 2]) + 1.5 * X[:, 5])), rng.exponential(1.5, 300)
    return X, np.minimum(death, end), death <= end


@pytest.fixture(scope="module")
def fitted(patients: tuple[np.ndarray, np.ndarray, np.ndarray]) -> DualNetSurvival:
    X, time, event = patients
    return DualNetSurvival(2, max_batches=300, random_state=0).fit(X, (time, event))


def test_features_of_a_nonlinear_hazard_are_found(fitted: DualNetSurvival) -> None:
    assert set(fitted.result_.selected) == {"x2", "x5"}
    assert fitted.signal_
    assert fitted.validation_score_ > 0.7
    assert fitted.baseline_score_ == 0.5
    assert "deviance (D²)" in dict(facts(fitted, time="1 s"))["explained"]
    assert fitted.size_curve_.figure == "d2"


def test_higher_risks_have_earlier_events(fitted: DualNetSurvival, patients: Any) -> None:
    X, time, event = patients
    assert fitted.score(X, (time, event)) == concordance_index(event, time, fitted.predict(X))
    assert fitted.score(X, (time, event)) > 0.7
    near, far = np.zeros((1, 8)), np.zeros((1, 8))
    far[0, 2] = 2.0
    assert fitted.predict(far)[0] > fitted.predict(near)[0]


def test_survival_falls_from_1_and_agrees_with_the_hazard(fitted: DualNetSurvival, patients: Any) -> None:
    X, time, event = patients
    times = np.array([0.0, 0.2, 1.0, 3.0, 100.0])
    survival = fitted.predict_survival(X, times)
    assert survival.shape == (300, 5)
    assert (survival[:, 0] == 1).all()
    assert (np.diff(survival, axis=1) <= 0).all()
    np.testing.assert_allclose(-np.log(survival), fitted.predict_cumulative_hazard(X, times))
    beyond = fitted.predict_survival(X, [time[event].max(), 100.0])
    np.testing.assert_array_equal(beyond[:, 0], beyond[:, 1])


def test_as_many_events_are_expected_as_were_seen(fitted: DualNetSurvival, patients: Any) -> None:
    """A property of Breslow's estimator."""
    X, time, event = patients
    expected = sum(fitted.predict_cumulative_hazard(X[i : i + 1], time[i : i + 1])[0, 0] for i in range(len(X)))
    assert expected == pytest.approx(event.sum())


def test_a_loaded_model_predicts_the_same_bit_for_bit(fitted: DualNetSurvival, patients: Any, tmp_path: Path) -> None:
    X, time, event = patients
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, DualNetSurvival)
    assert np.array_equal(loaded.predict_survival(X, [0.5, 1.0]), fitted.predict_survival(X, [0.5, 1.0]))
    assert loaded.score(X, (time, event)) == fitted.score(X, (time, event))
    assert loaded.validation_score_ == fitted.validation_score_


def test_explanations_add_up_to_the_risk(fitted: DualNetSurvival, patients: Any) -> None:
    explained = fitted.explain(patients[0][:5])
    np.testing.assert_allclose(explained.base_values + explained.values.sum(axis=1), fitted.predict(patients[0][:5]))
    assert explained.output_names == ["risk"]
    assert not explained.probabilities


def test_the_split_keeps_the_share_of_events(patients: Any) -> None:
    """Of five events one is held out, whatever the seed: there is a pair to compare."""
    X, time, _ = patients
    rare = time <= np.sort(time)[4]
    for seed in range(4):
        model = DualNetSurvival(2, max_batches=16, random_state=seed).fit(X, (time, rare))
        assert np.isfinite(model.validation_score_)


def test_categories_gaps_groups_and_required_features() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((300, 6)), columns=list("abcdef"))
    frame["kind"] = rng.choice(["x", "y", "z"], 300)
    death = rng.exponential(np.exp(-2.0 * (frame["kind"] == "y") - frame["a"]))
    frame.loc[rng.random(300) < 0.1, "b"] = np.nan
    y = pd.DataFrame({"event": np.ones(300, dtype=bool), "time": death})
    model = DualNetSurvival(1, groups={"cd": ["c", "d"]}, required=["a"], max_batches=200, random_state=0)
    model.fit(frame, y)
    assert "kind" in model.result_.selected
    assert model.ranking_[0] == 0  # required
    assert model.predict_survival(frame, [0.5]).shape == (300, 1)


def _forms() -> dict[str, Any]:
    time, event = np.array([2.0, 1.0, 0.5]), np.array([True, False, True])
    fields = np.array(list(zip(event, time, strict=True)), dtype=[("cens", bool), ("days", float)])
    return {
        "structured": fields,
        "structured, time first": fields[["days", "cens"]],
        "pair": (time, event),
        "pair of lists": (time.tolist(), event.astype(int).tolist()),
        "array": np.column_stack([time, event]),
        "list of rows": np.column_stack([time, event]).tolist(),
        "pandas": pd.DataFrame({"Event": event.astype(int), "Time": time}),
        "pandas, one name": pd.DataFrame({"died": event.astype(int), "time": time}),
        "pandas, truth values": pd.DataFrame({"died": event, "days": time}),
        "pandas, other names": pd.DataFrame({"days": time, "died": event.astype(int)}),
        "polars": pl.DataFrame({"event": event, "time": time}),
    }


@pytest.mark.parametrize("form", _forms())
def test_the_target_is_read_in_every_form(form: str) -> None:
    np.testing.assert_array_equal(read_survival(_forms()[form]), [[1, 2.0], [0, 1.0], [1, 0.5]])


ONES = np.ones(4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ((ONES, [0, 1, 2, 1]), "holds the event 2: events are 0 and 1"),
        ((ONES, [0, 1, np.nan, 1]), "holds the event nan"),
        (([1, 2, -3, 4], ONES), "holds the time -3: times are finite and 0 or more"),
        (([1, 2, np.nan, 4], ONES), "holds the time nan"),
        (([1, 2, np.inf, 4], ONES), "holds the time inf"),
        ((ONES, 0 * ONES), "no event: every row is censored"),
        ((ONES, [1, 0, 0, 0]), "holds one event: at least 2 are needed"),
        ((ONES, ONES[:3]), "both must be"),
        (ONES, "two columns, the time and the event"),
        (ONES.reshape(-1, 1), "two columns, the time and the event"),
        (pd.DataFrame({"time": ONES}), "two columns, the time and the event; it has 1"),
        (np.zeros(4, dtype=[("a", float), ("b", float)]), "one of truth values and one of times"),
        ((["a"] * 4, ONES), "the time must hold numbers"),
    ],
)
def test_bad_targets_are_named_in_a_line(y: Any, message: str) -> None:
    X = np.random.default_rng(0).standard_normal((4, 3))
    with pytest.raises(ValueError, match=message) as error:
        DualNetSurvival(2).fit(X, y)
    assert "\n" not in str(error.value)


def test_validation_rows_without_events_are_refused(patients: Any) -> None:
    X, time, event = patients
    with pytest.raises(ValueError, match="validation rows hold no event"):
        DualNetSurvival(2).fit(X, (time, event), X_val=X[~event], y_val=(time[~event], event[~event]))


def test_the_hazard_of_nelson_and_aalen_by_hand() -> None:
    """Events at 1 (of 4 at risk), at 2 (two of 3), and a censored row at 3."""
    hazard = CumulativeHazard.learn(np.array([1, 1, 1, 0]), np.array([1.0, 2.0, 2.0, 3.0]))
    np.testing.assert_allclose(hazard.at(np.array([0.5, 1.0, 1.5, 2.0, 9.0])), [0, 1 / 4, 1 / 4, 11 / 12, 11 / 12])
    early = hazard.apply(np.array([[1.0, 0.5], [0.0, 0.5]]))
    np.testing.assert_allclose(early, [[1, 1 / 4], [0, 0]])


def test_weights_of_a_hazard_count_rows() -> None:
    event, time, weights = np.array([1, 0, 1, 1]), np.array([1.0, 2.0, 2.0, 3.0]), np.array([2, 1, 3, 1])
    weighted = CumulativeHazard.learn(event, time, weights=weights)
    repeated = CumulativeHazard.learn(event.repeat(weights), time.repeat(weights))
    np.testing.assert_allclose(weighted.values, repeated.values)


@pytest.mark.parametrize(
    ("event", "time", "risk", "index"),
    [
        ([1, 1, 1], [1, 2, 3], [3, 2, 1], 1.0),
        ([1, 1, 1], [1, 2, 3], [1, 2, 3], 0.0),
        ([1, 1, 1], [1, 2, 3], [1, 1, 1], 0.5),
        ([0, 1, 1], [1, 2, 3], [0, 2, 1], 1.0),  # the first is censored before all others: not comparable
        ([1, 0], [2, 2], [2, 1], 1.0),  # censored at the time of an event: it lived longer
        ([1, 1, 0], [2, 2, 3], [1, 3, 2], 0.5),  # two events at one time are not compared
        ([1, 0, 1, 1], [1, 2, 3, 4], [2, 5, 2, 1], 2.5 / 4),
    ],
)
def test_concordance_by_hand(event: Any, time: Any, risk: Any, index: float) -> None:
    assert concordance_index(*(np.array(some, dtype=float) for some in (event, time, risk))) == index


def test_concordance_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(0)
    time, risk = rng.integers(0, 12, 150).astype(float), rng.integers(0, 9, 150).astype(float)
    event, weights = rng.integers(0, 2, 150), rng.integers(1, 4, 150)
    after = (time[:, None] < time) | ((time[:, None] == time) & (event == 0))
    pairs = np.outer(weights, weights) * (event[:, None] == 1) * after
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    assert concordance_index(event, time, risk, weights) == pytest.approx((pairs * right).sum() / pairs.sum())


def test_concordance_without_comparable_rows_is_not_a_number() -> None:
    assert np.isnan(concordance_index(np.zeros(3), np.arange(3.0), np.arange(3.0)))


def test_survival_curves_of_risk_groups_are_those_of_kaplan_and_meier_and_are_in_the_report() -> None:
    """By hand: of three rows one has its event at 1; at 2 one is censored; the last has its event at 3."""
    alone = risk_groups(np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0]), np.zeros(3))
    assert [group.name for group in alone] == ["all rows"]
    assert alone[0].times.tolist() == [1.0, 3.0]
    assert alone[0].survival.tolist() == pytest.approx([2 / 3, 0.0])

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    death, end = rng.exponential(np.exp(-2 * X[:, 1])), rng.exponential(2, 300)
    model = DualNetSurvival(1, max_batches=100, random_state=0).fit(X, (np.minimum(death, end), death <= end))
    low, medium, high = model.risk_groups_
    assert low.n + medium.n + high.n == model.n_validation_
    at_half = [float(group.survival[group.times <= 0.5].min(initial=1.0)) for group in (low, medium, high)]
    assert at_half == sorted(at_half, reverse=True)
    assert at_half[0] > at_half[2] + 0.3
    page = ranking_report("Survival", [RankingSection("time", model, [], 1.0)], command="")
    assert f"high risk: {high.n_events} events in {high.n} rows" in page
