"""Early stopping on the loss of m_opt, keeping the best state whole."""

from __future__ import annotations

from torch import Tensor, nn


class EarlyStopping:
    """Watches the validation figure of m_opt and remembers operator, selector and m_opt of the best moment together.

    Parameters
    ----------
    operator, selector : nn.Module
    optimal : Tensor (s,)
        m_opt at the start.
    patience : int
        Batches without progress after which training ends.
    """

    def __init__(self, operator: nn.Module, selector: nn.Module, optimal: Tensor, *, patience: int) -> None:
        self._nets = (operator, selector)
        self._patience = patience
        self._states: tuple[dict[str, Tensor], ...] | None = None
        self.best_value = float("inf")
        self.best_batch = 0
        self.optimal = optimal

    def update(self, value: float, optimal: Tensor, batch: int) -> bool:
        """Take note of one validation; True when patience is at its end."""
        if value < self.best_value:
            self.best_value, self.best_batch, self.optimal = value, batch, optimal
            self._states = tuple({k: v.clone() for k, v in net.state_dict().items()} for net in self._nets)
        return batch - self.best_batch >= self._patience

    def restore(self) -> None:
        """Put both nets back to the best moment."""
        if self._states is not None:
            for net, state in zip(self._nets, self._states, strict=True):
                net.load_state_dict(state)
