"""Before training: which features are tried, and how subsets of them are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.crossfit import crossfit, enough_rows
from maskrank.core.exploration import Exploration, HintedExploration, UniformExploration
from maskrank.core.losses import Task
from maskrank.core.rows import Rows
from maskrank.core.screens import Hint, screen, screen_again, with_companions
from maskrank.core.subsets import draw_subsets, nth_outside

_OTHERS = 0.25  # features that are tried by lot, against those the screens point at
_LEAST_CHOICE = 2.5  # features there must be for each chosen one: of fewer, random subsets hold enough
_NETS_FROM = 16  # features there must be to look at what nets leave
_LOOKS_AFTER_NETS = 2


@dataclass(frozen=True)
class Plan:
    """How a search goes about.

    Attributes
    ----------
    tried : Tensor (features,)
        Which features are tried at all, sorted; everything else calls them 0, 1, ...
    exploration : Exploration
    hint : Hint
        What the screens point at; nothing, if there were none.
    """

    tried: Tensor
    exploration: Exploration
    hint: Hint

    def summary(self, d: int) -> str:
        """What the screens found among d features, in a line."""
        if not self.hint.units:
            return f"screens: none, all {d:,} features are tried"
        singles = sum(len(unit) == 1 for unit in self.hint.clear)
        pairs = len(self.hint.clear) - singles
        return f"screens: {singles} features and {pairs} pairs beyond chance; {len(self.tried):,} of {d:,} are tried"


def plan_search(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Plan:
    """All features and uniform draws; or, if the recipe has screens, those they point at and some others by lot.

    Where the features are not many against the chosen ones nothing is screened.

    Parameters
    ----------
    rows : Rows
        Training rows.
    """
    d = rows.n_features
    if not config.screens or d < _LEAST_CHOICE * size:
        return Plan(torch.arange(d), UniformExploration(d, size, generator), Hint([], {}, [], []))
    hint = _look(task, rows, size, config=config, generator=generator)
    hinted = hint.features
    n_others = math.ceil(_OTHERS * len(hinted))
    if len(hinted) + n_others >= d:
        tried = torch.arange(d)
    else:
        others = draw_subsets(1, d - len(hinted), n_others, generator=generator)[0]
        tried = torch.cat([hinted, nth_outside(hinted, others)]).sort().values
    hint = hint.renamed(tried)
    return Plan(tried, HintedExploration(hint.units, len(tried), size, generator), hint)


def _look(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Hint:
    """What the screens point at, in the target and in what nets on the clear features leave of it."""
    wanted = 2 * size + 16
    hint = screen(rows, wanted=wanted, generator=generator)
    known: list[int] = []
    if rows.n_features < _NETS_FROM or not enough_rows(rows):
        return replace(hint, straight=[])
    for _ in range(_LOOKS_AFTER_NETS):
        clear = sorted(hint.clear_features)
        if not clear or clear == known:
            break
        known = clear
        subset = torch.tensor([known], device=rows.device)
        fitted = crossfit(task, rows, subset, config=config, generator=generator)
        if not bool(fitted.unexplained.isfinite().all()):
            break
        hint = screen_again(rows, fitted.rows, fitted.unexplained[0], hint, wanted=wanted)
    return with_companions(rows, hint, most=size, generator=generator)
