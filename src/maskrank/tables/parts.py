"""Columns that were parsed in parts, put together as if they had been parsed at once.

pandas infers the type of a column from the rows it sees. Where parts of a column differ, what all rows together are is
mostly plain: whole numbers beside fractions are fractions, and text beside numbers is text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

_EXACT = 2**53  # whole numbers below are the same as 64-bit floats


@dataclass
class Joined:
    """Columns by their names, and those that the parts do not tell.

    Attributes
    ----------
    columns : dict of Series
    texts : list of str
        Columns to be parsed again, as text.
    unclear : list of str
        Columns to be parsed again, all rows at once.
    """

    columns: dict[str, pd.Series] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)


def join_columns(parts: dict[str, list[pd.Series]]) -> Joined:
    """Put columns together, one by one; each is taken out of the parts, so that memory holds it once."""
    joined = Joined()
    for name in list(parts):
        pieces = parts.pop(name)
        kinds = {kind_of_part(piece) for piece in pieces}
        told = kinds - {"nothing"}
        if len({piece.dtype for piece in pieces}) == 1 or told <= {"boolean"}:
            joined.columns[name] = pd.concat(pieces, ignore_index=True)
        elif kinds <= {"integer", "floating", "nothing"}:
            numbers = [piece.to_numpy(dtype=np.float64) for piece in pieces]
            joined.columns[name] = pd.Series(np.concatenate(numbers), name=name)
        elif told == {"string"}:
            text = next(piece.dtype for piece in pieces if kind_of_part(piece) == "string")
            joined.columns[name] = pd.concat([piece.astype(text) for piece in pieces], ignore_index=True)
        elif "string" in told or "boolean" in told:
            joined.texts.append(name)
        else:
            joined.unclear.append(name)
    return joined


def kind_of_part(piece: pd.Series) -> str:
    """What a part of a column holds; "other" for numbers that 64-bit floats may not hold exactly."""
    if piece.dtype.kind == "f":
        return "nothing" if piece.isna().all() else "floating"
    if piece.dtype.kind == "i":
        return "integer" if piece.abs().max() < _EXACT else "other"
    kind = str(pd.api.types.infer_dtype(piece, skipna=True))
    return kind if kind in ("boolean", "string") else "other"
