"""How large and how small targets may be, so that squares of squares of them, as standard errors have, are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e70
_LEAST_SPAN = 1e-70


def magnitude_problem(values: NDArray[Any]) -> str | None:
    """Why numbers can't be a target, for the end of a message; None where they can.

    Parameters
    ----------
    values : ndarray (n,) or (n, targets)

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.magnitudes import magnitude_problem
    >>> magnitude_problem(np.array([0.0, 1e200]))
    'holds 1e+200: numbers up to 1e+70 are allowed; give it in other units'
    """
    values = np.asarray(values, dtype=np.float64)
    values = values[np.isfinite(values).all(axis=1)] if values.ndim == 2 else values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = np.atleast_1d(values.min(axis=0)), np.atleast_1d(values.max(axis=0))
    largest = np.where(-low > high, low, high)
    if (np.abs(largest) > LARGEST).any():
        said = largest[np.abs(largest).argmax()]
        return f"holds {said:g}: numbers up to {LARGEST:g} are allowed; give it in other units"
    span = high - low
    if ((span > 0) & (span < _LEAST_SPAN)).any():
        said = span[(span > 0) & (span < _LEAST_SPAN)][0]
        return f"varies by {said:g} in all: at least {_LEAST_SPAN:g} is needed; give it in other units"
    return None
