"""Lines that go with a ranking: its figures, whether there is signal, how many features are enough, what was seen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from maskrank.core.scoring.ranking import Ranking
from maskrank.core.scoring.size_curve import SizeCurve
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figure
from maskrank.units import TRACE

_FAINT = 0.05  # share of the largest score below which a score that is not measured is negligible
_MOST_RUNS = 3  # of ranks that a sentence names
_MOST = 0.9  # share of what all features explain, below which the sentence on the size says how sure it is


def notes(model: DualNetBase) -> dict[str, str]:
    """Lines that belong to a ranking, by what they are about: ``size``, ``order`` and ``search``."""
    found = {"size": size_note(model), "order": order_note(model), "search": model.history_.coverage}
    return {about: note for about, note in found.items() if note is not None}


def figure_text(figure: Figure, n_rows: int, *, unseen: bool = True) -> str:
    """A figure with its standard error, and the baseline.

    Parameters
    ----------
    n_rows : int
        Behind the figure.
    unseen : bool
        Whether these rows had no part in the choice of the nets.

    Examples
    --------
    >>> from maskrank.core.metrics import ACCURACY
    >>> from maskrank.estimators.figures import Figure
    >>> from maskrank.notes import figure_text
    >>> figure_text(Figure(ACCURACY, 0.9412, 0.0404, 0.81, 0.98, baseline=0.4118), 34)
    '0.941 ± 0.040 on 34 held-out rows; 0.412 without any feature'
    """
    value, error, baseline = with_error(figure)
    rows = f"{n_rows:,} held-out row{'' if n_rows == 1 else 's'}" + ("" if unseen else ", which also chose the nets")
    if math.isnan(figure.value):
        return f"not defined on {rows}"
    return f"{value}{error and f' ± {error}'} on {rows}; {baseline} without any feature"


def with_error(figure: Figure) -> tuple[str, str, str]:
    """The value, its standard error ("" where it is not known) and the baseline, with the digits that the error leaves.

    Two digits of the standard error are shown, and of a large number all before the point.
    """
    known = math.isfinite(figure.std) and figure.std > 0
    decimals = min(6, max(0, 1 - math.floor(math.log10(figure.std)))) if known else 3
    rounded = (round(number, decimals) + 0.0 for number in (figure.value, figure.std, figure.baseline))  # no -0.0
    value, error, baseline = (f"{number:,.{decimals}f}" for number in rounded)
    return value, error if known else "", baseline


def signal_text(figure: Figure, pvalue: float, level: float) -> str:
    """Whether there is signal, in words that agree with the figure next to them.

    Parameters
    ----------
    figure : Figure
        The one that is shown.
    pvalue : float
        Of the null hypothesis that nothing predicts the target.
    level : float
        P-values up to it are called signal.

    Examples
    --------
    >>> from maskrank.core.metrics import ACCURACY
    >>> from maskrank.estimators.figures import Figure
    >>> from maskrank.notes import signal_text
    >>> signal_text(Figure(ACCURACY, 0.70, 0.13, 0.4, 0.9, baseline=0.45), 0.21, 0.05)
    'none found (p = 0.21): the better accuracy may be chance'
    """
    if math.isnan(pvalue):
        return "not tested: too few rows, or groups of rows, to tell"
    title, p = figure.metric.title, f"p = {pvalue:.2g}"
    if math.isnan(figure.value):
        return f"{'none found' if pvalue > level else 'yes'} ({p})"
    if pvalue > level:
        return f"none found ({p})" + (f": the better {title} may be chance" if figure.better else "")
    if not figure.better:
        return f"yes ({p}): something predicts the target, but the {title} is no better than that without any feature"
    if figure.metric.sign * (figure.value - figure.baseline) <= figure.std:
        return f"yes ({p}), though the {title} is within one standard error of that without any feature"
    return f"yes ({p})"


def model_signal(model: DualNetBase) -> str:
    """The same of a fitted model."""
    return signal_text(model.figures_[model.metric_.name], model.signal_pvalue_, model.config_.signal.level)


def size_note(model: DualNetBase) -> str | None:
    """How many of the features are enough, in a line; None where nothing can be said."""
    curve, ranking = model.size_curve_, model.result_
    if curve is None or not model.signal_:
        return None
    if ranking.n_required:  # what counts is what the chosen features add to the required ones
        curve = replace(curve, values=curve.values - (ranking.explained_by_required or 0.0))
    return size_sentence(
        curve,
        size=ranking.size,
        n_features=len(ranking.names) - ranking.n_required,
        auto=model.n_features_to_select == "auto",
    )


def size_sentence(curve: SizeCurve, *, size: int, n_features: int, auto: bool = False) -> str | None:
    """What a size curve says, in a line; None for a single feature, or where the features that are enough save nothing.

    Parameters
    ----------
    curve : SizeCurve
        Of the chosen features; where the size was chosen, of all sizes up to its bound.
    size : int
        How many features were chosen.
    n_features : int
        Of the table.
    auto : bool
        Whether the size was chosen by the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.size_curve import SizeCurve
    >>> from maskrank.notes import size_sentence
    >>> worth, error = np.array([0.5, 0.79, 0.8]), np.full(3, 0.02)
    >>> curve = SizeCurve(np.array([1, 2, 3]), worth, error, worth, error, "r2", enough=2)
    >>> size_sentence(curve, size=3, n_features=10)
    'the first 2 of the 3 chosen features carry 99 % of what all 3 explain'
    """
    enough, worth = curve.enough, float(curve.values[curve.sizes == curve.enough][0])
    if worth <= 0:
        return None
    if auto:
        bound = int(curve.sizes[-1])
        if size == bound:
            return (
                f"the size is {size}, the most that was allowed: smaller ones are worse by more than the standard error"
            )
        chosen = f"{size} is the smallest not worse than the best by more than the standard error"
        return f"sizes up to {bound} were compared: {chosen}"
    if size == 1:
        return None
    whole = f"{_all(size)} features" if size == n_features else f"the {size} chosen features"
    if enough == size:
        needed = f"{_all(size)} {'' if size == n_features else 'chosen '}features are needed"
        return f"{needed}: {_carried(size - 1, '', float(curve.values[-2]) / worth, size)}"
    total = float(curve.values[-1])
    if worth >= total:
        return f"the first {_counted(enough)} of {whole} {'does' if enough == 1 else 'do'} no worse than {_all(size)}"
    doubt = "" if worth >= _MOST * total else "; the rest is within one standard error"
    return _carried(enough, f" of {whole}", worth / total, size) + doubt


def _carried(n: int, of: str, share: float, size: int) -> str:
    """What the first features explain of what all do; a share below 1."""
    percent = round(100 * min(max(share, 0.0), 1.0))  # of very small numbers, quotients overflow
    shown = "more than 99 %" if percent >= 100 else "less than 1 %" if percent < 1 else f"{percent} %"
    return f"the first {_counted(n)}{of} {'carries' if n == 1 else 'carry'} {shown} of what {_all(size)} explain"


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {n}"


def _counted(n: int) -> str:
    return "one" if n == 1 else str(n)


def order_note(model: DualNetBase) -> str | None:
    """A line where scores say little about the order of the chosen features.

    Measured scores do where at least half of the neighbours in the ranking differ by less than the standard error of
    their difference; others do where at least half of the chosen features do not stand out from those left out.
    """
    ranking = model.result_
    if not model.signal_ or ranking.size < 2:
        return None
    if ranking.measured:
        unclear, pairs = unclear_neighbours(ranking), worthy_pairs(ranking)
        if not pairs or 2 * unclear < pairs:
            return None
        return f"{_unclear_places(ranking)} differ by less than the standard error, so their order may be chance"
    unsure = unsure_places(ranking)
    if unsure < 2 or 2 * unsure < ranking.size:
        return None
    which = "all" if unsure == ranking.size else str(unsure)
    return (
        f"{which} of the {ranking.size} chosen features score no higher than ones left out, or close to zero: trust "
        "the set, not its order (features are redundant, or fewer suffice)"
    )


def unclear_neighbours(ranking: Ranking) -> int:
    """Number of neighbours in the ranking whose measured scores differ by less than the standard error of that.

    Pairs count whose better feature has a score clearly above 0. The errors of two scores are taken as independent.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import Ranking
    >>> from maskrank.notes import unclear_neighbours
    >>> scores, chosen = np.array([0.5, 0.3, 0.29]), np.array([True, True, True])
    >>> unclear_neighbours(Ranking(("a", "b", "c"), chosen, scores, scores, scores_std=np.full(3, 0.02)))
    1
    """
    return 0 if ranking.scores_std is None else int(_unclear(ranking).sum())


def _unclear(ranking: Ranking) -> NDArray[np.bool_]:
    scores, errors = _best_first(ranking)
    apart = scores[:-1] - scores[1:]
    return np.asarray(_worthy(ranking) & (apart <= np.maximum(np.hypot(errors[:-1], errors[1:]), TRACE)))


def _unclear_places(ranking: Ranking) -> str:
    """The ranks whose neighbours can't be told apart, as people say them: the first few runs of them."""
    if ranking.size == 2:
        return "the scores of the 2 chosen features"
    places = np.flatnonzero(_unclear(ranking)) + 1
    runs = [(int(run[0]), int(run[-1]) + 1) for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]
    said = [f"{first} and {last}" if last == first + 1 else f"{first} to {last}" for first, last in runs]
    if len(runs) == 1:
        return f"{'scores' if runs[0][1] == runs[0][0] + 1 else 'neighbouring scores'} at ranks {said[0]}"
    shown = [*said[:_MOST_RUNS], *([f"{len(runs) - _MOST_RUNS} more places"] if len(runs) > _MOST_RUNS else [])]
    return f"neighbouring scores at ranks {', '.join(shown[:-1])}, and {shown[-1]}"


