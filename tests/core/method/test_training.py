from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from maskrank.core.config import PAPER, TrainConfig
from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.tasks import RegressionTask
from maskrank.core.method.training import DualNetTrainer, train_dual_net
from maskrank.core.recorder import Progress, Recorder

D, S = 8, 3
FEATURES = Features.all_of([f"x{j}" for j in range(D)])
SMALL = replace(PAPER, operator_hidden=(8,), selector_hidden=(8,), phase1_batches=24, max_batches=80, n_subsets=10)


def make_trainer(config: TrainConfig = SMALL, seed: int = 0) -> DualNetTrainer:
    g = torch.Generator().manual_seed(seed)
    x = torch.randn((60, D), generator=g)
    y = x[:, :2].sum(dim=1, keepdim=True)
    search = SearchSpace(Pool(torch.arange(D)), [], S)
    rows, validation = Rows(x[:40], y[:40]), Rows(x[40:], y[40:])
    return build_trainer(RegressionTask(), rows, validation, search, config=config, generator=g)


def test_candidates_are_half_random_and_hold_best_and_optimal() -> None:
    trainer = make_trainer()
    best, optimal = torch.tensor([0, 1, 2]), torch.tensor([3, 4, 5])
    proposed, weights = trainer.propose(best, optimal, 4), trainer.weights()
    assert proposed.shape == (4, 10, S)
    assert weights.tolist() == [1.0] * 5 + [10.0, 5.0] + [1.0] * 3  # (1 - f)|M'| random, two named, f|M'| - 2 near
    for batch in proposed:
        assert torch.equal(batch[weights == 10][0], best)
        assert torch.equal(batch[weights == 5][0], optimal)
        near = batch[7:].tolist()
        assert all(len({3, 4, 5} & set(subset)) == S - 2 for subset in near)  # s_p = 2 features exchanged
    assert len({tuple(subset) for subset in proposed[:, :5].flatten(0, 1).tolist()}) > 10  # fresh in every batch


def test_the_selector_steps_once_in_eight_operator_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make_trainer()
    steps = {"operator": 0, "selector": 0}
    for name in steps:
        optimizer = getattr(trainer, f"{name}_optimizer")

        def counted(*args: object, name: str = name, step: object = optimizer.step, **kwargs: object) -> object:
            steps[name] += 1
            return step(*args, **kwargs)  # type: ignore[operator]

        monkeypatch.setattr(optimizer, "step", counted)
    recorder = Recorder(SMALL.max_batches)
    train_dual_net(trainer, FEATURES, recorder)
    assert steps["operator"] == recorder.batch == 80
    assert steps["selector"] == steps["operator"] // 8
    assert recorder.history.batches == {"explore": 24, "search": 56}


def test_only_the_optimal_subset_is_ever_shown_to_the_validation_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make_trainer()
    seen: list[tuple[int, ...]] = []
    forward = trainer.operator.forward

    def watching(batch: object, subsets: torch.Tensor) -> torch.Tensor:
        if batch.values is trainer.validation.values:  # type: ignore[attr-defined]
            seen.append(tuple(subsets.shape))
        return forward(batch, subsets)

    monkeypatch.setattr(trainer.operator, "forward", watching)
    recorder = Recorder(SMALL.max_batches)
    train_dual_net(trainer, FEATURES, recorder)
    assert set(seen) == {(1, S)}
    assert len(seen) == len(recorder.history.validation)
    assert [batch for batch, _ in recorder.history.validation] == [24, 40, 56, 72]  # every 16, from Phase II on


def test_phase_two_proposes_from_the_last_feedback_and_weighs_the_selector(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make_trainer()
    proposed: list[tuple[list[int], list[int]]] = []
    expected: list[tuple[list[int], list[int]]] = []
    weighed: list[bool] = []
    propose, selector_step = trainer.propose, trainer.selector_step

    def watching_propose(best: torch.Tensor, optimal: torch.Tensor, batches: int) -> object:
        proposed.append((best.tolist(), optimal.tolist()))
        return propose(best, optimal, batches)

    def watching_selector_step(feedback: object) -> float:
        loss = selector_step(feedback)  # type: ignore[arg-type]
        optimal = trainer.find_optimal(max_rounds=SMALL.search_rounds)
        expected.append((feedback.best.tolist(), optimal.tolist()))  # type: ignore[attr-defined]
        weighed.append(feedback.weights is not None)  # type: ignore[attr-defined]
        return loss

    monkeypatch.setattr(trainer, "propose", watching_propose)
    monkeypatch.setattr(trainer, "selector_step", watching_selector_step)
    train_dual_net(trainer, FEATURES, Recorder(SMALL.max_batches))
    assert proposed == expected[2:-1]
    assert weighed == [False] * 3 + [True] * 7


def test_targets_are_centred_in_each_batch_when_asked() -> None:
    trainer = make_trainer(replace(SMALL, centre_targets=True))
    feedback = trainer.operator_batches(trainer.explore(20).view(2, 10, S), None)
    means = feedback.targets.reshape(2, 10).mean(dim=1)
    torch.testing.assert_close(means, torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(feedback.targets.diff()[:9], feedback.losses.diff()[:9])
    assert torch.equal(feedback.best, feedback.subsets[feedback.targets.argmin()])


def test_the_returned_subset_is_the_one_of_the_best_validation() -> None:
    trainer, recorder = make_trainer(), Recorder(SMALL.max_batches)
    optimal = train_dual_net(trainer, FEATURES, recorder)
    best = min(value for _, value in recorder.history.validation)
    assert trainer.validate(optimal) == pytest.approx(best, rel=1e-6)


def test_stopping_on_the_error_judges_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make_trainer(replace(SMALL, stop_on="error"))
    monkeypatch.setattr(RegressionTask, "error", lambda self, outputs, y: torch.full((1, len(y)), 7.0))
    assert trainer.validate(torch.tensor([0, 1, 2])) == 7.0


def test_callbacks_hear_every_selector_step_in_order() -> None:
    heard: list[Progress] = []
    train_dual_net(make_trainer(), FEATURES, Recorder(80, [heard.append]))
    assert [p.batch for p in heard] == list(range(8, 88, 8))
    assert [p.phase for p in heard] == ["explore"] * 3 + ["search"] * 7
    assert all(len(p.optimal) == S for p in heard[3:])


def test_a_pool_of_some_features_is_trained_on_these_alone_and_named_by_their_columns() -> None:
    """Nets know the pool; m_opt goes out as numbers of features, and into the history as columns of the table."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((60, D), generator=g)
    y, pool = x[:, [6]] + x[:, [7]], Pool(torch.tensor([1, 4, 6, 7]))
    rows, validation = Rows(x[:40], y[:40]), Rows(x[40:], y[40:])
    trainer = build_trainer(RegressionTask(), rows, validation, SearchSpace(pool, [], 2), config=SMALL, generator=g)
    features = Features(10 * np.arange(D), [f"c{j}" for j in range(100)], np.ones(100, dtype=bool))
    recorder = Recorder(SMALL.max_batches)
    optimal = train_dual_net(trainer, features, recorder)
    assert trainer.rows.n_features == 4
    assert set(optimal.tolist()) <= {1, 4, 6, 7}
    assert all(set(columns) <= {10, 40, 60, 70} for _, columns in recorder.history.optimal)
