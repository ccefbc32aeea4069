"""Which rows the nets behind the scores learn from, and which rows judge them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.data.grouping import count_groups, deal_folds
from maskrank.core.data.weights import WeightedDraws, normalised


@dataclass(frozen=True)
class ScoredRows:
    """Row numbers, one line a fold: what each net learns from, and the rows on which it is judged.

    Attributes
    ----------
    learned : Tensor (folds, rows learned from)
    held_out : Tensor (folds, rows held out)
    drawn : Tensor (folds, rows learned from), optional
        Weights by which rows are drawn; 0 for those that only fill a line up.
    weights : Tensor (folds, rows held out), optional
        Weights of the judging rows, of mean 1; 0 for those that only fill a line up.
    groups : Tensor (folds, rows held out), optional
        Of the judging rows.
    """

    learned: Tensor
    held_out: Tensor
    drawn: Tensor | None = None
    weights: Tensor | None = None
    groups: Tensor | None = None

    def draws(self, generator: torch.Generator) -> Callable[[int], Tensor]:
        """A function that draws so many rows for each fold, of those it learns from: n -> (folds, n)."""
        n_folds, n_rows = self.learned.shape
        folds = torch.arange(n_folds, device=self.learned.device).unsqueeze(1)
        weighted = None if self.drawn is None else WeightedDraws(self.drawn)

        def draw(n: int) -> Tensor:
            if weighted is None:
                places = torch.randint(n_rows, (n_folds, n), generator=generator)
            else:
                places = weighted.places((n_folds, n), generator=generator)
            return self.learned[folds, places.to(self.learned.device)]

        return draw

    def weighted(self, weights: Tensor | None) -> ScoredRows:
        """The same rows with the weights of the table: (n,)."""
        if weights is None:
            return self
        drawn, judging = weights[self.learned], weights[self.held_out]
        drawn = drawn if self.drawn is None else drawn * self.drawn
        judging = judging if self.weights is None else judging * self.weights
        return replace(self, drawn=drawn, weights=normalised(judging))


def cross_fitted_rows(
    y: Tensor, *, n_folds: int, max_held_out: int, generator: torch.Generator, groups: Tensor | None = None
) -> ScoredRows:
    """Folds that each hold out another part of the rows, with its share of every class or of small and large targets.

    A few rows more than a multiple of the folds are never held out.

    Parameters
    ----------
    y : Tensor (n,) or (n, outputs)
    max_held_out : int
        Of a larger fold, so many rows are judged.
    groups : Tensor (n,) of int, optional
        Rows of one group are in one fold; of fewer groups than folds, a fold each.
    """
    if groups is not None and count_groups(groups) > 1:
        return _grouped_rows(y, groups, n_folds=n_folds, max_held_out=max_held_out, generator=generator)
    n, n_folds = len(y), min(n_folds, len(y))
    mixed = torch.randperm(n, generator=generator)
    order = mixed[y.cpu().reshape(n, -1)[mixed, 0].argsort(stable=True)]
    parts = order[: n // n_folds * n_folds].view(-1, n_folds).t()  # (folds, rows)
    rest = order[parts.numel() :]
    learned = [torch.cat([parts[:f].flatten(), parts[f + 1 :].flatten(), rest]) for f in range(n_folds)]
    some = torch.randperm(parts.shape[1], generator=generator)[: max(1, max_held_out)]
    return ScoredRows(torch.stack(learned).to(y.device), parts[:, some].to(y.device))


def _grouped_rows(
    y: Tensor, groups: Tensor, *, n_folds: int, max_held_out: int, generator: torch.Generator
) -> ScoredRows:
    """Folds of whole groups; lines of fewer rows are filled up with rows that do not count."""
    n_folds = min(n_folds, count_groups(groups))
    fold = deal_folds(groups, y, n_folds, generator=generator).cpu()
    mixed = torch.randperm(len(y), generator=generator)
    inside = [mixed[fold[mixed] == f] for f in range(n_folds)]
    outside = [mixed[fold[mixed] != f] for f in range(n_folds)]
    learned, drawn = _filled_up(outside)
    held_out, weights = _filled_up([rows[: max(1, max_held_out)] for rows in inside])
    judging = groups[held_out.to(groups.device)]
    return ScoredRows(*(some.to(y.device) for some in (learned, held_out, drawn, normalised(weights), judging)))


def _filled_up(lists: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Lists of rows as lines of one length, and 1 for a row of a list, 0 for one that fills its line up."""
    places = torch.arange(max(len(rows) for rows in lists))
    lines = torch.stack([rows[places % len(rows)] for rows in lists])
    return lines, torch.stack([(places < len(rows)).float() for rows in lists])
