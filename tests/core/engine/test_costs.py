"""The rules that choose a way: what they say at the ends, where there is no doubt."""

from __future__ import annotations

from maskrank.core.config import DEFAULT, PAPER_TABLES
from maskrank.core.data.rows import read_in_runs
from maskrank.core.engine.costs import dense_layer, dense_sum, step_flops, threads, update_by_rows


def test_a_few_of_many_features_are_gathered_and_nearly_all_are_not() -> None:
    assert not dense_layer(20_000, 50, 64, 32, 32)
    assert not dense_sum(20_000, 64, 50)
    assert dense_layer(784, 780, 500, 32, 32)
    assert dense_sum(784, 500, 780)
    assert dense_layer(10, 5, 64, 32, 32)


def test_wide_tables_are_updated_by_rows_and_narrow_ones_are_not() -> None:
    assert update_by_rows(1_000_000, 50, 64, 32)
    assert update_by_rows(20_264, 49, 1_000, 32)
    assert not update_by_rows(10, 5, 64, 32)
    assert not update_by_rows(784, 85, 500, 32)


def test_short_runs_are_copied_whole() -> None:
    assert read_in_runs(100, 50)
    assert not read_in_runs(1_000_000, 50)


def test_small_steps_run_on_one_thread() -> None:
    assert threads(step_flops(DEFAULT, 5, 4), available=8) == 1
    assert threads(step_flops(PAPER_TABLES["rna_seq"], 49, 5), available=8) == 8


def test_a_step_is_counted_forward_and_backward() -> None:
    """Two operations a weight and pair of row and subset forward, twice as many backward but for the inputs."""
    assert step_flops(DEFAULT, 5, 4) == 2 * (32 * 32) * (2 * 5 * 64 + 3 * 64 * 32 + 3 * 32 * 4)
