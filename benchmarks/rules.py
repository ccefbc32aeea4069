"""Are the rules of `maskrank.core.engine.costs` right? Both ways timed side by side over many shapes.

For each rule: the shapes where the rule takes the slower way, and how much slower it is there.
Usage: python benchmarks/rules.py
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from timing import side_by_side

from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows, read_in_runs
from maskrank.core.data.subsets import draw_subsets
from maskrank.core.engine import costs
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.gathered import Touched
from maskrank.core.method.operators import SubsetMLP
from maskrank.core.method.selector import Selector


def layer(dense: bool, d: int, s: int, h: int, masks: int, batch: int) -> Callable[[], None]:
    """Forward and backward of the operator's first layer."""
    g = torch.Generator().manual_seed(0)
    net = SubsetMLP(Blocks.single(d), 1, hidden=(h,), activation="relu", fan_in=d, generator=g)
    rows = Rows(torch.randn((512, d), generator=g), torch.zeros(512))
    subsets = draw_subsets(masks, d, s, generator=g)

    def run() -> None:
        batch_rows = rows.sample(batch, generator=g)
        hidden = net._dense(batch_rows, subsets) if dense else net._gathered(batch_rows, subsets)
        hidden.sum().backward()

    return run


def sum_of_rows(dense: bool, d: int, s: int, h: int, masks: int) -> Callable[[], None]:
    """Forward and backward of the selector's first layer."""
    g = torch.Generator().manual_seed(0)
    net = Selector(d, hidden=(h,), activation="relu", fan_in=d, generator=g)
    subsets = draw_subsets(masks, d, s, generator=g)

    def run() -> None:
        (net._dense(subsets) if dense else net._gathered(subsets)).sum().backward()

    return run


def update(by_rows: bool, d: int, s: int, h: int, masks: int) -> Callable[[], None]:
    """The gradient of a table, and its step."""
    g = torch.Generator().manual_seed(0)
    table = torch.nn.Parameter(torch.randn((d, h), generator=g))
    optimizer = Adam([table], rate=1e-3)
    subsets, by_mask = draw_subsets(masks, d, s, generator=g), torch.randn((masks, h), generator=g)

    def run() -> None:
        touched = Touched.by(subsets, d, sparse=by_rows)
        table.grad = touched.gradient(touched.order // s, by_mask, d)
        optimizer.step()

    return run


def picked(runs: bool, n: int, d: int, s: int, masks: int, batch: int) -> Callable[[], None]:
    """The values of a step's subsets, from a table stored row by row."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, d), generator=g)
    draws = [draw_subsets(masks, d, s, generator=g) for _ in range(8)]
    turn = itertools.cycle(draws)
    rows = torch.randint(n, (batch,), generator=g)

    def run() -> None:
        subsets = next(turn)
        if runs:
            x.index_select(0, rows).t().index_select(0, subsets.flatten())
        else:
            x[rows[None, :, None], subsets[:, None, :]]

    return run


def judge(
    title: str, shapes: list[dict[str, int]], two_ways: Callable[..., Callable[[], None]], rule: Callable
) -> None:
    print(f"\n{title}")
    lost = []
    for shape in shapes:
        yes, no = side_by_side(two_ways(True, **shape), two_ways(False, **shape))
        chosen = rule(shape)
        regret = (yes if chosen else no) / min(yes, no)
        lost.append(regret)
        print(f"  {shape}  {1e6 * yes:9.0f} µs / {1e6 * no:9.0f} µs  rule {chosen!s:5}  {regret:.2f}×")
    print(f"  the rule's choice against the better one: mean {sum(lost) / len(lost):.2f}×, worst {max(lost):.2f}×")


def main() -> None:
    torch.set_num_threads(1)
    sizes = [(10, 5), (20, 5), (64, 16), (64, 48), (93, 25), (200, 20), (784, 85), (784, 400), (784, 700), (2000, 50)]
    shapes = [
        {"d": d, "s": s, "h": h, "masks": masks, "batch": 32}
        for (d, s), h, masks in itertools.product(sizes, (64, 500), (32, 128))
        if masks * h * d <= 2e7
    ]
    judge("dense or gathered first layer of the operator", shapes, layer, lambda shape: costs.dense_layer(**shape))
    shapes = [{"d": d, "s": s, "h": h, "masks": 256} for (d, s), h in itertools.product(sizes, (64, 500))]
    judge(
        "dense or gathered first layer of the selector",
        shapes,
        sum_of_rows,
        lambda shape: costs.dense_sum(shape["d"], shape["h"], shape["s"]),
    )
    shapes = [
        {"d": d, "s": 50, "h": h, "masks": masks}
        for d, h, masks in itertools.product((1000, 5000, 10_000, 20_000), (64, 500), (32, 128))
    ]
    judge(
        "row-wise or whole step of Adam",
        shapes,
        update,
        lambda shape: costs.update_by_rows(**shape),
    )
    shapes = [
        {"n": 100, "d": d, "s": 50, "masks": masks, "batch": 32}
        for d, masks in itertools.product((500, 5000, 20_000, 100_000, 500_000), (32, 128))
    ]
    judge(
        "whole rows or single values",
        shapes,
        picked,
        lambda shape: read_in_runs(shape["d"], shape["masks"] * shape["s"]),
    )


if __name__ == "__main__":
    main()
