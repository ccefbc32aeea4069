"""Cheap looks at the training rows that tell the search where to begin.

Among thousands of features a random subset almost never holds the few that matter, least of all two that matter only
together. No net is trained here: single features are judged by a line and by cosines of their rank, pairs by the
product of two lines, of two bends, and by all bends of both (`bends`), and what is found is taken out of the target
before the next look. A screen proposes and decides nothing: the operator and the selector are shown more of what it
points at, among uniform draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import torch
from torch import Tensor
from torch.nn import functional as F

from maskrank.core.data.rows import Batch, Rows
from maskrank.core.proposals.interactions import BentPairs
from maskrank.core.proposals.ridge import eliminate_by_lines
from maskrank.core.proposals.statistics import (
    AT_ONCE,
    COSINES,
    KINDS,
    as_normal,
    best_partners,
    interaction,
    lines_of,
    orthonormal,
    single_surprise,
    surprise,
    surprise_alone,
    target_directions,
    unit_length,
    values_of,
    waves_at,
)

Unit = tuple[int, ...]  # one feature, or two that belong together

_MOST_ROWS = 2048
_MOST_LOOKS = 3
_LOOK_AGAIN = 1 << 26  # values of a table that is read more than once
_PAIR_FLOPS, _MOST_PAIRED = 1e10, 6_000  # of one look at all pairs, and features in it
_PAIRS, _PARTNERS = 256, 16  # pairs that are followed up, of each kind: in all, and for each known feature
_ATOM_VALUES = 1 << 22  # of the single features that are followed up
_SHARE_OF_ROWS = 0.25  # directions that may be explained, against the rows there are
_BY_ITSELF = 0.02  # what being beyond chance by itself counts, against adding to others
_COMPANY = 10.0  # standard deviations beyond chance that make a feature a companion
_STRAIGHT_RIDGE = 1e-9  # none but for rounding
_LEAST_NEW = 0.05  # of the squared length of a column that must be left to count


@dataclass(frozen=True)
class Hint:
    """What the screens point at.

    Attributes
    ----------
    units : list of Unit
        Features and pairs, the most promising first; a feature may stand in several.
    clear : dict of Unit to float
        Those of them that are beyond chance, in the same order, and how far after those before them.
    companions : list of int
        Features that go with those of the clear units far more than chance has it, the closest first.
    straight : list of int
        Features whose lines explain most together, the last to be given up first.
    left : list of int
        Features that an elimination leaves (see `elimination`), and behind them those it gives up last.
    """

    units: list[Unit] = field(default_factory=list)
    clear: dict[Unit, float] = field(default_factory=dict)
    companions: list[int] = field(default_factory=list)
    straight: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    @property
    def features(self) -> Tensor:
        """All of them, sorted."""
        return torch.tensor(sorted({j for unit in self.units for j in unit} | set(self.companions)))

    @property
    def clear_features(self) -> list[int]:
        """Those of the clear units, in their order."""
        return list(dict.fromkeys(j for unit in self.clear for j in unit))

    def renamed(self, tried: Tensor) -> Hint:
        """The same in the places of some sorted features that hold them all."""
        place = {j: i for i, j in enumerate(tried.tolist())}
        return Hint(
            [tuple(place[j] for j in unit) for unit in self.units],
            {tuple(place[j] for j in unit): far for unit, far in self.clear.items()},
            [place[j] for j in self.companions],
            [place[j] for j in self.straight],
            [place[j] for j in self.left],
        )


@torch.no_grad()
def screen(rows: Rows, *, wanted: int, generator: torch.Generator) -> Hint:
    """Look for features and pairs that go with the target.

    Parameters
    ----------
    rows : Rows
        Training rows; at most 2,048 of them are looked at.
    wanted : int
        How many units to name by what they explain after those before them, and as many by themselves: the two
        lists in turns.
    """
    order = torch.randperm(len(rows), generator=generator)[:_MOST_ROWS].to(rows.device)
    y = rows.y[order]
    return _look(rows, order, y if y.dtype.is_floating_point else F.one_hot(y), frozenset(), wanted, _MOST_LOOKS)


@torch.no_grad()
def screen_again(rows: Rows, index: Tensor, unexplained: Tensor, hint: Hint, *, wanted: int) -> Hint:
    """Look for what goes with what is left of the target, and put what is clear there behind what was clear before.

    Parameters
    ----------
    index : Tensor (n,)
        Which rows, in random order.
    unexplained : Tensor (n, outputs)
    """
    more = _look(rows, index, unexplained, frozenset(hint.clear_features), wanted, 1)
    clear = {**hint.clear, **{unit: more.clear[unit] for unit in more.clear if unit not in hint.clear}}
    return replace(hint, units=list(dict.fromkeys([*clear, *hint.units, *more.units])), clear=clear)


@torch.no_grad()
def with_companions(rows: Rows, hint: Hint, *, most: int, generator: torch.Generator) -> Hint:
    """The hint with those features that the clear ones together tell most of."""
    clear = hint.clear_features
    if not clear:
        return hint
    index = torch.randperm(len(rows), generator=generator)[:_MOST_ROWS].to(rows.device)
    batch, n = rows.take(index), len(index)
    basis = orthonormal(lines_of(values_of(batch, torch.tensor(clear, device=rows.device))).t())  # (n, at most k)
    told = torch.cat(
        [
            (lines_of(values_of(batch, features)) @ basis).square().sum(dim=1)
            for features in torch.split(torch.arange(rows.n_features, device=rows.device), max(1, AT_ONCE // n))
        ]
    )
    k = basis.shape[1]
    far = (n * told - k) / math.sqrt(2 * k)  # in standard deviations of chance
    far[torch.tensor(clear, device=far.device)] = 0.0
    best = far.topk(min(most, len(far)))
    companions = [j for j, value in zip(best.indices.tolist(), best.values.tolist(), strict=True) if value > _COMPANY]
    return replace(hint, companions=companions)


def _look(rows: Rows, index: Tensor, y: Tensor, known: frozenset[int], wanted: int, looks: int) -> Hint:
    batch, d = rows.take(index), rows.n_features  # in random order, so that equal values are so, too
    rest = _Rest.of(target_directions(y))
    units: dict[Unit, float] = {}
    alone = surprise_alone(batch, d, rest.directions())
    for look in range(1, looks + 1):
        singles = alone if look == 1 else surprise_alone(batch, d, rest.directions())
        now_known = known | {j for unit in units for j in unit}
        atoms = _Atoms.promising(batch, singles, rest.directions(), sorted(now_known))
        before = len(units)
        atoms.explain(rest, units, wanted, beyond_chance=True, known=known)
        if len(units) in (before, wanted) or look == looks or len(batch) * d > _LOOK_AGAIN:
            atoms.explain(rest, units, wanted, beyond_chance=False, known=known)
            break
    best = alone.topk(min(wanted, d))
    by_themselves = {(j,): value for j, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)}
    both = {**{unit: _BY_ITSELF * value for unit, value in by_themselves.items()}, **units}
    straight = _straight(batch, alone, target_directions(y), steps=wanted)
    listed = in_turns(units, by_themselves, [(j,) for j in straight])
    return Hint(listed, {unit: both[unit] for unit in listed if both.get(unit, 0.0) > 0}, straight=straight)


def in_turns(*lists: Iterable[Unit]) -> list[Unit]:
    """The first of each list, then the second, ...; each unit once."""
    return list(dict.fromkeys(unit for turn in zip_longest(*lists) for unit in turn if unit is not None))


def _straight(batch: Batch, alone: Tensor, target: Tensor, *, steps: int) -> list[int]:
    """Features in the order in which their lines would be given up, the last first, of those taken in one by one."""
    n = len(batch)
    ranked = alone.argsort(descending=True, stable=True)[: max(1, _ATOM_VALUES // n)]
    lines = lines_of(values_of(batch, ranked))
    none = ranked.new_zeros((0, 2))
    atoms = _Atoms(len(alone), ranked, none, lines[:0], lines, cosines=0)
    taken: dict[Unit, float] = {}
    atoms.explain(_Rest.of(target), taken, steps, beyond_chance=False)
    features = torch.tensor([j for (j,) in taken], device=ranked.device)
    if not len(features):
        return []
    order = eliminate_by_lines(lines_of(values_of(batch, features)), target, 0, ridge=_STRAIGHT_RIDGE)
    return features[order].tolist()


@dataclass
class _Rest:
    """What of the target is not explained yet."""

    target: Tensor  # (n, q)
    basis: Tensor  # (n, used), orthonormal

    @classmethod
    def of(cls, target: Tensor) -> _Rest:
        return cls(target, target[:, :0])

    def directions(self) -> Tensor:
        """An orthonormal basis: (n, at most q)."""
        return orthonormal(self.target)

    def explain(self, columns: Tensor) -> Tensor:
        """Take some columns out of the target; returns the directions that are new in them: (n, new)."""
        for _ in range(2):  # the second time for what rounding left
            columns = columns - self.basis @ (self.basis.t() @ columns)
        new = orthonormal(columns, least=0.5 * math.sqrt(_LEAST_NEW))
        self.target = self.target - new @ (new.t() @ self.target)
        self.basis = torch.cat([self.basis, new], dim=1)
        return new


@dataclass
class _Atoms:
    """The units that are followed up: the line and five cosines of each feature, products of pairs, and bent pairs."""

    d: int
    features: Tensor  # (k,)
    pairs: Tensor  # (p, 2)
    products: Tensor  # (p, n)
    columns: Tensor  # (k + 5k + p, n), each of length 1 or 0: of a pair, what is new in its product
    cosines: int = COSINES  # of each feature
    bent: BentPairs | None = None

    @classmethod
    def promising(cls, batch: Batch, singles: Tensor, directions: Tensor, known: list[int]) -> _Atoms:
        """Those of the best single features, and of pairs: among as many as is quickly done, and with the known."""
        n, q = len(batch), max(1, directions.shape[1])
        n_pairs = min(_MOST_PAIRED, max(2, int(math.sqrt(_PAIR_FLOPS / (2 * n * q)))))
        n_singles = max(1, _ATOM_VALUES // ((COSINES + 1) * n))
        ranked = singles.argsort(descending=True, stable=True)[: max(n_pairs, n_singles)]
        x = values_of(batch, ranked)
        lines, places = lines_of(x), x.argsort(dim=1)
        among_known = torch.isin(ranked[:n_pairs], torch.tensor(known, device=ranked.device)).nonzero().squeeze(1)
        pairs, products, interactions = [], [], []
        for table in (lines[:n_pairs], waves_at(places[:n_pairs], 2)):
            partners = best_partners(
                [(table, table)], lines[:n_pairs], directions, among_known, pairs=_PAIRS, partners=_PARTNERS
            )
            first, second = partners.unbind(dim=1)
            pairs.append(ranked[partners])
            products.append(unit_length(table[first] * table[second]))
            interactions.append(interaction(products[-1].unsqueeze(1), first, second, lines, places).squeeze(1))
        curves = torch.stack([waves_at(places[:n_singles], k) for k in range(1, COSINES + 1)], dim=1).flatten(0, 1)
        columns = torch.cat([lines[:n_singles], curves, *interactions])
        bent = BentPairs.promising(ranked[:n_pairs], lines[:n_pairs], places[:n_pairs], directions, among_known)
        return cls(len(singles), ranked[:n_singles], torch.cat(pairs), torch.cat(products), columns, bent=bent)

    def explain(
        self,
        rest: _Rest,
        units: dict[Unit, float],
        wanted: int,
        *,
        beyond_chance: bool,
        known: frozenset[int] = frozenset(),
    ) -> None:
        """Add the units that explain most of the rest, one after the other, and how surprising each is.

        What one explains is taken out of the target and of the others: a feature that goes with the target only
        through a better one loses its promise, and a weak one gains when the strong ones are out of the way.

        Parameters
        ----------
        beyond_chance : bool
            Whether to end where what is explained may well be chance.
        known : set of int
            Features that are known to matter, besides those of the units.
        """
        n = self.columns.shape[1]
        new = self.columns.square().sum(dim=1) - (self.columns @ rest.basis).square().sum(dim=1)  # squared lengths
        if self.bent is not None:
            self.bent.without(rest.basis)
        while len(units) < wanted and rest.basis.shape[1] < _SHARE_OF_ROWS * n:
            directions = rest.directions()
            if directions.shape[1] == 0:
                break
            now_known = known | {j for unit in units for j in unit}
            surprises = self._surprises(directions, new, n - rest.basis.shape[1], now_known)
            best = int(surprises.argmax())
            if float(surprises[best]) <= (0 if beyond_chance else -torch.inf):
                break
            taken_out = rest.explain(self._columns_of(best))
            if taken_out.shape[1] == 0:
                break
            units.setdefault(self._unit(best), float(surprises[best]))
            new -= (self.columns @ taken_out).square().sum(dim=1)
            if self.bent is not None:
                self.bent.take_out(taken_out)

    def _surprises(self, directions: Tensor, new: Tensor, n: int, known: frozenset[int]) -> Tensor:
        """Of all units, each among as many as there are of its kind; a pair with a known feature, among those."""
        k, q = len(self.features), directions.shape[1]
        explained = n * (self.columns @ directions).square().sum(dim=1) / new.clamp(min=_LEAST_NEW)
        evidence = as_normal(explained, q)
        with_known = torch.isin(self.pairs, self.pairs.new_tensor(sorted(known))).any(dim=1)
        among = torch.where(with_known, float(KINDS * self.d * max(1, len(known))), KINDS * self.d * (self.d - 1) / 2)
        line, curve, pair = torch.split(evidence, [k, self.cosines * k, len(self.pairs)])
        single = single_surprise(torch.cat([line.unsqueeze(1), curve.view(k, self.cosines)], dim=1), self.d)
        surprises = torch.cat([single[:, 0], single[:, 1:].flatten(), surprise(pair, among)])
        surprises = surprises.masked_fill(new < _LEAST_NEW, -torch.inf)
        if self.bent is None:
            return surprises
        return torch.cat([surprises, self.bent.surprises(directions, n, self.d, self.pairs.new_tensor(sorted(known)))])

    def _columns_of(self, place: int) -> Tensor:
        """What is explained with a unit: (n, 1), of a pair its product, too: (n, 2), of a bent pair (n, 8)."""
        if self.bent is not None and place >= len(self.columns):
            return self.bent.columns[place - len(self.columns)].t()
        pair = place - (self.cosines + 1) * len(self.features)
        columns = [self.columns[place]] if pair < 0 else [self.columns[place], self.products[pair]]
        return torch.stack(columns, dim=1)

    def _unit(self, place: int) -> Unit:
        """The feature or the pair of a place."""
        k = len(self.features)
        if place < k:
            return (int(self.features[place]),)
        if place < (self.cosines + 1) * k:
            return (int(self.features[(place - k) // self.cosines]),)
        pairs = self.pairs if self.bent is None else torch.cat([self.pairs, self.bent.pairs])
        first, second = sorted(pairs[place - (self.cosines + 1) * k].tolist())
        return first, second
