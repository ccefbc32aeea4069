"""A user's numbers as a fit takes them: how many features, refits and processes. Nothing here needs torch."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, cast

from maskrank.core.config import TrainConfig


def resolve_size(requested: Any, d: int, *, may_be_all: bool = True) -> int:
    """n_features_to_select as a number of features in 1..d.

    None is half of them, "all" all of them, a float in (0, 1) a share.

    Parameters
    ----------
    may_be_all : bool
        Whether all features may be asked for; if not, at most d - 1.
    """
    if d < 2 and not may_be_all:
        raise ValueError(f"n_features={d}: there is nothing to choose from, at least 2 features are needed")
    if requested is None:
        return max(1, d // 2)
    if isinstance(requested, str) and requested == "all" and may_be_all:
        return d
    largest, words = (d, "'auto', 'all', ") if may_be_all else (d - 1, "")
    allowed = f"a whole number in 1..{largest}, a share in (0, 1), {words}or None for half; the data has {d} features"
    if isinstance(requested, bool) or not isinstance(requested, numbers.Real):
        raise ValueError(f"n_features_to_select={requested!r} must be {allowed}")
    if isinstance(requested, numbers.Integral):
        if 1 <= int(requested) <= largest:
            return int(requested)
    elif 0 < (share := cast(Any, requested)) < 1:  # in the user's own precision
        return max(1, int(share * d))
    raise ValueError(f"n_features_to_select={requested} must be {allowed}")


def resolve_choice(requested: Any, d: int, configured: Callable[[int, int], TrainConfig]) -> int:
    """The same where a fit chooses so many; ``configured`` gives its settings for s out of d features."""
    size = resolve_size(requested, d)
    if size == d and not configured(size, d).score.enabled:
        raise ValueError(f"n_features_to_select={size}: preset='paper' needs a choice, of at most {d - 1} features")
    return size


def resolve_largest_size(requested: Any, d: int, config: TrainConfig) -> int:
    """max_features_to_select as a number of features below d, or d - 1 where it is larger; None is the preset's."""
    if d < 2:
        raise ValueError(f"n_features_to_select='auto' needs at least 2 features to choose from; the data has {d}")
    if not config.score.enabled:
        raise ValueError("n_features_to_select='auto' needs measured scores, which preset='paper' does not have")
    if requested is None:
        return min(config.score.max_size, d - 1)
    if not _is_whole(requested) or requested < 1:
        raise ValueError(f"max_features_to_select={requested!r} must be a whole number of at least 1")
    return min(int(requested), d - 1)


def resolve_repeats(n_repeats: Any, n_jobs: Any) -> int:
    """n_repeats as a number, 0 or at least 2; n_jobs is checked as well."""
    if not _is_whole(n_repeats) or n_repeats < 0 or n_repeats == 1:
        raise ValueError(
            f"n_repeats={n_repeats!r} must be 0 for none, or a whole number from 2 on: one repeat shows no spread"
        )
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be None, a whole number from 1 on, or -1 for as many as there are cores"
        )
    return int(n_repeats)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
