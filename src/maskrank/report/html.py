"""The HTML report: one file, no script, no request to anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import jinja2

import maskrank
from maskrank.core.progress import History
from maskrank.core.ranking import Ranking

_MOST_ROWS = 500  # of the table of features
_WIDTH, _HEIGHT = 720, 160  # of a loss curve


@dataclass(frozen=True)
class Section:
    """One ranking of a report.

    Attributes
    ----------
    title : str
    facts : list of (label, value)
        What was asked, of which data, with which result.
    ranking : Ranking
    history : History
    settings : dict
    """

    title: str
    facts: Sequence[tuple[str, str]]
    ranking: Ranking
    history: History
    settings: dict[str, object] = field(default_factory=dict)


def render_report(title: str, sections: Sequence[Section], *, command: str = "") -> str:
    """The report as HTML text; names and labels of the user are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("maskrank.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html").render(
        title=title,
        sections=[_view(section) for section in sections],
        command=command,
        version=maskrank.__version__,
    )


def _view(section: Section) -> dict[str, object]:
    ranking = section.ranking
    largest = max(float(abs(ranking.scores[ranking.support]).max()), 1e-12)
    rows = [
        {
            "rank": int(ranking.ranks[i]) if ranking.support[i] else "",
            "name": ranking.names[i],
            "score": float(ranking.scores[i]),
            "raw": float(ranking.raw_scores[i]),
            "share": min(100.0, 100 * max(0.0, float(ranking.scores[i])) / largest),
            "selected": bool(ranking.support[i]),
        }
        for i in ranking.order[:_MOST_ROWS]
    ]
    return {
        "title": section.title,
        "facts": section.facts,
        "bars": [row for row in rows if row["selected"]],
        "rows": rows,
        "left_out": len(ranking.names) - len(rows),
        "curve": _curve(section.history),
        "settings": section.settings,
    }


def _curve(history: History) -> dict[str, object]:
    """The operator's loss over the batches, and the validation figure of m_opt, as points of an SVG line."""
    values = [*history.operator_loss, *(value for _, value in history.validation)]
    low, high = min(values), max(values)
    last = max(history.batch)

    def points(pairs: Sequence[tuple[int, float]]) -> str:
        span = (high - low) or 1.0
        return " ".join(f"{_WIDTH * b / last:.1f},{_HEIGHT * (1 - (v - low) / span):.1f}" for b, v in pairs)

    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "low": low,
        "high": high,
        "last": last,
        "phase2": _WIDTH * history.batches["explore"] / last,
        "operator": points(list(zip(history.batch, history.operator_loss, strict=True))),
        "validation": points(history.validation),
    }
