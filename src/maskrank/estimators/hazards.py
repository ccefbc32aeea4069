"""Cumulative hazards of survival times under right censoring, and the concordance index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskrank.estimators.scaling import Array


@dataclass(frozen=True)
class CumulativeHazard:
    """A step function of time, 0 before the first step.

    Attributes
    ----------
    times : ndarray (steps,)
        Distinct times of events, rising.
    values : ndarray (steps,)
        From each of these times on; beyond the last, the last one.
    """

    times: Array
    values: Array

    @classmethod
    def learn(
        cls, event: Array, time: Array, *, risk: Array | None = None, weights: Array | None = None
    ) -> CumulativeHazard:
        """The estimator of Breslow (1974), which without risks is that of Nelson and Aalen.

        Parameters
        ----------
        event : ndarray (n,)
            1 where the event was seen at the time, 0 where the row was censored then; at least one 1.
        time : ndarray (n,)
        risk : ndarray (n,), optional
            The hazard of each row relative to the baseline; all 1 without.
        weights : ndarray (n,), optional
        """
        weights = np.ones(len(time)) if weights is None else weights
        at_risk = weights if risk is None else weights * risk
        times, place = np.unique(time, return_inverse=True)
        events = np.bincount(place, weights * event, len(times))
        leaving = np.bincount(place, at_risk, len(times))
        remaining = leaving[::-1].cumsum()[::-1]  # who has not left before each time
        steps = events > 0
        return cls(times[steps], (events[steps] / remaining[steps]).cumsum())

    def at(self, times: Array) -> Array:
        """Its values at some times: (k,) -> (k,)."""
        values: Array = np.concatenate([[0.0], self.values])
        return values[np.searchsorted(self.times, times, side="right")]

    def apply(self, target: Array) -> Array:
        """Events and times as events and exposures: (n, 2) -> (n, 2).

        An event before all those that were learned from has the exposure of the first of these: it needs some.
        """
        event, time = target.T
        exposure = self.at(np.where(event > 0, np.maximum(time, self.times[0]), time))
        return np.column_stack([event, exposure])


@dataclass(frozen=True)
class RiskGroup:
    """Rows of similar predicted risk, and how many of them go on without an event.

    Attributes
    ----------
    name : str
    n, n_events : int
        Rows, and events among them.
    last : float
        The last time of any of them.
    times, survival : ndarray (steps,)
        Times of events, rising, and the estimate of Kaplan and Meier (1958) from each of them on; 1 before the first.
    """

    name: str
    n: int
    n_events: int
    last: float
    times: Array
    survival: Array


def risk_groups(event: Array, time: Array, risk: Array, weights: Array | None = None) -> list[RiskGroup]:
    """The rows in three parts by predicted risk, as even as their number allows; in one where they are too few.

    Parameters
    ----------
    event, time, risk : ndarray (n,)
    weights : ndarray (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.hazards import risk_groups
    >>> groups = risk_groups(np.ones(6), np.arange(6.0, 0, -1), risk=np.arange(6.0))
    >>> [(group.name, group.times.tolist()) for group in groups]
    [('low risk', [5.0, 6.0]), ('medium risk', [3.0, 4.0]), ('high risk', [1.0, 2.0])]
    """
    names = ("low risk", "medium risk", "high risk") if len(time) >= 6 else ("all rows",)
    weights = np.ones(len(time)) if weights is None else weights
    found = []
    for name, rows in zip(names, np.array_split(risk.argsort(kind="stable"), len(names)), strict=True):
        times, survival = _kaplan_meier(event[rows], time[rows], weights[rows])
        found.append(RiskGroup(name, len(rows), int(event[rows].sum()), float(time[rows].max()), times, survival))
    return found


def _kaplan_meier(event: Array, time: Array, weights: Array) -> tuple[Array, Array]:
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, weights * event, len(times))
    remaining = np.bincount(place, weights, len(times))[::-1].cumsum()[::-1]
    steps = events > 0
    return times[steps], np.cumprod(1 - events[steps] / remaining[steps])


def concordance_index(event: Array, time: Array, risk: Array, weights: Array | None = None) -> float:
    """Share of comparable pairs of rows in which that of the earlier event has the higher risk (Harrell et al. 1982).

    Two rows are comparable where one has an event and the other has a later time, or is censored at the same time.
    Equal risks count half. It takes n log² n operations. NaN where no rows are comparable.

    Parameters
    ----------
    event, time, risk : ndarray (n,)
    weights : ndarray (n,), optional
        A pair counts the product of its weights.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.hazards import concordance_index
    >>> time, event = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1])
    >>> concordance_index(event, time, risk=np.array([0.5, 0.9, 0.1]))
    0.5
    """
    weights = np.ones(len(time)) if weights is None else weights
    # In this order, rows behind an event are those that it is comparable with; events at one time share a place.
    place = np.unique(2 * np.unique(time, return_inverse=True)[1] + (event == 0), return_inverse=True)[1]
    level = np.unique(risk, return_inverse=True)[1]
    n_levels = int(level.max()) + 1
    lower = equal = comparable = 0.0
    for bit in range(int(place.max()).bit_length()):
        # Of two places, the first bit that differs says which comes first: 0 before 1, all bits above being equal.
        side, key = place >> bit & 1, place >> (bit + 1)
        first, then = (side == 0) & (event > 0), side == 1
        keys, order = _sorted(key[then] * n_levels + level[then])
        total = np.concatenate([[0.0], weights[then][order].cumsum()])
        own = key[first] * n_levels
        ends = (own, own + level[first], own + level[first] + 1, own + n_levels)
        start, below, up_to, end = (total[np.searchsorted(keys, some)] for some in ends)
        lower += float(weights[first] @ (below - start))
        equal += float(weights[first] @ (up_to - below))
        comparable += float(weights[first] @ (end - start))
    return (lower + equal / 2) / comparable if comparable > 0 else float("nan")


def _sorted(keys: Array) -> tuple[Array, Array]:
    order = keys.argsort()
    return keys[order], order
