"""Colours of the documentation's pictures: one set for light pages, one for dark ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BLACK, BLUE = "#000000", "#0072b2"  # of the package's own plots: hard to see on a dark page


@dataclass(frozen=True)
class Scheme:
    """Colours that can be read on a page."""

    ink: str
    line: str
    first: str
    second: str
    others: tuple[str, ...]
    map: str


SCHEMES = {
    "light": Scheme("#1c2430", "#b9c1cc", "#0072b2", "#b4540a", ("#5b6b7f", "#2a7f62", "#8a5fa8"), "Blues"),
    "dark": Scheme("#e7ebf0", "#56616f", "#5aa9e6", "#f0a35e", ("#a3adba", "#63c7a2", "#c3a2dc"), "Blues_r"),
}


def style(scheme: Scheme, title: str) -> dict[str, Any]:
    """Settings of matplotlib in these colours."""
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"), scheme.ink)
    return {
        **ink,
        "axes.edgecolor": scheme.line,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10,
        "grid.color": scheme.line,
        "grid.alpha": 0.5,
        "legend.frameon": False,
        "svg.hashsalt": title,  # the same picture is the same file
    }
