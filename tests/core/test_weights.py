"""Weights and groups of rows in the stages of the core."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core.config import DEFAULT, ScreeningConfig
from maskrank.core.config.predictor import Recipe
from maskrank.core.data.features import Pool
from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import WeightedDraws
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, Task
from maskrank.core.predictor.ensemble_selection import greedy_selection
from maskrank.core.predictor.folds import Folds, count_folds, make_folds
from maskrank.core.predictor.members import Members
from maskrank.core.predictor.training import fit_predictor
from maskrank.core.proposals.backward_elimination import eliminate
from maskrank.core.proposals.cross_fitting import cross_fit, enough_rows
from maskrank.core.proposals.kernel_ridge import leave_one_out_error, squared_distances
from maskrank.core.proposals.proposal import Proposal, SearchPolicy
from maskrank.core.proposals.screening import Screen, screen, screen_residual, screen_single_features
from maskrank.core.proposals.statistics import target_directions, weighted_rows
from maskrank.core.scoring.scored_rows import cross_fitted_rows
from maskrank.core.scoring.size_curve import enough_features, size_curve, values_by_size
from maskrank.core.scoring.value_function import fit_value_function
from maskrank.core.selection.calibration import measured_losses
from maskrank.core.selection.reselection import reselect
from maskrank.core.selection.tournament import best_candidate, hold_tournament

QUICK = DEFAULT.using(score__min_steps=60, score__max_steps=60, score__further_steps=30)


def two_halves(generator: torch.Generator, n: int = 400) -> tuple[Tensor, Tensor, Tensor]:
    """Feature 0 decides in rows of weight 1, feature 1 in rows of weight 0.05."""
    x = torch.randn((n, 4), generator=generator)
    heavy = torch.arange(n) % 2 == 0
    return x, torch.where(heavy, x[:, 0], x[:, 1]), torch.where(heavy, 1.0, 0.05)


def one_label_a_group(generator: torch.Generator) -> Rows:
    """Thirty subjects of ten near copies each, with random labels: nothing can be learned of another subject."""
    groups = torch.arange(30).repeat_interleave(10)
    x = torch.randn((30, 6), generator=generator)[groups] + 0.02 * torch.randn((300, 6), generator=generator)
    return Rows(x, torch.randint(2, (30,), generator=generator)[groups], groups=groups)


def without_groups(rows: Rows) -> Rows:
    return Rows(rows.values, rows.y)


@pytest.mark.parametrize("task", [BinaryTask(), MulticlassTask(3), RegressionTask()])
def test_screens_of_weighted_rows_agree_with_those_of_repeated_rows(task: Task, generator: torch.Generator) -> None:
    x, counts = torch.randn((300, 20), generator=generator), torch.randint(1, 5, (300,), generator=generator)
    scores = x[:, 3] + 0.7 * x[:, 8] + 0.5 * x[:, 11] + torch.randn(300, generator=generator)
    y = {"binary": scores > 0, "multiclass": (scores > -1).int() + (scores > 1).int()}.get(task.kind)
    target = scores.unsqueeze(1).clamp(-3, 3) if y is None else y.long()
    x_repeated, y_repeated = (some.repeat_interleave(counts, dim=0) for some in (x, target))

    # The derivative of the weighted loss by each column is the same, up to the scale of the target.
    config = ScreeningConfig(clip=100.0)
    weighted = target_directions(task.as_numeric(target), config, counts)[:, :1]
    repeated = target_directions(task.as_numeric(y_repeated), config)[:, :1]
    if task.n_outputs == 1:
        ratio = (x.t() @ weighted) / (x_repeated.t() @ repeated)
        torch.testing.assert_close(ratio, ratio[:1].expand_as(ratio), rtol=1e-3, atol=0)

    screening = DEFAULT.proposal.screening
    order = screen_single_features(task, Rows(x, target, weights=counts.float()), screening)
    assert set(order.topk(3).indices.tolist()) == {3, 8, 11}
    of_copies = screen_single_features(task, Rows(x_repeated, y_repeated), screening)
    assert order.topk(3).indices.tolist() == of_copies.topk(3).indices.tolist()
    assert float(order.max()) < float(of_copies.max())  # copies are no evidence


def test_weights_that_have_nothing_to_do_with_the_table_make_no_evidence(generator: torch.Generator) -> None:
    false = 0
    for _ in range(40):
        x, y = torch.randn((100, 50), generator=generator), torch.randn((100, 1), generator=generator)
        weights = torch.rand(100, generator=generator).square() + 0.01
        evidence = screen_single_features(RegressionTask(), Rows(x, y, weights=weights), DEFAULT.proposal.screening)
        false += int(evidence.max() > 0)
    assert false <= 6  # of 400 such tables 15 have a feature above 0, and 25 without weights


def test_a_weighted_regression_is_an_ordinary_one_of_weighted_rows(generator: torch.Generator) -> None:
    columns, y = torch.randn((3, 50), generator=generator).double(), torch.randn(50, generator=generator).double()
    counts = torch.randint(1, 5, (50,), generator=generator)
    rows, target = weighted_rows(columns, counts), weighted_rows(y.unsqueeze(0), counts)
    repeated = columns.repeat_interleave(counts, dim=1), y.unsqueeze(0).repeat_interleave(counts, dim=1)
    expected = torch.corrcoef(torch.cat(repeated))
    torch.testing.assert_close(torch.cat([rows, target]) @ torch.cat([rows, target]).t(), expected)


def test_the_leave_one_out_error_of_weighted_rows_is_that_of_refits(generator: torch.Generator) -> None:
    x, y = torch.randn((12, 3), generator=generator).double(), torch.randn((12, 2), generator=generator).double()
    weights = torch.rand(12, generator=generator).double() + 0.2
    exponent, ridge = squared_distances(x) / 6, 0.3
    kernel = torch.exp(-exponent) + 1 / 12
    errors = []
    for out in range(12):
        kept = torch.arange(12) != out
        inside = kernel[kept][:, kept] + torch.diag(ridge / weights[kept])
        errors.append((y[out] - kernel[out, kept] @ torch.linalg.solve(inside, y[kept])).square().mean())
    expected = (torch.stack(errors) * weights).sum() / weights.sum()
    torch.testing.assert_close(leave_one_out_error(exponent, y, ridge=ridge, weights=weights), expected)


def test_cross_fitted_nets_learn_and_are_judged_by_weight(generator: torch.Generator) -> None:
    x, y, weights = two_halves(generator)
    rows = Rows(x, y.unsqueeze(1), weights=weights)
    fitted = cross_fit(
        RegressionTask(), rows, torch.tensor([[0], [1]]), config=DEFAULT, generator=generator, max_steps=150
    )
    assert fitted.weights is not None
    assert torch.equal(fitted.weights, weights[fitted.rows])
    heavy = fitted.weights == 1
    assert float(fitted.losses[0, heavy].mean()) < 0.2 < 0.8 < float(fitted.losses[1, heavy].mean())
    assert best_candidate(fitted.losses, torch.zeros(2), margin=0.5, weights=fitted.weights) == 0


def test_a_group_is_never_learned_from_and_judged(generator: torch.Generator) -> None:
    rows = one_label_a_group(generator)

    def losses(rows: Rows) -> Tensor:
        subsets = torch.arange(6).unsqueeze(0)
        fitted = cross_fit(BinaryTask(), rows, subsets, config=DEFAULT, generator=generator, max_steps=200)
        assert sorted(fitted.rows.tolist()) == list(range(300))
        assert bool(((fitted.residuals[0, :, 0] >= 0) == (rows.y[fitted.rows] == 1)).all())
        return fitted.losses

    assert float(losses(without_groups(rows)).mean()) < 0.3
    assert float(losses(rows).mean()) > 0.6
    alone = Rows(rows.values, rows.y, groups=torch.zeros(300, dtype=torch.long))
    assert not enough_rows(alone, DEFAULT.cross_fitting)


def test_of_many_rows_every_group_is_among_those_drawn(generator: torch.Generator) -> None:
    x, groups = torch.randn((500, 2), generator=generator), (torch.arange(500) >= 498).long()
    config = DEFAULT.using(cross_fitting__max_rows=30)
    fitted = cross_fit(
        BinaryTask(),
        Rows(x, (x[:, 0] > 0).long(), groups=groups),
        torch.tensor([[0]]),
        config=config,
        generator=generator,
        max_steps=5,
    )
    assert len(set(fitted.rows.tolist())) == 30
    assert torch.unique(groups[fitted.rows]).tolist() == [0, 1]


def test_weights_decide_between_candidates_models_and_moments() -> None:
    losses = torch.tensor([[0.0, 0.1, 0.0, 1.0], [1.0, 0.9, 1.0, 0.0]])
    assert best_candidate(losses, torch.zeros(2), margin=1.0) == 0
    assert best_candidate(losses, torch.zeros(2), margin=1.0, weights=torch.tensor([0.1, 0.1, 0.1, 5.0])) == 1
    outputs, y = torch.tensor([[[0.0], [0.0]], [[1.0], [1.0]]]), torch.tensor([[0.0], [1.0]])
    for weights, picked in (([2.0, 1.0], [1.0, 0.0]), ([1.0, 2.0], [0.0, 1.0])):
        found = greedy_selection(RegressionTask(), outputs, y, n_picks=1, weights=torch.tensor(weights))
        assert found.tolist() == picked
    nets = StackedMLP([torch.zeros((2, 1, 1))], [torch.tensor([0.0, 1.0]).view(2, 1, 1)], "silu")
    folds = Folds(torch.tensor([[0, 1], [2, 3]]), torch.tensor([[2, 3], [0, 1]]))
    members = Members(nets, folds, [Recipe(decay=0.0)] * 2, [], DEFAULT.predictor)
    members.validate(
        RegressionTask(), torch.zeros((2, 2, 1)), y.expand(2, 2, 1), 1, torch.tensor([[3.0, 1.0], [3.0, 1.0]])
    )
    assert members.lowest.tolist() == [0.75, 0.75]  # the first fold's net is kept by the loss of the other fold's
    drawn = members.draw(50, torch.Generator(), WeightedDraws(torch.tensor([[0.0, 1.0], [1.0, 0.0]])))
    assert drawn.tolist() == [[1] * 50, [2] * 50]


def contradictory(generator: torch.Generator, n: int, d: int) -> Rows:
    """Feature 0 is the target of a third of the rows, and the opposite in others, of a hundredth of the weight."""
    x = torch.randn((n, d), generator=generator)
    heavy = torch.arange(n) % 3 == 0
    y = torch.where(heavy, x[:, 0], -2 * x[:, 0]) + 0.1 * torch.randn(n, generator=generator)
    return Rows(x, y.unsqueeze(1), weights=torch.where(heavy, 1.0, 0.01))


def without_weights(rows: Rows) -> Rows:
    return Rows(rows.values, rows.y)


def test_the_predictor_learns_the_heavier_rows(generator: torch.Generator) -> None:
    rows, validation = contradictory(generator, 400, 2), contradictory(generator, 100, 2)
    fitted = fit_predictor(
        RegressionTask(),
        rows,
        validation,
        torch.tensor([0, 1]),
        torch.ones(2, dtype=torch.bool),
        config=DEFAULT.using(predictor__cycles=(150,), predictor__n_recipes=2),
        generator=generator,
        learn_all=True,
    )
    batch = validation.all()
    with torch.no_grad():
        error = (fitted.predictor(batch.dense()) - batch.y).square()[:, 0]
    assert batch.weights is not None
    assert float(error[batch.weights == 1].mean()) < 0.2 < 1.0 < float(error[batch.weights < 1].mean())


def test_the_predictor_stops_before_it_learns_groups_by_heart(generator: torch.Generator) -> None:
    rows, others = one_label_a_group(generator), one_label_a_group(generator).all()
    validation = Rows(others.dense()[:60], others.y[:60])

    def loss(rows: Rows) -> float:
        fitted = fit_predictor(
            BinaryTask(),
            rows,
            validation,
            torch.arange(6),
            torch.ones(6, dtype=torch.bool),
            config=DEFAULT.using(predictor__cycles=(100,), predictor__n_recipes=2),
            generator=torch.Generator().manual_seed(1),
            learn_all=True,
        )
        batch = rows.all()
        with torch.no_grad():
            return float(BinaryTask().loss(fitted.predictor(batch.dense()).unsqueeze(0), batch.y).mean())

    assert loss(without_groups(rows)) < 0.02 < 0.1 < loss(rows)


def test_the_operator_is_judged_by_weight(generator: torch.Generator) -> None:
    rows = contradictory(generator, 60, 4)
    space = SearchSpace(Pool(torch.arange(4)), [], 2)
    trainer = build_trainer(RegressionTask(), rows, rows, space, config=DEFAULT, generator=generator)
    subset = torch.tensor([0, 1])
    with torch.no_grad():
        losses = trainer.task.loss(trainer.operator(rows.all(), subset.unsqueeze(0)), rows.y)[0]
    assert rows.weights is not None
    expected = float((losses * rows.weights).sum() / rows.weights.sum())
    assert expected != pytest.approx(float(losses.mean()), rel=1e-2)
    assert trainer.validate(subset) == pytest.approx(expected, rel=1e-5)
    assert float(measured_losses(trainer, subset.unsqueeze(0))) == pytest.approx(expected, rel=1e-5)


def test_a_tournament_is_judged_by_weight(generator: torch.Generator) -> None:
    """Features 0 and 1 tell the class in a quarter of the rows, and mislead in others, of little weight."""
    x = torch.randn((400, 12), generator=generator)
    heavy = torch.arange(400) % 4 == 0
    y = ((x[:, 0] + x[:, 1] > 0) == heavy).long()
    rows = Rows(x, y, weights=torch.where(heavy, 1.0, 0.02))
    config = DEFAULT.using(operator_hidden=(16,), selector_hidden=(16,), max_batches=150)
    space = SearchSpace(Pool(torch.arange(12)), [], 2)
    policy = SearchPolicy.of_elimination(config, few_rows=False)
    trainer = build_trainer(BinaryTask(), rows, rows, space, config=config, generator=generator)
    proposal = Proposal(torch.arange(12), policy, elimination_order=[4, 9])
    assert hold_tournament(trainer, torch.tensor([0, 1]), proposal).tolist() == [0, 1]


def test_a_screen_and_that_of_residuals_are_weighted(generator: torch.Generator) -> None:
    x, y, weights = two_halves(generator)
    rows, config = Rows(x, y.unsqueeze(1), weights=weights), DEFAULT.proposal
    found = screen(RegressionTask(), rows, wanted=4, config=config, generator=generator)
    assert found.univariate is not None
    assert found.univariate[0] > 20 > 0 > found.univariate[1]
    assert found.linear_order[0] == 0
    plain = screen(RegressionTask(), without_weights(rows), wanted=4, config=config, generator=generator)
    assert set(plain.significant) >= {0, 1}
    again = screen_residual(rows, torch.arange(400), y.unsqueeze(1), Screen(), wanted=4, config=config)
    assert again.evidence[(0,)] > 4 * again.evidence.get((1,), 0.0)


@pytest.mark.parametrize(("n", "d"), [(300, 10), (60, 100)])
def test_an_elimination_keeps_the_features_of_the_heavier_rows(n: int, d: int, generator: torch.Generator) -> None:
    x = torch.randn((n, d), generator=generator)
    heavy = torch.arange(n) % 3 == 0
    y = torch.where(heavy, x[:, 0] + x[:, 1], 2 * (x[:, 2] + x[:, 3])).unsqueeze(1)
    rows = Rows(x, y, weights=torch.where(heavy, 1.0, 0.01))
    survivors = [
        eliminate(RegressionTask(), [some], 2, wanted=2, config=DEFAULT.proposal.elimination, generator=generator)
        for some in (rows, without_weights(rows))
    ]
    assert [sorted(some) for some in survivors] == [[0, 1], [2, 3]]


def test_a_reselection_learns_the_heavier_rows(generator: torch.Generator) -> None:
    rows, validation = contradictory(generator, 90, 120), contradictory(generator, 30, 120)
    trainer, optimal = reselect(RegressionTask(), rows, validation, size=2, config=DEFAULT, generator=generator)
    assert 0 in optimal.tolist()
    assert trainer.validate(trainer.pool.places(optimal)) < 0.5


def test_folds_of_the_predictor_keep_groups_whole(generator: torch.Generator) -> None:
    groups = torch.arange(16).repeat_interleave(5)
    y = torch.arange(100) % 2
    config = DEFAULT.predictor
    n_folds = count_folds(80, 20, config, groups)
    folds = make_folds(y, 80, n_folds=n_folds, config=config, generator=generator, groups=groups)
    assert n_folds > 2
    assert folds.held_out[0].unique().tolist() == list(range(80, 100))
    for learned, held_out in zip(folds.learned[1:], folds.held_out[1:], strict=True):
        theirs = groups[learned[learned < 80]]
        assert not bool(torch.isin(groups[held_out], theirs).any())
        assert len(set(learned.tolist()) | set(held_out.tolist())) == 100
    assert count_folds(80, 20, config, groups.clamp(max=2)) <= 4  # three groups
    assert count_folds(80, 20, config, torch.zeros(80, dtype=torch.long)) == 1


def test_rows_that_judge_scores_are_of_other_groups_than_those_learned_from(generator: torch.Generator) -> None:
    groups = torch.tensor([0] * 30 + [1] * 10 + [2] * 10 + [3] * 5)
    rows = cross_fitted_rows(
        torch.randn((55, 1), generator=generator), n_folds=3, max_held_out=100, generator=generator, groups=groups
    )
    assert rows.weights is not None
    assert rows.drawn is not None
    for learned, drawn, held_out in zip(rows.learned, rows.drawn, rows.held_out, strict=True):
        assert not bool(torch.isin(groups[held_out], groups[learned]).any())
        assert len(torch.unique(learned[drawn > 0])) == int((drawn > 0).sum())
    judging = rows.held_out[rows.weights > 0]
    assert sorted(judging.tolist()) == list(range(55))  # each row once; what fills a line up has no weight
    assert float(rows.weights.mean()) == pytest.approx(1)
    drawn_rows = rows.draws(generator)(500)
    assert all(
        set(some.tolist()) == set(learned[drawn > 0].tolist())
        for some, learned, drawn in zip(drawn_rows, rows.learned, rows.drawn, strict=True)
    )


@pytest.mark.parametrize("discrete", [True, False])
def test_values_of_subsets_are_weighted_means(discrete: bool, generator: torch.Generator) -> None:
    x, y, weights = two_halves(generator)
    task: Task = BinaryTask() if discrete else RegressionTask()
    target = (y > 0).long() if discrete else y.unsqueeze(1)
    value = fit_value_function(task, x, target, weights=weights, config=QUICK, generator=generator)
    shares = value.shares(QUICK.score, generator)
    assert shares.values.argmax() == 0
    assert value.weights is not None
    assert float(value.predictor.shrinkage[-1]) > 0.75  # the light rows would have it at a half
    outputs = value.outputs(torch.ones((1, value.n_rows, 4), dtype=torch.bool))[0]
    judged = value.y.flatten(0, 1)
    constant = task.loss(value.predictor.constant.expand(1, len(judged), -1), judged)[0]
    of_rows = weights[value.table.numbers.flatten()].double()
    saved = constant - task.loss(outputs.unsqueeze(0), judged)[0]
    unit = 1.0 if discrete else float((of_rows * constant).sum() / of_rows.sum())
    assert shares.total == pytest.approx(float((of_rows * saved).sum() / of_rows.sum()) / unit, rel=1e-4)
    assert value.baseline == pytest.approx(float((of_rows * constant).sum() / of_rows.sum()) / unit, rel=1e-4)
    order = torch.arange(4).expand(len(value.inputs), -1)
    curve = size_curve(value, *values_by_size(value, order))
    error = task.error(outputs.unsqueeze(0), judged)[0].double()
    accuracy = float((of_rows * (1 - error)).sum() / of_rows.sum())
    assert curve.figures[-1] == pytest.approx(accuracy if discrete else shares.total, rel=1e-4)
    apart = of_rows / of_rows.mean() * (1 - error - accuracy)
    if discrete:
        assert curve.figures_std[-1] == pytest.approx(float(apart.std()) / len(judged) ** 0.5, rel=1e-4)


def test_scores_of_near_copies_are_honest_with_groups(generator: torch.Generator) -> None:
    rows = one_label_a_group(generator)
    x = rows.all().dense()
    worth = [
        fit_value_function(BinaryTask(), x, rows.y, groups=groups, config=DEFAULT, generator=generator)
        .shares(DEFAULT.score, generator)
        .total
        for groups in (None, rows.groups)
    ]
    assert worth[0] > 0.3 > 0.05 > worth[1]


def test_enough_features_by_weight() -> None:
    values = torch.tensor([[0.0, 1.0, 0.0, 1.0], [1.0, 0.9, 1.0, 0.9]])
    assert enough_features(values) == 2
    weights = torch.tensor([0.01, 1.0, 0.01, 1.0])
    assert enough_features(values * weights, weights) == 1
