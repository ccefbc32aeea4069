from __future__ import annotations

import threading

import pytest
import torch

from maskrank.core.proposals.top_list import Offer, TopList, Workers, in_threads


def test_the_list_holds_the_strongest_in_whatever_order_they_are_offered(generator: torch.Generator) -> None:
    strengths = torch.rand(400, generator=generator).mul(50).floor()  # with ties
    places = torch.stack([torch.arange(400), torch.arange(400) + 1], dim=1)
    lists = []
    for order in (torch.arange(400), torch.randperm(400, generator=generator)):
        best = TopList(20, 2, 0.0, strengths.device)
        for some in order.split(37):
            best.offer((strengths[some], places[some]))
        lists.append(best)
    true = strengths.argsort(descending=True, stable=True)[:20]
    for best in lists:
        assert torch.equal(best.places, places[true])
        assert best.floor == float(strengths[true[-1]])


def test_the_floor_does_not_fall_and_an_empty_offer_changes_nothing() -> None:
    best = TopList(2, 1, 3.0, torch.device("cpu"))
    best.offer((torch.zeros(0), torch.zeros((0, 1), dtype=torch.long)))
    assert (len(best.places), best.floor) == (0, 3.0)
    best.offer((torch.tensor([4.0, 9.0, 5.0]), torch.arange(3).unsqueeze(1)))
    assert (best.places.flatten().tolist(), best.floor) == ([1, 2], 5.0)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_come_in_their_order_and_the_share_done_rises_to_one(n_threads: int) -> None:
    told: list[tuple[str, float]] = []
    main = threading.get_ident()

    def tell(what: str, done: float) -> None:
        assert threading.get_ident() == main  # callbacks are never called from another thread
        told.append((what, done))

    def work(number: int) -> Offer:
        return torch.tensor([float(number)]), torch.tensor([[number]])

    offers = list(Workers(in_threads(n_threads), tell).run("pairs", work, [1.0, 2.0, 1.0]))
    assert [float(strength) for strength, _ in offers] == [0, 1, 2]
    assert told == [("pairs", 0.25), ("pairs", 0.75), ("pairs", 1.0)]
