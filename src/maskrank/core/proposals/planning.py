"""Before training: which features are tried, and how subsets of them are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.data.subsets import draw_subsets, nth_outside
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.backward_elimination import eliminate, few_rows
from maskrank.core.proposals.cross_fitting import cross_fit, enough_rows
from maskrank.core.proposals.matching_pursuit import Hint, in_turns, screen, screen_again, with_companions

_OTHERS = 0.25  # features that are tried by lot, against those the screens point at
_HOLD_A_PAIR = 0.125  # share of random subsets with any two features from which on nothing has to be looked for
_NETS_FROM = 16  # features there must be to look at what nets or an elimination leave
_LOOKS_AFTER_NETS = 2
_SHORT_SEARCH = 120  # operator batches of Phase II where an elimination has proposed a subset: it is the one to beat
_PLENTY = (1.5, 8)  # clear features for each chosen one, and beyond: which of them go together is the question then


@dataclass(frozen=True)
class Plan:
    """How a search goes about.

    Attributes
    ----------
    tried : Tensor (features,)
        Which features are tried at all, sorted; everything else calls them 0, 1, ...
    hint : Hint
        What the screens point at; nothing, if there were none.
    """

    tried: Tensor
    hint: Hint

    def shortened(self, config: TrainConfig) -> TrainConfig:
        """The recipe with as many operator batches as this search may take."""
        most = config.phase1_batches + _SHORT_SEARCH
        return replace(config, max_batches=min(config.max_batches, most)) if self.hint.left else config

    def may_choose_again(self, rows: Rows) -> bool:
        """Whether an elimination was asked, and by so few rows that the held-out ones would tell it more."""
        return bool(self.hint.left) and few_rows(rows)

    def is_what_was_left(self, optimal: Tensor) -> bool:
        """Whether a subset is just what the elimination left."""
        return set(optimal.tolist()) == set(self.hint.left[: len(optimal)])

    def summary(self, d: int) -> str:
        """What the screens found among d features, in a line."""
        if not self.hint.units:
            return f"screens: none, all {d:,} features are tried"
        singles = sum(len(unit) == 1 for unit in self.hint.clear)
        pairs = len(self.hint.clear) - singles
        return f"screens: {singles} features and {pairs} pairs beyond chance; {len(self.tried):,} of {d:,} are tried"


def plan_search(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Plan:
    """All features and uniform draws; or, if the recipe has screens, those they point at and some others by lot.

    Where the features are not many against the chosen ones nothing is screened. There, and where far more single
    features are clear than can be chosen, an elimination proposes some that go well together.

    Parameters
    ----------
    rows : Rows
        Training rows.
    """
    d = rows.n_features
    if not config.proposal.enabled:
        return Plan(torch.arange(d), Hint())
    if size * (size - 1) > _HOLD_A_PAIR * d * (d - 1):
        asked = d >= _NETS_FROM and enough_rows(rows)
        left = eliminate(task, [rows], size, wanted=size, generator=generator) if asked else []
        return Plan(torch.arange(d), Hint(left=left))
    hint = _look(task, rows, size, config=config, generator=generator)
    tried = with_others(hint.features, d, generator)
    hint = hint.renamed(tried)
    return Plan(tried, hint)


def with_others(hinted: Tensor, d: int, generator: torch.Generator) -> Tensor:
    """Some sorted features and a quarter as many others by lot, of d; all, where these are not many more: sorted."""
    n_others = math.ceil(_OTHERS * len(hinted))
    if len(hinted) + n_others >= d:
        return torch.arange(d)
    others = draw_subsets(1, d - len(hinted), n_others, generator=generator)[0]
    return torch.cat([hinted, nth_outside(hinted, others)]).sort().values


def n_wanted(size: int) -> int:
    """How many units the looks are asked for."""
    return 2 * size + 16


def _look(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Hint:
    """What the screens point at, in the target and in what nets on the clear features leave of it."""
    wanted = n_wanted(size)
    hint = screen(rows, wanted=wanted, generator=generator)
    if rows.n_features < _NETS_FROM or not enough_rows(rows):
        return replace(hint, straight=[])
    each, beyond = _PLENTY
    if sum(len(unit) == 1 for unit in hint.clear) >= each * size + beyond:
        left = eliminate(task, [rows], size, wanted=wanted, generator=generator)
        if left:
            return replace(hint, units=in_turns(hint.units, [(j,) for j in left]), straight=[], left=left)
    known: list[int] = []
    for _ in range(_LOOKS_AFTER_NETS):
        clear = sorted(hint.clear_features)
        if not clear or clear == known:
            break
        known = clear
        subset = torch.tensor([known], device=rows.device)
        fitted = cross_fit(task, rows, subset, config=config, generator=generator)
        if not bool(fitted.unexplained.isfinite().all()):
            break
        hint = screen_again(rows, fitted.rows, fitted.unexplained[0], hint, wanted=wanted)
    return with_companions(rows, hint, most=size, generator=generator)
