"""What a finding is, and the words that all of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from maskrank.terminal.text import short

Certainty = Literal["clear", "likely", "unclear", "none", "untested"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LONGEST = 32  # characters of a name in a sentence


@dataclass(frozen=True)
class Finding:
    """What was found, in words.

    Attributes
    ----------
    title : str
        States the result in a few words.
    sentences : tuple of str
        The answer first, then what limits it.
    certainty : "clear", "likely", "unclear", "none" or "untested"
        A gain of more than two standard errors, of more than one, of less; no gain; or nothing to tell it by.
    """

    title: str
    sentences: tuple[str, ...]
    certainty: Certainty

    @property
    def answer(self) -> str:
        """All sentences."""
        return " ".join(self.sentences)


def certainty_of(gain: float, error: float) -> Certainty:
    """How sure a gain is that has this standard error.

    Examples
    --------
    >>> from maskrank.findings.finding import certainty_of
    >>> [certainty_of(gain, 0.1) for gain in (0.3, 0.15, 0.05, -0.2)]
    ['clear', 'likely', 'unclear', 'unclear']
    """
    if not gain > error:  # also where the error is not known
        return "unclear"
    return "likely" if gain <= 2 * error else "clear"


def counted(n: int) -> str:
    """A number below ten as a word, others in digits.

    Examples
    --------
    >>> from maskrank.findings.finding import counted
    >>> counted(4), counted(1200)
    ('four', '1,200')
    """
    return _WORDS[n] if n < len(_WORDS) else f"{n:,}"


def capital(text: str) -> str:
    """The text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def named(name: object) -> str:
    """A user's name in a sentence: on one line, and not too long."""
    return short(str(name), _LONGEST)


def listed(names: Sequence[object]) -> str:
    """Names of a user as people say them.

    Examples
    --------
    >>> from maskrank.findings.finding import listed
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    shown = [named(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def to_error(values: Sequence[float], error: float) -> list[str]:
    """Values, and an error behind them, with the decimals of two digits of the error; three where it is 0 or unknown.

    Examples
    --------
    >>> from maskrank.findings.finding import to_error
    >>> to_error([1.0, 0.01162], 0.00436), to_error([0.97], 0.0)
    (['1.0000', '0.0116', '0.0044'], ['0.970', '0.000'])
    """
    known = math.isfinite(error) and error > 0
    decimals = min(6, max(0, 1 - math.floor(math.log10(error)))) if known else 3
    return [f"{round(value, decimals) + 0.0:,.{decimals}f}" for value in (*values, error)]


def percent(share: float) -> str:
    """A share between 0 and 1 in whole per cent, which never says 0 of something, or all of less.

    Examples
    --------
    >>> from maskrank.findings.finding import percent
    >>> percent(0.312), percent(0.001), percent(0.998)
    ('31 %', 'less than 1 %', 'more than 99 %')
    """
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"
