"""What one mask bit switches on: a feature. Features are numbered once, from the table to the ranking.

The only kind yet is one numeric column. A table may have a million columns, so that `Features` stores them as arrays
and makes a `Feature` when it is asked for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskrank.core.data.rows import Rows


@dataclass(frozen=True)
class Feature:
    """What one mask bit switches on.

    Attributes
    ----------
    name : str
    columns : tuple of int
        Its columns in the table.
    """

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Features:
    """The features 0..d-1 that a subset can be drawn from, one numeric column each.

    Attributes
    ----------
    columns : ndarray (d,) of int
        The column of each feature, sorted.
    names : sequence of str
        Of all columns of the table.
    varies : ndarray (columns of the table,) of bool
        Which of these hold more than one value.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.core.data.features import Features
    >>> features = Features(np.array([0, 2]), ("age", "constant", "height"), np.array([True, False, True]))
    >>> features[1]
    Feature(name='height', columns=(2,))
    """

    columns: NDArray[np.int64]
    names: Sequence[str]
    varies: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, feature: int) -> Feature:
        column = int(self.columns[feature])
        return Feature(self.names[column], (column,))

    def __iter__(self) -> Iterator[Feature]:
        return (self[feature] for feature in range(len(self)))

    def columns_of(self, subset: Tensor) -> tuple[int, ...]:
        """The columns of a subset of features: (s,)."""
        return tuple(self.columns[subset.cpu().numpy()].tolist())

    def to_choose_first(self, size: int) -> Tensor | None:
        """The features that vary, where all of them fit in: then each is chosen before any constant one."""
        changing = np.flatnonzero(self.varies[self.columns])
        return torch.from_numpy(changing) if len(changing) <= size else None

    @classmethod
    def all_of(cls, names: Sequence[str]) -> Features:
        """Every column of a table is a feature."""
        return cls(np.arange(len(names)), names, np.ones(len(names), dtype=bool))


@dataclass(frozen=True, eq=False)
class Pool:
    """The features that the two nets know. Inside the nets they have places 0, 1, ..., everywhere else their numbers.

    Attributes
    ----------
    features : Tensor (k,)
        Sorted numbers.
    """

    features: Tensor

    def __len__(self) -> int:
        return len(self.features)

    def places(self, features: Tensor) -> Tensor:
        """Where features of the pool stand in it."""
        return torch.searchsorted(self.features.to(features.device), features)

    def at(self, places: Tensor) -> Tensor:
        """The numbers of features at these places."""
        return self.features.to(places.device)[places]

    def of(self, rows: Rows) -> Rows:
        """The rows with the features of the pool alone."""
        return rows if len(self) == rows.n_features else rows.only(self.features)


@dataclass(frozen=True)
class FeatureWorth:
    """What is known of the chosen features when the predictor is trained.

    Attributes
    ----------
    scores : Tensor (s,)
    useful : Tensor (s,) of bool
        Which features its nets see: the first ones by score.
    """

    scores: Tensor
    useful: Tensor

    @classmethod
    def of(cls, scores: Tensor, n_useful: int | None = None) -> FeatureWorth:
        """The first so many by score are useful, or all of them: (s,)."""
        places = scores.argsort(descending=True, stable=True).argsort()
        return cls(scores, places < (len(scores) if n_useful is None else n_useful))

    def to(self, device: torch.device) -> FeatureWorth:
        """The same on the device of the nets."""
        return FeatureWorth(self.scores.to(device), self.useful.to(device))
