"""Fitted models without a fit, and names that break careless pages."""

from __future__ import annotations

import numpy as np

from maskrank import DualNetClassifier, Ranking
from maskrank.core.config import DEFAULT
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.metrics import ACCURACY
from maskrank.core.recorder import History
from maskrank.core.scoring.ranking import anchor
from maskrank.estimators.figures import Figure
from maskrank.estimators.reading import ColumnSummary
from maskrank.estimators.size_curve import SizeCurve
from maskrank.report import RankingSection

NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>window.broken = 1</script>",
    "<!-- comment",
    "]]>",
    "a & b",
    "&lt;b&gt;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${alert(1)}",
    "`backtick`",
    "'single'",
    '"double"',
    "javascript:alert(1)",
    "=SUM(A1:A9)",
    "+1",
    "-1+2",
    "@cmd",
    "naïve café",
    "温度",
    "🧬 gene 🧪",
    "\u202eright to left",
    "שלום",
    "two\nlines",
    "tab\tinside",
    "x" * 300,
    "back\\slash",
    "null",
    "__proto__",
    "10",
)


def ranked(names: tuple[str, ...], size: int = 2, seed: int = 0, *, measured: bool = True) -> Ranking:
    """The first features are chosen, in their order."""
    d = len(names)
    raw = np.linspace(1, 0, d) + 1e-3 * np.random.default_rng(seed).standard_normal(d)
    support = np.arange(d) < size
    if not measured:
        return Ranking(names, support, raw, anchor(raw, support))
    scores = np.where(support, np.linspace(1, 0.5, d), 0.0)
    errors, evidence = np.where(support, 0.01 / d, 0.0), raw - 0.5
    raw = np.where(np.arange(d) < 1_000, raw, raw.mean())  # outside the pool all features have that of an average one
    return Ranking(names, support, raw, scores, errors, evidence, float(scores.sum()), 2 * float(scores.sum()))


def curve_of(values: list[float], enough: int, figure: str = "accuracy") -> SizeCurve:
    """A curve of sizes from 1 on."""
    worth, error = np.array(values), np.full(len(values), 0.01)
    figures, spread = (worth, error) if figure == "r2" else (0.5 + worth / 2, error / 2)
    return SizeCurve(np.arange(1, len(values) + 1), worth, error, figures, spread, figure, enough)


class Unfitted(DualNetClassifier):
    """Its columns are told of, not read from a table."""

    features_: list[ColumnSummary] = []  # noqa: RUF012


def fitted(names: tuple[str, ...], size: int = 2, seed: int = 0, *, measured: bool = True) -> DualNetClassifier:
    """A model that looks as if it had been fitted on these features; the first ones are chosen."""
    d = len(names)
    model = Unfitted(size, random_state=0, preset="default" if measured else "paper")
    model.features_ = [ColumnSummary(name, "numeric", None, 0.0, "") for name in names]
    model.result_ = ranked(names, size, seed, measured=measured)
    model.size_curve_ = curve_of(np.linspace(0.3, 0.6, size).tolist(), size) if measured else None
    model.support_, model.task_ = model.result_.support, BinaryTask()
    model.config_, model.stability_ = DEFAULT, None
    judge(model)
    model.history_ = History(
        phase=["explore", "search", "search"],
        batch=[8, 16, 24],
        operator_loss=[1.0, 0.5, 0.4],
        selector_loss=[0.1, 0.05, 0.02],
        validation=[(8, 0.9), (16, 0.4)],
        optimal=[(8, (0, d - 1)), (16, tuple(range(size)))],
        batches={"explore": 8, "search": 16},
    )
    return model


def judge(model: DualNetClassifier, *, value: float = 0.91, baseline: float = 0.5, pvalue: float = 0.004) -> None:
    """Give a model an accuracy of 34 rows, and a p-value."""
    model.metric_, model.n_validation_, model._unseen = ACCURACY, 34, True
    model.figures_ = {"accuracy": Figure(ACCURACY, value, 0.05, value - 0.1, value + 0.09, baseline)}
    model.validation_score_, model.baseline_score_ = value, baseline
    model.signal_pvalue_, model.signal_ = pvalue, pvalue <= 0.05


def section(names: tuple[str, ...], size: int = 2, n: int = 40, *, measured: bool = True) -> RankingSection:
    X = np.random.default_rng(0).standard_normal((n, len(names)))
    y = np.where(X[:, 0] > 0, names[0], names[1])
    model = fitted(names, size, measured=measured)
    return RankingSection(
        names[0],
        model,
        [("data", names[0])],
        1.5,
        X,
        y,
        all_features={"accuracy": Figure(ACCURACY, 0.93, 0.04, 0.8, 0.98)},
    )
