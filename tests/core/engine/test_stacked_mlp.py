from __future__ import annotations

import torch

from maskrank.core.config import DEFAULT
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.stacked_mlp import StackedMLP


def encoding_of(x: torch.Tensor, n_bins: int) -> PiecewiseLinearEncoding:
    return PiecewiseLinearEncoding.fit(x, n_bins, DEFAULT.predictor)


def test_an_ensemble_predicts_the_mean_of_its_members(generator: torch.Generator) -> None:
    weights = [torch.randn((3, 2, 4), generator=generator), torch.randn((3, 4, 1), generator=generator)]
    biases = [torch.randn((3, 1, 4), generator=generator), torch.randn((3, 1, 1), generator=generator)]
    x = torch.randn((6, 2), generator=generator)
    single = [StackedMLP([w[[k]] for w in weights], [b[[k]] for b in biases], "silu")(x) for k in range(3)]
    torch.testing.assert_close(StackedMLP(weights, biases, "silu")(x), torch.stack(single).mean(dim=0))


def test_members_that_do_not_see_the_encoding_leave_it_behind() -> None:
    x = torch.rand((50, 2), generator=torch.Generator().manual_seed(0))
    weights = torch.ones((2, 2 + 2 * 4, 1))
    weights[1, 2:] = 0
    nets = StackedMLP([weights], [torch.zeros((2, 1, 1))], "silu", encoding_of(x, 4))
    assert nets.take(torch.tensor([0, 1])).encoding is not None
    plain = nets.take(torch.tensor([1]))
    assert plain.encoding is None
    torch.testing.assert_close(plain(x), x.sum(dim=1, keepdim=True))


def test_weighted_members_predict_the_weighted_mean(generator: torch.Generator) -> None:
    x = torch.randn((50, 2), generator=generator)
    weights = [torch.randn((3, 6, 4), generator=generator), torch.randn((3, 4, 1), generator=generator)]
    weights[0][:2, 2:] = 0  # only the last member sees the encoding
    biases = [torch.randn((3, 1, 4), generator=generator), torch.randn((3, 1, 1), generator=generator)]
    nets = StackedMLP(weights, biases, "silu", encoding_of(x, 2))
    weight = torch.tensor([0.25, 0.75, 0.0])
    expected = (weight.view(-1, 1, 1) * nets.members(nets.inputs(x).expand(3, -1, -1))).sum(dim=0)
    kept = nets.weighted(weight)
    torch.testing.assert_close(kept(x), expected)
    assert (len(kept.weights[0]), kept.encoding) == (2, None)
    assert nets.weighted(torch.tensor([0.5, 0.0, 0.5])).encoding is not None
