"""Early stopping on the loss of m_opt, keeping the best state whole."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from maskrank.core.method.search import subset_importance
from maskrank.core.method.selector import Selector

_MOST_PATIENCE = 4  # times the patience, without progress, that a ranking may take to settle
_LEAST_PROGRESS = 0.01  # share by which the figure must fall to count as progress, where the ranking counts, too


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
    agreement : float
        The correlation of the scores, then and now, from which the ranking counts as settled; at most -1 leaves the
        ranking out of it. Where features stand in for one another it may never settle: after four times the patience
        training ends all the same.
    """

    def __init__(
        self, operator: nn.Module, selector: Selector, optimal: Tensor, *, patience: int, agreement: float
    ) -> None:
        self._nets = (operator, selector)
        self._selector = selector
        self._patience = patience
        self._agreement = agreement
        self._states: tuple[dict[str, Tensor], ...] | None = None
        self._scores: Tensor | None = None
        self._since = self._progress = 0
        self._least = _LEAST_PROGRESS if agreement > -1 else 0.0
        self._passed = float("inf")  # the figure at the last progress
        self.best_value = float("inf")
        self.optimal = optimal

    def update(self, value: float, optimal: Tensor, batch: int) -> bool:
        """Take note of one validation; True when training should end."""
        if value < self.best_value:
            self.best_value, self.optimal = value, optimal
            self._keep()
        if value < (1 - self._least) * self._passed:
            self._passed, self._progress = value, batch
            self._wait_from(batch, optimal)
        if batch - self._since < self._patience:
            return False
        if self._has_settled(optimal) or batch - self._progress >= _MOST_PATIENCE * self._patience:
            return True
        self._wait_from(batch, optimal)
        return False

    def restore(self) -> None:
        """Put both nets back to the best moment."""
        if self._states is not None:
            for net, state in zip(self._nets, self._states, strict=True):
                net.load_state_dict(state)

    def _wait_from(self, batch: int, optimal: Tensor) -> None:
        self._since = batch
        if self._agreement > -1:
            self._scores = subset_importance(self._selector, optimal)

    def _has_settled(self, optimal: Tensor) -> bool:
        if self._scores is None:
            return True
        both = torch.stack([self._scores, subset_importance(self._selector, optimal)])
        return float(torch.corrcoef(both)[0, 1]) >= self._agreement

    def _keep(self) -> None:
        states = tuple(net.state_dict() for net in self._nets)
        if self._states is None:
            self._states = tuple({name: value.clone() for name, value in state.items()} for state in states)
            return
        for kept, state in zip(self._states, states, strict=True):
            for name, value in state.items():
                kept[name].copy_(value)
