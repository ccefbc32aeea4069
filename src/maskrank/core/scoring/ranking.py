"""Deployment: from the trained selector to m*, Score(m*) and the order of the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from maskrank.core.data.features import Features, Pool
from maskrank.core.data.subsets import to_mask
from maskrank.core.method.search import subset_importance
from maskrank.core.method.selector import Selector
from maskrank.core.scoring.measurement import MeasuredScores

_TRACE = 1e-12  # what a chosen feature scores at least: more than a feature left out, and nothing to speak of


@dataclass(frozen=True, eq=False)
class Ranking:
    """The features of a data set in order of their worth.

    Attributes
    ----------
    names : tuple of str
        All d features.
    support : ndarray (d,) of bool
        m*: which features are selected.
    raw_scores : ndarray (d,)
        -df_S/dm at m*. Its zero is arbitrary: every subset the selector has seen is of one size, so a constant
        added to all raw scores changes nothing that was learned. All 0 where every feature is selected, and the
        selector had nothing to learn.
    scores : ndarray (d,)
        Measured: for a selected feature its Shapley share of the loss that all of them save on held-out rows, in nats
        for classes and as a share of the variance for numbers; above 0, if only by a trace, and 0 for the rest.
        Without measured scores, the raw ones, anchored: 0 is an average feature that was left out.
    scores_std : ndarray (d,), optional
        Standard errors of measured scores; None where scores are not measured.
    evidence : ndarray (d,), optional
        What the screens say of each feature: a log-likelihood, corrected for multiple tests. It orders the features
        that were left out.
    explained : float, optional
        What the selected features save together, the sum of their scores.
    baseline : float, optional
        The loss of the best constant answer in the same unit: ``explained / baseline`` is R², or its like for classes.
    """

    names: tuple[str, ...]
    support: NDArray[np.bool_]
    raw_scores: NDArray[np.float64]
    scores: NDArray[np.float64]
    scores_std: NDArray[np.float64] | None = None
    evidence: NDArray[np.float64] | None = None
    explained: float | None = None
    baseline: float | None = None

    @property
    def measured(self) -> bool:
        """Whether scores are measured shares, or else derivatives of the selector."""
        return self.scores_std is not None

    @property
    def explained_share(self) -> float | None:
        """What the selected features explain of the loss of the best constant answer: R², or its like for classes."""
        return None if self.explained is None or not self.baseline else self.explained / self.baseline

    @property
    def shares(self) -> NDArray[np.float64] | None:
        """Each feature's part of what the selected ones explain together; None where that is nothing or unknown."""
        return None if self.explained is None or self.explained <= 0 else self.scores / self.explained

    @property
    def order(self) -> NDArray[np.int64]:
        """All features, the selected ones first and each group best first.

        Selected features are ordered by their measured scores and the rest by their evidence, where there are such;
        raw scores decide otherwise, and between equals.
        """
        worth = np.zeros(len(self.names)) if self.evidence is None or not self.measured else self.evidence.copy()
        worth[self.support] = self.scores[self.support] if self.measured else 0.0
        return np.lexsort((-self.raw_scores, -worth, ~self.support)).astype(np.int64)

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected features, best first."""
        return tuple(self.names[i] for i in self.order[: self.size])

    @property
    def size(self) -> int:
        """s, the number of selected features."""
        return int(self.support.sum())

    @property
    def ranks(self) -> NDArray[np.int64]:
        """1..s for the selected features, best first; s + 1 for the rest."""
        ranks = np.full(len(self.names), self.size + 1, dtype=np.int64)
        ranks[self.order[: self.size]] = np.arange(1, self.size + 1)
        return ranks

    def to_dict(self) -> dict[str, Any]:
        """What goes into JSON: the selected names, best first, and every feature's scores."""
        return {
            "selected": list(self.selected),
            "scores": dict(zip(self.names, self.scores.tolist(), strict=True)),
            "raw_scores": dict(zip(self.names, self.raw_scores.tolist(), strict=True)),
            "scores_std": None
            if self.scores_std is None
            else dict(zip(self.names, self.scores_std.tolist(), strict=True)),
            "explained": self.explained,
            "explained_share": self.explained_share,
        }

    def __str__(self) -> str:
        width = max(len("feature"), *(len(name) for name in self.selected))
        lines = [f"{rank:>4}  {self.names[i]:<{width}}  {self.scores[i]:+.4f}" for rank, i in enumerate(self._top(), 1)]
        return "\n".join([f"{'rank':>4}  {'feature':<{width}}  score", *lines])

    def _top(self) -> list[int]:
        return [int(i) for i in self.order[: self.size]]


