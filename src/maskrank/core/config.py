"""Every number of the recipe, and the recipes by name.

``default`` is what a user wants; ``paper`` is the recipe of Wojtas and Chen (2020), supplement A; ``paper:NAME``
adds the nets and numbers of its Tables 1 and 2 for one data set.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """The settings of one training run.

    Attributes
    ----------
    operator_hidden, selector_hidden : tuple of int
        Hidden layer sizes of the two nets.
    activation : "sigmoid", "silu" or "relu"
        Of the hidden layers of both nets.
    init_fan_in : "all" or "active"
        What Glorot's rule takes for the number of inputs of a first layer: all d features, or the s active ones.
    screens : bool
        Whether quick looks at the training rows tell the search where to begin (see `plan`).
    n_subsets : int
        |M'|, the subsets an operator batch is trained on.
    batch_size : int
        Rows of an operator batch; every row meets every subset.
    phase1_batches : int
        E_1, the operator batches of Phase I.
    adapts : bool
        Whether `preset` gives wide nets smaller learning rates, and without screens wide tables a longer Phase I and
        a longer polish, as each feature is seen less often.
    exploit_share : float
        f, the share of the subsets of Phase II that come from the selector; the rest are random.
    n_perturbed : int
        s_p, how many features a perturbation exchanges.
    selector_every : int
        Operator batches to one selector step.
    weight_best, weight_optimal : float
        Weights of m_best and m_opt in the selector's loss; any other subset has weight 1.
    centre_targets : bool
        Subtract each batch's mean loss from the selector's targets: what a batch's rows have in common says nothing
        about a subset.
    search_start : "half" or "share"
        m_0 of Algorithm 2: every entry one half, or s/d, the mean of the masks seen in training.
    search_rounds, final_rounds : int
        Bound on the validation rounds of Algorithm 2, in training and at the end.
    operator_optimizer : "nadam" or "adam"
    operator_rate, selector_rate : float
        Learning rates.
    validate_every, patience, max_batches : int
        Early stopping in operator batches: how often m_opt is judged on the validation rows, how long without
        progress, how long in all (both phases).
    settled_agreement : float
        Training ends only when the scores of all features correlate at least this much with those at the beginning
        of the patience; -1 leaves the ranking out of it.
    stop_on : "loss" or "error"
        What is judged: the task's loss, or its error (share of wrong answers; mean squared error).
    polish_subsets, polish_steps : int
        After training: on how many subsets the operator's loss is measured on all training rows, and how many
        steps the selector learns from these. 0 leaves it out.
    refit_members, refit_batch : int
        After how many recipes nets learn the task anew on the chosen features alone, and the least rows of a batch; 0
        members leaves it out.
    refit_cycles : tuple of int
        Steps of the first fall of the learning rate, and of those that follow while they are worth it.
    refit_hidden : tuple of int
    refit_rate : float
        Hidden layer sizes and highest learning rate of these nets.
    """

    operator_hidden: tuple[int, ...]
    selector_hidden: tuple[int, ...]
    activation: str
    init_fan_in: str
    screens: bool
    n_subsets: int
    batch_size: int
    phase1_batches: int
    adapts: bool
    exploit_share: float
    n_perturbed: int
    selector_every: int
    weight_best: float
    weight_optimal: float
    centre_targets: bool
    search_start: str
    search_rounds: int
    final_rounds: int
    operator_optimizer: str
    operator_rate: float
    selector_rate: float
    validate_every: int
    patience: int
    max_batches: int
    settled_agreement: float
    stop_on: str
    polish_subsets: int
    polish_steps: int
    refit_members: int
    refit_cycles: tuple[int, ...]
    refit_batch: int
    refit_hidden: tuple[int, ...]
    refit_rate: float


PAPER = TrainConfig(
    operator_hidden=(60, 30, 20),
    selector_hidden=(100, 50, 10),
    activation="sigmoid",
    init_fan_in="all",
    screens=False,
    n_subsets=32,
    batch_size=32,
    phase1_batches=6_000,
    adapts=False,
    exploit_share=0.5,
    n_perturbed=2,
    selector_every=8,
    weight_best=10.0,
    weight_optimal=5.0,
    centre_targets=False,
    search_start="half",
    search_rounds=5,
    final_rounds=12,
    operator_optimizer="nadam",
    operator_rate=1e-3,
    selector_rate=1e-3,
    validate_every=16,
    patience=600,
    max_batches=15_000,
    settled_agreement=-1.0,
    stop_on="loss",
    polish_subsets=0,
    polish_steps=0,
    refit_members=0,
    refit_cycles=(1_000,),
    refit_batch=32,
    refit_hidden=(),
    refit_rate=0.0,
)

DEFAULT = replace(
    PAPER,
    operator_hidden=(64, 32),
    selector_hidden=(64, 32),
    activation="silu",
    init_fan_in="active",
    screens=True,
    phase1_batches=160,
    adapts=True,
    centre_targets=True,
    search_start="share",
    operator_optimizer="adam",
    operator_rate=5e-3,
    selector_rate=5e-3,
    patience=96,
    max_batches=2_000,
    settled_agreement=0.9,
    polish_subsets=256,
    polish_steps=200,
    refit_members=10,
    refit_cycles=(200, 700),
    refit_batch=64,
    refit_hidden=(48, 48, 48),
    refit_rate=2e-2,
)

# Supplement A, Tables 1 and 2. Yale's operator is the net `ImageCNN`, which the hidden sizes do not describe; its
# early stopping looks at the validation accuracy.
_WIDE_SELECTOR = (500, 250, 100)
PAPER_TABLES: dict[str, TrainConfig] = {
    "xor": PAPER,
    "regression": replace(PAPER, operator_hidden=(100, 50, 25)),
    "orange_skin": PAPER,
    "mnist": replace(
        PAPER,
        operator_hidden=(500, 250, 100),
        selector_hidden=(300, 200, 100),
        phase1_batches=10_000,
        n_perturbed=5,
    ),
    "glass": replace(
        PAPER,
        operator_hidden=(50, 25, 10),
        selector_hidden=_WIDE_SELECTOR,
        phase1_batches=10_000,
        n_subsets=128,
    ),
    "vowel": replace(PAPER, operator_hidden=(50, 25, 10), selector_hidden=_WIDE_SELECTOR, n_subsets=128),
    "tox171": replace(
        PAPER,
        operator_hidden=(100, 50, 20),
        selector_hidden=_WIDE_SELECTOR,
        phase1_batches=1_500,
        n_subsets=128,
        n_perturbed=5,
    ),
    "yale": replace(
        PAPER,
        operator_hidden=(),
        selector_hidden=_WIDE_SELECTOR,
        phase1_batches=4_500,
        n_subsets=128,
        n_perturbed=5,
        stop_on="error",
    ),
    "enhancer": replace(
        PAPER,
        operator_hidden=(300, 200, 50),
        selector_hidden=_WIDE_SELECTOR,
        phase1_batches=10_000,
        n_subsets=64,
        n_perturbed=5,
    ),
    "rna_seq": replace(
        PAPER,
        operator_hidden=(1_000, 500, 200),
        selector_hidden=_WIDE_SELECTOR,
        phase1_batches=8_000,
        n_perturbed=5,
    ),
}

PRESETS: dict[str, TrainConfig] = {
    "default": DEFAULT,
    "paper": PAPER,
    **{f"paper:{name}": config for name, config in PAPER_TABLES.items()},
}


def preset(name: str, *, shape: tuple[int, int] | None = None, own_net: bool = False, **changes: Any) -> TrainConfig:
    """A recipe by its name, for a choice of s out of d features, with the changes that are not None.

    With a net of the user's own for the operator nothing is screened, and in a recipe that adapts it
    learns at the paper's rate, which deeper nets bear, in the search and at m*; the polish has fewer subsets, as a
    forward of such a net is dear.

    A smaller ``max_batches`` shortens what is around it too: Phase I to two thirds of it, so that the search has its
    turn, and what follows to as many steps. Batches come in beats of ``selector_every``, so a count may be rounded up.
    """
    if name not in list(PRESETS):
        raise ValueError(f"preset={name!r} is not known; there are {', '.join(PRESETS)}")
    asked = {key: _checked(key, value) for key, value in changes.items() if value is not None}
    config = replace(PRESETS[name], **asked)
    if own_net:
        config = replace(_for_own_net(config), **asked)
    if shape is not None:
        config = replace(_for_width(config, *shape), **asked)
    config = replace(_with_rates(config), **{rate: asked[rate] for rate in _RATES if rate in asked})
    if "phase1_batches" not in asked:
        config = replace(config, phase1_batches=min(config.phase1_batches, 2 * config.max_batches // 3))
    elif config.phase1_batches >= config.max_batches:
        raise ValueError(
            f"phase1_batches={config.phase1_batches} leaves nothing of max_batches={config.max_batches} for the search"
        )
    return replace(
        config,
        polish_steps=min(config.polish_steps, config.max_batches),
        refit_cycles=_within(config.refit_cycles, config.max_batches),
    )


def _within(cycles: tuple[int, ...], total: int) -> tuple[int, ...]:
    """The cycles, cut where their sum passes a total."""
    kept: list[int] = []
    for cycle in cycles:
        if sum(kept) < total:
            kept.append(min(cycle, total - sum(kept)))
    return tuple(kept)


def _for_own_net(config: TrainConfig) -> TrainConfig:
    if not config.adapts:
        return replace(config, screens=False)
    polish_subsets = round(_POLISH_OF_OWN_NET * config.polish_subsets)
    return replace(config, screens=False, operator_rate=PAPER.operator_rate, polish_subsets=polish_subsets)


def _for_width(config: TrainConfig, s: int, d: int) -> TrainConfig:
    """The recipe with a Phase I in which a feature is drawn 64 times, up to a bound, and a polish to match."""
    if not config.adapts or config.screens:
        return config
    wanted = 64 * d / (s * config.n_subsets)
    factor = min(max(wanted / config.phase1_batches, 1.0), 3.75)
    return replace(
        config,
        phase1_batches=round(factor * config.phase1_batches),
        polish_subsets=round(min(factor, 2.0) * config.polish_subsets),
        polish_steps=round(min(factor, 2.0) * config.polish_steps),
    )


def _with_rates(config: TrainConfig) -> TrainConfig:
    """The recipe with learning rates for the width of its nets: a step of a wide layer adds up over more weights.

    Between no fall and the fall with the width itself that theory has for very wide nets; measured at 1,000 units.
    """
    if not config.adapts:
        return config
    return replace(
        config,
        operator_rate=config.operator_rate * _share_of_rate(config.operator_hidden),
        selector_rate=config.selector_rate * _share_of_rate(config.selector_hidden),
    )


def _share_of_rate(hidden: tuple[int, ...]) -> float:
    return min(1.0, math.sqrt(_RATE_WIDTH / max(hidden, default=_RATE_WIDTH)))


_POLISH_OF_OWN_NET = 0.25  # of the default's subsets
_RATE_WIDTH = 64  # the widest layer that takes the full rate
_LEAST = {"max_batches": 1, "batch_size": 1, "phase1_batches": 1, "n_perturbed": 1, "patience": 1, "n_subsets": 3}
_RATES = ("operator_rate", "selector_rate")


def _checked(name: str, value: Any) -> Any:
    """A single number of the recipe, as asked for by the user."""
    if name in _LEAST:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < _LEAST[name]:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {_LEAST[name]}")
        return int(value)
    if name in _RATES and not (isinstance(value, numbers.Real) and 0 < float(value) < float("inf")):
        raise ValueError(f"{name}={value!r} must be a number above 0")
    if name == "exploit_share" and not (isinstance(value, numbers.Real) and 0 < float(value) <= 1):
        raise ValueError(f"exploit_share={value!r} must lie in (0, 1]")
    if name == "stop_on" and value not in ("loss", "error"):
        raise ValueError(f"stop_on={value!r} is not known; there are 'loss' and 'error'")
    return value
