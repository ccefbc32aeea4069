"""Shapley shares (Shapley 1953) of a cooperative game, and their standard errors.

A game gives each row a value for each subset of the players: the chosen features. A player's share of a row is what it
adds to those before it, averaged over all orders; its share of the game is the mean over the rows. For few players all
subsets are evaluated. For many, orders are drawn in antithetic pairs, an order and its reverse (Mitchell, Cooper, Frank
and Holmes, 2022), each row its own, so that the scatter between the rows holds the error of sampling, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

import torch
from torch import Tensor

from maskrank.core import limits

# (subsets, rows, players) of bool -> (subsets, rows), or (subsets, rows, outputs) for several games in one; the empty
# subset's value is 0.
Game = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Shares:
    """What each player adds to the value of all.

    Attributes
    ----------
    values : Tensor (s,)
        Of sum ``total``.
    errors : Tensor (s,)
        Standard errors, of rows and of sampling together.
    total : float
        The value of all players together, v(m*) - v(∅).
    of_rows : Tensor (n, s)
        The shares of each row, whose means are the values.
    """

    values: Tensor
    errors: Tensor
    total: float
    of_rows: Tensor

    @classmethod
    def of(cls, of_rows: Tensor) -> Shares:
        """The means of the rows' shares: (n, s)."""
        of_rows = of_rows.double()
        n = len(of_rows)
        values = of_rows.mean(dim=0)
        errors = of_rows.std(dim=0) / math.sqrt(n) if n > 1 else torch.full_like(values, torch.inf)
        return cls(values, errors, float(values.sum()), of_rows)

    def non_negative(self, possible: Tensor | None = None, n_required: int = 0) -> Tensor:
        """The nearest shares that are not below 0, of the same sum: (s,).

        A predictor may ignore a feature, so that none is worth less than nothing; an estimate below 0 is noise. The
        Euclidean projection takes the same amount from all others, which keeps their order, and never leads away from
        shares that are not negative themselves. Where all players together have no value, all shares are 0. The sum of
        the required players is kept, too, and that of the others, unless one of the sums is negative itself.

        Parameters
        ----------
        possible : Tensor (s,) of bool, optional
            Players that may have a share; a feature that does not vary has none.
        n_required : int
            The last so many players are required.
        """
        possible = torch.ones_like(self.values, dtype=torch.bool) if possible is None else possible
        n_others = len(self.values) - n_required
        of_required = min(max(float(self.values[n_others:].sum()), 0.0), max(self.total, 0.0))
        shares = torch.zeros_like(self.values)
        for part, total in ((slice(n_others), self.total - of_required), (slice(n_others, None), of_required)):
            shares[part] = _projected(self.values[part], total, possible[part])
        return shares


def in_precedence(game: Game, n: int, s: int, n_required: int) -> list[tuple[Game, int]]:
    """The games whose shares are those of a game in which the required players come before all others in every order.

    The others play for what they add to all required ones; these play among themselves, without the others. All shares
    together add up to the value of all players.

    Parameters
    ----------
    game : Game
    n, s : int
        Rows and players.
    n_required : int
        The last so many players come first.

    Returns
    -------
    list of (Game, int)
        The games and their numbers of players: of the others, then of the required ones, if there are any.
    """
    if not n_required:
        return [(game, s)]

    def of_required(masks: Tensor) -> Tensor:
        return game(torch.cat([masks.new_zeros((*masks.shape[:-1], s - n_required)), masks], dim=-1))

    with torch.no_grad():
        without_others = of_required(torch.ones((1, n, n_required), dtype=torch.bool))

    def of_others(masks: Tensor) -> Tensor:
        return game(torch.cat([masks, masks.new_ones((*masks.shape[:-1], n_required))], dim=-1)) - without_others

    return [(of_others, s - n_required), (of_required, n_required)]


def exact_shares(game: Game, n: int, s: int) -> Shares:
    """Shares by the values of all subsets.

    Parameters
    ----------
    game : Game
    n : int
        Rows.
    s : int
        Players; 2^s subsets are evaluated.
    """
    return Shares.of(exact_row_shares(game, n, s))


@torch.no_grad()
def exact_row_shares(game: Game, n: int, s: int) -> Tensor:
    """Each row's shares, by the values of all subsets: (n, s), or (n, s, outputs)."""
    numbers = torch.arange(1, 2**s)
    subsets = (numbers.unsqueeze(1) >> torch.arange(s)) & 1  # (2^s - 1, s)
    weights = _subset_weights(subsets)
    parts = zip(_split(subsets.bool(), n * s), _split(weights, n * s), strict=True)
    return reduce(torch.add, (_weighted(game(some.unsqueeze(1).expand(-1, n, -1)), weight) for some, weight in parts))


