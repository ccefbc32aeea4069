from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from maskrank.core.engine import foreach
from maskrank.core.engine.adam import Adam

Tensors = list[Tensor]
CALLS: dict[str, Callable[[Tensors, Tensors, Tensors], object]] = {
    "_foreach_add_": lambda x, a, b: foreach.add_(x, 0.3),
    "_foreach_addcdiv_": lambda x, a, b: foreach.addcdiv_(x, a, b, [0.1, -0.7]),
    "_foreach_addcmul_": lambda x, a, b: foreach.addcmul_(x, a, b, 0.01),
    "_foreach_div_": lambda x, a, b: foreach.div_(x, [0.3, 7.0]),
    "_foreach_lerp_": lambda x, a, b: foreach.lerp_(x, a, 0.02),
    "_foreach_mul_": lambda x, a, b: foreach.mul_(x, 0.9),
    "_foreach_sqrt": lambda x, a, b: x.extend(foreach.sqrt(b)),
    "_fused_adamw_": lambda x, a, b: foreach.adamw_(
        x,
        a,
        [0.1 * entry for entry in a],
        b,
        [torch.tensor(3.0), torch.tensor(40.0)],
        rate=0.02,
        betas=(0.9, 0.99),
        decay=0.1,
        eps=1e-8,
    ),
}


@pytest.mark.parametrize("name", foreach.KERNELS)
def test_the_installed_torch_has_the_kernel(name: str) -> None:
    """Fits are slower and their bits change where this fails: benchmarks/engine.py tells how much."""
    assert callable(getattr(torch, name, None))


@pytest.mark.parametrize("name", foreach.KERNELS)
def test_without_the_kernel_a_loop_computes_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed() -> tuple[Tensors, Tensors, Tensors]:
        generator = torch.Generator().manual_seed(0)
        x, a, b = ([torch.rand(shape, generator=generator) + 0.1 for shape in ((3, 5), (70,))] for _ in range(3))
        CALLS[name](x, a, b)
        return x, a, b

    with_kernel = computed()
    monkeypatch.delattr(torch, name)
    torch.testing.assert_close(computed(), with_kernel, rtol=1e-6, atol=1e-6)


def test_a_running_average_has_the_same_bits_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def averaged() -> Tensor:
        generator = torch.Generator().manual_seed(0)
        average = [torch.randn((2, 33, 7), generator=generator)]
        for step in range(1, 60):
            foreach.lerp_(average, [torch.randn((2, 33, 7), generator=generator)], 1 - min(0.98, step / (step + 10)))
        return average[0]

    with_kernel = averaged()
    monkeypatch.delattr(torch, "_foreach_lerp_")
    assert torch.equal(averaged(), with_kernel)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("by_rows", [False, True])
def test_adam_moves_alike_without_any_kernel(nesterov: bool, by_rows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved() -> Tensor:
        generator = torch.Generator().manual_seed(0)
        table = nn.Parameter(torch.randn((6, 3), generator=generator))
        optimizer = Adam([table], rate=0.01, nesterov=nesterov)
        for _ in range(20):
            gradient = torch.randn((6, 3), generator=generator)
            index = torch.arange(6).unsqueeze(0)
            sparse = torch.sparse_coo_tensor(index, gradient, is_coalesced=True, check_invariants=False)
            table.grad = sparse if by_rows else gradient
            optimizer.step()
        return table.detach()

    with_kernels = moved()
    for name in foreach.KERNELS:
        monkeypatch.delattr(torch, name)
    torch.testing.assert_close(moved(), with_kernels, rtol=0, atol=1e-6)


def test_touched_rows_are_read_without_sorting_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autograd forgets that a gradient is coalesced, so torch's public methods refuse to read it."""
    rows, values = torch.tensor([1, 4, 7]), torch.arange(6.0).view(3, 2)
    gradient = torch.sparse_coo_tensor(rows.unsqueeze(0), values, (9, 2), check_invariants=True)
    assert not gradient.is_coalesced()
    for name in (None, *foreach.RAW_SPARSE):
        if name is not None:
            assert hasattr(gradient, name)  # the installed torch has it
            monkeypatch.setattr(foreach, "RAW_SPARSE", ("no_such_method",))
        read = foreach.touched_rows(gradient)
        assert torch.equal(read[0], rows)
        assert torch.equal(read[1], values)
