from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.predictor.folds import count_folds, make_folds

CONFIG = DEFAULT.predictor


@pytest.mark.parametrize("n_folds", [3, 5])
def test_no_row_is_held_out_twice_and_each_fold_has_its_share_of_the_classes(
    n_folds: int, generator: torch.Generator
) -> None:
    y = torch.arange(100) % 2
    folds = make_folds(y, 80, n_folds=n_folds, config=CONFIG, generator=generator)
    assert len(folds) == n_folds
    assert folds.held_out[0].tolist() == list(range(80, 100))
    assert folds.held_out.shape == (n_folds, 20)
    assert len(set(folds.held_out.flatten().tolist())) == 20 * n_folds
    assert all(y[held].sum() == 10 for held in folds.held_out)
    for learned, held in zip(folds.learned.tolist(), folds.held_out.tolist(), strict=True):
        assert sorted(learned + held) == list(range(100))


def test_with_many_folds_fewer_rows_are_held_out_in_each_and_more_learned_from(generator: torch.Generator) -> None:
    folds = make_folds(torch.arange(100) % 2, 80, n_folds=10, config=CONFIG, generator=generator)
    assert [len(set(held.tolist())) for held in folds.held_out] == [20, *[9] * 8, 8]
    assert set(folds.held_out.flatten().tolist()) == set(range(100))
    for learned, held in zip(folds.learned, folds.held_out, strict=True):
        assert not set(learned.tolist()) & set(held.tolist())
        assert len(set(learned.tolist())) == 100 - len(set(held.tolist()))


def test_a_fold_of_fewer_rows_repeats_its_own_the_last_time_at_random() -> None:
    repeated = set()
    for seed in range(20):
        # The first fold holds out 5 validation rows, the others every second of 4 training rows.
        generator = torch.Generator().manual_seed(seed)
        folds = make_folds(torch.arange(9), 4, n_folds=3, config=CONFIG, generator=generator)
        first, second, third = folds.held_out.tolist()
        assert (first, second[:4], third[:4]) == ([4, 5, 6, 7, 8], [0, 2, 0, 2], [1, 3, 1, 3])
        repeated |= {second[4], third[4]}
    assert repeated == {0, 1, 2, 3}


def test_of_very_many_validation_rows_some_judge_and_none_is_learned_from(generator: torch.Generator) -> None:
    config = DEFAULT.using(predictor__max_judging_rows=4).predictor
    folds = make_folds(torch.zeros(30), 20, n_folds=1, config=config, generator=generator)
    assert folds.held_out.tolist() == [[20, 23, 26, 29]]
    assert folds.learned.tolist() == [list(range(20))]


@pytest.mark.parametrize(
    ("rows", "validation", "n_folds"),
    [
        (8, 2, 3),
        (24, 6, 5),
        (80, 20, 5),
        (150, 38, 5),
        (300, 75, 4),
        (410, 102, 3),
        (4000, 1000, 3),
        (20_000, 5_000, 1),
        (1, 1, 1),
    ],
)
def test_the_fewer_validation_rows_the_more_folds(rows: int, validation: int, n_folds: int) -> None:
    assert count_folds(rows, validation, CONFIG) == n_folds


def test_groups_of_many_validation_rows_judge_as_a_whole(generator: torch.Generator) -> None:
    config = PredictorConfig(max_judging_rows=10)
    groups = torch.arange(40) // 4
    folds = make_folds(
        torch.arange(100) % 2, 60, n_folds=1, config=config, generator=generator, validation_groups=groups
    )
    chosen = torch.zeros(40, dtype=torch.bool)
    chosen[folds.held_out[0] - 60] = True
    assert 0 < int(chosen.sum()) < 40
    assert all(len(chosen[groups == group].unique()) == 1 for group in groups.unique())
