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
    measure_candidates: bool = True  # benchmarks/search.py ablation, results/search.md
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
    fine_tune_batches : int
        Operator batches around a new m_opt, so that its scores are those of a trained operator.
    elimination_rounds, elimination_steps, elimination_fine_tune_batches : int
        Rounds, steps of cross-fitting, and batches of fine-tuning where elimination has proposed a subset.
    """

    enabled: bool = True  # benchmarks/search.py ablation, results/search.md
    max_rounds: int = 2  # not measured
    n_candidates: int = 9  # not measured
    min_evidence_share: float = 0.5  # not measured
    weighs_evidence: bool = True  # benchmarks/search.py ablation, results/search.md
    evidence_margin: float = 0.5  # not measured
    fine_tune_batches: int = 160  # not measured
    elimination_rounds: int = 1  # one subset was proposed
    elimination_steps: int = 200  # not measured
    elimination_fine_tune_batches: int = 80  # not measured


@dataclass(frozen=True, kw_only=True)
class ReselectionConfig:
    """A subset that elimination proposed is eliminated again with the held-out rows (see `selection.reselection`).

    Attributes
    ----------
    enabled : bool
    batches : int
        Operator batches around the new subset, from the start.
    """

    enabled: bool = True  # maskrank study selection --data tox171, other folds: 6 points
    batches: int = 280  # not measured


@dataclass(frozen=True, kw_only=True)
class ScoreConfig:
    """When held-out rows count as evidence of signal (see `scoring.signal`).

    Attributes
    ----------
    min_rows : int
        Fewer rows can't tell.
    max_row_gain : float
        What one row may count, against the mean absolute gain.
    min_z : float
        Standard errors by which the mean gain must exceed 0; more than the usual 2, as the same rows chose the best
        moment of the nets.
    """

    min_rows: int = 8  # not measured
    max_row_gain: float = 3.0  # not measured
    min_z: float = 2.5  # benchmarks/search.py shuffled, results/search.md
