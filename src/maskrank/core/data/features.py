"""What one mask bit switches on: a feature. Features are numbered once, from the table to the ranking.

Which columns of numbers a feature has is said by `blocks`. Here are its place in the table and its name. A table may
have a million features, so that `Features` stores them as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskrank.core.data.rows import Rows


@dataclass(frozen=True, eq=False)
class Features:
    """The features 0..d-1 that a subset can be drawn from, and the required ones, which are numbered behind them.

    Attributes
    ----------
    in_table : ndarray (d + required,) of int
        The place of each feature among all features of the table; rising but for the required ones.
    names : sequence of str
        Of all features of the table.
    varies : ndarray (features of the table,) of bool
        Which of these hold more than one value.
    n_required : int
        The last so many are in every subset.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from maskrank.core.data.features import Features
    >>> features = Features(np.array([0, 2]), ("age", "constant", "height"), np.array([True, False, True]))
    >>> features.places_of(torch.tensor([1]))
    (2,)
    """

    in_table: NDArray[np.int64]
    names: Sequence[str]
    varies: NDArray[np.bool_]
    n_required: int = 0

    def __len__(self) -> int:
        return len(self.in_table) - self.n_required

    @property
    def candidates(self) -> NDArray[np.int64]:
        """The places in the table of the features to choose from: (d,)."""
        return self.in_table[: len(self)]

    @property
    def required(self) -> NDArray[np.int64]:
        """The places in the table of the required features: (required,)."""
        return self.in_table[len(self) :]

    def places_of(self, subset: Tensor) -> tuple[int, ...]:
        """The places in the table of a subset of features: (s,)."""
        return tuple(self.in_table[subset.cpu().numpy()].tolist())

    def to_choose_first(self, size: int) -> Tensor | None:
        """The features that vary, where all of them fit in: then each is chosen before any constant one."""
        varying = np.flatnonzero(self.varies[self.candidates])
        return torch.from_numpy(varying) if len(varying) <= size else None

    @classmethod
    def all_of(cls, names: Sequence[str]) -> Features:
        """Every feature of a table can be chosen."""
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
        """The rows with the features of the pool alone, and the required ones behind them."""
        return rows if len(self) == rows.n_features else rows.only(self.features)
