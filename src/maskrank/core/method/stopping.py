"""Early stopping on the validation figure of m_opt, keeping operator, selector and m_opt of the best moment."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.engine.training_loop import BestMoment
from maskrank.core.method.search import subset_importance
from maskrank.core.method.selector import Selector

_STATE = ("optimal", "_scores", "_since", "_progress", "_passed")


class EarlyStopping:
    """Watches the validation figure of m_opt and remembers operator, selector and m_opt of the best moment together.

    Training ends when neither the figure nor the ranking moves any more: there was no progress for a while, and
    the selector scores the features as it did at the beginning of that while. A selector that still changes its
    mind, as on the plateau before an interaction is found, gets as long again.

    Parameters
    ----------
    operator : nn.Module
    selector : Selector
    optimal : Tensor (s,)
        m_opt at the start.
    patience : int
        Batches without progress after which training may end.
    min_agreement : float
        The correlation of the scores, then and now, from which the ranking counts as stable; at most -1 leaves the
        ranking out of it.
    min_progress : float
        Share by which the figure must fall to count as progress, where the ranking counts, too.
    max_patience : int
        Times the patience after which training ends all the same: redundant features may never rank stably.
    """

    def __init__(
        self,
        operator: nn.Module,
        selector: Selector,
        optimal: Tensor,
        *,
        patience: int,
        min_agreement: float,
        min_progress: float,
        max_patience: int,
    ) -> None:
        self._selector = selector
        self._patience, self._max_patience = patience, max_patience
        self._min_agreement = min_agreement
        self._best = BestMoment(operator, selector)
        self._scores: Tensor | None = None
        self._since = self._progress = 0
        self._min_progress = min_progress if min_agreement > -1 else 0.0
        self._passed = float("inf")  # the figure at the last progress
        self.optimal = optimal

    @property
    def best_value(self) -> float:
        """The lowest figure so far."""
        return self._best.value

    def update(self, value: float, optimal: Tensor, batch: int) -> bool:
        """Take note of one validation; True when training should end."""
        if self._best.update(value):
            self.optimal = optimal
        if value < (1 - self._min_progress) * self._passed:
            self._passed, self._progress = value, batch
            self._wait_from(batch, optimal)
        if batch - self._since < self._patience:
            return False
        if self._is_stable(optimal) or batch - self._progress >= self._max_patience * self._patience:
            return True
        self._wait_from(batch, optimal)
        return False

    def restore(self) -> None:
        """Put both nets back to the best moment."""
        self._best.restore()

    def state_dict(self) -> dict[str, Any]:
        """The best moment, and since when it is waited for a better one, for a checkpoint."""
        return {"best": self._best.state_dict(), **{name: getattr(self, name) for name in _STATE}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        self._best.load_state_dict(state_dict["best"])
        for name in _STATE:
            setattr(self, name, state_dict[name])

    def _wait_from(self, batch: int, optimal: Tensor) -> None:
        self._since = batch
        if self._min_agreement > -1:
            self._scores = subset_importance(self._selector, optimal)

    def _is_stable(self, optimal: Tensor) -> bool:
        if self._scores is None:
            return True
        both = torch.stack([self._scores, subset_importance(self._selector, optimal)])
        return float(torch.corrcoef(both)[0, 1]) >= self._min_agreement
