"""The default proposer: screening, backward elimination, and screening of cross-fitted residuals.

Where far more single features are significant than can be selected, or most of a table's features are, backward
elimination proposes a whole subset. Else the residual of small nets on the significant features is screened again.
Where features are few against those to select, all of them are searched. Where rows are few against these, too few to
tell which features are significant, elimination proposes a subset, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from maskrank.core.config import EliminationConfig, TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.backward_elimination import eliminate, few_rows
from maskrank.core.proposals.cross_fitting import cross_fit, enough_rows
from maskrank.core.proposals.proposal import Proposal, SearchPolicy, features_of, pool_with_random, round_robin
from maskrank.core.proposals.screening import (
    Screen,
    correlated_features,
    groups_wanted,
    screen,
    screen_residual,
)
from maskrank.core.proposals.top_list import Workers


class ScreeningProposer:
    """Screens single features and pairs; proposes a whole subset by elimination where many are significant."""

    def propose(
        self,
        task: Task,
        rows: Rows,
        size: int,
        *,
        config: TrainConfig,
        generator: torch.Generator,
        workers: Workers | None = None,
    ) -> Proposal:
        """A pool of features with their groups, and where it helps a whole subset.

        Parameters
        ----------
        rows : Rows
            Training rows.
        size : int
            s.
        workers : Workers, optional
            Of the wide search; one thread, unless told otherwise.
        """
        settings = config.proposal
        large_enough = rows.n_features >= settings.min_features and enough_rows(rows, config.cross_fitting)
        wanted = groups_wanted(size, settings.screening)
        found = screen(task, rows, wanted=wanted, config=settings, generator=generator, size=size, workers=workers)
        if not large_enough:
            return _proposal(replace(found, linear_order=[]), rows, size, config=config, generator=generator)
        few_to_tell = few_rows(rows, settings.elimination) and (
            _covers_pairs(size, rows, config) or _too_few_to_tell(found, rows, size, settings.elimination)
        )
        if few_to_tell or _many_are_significant(found, rows, size, settings.elimination):
            order = _eliminate(task, rows, size, wanted, config=config, generator=generator)
            if order:
                found = replace(found, groups=round_robin(found.groups, [(j,) for j in order]), linear_order=[])
                return _proposal(found, rows, size, elimination_order=order, config=config, generator=generator)
        found = _with_residuals(task, rows, found, wanted, config=config, generator=generator)
        correlated: list[int] = []
        if settings.screening.correlated:
            correlated = correlated_features(
                rows, found.significant, max_features=size, config=settings.screening, generator=generator
            )
        return _proposal(found, rows, size, correlated=correlated, config=config, generator=generator)


def _many_are_significant(found: Screen, rows: Rows, size: int, config: EliminationConfig) -> bool:
    """Whether which of the single features go well together is the question."""
    singles = sum(len(group) == 1 for group in found.evidence)
    many = config.significant_per_feature * size + config.extra_significant
    return singles >= min(many, config.significant_share * rows.n_features)


def _too_few_to_tell(found: Screen, rows: Rows, size: int, config: EliminationConfig) -> bool:
    """Whether rows are too few for the features to select, and no interaction is significant that asks for a search."""
    return len(rows) < config.rows_per_feature * size and all(len(group) == 1 for group in found.evidence)


def _covers_pairs(size: int, rows: Rows, config: TrainConfig) -> bool:
    """Whether random subsets of this size hold every pair so often that all features can be searched."""
    d = rows.n_features
    return size * (size - 1) > config.proposal.pair_coverage * d * (d - 1)


def _eliminate(
    task: Task, rows: Rows, size: int, wanted: int, *, config: TrainConfig, generator: torch.Generator
) -> list[int]:
    elimination = config.proposal.elimination
    if not elimination.enabled:
        return []
    return eliminate(task, [rows], size, wanted=wanted, config=elimination, generator=generator)


def _with_residuals(
    task: Task, rows: Rows, found: Screen, wanted: int, *, config: TrainConfig, generator: torch.Generator
) -> Screen:
    """Screen the residuals of cross-fitted nets on the significant features, until no further one is significant."""
    fitted_on: list[int] = []
    for _ in range(config.proposal.screening.residual_rounds):
        significant = sorted(found.significant)
        if not significant or significant == fitted_on:
            break
        fitted_on = significant
        fitted = cross_fit(
            task,
            rows,
            torch.tensor([significant], device=rows.device),
            config=config,
            generator=generator,
            max_steps=config.cross_fitting.steps,
        )
        if not bool(fitted.residuals.isfinite().all()):
            break
        found = screen_residual(rows, fitted.rows, fitted.residuals[0], found, wanted=wanted, config=config.proposal)
    return found


def _proposal(
    found: Screen,
    rows: Rows,
    size: int,
    *,
    correlated: Sequence[int] = (),
    elimination_order: Sequence[int] = (),
    config: TrainConfig,
    generator: torch.Generator,
) -> Proposal:
    d = rows.n_features
    proposed = range(d) if _covers_pairs(size, rows, config) else [*features_of(found.groups), *correlated]
    return Proposal(
        pool=pool_with_random(proposed, d, share=config.proposal.random_share, generator=generator),
        policy=_policy(elimination_order, rows, config),
        groups=found.groups,
        evidence=found.evidence,
        correlated=list(correlated),
        linear_order=found.linear_order,
        elimination_order=list(elimination_order),
        univariate=found.univariate,
        coverage=found.coverage,
    )


def _policy(elimination_order: Sequence[int], rows: Rows, config: TrainConfig) -> SearchPolicy:
    if not elimination_order:
        return SearchPolicy.of(config)
    return SearchPolicy.of_elimination(config, few_rows=few_rows(rows, config.proposal.elimination))
