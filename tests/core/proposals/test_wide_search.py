from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import DEFAULT, ScreeningConfig, TrainConfig, WideSearchConfig
from maskrank.core.data.rows import InPlace, Rows, Scale
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, Task
from maskrank.core.proposals.proposal import Coverage, Proposal
from maskrank.core.proposals.registry import propose
from maskrank.core.proposals.statistics import chi_squared_of, standardised, target_directions, wilson_hilferty
from maskrank.core.proposals.top_list import Workers, in_threads
from maskrank.core.proposals.triples import n_triple_columns, strongest_triples
from maskrank.core.proposals.wide_pairs import n_wide_columns, strongest_pairs

NARROW = {"proposal__screening__pair_flops": 2.0 * 320 * 20**2, "proposal__screening__residual_rounds": 0}  # 20 columns
TASKS = {"classes": MulticlassTask(4), "two classes": BinaryTask(), "numbers": RegressionTask()}


def directions_of(kind: str, x: Tensor) -> Tensor:
    """Of a target that depends on products."""
    product = x[:, 1] * x[:, 5] + x[:, 2] * x[:, 3] * x[:, 7]
    y = {"classes": (product * 3).round().clamp(0, 3).long(), "two classes": (product > 0).long(), "numbers": product}
    return target_directions(TASKS[kind].as_numeric(y[kind]), ScreeningConfig())


def strength(columns: Tensor, places: tuple[int, ...], directions: Tensor) -> float:
    return float((columns[list(places)].prod(dim=0) @ directions).square().sum())


