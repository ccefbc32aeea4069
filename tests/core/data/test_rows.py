from __future__ import annotations

import pytest
import torch
from scipy.sparse import csr_array

from maskrank.core.data.rows import Held, InPlace, Scale, SparseRows, Values, pick
from maskrank.core.data.subsets import draw_subsets

N, D = 30, 24
CPU = torch.device("cpu")


@pytest.fixture
def table(generator: torch.Generator) -> torch.Tensor:
    x = torch.randn((N, D), generator=generator, dtype=torch.float64)
    return x * (torch.rand((N, D), generator=generator) < 0.3)


@pytest.mark.parametrize("order", ["rows", "columns"])
@pytest.mark.parametrize("runs", [True, False])
def test_picking_is_indexing(
    order: str, runs: bool, table: torch.Tensor, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    monkeypatch.setattr("maskrank.core.data.rows.read_in_runs", lambda run, wanted: runs)
    x = table if order == "rows" else table.t().contiguous().t()
    rows, subsets = torch.tensor([3, 3, 29, 0]), draw_subsets(6, D, 5, generator=generator)
    picked = pick(x, rows, subsets)
    assert picked.shape == (6, 4, 5)
    for mask in range(6):
        assert torch.equal(picked[mask], table[rows][:, subsets[mask]])


@pytest.mark.parametrize("kind", ["in place", "sparse"])
def test_values_read_where_they_live_are_the_scaled_table(
    kind: str, table: torch.Tensor, generator: torch.Generator
) -> None:
    index = torch.randperm(N, generator=generator)[:20].sort().values
    features = torch.randperm(D, generator=generator)[:15].sort().values
    scale = Scale(torch.randn(15, dtype=torch.float64), torch.rand(15, dtype=torch.float64) + 0.5)
    expected = (table[index][:, features] - scale.mean) / scale.scale
    if kind == "in place":
        values: Values = InPlace(table, index, features, scale, CPU)
    else:
        matrix = csr_array(table.numpy())
        starts, places = (torch.from_numpy(part).long() for part in (matrix.indptr, matrix.indices))
        values = SparseRows(starts, places, torch.from_numpy(matrix.data), index, features, scale, CPU)
    before = table.clone()
    held = Held(expected.float())
    rows, subsets = torch.tensor([0, 19, 7, 7]), draw_subsets(6, 15, 4, generator=generator)
    assert values.shape == held.shape == (20, 15)
    torch.testing.assert_close(values.columns(rows, subsets), held.columns(rows, subsets))
    torch.testing.assert_close(values.dense(rows), held.dense(rows))
    assert torch.equal(table, before)


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("kind", ["held", "in place", "sparse"])
def test_some_features_of_a_table_are_those_columns(
    kind: str, held: bool, table: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maskrank.core.limits.HELD_TABLE", 1 << 20 if held else 0)
    scale = Scale(torch.randn(D, dtype=torch.float64), torch.rand(D, dtype=torch.float64) + 0.5)
    everything, index = torch.arange(D), torch.arange(5, N)
    matrix = csr_array(table.numpy())
    sparse = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    values: Values = {
        "held": lambda: Held(table[index].float()),
        "in place": lambda: InPlace(table, index, everything, scale, CPU),
        "sparse": lambda: SparseRows(*sparse, index, everything, scale, CPU),
    }[kind]()
    rows, some = torch.tensor([0, 7, 7]), torch.tensor([2, 3, 17])
    kept = values.only(some)
    assert kept.shape == (N - 5, 3)
    assert isinstance(kept, Held) == (held or kind == "held")
    torch.testing.assert_close(kept.dense(rows), values.dense(rows)[:, some])
    torch.testing.assert_close(
        kept.columns(rows, torch.tensor([[0, 2]])), values.columns(rows, torch.tensor([[2, 17]]))
    )
