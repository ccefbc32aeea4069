"""Deployment: from the trained selector to m*, Score(m*) and the order of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
        m*: which features are selected, and those that are required.
    raw_scores : ndarray (d,)
        -df_S/dm at m*. Its zero is arbitrary: every subset the selector has seen has the same size, so adding a
        constant to all raw scores changes nothing. All 0 where every feature is selected, and the
        selector had nothing to learn. Required features, which the selector does not know, have the largest one.
    scores : ndarray (d,)
        Measured: for a selected feature its Shapley share of the loss that all of them save on held-out rows, in nats
        for classes and as a share of the variance for numbers; above 0, if only by a trace, and 0 for the rest.
        Required features share what they save without the others, selected ones what these add to them.
        Without measured scores, the raw ones, anchored: 0 is an average feature that was left out.
    scores_std : ndarray (d,), optional
        Standard errors of measured scores; None where scores are not measured.
    evidence : ndarray (d,), optional
        What the screens say of each feature: a log-likelihood, corrected for multiple tests. It orders the features
        that were left out. 0 for required features, which are not screened.
    explained : float, optional
        What the selected and the required features save together, the sum of their scores.
    baseline : float, optional
        The loss of the best constant answer in the same unit: ``explained / baseline`` is R², or its like for classes.
    required : ndarray (d,) of bool, optional
        Which features are in every subset, and not counted; None where there are none.
    """

    names: tuple[str, ...]
    support: NDArray[np.bool_]
    raw_scores: NDArray[np.float64]
    scores: NDArray[np.float64]
    scores_std: NDArray[np.float64] | None = None
    evidence: NDArray[np.float64] | None = None
    explained: float | None = None
    baseline: float | None = None
    required: NDArray[np.bool_] | None = None

    @property
    def measured(self) -> bool:
        """Whether scores are measured shares, or else derivatives of the selector."""
        return self.scores_std is not None

    @property
    def explained_share(self) -> float | None:
        """Share of the baseline's loss that the selected features explain: R², or its counterpart for classes."""
        return None if self.explained is None or not self.baseline else self.explained / self.baseline

    @property
    def explained_by_required(self) -> float | None:
        """What the required features save without the selected ones; None where scores are not measured."""
        return None if self.explained is None else float(self.scores[self._required & (self.scores > _TRACE)].sum())

    @property
    def shares(self) -> NDArray[np.float64] | None:
        """Each feature's part of what the selected ones explain together; None where that is nothing or unknown."""
        return None if self.explained is None or self.explained <= 0 else self.scores / self.explained

    @property
    def order(self) -> NDArray[np.int64]:
        """All features: the required ones, the selected ones, then the rest, each group best first.

        Required and selected features are ordered by their measured scores and the rest by their evidence, where there
        are such; raw scores decide otherwise, and between equals.
        """
        worth = np.zeros(len(self.names)) if self.evidence is None or not self.measured else self.evidence.copy()
        worth[self.support] = self.scores[self.support] if self.measured else 0.0
        return np.lexsort((-self.raw_scores, -worth, ~self.support, ~self._required)).astype(np.int64)

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected features, best first; without required ones."""
        return tuple(self.names[i] for i in self.chosen)

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The selected features, best first; without required ones."""
        return self.order[self.n_required : self.n_required + self.size]

    @property
    def size(self) -> int:
        """s, the number of selected features; required ones are not counted."""
        return int(self.support.sum()) - self.n_required

    @property
    def n_required(self) -> int:
        """The number of required features."""
        return int(self._required.sum())

    @property
    def ranks(self) -> NDArray[np.int64]:
        """1..s for the selected features, best first; s + 1 for the rest, and 0 for required features."""
        ranks = np.full(len(self.names), self.size + 1, dtype=np.int64)
        ranks[self.chosen] = np.arange(1, self.size + 1)
        ranks[self._required] = 0
        return ranks

    @property
    def _required(self) -> NDArray[np.bool_]:
        return np.zeros(len(self.names), dtype=bool) if self.required is None else self.required

    def to_dict(self) -> dict[str, Any]:
        """What goes into JSON: the selected names, best first, and every feature's scores."""
        return {
            "selected": list(self.selected),
            "required": [self.names[i] for i in self.order[: self.n_required]],
            "scores": dict(zip(self.names, self.scores.tolist(), strict=True)),
            "raw_scores": dict(zip(self.names, self.raw_scores.tolist(), strict=True)),
            "scores_std": None
            if self.scores_std is None
            else dict(zip(self.names, self.scores_std.tolist(), strict=True)),
            "explained": self.explained,
            "explained_share": self.explained_share,
            "explained_by_required": self.explained_by_required,
        }

    def __str__(self) -> str:
        width = max(len("feature"), *(len(name) for name in self.selected))
        lines = [f"{rank:>4}  {self.names[i]:<{width}}  {self.scores[i]:+.4f}" for rank, i in enumerate(self.chosen, 1)]
        return "\n".join([f"{'rank':>4}  {'feature':<{width}}  score", *lines])


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
    redundant: Sequence[int] = (),
) -> Ranking:
    """m*, Score(m*), and the measured scores or else the anchored form of Score(m*), for all features of the table.

    A feature outside the pool scores as an average one left out. One that could not be chosen never scores above one
    that could, nor one that does not vary above one that does.

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
        Of the features of m*, in order, and of the required ones behind them.
    evidence : Tensor (d,), optional
        Of all features that could be chosen.
    redundant : sequence of int
        Features that the significant ones predict. Where no share is left for a feature, these come before features
        that nothing speaks for.
    """
    chosen = features.in_table[np.r_[optimal.cpu().numpy(), len(features) : len(features.in_table)]]
    support, required = np.zeros((2, len(features.names)), dtype=bool)
    support[chosen], required[features.required] = True, True
    raw_of_features = np.zeros(len(features))
    if selector is not None:
        raw_of_features = _feature_scores(selector, pool.places(optimal), pool, len(features))
    raw_scores = np.full(len(features.names), raw_of_features.min())
    raw_scores[features.candidates] = raw_of_features
    raw_scores[~features.varies] = np.nextafter(raw_scores[features.varies].min(), -np.inf)
    raw_scores[required] = raw_scores[support & ~required].max()
    of_table = None if evidence is None else _of_table(evidence.cpu().double().numpy(), features)
    ranking = Ranking(
        tuple(features.names),
        support,
        raw_scores,
        raw_scores,
        evidence=of_table,
        required=required if features.n_required else None,
    )
    if measured is None:
        left_out = ~support & features.varies if (~support & features.varies).any() else ~support
        return replace(ranking, scores=anchor(raw_scores, ~left_out))
    scores, errors = np.zeros((2, len(features.names)))
    varies = features.varies[chosen]
    shares: NDArray[np.float64] = measured.shares.non_negative(torch.from_numpy(varies), features.n_required).numpy()
    speaks = (shares > 0) | np.isin(chosen, features.in_table[list(redundant)])
    order = np.lexsort((-measured.shares.values.numpy(), ~speaks, -shares, ~varies))
    scores[chosen], errors[chosen] = shares + _traces(order), measured.shares.errors.numpy()
    explained, baseline = float(shares.sum()), measured.value.baseline
    return replace(ranking, scores=scores, scores_std=errors, explained=explained, baseline=baseline)


def _traces(order: NDArray[np.int64]) -> NDArray[np.float64]:
    """What is added to scores so that none is 0 and there are no ties, falling along an order: (s,).

    So sorted scores have every chosen feature before those that were left out. At most 1e-12, it is nothing to see.
    """
    return np.asarray(_TRACE * (1 - order.argsort() / len(order)))


def _of_table(evidence: NDArray[np.float64], features: Features) -> NDArray[np.float64]:
    """For all features of the table, from the evidence of those to choose from; below it for those that do not vary."""
    values = np.full(len(features.names), np.nextafter(evidence.min(), -np.inf))
    values[features.candidates] = evidence
    values[~features.varies] = values.min()
    values[features.required] = 0.0
    return values


def _feature_scores(selector: Selector, places: Tensor, pool: Pool, d: int) -> NDArray[np.float64]:
    """Raw scores of all d features: (d,)."""
    known_scores = subset_importance(selector, places).cpu().double()
    left_out = ~to_mask(places, selector.n_features).bool().cpu()
    average = float(known_scores[left_out].mean())
    known = pool.features.cpu()
    scores = torch.full((d,), average, dtype=torch.float64).scatter_(0, known, known_scores)
    return np.asarray(scores.numpy())
