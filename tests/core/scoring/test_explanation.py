"""Shapley values of rows, where they are known."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import DEFAULT, ScoreConfig
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, Task
from maskrank.core.probabilities import of_classes
from maskrank.core.scoring.explanation import add_up_to, explain_rows
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.core.scoring.value_function import fit_value_function

SCORE = DEFAULT.score
FEW = DEFAULT.using(score__explained_subsets=8).score  # of 5 features: random orders


def table(n: int, s: int, seed: int = 0) -> Tensor:
    return torch.randn((n, s), generator=torch.Generator().manual_seed(seed))


def fitted(task: Task, x: Tensor, y: Tensor, steps: int = 200) -> SubsetPredictor:
    config = DEFAULT.using(score__min_steps=steps)
    return fit_value_function(task, x, y, config=config, generator=torch.Generator().manual_seed(1)).predictor


def explained(predictor: SubsetPredictor, x: Tensor, config: ScoreConfig = SCORE, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    return explain_rows(predictor, x, lambda outputs: outputs, config=config, generator=g)[1]


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.flatten().double(), b.flatten().double()]))[0, 1])


@pytest.mark.parametrize("config", [SCORE, FEW], ids=["exact", "sampled"])
def test_values_of_a_linear_model_are_its_terms(config: ScoreConfig) -> None:
    x, slopes = table(1000, 5), torch.tensor([2.0, -1.0, 1.0, 0.5, 0.0])
    predictor = fitted(RegressionTask(), x, (x @ slopes).unsqueeze(1))
    terms = slopes * (x - x.mean(dim=0))
    assert correlation(explained(predictor, x, config)[:, :, 0], terms) >= 0.98


def test_both_factors_of_a_product_get_half() -> None:
    x = table(1500, 3)
    product = x[:, 0] * x[:, 1]
    values = explained(fitted(RegressionTask(), x, product.unsqueeze(1)), x)[:, :, 0]
    for factor in (0, 1):
        assert float(values[:, factor] @ product.double()) / float(product @ product) == pytest.approx(0.5, abs=0.08)
    assert values[:, 2].abs().mean() < 0.2 * values[:, 0].abs().mean()


@pytest.mark.parametrize("config", [SCORE, FEW], ids=["exact", "sampled"])
def test_values_add_up_to_the_decoded_prediction(config: ScoreConfig) -> None:
    x, task = table(200, 5), MulticlassTask(3)
    predictor = fitted(task, x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long(), steps=40)
    g = torch.Generator().manual_seed(0)

    def decode(outputs: Tensor) -> Tensor:
        return torch.from_numpy(of_classes(outputs.numpy()))

    base, values = explain_rows(predictor, x, decode, config=config, generator=g)
    everyone = predictor.outputs(x, torch.ones((1, *x.shape), dtype=torch.bool))[0].double()
    assert values.shape == (200, 5, 3)
    torch.testing.assert_close(base + values.sum(dim=1), decode(everyone), atol=1e-6, rtol=0)
    torch.testing.assert_close(base.sum(), torch.ones(()).double())


def test_random_orders_come_close_to_all_subsets_and_depend_on_the_seed_alone() -> None:
    x = table(300, 5)
    predictor = fitted(BinaryTask(), x, (x[:, 0] * x[:, 1] + x[:, 2] > 0).long(), steps=80)
    exact = explained(predictor, x)
    many = DEFAULT.using(score__explained_subsets=31, score__min_explained_pairs=40).score
    assert correlation(explained(predictor, x, many), exact) > 0.97
    assert torch.equal(explained(predictor, x, FEW, seed=3), explained(predictor, x, FEW, seed=3))
    assert not torch.equal(explained(predictor, x, FEW, seed=3), explained(predictor, x, FEW, seed=4))
    assert torch.equal(explained(predictor, x, SCORE, seed=3), explained(predictor, x, SCORE, seed=4))


@pytest.mark.parametrize("config", [SCORE, FEW], ids=["exact", "sampled"])
def test_a_row_does_not_depend_on_those_beside_it_nor_on_memory_limits(
    config: ScoreConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = table(60, 5)
    predictor = fitted(RegressionTask(), x, x[:, :1], steps=20)
    values = explained(predictor, x, config)
    torch.testing.assert_close(explained(predictor, x[7:8], config)[0], values[7], atol=1e-5, rtol=0)
    monkeypatch.setattr(limits, "EXPLAINED", 1)
    torch.testing.assert_close(explained(predictor, x, config), values, atol=1e-5, rtol=0)


def test_values_far_beyond_all_others_stay_finite() -> None:
    x = table(60, 3)
    predictor = fitted(RegressionTask(), x, x[:, :1], steps=20)
    assert explained(predictor, torch.tensor([[1e300, -1e300, 0.0]], dtype=torch.float64)).isfinite().all()


@given(st.integers(0, 1000), st.booleans())
def test_a_difference_is_split_by_absolute_values(seed: int, together: bool) -> None:
    g = torch.Generator().manual_seed(seed)
    values, base, wanted = (torch.randn(shape, generator=g).double() for shape in ((6, 4, 3), (3,), (6, 3)))
    values[0] = 0.0
    changed = add_up_to(values, base, wanted, together=together)
    torch.testing.assert_close(base + changed.sum(dim=1), wanted)
    added = changed - values
    torch.testing.assert_close(added[0], ((wanted - base)[0] / 4).expand(4, 3))
    size = values.abs().sum(dim=2, keepdim=True) if together else values.abs()
    torch.testing.assert_close(added[1:, 0] * size[1:, 1], added[1:, 1] * size[1:, 0])
    if not together:
        torch.testing.assert_close(added[1:].abs() / size[1:], (added[1:].abs() / size[1:])[:, :1].expand(5, 4, 3))


def test_values_of_a_feature_over_all_classes_still_add_up_to_0() -> None:
    values = table(5, 12).view(5, 4, 3).double()
    values -= values.mean(dim=2, keepdim=True)
    base, predictions = torch.softmax(table(1, 3)[0].double(), 0), torch.softmax(table(5, 3, seed=1).double(), 1)
    changed = add_up_to(values, base, predictions, together=True)
    torch.testing.assert_close(changed.sum(dim=2), torch.zeros((5, 4)).double())
