"""Groups of rows: no group is on both sides of a split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.config import EncodingConfig
from maskrank.estimators.all_features import all_features_figures
from maskrank.estimators.derived import MeanTargets
from maskrank.estimators.encoding import TrainingRows, learn_encoding
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.kinds import InputColumn
from maskrank.estimators.row_groups import draw_groups, split_groups
from maskrank.estimators.stability import draw_rows


def near_copies() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five near copies of each of 60 subjects, whose labels are random."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(60), 5)
    X = rng.standard_normal((60, 6))[subject] + 0.02 * rng.standard_normal((300, 6))
    return X, rng.integers(0, 2, 60)[subject], subject


def test_the_figure_of_near_copies_is_honest_with_groups_and_inflated_without() -> None:
    """Nothing can be learned of another subject: any label is as likely as the other."""
    X, y, subject = near_copies()
    inflated, honest = (
        DualNetClassifier(3, max_batches=100, random_state=0).fit(X, y, groups=groups) for groups in (None, subject)
    )
    assert inflated.signal_
    assert not honest.signal_
    assert inflated.validation_score_ > 0.9 > 0.85 > honest.validation_score_
    assert inflated.result_.explained > 0.2 > 0.05 > honest.result_.explained
    of_all = all_features_figures(inflated, X, y), all_features_figures(honest, X, y, groups=subject)
    assert of_all[0]["accuracy"].value > 0.9 > 0.85 > of_all[1]["accuracy"].value


def test_numbers_of_near_copies_tell_nothing_of_other_subjects() -> None:
    X, _, subject = near_copies()
    y = np.random.default_rng(1).standard_normal(60)[subject]
    inflated, honest = (
        DualNetRegressor(3, max_batches=100, random_state=0).fit(X, y, groups=groups) for groups in (None, subject)
    )
    assert inflated.signal_
    assert not honest.signal_
    assert inflated.result_.explained > 0.3 > 0.05 > honest.result_.explained


def test_a_signal_across_groups_is_found_with_repeats_and_names_of_groups() -> None:
    rng = np.random.default_rng(0)
    subject = pd.Series([f"mouse {k}" for k in range(60)]).repeat(3).reset_index(drop=True)
    X = rng.standard_normal((180, 5))
    y = np.where(X[:, 2] + 0.3 * rng.standard_normal(180) > 0, "ill", "well")
    model = DualNetClassifier(1, n_repeats=2, max_batches=60, random_state=0).fit(X, y, groups=subject)
    assert model.get_support(indices=True) == [2]
    assert model.signal_
    assert model.stability_.consensus == ("x2",)


@given(
    sizes=st.lists(st.integers(1, 8), min_size=4, max_size=25),
    share=st.floats(0.1, 0.5),
    n_classes=st.integers(1, 4),
    seed=st.integers(0, 50),
)
def test_a_split_keeps_groups_whole_and_every_class_to_learn_from(
    sizes: list[int], share: float, n_classes: int, seed: int
) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.random.default_rng(seed).integers(0, n_classes, len(groups))
    try:
        training, validation = split_groups(groups, share, labels=labels, generator=torch.Generator().manual_seed(seed))
    except ValueError:
        alone = [set(labels[groups == g]) - set(labels[groups != g]) for g in range(len(sizes))]
        assert all(alone)
        return
    assert sorted([*training, *validation]) == list(range(len(groups)))
    assert not np.isin(groups[validation], groups[training]).any()
    assert set(labels) == set(labels[training])
    assert len(validation)


def test_a_split_has_its_share_of_rows_and_classes() -> None:
    groups = np.repeat(np.arange(100), 4)
    labels = (groups % 5 == 0).astype(int)
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        _, validation = split_groups(groups, 0.2, labels=labels, generator=generator)
        assert len(validation) == 80
        assert labels[validation].sum() == 16


def test_subsamples_take_whole_groups_and_two_of_each_class() -> None:
    groups, labels = np.repeat(np.arange(50), 4), np.repeat(np.arange(50) >= 48, 4).astype(int)
    for seed in range(10):
        rows = draw_rows(200, labels, np.random.default_rng(seed), groups)
        assert 150 <= len(rows) <= 176
        assert np.array_equal(rows, np.flatnonzero(np.isin(groups, groups[rows])))
        assert len(np.unique(groups[rows][labels[rows] == 1])) == 2
    assert len(draw_groups(np.array([0, 0, 0, 1]), None, 0.8, np.random.default_rng(0))) == 4


def test_mean_targets_are_weighted_and_learned_without_the_rows_own_group() -> None:
    rng = np.random.default_rng(0)
    levels, target = rng.integers(0, 4, 60).astype(float), rng.standard_normal((60, 2))
    counts, config = rng.integers(1, 4, 60), EncodingConfig(mean_prior=0.0)
    weighted = MeanTargets.learn(0, levels, 4, target, config, counts)
    repeated = MeanTargets.learn(0, levels.repeat(counts), 4, target.repeat(counts, axis=0), config)
    assert weighted.means == pytest.approx(repeated.means)

    groups = np.arange(60) // 6  # each has a level of its own: without it, the level has no mean
    own = groups.astype(float)
    table = FeatureTable(["level"], 1, kinds=(InputColumn("categorical", tuple(range(10))),))
    config = EncodingConfig(max_levels=2, mean_prior=1.0)
    columns = [
        learn_encoding(
            own[:, None], TrainingRows(np.arange(60), target, counts, some), table, standardize=True, config=config
        ).X[:, 1]
        for some in (None, groups)
    ]
    per_level = [len(np.unique(columns[1][groups == g].round(9))) for g in range(10)]
    assert per_level == [1] * 10
    assert len(np.unique(columns[1].round(9))) <= config.mean_folds < len(np.unique(columns[0].round(9)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(39), r"groups has shape \(39,\), and the data has 40 rows"),
        (np.zeros((40, 2)), r"groups has shape \(40, 2\)"),
        (np.zeros(40), "groups holds one value only"),
        (["a"] * 39 + [None], "groups has no value in 1 of 40 rows"),
        (np.arange(40) % 2, "groups: none can be held out"),
    ],
)
def test_groups_that_are_refused(groups: Any, message: str) -> None:
    X, y = np.random.default_rng(0).standard_normal((40, 4)), np.arange(40) % 2
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(2, max_batches=48, random_state=0).fit(X, y, groups=groups)


def test_rows_without_weight_have_no_group() -> None:
    X, y = np.random.default_rng(0).standard_normal((40, 4)), np.arange(40) % 2
    groups = np.where(np.arange(40) < 30, 0, 1)
    with pytest.raises(ValueError, match="groups holds one value only"):
        DualNetClassifier(2, max_batches=48, random_state=0).fit(X, y, np.arange(40) < 30, groups=groups)
    mixed: list[Any] = [1] * 20 + ["one"] * 20
    DualNetClassifier(2, max_batches=48, random_state=0).fit(X, y, groups=mixed)


@pytest.mark.parametrize("varies_within", [False, True])
def test_few_groups_tell_of_a_signal_and_random_labels_of_none(varies_within: bool) -> None:
    """20 groups of 20 rows; labels are those of the groups, or differ within them."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(20), 20)
    X = rng.standard_normal((20, 5))[subject] + (1.0 if varies_within else 0.05) * rng.standard_normal((400, 5))
    label = X[:, 1] > 0 if varies_within else (X[np.unique(subject, return_index=True)[1], 1] > 0)[subject]
    random = rng.integers(0, 2, 400) if varies_within else rng.integers(0, 2, 20)[subject]
    model = DualNetClassifier(2, max_batches=48, random_state=0)
    assert model.fit(X, label, groups=subject).signal_
    assert not model.fit(X, random, groups=subject).signal_
