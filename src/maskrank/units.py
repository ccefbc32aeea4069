"""Scores as people read them: measured ones in per cent of what all chosen features explain together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.core.scoring.ranking import Ranking

Array = NDArray[Any]

TRACE = 1e-9  # nats, or share of the variance: nothing; chosen features that are worth nothing score a trace below it


def explains(ranking: Ranking) -> bool:
    """Whether scores are measured, and the chosen features together explain more than traces."""
    return ranking.explained is not None and ranking.explained > TRACE


def in_shown_unit(ranking: Ranking, scores: Array) -> Array:
    """Scores or their errors in the unit that is shown: (d,) -> (d,).

    Measured scores are shown in per cent of what all chosen features explain together, as 0 where that is nothing.
    Other scores are shown as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import Ranking
    >>> from maskrank.units import in_shown_unit
    >>> scores, support = np.array([0.3, 0.0, 0.1]), np.array([True, False, True])
    >>> ranking = Ranking(("a", "b", "c"), support, scores, scores, scores_std=scores / 10, explained=0.4)
    >>> in_shown_unit(ranking, ranking.scores)
    array([75.,  0., 25.])
    """
    if not ranking.measured:
        return scores
    return 100 * scores / ranking.explained if explains(ranking) else np.zeros_like(scores)


def shown_errors(ranking: Ranking) -> Array | None:
    """Standard errors in the unit that is shown, 0 where unknown: (d,). None where scores are not measured."""
    if ranking.scores_std is None:
        return None
    return in_shown_unit(ranking, np.where(np.isfinite(ranking.scores_std), ranking.scores_std, 0.0))


def score_text(ranking: Ranking, i: int) -> str:
    """A feature's score with its unit: ``62.1 ± 3.0 %``, or ``0.0 %`` for a measured score that is none."""
    if ranking.scores_std is None or ranking.explained is None:
        score = float(ranking.scores[i])
        return f"{score:+.4f}" if round(score, 4) else "0.0000"
    if not explains(ranking) or not ranking.support[i]:
        return "0.0 %"
    return (
        f"{100 * ranking.scores[i] / ranking.explained:.1f} ± {100 * ranking.scores_std[i] / ranking.explained:.1f} %"
    )


def score_note(ranking: Ranking) -> str:
    """How to read the scores, in a line."""
    if not ranking.measured:
        return "score: how much a feature lowers the net's loss; 0 = an average one left out"
    if not explains(ranking):
        return "score: Shapley share of the loss saved on held-out rows; together the chosen features save none"
    return "score: Shapley share of what all chosen features explain together on held-out rows, ± standard error"


def map_scores(ranking: Ranking) -> Array:
    """The scores of an importance map: raw ones, or the measured ones where nothing was selected: (d,)."""
    return ranking.scores if ranking.support.all() else ranking.raw_scores
