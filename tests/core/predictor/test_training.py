from __future__ import annotations

import pytest
import torch
from torch import nn

from maskrank.core import limits
from maskrank.core.config import DEFAULT
from maskrank.core.config.predictor import Recipe
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.operators import MaskedModule, Operator, SubsetMLP
from maskrank.core.method.tasks import BinaryTask, RegressionTask, Task, subset_losses
from maskrank.core.predictor.cycles import train_cycles
from maskrank.core.predictor.folds import make_folds
from maskrank.core.predictor.members import start_members
from maskrank.core.predictor.training import FittedPredictor, fine_tune, fit_predictor, make_predictor
from maskrank.core.recorder import Progress

SUBSET = torch.tensor([0, 2, 3])
ALL = torch.ones(3, dtype=torch.bool)


def some_rows(generator: torch.Generator, n: int = 80) -> tuple[Rows, Rows]:
    x = torch.randn((n, 5), generator=generator)
    y = (x[:, 0] * x[:, 2]).unsqueeze(1)
    return Rows(x[: n // 2], y[: n // 2]), Rows(x[n // 2 :], y[n // 2 :])


def test_members_look_at_the_useful_features_alone(generator: torch.Generator) -> None:
    rows, validation = some_rows(generator)
    config = DEFAULT.using(predictor__cycles=(40,))
    for useful in ([True, True, True], [False, True, False]):
        ensemble = fit_predictor(
            RegressionTask(), rows, validation, SUBSET, torch.tensor(useful), config=config, generator=generator
        )
        used = ensemble.predictor.weights[0].abs().sum(dim=2) > 0  # (members, s)
        assert used.tolist() == [useful] * (DEFAULT.predictor.n_recipes // 2)


def test_nets_learn_from_validation_rows_only_where_they_may_and_rows_are_not_very_many(
    generator: torch.Generator,
) -> None:
    """With targets of the validation rows that nothing in the training rows tells of."""
    x = torch.randn((100, 3), generator=generator)
    rows, validation = Rows(x[:80], torch.zeros((80, 1))), Rows(x[80:], torch.ones((20, 1)))

    def fit(*, learn_all: bool = False, most: int = DEFAULT.predictor.max_cross_fitted_rows) -> FittedPredictor:
        return fit_predictor(
            RegressionTask(),
            rows,
            validation,
            torch.arange(3),
            ALL,
            config=DEFAULT.using(predictor__cycles=(60,), predictor__max_cross_fitted_rows=most),
            generator=torch.Generator().manual_seed(3),
            learn_all=learn_all,
        )

    def mean(net: nn.Module) -> float:
        with torch.no_grad():
            return float(net(x[80:]).mean())

    apart, together = fit(), fit(learn_all=True)
    assert mean(together.predictor) > 0.15
    assert abs(mean(apart.predictor)) < 0.05
    assert abs(mean(together.held_out)) < 0.05
    torch.testing.assert_close(fit(learn_all=True, most=99).predictor(x), apart.predictor(x))


def test_memory_limits_do_not_change_the_predictor(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, validation = some_rows(generator)
    config, x = DEFAULT.using(predictor__cycles=(40,)), torch.randn((20, 3), generator=generator)

    def predicted() -> torch.Tensor:
        again = torch.Generator().manual_seed(3)
        fitted = fit_predictor(
            RegressionTask(),
            rows,
            validation,
            SUBSET,
            ALL,
            config=config,
            generator=again,
            learn_all=True,
        )
        return fitted.predictor(x)

    whole = predicted()
    monkeypatch.setattr(limits, "JUDGED", 1)
    monkeypatch.setattr(limits, "ENCODED", 1)
    torch.testing.assert_close(predicted(), whole)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_a_handful_of_rows_is_enough(n: int, generator: torch.Generator) -> None:
    x = torch.randn((n, 5), generator=generator)
    rows, validation = Rows(x[:-1], x[:-1, :1]), Rows(x[-1:], x[-1:, :1])
    config = DEFAULT.using(predictor__cycles=(20,))
    fitted = fit_predictor(
        RegressionTask(),
        rows,
        validation,
        SUBSET,
        ALL,
        config=config,
        generator=generator,
        learn_all=True,
    )
    assert fitted.predictor(x[:, SUBSET]).isfinite().all()


def test_an_additive_net_is_a_sum_of_nets_of_one_feature_each(generator: torch.Generator) -> None:
    """Also after training: what one feature changes does not depend on the others."""
    x = torch.randn((200, 3), generator=generator)
    y = (x[:, :1].sin() + x[:, 1:2].abs() + 0.1 * x[:, :1] * x[:, 2:]).float()
    fitted = fit_predictor(
        RegressionTask(),
        Rows(x[:160], y[:160]),
        Rows(x[160:], y[160:]),
        torch.arange(3),
        ALL,
        config=DEFAULT.using(
            predictor__cycles=(60, 60), predictor__n_recipes=2, predictor__recipes=(Recipe(decay=0.1, additive=True),)
        ),
        generator=generator,
        learn_all=True,
    )
    one, other = torch.randn((2, 50, 3), generator=generator)

    def change(rest: torch.Tensor) -> torch.Tensor:
        """By moving the first feature, beside some values of the rest."""
        there, here = (fitted.predictor(torch.cat([first[:, :1], rest[:, 1:]], dim=1)) for first in (one, other))
        return there - here

    torch.testing.assert_close(change(one), change(other), atol=1e-4, rtol=1e-3)
    assert change(one).std() > 0.1


def test_edges_in_the_target_are_met_by_encoded_nets_whose_bins_know_the_training_rows_alone(
    generator: torch.Generator,
) -> None:
    x = torch.rand((200, 1), generator=generator)
    x[160:] *= 2
    y = (4 * x).floor() % 2
    rows, validation = Rows(x[:160], y[:160]), Rows(x[160:], y[160:])
    config, only = DEFAULT.using(predictor__cycles=(100,)), torch.zeros(1, dtype=torch.long)
    alone = torch.ones(1, dtype=torch.bool)
    fitted = fit_predictor(
        RegressionTask(),
        rows,
        validation,
        only,
        alone,
        config=config,
        generator=generator,
        learn_all=True,
    )
    assert isinstance(fitted.predictor, StackedMLP)
    assert fitted.predictor.encoding is not None
    assert fitted.predictor.encoding.get_buffer("edges").max() <= x[:160].max()


class OneLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def test_fine_tuning_never_ends_worse_on_the_validation_rows(generator: torch.Generator) -> None:
    rows, validation = some_rows(generator)
    operator = MaskedModule(OneLayer(), torch.arange(5), 5)
    task = RegressionTask()
    before = float(subset_losses(operator, task, validation.all(), SUBSET.unsqueeze(0)).detach())
    told: list[Progress] = []
    wild = DEFAULT.using(operator_rate=30.0, predictor__cycles=(60,))
    fine_tune(operator, task, rows, validation, SUBSET, config=wild, generator=generator, callbacks=[told.append])
    after = float(subset_losses(operator, task, validation.all(), SUBSET.unsqueeze(0)).detach())
    assert after == pytest.approx(min(before, told[-1].validation))


@pytest.mark.parametrize("task", [RegressionTask(), BinaryTask()])
@pytest.mark.parametrize(("min_drop", "steps"), [(-1.0, 70), (2.0, 30)])
def test_another_cycle_begins_while_the_loss_falls_enough(
    min_drop: float, steps: int, task: Task, generator: torch.Generator
) -> None:
    """Numbers and classes have a threshold each. The cycle behind the trial comes in any case."""
    parts = some_rows(generator)
    if task.discrete:
        parts = tuple(Rows(part.all().dense(), (part.y[:, 0] > 0).long()) for part in parts)
    told: list[Progress] = []
    config = DEFAULT.using(
        predictor__cycles=(10, 20, 40),
        predictor__rate=1e-3,
        predictor__validate_every=5,
        predictor__min_drop=min_drop if task.discrete else 1 - min_drop,
        predictor__min_drop_regression=1 - min_drop if task.discrete else min_drop,
    )
    fit_predictor(task, *parts, SUBSET, ALL, config=config, generator=generator, callbacks=[told.append])
    assert told[-1].batch == steps
    assert {progress.max_batches for progress in told} == {70}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("n_recipes", [0, 4])
def test_recipes_train_new_nets_and_fine_tune_a_net_of_ones_own_and_without_them_the_operator_predicts(
    own: bool, n_recipes: int, generator: torch.Generator
) -> None:
    rows, validation = some_rows(generator)
    far_off = OneLayer()
    nn.init.constant_(far_off.layer.weight, 5.0)
    operator: Operator = (
        MaskedModule(far_off, torch.arange(5), 5)
        if own
        else SubsetMLP(Blocks.single(5), 1, hidden=(7,), activation="silu", fan_in=6, generator=generator)
    )
    before = {name: entry.clone() for name, entry in operator.state_dict().items()}
    made = make_predictor(
        operator,
        RegressionTask(),
        rows,
        validation,
        SUBSET,
        ALL,
        config=DEFAULT.using(predictor__cycles=(20,), predictor__n_recipes=n_recipes),
        generator=generator,
        learn_all=True,
    )
    changed = any(not torch.equal(entry, before[name]) for name, entry in operator.state_dict().items())
    assert changed == (own and n_recipes > 0)
    x = validation.all()
    exact = torch.allclose(made.predictor(x.columns(SUBSET.unsqueeze(0))[0]), operator(x, SUBSET.unsqueeze(0))[0])
    assert exact == (own or n_recipes == 0)
    assert (made.held_out is made.predictor) == exact


def test_validation_rows_that_contradict_do_not_choose_the_nets_that_they_judge(generator: torch.Generator) -> None:
    """Were a net kept at the moment that suits them best, it would not have learned what the training rows say."""
    x = torch.randn((68, 1), generator=generator)
    y = torch.where(torch.arange(68).unsqueeze(1) < 60, x, -x)
    slopes = {}
    for learn_all in (True, False):
        fitted = fit_predictor(
            RegressionTask(),
            Rows(x[:60], y[:60]),
            Rows(x[60:], y[60:]),
            torch.zeros(1, dtype=torch.long),
            torch.ones(1, dtype=torch.bool),
            config=DEFAULT.using(predictor__cycles=(100,), predictor__validate_every=1),
            generator=generator,
            learn_all=learn_all,
        )
        slopes[learn_all] = float((fitted.held_out(x).detach() * x).mean() / x.square().mean())
        assert fitted.unseen.all() == learn_all
    assert slopes[True] > 0.9
    assert slopes[False] < 0.8  # in a single fold they do choose the moment


def test_of_a_table_too_large_for_folds_half_of_the_validation_rows_choose_nothing(generator: torch.Generator) -> None:
    rows, validation = some_rows(generator)
    config = DEFAULT.using(predictor__cycles=(20,), predictor__max_cross_fitted_rows=70, predictor__min_judging_rows=20)
    fitted = fit_predictor(
        RegressionTask(), rows, validation, SUBSET, ALL, config=config, generator=generator, learn_all=True
    )
    assert fitted.unseen.tolist() == [False, True] * 20


def test_the_better_half_of_the_recipes_goes_on_from_cycle_to_cycle(generator: torch.Generator) -> None:
    """Nets of 8, then of 4, then of 2 recipes, of one fold each."""
    recipes = tuple(Recipe(decay=0.1 * (i + 1)) for i in range(8))
    config = DEFAULT.using(
        predictor__cycles=(4, 4, 4),
        predictor__recipes=recipes,
        predictor__n_recipes=8,
        predictor__min_drop_regression=-1.0,
    )
    rows, validation = some_rows(generator)
    x, y = torch.cat([rows.all().dense(), validation.all().dense()]), torch.cat([rows.y, validation.y])
    folds = make_folds(y, len(rows), n_folds=1, config=config.predictor, generator=generator)
    members = start_members(
        recipes,
        folds,
        None,
        torch.ones(x.shape[1], dtype=torch.bool),
        rows.blocks,
        n_outputs=1,
        activation="silu",
        config=config.predictor,
        generator=generator,
    )
    trained = train_cycles(
        members, RegressionTask(), x, y, folds, n_batch=8, config=config.predictor, generator=generator
    )
    assert (len(members), len(trained.members), trained.n_cycles) == (8, 2, 3)
