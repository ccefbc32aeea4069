from __future__ import annotations

import copy

import torch

from maskrank.core.config import DEFAULT, CalibrationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Held, InPlace, Rows, Scale
from maskrank.core.data.subsets import draw_subsets
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.selector import Selector
from maskrank.core.method.tasks import BinaryTask, selector_loss
from maskrank.core.method.training import train_dual_net
from maskrank.core.recorder import Recorder
from maskrank.core.selection.calibration import calibrate_selector, fit_selector, measured_losses
from tests.core.selection.trainers import CONFIG, D, xor_trainer


def test_learning_on_the_touched_features_is_learning_on_all(generator: torch.Generator) -> None:
    """Rows without a gradient only shrink, so a selector of the touched features can learn for the whole one."""
    selector = Selector(40, hidden=(6, 4), activation="silu", fan_in=40, generator=generator).double()
    whole = copy.deepcopy(selector)
    subsets = draw_subsets(12, 25, 3, generator=generator)  # features 25..39 are never held
    losses = torch.randn(12, generator=generator, dtype=torch.float64)
    weights = torch.rand(12, generator=generator, dtype=torch.float64)
    config = CalibrationConfig(steps=30)

    fit_selector(selector, subsets, losses, weights, config)

    optimizer = torch.optim.AdamW(whole.parameters(), lr=config.rate, weight_decay=config.decay)
    targets = losses - (weights * losses).mean()
    for step in range(config.steps):
        optimizer.param_groups[0]["lr"] = config.rate * (1 - step / config.steps)
        optimizer.zero_grad()
        selector_loss(whole(subsets), targets, weights).backward()
        optimizer.step()
    for (name, learned), expected in zip(selector.named_parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(learned, expected, rtol=0, atol=1e-9, msg=name)


def test_without_subsets_to_measure_the_selector_stays_as_it_is() -> None:
    trainer = xor_trainer(config=CONFIG.using(calibration__n_subsets=0))
    before = [p.clone() for p in trainer.selector.parameters()]
    found = calibrate_selector(trainer, torch.tensor([0, 1]))
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.selector.parameters(), strict=True))
    assert torch.equal(found, trainer.find_optimal(max_rounds=CONFIG.final_rounds))  # the paper's last search


def test_a_calibrated_selector_predicts_the_resting_operator() -> None:
    config = DEFAULT.using(phase1_batches=80, max_batches=160)
    trainer = xor_trainer(config=config)
    x = trainer.rows.all().dense()
    trainer.rows = Rows(x, (x[:, 0] + x[:, 1] > 0).long())
    optimal = train_dual_net(trainer, Features.all_of([str(j) for j in range(D)]), Recorder(config.max_batches))
    calibrate_selector(trainer, optimal)
    subsets = trainer.explore(100)
    measured = measured_losses(trainer, subsets)
    with torch.no_grad():
        predicted = trainer.selector(subsets)
    assert torch.corrcoef(torch.stack([predicted, measured]))[0, 1] > 0.98


def test_the_subset_it_ends_at_is_measured_no_worse_than_the_one_it_began_with() -> None:
    for seed in range(4):
        trainer, start = xor_trainer(seed), torch.tensor([2, 3])
        found = calibrate_selector(trainer, start)
        before, after = measured_losses(trainer, torch.stack([start, found]))
        assert after <= before


def test_unmeasured_candidates_are_those_of_the_search_alone() -> None:
    trainer = xor_trainer(config=CONFIG.using(calibration__measure_candidates=False))
    found = calibrate_selector(trainer, torch.tensor([2, 3]))
    assert torch.equal(found, trainer.find_optimal(max_rounds=CONFIG.final_rounds))


def test_features_of_a_pool_keep_their_numbers() -> None:
    trainer = xor_trainer(pool=(1, 4, 6, 9))
    assert set(calibrate_selector(trainer, torch.tensor([4, 9])).tolist()) <= {1, 4, 6, 9}
    assert calibrate_selector(trainer, torch.tensor([4, 9]), search=False).tolist() == [4, 9]


def test_rounds_are_bounded_and_end_where_a_new_subset_gains_little() -> None:
    """A round draws subsets: with no gain asked for, each allowed round is one more draw."""
    states = []
    for rounds, gain in ((1, -1e9), (2, -1e9), (2, 1e9)):
        config = CONFIG.using(calibration__max_rounds=rounds, calibration__min_gain=gain)
        trainer = xor_trainer(config=config)
        calibrate_selector(trainer, torch.tensor([2, 3]))
        states.append(trainer.generator.get_state())
    assert not torch.equal(states[0], states[1])
    assert torch.equal(states[0], states[2])


def test_losses_of_rows_that_are_read_in_place_are_those_of_rows_in_memory() -> None:
    """Features of several columns and a required one are what they are, wherever the values live."""
    g = torch.Generator().manual_seed(0)
    blocks = Blocks.of_widths([1, 3, 2, 1, 2])
    x, y = torch.randn((60, 9), generator=g), torch.randint(2, (60,), generator=g)
    scale = Scale(torch.zeros(9, dtype=torch.float64), torch.ones(9, dtype=torch.float64))
    in_place = InPlace(x, torch.arange(60), torch.arange(9), scale, torch.device("cpu"))
    search = SearchSpace(Pool(torch.arange(4)), [], 2)
    subsets = torch.combinations(torch.arange(4), 2)
    losses = []
    for values in (Held(x), in_place):
        rows = Rows(values, y, blocks, n_required=1)
        trainer = build_trainer(
            BinaryTask(), rows, rows, search, config=CONFIG, generator=torch.Generator().manual_seed(1)
        )
        losses.append(measured_losses(trainer, subsets))
    torch.testing.assert_close(losses[0], losses[1])
