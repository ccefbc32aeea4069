"""Survival times and events in the forms that people hold them in, as two columns of numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from maskrank.estimators.scaling import Array


def read_survival(y: Any) -> Array:
    """Events, 0 or 1, and times, 0 or more: (n, 2).

    Parameters
    ----------
    y : structured array, frame, array (n, 2), or tuple
        A structured array as scikit-survival has it, with a field of truth values, the events, and one of times. A
        frame of two columns: one of truth values, or called "event", is the event; else one called "time" is the time.
        Anything else, and a frame with other names, has the time first, and the event second.
    """
    time, event = _pair(y)
    events, times = _numbers(event, "event"), _numbers(time, "time")
    if events.ndim != 1 or events.shape != times.shape:
        raise ValueError(f"y has times of shape {times.shape} and events of shape {events.shape}: both must be (n,)")
    wrong = ~np.isin(events, (0, 1))
    if wrong.any():
        raise ValueError(
            f"y holds the event {events[wrong][0]:g}: events are 0 and 1, or False and True; of two columns without "
            "names, the first is the time"
        )
    wrong = ~(np.isfinite(times) & (times >= 0))
    if wrong.any():
        raise ValueError(f"y holds the time {times[wrong][0]:g}: times are finite and 0 or more")
    return np.column_stack([events, times])


def _pair(y: Any) -> tuple[Any, Any]:
    """Times and events."""
    if isinstance(y, tuple) and len(y) == 2:
        return y
    frame = nw.from_native(y, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return _pair_of_frame(frame)
    array = np.asarray(y)
    if array.dtype.names is not None:
        return _pair_of_fields(array)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"y must hold two columns, the time and the event; its shape is {array.shape}")
    return array[:, 0], array[:, 1]


def _pair_of_frame(frame: nw.DataFrame[Any]) -> tuple[Array, Array]:
    if frame.shape[1] != 2:
        raise ValueError(f"y must hold two columns, the time and the event; it has {frame.shape[1]}")
    columns = [frame.get_column(name) for name in frame.columns]
    names = [str(name).strip().lower() for name in frame.columns]
    truths = [column.dtype == nw.Boolean for column in columns]
    first_is_event = names[0] == "event" or names[1] == "time" or truths == [True, False]
    time, event = (column.to_numpy() for column in (reversed(columns) if first_is_event else columns))
    return time, event


def _pair_of_fields(array: Array) -> tuple[Array, Array]:
    names = array.dtype.names or ()
    events = [name for name in names if array.dtype[name].kind == "b"]
    if len(names) != 2 or len(events) != 1:
        raise ValueError(f"y has the fields {', '.join(names)}: it must have one of truth values and one of times")
    (time,) = (name for name in names if name != events[0])
    return array[time], array[events[0]]


def _numbers(values: Any, what: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: the {what} must hold numbers ({error})") from error
