"""How many of the ranked features are enough: what the best 1, 2, ... s of them are worth on held-out rows.

The smallest size within one standard error of the best one is enough (Breiman et al. 1984). The standard error is that
of the difference between the two sizes on the same rows, which is far smaller than that of either. The features that
are first for a row are those of the largest shares on the rows of other folds: a row has no part in the order by which
it judges. In the choice of m* it may have had one, so that in wide tables with few rows the curve is somewhat too high.
Required features are there from the first size on, and not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskrank.core import limits
from maskrank.core.data.weights import error_of_scatter, normalised
from maskrank.core.scoring.value_function import ValueFunction


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """The worth of the best features by their number.

    Attributes
    ----------
    sizes : ndarray (k,) of int
        Rising.
    values : ndarray (k,)
        The loss saved over the best constant answer on rows that were not learned from: in nats for classes, as a
        share of the variance (R²) for numbers, and of the deviance (D²) for counts and survival.
    values_std : ndarray (k,)
        Standard errors.
    figures, figures_std : ndarray (k,)
        The same for the figure that people quote: accuracy for classes, R² or D² for numbers.
    figure : {"accuracy", "r2", "d2"}
        Which one that is.
    enough : int
        The smallest size whose value lies within one standard error of the best.
    """

    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    values_std: NDArray[np.float64]
    figures: NDArray[np.float64]
    figures_std: NDArray[np.float64]
    figure: str
    enough: int

    @property
    def best(self) -> int:
        """The size of the highest value."""
        return int(self.sizes[self.values.argmax()])

    def followed_by(self, larger: SizeCurve) -> SizeCurve:
        """Join the larger sizes of another curve behind this one."""
        behind = larger.arrays()
        joined: dict[str, Any] = {k: np.concatenate([v, behind[k][len(v) :]]) for k, v in self.arrays().items()}
        return replace(self, **joined)

    def up_to(self, size: int, *, enough: int) -> SizeCurve:
        """The sizes up to a bound, with another answer."""
        first: dict[str, Any] = {name: values[:size] for name, values in self.arrays().items()}
        return replace(self, **first, enough=enough)

    def arrays(self) -> dict[str, Any]:
        """All that has an entry for each size."""
        return {name: getattr(self, name) for name in ("sizes", "values", "values_std", "figures", "figures_std")}

    def share(self, size: int) -> float:
        """What the best ``size`` features are worth, as a share of what all on the curve are."""
        whole = float(self.values[-1])
        return float(self.values[self.sizes == size][0]) / whole if whole > 0 else math.nan


def cross_fitted_orders(of_rows: Tensor, n_folds: int, n_required: int = 0) -> Tensor:
    """For each fold the features by their mean share on the rows of the other folds: (rows, s) -> (folds, s).

    A single fold has no others, and takes its own. Required features, the last ones, come first.
    """
    of_folds = of_rows.unflatten(0, (n_folds, -1)).mean(dim=1)  # type: ignore[no-untyped-call]
    others = of_folds.sum(dim=0) - of_folds if n_folds > 1 else of_folds
    n_others = of_rows.shape[1] - n_required
    order = torch.as_tensor(others[:, :n_others].argsort(dim=1, descending=True, stable=True))
    required = torch.arange(n_others, of_rows.shape[1], device=order.device)
    return torch.cat([required.expand(len(order), -1), order], dim=1)


@torch.no_grad()
def values_by_size(value: ValueFunction, order: Tensor) -> tuple[Tensor, Tensor]:
    """Values and errors of rows by the first features of their fold's order: (folds, s) -> 2 x (sizes, rows).

    Both are times the weights of the rows, where these have some.

    The first 1, 2, ... of them, after all required ones, which come first in an order.
    """
    s, n = order.shape[1], value.n_rows
    first = order.argsort(dim=1).cpu() < torch.arange(value.n_required + 1, s + 1).view(-1, 1, 1)  # (sizes, folds, s)
    values, errors = [], []
    for some in torch.split(first, max(1, limits.MASKS // (n * s))):
        outputs = value.outputs(some.repeat_interleave(n // len(order), dim=1))
        values.append(value.saved(outputs).double().cpu())
        errors.append(value.errors(outputs).double().cpu())
    return torch.cat(values), torch.cat(errors)


def size_curve(value: ValueFunction, values: Tensor, errors: Tensor) -> SizeCurve:
    """The curve of what `values_by_size` gives: (sizes, rows) each. Of numbers, the value is R² or D² itself."""
    task, weights = value.task, None if value.weights is None else value.weights.cpu()
    figures = (1 if weights is None else weights) - errors if task.probabilistic else values
    return SizeCurve(
        np.arange(1, len(values) + 1),
        values.mean(dim=1).numpy(),
        value.standard_errors(values).numpy(),
        figures.mean(dim=1).numpy(),
        value.standard_errors(figures).numpy(),
        task.figure,
        enough_features(values, weights, value.groups),
    )


def enough_features(values: Tensor, weights: Tensor | None = None, groups: Tensor | None = None) -> int:
    """The smallest size within one standard error of the best: (sizes, rows) -> a size, 1 for the first.

    Parameters
    ----------
    weights : Tensor (rows,), optional
        By which the values are multiplied: a difference of means is a ratio of two sums then.
    groups : Tensor (rows,), optional
        Rows of one group vary together; one row, or one group, has no standard error.
    """
    apart = values[values.mean(dim=1).argmax()] - values
    means, scatter = apart.mean(dim=1), apart
    if weights is not None:
        scatter = apart - means.unsqueeze(1) * normalised(weights)
    errors = (
        error_of_scatter(scatter, groups).nan_to_num(posinf=0.0) if values.shape[1] > 1 else torch.zeros(len(values))
    )
    return int((means <= errors).nonzero()[0]) + 1
