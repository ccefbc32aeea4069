from __future__ import annotations

import pytest
import torch
from torch import nn

from maskrank.core import limits
from maskrank.core.engine.adam import Adam

TOLERANCE = 1e-9  # torch keeps NAdam's product of momenta in 32 bits
BY_ROWS = 1e-5  # where the small number is added to another root
REFERENCE = {
    "adam": lambda p: torch.optim.Adam([p], lr=0.01),
    "adamw": lambda p: torch.optim.AdamW([p], lr=0.01, weight_decay=0.3),
    "nadam": lambda p: torch.optim.NAdam([p], lr=0.01),
}
OURS = {
    "adam": lambda p: Adam([p], rate=0.01),
    "adamw": lambda p: Adam([p], rate=0.01, decay=0.3),
    "nadam": lambda p: Adam([p], rate=0.01, nesterov=True),
}


def sparse(rows: list[int], values: torch.Tensor, d: int) -> torch.Tensor:
    return torch.sparse_coo_tensor(
        torch.tensor([rows]), values, (d, values.shape[1]), is_coalesced=True, check_invariants=False
    )


@pytest.mark.parametrize("name", ["adam", "adamw", "nadam"])
def test_dense_gradients_move_as_in_torch(name: str, generator: torch.Generator) -> None:
    start = torch.randn((7, 3), generator=generator, dtype=torch.float64)
    mine, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimizer, reference = OURS[name](mine), REFERENCE[name](theirs)
    for _ in range(30):
        gradient = torch.randn((7, 3), generator=generator, dtype=torch.float64)
        mine.grad, theirs.grad = gradient.clone(), gradient.clone()
        optimizer.step()
        reference.step()
    torch.testing.assert_close(mine, theirs, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["adam", "nadam"])
def test_touching_every_row_in_every_step_is_dense_adam(name: str, generator: torch.Generator) -> None:
    start = torch.randn((7, 3), generator=generator, dtype=torch.float64)
    by_rows, whole = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    optimizer, reference = OURS[name](by_rows), REFERENCE[name](whole)
    for _ in range(30):
        gradient = torch.randn((7, 3), generator=generator, dtype=torch.float64)
        by_rows.grad, whole.grad = sparse(list(range(7)), gradient, 7), gradient
        optimizer.step()
        reference.step()
    torch.testing.assert_close(by_rows, whole, rtol=0, atol=BY_ROWS)


@pytest.mark.parametrize("name", ["adam", "nadam"])
def test_a_row_moves_as_if_it_were_alone(name: str, generator: torch.Generator) -> None:
    """Lazy moments: what happens to other rows in between, and how often, makes no difference to a row."""
    start = torch.randn((5, 3), generator=generator, dtype=torch.float64)
    table, alone = nn.Parameter(start.clone()), nn.Parameter(start[2:3].clone())
    optimizer, reference = OURS[name](table), REFERENCE[name](alone)
    for step in range(24):
        rows = [2, 4] if step % 3 == 0 else [0, 4]
        values = torch.randn((2, 3), generator=generator, dtype=torch.float64)
        table.grad = sparse(rows, values, 5)
        optimizer.step()
        if step % 3 == 0:
            alone.grad = values[:1].clone()
            reference.step()
    torch.testing.assert_close(table[2:3], alone, rtol=0, atol=BY_ROWS)
    assert torch.equal(table[[1, 3]], start[[1, 3]])  # never touched, never moved


def test_a_first_gradient_is_a_full_step_however_late_it_comes() -> None:
    table = nn.Parameter(torch.zeros((2, 1)))
    optimizer = Adam([table], rate=0.1)
    for _ in range(100):
        table.grad = sparse([0], torch.ones((1, 1)), 2)
        optimizer.step()
    table.grad = sparse([1], torch.ones((1, 1)), 2)
    optimizer.step()
    assert table[1].item() == pytest.approx(-0.1, rel=1e-5)


def test_parameters_without_a_gradient_stay() -> None:
    used, unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = Adam([used, unused], rate=0.1)
    used.grad = torch.ones(2)
    optimizer.step()
    optimizer.zero_grad()
    optimizer.step()
    assert used.grad is None
    assert unused.tolist() == [1.0, 1.0]
    assert used.tolist() == pytest.approx([0.9, 0.9])


def test_many_rows_are_moved_in_parts(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    start, gradient = (torch.randn((9, 4), generator=generator) for _ in range(2))
    tables = []
    for at_once in (10_000, 8):
        monkeypatch.setattr(limits, "ADAM_ROWS", at_once)
        table = nn.Parameter(start.clone())
        optimizer = Adam([table], rate=0.1)
        for rows in ([0, 2, 3, 5, 8], [1, 2, 8]):
            table.grad = sparse(rows, gradient[rows], 9)
            optimizer.step()
        tables.append(table.detach())
    torch.testing.assert_close(tables[0], tables[1])


def test_rows_do_not_decay_in_silence() -> None:
    table = nn.Parameter(torch.ones((3, 1)))
    table.grad = sparse([1], torch.ones((1, 1)), 3)
    with pytest.raises(ValueError, match="decay"):
        Adam([table], rate=0.1, decay=0.1).step()
