from __future__ import annotations

import torch

from maskrank.core.method.search import find_optimal_subset, improve_subset
from maskrank.core.method.selector import Selector


def additive_selector(weights: list[float]) -> Selector:
    """f_S(m) = -sum of the weights of the chosen features, up to a squashing that keeps the order."""
    selector = Selector(
        len(weights), hidden=(1,), activation="sigmoid", fan_in=1, generator=torch.Generator().manual_seed(0)
    )
    with torch.no_grad():
        selector.weight.copy_(torch.tensor(weights).unsqueeze(1))
        selector.tail.layers[0].weight.fill_(-1.0)
    return selector


def test_it_finds_the_best_subset_of_an_additive_selector() -> None:
    selector = additive_selector([0.1, 0.9, -0.5, 0.7, 0.3, 0.8])
    assert find_optimal_subset(selector, 3, start=0.5, max_rounds=5).tolist() == [1, 3, 5]


def test_each_round_exchanges_one_feature() -> None:
    selector = additive_selector([0.1, 0.9, -0.5, 0.7, 0.3, 0.8])
    worst = torch.tensor([0, 2, 4])
    assert improve_subset(selector, worst, max_rounds=1).tolist() == [0, 1, 4]  # -0.5 leaves, 0.9 enters
    assert improve_subset(selector, worst, max_rounds=3).tolist() == [1, 3, 5]


def test_every_selected_feature_of_negative_importance_is_a_candidate_to_leave() -> None:
    """The feature of lowest gradient is not always the one to exchange: another exchange lowers the loss more."""
    selector = additive_selector([0.0, 0.0, 0.0, 0.0])
    seen: list[list[int]] = []
    forward = selector.forward

    def watching(subsets: torch.Tensor) -> torch.Tensor:
        seen.extend(subsets.tolist())
        return forward(subsets)

    selector.forward = watching  # type: ignore[method-assign]
    with torch.no_grad():
        selector.weight.copy_(torch.tensor([[-0.2], [-0.3], [0.5], [0.4]]))
    improve_subset(selector, torch.tensor([0, 1]), max_rounds=1)
    assert seen == [[0, 1], [1, 2], [0, 2]]


def test_the_full_subset_stays_as_it_is() -> None:
    everything = torch.arange(4)
    assert torch.equal(improve_subset(additive_selector([1.0, 2.0, 3.0, 4.0]), everything, max_rounds=5), everything)


def test_among_thousands_later_rounds_look_at_the_most_important_and_still_reach_the_best() -> None:
    worth = 0.1 * torch.randn(5_000, generator=torch.Generator().manual_seed(0))
    selector = additive_selector(worth.tolist())
    worst = worth.argsort()[:8].sort().values
    found = improve_subset(selector, worst, max_rounds=20, n_candidates=1024)
    assert improve_subset(selector, worst, max_rounds=3, n_candidates=1024).tolist() != worst.tolist()
    assert torch.equal(found, worth.argsort(descending=True)[:8].sort().values)
