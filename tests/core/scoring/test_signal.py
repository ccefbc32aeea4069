from __future__ import annotations

import torch

from maskrank.core.config import ScoreConfig
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.core.scoring.signal import beats_constant


def regression(n: int, noise: float, seed: int = 0) -> bool:
    g = torch.Generator().manual_seed(seed)
    y = torch.randn((n, 1), generator=g)
    outputs = (y + noise * torch.randn((n, 1), generator=g)).double()
    return beats_constant(RegressionTask(), outputs, y, torch.zeros(50, 1), ScoreConfig())


def test_predictions_close_to_the_target_are_signal_and_noise_is_not() -> None:
    assert regression(100, noise=0.3)
    assert not regression(100, noise=3.0)


def test_a_handful_of_rows_cannot_tell() -> None:
    for n in (7, 8):
        y = torch.tensor([1.0, -1.0] * 4)[:n].unsqueeze(1)
        assert beats_constant(RegressionTask(), 0.9 * y.double(), y, torch.zeros(50, 1), ScoreConfig()) == (n == 8)


def test_one_row_neither_makes_nor_hides_the_difference() -> None:
    g = torch.Generator().manual_seed(0)
    y = torch.randint(2, (200,), generator=g)
    outputs = (4.0 * y.double() - 2.0).unsqueeze(1)
    outputs[0] *= -50  # one answer terribly wrong
    seen = torch.tensor([0, 1])
    assert beats_constant(BinaryTask(), outputs, y, seen, ScoreConfig())
    assert not beats_constant(BinaryTask(), outputs, y, seen, ScoreConfig(max_row_gain=1e9))


def test_random_answers_are_rarely_taken_for_signal() -> None:
    wrongly = 0
    for seed in range(200):
        g = torch.Generator().manual_seed(seed)
        y = torch.randint(2, (60,), generator=g)
        outputs = 0.1 * torch.randn((60, 1), generator=g, dtype=torch.float64)
        wrongly += beats_constant(BinaryTask(), outputs, y, y, ScoreConfig())
    assert wrongly <= 4  # 0.6 % of a normal number lie beyond 2.5 deviations
