"""The numbers of the final predictor: small nets of several recipes on the chosen columns.

A command beside a number is the run that compared its values; "not measured" says that no such run is on record.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How one net of the predictor is trained; held-out rows tell which recipes suit the data.

    Attributes
    ----------
    decay : float
        Weight decay.
    input_noise : float
        Standard deviation of Gaussian noise on the inputs, which have a deviation of about 1.
    encoded : bool
        Whether the net also sees the piecewise-linear encoding of the features (Gorishniy et al. 2022).
    additive : bool
        Whether the net is a sum of one-feature nets (a generalised additive model).
    """

    decay: float
    input_noise: float = 0.0
    encoded: bool = False
    additive: bool = False


# In order of use: the first ``n_recipes`` that a table's rows allow. Their kinds: benchmarks/ablation.py.
RECIPES = (
    Recipe(decay=0.1),
    Recipe(decay=0.4),
    Recipe(decay=0.1, additive=True),
    Recipe(decay=0.1, input_noise=0.5),
    Recipe(decay=0.1, input_noise=1.0),
    Recipe(decay=0.1, encoded=True),
    Recipe(decay=0.4, encoded=True, additive=True),
    Recipe(decay=0.1, encoded=True, input_noise=0.3),
    Recipe(decay=0.1, encoded=True, input_noise=0.6),
    Recipe(decay=0.2),
    Recipe(decay=0.8),
)


@dataclass(frozen=True, kw_only=True)
class PredictorConfig:
    """Nets on the chosen columns, cross-fitted and averaged by greedy ensemble selection.

    Attributes
    ----------
    n_recipes : int
        How many recipes are followed; 0 predicts with the operator itself.
    recipes : tuple of Recipe
    hidden : tuple of int
        Hidden layer sizes.
    cycles : tuple of int
        Steps of the cosine annealings of the learning rate: of the trial of all recipes, of the better half of them,
        and of those that follow while they are worth it, each with the better half.
    rate : float
        Highest learning rate.
    betas : pair of float
        Of Adam: how slowly the means of the gradients and of their squares forget.
    min_batch, max_batch, batches_per_pass : int
        Rows of a batch: a pass over the table has about so many batches, within the two bounds.
    few_rows_batch : int
        Where half of the rows are fewer than such a batch, a batch has as many, or this number.
    validate_every : int
        Steps between two validations.
    patience_share : float
        Share of a cycle without progress after which it ends.
    averaging : float
        Decay of the running average of the weights, which is what is validated and kept.
    averaging_warmup : int
        At step t the decay is at most t / (t + averaging_warmup), so that the start is soon forgotten.
    min_drop, min_drop_regression : float
        Share by which the validation loss must fall in the last third of a cycle for another one to begin: for
        classes, which are told apart before their probabilities are known well, and for numbers.
    better_share : float
        Share of the recipes, those of the lowest loss, whose mean loss is watched for progress; and that are averaged
        where too few rows judge.
    min_judging_rows : int
        Held-out rows from which on all recipes may compete and be weighted; below, plain ones are averaged.
    max_judging_rows : int
        Of more held-out rows, so many judge.
    min_folds, max_folds, min_fold_rows : int
        Folds of cross-fitting, where nets may learn from all rows: the fewer rows judge, the more folds.
    max_cross_fitted_rows : int
        Beyond so many rows one fold is enough.
    n_picks : int
        Rounds of greedy ensemble selection.
    max_members : int
        Nets that the predictor is made of at most; of more, some folds of each recipe stand for all.
    min_bins, max_bins, max_bins_in_all : int
        Of the piecewise-linear encoding: a feature has up to max_bins, all together at most max_bins_in_all or the
        number of rows; with fewer than min_bins each, nothing is encoded.
    max_quantile_rows : int
        Rows from which the edges of bins are computed.
    encoded_deviation : float
        Standard deviation that encoded inputs are scaled to; the features' own is about 1.
    fine_tune_rate_share : float
        Learning rate of a user's own net when it is fine-tuned at m*, as a share of the operator's.
    pass_rate : float
        Highest learning rate on the rows of a table larger than memory, which come after those of the sample.
    pass_batch, max_passes, max_pass_rows : int
        Rows of such a batch; how often each row is learned from at most; rows that are learned from in all, which of a
        larger table are drawn from all of its parts.
    """

    n_recipes: int = 10  # not measured
    recipes: tuple[Recipe, ...] = RECIPES
    hidden: tuple[int, ...] = (48, 48, 48)  # not measured
    # Neither a third cycle nor ten folds changed any of nine fits of 512 rows: benchmarks/ablation.py --rows none
    # --problems "XOR;regression;orange skin" --change "a: predictor__cycles=(80, 120)" (and predictor__max_folds=10).
    cycles: tuple[int, ...] = (80, 120, 700)  # not measured on tables where a third begins
    rate: float = 2e-2  # not measured
    betas: tuple[float, float] = (0.9, 0.99)  # not measured
    min_batch: int = 64  # not measured
    max_batch: int = 512  # not measured
    batches_per_pass: int = 50  # not measured
    few_rows_batch: int = 24  # 64, benchmarks/ablation.py, five gene tables: 0.1 ± 0.4 points less, 1.26 of the time
    validate_every: int = 20  # not measured
    patience_share: float = 1 / 3  # not measured
    averaging: float = 0.98  # not measured
    averaging_warmup: int = 10  # not measured
    min_drop: float = 0.05  # not measured; 0.025 and 0.06 were, on six draws of benchmarks/draws.py
    min_drop_regression: float = 0.015  # benchmarks/draws.py, regression
    better_share: float = 0.5  # not measured
    min_judging_rows: int = 300  # not measured
    max_judging_rows: int = 1 << 15  # a time limit
    min_folds: int = 3  # not measured
    max_folds: int = 5  # not measured on smaller tables
    min_fold_rows: int = 5  # not measured
    max_cross_fitted_rows: int = 20_000  # a time limit
    n_picks: int = 12  # not measured
    max_members: int = 6  # a limit of time and of the file; 5 to 16 were compared; benchmarks/prediction.py figures
    min_bins: int = 4  # not measured
    max_bins: int = 16  # not measured
    max_bins_in_all: int = 256  # not measured
    max_quantile_rows: int = 1 << 14  # a time limit
    encoded_deviation: float = 0.5  # not measured
    fine_tune_rate_share: float = 0.3  # not measured
    pass_rate: float = 2e-3  # not measured
    pass_batch: int = 2048  # not measured
    max_passes: int = 1  # a time limit
    max_pass_rows: int = 1 << 26  # a time limit: 200,000 rows a second and core
