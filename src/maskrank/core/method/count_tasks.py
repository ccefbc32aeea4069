"""Tasks with a Poisson likelihood: counts, and survival times under right censoring.

Cox's model is fitted in its Poisson form: an event is a count of 0 or 1, and the exposure of a row is the cumulative
baseline hazard at its time (Breslow 1974; LeBlanc and Crowley 1992). This loss is a sum over rows, as the nets need it,
and not over risk sets. Where all outputs are 0 its slope is that of the partial likelihood, and minus the slope by a
row's output is always the row's martingale residual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from maskrank.core.metrics import CONCORDANCE, POISSON_DEVIANCE, Metric
from maskrank.core.probabilities import LARGEST_LOG_RATE


def poisson_loss(log_rate: Tensor, events: Tensor, exposure: Tensor) -> Tensor:
    """Half the Poisson deviance, at least 0: all of one shape, or broadcast to it.

    exposure·rate - events·log_rate, less its lowest value: that of the rate events / exposure.
    """
    lowest = events - torch.xlogy(events, events / exposure.clamp(min=torch.finfo(exposure.dtype).tiny))
    above = (log_rate - LARGEST_LOG_RATE).clamp(min=0)
    rate = (log_rate - above).exp() * (1 + above)  # `rate_of`, with a gradient
    return exposure * rate - events * log_rate - lowest


def deviance_residuals(martingale: Tensor, loss: Tensor) -> Tensor:
    """Martingale residuals made symmetric by the loss, half a deviance (Therneau et al. 1990): all of one shape."""
    return martingale.sign() * (2 * loss.clamp(min=0)).sqrt()


class _PoissonTask:
    """What tasks with a Poisson likelihood have in common. The output is the logarithm of the rate."""

    discrete: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = False
    figure: ClassVar[str] = "d2"
    kind: ClassVar[str]
    n_outputs: int

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        events, exposure = _columns(y)
        return poisson_loss(outputs.squeeze(-1), events, exposure)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return 2 * self.loss(outputs, y)

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        columns = torch.stack(_columns(y.double()))  # (2, n)
        events, exposure = columns.sum(dim=1) if weights is None else columns @ weights.double()
        rate: Tensor = events / exposure
        return rate.clamp(min=1e-6).log().reshape(1)

    def as_numeric(self, y: Tensor) -> Tensor:
        """Events less those expected at one rate for all; of survival times these are martingale residuals."""
        events, exposure = _columns(y)
        return (events - self.constant(y).exp().to(y.dtype) * exposure).unsqueeze(1)

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        return -slope

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


@dataclass(frozen=True)
class CountTask(_PoissonTask):
    """Counts (n, 1), or other numbers that are never below 0; the exposure of each row is 1."""

    kind: ClassVar[str] = "counts"
    metric: ClassVar[Metric] = POISSON_DEVIANCE
    stratified: ClassVar[bool] = False
    n_outputs: int = 1


@dataclass(frozen=True)
class SurvivalTask(_PoissonTask):
    """Events, 0 or 1, and exposures, the cumulative baseline hazard at the time of each row: (n, 2)."""

    kind: ClassVar[str] = "survival"
    metric: ClassVar[Metric] = CONCORDANCE
    stratified: ClassVar[bool] = True
    n_outputs: int = 1

    def as_numeric(self, y: Tensor) -> Tensor:
        """Deviance residuals at one rate for all."""
        return deviance_residuals(super().as_numeric(y)[:, 0], self.loss(self.constant(y).to(y.dtype), y)).unsqueeze(1)

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        """Deviance residuals: the martingale residuals of late times would outweigh all others."""
        return deviance_residuals(-slope, losses.unsqueeze(-1))


def _columns(y: Tensor) -> tuple[Tensor, Tensor]:
    """Events and exposures: (n, 1) or (n, 2) -> 2 x (n,)."""
    events = y[:, 0]
    return events, y[:, 1] if y.shape[1] > 1 else torch.ones_like(events)
