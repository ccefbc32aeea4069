"""How the benchmarks take time: the best of several short runs, which is what a busy machine disturbs least."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(run: Callable[[], object], *, least: float = 0.05, repeats: int = 5) -> float:
    """Seconds of one call: the fastest of some series, each of at least so many seconds."""
    run()
    started = time.perf_counter()
    run()
    once = max(time.perf_counter() - started, 1e-7)
    calls = max(1, round(least / once))
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        for _ in range(calls):
            run()
        best = min(best, (time.perf_counter() - started) / calls)
    return best


def side_by_side(*runs: Callable[[], object], least: float = 0.05, repeats: int = 5) -> list[float]:
    """The same for several runs whose series take turns, so that what disturbs one disturbs all."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for place, run in enumerate(runs):
            best[place] = min(best[place], seconds(run, least=least, repeats=1))
    return best
