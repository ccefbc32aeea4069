"""`TrainConfig`: every number of one run, the paper's own at the top and one nested part for each helper."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field
from typing import Any

from maskrank.core.config.encoding import EncodingConfig
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.config.proposals import ProposalConfig
from maskrank.core.config.selection import (
    CalibrationConfig,
    CrossFittingConfig,
    ReselectionConfig,
    ScoreConfig,
    SignalConfig,
    TournamentConfig,
)


@dataclass(frozen=True, kw_only=True)
class AdaptationConfig:
    """How a preset follows the shape of a table and the width of the nets (see `presets`).

    Attributes
    ----------
    full_rate_width : int
        The widest layer that takes the full learning rate; wider ones take it over the root of the ratio.
    draws_per_feature : int
        How often Phase I should draw each feature, where no proposal narrows the search.
    max_stretch, max_calibration_stretch : float
        Bounds on the factors by which Phase I and the calibration grow for it.
    own_net_rate : float
        Operator's learning rate for a net of the user's own.
    own_net_calibration : float
        Share of the subsets that a calibration measures with such a net.
    """

    full_rate_width: int = 64  # not measured; the rule was seen to train nets of 1,000 units
    draws_per_feature: int = 64  # not measured
    max_stretch: float = 3.75  # not measured
    max_calibration_stretch: float = 2.0  # not measured
    own_net_rate: float = 1e-3  # the paper's
    own_net_calibration: float = 0.25  # not measured


_CHOICES = {
    "activation": ("sigmoid", "silu", "relu"),
    "init_fan_in": ("all", "active"),
    "search_start": ("half", "share"),
    "operator_optimizer": ("nadam", "adam"),
    "stop_on": ("loss", "error"),
}


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """The settings of one run. ``config_`` of a fitted model holds those that ran.

    Attributes
    ----------
    operator_hidden, selector_hidden : tuple of int
        Hidden layer sizes of the two nets.
    activation : "sigmoid", "silu" or "relu"
        Of the hidden layers of both nets.
    init_fan_in : "all" or "active"
        What Glorot's rule takes for the number of inputs of a first layer: all d features, or the s active ones.
    n_subsets : int
        |M'|, the subsets an operator batch is trained on.
    batch_size : int
        Rows of an operator batch; every row meets every subset.
    phase1_batches : int
        E_1, the operator batches of Phase I.
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
    n_search_candidates : int
        Features of the highest importance that may enter m_opt after the first validation round.
    operator_optimizer : "nadam" or "adam"
    operator_rate, selector_rate : float
        Learning rates.
    validate_every, patience, max_batches : int
        Early stopping in operator batches: how often m_opt is judged on the validation rows, how long without
        progress, how long in all (both phases).
    stop_on : "loss" or "error"
        What is judged: the task's loss, or its error (share of wrong answers; mean squared error).
    adaptation : AdaptationConfig or None
        How the preset follows the table's shape; None for not at all. A run itself takes the numbers as they are.
    proposal : ProposalConfig
    cross_fitting : CrossFittingConfig
    calibration : CalibrationConfig
    tournament : TournamentConfig
    reselection : ReselectionConfig
    predictor : PredictorConfig
    score : ScoreConfig
    signal : SignalConfig
    encoding : EncodingConfig
    """

    operator_hidden: tuple[int, ...]
    selector_hidden: tuple[int, ...]
    activation: str
    init_fan_in: str
    n_subsets: int
    batch_size: int
    phase1_batches: int
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
    stop_on: str
    n_search_candidates: int = 1024  # a time limit
    adaptation: AdaptationConfig | None = None
    proposal: ProposalConfig = field(default_factory=ProposalConfig)
    cross_fitting: CrossFittingConfig = field(default_factory=CrossFittingConfig)
    calibration: CalibrationConfig = field(default_factory=CalibrationConfig)
    tournament: TournamentConfig = field(default_factory=TournamentConfig)
    reselection: ReselectionConfig = field(default_factory=ReselectionConfig)
    predictor: PredictorConfig = field(default_factory=PredictorConfig)
    score: ScoreConfig = field(default_factory=ScoreConfig)
    signal: SignalConfig = field(default_factory=SignalConfig)
    encoding: EncodingConfig = field(default_factory=EncodingConfig)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} must be one of {', '.join(allowed)}")

    def using(self, **changes: Any) -> TrainConfig:
        """The same with some numbers changed; those of a nested part are named as in scikit-learn, ``part__name``.

        Examples
        --------
        >>> from maskrank.core.config import DEFAULT
        >>> DEFAULT.using(max_batches=400, tournament__enabled=False).tournament.enabled
        False
        """
        return typing.cast(TrainConfig, _changed(self, changes))

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> TrainConfig:
        """From what ``dataclasses.asdict`` gives, or JSON made of it."""
        return typing.cast(TrainConfig, _built(cls, document))


def _changed(part: Any, changes: dict[str, Any]) -> Any:
    known = [entry.name for entry in dataclasses.fields(part)]
    nested: dict[str, dict[str, Any]] = {}
    values = {}
    for path, value in changes.items():
        name, _, inner = path.partition("__")
        if name not in known or (inner and not dataclasses.is_dataclass(getattr(part, name))):
            raise ValueError(f"{type(part).__name__} has no setting {path!r}; it has {', '.join(known)}")
        if inner:
            nested.setdefault(name, {})[inner] = value
        else:
            values[name] = value
    parts = {name: _changed(getattr(part, name), more) for name, more in nested.items()}
    return dataclasses.replace(part, **values, **parts)


def _built(kind: Any, value: Any) -> Any:
    """A value as the type that a field declares: JSON has lists for tuples and objects for nested parts."""
    if isinstance(kind, types.UnionType):
        return None if value is None else _built(next(k for k in typing.get_args(kind) if k is not type(None)), value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _built(hints[name], entry) for name, entry in value.items()})
    if typing.get_origin(kind) is tuple:
        of_entry = typing.get_args(kind)[0]
        return tuple(_built(of_entry, entry) for entry in value)
    return value
