"""Tables of mixed kinds of features with a known answer: numbers, categories, gaps, groups of columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows

Array = NDArray[np.float64]
LEVELS = (2, 3, 5, 8, 12, 20, 30)


@dataclass
class Mixed:
    """Raw values of d features: levels 0, 1, ... of a category or numbers; and where they are missing."""

    values: list[Array]
    n_levels: list[int]  # 0 for numbers
    missing: list[NDArray[np.bool_]]
    rng: np.random.Generator

    @classmethod
    def draw(cls, seed: int, n: int = 1000, d: int = 80, gaps: float = 0.1, first: tuple[int, ...] = ()) -> Mixed:
        """Half of the features are categories; the first ones have so many levels, 0 for a number."""
        rng = np.random.default_rng(seed)
        others = [int(rng.choice(LEVELS)) if rng.random() < 0.5 else 0 for _ in range(d - len(first))]
        n_levels = [*first, *others]
        values = [rng.integers(k, size=n).astype(float) if k else rng.standard_normal(n) for k in n_levels]
        return cls(values, n_levels, [rng.random(n) < gaps for _ in n_levels], rng)

    def rows(self, y: Array | NDArray[np.int64], n_required: int = 0, order: list[int] | None = None) -> Rows:
        """Encoded: a gap is 0 and an indicator beside a number, and a level of its own of a category."""
        features = [self._encoded(j) for j in (range(len(self.values)) if order is None else order)]
        columns = np.concatenate([block for block, _ in features], axis=1)
        blocks = Blocks.of_widths(
            [block.shape[1] for block, _ in features], [is_number for _, kinds in features for is_number in kinds]
        )
        target = torch.from_numpy(y) if y.dtype == np.int64 else torch.from_numpy(y).float().unsqueeze(1)
        return Rows(torch.from_numpy(columns).float(), target, blocks, n_required)

    def _encoded(self, j: int) -> tuple[Array, list[bool]]:
        values, missing, k = self.values[j], self.missing[j], self.n_levels[j]
        gap = indicators(missing[:, None]) if missing.any() else np.zeros((len(values), 0))
        if k == 0:
            known = values[~missing]
            number = np.where(missing, 0.0, (values - known.mean()) / known.std())
            return np.column_stack([number, gap]), [True, *[False] * gap.shape[1]]
        levels = np.where(missing, k, values)
        of_levels = np.unique(levels)
        chosen = of_levels[1:] if len(of_levels) == 2 else of_levels
        return indicators(levels[:, None] == chosen), [False] * len(chosen)


def indicators(flags: NDArray[np.bool_]) -> Array:
    """Centred, and divided by their deviation, or by 0.2 where they are rare."""
    return (flags - flags.mean(axis=0)) / np.maximum(flags.std(axis=0), 0.2)


def groups(
    seed: int, n: int = 500, d: int = 100, relevant: int = 4, members: int = 3, noise: float = 1.0
) -> tuple[Rows, list[int]]:
    """Groups of 3 to 40 columns; some tell of the target by the sum of a few weak members each."""
    rng = np.random.default_rng(seed)
    widths = rng.integers(3, 41, size=d)
    chosen = np.sort(rng.choice(d, relevant, replace=False))
    blocks = Blocks.of_widths(widths.tolist())
    x = rng.standard_normal((n, int(widths.sum())))
    y = noise * rng.standard_normal(n)
    for group in chosen:
        start = int(blocks.starts[group])
        own = start + rng.choice(widths[group], min(members, widths[group]), replace=False)
        y = y + x[:, own].sum(axis=1) / np.sqrt(len(own))
    rows = Rows(torch.from_numpy(x).float(), torch.from_numpy(y > 0).long(), blocks)
    return rows, chosen.tolist()
