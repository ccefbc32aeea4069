"""The whole course of a fit, from rows to a ranking and a predictor: a list of named stages that hand values on.

propose     closed-form models suggest features, and how to search them      proposals/
explore     Phase I of Algorithm 1: both nets learn from random subsets      method/
search      Phase II: the selector proposes subsets, the operator answers    method/
calibrate   the selector learns from losses on all rows; m_opt again         selection/
tournament  candidate subsets compete with m_opt on held-out rows            selection/
score       what each chosen feature is worth on held-out rows              scoring/
predict     the final predictor on the chosen columns                        predictor/
(where rows are few, predict, then choose once more on all rows, and go on)  selection/reselection
rank        m*, its scores and the order of the features                     scoring/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import OwnNet, SearchSpace, build_trainer, lent_random_state
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer, train_dual_net
from maskrank.core.predictor.deployment import deploy
from maskrank.core.predictor.recipes import FeatureWorth
from maskrank.core.proposals.proposal import Proposal
from maskrank.core.proposals.registry import propose
from maskrank.core.recorder import History, Progress, Recorder
from maskrank.core.scoring.measurement import MeasuredScores, measure_scores
from maskrank.core.scoring.ranking import Ranking, rank_features
from maskrank.core.selection.calibration import calibrate_selector
from maskrank.core.selection.reselection import reselect
from maskrank.core.selection.tournament import hold_tournament


@dataclass(frozen=True)
class DualNetResult:
    """What a run leaves behind.

    Attributes
    ----------
    ranking : Ranking
        Of all columns of the table.
    predictor : nn.Module
        (rows, s) -> (rows, outputs): takes the chosen columns alone, in the order of the table.
    held_out : Tensor (validation rows, outputs)
        Predictions for the validation rows, by nets that did not learn from them, on features chosen without them.
    history : History
    measured : MeasuredScores or None
        The value function behind the scores, and their shares row by row; None where scores are derivatives.
    """

    ranking: Ranking
    predictor: nn.Module
    held_out: Tensor
    history: History
    measured: MeasuredScores | None = None


def fit_dual_net(
    task: Task,
    rows: Rows,
    validation: Rows,
    *,
    features: Features,
    size: int,
    config: TrainConfig,
    generator: torch.Generator,
    required: Tensor | None = None,
    net: OwnNet | None = None,
    learn_all: bool = False,
    callbacks: Sequence[Callable[[Progress], Any]] = (),
) -> DualNetResult:
    """Propose, train both nets, decide on a subset, make the predictor, and rank the features.

    Parameters
    ----------
    features : Features
        What the columns of the rows are in the table.
    size : int
        s, in 1..d-1.
    required : Tensor, optional
        At most s features that m* holds in any case; nothing is proposed then.
    net : OwnNet, optional
        None takes the MLP of the config.
    learn_all : bool
        Whether, when all is decided, the predictor and a reselection may learn from the validation rows, too.
    """
    if required is not None:
        config = config.using(proposal__enabled=False)
    recorder = Recorder(config.max_batches, callbacks)
    with recorder.stage("propose"):
        proposal = propose(task, rows, size, config=config, generator=generator)
        recorder.found(proposal.summary(rows.n_features))
    policy, pool = proposal.policy, Pool(proposal.pool)
    recorder.max_batches = policy.max_batches
    with lent_random_state(generator, when=net is not None):
        search = SearchSpace(pool, proposal.groups, size)
        shortened = replace(config, max_batches=policy.max_batches)
        trainer = build_trainer(task, rows, validation, search, config=shortened, generator=generator, net=net)
        everything = (rows, validation) if learn_all and policy.may_reselect else None
        del rows, validation  # of a large table, the features of the pool are enough from here on
        optimal = train_dual_net(trainer, features, recorder)  # stages "explore" and "search"
        with recorder.stage("calibrate"):
            optimal = _with_required(calibrate_selector(trainer, optimal), required)
        with recorder.stage("tournament"):
            winner = hold_tournament(trainer, optimal, proposal)
            recorder.found(f"tournament: {int((~torch.isin(winner, optimal)).sum())} of {size} features changed")
        held_out = None
        if everything is not None and proposal.is_satisfied_by(winner.tolist()):
            with recorder.stage("predict"):
                held_out = deploy(trainer, winner, recorder, learn_all=True).held_out
            with recorder.stage("tournament"):
                trainer, winner = reselect(task, *everything, size=size, config=config, generator=generator)
                recorder.found("few rows: the features were reselected with the held-out rows")
        result = _result(trainer, winner, proposal, features, recorder, learn_all)
    return result if held_out is None else replace(result, held_out=held_out)


def _result(
    trainer: DualNetTrainer, best: Tensor, proposal: Proposal, features: Features, recorder: Recorder, learn_all: bool
) -> DualNetResult:
    """Stages "score" and "predict", which follows the scores, and the ranking."""
    with recorder.stage("score"):
        measured = measure_scores(trainer, best, learn_all=learn_all)
    with recorder.stage("predict"):
        worth = None if measured is None else FeatureWorth.of(measured.shares.values, measured.supported)
        deployed = deploy(trainer, best, recorder, worth=worth, learn_all=learn_all)
    recorder.history.add_optimal(features.columns_of(best))
    evidence = proposal.feature_evidence()
    ranking = rank_features(trainer.selector, best, trainer.pool, features, measured=measured, evidence=evidence)
    return DualNetResult(ranking, deployed.predictor, deployed.held_out, recorder.history, measured)


def _with_required(optimal: Tensor, required: Tensor | None) -> Tensor:
    """The subset with the required features in, and its own first ones in the places that are left."""
    if required is None:
        return optimal
    required = required.to(optimal.device)
    others = optimal[~torch.isin(optimal, required)]
    return torch.cat([required, others[: len(optimal) - len(required)]]).sort().values
