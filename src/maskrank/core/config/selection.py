"""The numbers of selection and scoring: who decides between candidate subsets, and what counts as signal.

A command beside a number is the run that compared its values; "not measured" says that no such run is on record.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CrossFittingConfig:
    """Small nets on given subsets, judged on rows they did not learn from (see `proposals.cross_fitting`).

    Attributes
    ----------
    hidden : tuple of int
        Hidden layer sizes.
    folds, steps, batch_size : int
        ``max_batches`` of the run bounds the steps, too.
    few_rows_batch : int
        As in `PredictorConfig`.
    rate : float
        Falls linearly to 0.
    betas : pair of float
        Of Adam.
    decays : tuple of float
        Weight decays; of each subset the better one counts.
    min_rows, max_rows : int
        Below the first nothing is cross-fitted; of more than the second, so many are drawn.
    """

    hidden: tuple[int, ...] = (48, 48, 48)  # not measured
    folds: int = 3  # not measured
    steps: int = 300  # not measured
    batch_size: int = 64  # not measured
    few_rows_batch: int = 24  # 64, benchmarks/ablation.py, ten gene tables: 0.3 ± 0.3 points less
    rate: float = 2e-2  # not measured
    betas: tuple[float, float] = (0.9, 0.99)  # not measured
    decays: tuple[float, ...] = (0.3, 2.5)  # not measured
    min_rows: int = 30  # not measured
    max_rows: int = 2048  # not measured


@dataclass(frozen=True, kw_only=True)
class CalibrationConfig:
    """The selector learns from losses of the resting operator on all training rows (see `selection.calibration`).

    Attributes
    ----------
    n_subsets, steps : int
        Subsets whose loss is measured, and optimiser steps; 0 subsets leaves calibration out.
    measure_candidates : bool
        Whether m_opt and what a new search finds are compared by their measured losses, or the search is trusted.
    max_rounds : int
    rate, decay : float
        Learning rate, falling linearly to 0, and weight decay.
    neighbour_weight : float
        Weight of a neighbour of m_opt in the selector's loss, against 1 for a random subset.
    min_gain : float
        What a new m_opt must gain for another round, in standard deviations of its neighbours' losses.
    max_rows : int
        Rows that a loss is measured on.
    """

    n_subsets: int = 256  # not measured
    steps: int = 200  # not measured
    measure_candidates: bool = True  # not measured; it acts where nothing was proposed
    max_rounds: int = 2  # not measured
    rate: float = 3e-2  # not measured
    decay: float = 1.0  # not measured
    neighbour_weight: float = 10.0  # not measured
    min_gain: float = 0.1  # not measured
    max_rows: int = 2048  # not measured


@dataclass(frozen=True, kw_only=True)
class TournamentConfig:
    """Candidate subsets compete with m_opt on held-out rows (see `selection.tournament`).

    Attributes
    ----------
    enabled : bool
    max_rounds, n_candidates : int
        Rounds while a candidate wins, and candidates of a round.
    min_evidence_share : float
        Of the evidence for m_opt that a candidate must have to compete.
    weighs_evidence : bool
        Whether evidence can outweigh a higher held-out loss; else the losses decide.
    evidence_margin : float
        By how much it must outweigh it to win.
    correlated_evidence : float
        What a feature counts that the significant ones predict, against one that nothing speaks for.
    elimination_rounds, elimination_steps : int
        Rounds, and steps of cross-fitting, where elimination has proposed a subset.
    """

    enabled: bool = True  # benchmarks/ablation.py
    max_rounds: int = 2  # not measured
    n_candidates: int = 9  # not measured
    min_evidence_share: float = 0.5  # not measured
    weighs_evidence: bool = True  # benchmarks/ablation.py
    evidence_margin: float = 0.5  # not measured
    correlated_evidence: float = (
        0.5  # benchmarks/scores.py madelon --tag 902 --seeds 6: all right in 6 fits, with 0 in 4
    )
    elimination_rounds: int = 1  # one subset was proposed
    elimination_steps: int = 200  # not measured


@dataclass(frozen=True, kw_only=True)
class ReselectionConfig:
    """A subset that elimination proposed is eliminated again with the held-out rows (see `selection.reselection`).

    Attributes
    ----------
    enabled : bool
    batches : int
        Operator batches around the new subset, from the start.
    """

    enabled: bool = True  # maskrank study selection --data tox171, results/study/selection; benchmarks/ablation.py
    batches: int = (
        280  # 100: the same choice, but derivatives of two seeds agree less (0.10 for 0.27, four gene tables)
    )


@dataclass(frozen=True, kw_only=True)
class ScoreConfig:
    """Measured scores (see `scoring.value_function`).

    Attributes
    ----------
    enabled : bool
        Whether scores are Shapley shares, measured on held-out rows; else they are the selector's derivatives, as in
        the paper.
    folds : int
        Nets, each of which learns from all folds but one.
    min_steps, max_steps, steps_per_feature : int
        The more features, the more steps, within the two bounds; ``max_batches`` of the run bounds them, too.
    further_steps : int
        Of the same nets on the first 0, 1, ... features of the order alone, for the size curve.
    hidden : tuple of int
        Hidden layer sizes.
    min_batch, max_batch, batches_per_pass : int
        Rows of a batch: a pass over the table has about so many batches, within the two bounds.
    rate, decay : float
        Learning rate, falling along half a cosine, and weight decay.
    betas : pair of float
        Of Adam.
    averaging, averaging_warmup : float, int
        Of the running average of the weights, as in `PredictorConfig`.
    min_bins, max_bins, max_bins_in_all, rows_per_bin : int
        Of the piecewise-linear encoding: a feature has up to max_bins, all together at most max_bins_in_all, and each
        so many rows; with fewer than min_bins a feature, nothing is encoded.
    shrinkage : tuple of float
        Factors of a net's outputs, apart from the constant answer; for each size of a subset the best one counts.
    shrinkage_parts : int
        Parts of the rows; the rows of all others choose the factor for a part.
    required_share : float
        Share of the random masks that hold part of the required features and none of the others; the rest hold all of
        the required ones.
    max_rows : int
        Of more rows, so many are drawn.
    max_exact_size : int
        Up to so many features all subsets are evaluated, beyond that random orders.
    min_pairs, max_pairs : int
        Antithetic pairs of orders for each row.
    sampling_share : float
        Share of the variance of scores that may be due to the sampling of orders; then no more are drawn.
    max_evaluations : int
        Pairs of a row and a subset that are evaluated; of more held-out rows, some judge.
    explained_subsets : int
        Subsets that explain a row: all of them where there are so few, else about so many, by random orders.
    min_explained_pairs : int
        Antithetic pairs of orders at least.
    max_size : int
        The most features that are selected where their number is chosen, unless a bound is given.
    max_all_features : int
        Up to so many features, all are measured when their number is chosen; of more, the best max_size.
    """

    enabled: bool = True  # off, benchmarks/guard.py twice-300: best-p by score 0.60 and 0.52
    # The comparisons named below were made by scripts that were not kept, mostly without shrinkage.
    folds: int = 5  # not measured
    min_steps: int = 200  # 150 to 600: the same order of up to 16 features, 600 overfits
    max_steps: int = 800  # a time limit
    steps_per_feature: int = 15  # Madelon's recipe, s = 40: 600 steps order 10 of 10 fits, 200 (decay 1) none
    further_steps: int = 100  # sizes ± 1 in 36 fits, order not cross-fitted: 0 0.42, 50 0.94, 100 0.97, 150 0.94
    hidden: tuple[int, ...] = (64, 64)  # (32, 32), (48, 48, 48) and (128, 32): the same order
    min_batch: int = 128  # not measured
    max_batch: int = 512  # not measured
    batches_per_pass: int = 20  # not measured
    rate: float = 1e-2  # 2e-2: the same order
    decay: float = 0.3  # 0.3 to 2: the same order of up to 16; Madelon's recipe, 800 steps: 9 of 10, 1.0: 7
    betas: tuple[float, float] = (0.9, 0.99)  # not measured
    averaging: float = 0.98  # not measured
    averaging_warmup: int = 10  # not measured
    min_bins: int = 3  # not measured
    max_bins: int = 6  # 0: two in three fits in order, 6: all; 10 and 16 overfit
    max_bins_in_all: int = 256  # a time limit
    rows_per_bin: int = 4  # 8: glass explains 1.13 nats, not 1.36
    shrinkage: tuple[float, ...] = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2)  # without: noise scores below 0
    shrinkage_parts: int = 5  # not measured
    required_share: float = (
        0.1  # 0.05 to 0.4: the same shares, six fits; of a copy of a required one, 0.5 gives twice as much
    )
    max_rows: int = 8192  # a time limit
    max_exact_size: int = 7  # a time limit
    min_pairs: int = 2  # not measured
    max_pairs: int = 8  # a time limit
    sampling_share: float = 0.1  # not measured
    max_evaluations: int = 1 << 20  # a time limit; Madelon's recipe, s = 40, with a quarter: best-p 0.905, not 0.935
    explained_subsets: int = 1 << 10  # a time limit
    min_explained_pairs: int = 4  # not measured
    max_size: int = 50  # a time limit
    max_all_features: int = 50  # a time limit


@dataclass(frozen=True, kw_only=True)
class SignalConfig:
    """The test of whether anything predicts the target (see `scoring.signal`), and the figure that is shown first.

    Attributes
    ----------
    level : float
        P-values up to it are called signal.
    max_orders, min_orders : int
        Orders of the targets in the test of all rows, the one seen among them: the more, the smaller a
        p-value can be. The smaller number is for large tables.
    max_rows : int
        Rows that are looked at.
    flops : float
        Bound on the multiplications for each kind of column: where it is exceeded, less of the table is looked at.
    min_rows_of_wide : int
        Rows that are looked at even where that exceeds the bound.
    held_out_orders : int
        Orders in the test of the validation rows.
    held_out_share : float
        Of the chance of a false claim, for that test.
    min_rows, max_held_out_rows : int
        Validation rows (or groups of them) that are needed for it, and that are looked at.
    max_held_out_values : int
        Outputs that are held at once.
    max_deviation : float
        Distance of a prediction from the constant answer, in mean distances, at which it is cut off.
    frequent_class : float
        Share of the most frequent class above which accuracy says little, and ROC AUC is shown first.
    """

    level: float = 0.05  # the usual one
    max_orders: int = 500  # the smallest p-value is 0.002, or 0.0022 with the other test
    min_orders: int = 200  # the smallest p-value is 0.005, or 0.0056 with the other test
    max_rows: int = 2048  # as the screens
    flops: float = 4e9  # a fraction of a second on one core
    min_rows_of_wide: int = 256  # not measured
    held_out_orders: int = 1000  # the smallest p-value is 0.001, or 0.01 with the other test
    # With half of it, 9 % of 200 tables without signal were called signal at 5 % (questions.py signal-null, 725e895).
    held_out_share: float = 0.1
    min_rows: int = 8  # 8 rows have 40,320 orders; fewer can't tell
    max_held_out_rows: int = 4096  # a time limit
    max_held_out_values: int = 1 << 22  # a memory limit
    max_deviation: float = 3.0  # not measured
    frequent_class: float = 0.8  # not measured; the trivial answer is right so often
