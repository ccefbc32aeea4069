"""Scores of features of several columns, and of required features."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core.config import DEFAULT
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.core.scoring.explanation import explain_rows
from maskrank.core.scoring.masked_nets import draw_masks
from maskrank.core.scoring.measurement import MeasuredScores, measure_scores
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.core.scoring.value_function import ValueFunction, fit_value_function

QUICK = DEFAULT.using(score__min_steps=40, score__steps_per_feature=1)
MIXED = Blocks.of_widths([1, 3, 2], [True, False, False, False, True, False])


def table(n: int, columns: int, seed: int = 0) -> Tensor:
    return torch.randn((n, columns), generator=torch.Generator().manual_seed(seed))


def levels(n: int, k: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The levels of a category, and their standardised indicators."""
    level = torch.randint(k, (n,), generator=torch.Generator().manual_seed(seed))
    indicators = torch.eye(k)[level]
    return level, (indicators - indicators.mean(dim=0)) / indicators.std(dim=0)


def mixed_value(n: int = 240, n_required: int = 0) -> tuple[ValueFunction, Tensor]:
    x = table(n, 6)
    y = x[:, :1] + x[:, 1:2] * x[:, 2:3] - x[:, 5:6]
    g = torch.Generator().manual_seed(0)
    return fit_value_function(RegressionTask(), x, y, blocks=MIXED, n_required=n_required, config=QUICK, generator=g), x


def measured(rows: Rows, validation: Rows, subset: list[int], task: object = None) -> MeasuredScores:
    g = torch.Generator().manual_seed(0)
    task = BinaryTask() if task is None else task
    found = measure_scores(
        task,
        rows,
        validation,
        torch.tensor(subset),
        learn_all=True,
        config=DEFAULT,
        generator=g,  # type: ignore[arg-type]
    )
    assert found is not None
    return found


@pytest.mark.parametrize("n", [240, 20], ids=["encoded", "plain columns"])
def test_a_bit_switches_all_inputs_of_a_feature_and_no_others(n: int) -> None:
    value, x = mixed_value(n)
    predictor, masks = value.predictor, draw_masks((7, n), 3, torch.Generator().manual_seed(1))
    encoding = predictor.nets.nets.encoding
    assert (encoding is None) == (n == 20)
    n_bins = 0 if encoding is None else (encoding.n_inputs - 6) // 2
    feature = torch.tensor([0, 1, 1, 1, 2, 2] + [0] * n_bins + [2] * n_bins)
    inputs = predictor.nets.nets.inputs(x)
    bits = masks[..., feature].to(inputs.dtype)
    torch.testing.assert_close(predictor.nets.masked(inputs, masks), inputs * bits)
    folds = len(predictor.nets.nets.weights[0])
    with torch.no_grad():
        mean = torch.stack(
            [predictor.nets.nets.members((inputs * some).expand(folds, -1, -1)).mean(0) for some in bits]
        )
    shrinkage = predictor.shrinkage[masks.sum(dim=2)].unsqueeze(2)
    expected = predictor.constant + shrinkage * (mean - predictor.constant)
    torch.testing.assert_close(predictor.outputs(x, masks), expected, atol=1e-5, rtol=1e-4)


def test_features_of_one_column_give_the_same_bits_with_and_without_blocks() -> None:
    x = table(100, 3)
    values = [
        fit_value_function(
            RegressionTask(), x, x[:, :1], blocks=blocks, config=QUICK, generator=torch.Generator().manual_seed(0)
        ).shares(DEFAULT.score, torch.Generator())
        for blocks in (None, Blocks.of_widths([1, 1, 1]))
    ]
    assert torch.equal(values[0].of_rows, values[1].of_rows)


def test_a_category_gets_one_share_and_levels_that_say_nothing_none() -> None:
    n = 900
    (a, told), (_, noise) = levels(n, 3), levels(n, 4, seed=1)
    x = torch.cat([noise, told, table(n, 1)], dim=1)
    rows = Rows(x, (a == 1).long(), Blocks.of_widths([4, 3, 1], [False] * 7 + [True]))
    shares = measured(rows, Rows(x[:90], rows.y[:90], rows.blocks), [0, 1, 2]).shares
    assert shares.values[1] > 0.55  # of 0.64 nats
    assert shares.values[[0, 2]].abs().max() < 0.03


