"""Temporary."""

from __future__ import annotations

from maskrank.core.config import ScreeningConfig


def groups_wanted(size: int, config: ScreeningConfig) -> int:
    """How many feature groups are asked for."""
    return config.groups_per_feature * size + config.extra_groups
