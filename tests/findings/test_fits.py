"""The answers of comparisons, sweeps, studies and explanations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskrank import Explanation
from maskrank.findings import comparison_finding, explanation_finding, study_finding, sweep_finding
from maskrank.findings.comparisons import paired_error
from maskrank.report import comparison_report


def fits_of(key: str, scores: dict[Any, list[float]], metric: str = "accuracy", **more: Any) -> pd.DataFrame:
    lines = [
        {key: name, "fold": fold, "metric": metric, "score": score, "seconds": 1.0, "selected": [0], **more}
        for name, of_folds in scores.items()
        for fold, score in enumerate(of_folds)
    ]
    return pd.DataFrame(lines)


FOLDS = [0.90, 0.91, 0.92, 0.90, 0.91]
COMPARISONS: dict[str, tuple[dict[str, list[float]], str, tuple[str, ...], tuple[str, ...], str]] = {
    "one is best": (
        {"a": [0.80, 0.81, 0.82, 0.80, 0.81], "b": FOLDS},
        "accuracy",
        ("b",),
        (
            "b is best for y: its accuracy is 0.908 on average over 5 folds",
            "0.100 ± 0.000 higher than that of a, the",
        ),
        "clear",
    ),
    "two are equal": (
        {"a": FOLDS, "b": FOLDS},
        "accuracy",
        ("a", "b"),
        ("a and b are tied for y", "0.908,"),
        "unclear",
    ),
    "two are tied": (
        {"a": [0.90, 0.93, 0.91, 0.94, 0.90], "b": [0.93, 0.90, 0.92, 0.90, 0.93], "c": [0.1] * 5},
        "accuracy",
        ("a", "b"),
        ("a and b are tied for y (accuracy 0.916", "c is behind."),
        "unclear",
    ),
    "all are tied": (
        {"a": FOLDS, "b": FOLDS, "c": FOLDS},
        "accuracy",
        ("a", "b", "c"),
        ("a, b and c are tied for y (accuracy 0.908",),
        "unclear",
    ),
    "likely": (
        {"a": [0.90, 0.90, 0.90, 0.90, 0.90], "b": [0.93, 0.93, 0.90, 0.90, 0.93]},
        "accuracy",
        ("b",),
        ("b is best", "less than two standard errors"),
        "likely",
    ),
    "lower is better": (
        {"a": [2.0, 2.1, 2.0], "b": [1.0, 1.1, 1.0]},
        "mse",
        ("b",),
        ("b is best for y: its mean squared error is 1.033 on average over 3 folds, 1.000 ± 0.000 lower",),
        "clear",
    ),
    "unsure, but behind one that is not tied": (
        {"a": [0.90, 0.91], "b": [0.80, 0.81], "c": [0.95, 0.5]},
        "accuracy",
        ("a",),
        ("a is best for y",),
        "clear",
    ),
    "one fold": ({"a": [0.9], "b": [0.8]}, "accuracy", ("a", "b"), ("One fold can't tell which method",), "unclear"),
    "one method": ({"a": FOLDS}, "accuracy", ("a",), ("there is nothing to compare it with",), "untested"),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_the_answer_of_a_comparison(name: str) -> None:
    scores, metric, best, words, certainty = COMPARISONS[name]
    fits = fits_of("method", scores, metric)
    found = comparison_finding(fits, "y")
    assert set(found.best) == set(best)
    assert found.certainty == certainty
    for text in words:
        assert text in found.answer
    page = comparison_report(found, fits, ["x"], [], command="c", csv="")
    assert page.count('<tr class="best">') == len(best)  # what is bold is what the sentence calls best


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=2, max_size=5))
def test_what_is_called_best_is_never_behind_and_equal_methods_are_tied(scores: list[list[float]]) -> None:
    named = {f"m{i}": folds for i, folds in enumerate([*scores, scores[0]])}  # the last is the first's equal
    found = comparison_finding(fits_of("method", named), "y")
    assert ("m0" in found.best) == (f"m{len(scores)}" in found.best)
    assert ("tied" in found.answer) == (len(found.best) > 1)
    means = {name: np.mean(folds) for name, folds in named.items()}
    assert max(means, key=lambda name: means[name]) in found.best or max(means.values()) == max(
        means[name] for name in found.best
    )


def test_a_run_that_was_stopped_says_so() -> None:
    fits = fits_of("method", {"a": FOLDS, "b": FOLDS[:3]})
    assert "missing" not in comparison_finding(fits, "y").answer
    said = comparison_finding(fits, "y", expected={"a": 5, "b": 5, "c": 5}).answer
    assert said.endswith("Fits of b and c are missing, so this is not the whole comparison.")
    assert "Fits are missing" in sweep_finding(fits_of("size", {1: FOLDS}), "y", 9, complete=False).answer


def test_a_method_that_predicts_from_all_features_is_said_to() -> None:
    fits = fits_of("method", {"a": WORSE, "rf": FOLDS})
    assert comparison_finding(fits, "y", of_all=["rf"]).answer.endswith(
        "rf predicts from all features, not from the chosen ones."
    )
    assert "all features" not in comparison_finding(fits, "y", of_all=["a"]).answer


def test_the_error_of_differences_allows_for_shared_training_rows() -> None:
    apart = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    assert paired_error(apart) == pytest.approx(1.5 * apart.std(ddof=1) / np.sqrt(5))  # 1/5 + 1/4 in place of 1/5
    assert paired_error(apart[:1]) == np.inf


@pytest.mark.parametrize(
    ("scores", "words", "certainty"),
    [
        (
            {1: [0.5, 0.6], 2: [0.80, 0.84], 5: [0.80, 0.86]},
            ("Two of nine features are enough for y: accuracy 0.820",),
            "clear",
        ),
        (
            {1: [0.5, 0.5], 2: [0.80, 0.81], 5: [0.90, 0.91]},
            ("Five of nine features", "largest size", "may be better"),
            "clear",
        ),
        ({2: [0.9, 0.9], 5: [0.5, 0.5]}, ("no fewer were tried",), "clear"),
        ({1: [0.1, 0.1], 2: [0.9, 0.9], 5: [0.5, 0.5]}, ("is the best, and fewer are worse",), "clear"),
        ({3: [0.9, 0.9]}, ("no other size was tried",), "untested"),
        ({1: [0.9], 2: [0.8]}, ("One of nine features is enough",), "unclear"),
    ],
)
def test_the_answer_of_a_sweep(scores: dict[int, list[float]], words: tuple[str, ...], certainty: str) -> None:
    found = sweep_finding(fits_of("size", scores), "y", 9)
    for text in words:
        assert text in found.answer
    assert found.certainty == certainty


def study(**of_data: dict[str, list[float]]) -> pd.DataFrame:
    parts = [fits_of("method", scores, data=data, size=5, seed=0) for data, scores in of_data.items()]
    return pd.concat(parts)


WORSE = [0.80, 0.81, 0.82, 0.80, 0.81]


def test_the_answer_of_a_study(tmp_path: Path) -> None:
    fits = study(
        A={"dualnet": FOLDS, "rf": WORSE}, B={"dualnet": FOLDS, "rf": FOLDS}, C={"dualnet": WORSE, "rf": FOLDS}
    )
    found = study_finding("x", [fits])
    assert found.title == "Study x: dualnet is best or tied on 2 of 3 data sets"
    assert found.answer.startswith(
        "On three data sets, dualnet is best on one (A), tied for the best on one (B) and behind"
    )
    assert found.answer.endswith("It is behind on C (accuracy 0.808 against 0.908 of rf).")
    alone = study_finding("x", [study(A={"dualnet": FOLDS})])
    assert alone.answer == "A (accuracy 0.908 by dualnet)."
    assert study_finding("x", []).certainty == "untested"


def explanation(means: list[float], *, n: int = 50, adjusted: float = 0.0, outputs: int = 1) -> Explanation:
    random = np.random.default_rng(0)
    values = np.array(means) * random.choice([-1, 1], (n, len(means))) * random.uniform(0.9, 1.1, (n, len(means)))
    base, adjustments = np.full(n, 2.0), np.full(n, adjusted)
    names: list[Any] = ["yes"] if outputs == 1 else list(range(outputs))
    parts = [values, base, base + values.sum(axis=1), adjustments]
    if outputs > 1:
        parts = [np.repeat(part[..., None], outputs, axis=-1) for part in parts]
    return Explanation(*parts, np.zeros_like(values), [f"f{i}" for i in range(len(means))], names, probabilities=False)


@pytest.mark.parametrize(
    ("explained", "words", "certainty"),
    [
        (
            explanation([20_000, 5, 1]),
            ("f0 moves the prediction most: by 20,", "over 50 rows; next are f1 (5."),
            "clear",
        ),
        (explanation([1, 1]), ("f0", "f1", "are tied over 50 rows"), "unclear"),
        (explanation([1, 1], outputs=3), ("move the predictions by about as much",), "unclear"),
        (explanation([0, 0]), ("No feature moves the prediction in the 50 rows.",), "none"),
        (explanation([3], n=1), ("f0 moves the prediction most: by", "over one row."), "clear"),
        (explanation([3, 1], adjusted=5.0), ("f0 moves", "so the values are approximate."), "clear"),
    ],
)
def test_the_answer_of_an_explanation(explained: Explanation, words: tuple[str, ...], certainty: str) -> None:
    found = explanation_finding(explained)
    for text in words:
        assert text in found.answer
    assert found.certainty == certainty
