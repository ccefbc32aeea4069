"""The whole course of a fit, from rows to a ranking and a predictor: a list of named stages that hand values on.

propose     closed-form models suggest features, and how to search them      proposals/
explore     Phase I of Algorithm 1: both nets learn from random subsets      method/
search      Phase II: the selector proposes subsets, the operator answers    method/
tournament  candidate subsets compete with m_opt on held-out rows            selection/
calibrate   the selector learns from losses on all rows; m_opt again, unless
            it followed a proposal                                           selection/
score       what each chosen feature is worth on held-out rows               scoring/
predict     the final predictor on the chosen columns                        predictor/
(where rows are few, predict, then choose once more on all rows, and go on)  selection/reselection
rank        m*, its scores and the order of the features                     scoring/
Where all features are asked for, nothing is selected: they are scored, and predicted from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint, Store
from maskrank.core.config import TrainConfig
from maskrank.core.data.features import Features, Pool
from maskrank.core.data.rows import Rows
from maskrank.core.engine.predictor import Predictor
from maskrank.core.method.construction import OwnNet, SearchSpace, build_trainer, lent_random_state
from maskrank.core.method.tasks import Task
from maskrank.core.method.training import DualNetTrainer, train_dual_net
from maskrank.core.predictor.deployment import Deployed, deploy
from maskrank.core.proposals.registry import propose
from maskrank.core.proposals.screening import screen_single_features
from maskrank.core.proposals.top_list import Runner, Workers, in_turn
from maskrank.core.recorder import History, Progress, Recorder
from maskrank.core.scoring.measurement import MeasuredScores, measure_scores
from maskrank.core.scoring.ranking import Ranking, rank_features
from maskrank.core.scoring.signal import SignalTest
from maskrank.core.scoring.size_curve import SizeCurve
from maskrank.core.selection.calibration import calibrate_selector
from maskrank.core.selection.reselection import reselect
from maskrank.core.selection.tournament import hold_tournament
from maskrank.core.stage_values import StageValues


@dataclass(frozen=True)
class DualNetResult:
    """What a run leaves behind.

    Attributes
    ----------
    ranking : Ranking
        Of all features of the table.
    predictor : Predictor
        (rows, columns) -> (rows, outputs): takes the columns of the chosen features alone, in the order of the table,
        then those of the required features.
    held_out : Tensor (validation rows, outputs)
        Predictions for the validation rows, by nets that did not learn from them, on features chosen without them.
    unseen : Tensor (validation rows,) of bool
        Which of these rows had no part in these nets either. (All of them decide when the search ends.)
    history : History
    config : TrainConfig
        What really ran.
    measured : MeasuredScores or None
        The value function behind the scores, and their shares row by row; None where scores are derivatives.
    curve : SizeCurve or None
        The worth of the best features by their number; None with derivatives.
    signal_pvalue : float or None
        Of the null hypothesis that nothing predicts the target; None where it was not tested.
    """

    ranking: Ranking
    predictor: Predictor
    held_out: Tensor
    unseen: Tensor
    history: History
    config: TrainConfig
    measured: MeasuredScores | None
    curve: SizeCurve | None
    signal_pvalue: float | None


def fit_dual_net(
    task: Task,
    rows: Rows,
    validation: Rows,
    *,
    features: Features,
    size: int,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None = None,
    learn_all: bool = False,
    test_signal: bool = False,
    run_blocks: Runner = in_turn,
    callbacks: Sequence[Callable[[Progress], Any]] = (),
    store: Store | None = None,
) -> DualNetResult:
    """Propose, train both nets, decide on s of the features, measure their scores, make the predictor, and rank.

    Parameters
    ----------
    rows, validation : Rows
        Their required features are in every subset that a net sees, and are scored with the chosen ones.
    features : Features
        The same features, by their places in the table.
    size : int
        s, the number to choose beside the required features; with all features nothing is selected.
    learn_all : bool
        Whether, when all is decided, the predictor and a reselection may learn from the validation rows, too.
    test_signal : bool
        Whether to test if anything predicts the target. The test has a generator of its own: nothing depends on it.
    run_blocks : Runner
        Computes the blocks of a search over very many pairs or triples; the result does not depend on it.
    store : Store, optional
        Keeps the results of stages and the states of long loops. The same call with what a store holds goes on from it.
    """
    varying = features.to_choose_first(size)
    if varying is not None or net is not None:  # neither can follow a proposal
        config = config.using(proposal__enabled=False)
    recorder = Recorder(config.max_batches, callbacks, features.names)
    fit = Checkpoint(recorder, generator, store, StageValues(task, config, net))
    test = None
    if test_signal:
        seed = generator.initial_seed()
        test = fit.stage("propose", partial(SignalTest.begin, task, rows, validation, config, seed))
    if size == len(features):
        return _score_all(task, rows, validation, features, config, generator, net, learn_all, fit, test)
    workers = Workers(run_blocks, recorder.share)
    proposal = fit.stage(
        "propose", partial(propose, task, rows, size, config=config, generator=generator, workers=workers)
    )
    recorder.found(proposal.summary(rows.n_features))
    recorder.covered(None if proposal.coverage is None else proposal.coverage.sentence)
    policy, search = proposal.policy, SearchSpace(Pool(proposal.pool), proposal.groups, size)
    recorder.max_batches = policy.max_batches
    with lent_random_state(generator, when=net is not None) as lent:
        fit.keep_with_all(*lent)
        shortened = replace(config, max_batches=policy.max_batches)
        trainer = build_trainer(task, rows, validation, search, config=shortened, generator=generator, net=net)
        everything = (rows, validation) if learn_all and policy.may_reselect else None
        del rows, validation  # of a large table, the features of the pool are enough from here on
        found = train_dual_net(trainer, features, recorder, fit)  # stages "explore" and "search"
        best = fit.stage("tournament", lambda: hold_tournament(trainer, found, proposal), trainer)
        recorder.found(f"tournament: {int((~torch.isin(best, found)).sum())} of {size} features changed")
        calibrate = partial(calibrate_selector, trainer, best, search=not proposal.groups)
        winner = fit.stage("calibrate", lambda: _with_varying(calibrate(), varying), trainer)
        first = None
        if everything is not None and proposal.is_satisfied_by(winner.tolist()):
            first = fit.stage("predict", lambda: deploy(trainer, winner, fit, learn_all=True))
            with recorder.stage("tournament"):  # of few rows, so that it is not worth keeping
                trainer, winner = reselect(task, *everything, size=size, config=config, generator=generator)
            recorder.found("few rows: the features were reselected with the held-out rows")
        measured = fit.stage("score", lambda: _measured(trainer, winner, learn_all=learn_all))
        ranking = rank_features(
            trainer.selector,
            winner,
            trainer.pool,
            features,
            measured=measured,
            evidence=proposal.feature_evidence(),
            redundant=proposal.correlated,
        )
        recorder.ranked(ranking)
        useful = None if measured is None else measured.useful
        predict = partial(deploy, trainer, winner, fit, useful=useful, learn_all=learn_all)
        deployed = fit.stage("predict", predict, last=True)
    recorder.history.add_optimal(features.places_of(winner))
    return _result(ranking, deployed, first or deployed, recorder, config, measured, test)


def _score_all(
    task: Task,
    rows: Rows,
    validation: Rows,
    features: Features,
    config: TrainConfig,
    generator: torch.Generator,
    net: OwnNet | None,
    learn_all: bool,
    fit: Checkpoint,
    test: SignalTest | None,
) -> DualNetResult:
    """Nothing is selected: every feature is scored, and the predictor sees them all."""
    everything = torch.arange(len(features), device=rows.device)
    evidence = fit.stage("propose", lambda: screen_single_features(task, rows, config.proposal.screening))
    space = SearchSpace(Pool(everything.cpu()), (), len(features))
    with lent_random_state(generator, when=net is not None) as lent:
        fit.keep_with_all(*lent)
        trainer = build_trainer(task, rows, validation, space, config=config, generator=generator, net=net)
        measured = fit.stage("score", lambda: _measured(trainer, everything, learn_all=learn_all))
        if measured is None:
            raise ValueError("the features can't be scored: the nets' training diverged; try standardize=True")
        ranking = rank_features(None, everything, trainer.pool, features, measured=measured, evidence=evidence)
        fit.recorder.ranked(ranking)
        predict = partial(deploy, trainer, everything, fit, useful=measured.useful, learn_all=learn_all)
        deployed = fit.stage("predict", predict, last=True)
    fit.recorder.history.add_optimal(features.places_of(everything))
    return _result(ranking, deployed, deployed, fit.recorder, config, measured, test)


def _measured(trainer: DualNetTrainer, optimal: Tensor, *, learn_all: bool) -> MeasuredScores | None:
    """The scores of the chosen features (s,), and of the required ones."""
    return measure_scores(
        trainer.task,
        trainer.rows,
        trainer.validation,
        trainer.pool.places(optimal),
        learn_all=learn_all,
        config=trainer.config,
        generator=trainer.generator,
    )


def _result(
    ranking: Ranking,
    deployed: Deployed,
    judged: Deployed,
    recorder: Recorder,
    config: TrainConfig,
    measured: MeasuredScores | None,
    test: SignalTest | None,
) -> DualNetResult:
    """All of it; ``judged`` is what the validation rows judge."""
    return DualNetResult(
        ranking=ranking,
        predictor=deployed.predictor,
        held_out=judged.held_out,
        unseen=judged.unseen,
        history=recorder.history,
        config=config,
        measured=measured,
        curve=None if measured is None else measured.curve,
        signal_pvalue=None if test is None else test.pvalue(judged.held_out, judged.unseen),
    )


def _with_varying(optimal: Tensor, varying: Tensor | None) -> Tensor:
    """The subset with the features that vary in, and its own first ones in the places that are left."""
    if varying is None:
        return optimal
    varying = varying.to(optimal.device)
    others = optimal[~torch.isin(optimal, varying)]
    return torch.cat([varying, others[: len(optimal) - len(varying)]]).sort().values
