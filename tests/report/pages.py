"""Fitted models without a fit, and names that break careless pages."""

from __future__ import annotations

import numpy as np

from maskrank import DualNetClassifier, Ranking
from maskrank.core.config import DEFAULT
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.recorder import History
from maskrank.core.scoring.ranking import anchor
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


def fitted(names: tuple[str, ...], size: int = 2, seed: int = 0) -> DualNetClassifier:
    """A model that looks as if it had been fitted on these features; the first ones are chosen."""
    d = len(names)
    raw = np.linspace(1, 0, d) + 1e-3 * np.random.default_rng(seed).standard_normal(d)
    support = np.arange(d) < size
    model = DualNetClassifier(size, random_state=0)
    model.result_ = Ranking(names, support, raw, anchor(raw, support))
    model.support_, model.task_ = support, BinaryTask()
    model.config_, model.signal_, model.stability_ = DEFAULT, True, None
    model.validation_score_, model.baseline_score_ = 0.91, 0.5
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


def section(names: tuple[str, ...], size: int = 2, n: int = 40) -> RankingSection:
    X = np.random.default_rng(0).standard_normal((n, len(names)))
    y = np.where(X[:, 0] > 0, names[0], names[1])
    return RankingSection(names[0], fitted(names, size), [("data", names[0])], 1.5, X, y, all_features=0.93)
