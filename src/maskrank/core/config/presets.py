"""The presets by name: ``default``, ``paper``, and ``paper:NAME`` for one data set.

``default`` is what a user wants; ``paper`` has the settings of Wojtas and Chen (2020), supplement A, and ranks by the
selector's derivative; ``paper:NAME`` adds the nets and numbers of its Tables 1 and 2.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any

from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.config.proposals import ProposalConfig
from maskrank.core.config.selection import CalibrationConfig, ReselectionConfig, ScoreConfig, TournamentConfig
from maskrank.core.config.training import AdaptationConfig, TrainConfig

PAPER = TrainConfig(
    operator_hidden=(60, 30, 20),
    selector_hidden=(100, 50, 10),
    activation="sigmoid",
    init_fan_in="all",
    n_subsets=32,
    batch_size=32,
    phase1_batches=6_000,
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
    stop_on="loss",
    proposal=ProposalConfig(enabled=False),
    calibration=CalibrationConfig(n_subsets=0, steps=0),
    tournament=TournamentConfig(enabled=False),
    reselection=ReselectionConfig(enabled=False),
    predictor=PredictorConfig(n_recipes=0),
    score=ScoreConfig(enabled=False),
)

DEFAULT = replace(
    PAPER,
    operator_hidden=(64, 32),  # not measured
    selector_hidden=(64, 32),  # not measured
    activation="silu",  # not measured
    init_fan_in="active",  # not measured
    phase1_batches=160,  # not measured
    centre_targets=True,  # not measured
    search_start="share",  # not measured
    operator_optimizer="adam",  # not measured
    operator_rate=5e-3,  # not measured
    selector_rate=5e-3,  # not measured
    patience=96,  # not measured
    max_batches=2_000,  # not measured
    adaptation=AdaptationConfig(),
    proposal=ProposalConfig(),
    calibration=CalibrationConfig(),
    tournament=TournamentConfig(),
    reselection=ReselectionConfig(),
    predictor=PredictorConfig(),
    score=ScoreConfig(),
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
    """A preset by its name, for a choice of s out of d features, with the changes that are not None.

    With a net of the user's own for the operator nothing is proposed, and in a preset that adapts it learns at the
    paper's rate, which deeper nets bear, in the search and at m*; the calibration has fewer subsets, as a forward of
    such a net is expensive.

    A smaller ``max_batches`` shortens what is around it too: Phase I to two thirds of it, so that Phase II has its
    turn, and what follows to as many steps. A selector step follows every ``selector_every`` batches, so a count may
    be rounded up.
    """
    if name not in list(PRESETS):
        raise ValueError(f"preset={name!r} is not known; there are {', '.join(PRESETS)}")
    asked = {key: _checked(key, value) for key, value in changes.items() if value is not None}
    config = PRESETS[name].using(**asked)
    if own_net:
        config = _for_own_net(config).using(**asked)
    if shape is not None:
        config = _for_width(config, *shape).using(**asked)
    config = replace(_with_rates(config), **{rate: asked[rate] for rate in _RATES if rate in asked})
    if "phase1_batches" not in asked:
        config = replace(config, phase1_batches=min(config.phase1_batches, 2 * config.max_batches // 3))
    elif config.phase1_batches >= config.max_batches:
        raise ValueError(
            f"phase1_batches={config.phase1_batches} leaves nothing of max_batches={config.max_batches} for the search"
        )
    return replace(
        config,
        calibration=replace(config.calibration, steps=min(config.calibration.steps, config.max_batches)),
        predictor=replace(config.predictor, cycles=_within(config.predictor.cycles, config.max_batches)),
    )


def _within(cycles: tuple[int, ...], total: int) -> tuple[int, ...]:
    """The cycles, cut where their sum passes a total."""
    kept: list[int] = []
    for cycle in cycles:
        if sum(kept) < total:
            kept.append(min(cycle, total - sum(kept)))
    return tuple(kept)


def _for_own_net(config: TrainConfig) -> TrainConfig:
    config = replace(config, proposal=replace(config.proposal, enabled=False))
    if config.adaptation is None:
        return config
    n_subsets = round(config.adaptation.own_net_calibration * config.calibration.n_subsets)
    calibration = replace(config.calibration, n_subsets=n_subsets)
    return replace(config, operator_rate=config.adaptation.own_net_rate, calibration=calibration)


def _for_width(config: TrainConfig, s: int, d: int) -> TrainConfig:
    """The preset with a Phase I in which a feature is drawn often enough, up to a bound, and a calibration to match."""
    adaptation, calibration = config.adaptation, config.calibration
    if adaptation is None or config.proposal.enabled:
        return config
    wanted = adaptation.draws_per_feature * d / (s * config.n_subsets)
    factor = min(max(wanted / config.phase1_batches, 1.0), adaptation.max_stretch)
    stretch = min(factor, adaptation.max_calibration_stretch)
    return replace(
        config,
        phase1_batches=round(factor * config.phase1_batches),
        calibration=replace(
            calibration,
            n_subsets=round(stretch * calibration.n_subsets),
            steps=round(stretch * calibration.steps),
        ),
    )


def _with_rates(config: TrainConfig) -> TrainConfig:
    """The preset with learning rates for the width of its nets: a step of a wide layer adds up over more weights.

    The rate falls with the root of the width: between no fall, and the fall with the width itself that theory has for
    very wide nets.
    """
    if config.adaptation is None:
        return config
    full = config.adaptation.full_rate_width
    operator, selector = (
        min(1.0, math.sqrt(full / max(hidden, default=full)))
        for hidden in (config.operator_hidden, config.selector_hidden)
    )
    return replace(config, operator_rate=config.operator_rate * operator, selector_rate=config.selector_rate * selector)


_LEAST = {"max_batches": 1, "batch_size": 1, "phase1_batches": 1, "n_perturbed": 1, "patience": 1, "n_subsets": 3}
_RATES = ("operator_rate", "selector_rate")


def _checked(name: str, value: Any) -> Any:
    """A single number, as asked for by the user."""
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
