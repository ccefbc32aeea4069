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


WIDTHS, REQUIRED = [1, 3, 1, 12, 2, 1, 4], 2  # features of several columns; the last two are in every subset


def blocked(generator: torch.Generator, *, by_rows: bool = False) -> tuple[SubsetMLP, Rows]:
    blocks = Blocks.of_widths(WIDTHS)
    operator = SubsetMLP(
        blocks,
        OUTPUTS,
        n_required=REQUIRED,
        hidden=(7, 5),
        activation="silu",
        fan_in=20,
        generator=generator,
        by_rows=by_rows,
    ).double()
    x = torch.randn((9, blocks.n_columns), generator=generator, dtype=torch.float64)
    return operator, Rows(x, torch.zeros(9), blocks, REQUIRED)


def dense_reference(operator: SubsetMLP, rows: Rows, subsets: torch.Tensor) -> torch.Tensor:
    """Each column of a feature is switched by the feature's bit; the required features' bits are 1."""
    mask = to_mask(subsets, len(WIDTHS), dtype=torch.float64)
    mask[:, -REQUIRED:] = 1.0
    masked = rows.all().dense() * mask[:, rows.blocks.feature_of].unsqueeze(1)
    hidden = masked @ operator.weight_x[: rows.blocks.n_columns] + (mask @ operator.weight_m).unsqueeze(1)
    return operator.tail(hidden + operator.bias)


@pytest.mark.parametrize("route", ["dense", "gathered", "by rows"])
def test_a_feature_of_several_columns_has_one_bit_on_every_route(
    route: str, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    monkeypatch.setattr("maskrank.core.method.operators.dense_layer", lambda *shape: route == "dense")
    operator, rows = blocked(generator, by_rows=route == "by rows")
    subsets = draw_subsets(8, rows.n_features, 2, generator=generator)
    assert len(rows.blocks.of_similar_width(rows.all().with_required(subsets))) > 1  # wide and narrow ones
    upstream = torch.randn((8, 9, OUTPUTS), generator=generator, dtype=torch.float64)
    parameters = list(operator.parameters())
    outputs, expected = operator(rows.all(), subsets), dense_reference(operator, rows, subsets)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-10)
    gradients = torch.autograd.grad(outputs, parameters, upstream)
    for found, wanted in zip(gradients, torch.autograd.grad(expected, parameters, upstream), strict=True):
        torch.testing.assert_close(found.to_dense() if found.is_sparse else found, wanted, rtol=0, atol=1e-10)
        if found.is_sparse:
            touched = found._indices()[0]
            assert len(touched) == len(touched.unique())  # Adam by rows takes each row once


def test_a_net_of_the_users_own_gets_the_bit_of_a_feature_for_each_of_its_columns(generator: torch.Generator) -> None:
    blocks = Blocks.of_widths([2, 1, 1])
    places, seen = torch.tensor([4, 1, 0, 2]), []

    class Watched(nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            seen.append((x, mask))
            return x.sum(dim=1, keepdim=True)

    operator = MaskedModule(Watched(), places, 5, blocks, n_required=1)
    rows = Rows(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.zeros(1), blocks, 1)
    operator(rows.all(), torch.tensor([[0], [1]]))
    assert seen[0][0].tolist() == [[0, 2, 4, 0, 1], [3, 0, 4, 0, 0]]
    assert seen[0][1].tolist() == [[0, 1, 1, 0, 1], [1, 0, 1, 0, 0]]


@pytest.mark.parametrize("kind", ["mlp", "module"])
def test_the_specialised_predictor_takes_the_columns_of_the_subset_and_of_the_required_features(
    kind: str, generator: torch.Generator
) -> None:
    mlp, rows = blocked(generator)
    columns = rows.blocks.n_columns
    own = nn.Bilinear(columns, columns, OUTPUTS).double()
    net = mlp if kind == "mlp" else MaskedModule(own, torch.randperm(columns), columns, rows.blocks, REQUIRED)
    subset = torch.tensor([1, 4])
    predictor = net.specialise(subset)
    x, _ = rows.chosen(subset)
    assert x.shape[1] == 3 + 2 + 1 + 4
    torch.testing.assert_close(predictor(x), net(rows.all(), subset.unsqueeze(0))[0], rtol=0, atol=1e-12)


def test_features_of_one_column_give_the_same_bits_with_and_without_blocks(generator: torch.Generator) -> None:
    x = torch.randn((9, D), generator=generator)
    nets = [
        build_operator(RegressionTask(), rows, S, config=DEFAULT, generator=torch.Generator().manual_seed(1))
        for rows in (Rows(x, torch.zeros(9)), Rows(x, torch.zeros(9), Blocks.of_widths([1] * D)))
    ]
    subsets = draw_subsets(6, D, S, generator=generator)
    one, two = (
        net(Rows(x, torch.zeros(9), blocks).all(), subsets)
        for net, blocks in zip(nets, (None, Blocks.of_widths([1] * D)), strict=True)
    )
    assert torch.equal(one, two)
