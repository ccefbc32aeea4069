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
    """

    kind: Kind
    levels: tuple[Any, ...] | None = None

    def to_document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"kind": self.kind, "levels": None if self.levels is None else list(self.levels)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> InputColumn:
        """From what ``to_document`` gave."""
        levels = document["levels"]
        return cls(document["kind"], None if levels is None else tuple(levels))


NUMERIC = InputColumn("numeric")
