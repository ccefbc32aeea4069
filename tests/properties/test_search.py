"""The search on any selector: it moves only downhill, and keeps the size."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from maskrank.core.data.subsets import draw_subsets, to_mask
from maskrank.core.method.search import find_optimal_subset, importance_gradient, improve_subset, subset_importance
from maskrank.core.method.selector import Selector


def at_mask(selector: Selector, mask: torch.Tensor) -> torch.Tensor:
    """f_S(m) in the paper's words, at any point of the cube."""
    return selector.tail(mask @ selector.weight + selector.bias).squeeze(-1)


def some_selector(d: int, seed: int) -> Selector:
    g = torch.Generator().manual_seed(seed)
    selector = Selector(d, hidden=(8, 4), activation="silu", fan_in=2, generator=g).double()
    with torch.no_grad():
        for parameter in selector.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=g, dtype=torch.float64))
    return selector


@given(st.integers(2, 30), st.integers(0, 10_000), st.data())
def test_it_never_ends_higher_than_it_started(d: int, seed: int, data: st.DataObject) -> None:
    s = data.draw(st.integers(1, d - 1))
    selector = some_selector(d, seed)
    start = draw_subsets(1, d, s, generator=torch.Generator().manual_seed(seed))
    end = improve_subset(selector, start[0], max_rounds=6).unsqueeze(0)
    assert end.shape == (1, s)
    assert len(end[0].unique()) == s
    assert selector(end) <= selector(start)


@given(st.integers(2, 30), st.integers(0, 10_000), st.data())
def test_more_rounds_are_never_worse(d: int, seed: int, data: st.DataObject) -> None:
    s = data.draw(st.integers(1, d - 1))
    selector = some_selector(d, seed)
    found = [find_optimal_subset(selector, s, start=s / d, max_rounds=rounds) for rounds in (0, 1, 5, 12)]
    losses = selector(torch.stack(found)).tolist()
    assert losses == sorted(losses, reverse=True)


@given(st.integers(2, 20), st.integers(0, 10_000))
def test_the_importance_is_minus_the_derivative(d: int, seed: int) -> None:
    selector = some_selector(d, seed)
    mask = to_mask(torch.arange(d // 2 + 1), d, dtype=torch.float64)
    importance = subset_importance(selector, torch.arange(d // 2 + 1))
    step = 1e-6
    for i in range(d):
        up, down = mask.clone(), mask.clone()
        up[i] += step
        down[i] -= step
        slope = (at_mask(selector, up) - at_mask(selector, down)) / (2 * step)
        torch.testing.assert_close(importance[i], -slope, rtol=1e-4, atol=1e-6)


@given(st.integers(2, 20), st.floats(0, 1), st.integers(0, 10_000))
def test_the_importance_inside_the_cube_is_minus_the_derivative(d: int, share: float, seed: int) -> None:
    selector = some_selector(d, seed)
    mask = torch.full((d,), share, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(at_mask(selector, mask), mask)
    importance = importance_gradient(selector, selector.hidden_at_share(share))
    torch.testing.assert_close(importance, -slope, rtol=1e-9, atol=1e-12)
