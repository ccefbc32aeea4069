"""Settings of how categories, missing values and heavy tails become columns (see `estimators.encoding`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class EncodingConfig:
    """Categories, missing values and heavy tails as columns.

    Attributes
    ----------
    min_level_rows : int
        A level with fewer training rows is rare: it has no column of its own, and all rare levels look the same.
    max_levels : int
        Up to so many levels that are not rare have a column each; of more, the category becomes the mean target of each
        level, cross-fitted over folds.
    min_scale : float
        An indicator is divided by its standard deviation, or by this where it is smaller.
    mean_folds : int
        Folds of the rows; a row's mean target is computed without the rows of its own fold.
    mean_prior : float
        Rows with the overall mean that are added to each level's.
    normal_scores : bool
        Whether a number with heavy tails is replaced by its normal score.
    normal_share : float
        Squared correlation of a column with its normal scores below which its tails are heavy.
    min_tail_rows, min_tail_values : int
        Rows, and different values among them, that are needed to speak of tails.
    max_tail_rows, max_knots : int
        Rows that are looked at, and values of a column at which its scores are kept.
    """

    min_level_rows: int = 5  # not measured
    max_levels: int = 64  # not measured
    min_scale: float = 0.2  # not measured
    mean_folds: int = 5  # not measured
    mean_prior: float = 10.0  # not measured
    normal_scores: bool = True  # benchmarks/ablation.py
    normal_share: float = 0.75  # not measured
    min_tail_rows: int = 20  # not measured
    min_tail_values: int = 10  # not measured
    max_tail_rows: int = 4096  # a time limit
    max_knots: int = 1024  # a memory limit
