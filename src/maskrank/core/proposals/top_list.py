"""A bounded list of the strongest tuples of columns, filled by blocks of products that threads compute side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

Offer = tuple[Tensor, Tensor]  # strengths (m,), and the places of the columns (m, w)


@dataclass(frozen=True)
class Workers:
    """Who computes blocks, and who is told of it.

    Attributes
    ----------
    n_threads : int
        Blocks computed at the same time. The result does not depend on it.
    tell : callable, optional
        Called with what is looked for, and the share of the work that is done.
    """

    n_threads: int = 1
    tell: Callable[[str, float], None] | None = None

    def run(self, what: str, work: Callable[[int], Offer], costs: Sequence[float]) -> Iterator[Offer]:
        """What ``work`` gives for 0, 1, ... in this order.

        Parameters
        ----------
        what : str
            What is looked for.
        costs : sequence of float
            What each block takes, in any unit.
        """
        done, total = 0.0, sum(costs)
        with ThreadPoolExecutor(max(1, self.n_threads)) as pool:
            for offer, cost in zip(pool.map(work, range(len(costs))), costs, strict=True):
                yield offer
                done += cost
                if self.tell is not None:
                    self.tell(what, done / total)


class TopList:
    """The strongest tuples of columns offered so far, strongest first; of equal ones, the first places.

    The list is the same in whatever order the offers come.

    Parameters
    ----------
    size : int
        The most tuples it holds.
    width : int
        Columns of a tuple.
    floor : float
        Tuples that are not stronger are of no interest.
    """

    def __init__(self, size: int, width: int, floor: float, device: torch.device) -> None:
        self.size = size
        self.floor = floor
        self.strengths = torch.zeros(0, device=device)
        self.places = torch.zeros((0, width), dtype=torch.long, device=device)

    def offer(self, offer: Offer) -> None:
        """Take those in that are among the strongest."""
        strengths, places = (torch.cat(both) for both in zip((self.strengths, self.places), offer, strict=True))
        for column in reversed(range(places.shape[1])):
            order = places[:, column].argsort(stable=True)
            strengths, places = strengths[order], places[order]
        order = strengths.argsort(descending=True, stable=True)[: self.size]
        self.strengths, self.places = strengths[order], places[order]
        if len(order) == self.size:
            self.floor = max(self.floor, float(self.strengths[-1]))

    def above_floor(self, strengths: Tensor, max_offered: int) -> Tensor:
        """Places in a block of strengths that may enter the list; of very many, the strongest: (m, 2)."""
        found = (strengths >= self.floor).nonzero()
        if len(found) > max_offered:
            best = strengths.flatten().topk(max_offered, sorted=False).indices
            found = torch.stack([best // strengths.shape[1], best % strengths.shape[1]], dim=1)
        return found