def test_how_a_feature_is_split_into_columns_does_not_change_what_it_is_worth() -> None:
    """A number beside its copies, and a number in two parts that add up to it."""
    x, noise = table(1000, 2), table(1000, 2, seed=1)
    y = x[:, :1] + 0.5 * x[:, 1:2] + 0.3 * noise[:, :1]
    part = noise[:, 1:]
    split = torch.cat([x[:, :1], x[:, :1], x[:, :1], (x[:, 1:] + part) / 2**0.5, (x[:, 1:] - part) / 2**0.5], dim=1)
    plain = measured(Rows(x, y), Rows(x[:100], y[:100]), [0, 1], RegressionTask()).shares.values
    blocks = Blocks.of_widths([3, 2])
    again = measured(Rows(split, y, blocks), Rows(split[:100], y[:100], blocks), [0, 1], RegressionTask()).shares.values
    torch.testing.assert_close(again, plain, atol=0.03, rtol=0)


@pytest.mark.parametrize("n_required", [0, 1, 2])
def test_shares_of_rows_add_up_to_the_value_of_all_features(n_required: int) -> None:
    value, _ = mixed_value(n_required=n_required)
    everyone = torch.ones((1, value.n_rows, 3), dtype=torch.bool)
    shares = value.shares(DEFAULT.score, torch.Generator())
    torch.testing.assert_close(shares.of_rows.sum(dim=1), value(everyone)[0].double(), atol=1e-6, rtol=0)
    if n_required:
        alone = everyone & (torch.arange(3) >= 3 - n_required)
        torch.testing.assert_close(
            shares.of_rows[:, -n_required:].sum(dim=1), value(alone)[0].double(), atol=1e-6, rtol=0
        )


def test_a_copy_of_a_required_feature_adds_nothing_and_what_it_lacks_is_the_others() -> None:
    x = table(1000, 3)
    y = (x[:, 2] + x[:, 1] + 0.5 * table(1000, 1, seed=1)[:, 0] > 0).long()
    x[:, 0] = x[:, 2]  # a copy of the required one
    rows, validation = (Rows(x[a:b], y[a:b], n_required=1) for a, b in ((0, 800), (800, 1000)))
    found = measured(rows, validation, [0, 1])
    shares = found.shares
    assert abs(float(shares.values[0])) < 0.02
    assert shares.values[2] > 0.13
    assert shares.values[1] > 0.2
    assert found.curve.sizes.tolist() == [1, 2]
    assert found.curve.enough == 1
    assert found.curve.values[0] == pytest.approx(shares.total, abs=0.05)  # with the required feature
    free = measured(*(Rows(part.all().dense(), part.y) for part in (rows, validation)), [0, 1, 2]).shares
    assert free.values[0] > 0.05  # a copy of a feature that is not required shares with it


def test_masks_have_part_of_the_required_features_or_all_of_them() -> None:
    draw = torch.Generator().manual_seed(0)
    masks = draw_masks((20_000,), 5, draw, n_required=2, required_share=0.25)
    others, required = masks[:, :3], masks[:, 3:]
    assert (required.all(dim=1) | ~others.any(dim=1)).all()
    assert required.any(dim=0).all()
    assert (~required.all(dim=1)).float().mean() == pytest.approx(0.25 * 0.5, abs=0.02)  # half of the parts are whole
    order = torch.tensor([3, 4, 2, 0, 1])
    first = draw_masks((3_000,), 5, draw, order, n_required=2)
    assert first[:, 3:].all()
    assert set(first.sum(dim=1).tolist()) == {2, 3, 4, 5}


@pytest.mark.parametrize("n_required", [0, 1])
def test_a_subset_predictor_is_built_again_from_its_spec_and_tensors(n_required: int) -> None:
    value, x = mixed_value(n_required=n_required)
    copied, masks = value.predictor.deployed(), draw_masks((3, len(x)), 3, torch.Generator().manual_seed(1))
    tensors = {name: tensor.clone() for name, tensor in copied.tensors().items()}
    again = SubsetPredictor.of(copied.spec(), tensors)
    assert torch.equal(again.outputs(x, masks), copied.outputs(x, masks))
    assert (again.n_features, again.n_required) == (3, n_required)


@pytest.mark.parametrize("subsets", [1024, 2], ids=["exact", "sampled"])
def test_values_of_rows_add_up_and_required_features_come_first(subsets: int) -> None:
    value, x = mixed_value(n_required=2)
    config, g = DEFAULT.using(score__explained_subsets=subsets).score, torch.Generator().manual_seed(0)
    base, values = explain_rows(value.predictor, x, lambda outputs: outputs, config=config, generator=g)
    everyone = torch.ones((1, *values.shape[:2]), dtype=torch.bool)
    for masks, parts in ((everyone, values), (everyone & torch.tensor([False, True, True]), values[:, 1:])):
        expected = value.predictor.outputs(x, masks)[0].double()
        torch.testing.assert_close(base + parts.sum(dim=1), expected, atol=1e-5, rtol=0)
