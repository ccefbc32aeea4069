"""The cost model: which of two equivalent computations is cheaper, by the sizes of a step.

`benchmarks/rules.py` times both side by side and shows where a rule takes the slower one. They agree to rounding, but
for one: Adam by rows forgets more slowly than Adam on whole tables (see `adam`).
"""

from __future__ import annotations

from itertools import pairwise

from maskrank.core.config import TrainConfig

_CACHED_TABLE = 4e6  # values of a table, with its moments, that the processor's caches hold
_THREADED_FLOPS = 3e8  # of a step, from where a second thread is worth its waking


def dense_layer(d: int, s: float, h: int, masks: int, batch: int) -> bool:
    """Whether the operator's first layer should multiply all d masked columns, and not gather s of them, on average.

    A gathered value and a gathered weight cost more than a multiplication in one big product, and the way back has
    to sort the indices.
    """
    gathered = 250.0 + masks * s * (0.1 + 0.0018 * h + batch * (0.003 + 0.000056 * h))
    dense = masks * d * batch * (0.0014 + 0.000047 * h)
    return dense < gathered


def dense_sum(d: int, h: int, s: int) -> bool:
    """Whether the selector's first layer should be a product with the dense mask, and not a sum of s rows."""
    return d * (1.0 + h / 13) < s * (60.0 + h / 5)


def update_by_rows(d: int, s: int, h: int, masks: int) -> bool:
    """Whether a step on so many subsets should update the touched rows of a table (d, h), and not all of them.

    A row that is fetched and put back costs Adam several times as much as one it passes by, less so where the table
    is too large for the caches.
    """
    touched = 1.0 - (1.0 - s / d) ** masks  # the expected share of the features
    return touched < (0.4 if d * h > _CACHED_TABLE else 0.15)


def step_flops(config: TrainConfig, s: int, n_outputs: int) -> float:
    """Multiplications and additions of one operator step, forward and backward; x itself needs no gradient."""
    sizes = (s, *config.operator_hidden, n_outputs)
    weights = sum(n_in * n_out for n_in, n_out in pairwise(sizes))
    return config.n_subsets * config.batch_size * (6.0 * weights - 2.0 * sizes[0] * sizes[1])


def threads(flops: float, available: int) -> int:
    """How many threads a step of so many operations should have."""
    return available if flops >= _THREADED_FLOPS else 1
