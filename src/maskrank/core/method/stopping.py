"""Early stopping on the validation figure of m_opt, keeping operator, selector and m_opt of the best moment."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from maskrank.core.engine.training_loop import BestMoment

_STATE = ("optimal", "_progress")


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
        self._patience, self._progress = patience, 0
        self._best = BestMoment(operator, selector)
        self.optimal = optimal

    @property
    def best_value(self) -> float:
        """The lowest figure so far."""
        return self._best.value

    def update(self, value: float, optimal: Tensor, batch: int) -> bool:
        """Take note of one validation; True when training should end."""
        if self._best.update(value):
            self.optimal, self._progress = optimal, batch
        return batch - self._progress >= self._patience

    def restore(self) -> None:
        """Put both nets back to the best moment."""
        self._best.restore()

    def state_dict(self) -> dict[str, Any]:
        """The best moment, for a checkpoint."""
        return {"best": self._best.state_dict(), **{name: getattr(self, name) for name in _STATE}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        self._best.load_state_dict(state_dict["best"])
        for name in _STATE:
            setattr(self, name, state_dict[name])
