from __future__ import annotations

from dataclasses import replace

import torch

from maskrank.core.config import DEFAULT, PAPER
from maskrank.core.exploration import HintedExploration, UniformExploration
from maskrank.core.losses import BinaryTask
from maskrank.core.plan import plan_search
from maskrank.core.rows import Rows


def rows_of(d: int, n: int = 300) -> Rows:
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, d), generator=g)
    return Rows(x, (x[:, d - 1] * x[:, d - 2] > 0).long())


def test_the_paper_tries_all_features_uniformly() -> None:
    plan = plan_search(BinaryTask(), rows_of(400), 3, config=PAPER, generator=torch.Generator())
    assert plan.tried.tolist() == list(range(400))
    assert isinstance(plan.exploration, UniformExploration)
    assert not plan.hint.units


def test_of_many_features_the_hinted_ones_and_some_by_lot_are_tried() -> None:
    def plan(seed: int) -> object:
        return plan_search(BinaryTask(), rows_of(400), 3, config=DEFAULT, generator=torch.Generator().manual_seed(seed))

    first, again, other = plan(0), plan(0), plan(1)
    assert torch.equal(first.tried, again.tried)
    assert (first.tried.diff() > 0).all()
    assert len(first.tried) < 200
    assert {398, 399} <= set(first.tried.tolist())
    assert isinstance(first.exploration, HintedExploration)
    hinted = set(first.tried[first.hint.features].tolist())
    by_lot = set(first.tried.tolist()) - hinted
    assert len(by_lot) >= len(hinted) // 4
    assert not by_lot <= set(other.tried.tolist())


def test_of_few_features_all_are_tried() -> None:
    plan = plan_search(BinaryTask(), rows_of(20), 3, config=DEFAULT, generator=torch.Generator())
    assert plan.tried.tolist() == list(range(20))
    assert plan.hint.units[0] == (18, 19)


def test_without_screens_there_is_no_hint() -> None:
    config = replace(DEFAULT, screens=False)
    assert not plan_search(BinaryTask(), rows_of(40), 3, config=config, generator=torch.Generator()).hint.units
