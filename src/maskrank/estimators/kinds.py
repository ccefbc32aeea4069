"""The kinds of columns that a table has: numbers, categories, ordered categories, dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["numeric", "categorical", "ordered", "date"]


@dataclass(frozen=True)
class InputColumn:
    """What a column of the table holds.

    Attributes
    ----------
    kind : "numeric", "categorical", "ordered" or "date"
    levels : tuple, optional
        Of a category: text, numbers or truth values, sorted, or in the order that the frame gives them.
    day_first : bool, optional
        Of dates that a file writes as 01.02.2024: whether the day comes first.
    """

    kind: Kind
    levels: tuple[Any, ...] | None = None
    day_first: bool | None = None

    def to_document(self) -> dict[str, Any]:
        """As JSON holds it."""
        levels = None if self.levels is None else list(self.levels)
        return {"kind": self.kind, "levels": levels, "day_first": self.day_first}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> InputColumn:
        """From what ``to_document`` gave."""
        levels = document["levels"]
        return cls(document["kind"], None if levels is None else tuple(levels), document.get("day_first"))


NUMERIC = InputColumn("numeric")
