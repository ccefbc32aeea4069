"""Which columns of the table each feature is made of: one, or those of a group; and which features are required."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.estimators.kinds import NUMERIC, InputColumn
from maskrank.estimators.names import positions_of
from maskrank.estimators.scaling import Array


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The features of a table.

    Attributes
    ----------
    names : sequence of str
        Of the features: those of columns, and of groups.
    n_columns : int
        Of the table.
    members : tuple of tuple of int, optional
        The columns of each feature; None where each column is a feature.
    required : tuple of int
        Features that are always in.
    kinds : tuple of InputColumn, optional
        What the columns hold; None where all are numbers.
    """

    names: Sequence[str]
    n_columns: int
    members: tuple[tuple[int, ...], ...] | None = None
    required: tuple[int, ...] = ()
    kinds: tuple[InputColumn, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def document(self) -> dict[str, Any]:
        """What a model file holds of it, beside the names of the columns."""
        return {
            "names": None if self.members is None else list(self.names),
            "members": self.members,
            "required": self.required,
            "kinds": None if self.kinds is None else [kind.to_document() for kind in self.kinds],
        }

    @classmethod
    def from_document(cls, document: dict[str, Any], columns: Sequence[str]) -> FeatureTable:
        """From ``document``, and the names of the columns."""
        members, kinds = document["members"], document["kinds"]
        return cls(
            tuple(columns if members is None else document["names"]),
            len(columns),
            None if members is None else tuple(map(tuple, members)),
            tuple(document["required"]),
            None if kinds is None else tuple(map(InputColumn.from_document, kinds)),
        )

    @property
    def is_plain(self) -> bool:
        """Whether each feature is one column of numbers, and none is required."""
        return self.members is None and not self.required and self.kinds is None

    @property
    def is_required(self) -> NDArray[np.bool_] | None:
        """Which features are required; None where none is."""
        return np.isin(np.arange(len(self)), self.required) if self.required else None

    def kind_of(self, column: int) -> InputColumn:
        """What a column holds."""
        return NUMERIC if self.kinds is None else self.kinds[column]

    def columns_of(self, features: Array) -> NDArray[np.int64]:
        """The columns of the table that some features need, sorted, each once."""
        if self.members is None:
            return np.sort(np.asarray(features, dtype=np.int64))
        return np.unique([column for j in features for column in self.members[j]])

    def of_columns(self, of_features: Array, *, outside: Any) -> Array:
        """For each column the largest value of its features: (features,) -> (columns,)."""
        if self.members is None:
            return of_features
        values = np.full(self.n_columns, outside, dtype=of_features.dtype)
        for j, members in enumerate(self.members):
            values[list(members)] = np.maximum(values[list(members)], of_features[j])
        return values

    def split(self, of_features: Array) -> Array:
        """Values of features, split equally among their columns: (features,) -> (columns,)."""
        if self.members is None:
            return of_features
        values = np.zeros(self.n_columns)
        for j, members in enumerate(self.members):
            values[list(members)] += of_features[j] / len(members)
        return values


def resolve_features(
    names: Sequence[str], kinds: tuple[InputColumn, ...] | None, *, groups: Any = None, required: Any = None
) -> FeatureTable:
    """The features of a table with these columns.

    Parameters
    ----------
    groups : dict of str to list of column names or numbers, optional
        Columns outside all groups are features of their own.
    required : sequence of column names or numbers, or of names of groups, optional

    Raises
    ------
    ValueError
        A group is empty, or names a column that is not there; or nothing is left to choose from.
    """
    members, feature_names = (None, names) if groups is None else _grouped(groups, names)
    asked = [required] if isinstance(required, str) else list(required if required is not None else ())
    chosen = dict.fromkeys(_required(asked, names, members, feature_names))
    if chosen and len(chosen) >= len(feature_names):
        raise ValueError(
            f"required names all {len(feature_names)} features: at least 1 must be left to choose from; "
            "n_features_to_select='all' scores every feature"
        )
    return FeatureTable(feature_names, len(names), members, tuple(sorted(chosen)), kinds)


def _grouped(groups: Any, names: Sequence[str]) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """The columns and the name of each feature, in the order of its first column."""
    if not isinstance(groups, Mapping) or not groups:
        raise ValueError(f"groups={groups!r} must be a dict of names to lists of columns, with at least one group")
    found: list[tuple[tuple[int, ...], str]] = []
    for name, columns in groups.items():
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise ValueError(f"group {name!r} must be a list of columns, not {columns!r}")
        columns = list(columns)
        if not columns:
            raise ValueError(f"group {name!r} is empty: it needs at least one column")
        places = positions_of(columns, names, what=f"group {name!r}")
        found.append((tuple(dict.fromkeys(places)), str(name)))
    inside = {place for members, _ in found for place in members}
    found += [((place,), names[place]) for place in range(len(names)) if place not in inside]
    taken = [name for _, name in found]
    twice = sorted({name for name in taken if taken.count(name) > 1}) if len(set(taken)) < len(taken) else []
    if twice:
        raise ValueError(f"groups: {twice[0]!r} is the name of a group and of a column outside it; rename the group")
    found.sort(key=lambda feature: feature[0][0])
    return tuple(members for members, _ in found), tuple(name for _, name in found)


def _required(
    asked: list[Any],
    names: Sequence[str],
    members: tuple[tuple[int, ...], ...] | None,
    feature_names: Sequence[str],
) -> list[int]:
    """The features that are asked for by their names, or by those of their columns."""
    if members is None:
        return positions_of(asked, names, what="required")
    place = {name: j for j, name in enumerate(feature_names)}
    of_groups = [place[one] for one in asked if isinstance(one, str) and one in place]
    columns = positions_of(
        [one for one in asked if not (isinstance(one, str) and one in place)], names, what="required"
    )
    holding = {column: [j for j, some in enumerate(members) if column in some] for column in columns}
    return of_groups + [j for found in holding.values() for j in found]
