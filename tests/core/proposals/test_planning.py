from __future__ import annotations

from unittest import mock

import pytest
import torch

from maskrank.core.config import DEFAULT, PAPER
from maskrank.core.data.rows import Rows
from maskrank.core.method.exploration import HintedExploration, UniformExploration
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.proposals import planning as plan
from maskrank.core.proposals.planning import plan_search


def rows_of(d: int, n: int = 300) -> Rows:
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, d), generator=g)
    return Rows(x, (x[:, d - 1] * x[:, d - 2] > 0).long())


def test_the_paper_tries_all_features_uniformly() -> None:
    planned = plan_search(BinaryTask(), rows_of(400), 3, config=PAPER, generator=torch.Generator())
    assert planned.tried.tolist() == list(range(400))
    assert isinstance(planned.exploration, UniformExploration)
    assert not planned.hint.units


def test_of_many_features_the_hinted_ones_and_some_by_lot_are_tried() -> None:
    def planned(seed: int) -> plan.Plan:
        return plan_search(BinaryTask(), rows_of(400), 3, config=DEFAULT, generator=torch.Generator().manual_seed(seed))

    first, again, other = planned(0), planned(0), planned(1)
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
    planned = plan_search(BinaryTask(), rows_of(20), 3, config=DEFAULT, generator=torch.Generator())
    assert planned.tried.tolist() == list(range(20))
    assert planned.hint.units[0] == (18, 19)


def test_without_screens_there_is_no_hint() -> None:
    config = DEFAULT.using(proposal__enabled=False)
    assert not plan_search(BinaryTask(), rows_of(40), 3, config=config, generator=torch.Generator()).hint.units


@pytest.mark.parametrize(("size", "screened"), [(14, True), (15, False), (39, False)])
def test_nothing_is_screened_where_the_features_are_not_many_against_the_chosen(size: int, screened: bool) -> None:
    planned = plan_search(BinaryTask(), rows_of(40), size, config=DEFAULT, generator=torch.Generator())
    assert bool(planned.hint.units) == screened


def plenty(n: int, d: int) -> Rows:
    """Thirty features that tell a little each."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, d), generator=g)
    return Rows(x, (x[:, :30].sum(dim=1) + torch.randn(n, generator=g) > 0).long())


def test_where_clear_features_are_plenty_an_elimination_proposes_and_the_search_is_short() -> None:
    rows = plenty(1500, 60)
    planned = plan_search(BinaryTask(), rows, 6, config=DEFAULT, generator=torch.Generator().manual_seed(0))
    assert set(planned.tried[planned.hint.left[:6]].tolist()) <= set(range(30))
    assert planned.shortened(DEFAULT).max_batches == DEFAULT.phase1_batches + 120
    assert planned.shortened(DEFAULT.using(phase1_batches=900)).max_batches == 1020  # Phase II is left its time
    assert not planned.may_choose_again(rows)  # there are rows enough
    few = plan_search(BinaryTask(), rows_of(40), 3, config=DEFAULT, generator=torch.Generator().manual_seed(0))
    assert few.shortened(DEFAULT) == DEFAULT


def test_without_a_proposal_plenty_of_clear_features_are_looked_at_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskrank.core.proposals.backward_elimination._MOST_LINES", 50)
    with mock.patch.object(plan, "crossfit", wraps=plan.crossfit) as nets:
        planned = plan_search(
            BinaryTask(), plenty(1500, 60), 6, config=DEFAULT, generator=torch.Generator().manual_seed(0)
        )
    assert nets.called
    assert not planned.hint.left


def test_what_small_nets_leave_unexplained_is_looked_at_again() -> None:
    rows = rows_of(40)
    with mock.patch.object(plan, "screen_again", wraps=plan.screen_again) as again:
        plan_search(BinaryTask(), rows, 3, config=DEFAULT, generator=torch.Generator().manual_seed(0))
    _, index, unexplained, hint = again.call_args_list[0].args
    assert (38, 39) in hint.clear
    assert unexplained.shape == (len(index), 1)
    targets = rows.y[index].float()
    assert float((unexplained[:, 0] - targets + targets.mean()).abs().mean()) > 0.3  # not the target itself
    assert float(unexplained.square().mean()) < 0.15  # the pair explains most of a variance of 0.25
    with mock.patch.object(plan, "screen_again", side_effect=AssertionError):
        plan_search(BinaryTask(), rows_of(12), 3, config=DEFAULT, generator=torch.Generator())
        plan_search(BinaryTask(), rows_of(40), 20, config=DEFAULT, generator=torch.Generator())


def test_few_rows_are_no_reason_to_fail() -> None:
    g = torch.Generator().manual_seed(0)
    for n in (2, 5, 12):
        rows = Rows(torch.randn((n, 50), generator=g), torch.arange(n) % 2)
        assert len(plan_search(BinaryTask(), rows, 3, config=DEFAULT, generator=g).tried) >= 3
