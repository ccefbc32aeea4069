from __future__ import annotations

import copy
from types import SimpleNamespace

import torch

from maskrank.core.data.subsets import draw_subsets
from maskrank.core.method.selector import Selector
from maskrank.core.method.tasks import selector_loss
from maskrank.core.selection.calibration import _DECAY, _RATE, _fit


def test_learning_on_the_touched_features_is_learning_on_all(generator: torch.Generator) -> None:
    """Rows without a gradient only shrink, so a selector of the touched features can learn for the whole one."""
    selector = Selector(40, hidden=(6, 4), activation="silu", fan_in=40, generator=generator).double()
    whole = copy.deepcopy(selector)
    subsets = draw_subsets(12, 25, 3, generator=generator)  # features 25..39 are never held
    losses = torch.randn(12, generator=generator, dtype=torch.float64)
    weights = torch.rand(12, generator=generator, dtype=torch.float64)
    steps = 30

    _fit(
        SimpleNamespace(selector=selector, config=SimpleNamespace(calibration=SimpleNamespace(steps=steps))),
        subsets,
        losses,
        weights,
    )

    optimizer = torch.optim.AdamW(whole.parameters(), lr=_RATE, weight_decay=_DECAY)
    targets = losses - (weights * losses).mean()
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = _RATE * (1 - step / steps)
        optimizer.zero_grad()
        selector_loss(whole(subsets), targets, weights).backward()
        optimizer.step()
    for (name, learned), expected in zip(selector.named_parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(learned, expected, rtol=0, atol=1e-9, msg=name)
