"""`Ranking` as users get it: the core's, with the table that a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from typing import Any

from maskrank.core.scoring import ranking as core
from maskrank.units import in_shown_unit, score_text

_MOST_ROWS = 20
_BLUE, _GREY = "#0072b2", "#999999"  # Okabe and Ito: people with any kind of colour vision tell them apart


class Ranking(core.Ranking):
    """The features of a data set in order of their worth to the net.

    Attributes
    ----------
    names : tuple of str
        All d features.
    support : ndarray (d,) of bool
        m*: which features are selected.
    raw_scores : ndarray (d,)
        -df_S/dm at m*. Its zero is arbitrary: every subset the selector has seen is of one size, so a constant
        added to all raw scores changes nothing that was learned.
    scores : ndarray (d,)
        Measured: for a selected feature its Shapley share of the loss that all of them save on held-out rows, in nats
        for classes and as a share of the variance for numbers; at least a trace, 1e-12, and 0 for the rest. Where
        scores are not measured, they are the raw scores, anchored, and 0 is an average feature that was left out.
    scores_std : ndarray (d,) or None
        Standard errors of measured scores.
    evidence : ndarray (d,) or None
        Of the screens, corrected for multiple tests; it orders the features that were left out.
    explained, baseline : float or None
        What the selected features save together, and the loss of the best constant answer, in the same unit.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import Ranking
    >>> support = np.array([True, False, True, False])
    >>> ranking = Ranking(names=("a", "b", "c", "d"), support=support,
    ...                   raw_scores=np.array([0.5, 0.1, 0.9, 0.3]), scores=np.array([0.3, -0.1, 0.7, 0.1]))
    >>> ranking.selected
    ('c', 'a')
    >>> ranking.ranks
    array([2, 3, 1, 3])
    """

    @classmethod
    def of(cls, ranking: core.Ranking) -> Ranking:
        """The same ranking, for a notebook."""
        return cls(**{entry.name: getattr(ranking, entry.name) for entry in fields(core.Ranking)})

    def __str__(self) -> str:
        names, scores = list(self.selected), [score_text(self, int(i)) for i in self.chosen]
        width, unit = max(len(name) for name in ["feature", *names]), max(map(len, scores))
        rows = zip(range(1, self.size + 1), names, scores, strict=True)
        lines = [f"{rank:>4}  {name:<{width}}  {score:>{unit}}" for rank, name, score in rows]
        return "\n".join([f"{'rank':>4}  {'feature':<{width}}  {'score':>{unit}}", *lines])

    def _repr_html_(self) -> str:
        return ranking_html(self)


def ranking_columns(ranking: core.Ranking) -> dict[str, Any]:
    """What a table says of each feature, beside its name: arrays (d,), in the order of the features."""
    optional = {"importance_std": ranking.scores_std, "evidence": ranking.evidence}
    return {
        "rank": ranking.ranks,
        "importance": ranking.scores,
        **{name: values for name, values in optional.items() if values is not None},
        "raw_score": ranking.raw_scores,
        "selected": ranking.support,
    }


def ranking_html(ranking: core.Ranking) -> str:
    """The first features as an HTML table; it takes the colours of text and page from the notebook."""
    shown, scores = ranking.order[:_MOST_ROWS], in_shown_unit(ranking, ranking.scores)
    unit = max(float(scores[shown].max()), 1e-12)
    head = _row("th", ("rank", "feature", "score", ""))
    ranks = ranking.ranks
    rows = [_feature(ranking, int(ranks[i]), int(i), float(scores[i]) / unit) for i in shown]
    more = len(ranking.names) - len(shown)
    note = f"<div style='opacity:.7'>… and {more:,} more</div>" if more else ""
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{note}"


def _feature(ranking: core.Ranking, rank: int, i: int, length: float) -> str:
    """One feature; a required one has a dash for a rank, one left out is muted, a score below zero has no bar."""
    chosen, width = bool(ranking.support[i]), 10 * max(0.0, length)
    bar = f"<div style='background:{_BLUE if chosen else _GREY};height:.8em;width:{width:.2f}em'></div>"
    cells = (str(rank or "–") if chosen else "", escape(ranking.names[i]), score_text(ranking, i), bar)
    return _row("td", cells, "" if chosen else "opacity:.6")


def _row(tag: str, cells: Sequence[str], style: str = "") -> str:
    inner = "".join(f"<{tag} style='text-align:left'>{cell}</{tag}>" for cell in cells)
    return f"<tr style='{style}'>{inner}</tr>"