def anchor(raw_scores: NDArray[np.float64], support: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shift raw scores so that the features left out have mean 0: (d,), (d,) -> (d,)."""
    zero: float = raw_scores[~support].mean()
    return raw_scores - zero


def rank_features(
    selector: Selector | None,
    optimal: Tensor,
    pool: Pool,
    features: Features,
    *,
    measured: MeasuredScores | None = None,
    evidence: Tensor | None = None,
) -> Ranking:
    """m*, Score(m*), and the measured scores or else the anchored form of Score(m*), for all columns of the table.

    A feature outside the pool scores as an average one left out. A column that is no feature never scores above one
    that is, nor one that does not vary above one that does.

    Parameters
    ----------
    selector : Selector, optional
        None where all features were asked for, and there was nothing to select.
    optimal : Tensor (s,)
        m*.
    pool : Pool
        Which features the selector knows.
    features : Features
    measured : MeasuredScores, optional
        Of the features of m*, in order.
    evidence : Tensor (d,), optional
        Of all features.
    """
    support = np.zeros(len(features.names), dtype=bool)
    support[list(features.columns_of(optimal))] = True
    raw_of_features = np.zeros(len(features))
    if selector is not None:
        raw_of_features = _feature_scores(selector, pool.places(optimal), pool, len(features))
    raw_scores = np.full(len(features.names), raw_of_features.min())
    raw_scores[features.columns] = raw_of_features
    raw_scores[~features.varies] = np.nextafter(raw_scores[features.varies].min(), -np.inf)
    of_columns = None if evidence is None else _of_columns(evidence.cpu().double().numpy(), features)
    names = tuple(features.names)
    if measured is None:
        left_out = ~support & features.varies if (~support & features.varies).any() else ~support
        return Ranking(names, support, raw_scores, anchor(raw_scores, ~left_out), evidence=of_columns)
    scores, errors = np.zeros(len(names)), np.zeros(len(names))
    chosen = features.columns[optimal.cpu().numpy()]
    varies = features.varies[chosen]
    shares: NDArray[np.float64] = measured.shares.non_negative(torch.from_numpy(varies)).numpy()
    order = np.lexsort((-measured.shares.values.numpy(), ~varies))
    scores[chosen], errors[chosen] = shares + _traces(order), measured.shares.errors.numpy()
    return Ranking(names, support, raw_scores, scores, errors, of_columns, float(shares.sum()), measured.value.baseline)


def _traces(order: NDArray[np.int64]) -> NDArray[np.float64]:
    """What is added to scores so that none is 0 and there are no ties, falling along an order: (s,).

    So sorted scores have every chosen feature before those that were left out. At most 1e-12, it is nothing to see.
    """
    return np.asarray(_TRACE * (1 - order.argsort() / len(order)))


def _of_columns(of_features: NDArray[np.float64], features: Features) -> NDArray[np.float64]:
    """For all columns of the table, from values of the features; below all of them for other columns: (d,)."""
    values = np.full(len(features.names), np.nextafter(of_features.min(), -np.inf))
    values[features.columns] = of_features
    values[~features.varies] = values.min()
    return values


def _feature_scores(selector: Selector, places: Tensor, pool: Pool, d: int) -> NDArray[np.float64]:
    """Raw scores of all d features: (d,)."""
    known_scores = subset_importance(selector, places).cpu().double()
    left_out = ~to_mask(places, selector.n_features).bool().cpu()
    average = float(known_scores[left_out].mean())
    known = pool.features.cpu()
    scores = torch.full((d,), average, dtype=torch.float64).scatter_(0, known, known_scores)
    return np.asarray(scores.numpy())
