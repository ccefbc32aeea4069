"""A layer on s gathered columns is the dense layer on x⊗m and m: the same values, the same gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.data.subsets import draw_subsets, to_mask
from maskrank.core.engine.gathered import Gathered, Touched, subset_affine, sum_of_rows
from maskrank.core.method.operators import SubsetMLP
from maskrank.core.method.selector import Selector


def parameter(*shape: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)


@given(st.integers(2, 40), st.integers(1, 9), st.integers(1, 6), st.booleans(), st.data())
def test_forward_and_gradients_equal_the_dense_formulation(
    d: int, masks: int, batch: int, sparse: bool, data: st.DataObject
) -> None:
    g = torch.Generator().manual_seed(data.draw(st.integers(0, 10_000)))
    s = data.draw(st.integers(1, d))
    subsets = draw_subsets(masks, d, s, generator=g)
    x = torch.randn((batch, d), generator=g, dtype=torch.float64)
    weight_x, weight_m, bias = (parameter(*shape, generator=g) for shape in ((d, 5), (d, 5), (5,)))
    upstream = torch.randn((masks, batch, 5), generator=g, dtype=torch.float64)

    columns = Gathered(None, x[:, subsets].transpose(0, 1), subsets)
    gathered = subset_affine([columns], subsets, weight_x, weight_m, bias, sparse=sparse)
    gradients = torch.autograd.grad(gathered, (weight_x, weight_m, bias), upstream)

    mask = to_mask(subsets, d, dtype=torch.float64)
    both = torch.cat([x * mask.unsqueeze(1), mask.unsqueeze(1).expand(-1, batch, -1)], dim=2)  # (masks, batch, 2d)
    dense = both @ torch.cat([weight_x, weight_m]) + bias
    expected = torch.autograd.grad(dense, (weight_x, weight_m, bias), upstream)

    torch.testing.assert_close(gathered, dense, rtol=0, atol=1e-10)
    for found, wanted in zip(gradients, expected, strict=True):
        assert found.is_sparse == (sparse and found is not gradients[2])
        torch.testing.assert_close(found.to_dense() if found.is_sparse else found, wanted, rtol=0, atol=1e-10)


@given(st.integers(2, 40), st.integers(1, 9), st.booleans(), st.data())
def test_a_sum_of_rows_is_the_product_with_the_mask(d: int, masks: int, sparse: bool, data: st.DataObject) -> None:
    g = torch.Generator().manual_seed(data.draw(st.integers(0, 10_000)))
    subsets = draw_subsets(masks, d, data.draw(st.integers(1, d)), generator=g)
    weight = parameter(d, 4, generator=g)
    upstream = torch.randn((masks, 4), generator=g, dtype=torch.float64)
    found = sum_of_rows(subsets, weight, sparse=sparse)
    (gradient,) = torch.autograd.grad(found, weight, upstream)
    dense = to_mask(subsets, d, dtype=torch.float64) @ weight
    (expected,) = torch.autograd.grad(dense, weight, upstream)
    torch.testing.assert_close(found, dense, rtol=0, atol=1e-10)
    torch.testing.assert_close(gradient.to_dense(), expected, rtol=0, atol=1e-10)


def test_a_sparse_gradient_holds_each_touched_row_once() -> None:
    touched = Touched.by(torch.tensor([[2, 7], [2, 5], [0, 7]]), 9, sparse=True)
    gradient = touched.gradient(touched.order // 2, torch.tensor([[1.0], [10.0], [100.0]]), 9)
    assert gradient.is_coalesced()
    assert gradient.indices()[0].tolist() == [0, 2, 5, 7]
    assert gradient.values().squeeze(1).tolist() == [100.0, 11.0, 10.0, 101.0]


@pytest.mark.parametrize("route", ["dense", "gathered", "by rows"])
def test_every_route_through_an_operator_and_a_selector_is_the_same_net(
    route: str, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    d, s = 12, 4
    monkeypatch.setattr("maskrank.core.method.operators.dense_layer", lambda *shape: route == "dense")
    monkeypatch.setattr("maskrank.core.method.selector.dense_sum", lambda *shape: route == "dense")
    by_rows = route == "by rows"
    operator = SubsetMLP(
        Blocks.single(d),
        2,
        hidden=(6, 5),
        activation="silu",
        fan_in=d,
        generator=torch.Generator().manual_seed(0),
        by_rows=by_rows,
    ).double()
    selector = Selector(
        d, hidden=(6,), activation="silu", fan_in=d, generator=torch.Generator().manual_seed(0), by_rows=by_rows
    ).double()
    rows = Rows(torch.randn((9, d), generator=generator, dtype=torch.float64), torch.zeros(9))
    subsets = draw_subsets(5, d, s, generator=generator)
    outputs, predicted = operator(rows.all(), subsets), selector(subsets)
    (outputs.square().sum() + predicted.square().sum()).backward()

    mask = to_mask(subsets, d, dtype=torch.float64)
    masked = rows.all().dense() * mask.unsqueeze(1)
    hidden = masked @ operator.weight_x + (mask @ operator.weight_m + operator.bias).unsqueeze(1)
    torch.testing.assert_close(outputs, operator.tail(hidden), rtol=0, atol=1e-10)
    torch.testing.assert_close(
        predicted, selector.tail(mask @ selector.weight + selector.bias).squeeze(-1), rtol=0, atol=1e-10
    )
    for table in (operator.weight_x, operator.weight_m, selector.weight):
        assert table.grad is not None
        assert table.grad.is_sparse == by_rows
        outside = torch.ones(d, dtype=torch.bool)
        outside[subsets.flatten()] = False
        assert (table.grad.to_dense()[outside] == 0).all()
