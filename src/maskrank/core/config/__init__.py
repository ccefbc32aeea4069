"""Every number of a run (`TrainConfig` and its nested parts), and the presets by name.

A number elsewhere is a memory limit (`core.limits`), a coefficient of the cost model (`engine.costs`), which chooses
between equivalent computations (but see there for Adam by rows), or a mathematical constant.
"""

from maskrank.core.config.encoding import EncodingConfig
from maskrank.core.config.predictor import PredictorConfig, Recipe
from maskrank.core.config.presets import DEFAULT, PAPER, PAPER_TABLES, PRESETS, preset
from maskrank.core.config.proposals import (
    EliminationConfig,
    GuidedExplorationConfig,
    ProposalConfig,
    ScreeningConfig,
    WideSearchConfig,
)
from maskrank.core.config.selection import (
    CalibrationConfig,
    CrossFittingConfig,
    ReselectionConfig,
    ScoreConfig,
    SignalConfig,
    TournamentConfig,
)
from maskrank.core.config.training import AdaptationConfig, TrainConfig

__all__ = [
    "DEFAULT",
    "PAPER",
    "PAPER_TABLES",
    "PRESETS",
    "AdaptationConfig",
    "CalibrationConfig",
    "CrossFittingConfig",
    "EliminationConfig",
    "EncodingConfig",
    "GuidedExplorationConfig",
    "PredictorConfig",
    "ProposalConfig",
    "Recipe",
    "ReselectionConfig",
    "ScoreConfig",
    "ScreeningConfig",
    "SignalConfig",
    "TournamentConfig",
    "TrainConfig",
    "WideSearchConfig",
    "preset",
]
