"""Results of a fitted model as text: JSON, CSV, and the summary above a ranking."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import maskrank
from maskrank.core.config import TrainConfig
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators import DualNetClassifier
from maskrank.estimators.base import DualNetBase

_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # what makes a spreadsheet take a cell for a formula
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_SURE = 2.0  # standard errors above 0 of a measured score that counts as sure
_FAINT = 0.05  # share of the largest score below which a score is negligible
NO_SIGNAL = "none: no subset was found that beats the trivial predictor on the held-out rows"


def unsure_places(ranking: Ranking) -> int:
    """Number of chosen features whose score does not separate them from the rest.

    A measured score that is not two standard errors above 0 does not; nor does another one at or below that of a
    feature that was left out, or below a twentieth of the largest score there is.

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import Ranking
    >>> from maskrank.results import unsure_places
    >>> scores, support = np.array([0.5, 0.01, 0.3, 0.2]), np.array([True, True, True, False])
    >>> unsure_places(Ranking(("a", "b", "c", "d"), support, scores, scores))
    1
    """
    scores, support = ranking.scores, ranking.support
    if ranking.scores_std is not None:
        return int((scores[support] <= _SURE * ranking.scores_std[support]).sum())
    bar = max(float(scores[~support].max(initial=0.0)), _FAINT * float(scores.max()))
    return int((scores[support] <= bar).sum())


def order_note(model: DualNetBase) -> str | None:
    """A line where at least half of the chosen features have scores that do not separate them from the rest."""
    size, unsure = model.result_.size, unsure_places(model.result_)
    if not model.signal_ or unsure < 2 or 2 * unsure < size:
        return None
    which = "all" if unsure == size else str(unsure)
    if model.result_.measured:
        return (
            f"{which} of the {size} chosen features have a score within two standard errors of 0: they are good as a "
            "set, but their order says little (features are redundant, or fewer suffice)"
        )
    return (
        f"{which} of the {size} chosen features score no higher than ones left out, or close to zero: they are good "
        "as a set, but their order says little (features are redundant, or fewer suffice)"
    )


def task_name(model: DualNetBase) -> str:
    """The task as in ``--task``: classification, or what kind of numbers."""
    return "classification" if model.task_.discrete else model.task_.kind


def flat_settings(config: TrainConfig) -> dict[str, str]:
    """Every number of a config as text, those of a nested part as ``part.name``.

    Examples
    --------
    >>> from maskrank.core.config import DEFAULT
    >>> from maskrank.results import flat_settings
    >>> shown = flat_settings(DEFAULT)
    >>> shown["operator_hidden"], shown["tournament.enabled"]
    ('64, 32', 'True')
    """
    return dict(_flat("", config))


def _flat(prefix: str, part: Any) -> Iterator[tuple[str, str]]:
    for entry in fields(part):
        value = getattr(part, entry.name)
        if is_dataclass(value):
            yield from _flat(f"{prefix}{entry.name}.", value)
        else:
            yield f"{prefix}{entry.name}", _setting(value)


def _setting(value: Any) -> str:
    """A number, a text, a tuple of them, or a tuple of parts, of which only what is not their default is shown."""
    if isinstance(value, tuple):
        return ("; " if any(map(is_dataclass, value)) else ", ").join(map(_setting, value))
    if is_dataclass(value):
        own = {entry.name: getattr(value, entry.name) for entry in fields(value)}
        changed = {entry.name: own[entry.name] for entry in fields(value) if own[entry.name] != entry.default}
        return ", ".join(name if number is True else f"{name} {number}" for name, number in changed.items())
    return "none" if value is None else str(value)


def ranking_json(model: DualNetBase, *, seconds: float) -> str:
    """The result of ``rank``, for other programs."""
    note = order_note(model)
    document = {
        "version": maskrank.__version__,
        "task": task_name(model),
        "size": model.result_.size,
        **model.result_.to_dict(),
        "metric": model.task_.metric.name,
        "validation": model.validation_score_,
        "baseline": model.baseline_score_,
        "signal": model.signal_,
        "notes": [] if note is None else [note],
        **({} if model.stability_ is None else {"stability": model.stability_.to_dict()}),
        "seconds": round(seconds, 3),
        "config": {**asdict(model.config_), "seed": model.random_state},
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def ranking_csv(ranking: Ranking) -> str:
    """All features, best first."""
    ranks = ranking.ranks
    columns: dict[str, Any] = {
        "rank": ranks,
        "feature": np.array(ranking.names, dtype=object),
        "importance": ranking.scores,
        **({} if ranking.scores_std is None else {"importance_std": ranking.scores_std}),
        "raw_score": ranking.raw_scores,
        "selected": ranking.support,
    }
    ordered = [values[ranking.order].tolist() for values in columns.values()]
    return _csv(list(columns), list(zip(*ordered, strict=True)))


def predictions_csv(model: DualNetBase, selected: NDArray[np.float64]) -> str:
    """One line a row: the prediction and, for classes, their probabilities."""
    predicted = model.predict_selected(selected)
    if isinstance(model, DualNetClassifier):
        probabilities = model.predict_proba_selected(selected)
        header = ["prediction", *(f"probability_{label}" for label in model.classes_)]
        return _csv(header, [(label, *row) for label, row in zip(predicted, probabilities.tolist(), strict=True)])
    columns = predicted.reshape(len(predicted), -1)
    header = ["prediction"] if columns.shape[1] == 1 else [f"prediction_{k}" for k in range(columns.shape[1])]
    return _csv(header, columns.tolist())


def frame_csv(frame: pd.DataFrame) -> str:
    """Any frame, without its index; what is missing is empty."""
    filled = frame.astype(object).where(frame.notna(), "")
    return _csv([str(name) for name in frame.columns], list(filled.itertuples(index=False, name=None)))


def facts(model: DualNetBase, *, seconds: float) -> list[tuple[str, str]]:
    """Labels and values of a fit: size, metric, signal, repeats, time."""
    no_signal = [] if model.signal_ else [("signal", NO_SIGNAL)]
    stability = model.stability_
    repeats = [] if stability is None else [("repeats", f"{stability.repeats} refits on random 80 % subsamples")]
    return [
        ("chosen", f"{model.result_.size} of {len(model.result_.names):,} features"),
        (
            model.task_.metric.title,
            f"{model.validation_score_:.4g} on held-out rows; {model.baseline_score_:.4g} without any feature",
        ),
        *_explained(model),
        *no_signal,
        *repeats,
        ("time", f"{seconds:.1f} s"),
    ]


def _explained(model: DualNetBase) -> list[tuple[str, str]]:
    share = model.result_.explained_share
    if share is None:
        return []
    of = "of the log-loss without any feature" if model.task_.discrete else "of the variance (R²)"
    return [("explained", f"{100 * share:.1f} % {of}, measured on held-out rows")]


def score_text(ranking: Ranking, i: int) -> str:
    """A feature's score as people read it: its part of what all chosen ones explain together, ± standard error."""
    shares = ranking.shares
    if shares is None or ranking.scores_std is None or ranking.explained is None:
        score = float(ranking.scores[i])
        return f"{score:+.4f}" if round(score, 4) else "0.0000"
    return f"{100 * shares[i]:.1f} ± {100 * ranking.scores_std[i] / ranking.explained:.1f} %"


def score_note(ranking: Ranking) -> str:
    """How to read the scores, in a line."""
    if not ranking.measured:
        return "score: how much a feature lowers the net's loss; 0 = an average one left out"
    if ranking.shares is None:
        return "score: Shapley share of the loss saved on held-out rows; together the chosen features save none"
    return "score: Shapley share of what all chosen features explain together on held-out rows, ± standard error"


def _csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """CSV in which no text starts a formula: one that would gets an apostrophe in front, as spreadsheets expect."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")  # quotes what holds either character
    lines = []
    for row in (header, *rows):
        writer.writerow([_guarded(cell) for cell in row])
        lines.append(stream.getvalue()[:-2])
        stream.seek(stream.truncate(0))
    return "\n".join([*lines, ""])


def _guarded(cell: Any) -> Any:
    risky = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell
