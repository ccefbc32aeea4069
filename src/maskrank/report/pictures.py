"""A picture to share: the answer and its bars in one SVG that stands alone, for slides and messages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from maskrank.report.page import drawn, packed
from maskrank.terminal.text import short

_MOST_BARS = 12
_LINE, _LETTERS = 34, 92  # pixels of a line, and letters of the answer in it
_TITLE_LETTERS = 60
_LONGEST_NAME = 30
_LEFT, _TRACK = 330, 640  # where bars begin, and the longest one
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Bar:
    """A bar of the picture: all lengths are in % of the longest.

    Attributes
    ----------
    name, text : str
        What it is of, and its number.
    length : float
    whisker : (from, to), optional
    muted : bool
    """

    name: str
    text: str
    length: float
    whisker: tuple[float, float] | None = None
    muted: bool = False


def share_picture(title: str, answer: str, bars: Sequence[Bar], *, label: str) -> str:
    """The picture as a page carries it.

    Parameters
    ----------
    label : str
        What the bars show.
    """
    shown = bars[:_MOST_BARS]
    titles, lines = textwrap.wrap(_clean(title), _TITLE_LETTERS)[:2], textwrap.wrap(_clean(answer), _LETTERS)
    below = 66 + 42 * len(titles) + _LINE * len(lines)
    if len(bars) > len(shown):
        label = f"{label}; the first {len(shown)} of {len(bars):,}"
    svg = drawn(
        "picture.svg",
        titles=[(62 + 42 * place, line) for place, line in enumerate(titles)],
        lines=[(62 + 42 * len(titles) + _LINE * place, line) for place, line in enumerate(lines)],
        bars=[_placed(bar, below + 18 + 42 * place) for place, bar in enumerate(shown)],
        label=(below, label),
        height=below + 42 * len(shown) + 70,
    )
    return packed(svg)


def _placed(bar: Bar, top: float) -> dict[str, object]:
    scale = _TRACK / 100
    ends = None if bar.whisker is None else tuple(round(_LEFT + scale * end, 1) for end in bar.whisker)
    return {
        "name": short(_clean(bar.name), _LONGEST_NAME),
        "text": _clean(bar.text),
        "left": _LEFT,
        "width": round(scale * max(0.0, bar.length), 1),
        "whisker": ends,
        "muted": bar.muted,
        "top": top,
    }


def _clean(text: str) -> str:
    """Without what no XML may hold."""
    return _NO_XML.sub("\ufffd", text)
