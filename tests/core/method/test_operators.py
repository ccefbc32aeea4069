from __future__ import annotations

import pytest
import torch
from torch import nn

from maskrank.core import limits
from maskrank.core.config import DEFAULT
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.data.subsets import draw_subsets, to_mask
from maskrank.core.method.construction import build_operator, build_selector
from maskrank.core.method.operators import MaskedModule, SubsetMLP
from maskrank.core.method.tasks import RegressionTask

D, S, OUTPUTS = 12, 4, 3


@pytest.fixture
def operator(generator: torch.Generator) -> SubsetMLP:
    net = SubsetMLP(
        Blocks.single(D), OUTPUTS, hidden=(7, 5), activation="silu", fan_in=2 * D, generator=generator
    ).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return net


@pytest.fixture
def rows(generator: torch.Generator) -> Rows:
    x = torch.randn((20, D), generator=generator, dtype=torch.float64)
    return Rows(x, torch.zeros(20, dtype=torch.int64))


class DenseMLP(nn.Module):
    """The paper's words: one affine map of the concatenation (x⊗m, m), then the rest of the net."""

    def __init__(self, operator: SubsetMLP) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.cat([operator.weight_x, operator.weight_m]).detach().clone())
        self.bias = nn.Parameter(operator.bias.detach().clone())
        self.tail = operator.tail

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.tail(torch.cat([x, mask], dim=1) @ self.weight + self.bias)


def test_gathered_columns_equal_the_dense_concatenation(
    operator: SubsetMLP, rows: Rows, generator: torch.Generator
) -> None:
    subsets = draw_subsets(6, D, S, generator=generator)
    batch = rows.sample(9, generator=generator)
    dense = MaskedModule(DenseMLP(operator), torch.arange(D), D)
    gathered, expected = operator(batch, subsets), dense(batch, subsets)
    assert gathered.shape == (6, 9, OUTPUTS)
    torch.testing.assert_close(gathered, expected, rtol=0, atol=1e-10)

    gathered.square().sum().backward()
    gradient = torch.cat([operator.weight_x.grad, operator.weight_m.grad])
    expected.square().sum().backward()
    torch.testing.assert_close(gradient, dense.net.weight.grad, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["mlp", "module"])
def test_features_outside_the_subset_have_no_influence(
    kind: str, operator: SubsetMLP, rows: Rows, generator: torch.Generator
) -> None:
    net = operator if kind == "mlp" else MaskedModule(DenseMLP(operator), torch.arange(D), D)
    subset = draw_subsets(1, D, S, generator=generator)
    outside = to_mask(subset, D)[0] == 0
    changed = rows.all().dense()
    changed[:, outside] = 1e6
    assert torch.equal(net(rows.all(), subset), net(Rows(changed, rows.y).all(), subset))


def test_a_selected_zero_differs_from_a_feature_left_out(operator: SubsetMLP) -> None:
    rows = Rows(torch.zeros((1, D), dtype=torch.float64), torch.zeros(1))
    outputs = operator(rows.all(), torch.tensor([[0, 1], [0, 2]]))
    assert not torch.allclose(outputs[0], outputs[1])


@pytest.mark.parametrize("kind", ["mlp", "module"])
def test_the_specialised_predictor_is_the_operator_at_one_subset(
    kind: str, operator: SubsetMLP, rows: Rows, generator: torch.Generator
) -> None:
    net = operator if kind == "mlp" else MaskedModule(DenseMLP(operator), torch.arange(D), D)
    subset = draw_subsets(1, D, S, generator=generator)[0]
    predictor = net.specialise(subset)
    expected = net(rows.all(), subset.unsqueeze(0))[0]
    torch.testing.assert_close(predictor(rows.all().dense()[:, subset]), expected, rtol=0, atol=1e-12)


def test_many_rows_go_through_a_net_in_parts(
    operator: SubsetMLP, rows: Rows, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = MaskedModule(DenseMLP(operator), torch.arange(D), D)
    subsets = draw_subsets(3, D, S, generator=generator)
    sizes: list[int] = []
    net.net.register_forward_hook(lambda module, inputs, outputs: sizes.append(len(outputs)))
    with torch.no_grad():
        whole = net(rows.all(), subsets)
        monkeypatch.setattr(limits, "OWN_NET", 12 * D)
        parts = net(rows.all(), subsets)
    assert sizes == [60, 12, 12, 12, 12, 12]
    torch.testing.assert_close(parts, whole)


def test_a_wide_net_predicts_fewer_rows_at_once(operator: SubsetMLP, monkeypatch: pytest.MonkeyPatch) -> None:
    subset = torch.arange(S)
    monkeypatch.setattr(limits, "OWN_PREDICTOR", 5 * D)
    monkeypatch.setattr(limits, "PREDICTED_ROWS", 77)
    assert MaskedModule(DenseMLP(operator), torch.arange(D), D).specialise(subset).rows_at_once == 5
    assert operator.specialise(subset).rows_at_once == 77


@pytest.mark.parametrize(("d", "by_rows"), [(12, False), (20_000, True)])
def test_nets_on_wide_tables_are_updated_by_rows(d: int, by_rows: bool, generator: torch.Generator) -> None:
    operator = build_operator(
        RegressionTask(), Rows(torch.zeros((1, d)), torch.zeros(1)), S, config=DEFAULT, generator=generator
    )
    selector = build_selector(d, S, config=DEFAULT, generator=generator)
    assert (operator.by_rows, selector.by_rows) == (by_rows, by_rows)
