from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.config import DEFAULT, CrossFittingConfig, TrainConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.proposals.cross_fitting import CrossFit, cross_fit, enough_rows


def xor(n: int = 400, d: int = 12, seed: int = 0) -> Rows:
    """Class 1 where features 4 and 9 have the same sign."""
    x = torch.randn((n, d), generator=torch.Generator().manual_seed(seed))
    return Rows(x, (x[:, 4] * x[:, 9] > 0).long())


def fit(rows: Rows, subsets: Tensor, *, config: TrainConfig = DEFAULT, max_steps: int = 300) -> CrossFit:
    generator = torch.Generator().manual_seed(0)
    return cross_fit(BinaryTask(), rows, subsets, config=config, generator=generator, max_steps=max_steps)


def test_rows_that_judge_were_not_learned_from(generator: torch.Generator) -> None:
    """On random labels no net can be better than chance on other rows, and any net is on its own."""
    rows = Rows(torch.randn((90, 6), generator=generator), torch.randint(2, (90,), generator=generator))
    fitted = fit(rows, torch.tensor([[0, 1, 2, 3]]))
    assert float(fitted.losses.mean()) > 0.65
    assert sorted(fitted.rows.tolist()) == list(range(90))


def test_residuals_are_target_minus_prediction_and_small_where_the_subset_predicts() -> None:
    rows = xor()
    fitted = fit(rows, torch.tensor([[4, 9], [0, 1]]))
    targets = rows.y[fitted.rows].float()
    assert fitted.residuals.shape == (2, len(fitted.rows), 1)
    assert ((fitted.residuals[..., 0] >= 0) == (targets == 1)).all()
    assert float(fitted.residuals[0].square().mean()) < 0.15  # of a variance of 0.25
    assert float((fitted.residuals[0, :, 0] - targets + targets.mean()).abs().mean()) > 0.3  # not the target itself
    assert float(fitted.residuals[1].square().mean()) > 0.2


def test_equal_subsets_are_treated_alike() -> None:
    fitted = fit(xor(), torch.tensor([[4, 9], [4, 9], [0, 1]]), max_steps=40)
    torch.testing.assert_close(fitted.losses[0], fitted.losses[1], rtol=1e-3, atol=1e-4)
    assert fitted.losses[0].mean() < 0.4 < fitted.losses[2].mean()


def test_nets_take_no_more_steps_than_they_may() -> None:
    losses = [
        fit(xor(), torch.tensor([[4, 9]]), config=DEFAULT.using(max_batches=batches), max_steps=steps).losses
        for batches, steps in ((100, 30), (30, 300), (60, 60))
    ]
    assert torch.equal(losses[0], losses[1])
    assert not torch.equal(losses[0], losses[2])


def test_each_subset_is_judged_by_the_better_weight_decay() -> None:
    rows, subsets = xor(n=120), torch.tensor([[4, 9], [0, 1]])

    def mean_losses(*decays: float) -> Tensor:
        config = DEFAULT.using(cross_fitting__decays=decays)
        return fit(rows, subsets, config=config, max_steps=60).losses.mean(dim=1)

    both, better = mean_losses(0.0, 2.5), torch.minimum(mean_losses(0.0), mean_losses(2.5))
    torch.testing.assert_close(both, better, rtol=1e-3, atol=1e-4)


def test_the_config_sets_folds_and_bounds_the_rows() -> None:
    config = DEFAULT.using(cross_fitting__folds=4, cross_fitting__max_rows=50)
    fitted = fit(xor(), torch.tensor([[4, 9]]), config=config, max_steps=5)
    assert len(set(fitted.rows.tolist())) == 48  # a multiple of the folds


def test_enough_rows_is_a_matter_of_the_config() -> None:
    assert enough_rows(xor(n=30), CrossFittingConfig())
    assert not enough_rows(xor(n=29), CrossFittingConfig())
    assert enough_rows(xor(n=29), CrossFittingConfig(min_rows=29))


def test_subsets_of_different_widths_are_compared_and_required_features_are_seen(generator: torch.Generator) -> None:
    """A category of four levels against two numbers, beside a required number that is half of the answer."""
    level, numbers = torch.randint(4, (400,), generator=generator), torch.randn((400, 3), generator=generator)
    x = torch.cat([numbers[:, :2], torch.eye(4)[level], numbers[:, 2:]], dim=1)
    y = ((numbers[:, 2] > 0) ^ (level > 1)).long()
    subsets = torch.tensor([[0], [1], [2]])
    fitted = fit(Rows(x, y, Blocks.of_widths([1, 1, 4, 1]), n_required=1), subsets)
    assert float(fitted.losses[2].mean()) < 0.3 < 0.6 < float(fitted.losses[:2].mean(dim=1).min())
    without = fit(Rows(x, y, Blocks.of_widths([1, 1, 4, 1])), subsets)
    assert float(without.losses[2].mean()) > 0.6
