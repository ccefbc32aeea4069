"""The answer of a ranking: what predicts the target, how well, what counts most, and whether it would be chosen again.

What is said of the prediction is the figure that is shown first, and never contradicts the test for signal. What is
said of a feature is its share as the bars show it; shares that differ by less than the standard error of the
difference are tied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from maskrank.core.metrics import ACCURACY, R_SQUARED, ROC_AUC
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figure
from maskrank.estimators.stability import Stability
from maskrank.findings.finding import Certainty, Finding, capital, certainty_of, counted, listed, named, percent
from maskrank.notes import unsure_places, with_error
from maskrank.units import TRACE, explains

_SLIGHT = 0.1  # of what could be gained: a smaller gain is slight
_MOST_TIED = 3  # names of tied features; more are counted
_OFTEN = 0.8  # of the refits: a feature chosen so often is stable


@dataclass(frozen=True)
class RankingFinding(Finding):
    """The answer of a ranking, and the facts in it.

    Attributes
    ----------
    noun : "column" or "feature"
        What is counted: features, where some are groups of columns.
    leaders : tuple of str
        The features with the largest share: one, or all that are tied; none where shares say nothing.
    stable : int or None
        How many of the chosen features at least 80 % of the refits chose; None without refits.
    """

    noun: str = "feature"
    leaders: tuple[str, ...] = ()
    stable: int | None = None


def ranking_finding(model: DualNetBase, target: str | None = None) -> RankingFinding:
    """The answer of a fitted model.

    Parameters
    ----------
    model : fitted estimator
    target : str, optional
        What the target is called.
    """
    ranking, figure = model.result_, model.figures_[model.metric_.name]
    said_of = named(target) if target else "the target"
    noun, certainty = _noun(model), _certainty(model, figure)
    told = certainty not in ("none", "untested")
    leaders = _leaders(ranking) if told and figure.better else ()
    if certainty == "none":
        first = _no_signal(figure, model.signal_pvalue_, said_of, len(ranking.names), noun)
    elif certainty == "untested":
        first = [f"Whether the {noun} predict {said_of} could not be tested: there are too few rows."]
    elif not figure.better:
        first = [_not_better(figure, model.signal_pvalue_, said_of, model.n_validation_, len(ranking.names), noun)]
    else:
        first = [_found(model, figure, said_of, noun, leaders), *_doubts(model, figure, certainty)]
    stability = model.stability_ if told else None
    return RankingFinding(
        title=_title(ranking, certainty, said_of, noun),
        sentences=(*first, *_again(ranking, stability)),
        certainty=certainty,
        noun=noun,
        leaders=leaders,
        stable=None if stability is None else int((stability.frequency[ranking.chosen] >= _OFTEN).sum()),
    )


def _certainty(model: DualNetBase, figure: Figure) -> Certainty:
    if math.isnan(model.signal_pvalue_):
        return "untested"
    if not model.signal_:
        return "none"
    return certainty_of(figure.metric.sign * (figure.value - figure.baseline), figure.std)


def _noun(model: DualNetBase) -> str:
    """What is counted: columns, or features where some are groups of columns."""
    return "column" if len(model.result_.names) == len(model.support_) else "feature"


def _title(ranking: Ranking, certainty: Certainty, target: str, noun: str) -> str:
    size, plural = ranking.size, "" if ranking.size == 1 else "s"
    if certainty == "none":
        return f"No {noun} found that predicts {target}"
    if certainty == "untested":
        return f"{capital(counted(size))} {noun}{plural} ranked for {target}"
    verb = "may predict" if certainty == "unclear" else "predicts" if size == 1 else "predict"
    return f"{capital(counted(size))} {noun}{plural} that {verb} {target}"


def _no_signal(figure: Figure, pvalue: float, target: str, d: int, noun: str) -> list[str]:
    """What is said of a table without signal: no feature is named."""
    plural = "" if d == 1 else "s"
    lines = [f"No signal found: nothing in the {counted(d)} {noun}{plural} predicts {target} (p = {pvalue:.2g})."]
    if figure.better:
        value, error, baseline = with_error(figure)
        than = f"{value}{error and f' ± {error}'} against {baseline} without any {noun}"
        lines.append(f"The {figure.metric.title} of {than} may be chance.")
    return [*lines, "The ranking may be chance."]


def _not_better(figure: Figure, pvalue: float, target: str, n: int, d: int, noun: str) -> str:
    """Signal by the test, and none in the figure."""
    something = f"Something in the {counted(d)} {noun}{'' if d == 1 else 's'} predicts {target} (p = {pvalue:.2g}), but"
    if math.isnan(figure.value):
        return f"{something} the {figure.metric.title} is not defined on the {n:,} held-out rows."
    value, error, baseline = with_error(figure)
    shown = f"{value}{error and f' ± {error}'}, and {baseline} without any {noun}"
    return f"{something} this model does no better than without any: its {figure.metric.title} is {shown}."


def _found(model: DualNetBase, figure: Figure, target: str, noun: str, leaders: tuple[str, ...]) -> str:
    """How many of the features predict how well, and what counts most."""
    ranking = model.result_
    size, required = ranking.size, ranking.n_required
    others, single = f"other {noun}" if required else noun, size == 1
    d = len(ranking.names) - required
    subject = f"all {counted(size)} {others}s together" if size == d else f"{counted(size)} of {counted(d)} {others}s"
    if size == d == 1:
        subject = f"the only {others}"
    elif single:
        subject += f", {named(ranking.selected[0])},"
    if model.n_features_to_select == "auto" and size < d:
        if _at_bound(model):
            subject = f"{subject.rstrip(',')}, the most that was allowed,"
        else:
            subject += f" {'is' if single else 'are'} enough: {'it' if single else 'they'}"
    elif (enough := _enough(model)) is not None:
        subject += f", of which the first {counted(enough)} {'is' if enough == 1 else 'are'} enough,"
    if required:
        kept = named(ranking.names[ranking.order[0]]) if required == 1 else f"{counted(required)} {noun}s"
        subject = f"with {kept} required, {subject}"
    return f"{capital(subject)} {_effect(model, figure, target, noun)}{_counts_most(ranking, leaders)}."


def _at_bound(model: DualNetBase) -> bool:
    """Whether the size that was chosen is the largest that could be."""
    curve = model.size_curve_
    return curve is not None and model.result_.size == int(curve.sizes[-1])


def _enough(model: DualNetBase) -> int | None:
    """How many of the first features are worth what all are, within one standard error; None where that takes all."""
    curve, ranking = model.size_curve_, model.result_
    if curve is None or ranking.n_required or curve.enough >= ranking.size:
        return None
    return curve.enough if curve.values[curve.sizes == curve.enough][0] > 0 else None


def _effect(model: DualNetBase, figure: Figure, target: str, noun: str) -> str:
    """How well the target is predicted, in the figure that is shown first."""
    verb_s = "s" if model.result_.size == 1 else ""
    gain = figure.metric.sign * (figure.value - figure.baseline)
    possible = 1 - figure.baseline if figure.metric.higher_is_better else figure.baseline
    slight = gain < _SLIGHT * possible
    value, error, baseline = with_error(figure)
    if figure.metric == R_SQUARED and figure.value > 0:
        decimals = 0 if figure.std >= 0.005 and figure.value >= 0.01 else 1
        spread = f" ± {100 * figure.std:.{decimals}f}" if error else ""
        only = "only " if slight else ""
        return f"explain{verb_s} {only}{100 * figure.value:.{decimals}f}{spread} % of the variance of {target}"
    how = " slightly better than none" if slight else ""
    shown = f"{figure.metric.title} {value}{error and f' ± {error}'}; {baseline} without any {noun}"
    return f"predict{verb_s} {target}{how} ({shown}{_imbalance(model, figure)})"


def _imbalance(model: DualNetBase, figure: Figure) -> str:
    """Why the accuracy says little, where one class has nearly all rows."""
    accuracy = model.figures_.get(ACCURACY.name)
    if accuracy is None or not accuracy.baseline > model.config_.signal.frequent_class:
        return ""
    rows = f"one class has {percent(accuracy.baseline)} of the rows"
    return f"; {rows}, so accuracy would say little" if figure.metric == ROC_AUC else f"; {rows}"


def _counts_most(ranking: Ranking, leaders: tuple[str, ...]) -> str:
    """What has the largest share, or what is tied for it; nothing of a single feature."""
    if ranking.size == 1:
        return ""
    if not ranking.measured:
        return f"; {named(leaders[0])} scores highest" if leaders else "; which of them counts most is not clear"
    if not leaders:
        return "; their shares could not be told from 0"
    shares = {ranking.names[i]: _share(ranking, i) for i in ranking.chosen}
    if len(leaders) == 1:
        verb = "adds most" if ranking.n_required else "has the largest share"
        return f"; {named(leaders[0])} {verb}, {percent(shares[leaders[0]])}"
    if len(leaders) > _MOST_TIED:
        which = "all of them" if len(leaders) == ranking.size else f"the first {counted(len(leaders))}"
        return f"; {which} are tied for the largest share"
    shown = [f"{named(name)} ({percent(shares[name])})" for name in leaders]
    return f"; {', '.join(shown[:-1])} and {shown[-1]} are tied for the largest share"


def _share(ranking: Ranking, i: int) -> float:
    return float(ranking.scores[i] / (ranking.explained or 1.0))


def _leaders(ranking: Ranking) -> tuple[str, ...]:
    """The best feature, and those whose share can't be told from its."""
    chosen = ranking.chosen
    if ranking.scores_std is None:
        doubtful = 2 * unsure_places(ranking) >= ranking.size > 1
        return () if doubtful else ranking.selected[:1]
    scores, errors = ranking.scores[chosen], ranking.scores_std[chosen]
    if not explains(ranking) or not scores[0] > TRACE:
        return ()
    apart = np.maximum(np.hypot(errors, errors[0]), TRACE)
    tied = (scores[0] - scores <= apart) & (scores > TRACE)
    tied[0] = True
    return tuple(ranking.names[i] for i in chosen[: int(np.argmin([*tied, False]))])


