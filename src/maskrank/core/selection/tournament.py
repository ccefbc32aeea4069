"""A tournament between candidate subsets, each with small nets of its own, on rows they did not learn from.

The operator serves every subset at once, and what is hard to learn may drown in it. Where m_opt leaves out something
of the proposal, subsets that take it in compete with m_opt. Held-out losses decide, together with the evidence of the
screens; where backward elimination has proposed a whole subset, held-out losses decide alone. (The elimination has
seen the rows that judge it, which is some advantage; the validation rows have not, and tell what the choice is worth.)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.config import TournamentConfig
from maskrank.core.data.weights import error_of_mean, mean_of_rows
from maskrank.core.method.search import subset_importance
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.cross_fitting import cross_fit, enough_rows
from maskrank.core.proposals.proposal import FeatureGroup, Proposal


def hold_tournament(trainer: DualNetTrainer, optimal: Tensor, proposal: Proposal) -> Tensor:
    """Let subsets that follow the proposal compete with m_opt, round after round, while one of them wins."""
    config, policy = trainer.config.tournament, proposal.policy
    best = optimal
    may_compete = config.enabled and enough_rows(trainer.rows, trainer.config.cross_fitting)
    for _ in range(policy.tournament_rounds if may_compete else 0):
        if proposal.is_satisfied_by(best.tolist()):
            break
        candidates = torch.tensor(
            [tuple(best.tolist()), *_candidates(best, proposal, _by_importance(trainer, best, proposal), config)],
            device=best.device,
        )
        evidence = evidence_for(candidates, proposal, correlated=config.correlated_evidence)
        hopeful = evidence >= config.min_evidence_share * evidence[0]
        candidates, evidence = candidates[hopeful], evidence[hopeful]
        if len(candidates) == 1:
            break
        fitted = cross_fit(
            trainer.task,
            trainer.rows,
            trainer.pool.places(candidates),
            config=trainer.config,
            generator=trainer.generator,
            max_steps=policy.cross_fitting_steps,
        )
        margin = config.evidence_margin if config.weighs_evidence else math.inf
        winner = candidates[
            best_candidate(fitted.losses, evidence, margin=margin, weights=fitted.weights, groups=fitted.groups)
        ]
        if torch.equal(winner, best):
            break
        best = winner
    return best


def best_candidate(
    losses: Tensor,
    evidence: Tensor,
    *,
    margin: float,
    weights: Tensor | None = None,
    groups: Tensor | None = None,
) -> int:
    """The lowest mean loss, unless another candidate has enough more evidence to make up for its higher one.

    Both are log-likelihoods: a mean that lies z standard errors higher speaks with z²/2 against a subset, and the
    evidence is half a squared normal number, corrected for multiple tests.

    Parameters
    ----------
    losses : Tensor (candidates, n)
    evidence : Tensor (candidates,)
    margin : float
        By which the sum of both must be higher to win.
    weights, groups : Tensor (n,), optional
        Of the rows.
    """
    lowest = int(mean_of_rows(losses, weights).argmin())
    apart = losses - losses[lowest]  # (candidates, n)
    errors = error_of_mean(apart, weights, groups).clamp(min=1e-12)
    support = evidence - (mean_of_rows(apart, weights) / errors).square() / 2
    best = int(support.argmax())
    return best if support[best] >= support[lowest] + margin else lowest


def evidence_for(subsets: Tensor, proposal: Proposal, *, correlated: float = 0.0) -> Tensor:
    """The evidence of the significant groups that each subset holds, in sum: (subsets,). 0 where it does not count.

    Parameters
    ----------
    correlated : float
        What each feature counts that the significant ones predict. The features that a subset would hold in its place
        were the best of many by chance, on these rows, and look better there than they are.
    """
    if not proposal.policy.weighs_evidence:
        return torch.zeros(len(subsets), device=subsets.device)
    held = [set(subset) for subset in subsets.tolist()]
    sums = [
        sum(value for group, value in proposal.evidence.items() if some.issuperset(group))
        + correlated * len(some.intersection(proposal.correlated))
        for some in held
    ]
    return torch.tensor(sums, dtype=torch.float32, device=subsets.device)


def _by_importance(trainer: DualNetTrainer, best: Tensor, proposal: Proposal) -> list[int]:
    """The features of m_opt, those that should leave it last in front: significant ones, then by importance."""
    places = trainer.pool.places(best)
    importance = dict(zip(best.tolist(), subset_importance(trainer.selector, places)[places].tolist(), strict=True))
    significant = set(proposal.significant)
    return sorted(best.tolist(), key=lambda j: (j not in significant, -importance[j]))


def _candidates(best: Tensor, proposal: Proposal, own: list[int], config: TournamentConfig) -> list[tuple[int, ...]]:
    """Candidate subsets, filled up with features of m_opt.

    The survivors of the elimination, with and without the significant pairs; all significant groups, with and without
    correlated features; the linear elimination order; and, where evidence counts, one, two, ... of the groups that
    m_opt lacks, and each of them alone.
    """
    inside, significant = best.tolist(), list(proposal.evidence)
    fills: list[tuple[list[FeatureGroup], list[int]]] = []
    if proposal.elimination_order:
        pairs = [group for group in significant if len(group) > 1]
        survivors = [*proposal.elimination_order, *own]
        fills += [([], survivors), (pairs, survivors)]
    fills += [
        (significant, own),
        (significant, [*proposal.correlated, *own]),
        ([], [*proposal.linear_order, *own]),
    ]
    if proposal.policy.weighs_evidence:
        missing = [group for group in significant if not set(inside).issuperset(group)]
        for k, group in enumerate(missing, 1):
            fills += [([group], own), (missing[:k], own)]
    subsets = (tuple(_filled(groups, others, len(inside))) for groups, others in fills)
    return [subset for subset in dict.fromkeys(subsets) if subset != tuple(inside)][: config.n_candidates]


def _filled(groups: list[FeatureGroup], others: list[int], size: int) -> list[int]:
    """A subset of these groups, as many as it has room for, and of the first ones of the others: sorted."""
    chosen: list[int] = []
    for group in [*groups, *((j,) for j in others)]:
        new = [j for j in group if j not in chosen]
        if len(chosen) + len(new) <= size:
            chosen += new
    return sorted(chosen)
