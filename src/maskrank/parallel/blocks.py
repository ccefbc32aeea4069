"""The blocks of a search over very many pairs or triples: on the cluster of joblib's context, else in threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from maskrank.core.proposals.top_list import Block, Offer, Runner, in_threads
from maskrank.parallel.backends import has_cluster, start_fits
from maskrank.parallel.fits import WorkerDiedError

_TASKS = 64  # on a cluster; each has many blocks, for a block may take less than to send it


def block_runner(n_threads: int) -> Runner:
    """What runs blocks here: the workers of a cluster, or so many threads. The result is the same."""
    return _on_cluster if has_cluster() else in_threads(n_threads)


def _on_cluster(block: Block, n_blocks: int) -> Iterator[Offer]:
    length = -(-n_blocks // _TASKS)
    parts = [range(start, min(start + length, n_blocks)) for start in range(0, n_blocks, length or 1)]
    arrived: dict[int, list[Offer]] = {}
    following = 0
    with start_fits(partial(_offers, block), parts, n_jobs=None) as running:
        for place, offers in running:
            if isinstance(offers, WorkerDiedError):
                raise offers
            arrived[place] = offers
            while following in arrived:
                yield from arrived.pop(following)
                following += 1


def _offers(block: Block, numbers: range) -> list[Offer]:
    return [block(number) for number in numbers]