@torch.no_grad()
def sampled_shares(
    game: Game,
    n: int,
    s: int,
    *,
    min_pairs: int,
    max_pairs: int,
    sampling_share: float,
    generator: torch.Generator,
) -> Shares:
    """Shares by random orders of the players, until sampling adds little to the scatter between the rows.

    Parameters
    ----------
    game : Game
    n, s : int
        Rows and players.
    min_pairs, max_pairs : int
        Antithetic pairs of orders of each row.
    sampling_share : float
        Share of the variance that may be due to sampling.
    """
    pairs: list[Tensor] = []
    for drawn in range(1, max_pairs + 1):
        order = torch.rand((n, s), generator=generator).argsort(dim=1)
        pairs.append(antithetic_gains(game, order))
        if drawn >= max(2, min_pairs) and _share_of_sampling(torch.stack(pairs)) <= sampling_share:
            break
    return Shares.of(torch.stack(pairs).mean(dim=0))


@torch.no_grad()
def antithetic_gains(game: Game, order: Tensor) -> Tensor:
    """What each player adds to those before it, the mean of an order and its reverse.

    Parameters
    ----------
    game : Game
    order : Tensor (n, s)
        The players in each row's order.

    Returns
    -------
    Tensor (n, s) or (n, s, outputs)
    """
    return (_gains(game, order.argsort(dim=1)) + _gains(game, order.flip(1).argsort(dim=1))) / 2


def _gains(game: Game, places: Tensor) -> Tensor:
    """What each player adds to those before it: places of the players in each row's order (n, s) -> (n, s, ...)."""
    n, s = places.shape
    sizes = torch.arange(1, s + 1)
    values = torch.cat([game(places < some.view(-1, 1, 1)).double().cpu() for some in _split(sizes, n * s)])
    gains = values.diff(dim=0, prepend=torch.zeros_like(values[:1])).transpose(0, 1)  # (n, s, ...)
    return gains.gather(1, places.view(n, s, *[1] * (gains.dim() - 2)).expand_as(gains))


def _projected(values: Tensor, total: float, possible: Tensor) -> Tensor:
    """The nearest values that are not below 0, of this sum; 0 where a value is not possible: (s,)."""
    projected, some = torch.zeros_like(values), values[possible]
    if total > 0 and len(some):
        ranked = some.sort(descending=True).values
        excess = (ranked.cumsum(0) - total) / torch.arange(1, len(ranked) + 1)
        projected[possible] = (some - excess[int((ranked > excess).sum()) - 1]).clamp(min=0.0)
    return projected


def _weighted(values: Tensor, weight: Tensor) -> Tensor:
    """Sums over the subsets: (subsets, n, ...), (subsets, s) -> (n, s, ...)."""
    sums = values.double().cpu().flatten(1).t() @ weight  # (n * ..., s)
    return sums.view(*values.shape[1:], -1).movedim(-1, 1)


def _share_of_sampling(pairs: Tensor) -> float:
    """The part of the variance of the shares that more orders would remove, of the worst player: (pairs, n, s)."""
    sampling = pairs.var(dim=0).mean(dim=0) / len(pairs)
    total = pairs.mean(dim=0).var(dim=0)
    return float((sampling / total.clamp(min=1e-300)).max())


def _subset_weights(subsets: Tensor) -> Tensor:
    """Factors of the subsets' values in the players' shares, the empty subset's left out: (subsets, s)."""
    s = subsets.shape[1]
    factorial = torch.tensor(list(accumulate(range(1, s + 1), lambda a, b: a * b, initial=1)), dtype=torch.float64)
    size = subsets.sum(dim=1, keepdim=True)
    joined = factorial[size - 1] * factorial[s - size] / factorial[s]  # the player is in, and came last
    missing = factorial[size] * factorial[(s - size - 1).clamp(min=0)] / factorial[s]  # it would come next
    return torch.where(subsets.bool(), joined, -missing)


def _split(subsets: Tensor, size: int) -> tuple[Tensor, ...]:
    """Some subsets at a time, by the size of one subset's masks."""
    return torch.split(subsets, max(1, limits.MASKS // size))
