"""A predictor that is trained on with rows that come in batches."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.method.tasks import RegressionTask
from maskrank.core.predictor.passes import RowBatch, train_in_passes

CONFIG = PredictorConfig(pass_rate=1e-2)


def nets() -> StackedMLP:
    """Two nets of three columns, of which the second does not see the last."""
    made = start_nets(2, (3, 16, 1), "silu", torch.Generator().manual_seed(0))
    with torch.no_grad():
        made.weights[0][1, 2] = 0
    return made


def rows(n: int, seed: int, *, noise: float = 0.0) -> RowBatch:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((n, 3), generator=generator)
    y = x[:, :1] * x[:, 1:2] if not noise else noise * torch.randn((n, 1), generator=generator)
    return RowBatch(x, y)


def test_more_rows_make_it_better_and_what_is_not_connected_stays_so() -> None:
    begun = []

    def batches() -> Iterator[RowBatch]:
        begun.append(len(begun))
        return (rows(256, 1 + k) for k in range(40))

    given, judging = nets(), rows(500, 0)
    before = [weight.clone() for weight in given.weights]
    better = train_in_passes(given, RegressionTask(1), batches, judging, steps=100, config=CONFIG)
    assert better is not None
    losses = [float((net(judging.x) - judging.y).square().mean().detach()) for net in (given, better)]
    assert losses[1] < 0.5 * losses[0]
    assert not better.weights[0][1, 2].any()
    assert all(torch.equal(old, new) for old, new in zip(before, given.weights, strict=True))
    assert begun == [0, 1, 2]  # 40 batches a pass


def test_a_predictor_that_is_not_better_is_not_kept() -> None:
    given, judging = nets(), rows(500, 0)
    trained = train_in_passes(
        given, RegressionTask(1), lambda: iter([rows(256, k) for k in range(60)]), judging, steps=60, config=CONFIG
    )
    assert trained is not None
    worse = train_in_passes(
        trained,
        RegressionTask(1),
        lambda: iter([rows(256, k, noise=30.0) for k in range(20)]),
        judging,
        steps=20,
        config=CONFIG,
    )
    assert worse is None


def test_rows_of_weight_count_more() -> None:
    def batches() -> Iterator[RowBatch]:
        for k in range(60):
            good, bad = rows(128, k), rows(128, 100 + k, noise=3.0)
            weights = torch.cat([torch.ones(128), torch.zeros(128)])
            yield RowBatch(torch.cat([good.x, bad.x]), torch.cat([good.y, bad.y]), weights)

    judging = rows(500, 0)
    better = train_in_passes(nets(), RegressionTask(1), batches, judging, steps=60, config=CONFIG)
    plain = train_in_passes(
        nets(), RegressionTask(1), lambda: (rows(128, k) for k in range(60)), judging, steps=60, config=CONFIG
    )
    assert better is not None
    assert plain is not None
    torch.testing.assert_close(better(judging.x), plain(judging.x), rtol=1e-3, atol=1e-3)
