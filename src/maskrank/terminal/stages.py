"""The stages of a fit, as a terminal names them."""

from __future__ import annotations

_NAMES = {  # names that callbacks got before the stages were called after what they do
    "screen": "propose",
    "polish": "calibrate",
    "contest": "tournament",
    "refit": "predict",
}
STAGES = ("propose", "explore", "search", "calibrate", "tournament", "predict")
_PHASES = {"explore": "Phase I ", "search": "Phase II"}


def stage_name(stage: str) -> str:
    """What a stage is called."""
    return _NAMES.get(stage, stage)


def stage_title(stage: str) -> str:
    """The name in a column of its own, after the paper's phase where it is one."""
    name = stage_name(stage)
    return f"{_PHASES.get(name, ''):<8}  {name:<{max(map(len, STAGES))}}"
