"""When the screens saw something that the search left out: a contest between nets of their own.

The operator serves every subset at once, and what is hard to learn may drown in it. Where features or pairs beyond
chance are missing from m_opt, or those whose lines explain most together, subsets that take them in compete with it,
each with small nets of its own. A net is judged on training rows that it did not learn from, so that a feature which
only seemed to help does not win.

Where an elimination proposes a subset (see `plan`), that one competes, and the nets alone decide: no feature stands
out there that must not be missed. It has seen the rows that judge, so it has some advantage; the rows held out have
not, and tell what the choice is worth.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.method.search import subset_importance
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.cross_fitting import cross_fit, enough_rows
from maskrank.core.proposals.planning import Hint, Unit
from maskrank.core.selection.calibration import polish_selector

_MOST_ROUNDS = 2
_CHALLENGERS = 9  # of a round
_HOPE = 0.5  # of what the screens saw in m_opt that they must see in a challenger
_SEEN_MORE = 0.5  # by how much further beyond chance something must be to count
_SETTLING, _SHORT_SETTLING = 160, 80  # operator batches around a new m_opt
_SHORT_STEPS = 200  # of the nets, where they judge an elimination


def hold_contest(trainer: DualNetTrainer, optimal: Tensor, hint: Hint) -> Tensor:
    """Let subsets with clear units compete with m_opt, round after round, while one of them wins.

    If m_opt changes, the operator is trained on around it, and the selector's scores follow.
    """
    best = optimal
    rounds = 1 if hint.left else _MOST_ROUNDS
    for _ in range(rounds if enough_rows(trainer.rows, trainer.config.cross_fitting) else 0):
        if _nothing_missing(best, hint):
            break
        importance = subset_importance(trainer.selector, best)
        finalists = torch.tensor([tuple(best.tolist()), *_challengers(best, hint, importance)], device=best.device)
        seen = torch.zeros(len(finalists), device=best.device) if hint.left else _seen(finalists, hint)
        hopeful = seen >= _HOPE * seen[0]
        finalists, seen = finalists[hopeful], seen[hopeful]
        if len(finalists) == 1:
            break
        fitted = cross_fit(
            trainer.task,
            trainer.rows,
            finalists,
            config=trainer.config,
            generator=trainer.generator,
            max_steps=_SHORT_STEPS if hint.left else trainer.config.cross_fitting.steps,
        )
        winner = finalists[_winner(fitted.losses, seen)]
        if torch.equal(winner, best):
            break
        best = winner
    if torch.equal(best, optimal):
        return optimal
    settle(trainer, best, batches=_SHORT_SETTLING if hint.left else _SETTLING)
    return polish_selector(trainer, best, search=False)


def _nothing_missing(best: Tensor, hint: Hint) -> bool:
    """Whether a subset holds all clear units, and, in the places they leave, the straight features it has room for.

    Where there is an elimination, whether the subset is what that leaves.
    """
    inside = set(best.tolist())
    if hint.left:
        return inside == set(hint.left[: len(inside)])
    if not all(inside.issuperset(unit) for unit in hint.clear):
        return False
    return inside.issubset(hint.clear_features) or inside.issuperset(hint.straight[: len(inside)])


def _winner(losses: Tensor, seen: Tensor) -> int:
    """The lowest mean loss, unless the screens saw enough more in another to make up for its higher one.

    Both are on the scale of log-likelihoods: a mean that lies z standard errors higher speaks with z²/2 against a
    subset, and what the screens saw in it is half a square of a normal number, less what chance has its choice of.

    Parameters
    ----------
    losses : Tensor (finalists, n)
    seen : Tensor (finalists,)
    """
    lowest = int(losses.mean(dim=1).argmin())
    apart = losses - losses[lowest]  # (finalists, n)
    errors = (apart.std(dim=1) / math.sqrt(losses.shape[1])).clamp(min=1e-12)
    worth = seen - (apart.mean(dim=1) / errors).square() / 2
    best = int(worth.argmax())
    return best if worth[best] >= worth[lowest] + _SEEN_MORE else lowest


def _seen(subsets: Tensor, hint: Hint) -> Tensor:
    """How far the clear units of each subset are beyond chance, in sum: (subsets,)."""
    held = [set(subset) for subset in subsets.tolist()]
    sums = [sum(far for unit, far in hint.clear.items() if some.issuperset(unit)) for some in held]
    return torch.tensor(sums, dtype=torch.float32, device=subsets.device)


def _challengers(best: Tensor, hint: Hint, importance: Tensor) -> list[tuple[int, ...]]:
    """Subsets of the clear units alone; with one, two, ... of those that are missing; with each of these.

    What is left of the room goes to the features of m_opt, or to companions of the clear ones. Where there is an
    elimination, what that leaves, with and without the clear pairs, and the clear units alone.
    """
    inside = best.tolist()
    missing = [unit for unit in hint.clear if not set(inside).issuperset(unit)]
    clear = set(hint.clear_features)
    own = sorted(inside, key=lambda j: (j not in clear, -float(importance[j])))  # the last to leave comes first
    groups: list[tuple[list[Unit], list[int]]] = [
        ([], [*hint.left, *own]),
        ([unit for unit in hint.clear if hint.left and len(unit) > 1], [*hint.left, *own]),
        (list(hint.clear), own),
        (list(hint.clear), [*hint.companions, *own]),
        ([], [*hint.straight, *own]),
    ]
    for k, unit in enumerate([] if hint.left else missing, 1):
        groups += [([unit], own), (missing[:k], own)]
    subsets = (tuple(_filled(units, rest, len(inside))) for units, rest in groups)
    return [subset for subset in dict.fromkeys(subsets) if subset != tuple(inside)][:_CHALLENGERS]


def _filled(units: list[Unit], rest: list[int], size: int) -> list[int]:
    """A subset of these units, as many as it has room for, and of the first ones of the rest: sorted."""
    chosen: list[int] = []
    for unit in [*units, *((j,) for j in rest)]:
        new = [j for j in unit if j not in chosen]
        if len(chosen) + len(new) <= size:
            chosen += new
    return sorted(chosen)


def settle(trainer: DualNetTrainer, optimal: Tensor, *, batches: int) -> None:
    """Train the operator on around a subset, at a rate that falls to 0."""
    config, optimizer = trainer.config, trainer.operator_optimizer
    batches = min(batches, config.max_batches)
    for batch in range(batches):
        optimizer.rate = config.operator_rate * (1 - batch / batches)
        trainer.operator_step(trainer.propose(optimal, optimal, 1)[0])