def worthy_pairs(ranking: Ranking) -> int:
    """Number of neighbours in the ranking whose better feature has a score clearly above 0."""
    return 0 if ranking.scores_std is None else int(_worthy(ranking).sum())


def _worthy(ranking: Ranking) -> NDArray[np.bool_]:
    scores, errors = _best_first(ranking)
    return np.asarray(scores[:-1] > np.maximum(errors[:-1], TRACE))


def _best_first(ranking: Ranking) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores and standard errors of the chosen features."""
    assert ranking.scores_std is not None
    chosen = ranking.chosen
    return ranking.scores[chosen], ranking.scores_std[chosen]


def unsure_places(ranking: Ranking) -> int:
    """Number of chosen features whose score, not measured, does not separate them from the rest.

    It is at or below that of a feature that was left out, or below a twentieth of the largest score there is.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import Ranking
    >>> from maskrank.notes import unsure_places
    >>> scores, support = np.array([0.5, 0.01, 0.3, 0.2]), np.array([True, True, True, False])
    >>> unsure_places(Ranking(("a", "b", "c", "d"), support, scores, scores))
    1
    """
    scores, support = ranking.scores, ranking.support
    bar = max(float(scores[~support].max(initial=0.0)), _FAINT * float(scores.max()))
    return int((scores[support] <= bar).sum())
