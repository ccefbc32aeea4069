"""What a user says of columns: their kinds, which of them are required, which belong together; and what is wrong with
it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskrank.tables.errors import TableError, raise_all, unknown
from maskrank.tables.paths import source_path
from maskrank.tables.text import decode

_FORMS = 'a JSON object of lists, {"group": ["column", …], …}, or CSV with the columns group and column'


@dataclass(frozen=True)
class ColumnOptions:
    """What is said of the columns of a table.

    Attributes
    ----------
    categorical, numeric : sequence of str
        Columns that are read as this kind, whatever they look like.
    required : sequence of str
        Columns that are always in, outside the count.
    groups : dict of str to sequence of str
        Columns that are chosen together.
    """

    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    required: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column of which it is said."""
        return dict.fromkeys(self.categorical, "categorical") | dict.fromkeys(self.numeric, "numeric")

    def without(self, dropped: Sequence[str]) -> dict[str, list[str]]:
        """The groups, each column of them once, without those that are left out."""
        return {
            group: [name for name in dict.fromkeys(columns) if name not in dropped]
            for group, columns in self.groups.items()
        }

    def problems(self, columns: Sequence[str], taken: Mapping[str, str], dropped: Sequence[str]) -> list[str]:
        """What does not fit the table, one line each.

        Parameters
        ----------
        columns : sequence of str
            Of the table.
        taken : dict of str
            Columns that are no features, and what they are.
        dropped : sequence of str
        """
        features = [name for name in columns if name not in taken and name not in dropped]
        found = [
            f"{option}: {line}"
            for option, names in (
                ("--categorical", self.categorical),
                ("--numeric", self.numeric),
                ("--require", self.required),
            )
            for name in dict.fromkeys(names)
            if not (option == "--require" and name in self.groups)
            if (line := _misplaced(name, columns, taken, dropped)) is not None
        ]
        found += [f"column {name!r} can't be both --categorical and --numeric" for name in _both(self)]
        required = set(self.required) & set(features)
        if required and len(required) >= len(features):
            found.append(
                f"--require: {len(required)} columns are required of {len(features)} features; at least 1 must be left "
                "to choose from"
            )
        return found + self._group_problems(columns, taken, dropped)

    def _group_problems(self, columns: Sequence[str], taken: Mapping[str, str], dropped: Sequence[str]) -> list[str]:
        found = []
        for group, members in self.without(dropped).items():
            if not members:
                why = ", as its columns are dropped" if self.groups[group] else ""
                found.append(f"--group: the group {group!r} is empty{why}; it needs at least 1 column")
            lines = (_misplaced(name, columns, taken, ()) for name in members)
            found += [f"--group: in the group {group!r} {line}" for line in lines if line is not None]
        return found


def _both(options: ColumnOptions) -> list[str]:
    return [name for name in dict.fromkeys(options.categorical) if name in set(options.numeric)]


def _misplaced(name: str, columns: Sequence[str], taken: Mapping[str, str], dropped: Sequence[str]) -> str | None:
    """Why a column is no feature of the table; None if it is one."""
    if name in taken:
        return f"column {name!r} is {taken[name]}; features are needed"
    if name in dropped:
        return f"column {name!r} is left out by --drop; keep it, or do not name it"
    return None if name in columns else unknown(name, columns)


def read_groups(source: str) -> dict[str, list[str]]:
    """Groups of columns from a file.

    Parameters
    ----------
    source : str
        Either JSON, an object of lists: ``{"blood": ["hb", "wbc"], "heart": ["pulse"]}``. Or CSV or TSV with the
        columns ``group`` and ``column``, one line for each member of a group.
    """
    if not Path(source).exists():
        raise TableError(f"{source}: there is no such file; --group needs {_FORMS}")
    try:
        content = source_path(source).read_bytes()
    except OSError as error:
        raise TableError(f"{source}: can't be read: {error.strerror}") from error
    text, _ = decode(content, source)
    return _of_json(text, source) if text.lstrip().startswith(("{", "[")) else _of_csv(text, source)


def _of_json(text: str, where: str) -> dict[str, list[str]]:
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice.extend(name for name in dict.fromkeys(names) if names.count(name) > 1)
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{where}: is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise TableError(f"{where}: is not {_FORMS}")
    wrong = [
        name
        for name, columns in document.items()
        if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns)
    ]
    raise_all(
        where,
        [f"the group {name!r} occurs twice" for name in twice]
        + [f"the group {name!r} is not a list of names of columns" for name in wrong],
    )
    return document


def _of_csv(text: str, where: str) -> dict[str, list[str]]:
    """Lines of a group and one of its columns."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in text else ","))
    header = [cell.strip().casefold() for cell in rows[0]] if rows else []
    if sorted(header) != ["column", "group"]:
        raise TableError(f"{where}: is not {_FORMS}")
    place = header.index("group")
    groups: dict[str, list[str]] = {}
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != 2 or not row[place].strip():
            raise TableError(f"{where}: line {line} has no group and column; two fields are needed")
        members = groups.setdefault(row[place].strip(), [])
        members += [row[1 - place]] if row[1 - place].strip() else []
    return groups
