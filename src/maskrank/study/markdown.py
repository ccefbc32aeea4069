"""Tables in Markdown, with columns in line as plain text, too."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """The first column to the left, all others to the right.

    Examples
    --------
    >>> from maskrank.study.markdown import table
    >>> print(table(["method", "accuracy"], [["rf", "0.93"]]))
    | method | accuracy |
    | ------ | -------: |
    | rf     |     0.93 |
    """
    widths = [max(3, *(len(line[i]) for line in (head, *body))) for i in range(len(head))]
    rule = [f"{'-' * (width - 1)}:" if i else "-" * width for i, width in enumerate(widths)]
    padded = [
        [f"{cell:>{w}}" if i else f"{cell:<{w}}" for i, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in (head, rule, *body)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)