def _doubts(model: DualNetBase, figure: Figure, certainty: Certainty) -> list[str]:
    """What limits a gain that was found."""
    lines = []
    if certainty == "unclear" and not math.isfinite(figure.std):
        lines.append("How sure that is can't be told from so few held-out rows.")
    elif certainty == "unclear":
        lines.append(f"There is signal (p = {model.signal_pvalue_:.2g}), but the gain is within one standard error.")
    elif certainty == "likely":
        lines.append("The gain is less than two standard errors.")
    if not model._unseen:
        lines.append("The held-out rows also chose the nets, so it is a little too good.")
    return lines


def _again(ranking: Ranking, stability: Stability | None) -> list[str]:
    """Whether refits choose the same features; nothing where all had to be chosen."""
    size = ranking.size
    if stability is None or size + ranking.n_required == len(ranking.names):
        return []
    times = np.round(stability.frequency[ranking.chosen] * stability.repeats).astype(int)
    all_of, refits = stability.repeats, f"of {stability.repeats} refits"
    if times.min() == all_of:
        who = "It was" if size == 1 else "Both were" if size == 2 else f"All {counted(size)} were"
        return [f"{who} chosen in {all_of} {refits}."]
    often, least = int((times >= _OFTEN * all_of).sum()), math.ceil(_OFTEN * all_of)
    if size == 1:
        doubt = "" if often else "The choice is unstable: "
        return [f"{doubt}{'It' if often else 'it'} was chosen in {times[0]} {refits}."]
    if often == size:
        each = "Both were" if size == 2 else f"Each of the {counted(size)} was"
        return [f"{each} chosen in at least {times.min()} {refits}."]
    rare = listed([ranking.names[ranking.chosen[int(times.argmin())]]])
    if 2 * often > size:
        most = f"{capital(counted(often))} of the {counted(size)} were chosen in at least {least} {refits}"
        return [f"{most}, {rare} in {times.min()}."]
    few = f"only {counted(often)}" if often else "none"
    return [
        f"The choice is unstable: {few} of the {counted(size)} {'was' if often <= 1 else 'were'} chosen in at least "
        f"{least} {refits}."
    ]
