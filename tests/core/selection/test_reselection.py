"""Where rows are few, the features are chosen again with the rows that were held out."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest
import torch

from maskrank.core import pipeline as dual_net
from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import MulticlassTask
from maskrank.core.pipeline import DualNetResult, fit_dual_net
from maskrank.core.selection import reselection as again

N, D, SIZE = 80, 150, 6
CONFIG = DEFAULT.using(max_batches=40, phase1_batches=16, predictor__cycles=(40,), calibration__n_subsets=32)


def genes() -> tuple[Rows, Rows]:
    """Three classes that 60 of 150 features tell a little of each."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(N) % 3
    x = torch.randn((N, D), generator=g) + 1.2 * torch.randn((3, D), generator=g)[y] * (torch.arange(D) < 60)
    return Rows(x[:60], y[:60]), Rows(x[60:], y[60:])


@pytest.fixture(autouse=True)
def elimination_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever nets of forty steps say of it."""
    monkeypatch.setattr(dual_net, "hold_contest", lambda _, optimal, hint: torch.tensor(sorted(hint.left[:SIZE])))


def fitted(rows: Rows, validation: Rows, *, learn_all: bool, config: TrainConfig = CONFIG) -> DualNetResult:
    names = [str(j) for j in range(D)]
    return fit_dual_net(
        MulticlassTask(3),
        rows,
        validation,
        size=SIZE,
        config=config,
        generator=torch.Generator().manual_seed(1),
        names=names,
        learn_all=learn_all,
    )


def test_held_out_rows_take_part_in_the_choice_and_not_in_its_figure() -> None:
    rows, validation = genes()
    before, after = (fitted(rows, validation, learn_all=learn_all) for learn_all in (False, True))
    right = (after.held_out.argmax(dim=1) == validation.y).float().mean()
    assert right > 0.6
    with mock.patch.object(again, "eliminate", wraps=again.eliminate) as eliminated:
        fitted(rows, validation, learn_all=True)
    (parts, _), _ = eliminated.call_args
    assert [len(part) for part in parts] == [60, 20]
    assert before.ranking.support.tolist() != after.ranking.support.tolist()


def test_rows_of_the_users_own_take_no_part_in_the_choice() -> None:
    rows, validation = genes()
    with mock.patch.object(dual_net, "choose_again") as chosen_again:
        fitted(rows, validation, learn_all=False)
    assert not chosen_again.called


def test_the_chosen_are_those_that_are_scored_and_predicted_from() -> None:
    rows, validation = genes()
    result = fitted(rows, validation, learn_all=True)
    chosen = torch.as_tensor(result.ranking.order[:SIZE].copy()).sort().values
    assert result.ranking.support.nonzero()[0].tolist() == chosen.tolist()
    assert list(result.history.optimal[-1][1]) == chosen.tolist()
    x = torch.cat([part.all().dense() for part in (rows, validation)])
    y = torch.cat([rows.y, validation.y])
    assert (result.predictor(x[:, chosen]).argmax(dim=1) == y).float().mean() > 0.8


def test_nets_around_the_second_choice_are_trained_for_as_long_as_the_recipe_allows() -> None:
    """However short the search was: they begin anew."""
    config = replace(CONFIG, phase1_batches=20, max_batches=900)
    with mock.patch.object(again, "settle", wraps=again.settle) as settled:
        fitted(*genes(), learn_all=True, config=config)
    (trainer, _), options = settled.call_args
    assert trainer.config.max_batches == 900
    assert options == {"batches": 280}


def test_a_choice_that_the_elimination_lost_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual_net, "hold_contest", lambda _, optimal, hint: optimal)
    with mock.patch.object(dual_net, "choose_again") as chosen_again:
        fitted(*genes(), learn_all=True)
    assert not chosen_again.called


def test_rows_stay_parted_for_the_predictor() -> None:
    rows, validation = genes()
    tried, trainer, optimal = again.choose_again(
        MulticlassTask(3), rows, validation, size=SIZE, config=CONFIG, generator=torch.Generator().manual_seed(1)
    )
    assert (len(trainer.rows), len(trainer.validation)) == (60, 20)
    assert torch.equal(trainer.rows.all().dense(), rows.all().dense()[:, tried])
    assert len(optimal) == SIZE


def test_the_same_seed_gives_the_same_choice() -> None:
    first, second = (fitted(*genes(), learn_all=True) for _ in range(2))
    assert first.ranking.order.tolist() == second.ranking.order.tolist()
    assert torch.equal(first.held_out, second.held_out)
