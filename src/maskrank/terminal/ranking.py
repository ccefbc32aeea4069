"""A ranking, its stability, and other tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.stability import Stability
from maskrank.findings import Finding
from maskrank.terminal.text import short, visible, wrapped
from maskrank.units import in_shown_unit, score_text

_BAR, _SHORT_BAR = 20, 8  # characters; the short one leaves room for the stability columns
_GAP, _LONGEST_NAME = 2, 40  # characters
_MOST_ROWS = 40
_MOST_NAMED = 10  # of a consensus
_NARROW, _SHORT = 72, 12  # columns of a terminal that has no room for more than short words beside the numbers


def show_answer(console: Console, finding: Finding) -> None:
    """The answer, in front of everything else."""
    console.print(Text(wrapped(finding.answer, console.width), style="bold"), end="\n\n", soft_wrap=True)


def show_note(console: Console, text: str, style: str = "") -> None:
    """A line that belongs to a ranking."""
    console.print(Text(wrapped(text, console.width), style=style), soft_wrap=True)


def show_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Labels and values, one per line."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for label, value in facts:
        table.add_row(Text(label, style="dim"), Text(visible(value)))
    console.print(table)


def show_ranking(console: Console, ranking: Ranking, stability: Stability | None = None) -> None:
    """The required features, and the selected ones, best first, with scores and bars, and their stability."""
    chosen, scores = ranking.chosen, in_shown_unit(ranking, ranking.scores)
    required = ranking.order[: ranking.n_required]
    length = _BAR if stability is None else _SHORT_BAR
    largest = max(float(scores[[*required, *chosen]].max()), 1e-12)
    places = [("required", i) for i in required] + [(str(rank), i) for rank, i in enumerate(chosen[:_MOST_ROWS], 1)]
    heads, rows = ["rank", "score"], []
    if stability is not None:
        heads += ["chosen", "ranks"]
    for rank, i in places:
        repeated = () if stability is None else (f"{stability.frequency[i]:.0%}", _interval(stability, i))
        rows.append([rank, score_text(ranking, i), *repeated])
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    room = console.width - sum(widths) - length - _GAP * (len(widths) + 2)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column("rank", justify="right", no_wrap=True)
    # A long name is cut off, and not the numbers beside it.
    table.add_column("feature", overflow="ellipsis", no_wrap=True, max_width=min(_LONGEST_NAME, max(_SHORT, room)))
    for title in heads[1:]:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="crop")
    for (_, i), (rank, *numbers) in zip(places, rows, strict=True):
        bar = _bar(length * max(0.0, float(scores[i])) / largest, fine=console.encoding.startswith("utf"))
        table.add_row(rank, Text(visible(ranking.names[i])), *numbers, Text(bar, style="blue"))
    console.print(table)
    if len(chosen) > _MOST_ROWS:
        console.print(f"… and {len(chosen) - _MOST_ROWS} more: --csv or --json hold them all")


def show_table(console: Console, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Lines of text: words to the left, numbers to the right, the last column folded to the width, or below."""
    below = console.width < _NARROW and any(len(row[-1]) > _SHORT for row in rows)
    shown = slice(-1 if below else None)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, title in enumerate(head[shown]):
        last = place == len(head) - 1
        words = last or (place == 0 and not all(row[0].isdigit() for row in rows))
        table.add_column(title, justify="left" if words else "right", no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[shown]))
    console.print(table)
    for row in rows if below else ():
        console.print(Text(f"{row[0]}, {head[-1]}: {row[-1]}" if head[-1] else f"{row[0]}: {row[-1]}"))


def show_stability(console: Console, stability: Stability) -> None:
    """The consensus of the refits, and how to read the columns."""
    names = [short(name) for name in stability.consensus]
    more = f", … ({len(names)} in all)" if len(names) > _MOST_NAMED else ""
    console.print(Text(f"consensus of the refits: {', '.join(names[:_MOST_NAMED])}{more}"))
    left_out = f" ({stability.size + 1} = left out)" if stability.size < len(stability.names) else ""
    note = f"chosen: share of {stability.repeats} refits; ranks: 10 to 90 % quantile{left_out}"
    console.print(note, style="dim")


def _bar(length: float, *, fine: bool) -> str:
    """A bar of so many characters: in eighths of one, or of # where the terminal has no others."""
    if not fine:
        return "#" * round(length)
    whole, eighths = divmod(round(8 * length), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[eighths].strip()


def _interval(stability: Stability, i: int) -> str:
    low, high = int(stability.rank_low[i]), int(stability.rank_high[i])
    return f"{low}" if low == high else f"{low}-{high}"
