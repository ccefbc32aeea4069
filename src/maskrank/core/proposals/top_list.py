"""A bounded list of the strongest tuples of columns, filled by blocks of products that are computed side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core import limits

_ROUGH = 0.97  # of the floor: a sum of products in half precision is off by less
Offer = tuple[Tensor, Tensor]  # strengths (m,), and the places of the columns (m, w)


Block = Callable[[int], Offer]  # what a numbered block of products has to offer
Runner = Callable[[Block, int], Iterator[Offer]]  # offers of the blocks 0, 1, ... up to a number, in this order


def in_turn(block: Block, n_blocks: int) -> Iterator[Offer]:
    """Runs one block after the other."""
    return map(block, range(n_blocks))


def in_threads(n_threads: int) -> Runner:
    """Runs so many blocks at a time in this process."""

    def run(block: Block, n_blocks: int) -> Iterator[Offer]:
        with ThreadPoolExecutor(n_threads) as pool:
            yield from pool.map(block, range(n_blocks))

    return run


@dataclass(frozen=True)
class Workers:
    """Who computes blocks, and who is told of it.

    Attributes
    ----------
    run_blocks : Runner
        The result does not depend on it.
    tell : callable, optional
        Called with what is looked for, and the share of the work that is done.
    """

    run_blocks: Runner = in_turn
    tell: Callable[[str, float], None] | None = None

    def run(self, what: str, block: Block, costs: Sequence[float]) -> Iterator[Offer]:
        """What each block offers, in their order.

        Parameters
        ----------
        what : str
            What is looked for.
        costs : sequence of float
            What each block takes, in any unit.
        """
        done, total = 0.0, sum(costs)
        for offer, cost in zip(self.run_blocks(block, len(costs)), costs, strict=True):
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
        if not len(offer[0]):
            return
        strengths, places = (torch.cat(both) for both in zip((self.strengths, self.places), offer, strict=True))
        for column in reversed(range(places.shape[1])):
            order = places[:, column].argsort(stable=True)
            strengths, places = strengths[order], places[order]
        order = strengths.argsort(descending=True, stable=True)[: self.size]
        self.strengths, self.places = strengths[order], places[order]
        if len(order) == self.size:
            self.floor = max(self.floor, float(self.strengths[-1]))

    def candidates(self, left: Tensor, right: Tensor, directions: Tensor, *, ordered: bool = False) -> Offer:
        """Products of a column on the left with one on the right that may enter the list; of very many, the strongest.

        Strengths are sums of squared overlaps with the directions. All of a block are computed in half precision, where
        that is faster, and those of the candidates again, in double precision: rounded, they are the same whichever
        candidates they are computed with, so that equal ones stay equal.

        Parameters
        ----------
        left, right : Tensor (l, n), Tensor (r, n)
        directions : Tensor (n, q)
        ordered : bool
            Whether both sides are the same columns, of which each pair is wanted once.

        Returns
        -------
        strengths, places : Tensor (m,), Tensor (m, 2)
        """
        kind = torch.bfloat16 if _fast_half(left.device) else left.dtype
        narrow, floor = right.to(kind).t(), _ROUGH * self.floor
        overlaps = [(left * direction).to(kind) @ narrow for direction in directions.t()]
        if (
            sum(float(torch.stack(some.aminmax()).square().amax()) for some in overlaps) <= floor
        ):  # most blocks end here
            return left.new_zeros(0), torch.zeros((0, 2), dtype=torch.long, device=left.device)
        rough = torch.stack([some.float().square_() for some in overlaps]).sum(dim=0)
        if ordered:
            rough.triu_(diagonal=1)
        found = (rough > floor).nonzero()
        if len(found) > limits.OFFERED:
            best = rough.flatten().topk(limits.OFFERED, sorted=False).indices
            found = torch.stack([best // rough.shape[1], best % rough.shape[1]], dim=1)
        parts = [
            ((left[some[:, 0]].double() * right[some[:, 1]]) @ directions.double()).square().sum(dim=1).float()
            for some in torch.split(found, max(1, limits.SCREENED // len(directions)))
        ]
        strengths = torch.cat(parts)
        kept = strengths >= self.floor
        return strengths[kept], found[kept]


def _fast_half(device: torch.device) -> bool:
    """Whether products of 16-bit floats are the faster ones: the processor has instructions for them."""
    return device.type == "cpu" and bool(torch.cpu._is_avx512_bf16_supported())
