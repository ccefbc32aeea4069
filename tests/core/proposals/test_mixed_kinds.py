"""Features of several columns and required features, through the one call that the pipeline makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.core.proposals.proposal import Proposal
from maskrank.core.proposals.registry import propose
from maskrank.core.proposals.screening import correlated_features, screen_single_features

from .mixed_tables import Mixed, groups

CONFIG = DEFAULT.using(proposal__screening__residual_rounds=0)  # closed-form models alone


def proposal_of(rows: Rows, size: int, seed: int = 0) -> Proposal:
    task = RegressionTask() if rows.y.is_floating_point() else BinaryTask()
    return propose(task, rows, size, config=CONFIG, generator=torch.Generator().manual_seed(seed))


def parity(table: Mixed, feature: int) -> np.ndarray:
    """0 or 1 for each level of a category, at random and in equal shares; for a number, its sign."""
    k, values = table.n_levels[feature], table.values[feature]
    return table.rng.permutation(np.arange(k) % 2)[values.astype(int)] if k else (values > 0).astype(int)


@pytest.mark.parametrize("first", [(2, 2), (5, 0), (20, 0), (8, 5), (12, 20)])
def test_a_pair_that_matters_only_together_comes_first(first: tuple[int, int]) -> None:
    table = Mixed.draw(1, first=first)
    y = parity(table, 0) ^ parity(table, 1)
    proposal = proposal_of(table.rows(np.where(table.rng.random(len(y)) < 0.1, 1 - y, y)), 2)
    assert proposal.groups[0] == (0, 1)
    assert next(iter(proposal.evidence)) == (0, 1)


def test_a_category_and_the_size_of_a_number_are_a_pair() -> None:
    table = Mixed.draw(2, d=60, first=(5, 0))
    y = parity(table, 0) ^ (np.abs(table.values[1]) > 0.67)
    assert (0, 1) in proposal_of(table.rows(y.astype(np.int64)), 2).evidence


def test_two_members_of_larger_groups_are_a_pair_of_the_groups() -> None:
    rows, _ = groups(3, n=700, d=40)
    x = rows.all().dense()
    y = (x[:, int(rows.blocks.starts[5]) + 1] * x[:, int(rows.blocks.starts[9]) + 2] > 0).long()
    proposal = proposal_of(Rows(x, y, rows.blocks), 2)
    assert proposal.groups[0] == (5, 9)


def level_effects(table: Mixed) -> np.ndarray:
    effects = table.rng.permutation(np.resize([0.0, 1.0, 2.0], 50))[table.values[0].astype(int)]
    return np.asarray(effects + table.rng.standard_normal(len(effects)))


def few_levels(table: Mixed) -> np.ndarray:
    return np.asarray(2.0 * (table.values[0] < 2) + table.rng.standard_normal(len(table.values[0])))


def missingness(table: Mixed) -> np.ndarray:
    return np.asarray((table.rng.random(len(table.missing[0])) < np.where(table.missing[0], 0.8, 0.4)).astype(np.int64))


@pytest.mark.parametrize(("first", "target"), [(50, level_effects), (50, few_levels), (0, missingness)])
def test_a_single_feature_is_seen_by_all_its_columns_or_by_one(
    first: int, target: Callable[[Mixed], np.ndarray]
) -> None:
    table = Mixed.draw(4, first=(first,))
    proposal = proposal_of(table.rows(target(table)), 2)
    assert proposal.groups[0] == (0,)
    assert (0,) in proposal.evidence
    assert proposal.univariate is not None
    assert proposal.univariate.argmax() == 0


def six_effects(seed: int) -> tuple[Mixed, np.ndarray]:
    table = Mixed.draw(seed, first=(0, 0, 5, 12, 2, 0))
    v, rng = table.values, table.rng
    y = v[0] + 1.2 * np.abs(v[1]) + rng.standard_normal(5)[v[2].astype(int)] + rng.standard_normal(12)[v[3].astype(int)]
    return table, y + 2 * v[4] + 2 * table.missing[5] + 0.7 * rng.standard_normal(len(y))


def test_features_of_mixed_kinds_come_first() -> None:
    table, y = six_effects(5)
    proposal = proposal_of(table.rows(y), 6)
    assert set(range(6)) <= set(proposal.significant)
    assert {j for group in proposal.groups[:6] for j in group} == set(range(6))
    assert len(proposal.significant) <= 8


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_weak_members_come_first(seed: int) -> None:
    rows, relevant = groups(seed, d=60)
    proposal = proposal_of(rows, 4)
    assert {j for group in proposal.groups[:4] for j in group} == set(relevant)


def test_nothing_is_significant_where_there_is_nothing() -> None:
    found = []
    for seed in range(10):
        table = Mixed.draw(seed, n=300, d=40)
        for y in (table.rng.standard_normal(300), (table.rng.random(300) < 0.1).astype(np.int64)):
            found.append(bool(proposal_of(table.rows(y), 3).evidence))
    assert sum(found) <= 4


def test_groups_of_one_column_give_the_answer_without_groups(generator: torch.Generator) -> None:
    x = torch.randn((300, 40), generator=generator)
    y = (x[:, 3] * x[:, 7] + x[:, 9] > 0).long()
    plain, grouped = proposal_of(Rows(x, y), 4), proposal_of(Rows(x, y, Blocks.of_widths([1] * 40)), 4)
    assert plain.evidence == grouped.evidence
    assert plain.groups == grouped.groups


def test_an_indicator_has_no_curve_and_needs_less_evidence_for_it(generator: torch.Generator) -> None:
    x = torch.randint(2, (400, 20), generator=generator).float()
    y = x[:, :1] + torch.randn((400, 1), generator=generator)
    numbers, flags = (
        screen_single_features(RegressionTask(), Rows(x, y, Blocks.of_widths([1] * 20, [kind] * 20)), CONFIG_SCREENING)
        for kind in (True, False)
    )
    assert float(flags[0] - numbers[0]) == pytest.approx(np.log(2), rel=1e-3)


CONFIG_SCREENING = CONFIG.proposal.screening


def with_required(seed: int = 6) -> tuple[Mixed, np.ndarray]:
    """Features 0 and 1 tell what the required category and number tell, feature 2 tells more."""
    table = Mixed.draw(seed, d=30, gaps=0.0, first=(4, 0, 0, 4, 0))
    table.values[0] = np.where(table.rng.random(1000) < 0.2, table.values[0], table.values[3])
    table.values[1] = table.values[4] + 0.5 * table.values[1]
    y = np.array([2.0, -2.0, 1.0, 0.0])[table.values[3].astype(int)] + 2 * table.values[4] ** 2 + 2 * table.values[4]
    return table, y + 0.5 * table.values[2] + table.rng.standard_normal(1000)


def test_evidence_is_what_a_feature_adds_beyond_the_required_ones() -> None:
    table, y = with_required()
    order = [j for j in range(30) if j not in (3, 4)] + [3, 4]
    without, beyond = (proposal_of(table.rows(y, n_required=n, order=order), 3) for n in (0, 2))
    assert {(0,), (1,)} <= without.evidence.keys()
    assert beyond.significant == [2]
    assert beyond.univariate is not None
    assert len(beyond.univariate) == 28
    assert (beyond.univariate[:2] < 0).all()
    named = {j for group in beyond.groups for j in group} | set(beyond.pool.tolist()) | set(beyond.linear_order)
    assert max(named) < 28


@pytest.mark.parametrize("required", [6, 0])
def test_a_pair_with_a_required_feature_proposes_the_other(required: int) -> None:
    table = Mixed.draw(7, d=60, first=(3, required))
    y = parity(table, 0) ^ parity(table, 1)
    order = [0, *range(2, 60), 1]
    proposal = proposal_of(table.rows(y.astype(np.int64), n_required=1, order=order), 2)
    assert proposal.groups[0] == (0,)
    assert proposal.significant == [0]


def test_a_group_that_the_significant_features_predict_is_correlated(generator: torch.Generator) -> None:
    blocks = Blocks.of_widths([2, 3, 1, 4, 2])
    x = torch.randn((400, 12), generator=generator)
    x[:, 6] = x[:, 0] + x[:, 1]  # of feature 3
    found = correlated_features(
        Rows(x, x[:, :1], blocks), [0], max_features=3, config=CONFIG_SCREENING, generator=generator
    )
    assert found == [3]
