"""Which of two equal ways is the cheaper one: every such rule of the engine, with what was measured.

The constants come from `benchmarks/rules.py` on an x86 processor; a wrong choice costs time, never a result beyond
rounding.
"""

from __future__ import annotations

from itertools import pairwise

from maskrank.core.config import TrainConfig

_ROW_UPDATE = 0.3  # a row costs Adam three times as much when it is fetched and put back
_READ_AT_RANDOM = 32  # a value fetched alone costs as much as this many in a run
_THREADED_FLOPS = 3e8  # of a step, from where a second thread is worth its waking


def touched_share(d: int, s: int, masks: int) -> float:
    """The expected share of the features that one of so many random subsets holds."""
    return float(1.0 - (1.0 - s / d) ** masks)


def update_by_rows(d: int, s: int, masks: int) -> bool:
    """Whether a step on so many subsets should update the touched rows of its first layer, and not all d."""
    return touched_share(d, s, masks) < _ROW_UPDATE


def dense_layer(d: int, s: int, h: int, masks: int, batch: int) -> bool:
    """Whether a first layer should multiply all d masked columns, and not gather s of them.

    Gathering reads masks * batch * s values and masks * s * h weights one by one; the dense product does
    masks * batch * d * h multiplications in one go, which are the cheapest there are.
    """
    gathered = masks * s * (batch * (4.0 + h / 24) + 2.0 * h / 3)
    dense = masks * d * (batch * (1.0 + h / 40) + h / 40)
    return dense < gathered


def read_in_runs(run: int, wanted: int) -> bool:
    """Whether to copy whole runs of neighbouring values and choose among them, and not to fetch each alone."""
    return run <= _READ_AT_RANDOM * wanted


def step_flops(config: TrainConfig, s: int, n_outputs: int) -> float:
    """Multiplications and additions of one operator step, forward and backward."""
    sizes = (s, *config.operator_hidden, n_outputs)
    return 6.0 * config.n_subsets * config.batch_size * sum(n_in * n_out for n_in, n_out in pairwise(sizes))


def threads(flops: float, available: int) -> int:
    """How many threads a step of so many multiplications should have."""
    return available if flops >= _THREADED_FLOPS else 1
