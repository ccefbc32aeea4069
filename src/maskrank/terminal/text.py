"""User text made safe for the terminal: on one line, with control characters escaped."""

from __future__ import annotations

import math
import shlex
import textwrap
import unicodedata
from collections.abc import Sequence

_KEPT = "\u00a0"  # a space at which no line ends
_LONG = 1e7  # a number that is read more easily as a power of ten
_JOINERS = "\u200c\u200d"  # parts of emoji and of Persian and Indic words


def visible(text: str) -> str:
    r"""The text with line ends, escape sequences and marks that turn the direction of writing spelled out.

    Examples
    --------
    >>> from maskrank.terminal.text import visible
    >>> print(visible("two\nlines, größer als \x1b[31mrot"))
    two\nlines, größer als \x1b[31mrot
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def one_line(text: str) -> str:
    """A message of several lines as one."""
    return visible(" ".join(line.strip() for line in text.splitlines()))


def wrapped(text: str, width: int) -> str:
    """The text made visible, in lines of this width that keep numbers with their units and errors.

    Examples
    --------
    >>> from maskrank.terminal.text import wrapped
    >>> print(wrapped("they explain 57 ± 6 % of it", 20))
    they explain
    57 ± 6 % of it
    """
    kept = visible(text)
    for inside in (" %", " ± ", "p = "):
        kept = kept.replace(inside, inside.replace(" ", _KEPT))
    return textwrap.fill(kept, max(width, 20), break_long_words=False, break_on_hyphens=False).replace(_KEPT, " ")


def short(text: str, width: int = 40) -> str:
    """The text made visible, cut to a width."""
    text = visible(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def lined_up(values: Sequence[float], digits: int) -> list[str]:
    """Numbers with the same decimals, so that their points stand below each other; the largest has so many digits.

    Examples
    --------
    >>> from maskrank.terminal.text import lined_up
    >>> lined_up([0.9403, 0.96, 0.003], 3)
    ['0.940', '0.960', '0.003']
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    decimals = max(0, digits - 1 - math.floor(math.log10(max(sizes)))) if sizes else digits - 1
    if sizes and (min(sizes) < 0.5 * 10.0**-decimals or max(sizes) >= _LONG):
        return [f"{value:.{digits}g}" for value in values]  # so that a small one is not shown as 0
    return [f"{value:.{decimals}f}" for value in values]


def grouped(values: Sequence[float], digits: int) -> list[str]:
    """`lined_up`, with commas between thousands.

    Examples
    --------
    >>> from maskrank.terminal.text import grouped
    >>> grouped([20153.7, 9120.2], 4)
    ['20,154', '9,120']
    """
    return [text if "e" in text else _with_commas(text) for text in lined_up(values, digits)]


def alike(values: Sequence[float], digits: int = 3) -> list[str]:
    """Numbers with the decimals that show so many digits of the largest, small ones rounded to 0.

    Examples
    --------
    >>> from maskrank.terminal.text import alike
    >>> alike([0.7441, 2e-6]), alike([49917.0, -86686.5])
    (['0.744', '0.000'], ['49,917', '−86,686'])
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    decimals = min(8, max(0, digits - 1 - math.floor(math.log10(largest)))) if largest > 0 else digits - 1
    return [f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", "−") for value in values]


def readable(value: float) -> str:
    """A number as people write it: four digits, all those before the point, and commas between thousands.

    Examples
    --------
    >>> from maskrank.terminal.text import readable
    >>> readable(74170.3), readable(-0.043121), readable(3.0), readable(2.5e12)
    ('74,170', '−0.04312', '3', '2.5e+12')
    """
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    return text.replace("-", "−", 1) if value < 0 else text


def _with_commas(text: str) -> str:
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.lstrip("-").isdigit() and len(whole.lstrip("-")) > 3 else text


def brief_seconds(seconds: float) -> str:
    """Seconds for a table; a small time is not shown as 0."""
    return "<0.1" if seconds < 0.05 else f"{seconds:.1f}"


def shell_word(name: str) -> str:
    """A name as it is typed in a shell."""
    if visible(name) == name:
        return f"'{name}'" if name.startswith("=") and shlex.quote(name) == name else shlex.quote(name)
    return f"$'{''.join(map(_spelled, name))}'"


def drop_flags(names: list[str]) -> str:
    """The options that leave these columns out."""
    return " ".join(f"--drop {shell_word(name)}" for name in names)


def _visible(character: str) -> str:
    obeyed = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS
    return repr(character)[1:-1] if obeyed else character


def _spelled(character: str) -> str:
    """A character inside $'…', where an escape with x is a byte and one with u a character."""
    if character in "\\'":
        return f"\\{character}"
    if _visible(character) == character:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 128 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