@pytest.mark.parametrize("kind", list(TASKS))
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_strongest_pairs_and_triples_are_those_of_all(
    kind: str, n_threads: int, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    monkeypatch.setattr(limits, "PAIR_BLOCK", 7)
    x = torch.randn((150, 24), generator=generator)
    x[:, 20] = x[:, 1] + 0.1 * torch.randn(150, generator=generator)  # correlated: no pair
    directions, columns = directions_of(kind, x), standardised(x.t(), 3.0)
    owner = torch.arange(24)
    owner[23] = 22  # two columns of one feature: no pair
    settings: dict[str, Any] = {"min_strength": 0.0, "max_correlation": 0.8, "workers": Workers(in_threads(n_threads))}
    alike = {(1, 20), (22, 23)}
    for width, found in (
        (2, strongest_pairs(columns, owner, directions, n_pairs=9, **settings)),
        (3, strongest_triples(columns, owner, directions, n_triples=9, **settings)),
    ):
        allowed = [c for c in combinations(range(24), width) if not alike.intersection(combinations(c, 2))]
        true = sorted(allowed, key=lambda places: -strength(columns, places, directions))[:9]
        assert found.tolist() == [list(places) for places in true]


def test_nothing_below_the_least_strength_is_listed(generator: torch.Generator) -> None:
    columns = standardised(torch.randn((30, 200), generator=generator), 3.0)
    directions = target_directions(torch.randn((200, 1), generator=generator), ScreeningConfig())
    settings: dict[str, Any] = {"max_correlation": 0.8, "workers": Workers()}
    pairs = strongest_pairs(columns, torch.arange(30), directions, n_pairs=99, min_strength=9 / 200**2, **settings)
    above = [c for c in combinations(range(30), 2) if strength(columns, c, directions) >= 9 / 200**2]
    assert sorted(map(tuple, pairs.tolist())) == above


@pytest.mark.parametrize("freedom", [1, 2, 7])
def test_a_deviate_has_the_chi_squared_value_that_has_this_deviate(freedom: int) -> None:
    value = torch.tensor(chi_squared_of(4.5, freedom))
    assert float(wilson_hilferty(value, freedom)) == pytest.approx(4.5, rel=1e-4)


def test_the_budget_bounds_the_operations() -> None:
    config = WideSearchConfig()
    pairs, triples = n_wide_columns(800, 2, config), n_triple_columns(800, 2, config)
    assert 2 * pairs**2 * 800 * 2 <= config.pair_flops <= 2 * (pairs + 1) ** 2 * 800 * 2
    assert triples**3 / 3 * 800 * 2 <= config.triple_flops <= (triples + 1) ** 3 / 3 * 800 * 2
    assert n_wide_columns(800, 1, config.of_effort(1e9)) == config.max_values // 800


def proposed(x: Tensor, y: Tensor, size: int, config: TrainConfig, task: Task | None = None, **more: Any) -> Proposal:
    generator = torch.Generator().manual_seed(0)
    return propose(task or BinaryTask(), Rows(x, y), size, config=config, generator=generator, **more)


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_pair_beyond_the_screen_is_found_by_the_wide_search_alone(kind: str, generator: torch.Generator) -> None:
    x = torch.rand((320, 300), generator=generator) - 0.5
    sign = (x[:, 7] * x[:, 290]).sign()
    y = {"classes": (sign > 0).long() * 3, "two classes": (sign > 0).long(), "numbers": sign.unsqueeze(1)}[kind]
    config, told = DEFAULT.using(**NARROW), []
    quick = proposed(x, y, 2, config.using(proposal__wide__pair_flops=0.0), TASKS[kind])
    assert (7, 290) not in quick.evidence
    assert quick.coverage == Coverage(300, 20, None)
    found = proposed(
        x, y, 2, config, TASKS[kind], workers=Workers(in_threads(2), lambda what, done: told.append((what, done)))
    )
    assert next(iter(found.evidence)) == (7, 290)
    assert found.coverage == Coverage(300, 300, None)
    assert {what for what, _ in told} == {"pairs, by products", "pairs, by cosines"}


def test_where_the_wide_search_finds_nothing_the_proposal_is_that_of_the_screen(generator: torch.Generator) -> None:
    x, y = torch.randn((320, 200), generator=generator), torch.randint(2, (320,), generator=generator)
    wide, quick = (
        proposed(x, y, 3, DEFAULT.using(**NARROW, proposal__wide=WideSearchConfig().of_effort(effort)))
        for effort in ("default", "quick")
    )
    assert (wide.groups, wide.evidence, wide.pool.tolist()) == (quick.groups, quick.evidence, quick.pool.tolist())
    assert (wide.coverage, quick.coverage) == (Coverage(200, 200, 200), Coverage(200, 20, 0))


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_parity_of_three_is_found(kind: str, generator: torch.Generator) -> None:
    x = torch.rand((400, 60), generator=generator) - 0.5
    sign = x[:, [3, 30, 59]].prod(dim=1).sign()
    y = {"classes": (sign > 0).long() * 2, "two classes": (sign > 0).long(), "numbers": sign.unsqueeze(1)}[kind]
    found = proposed(x, y, 3, DEFAULT, TASKS[kind])
    assert (3, 30, 59) in found.evidence
    assert "1 triples beyond chance" in found.summary(60)
    assert proposed(x, y, 2, DEFAULT, TASKS[kind]).coverage == Coverage(60, 60, None)  # no room for three


def test_triples_are_not_looked_for_where_so_few_rows_could_not_tell_them(generator: torch.Generator) -> None:
    x, y = torch.randn((80, 200), generator=generator), torch.randint(2, (80,), generator=generator)
    found = proposed(x, y, 3, DEFAULT).coverage
    assert found is not None
    assert found.in_triples is None


def test_heavy_tails_and_correlated_columns_make_no_triple() -> None:
    config = DEFAULT.using(proposal__screening__residual_rounds=0)
    claimed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        common = rng.standard_normal((300, 4)).repeat(15, axis=1)
        x = np.sinh(2 * (0.7 * common + rng.standard_normal((300, 60))))
        y = torch.from_numpy((rng.uniform(size=300) < 0.15).astype(np.int64))
        found = proposed(torch.from_numpy(x).float(), y, 5, config)
        claimed += sum(len(group) == 3 for group in found.evidence)
        assert found.coverage == Coverage(60, 60, 60)
    assert claimed == 0


def test_the_main_effects_and_pairs_of_three_features_make_no_triple(generator: torch.Generator) -> None:
    x = torch.randn((600, 30), generator=generator)
    y = (x[:, 0] ** 3 + x[:, 1] * x[:, 2] + 0.3 * torch.randn(600, generator=generator)).unsqueeze(1)
    found = proposed(x, y, 6, DEFAULT.using(proposal__screening__residual_rounds=0), RegressionTask())
    assert {0, 1, 2} <= set(found.significant)
    assert not [group for group in found.evidence if len(group) == 3]


def test_a_memory_mapped_table_is_searched_as_one_in_memory(tmp_path: Any, generator: torch.Generator) -> None:
    x = torch.rand((320, 300), generator=generator).double() - 0.5
    np.save(tmp_path / "x.npy", x.numpy())
    y = (x[:, 7] * x[:, 290] > 0).long()
    there = torch.from_numpy(np.load(tmp_path / "x.npy", mmap_mode="c"))
    scale = Scale(torch.zeros(300).double(), torch.ones(300).double())
    values = InPlace(there, torch.arange(320), torch.arange(300), scale, torch.device("cpu"))
    config = DEFAULT.using(**NARROW)
    mapped = propose(BinaryTask(), Rows(values, y), 2, config=config, generator=torch.Generator().manual_seed(0))
    assert next(iter(mapped.evidence)) == (7, 290)
    assert mapped.evidence == proposed(x.float(), y, 2, config).evidence


@pytest.mark.parametrize(
    ("coverage", "sentence"),
    [
        (Coverage(90, 90, 90), None),
        (Coverage(90, 90, None), None),
        (Coverage(9_000, 9_000, 0), "looked at all pairs of 9,000 features, and at no triples"),
        (Coverage(9_000, 6_000, None), "looked at pairs among the 6,000 most promising of 9,000 features"),
        (Coverage(900, 900, 500), "looked at all pairs of 900 features, and at triples among the 500 most promising"),
        (Coverage(90, 0, None), "looked at no pairs of 90 features"),
    ],
)
def test_what_was_not_looked_at_is_said(coverage: Coverage, sentence: str | None) -> None:
    assert coverage.sentence == sentence


@pytest.mark.parametrize("effort", ["slow", True, None, -1, float("nan"), float("inf")])
def test_an_effort_that_is_none_is_refused(effort: Any) -> None:
    with pytest.raises(ValueError, match="search_effort="):
        WideSearchConfig().of_effort(effort)


def test_efforts_have_rising_budgets() -> None:
    plain = WideSearchConfig()
    assert plain.of_effort("default") == plain
    assert plain.of_effort("quick").pair_flops == 0
    assert plain.pair_flops < plain.of_effort(60).pair_flops < plain.of_effort("thorough").pair_flops
    assert not plain.of_effort("thorough").only_with_room


def test_significant_tuples_are_extended_by_further_features(generator: torch.Generator) -> None:
    x = torch.randn((800, 60), generator=generator)
    signs = x.sign()
    pair, third, fourth = signs[:, 3] * signs[:, 11], signs[:, 27], signs[:, 50]
    y = pair + pair * third + pair * third * fourth + 0.5 * torch.randn(800, generator=generator)
    config = DEFAULT.using(proposal__screening__residual_rounds=0, proposal__wide__triple_flops=0.0)
    found = proposed(x, y, 6, config, RegressionTask())
    assert {(3, 11), (3, 11, 27), (3, 11, 27, 50)} <= set(found.evidence)
    assert "1 triples and 1 larger tuples beyond chance" in found.summary(60)
    for most in (3, 2):
        smaller = proposed(x, y, 6, config.using(proposal__wide__max_tuple=most), RegressionTask())
        assert max(len(group) for group in smaller.evidence) == most


def test_tuples_are_not_extended_by_chance_nor_by_copies(generator: torch.Generator) -> None:
    x = torch.randn((600, 200), generator=generator)
    x[:, 7] = x[:, 3] + 0.1 * torch.randn(600, generator=generator)
    y = x[:, 3] * x[:, 11] + 0.3 * torch.randn(600, generator=generator)
    found = proposed(x, y, 6, DEFAULT.using(proposal__screening__residual_rounds=0), RegressionTask())
    assert all(len(group) < 3 for group in found.evidence)
