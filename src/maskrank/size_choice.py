"""The number of features by the one-standard-error rule (Breiman et al. 1984)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maskrank.core.metrics import METRICS

if TYPE_CHECKING:
    import pandas as pd


def smallest_size(fits: pd.DataFrame) -> int:
    """The smallest size whose mean score lies within one standard error of the best size's.

    Examples
    --------
    >>> import pandas as pd
    >>> from maskrank.size_choice import smallest_size
    >>> scores = [0.70, 0.72, 0.90, 0.94, 0.91, 0.95]
    >>> smallest_size(pd.DataFrame({"size": [1, 1, 2, 2, 3, 3], "metric": "accuracy", "score": scores}))
    2
    """
    by_size = fits.groupby("size")["score"]
    mean = METRICS[fits["metric"].iloc[0]].sign * by_size.mean()
    best = mean.idxmax()
    error = by_size.get_group(best).std(ddof=1) / np.sqrt(len(by_size.get_group(best)))
    slack = 0.0 if np.isnan(error) else float(error)
    return int(mean.index[mean >= mean[best] - slack].min())
