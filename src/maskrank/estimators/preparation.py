"""A user's parameters and arrays as the core takes them: size, config, seed, device, net, columns, split."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from maskrank.core.config import TrainConfig, preset
from maskrank.estimators.scaling import Array

_NONE: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def resolve_config(given: str | TrainConfig, *, shape: tuple[int, int], own_net: bool, **numbers: Any) -> TrainConfig:
    """The settings of a run: a preset by its name, for this choice of s out of d, or a `TrainConfig` as it is.

    Single numbers that are not None replace those of the preset. Where ``max_batches`` is one of them, Phase I keeps
    within two thirds of it, unless ``phase1_batches`` is given, too.
    """
    if isinstance(given, str):
        return preset(given, shape=shape, own_net=own_net, **numbers)
    if not isinstance(given, TrainConfig):
        raise ValueError(f"preset={given!r} must be the name of a preset, or a TrainConfig")
    asked = {name: value for name, value in numbers.items() if value is not None}
    if not asked:
        return given
    # The paper's preset adapts nothing, so it gives back the numbers asked for, checked.
    checked = preset("paper", **{"max_batches": given.max_batches, **asked})
    config = given.using(**{name: getattr(checked, name) for name in asked})
    if "max_batches" in asked and "phase1_batches" not in asked:
        config = config.using(phase1_batches=min(given.phase1_batches, 2 * config.max_batches // 3))
    return config


def with_effort(config: TrainConfig, effort: str | float) -> TrainConfig:
    """The settings with the budget of this ``search_effort``; "default" leaves it to the preset."""
    if effort == "default":
        return config
    wide = config.proposal.wide.of_effort(float(effort) if isinstance(effort, np.number) else effort)
    return config.using(proposal__wide=wide)


def resolve_seed(random_state: Any) -> int:
    """A seed from an int, a NumPy generator, or None (fresh entropy, never the global state)."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**63:
        return int(random_state)
    raise ValueError(f"random_state={random_state!r} must be None, a whole number >= 0, or a NumPy generator")


def resolve_device(device: str | torch.device) -> torch.device:
    """The device of this name; "auto" takes CUDA, then Apple's MPS, then the CPU."""
    if device != "auto":
        try:
            return torch.zeros(1, device=device).device
        except (RuntimeError, AssertionError, TypeError) as error:
            raise ValueError(f"device={device!r} can't be used here; try 'auto' or 'cpu'") from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


@contextmanager
def torch_threads(n: int | None) -> Iterator[None]:
    """Set torch's number of threads for a while; None leaves it as it is."""
    before = torch.get_num_threads()
    try:
        if n is not None:
            torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)


def split_rows(
    n: int, share: float, *, labels: Array | None, generator: torch.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and validation rows, stratified by the labels where there are some.

    Parameters
    ----------
    n : int
        Number of rows.
    share : float
        Of the validation rows.
    labels : ndarray (n,) of int, optional
    """
    if not (isinstance(share, numbers.Real) and 0 < share < 1):
        raise ValueError(f"validation_fraction={share!r} must lie in (0, 1)")
    groups = [np.arange(n)] if labels is None else [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    held_out = []
    for rows in groups:
        shuffled = rows[torch.randperm(len(rows), generator=generator).numpy()]
        held_out.append(shuffled[: min(max(1, round(share * len(rows))), len(rows) - 1)])
    validation = np.sort(np.concatenate(held_out))
    return np.setdiff1d(np.arange(n), validation), validation


def candidate_features(varies: NDArray[np.bool_], size: int, required: NDArray[np.int64] = _NONE) -> NDArray[np.int64]:
    """The features a subset can be drawn from: those that vary, and as many others as a choice of ``size`` needs.

    Parameters
    ----------
    required : ndarray of int
        Features that are always in, and not to be chosen.
    """
    free = np.ones(len(varies), dtype=bool)
    free[required] = False
    changing, constant = np.flatnonzero(varies & free), np.flatnonzero(~varies & free)
    if not len(changing):
        raise ValueError("every column of X is constant on the training rows: there is nothing to rank")
    missing = max(0, min(size + 1, int(free.sum())) - len(changing))
    return np.sort(np.concatenate([changing, constant[:missing]]))


def frame_kind(X: Any) -> Literal["pandas", "polars"]:
    """The library of the user's frames: "polars" or "pandas"."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return "polars" if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars() else "pandas"


def is_sizes(operator: Any) -> bool:
    """Whether an operator is given by its hidden sizes."""
    return isinstance(operator, (tuple, list))


def hidden_sizes(name: str, sizes: Any) -> tuple[int, ...]:
    """Hidden layer sizes, checked."""
    if (
        not is_sizes(sizes)
        or not sizes
        or not all(isinstance(size, numbers.Integral) and int(size) >= 1 for size in sizes)
    ):
        raise ValueError(f"{name}={sizes!r} must be a tuple of hidden layer sizes, each at least 1")
    return tuple(int(size) for size in sizes)


def net_maker(operator: Any) -> Callable[[int, int], nn.Module] | None:
    """The function that makes the operator's net, or None for the preset's MLP."""
    if operator is None or is_sizes(operator):
        return None
    if isinstance(operator, nn.Module):
        return lambda n_features, n_outputs: copy.deepcopy(operator)
    if callable(operator):
        return operator  # type: ignore[no-any-return]
    raise ValueError(
        f"operator={operator!r} must be None, a tuple of hidden sizes, an nn.Module, or a function "
        "(n_features, n_outputs) -> nn.Module"
    )
