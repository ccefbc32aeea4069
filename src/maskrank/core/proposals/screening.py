"""Screening: features and pairs that are associated with the target, found before any net is trained.

Among thousands of features a random subset rarely holds the few that matter, least of all two that matter only
together. A screen tests single features and pairs, takes significant ones by orthogonal matching pursuit, and screens
the residual again. It proposes and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ProposalConfig, ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Batch, Rows
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.lasso import first_of_lasso_path
from maskrank.core.proposals.matching_pursuit import Dictionary, Residual
from maskrank.core.proposals.proposal import Coverage, FeatureGroup, features_of, round_robin
from maskrank.core.proposals.ridge import eliminate_by_ridge
from maskrank.core.proposals.statistics import (
    cosine_of_ranks,
    explained_by,
    how_many_fit,
    orthonormal_basis,
    orthonormal_blocks,
    split_features,
    standardised,
    target_directions,
    values_of,
    weighted_rows,
    without_empty_rows,
)
from maskrank.core.proposals.top_list import Workers
from maskrank.core.proposals.univariate import univariate_evidence
from maskrank.core.proposals.wide_search import WideSearch


@dataclass(frozen=True)
class Screen:
    """What a screen found; see `Proposal` for the attributes.

    ``partners`` are features of pairs that a wide search found; they are paired in later screens, too.
    """

    groups: list[FeatureGroup] = field(default_factory=list)
    evidence: dict[FeatureGroup, float] = field(default_factory=dict)
    linear_order: list[int] = field(default_factory=list)
    univariate: Tensor | None = None
    partners: Tensor | None = None
    coverage: Coverage | None = None

    @property
    def significant(self) -> list[int]:
        """Features of the significant groups, in their order."""
        return features_of(self.evidence)


def groups_wanted(size: int, config: ScreeningConfig) -> int:
    """How many feature groups a screen is asked for, when s features are to be selected."""
    return config.groups_per_feature * size + config.extra_groups


@torch.no_grad()
def screen(
    task: Task,
    rows: Rows,
    *,
    wanted: int,
    config: ProposalConfig,
    generator: torch.Generator,
    size: int | None = None,
    workers: Workers | None = None,
) -> Screen:
    """Screen the target.

    Parameters
    ----------
    rows : Rows
        Training rows; of many, some are drawn. Their weights are in the target that is screened.
    wanted : int
        Groups by evidence given the others, single features by univariate evidence, and features of the linear
        elimination order: at most so many of each, round robin.
    config : ProposalConfig
        Its screening and its wide search, and the rounds of its elimination for the linear elimination order.
    size : int, optional
        s, for what may be looked for beyond a screen: nothing without it.
    workers : Workers, optional
        Of the wide search.
    """
    index = _draw_rows(rows, config.screening, generator)
    y = task.as_numeric(rows.y[index])
    search = None if size is None else WideSearch(size, config.screening, config.wide, workers or Workers())
    half = wanted // 2 if size is None else size
    return _screen(rows, index, y, Screen(), wanted, half, config.screening.max_passes, config, search)


@torch.no_grad()
def screen_single_features(task: Task, rows: Rows, config: ScreeningConfig) -> Tensor:
    """Evidence of each feature alone, where no more is screened: (d,). It is reproducible for the same rows."""
    index = _draw_rows(rows, config, torch.Generator().manual_seed(0))
    batch = rows.take(index)
    target = target_directions(task.as_numeric(batch.y), config, batch.weights)
    residual = _beyond_required(batch, target, config)
    return univariate_evidence(batch, rows.n_features, residual.directions(), config, residual.given)


@torch.no_grad()
def screen_residual(
    rows: Rows, index: Tensor, residual: Tensor, before: Screen, *, wanted: int, config: ProposalConfig
) -> Screen:
    """Screen the residual of a model; what is significant there comes after what was significant before.

    Parameters
    ----------
    index : Tensor (n,)
        Which rows, in random order.
    residual : Tensor (n, outputs)
        Not weighted: the weights of the rows come to it, as they do to a target.
    """
    more = _screen(rows, index, residual, before, wanted, wanted // 2, 1, config)
    new = {group: value for group, value in more.evidence.items() if group not in before.evidence}
    evidence = {**before.evidence, **new}
    return replace(before, groups=list(dict.fromkeys([*evidence, *before.groups, *more.groups])), evidence=evidence)


@torch.no_grad()
def correlated_features(
    rows: Rows, significant: Sequence[int], *, max_features: int, config: ScreeningConfig, generator: torch.Generator
) -> list[int]:
    """Other features that a linear regression on the significant ones predicts far beyond chance, closest first."""
    if not significant:
        return []
    index = _draw_rows(rows, config, generator)
    batch, n = rows.take(index), len(index)
    chosen = torch.tensor(significant, device=rows.device)
    basis = orthonormal_basis(standardised(values_of(batch, chosen), config.clip).t())  # (n, k or fewer)
    basis = basis if rows.blocks.is_single else basis[:, : max(1, int(config.max_basis_share * n))]
    parts = [
        explained_by(
            basis, standardised(values_of(batch, some), config.clip), rows.blocks.only(some), config.max_block_rank
        )
        for some in split_features(rows.blocks, rows.n_features, limits.SCREENED // n, rows.device)
    ]
    explained, rank = (torch.cat(some) for some in zip(*parts, strict=True))
    freedom = basis.shape[1] * rank
    z = (n * explained - freedom) / (2 * freedom).sqrt()  # of a chi-squared variable: its mean, twice it its variance
    z[chosen] = 0.0
    best = z.topk(min(max_features, len(z)))
    return [
        j for j, value in zip(best.indices.tolist(), best.values.tolist(), strict=True) if value > config.correlated_z
    ]


def _draw_rows(rows: Rows, config: ScreeningConfig, generator: torch.Generator) -> Tensor:
    """In random order, so that the ranks of equal values are random, too."""
    return torch.randperm(len(rows), generator=generator)[: config.max_rows].to(rows.device)


def _beyond_required(batch: Batch, target: Tensor, config: ScreeningConfig) -> Residual:
    """The target less what the required features tell of it, by their columns and cosines of numbers: (n, q)."""
    if not batch.n_required:
        return Residual.of(target, config)
    required = torch.arange(len(batch.blocks) - batch.n_required, len(batch.blocks), device=target.device)
    x, room = values_of(batch, required), max(1, int(config.max_basis_share * len(batch)))
    order = x[batch.blocks.only(required).numeric.to(x.device)].argsort(dim=1)
    effects = [standardised(x, config.clip)]
    if len(x) + config.n_main_cosines * len(order) <= room:
        effects += [cosine_of_ranks(order, k) for k in range(1, config.n_main_cosines + 1)]
    return Residual.of(target, config, orthonormal_basis(torch.cat(effects).t(), min_size=1e-2)[:, :room])


def _screen(
    rows: Rows,
    index: Tensor,
    y: Tensor,
    before: Screen,
    wanted: int,
    size: int,
    passes: int,
    config: ProposalConfig,
    search: WideSearch | None = None,
) -> Screen:
    batch, d, screening = rows.take(index), rows.n_features, config.screening
    residual = _beyond_required(batch, target_directions(y, screening, batch.weights), screening)
    univariate = univariate_evidence(batch, d, residual.directions(), screening, residual.given)
    linear_order = _linear_elimination_order(batch, univariate, residual.copy(), wanted, size, config)
    groups, partners, coverage = _pursued_groups(batch, residual, univariate, before, wanted, passes, screening, search)
    best = univariate.topk(min(wanted, d))
    singles = {(j,): value for j, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)}
    evidence = {**{group: screening.marginal_weight * value for group, value in singles.items()}, **groups}
    listed = round_robin(groups, singles, [(j,) for j in linear_order])
    significant = {group: evidence[group] for group in listed if evidence.get(group, 0.0) > 0}
    return Screen(listed, significant, linear_order, univariate, partners, coverage)


def _pursued_groups(
    batch: Batch,
    residual: Residual,
    univariate: Tensor,
    before: Screen,
    wanted: int,
    passes: int,
    config: ScreeningConfig,
    search: WideSearch | None,
) -> tuple[dict[FeatureGroup, float], Tensor | None, Coverage | None]:
    """Matching pursuit with a new dictionary for the residual of each pass, while significant groups are found.

    Then the wide search looks at the residual. The last pass goes on with groups that are not significant, up to
    ``wanted``. Besides the groups, the features of pairs that the wide search found, and what was looked at.
    """
    d, known, partners = len(univariate), frozenset(before.significant), before.partners
    groups: dict[FeatureGroup, float] = {}
    coverage = before.coverage
    for number in range(1, passes + 1):
        directions = residual.directions()
        singles = univariate
        if number > 1:
            singles = univariate_evidence(batch, d, directions, config, residual.given)
        now_known = sorted(known.union(features_of(groups)))
        atoms = Dictionary.promising(batch, singles, directions, now_known, config, partners)
        n_before = len(groups)
        atoms.pursue(residual, groups, wanted, significant_only=True, known=known)
        n_values = len(batch) * batch.blocks.n_columns
        if len(groups) in (n_before, wanted) or number == passes or n_values > config.max_reread_values:
            if search is not None:
                partners = search.partners(batch, singles, residual.directions(), groups)
                if partners is not None:
                    now_known = sorted(known.union(features_of(groups)))
                    directions = residual.directions()
                    found = Dictionary.promising(
                        batch, singles, directions, now_known, config, partners, among_partners=True
                    )
                    found.pursue(residual, groups, wanted, significant_only=True, known=known)
                search.add_tuples(batch, singles, residual, groups, wanted)
                coverage = search.coverage
            atoms.pursue(residual, groups, wanted, significant_only=False, known=known)
            break
    return groups, partners, coverage


def _linear_elimination_order(
    batch: Batch, univariate: Tensor, residual: Residual, wanted: int, size: int, config: ProposalConfig
) -> list[int]:
    """Features in reverse order of a linear backward elimination, ``wanted`` or fewer.

    The lasso path names the first ones. A matching pursuit goes on from the best s of them, and finds what the lasso
    passed by because it is hidden by these.
    """
    screening = config.screening
    ranked = univariate.argsort(descending=True, stable=True)
    widths = batch.blocks.widths.to(ranked.device)[ranked]
    ranked = ranked[: how_many_fit(widths, screening.max_pursuit_values // len(batch))]
    regression = _Regression.of(batch, ranked, residual, screening)
    entered = first_of_lasso_path(
        regression.columns, regression.target, wanted, blocks=regression.blocks, config=screening
    )
    best = ranked[entered[regression.elimination_order(entered, config)][:size]]
    n_columns = batch.blocks.widths.to(best.device)[best].cumsum(0)
    best = best[n_columns <= screening.max_basis_share * len(batch) / 2]  # so that there is room for others
    taken: dict[FeatureGroup, float] = {(j,): 0.0 for j in best.tolist()}
    if len(best):
        residual.project_out(standardised(values_of(batch, best), screening.clip).t())
    atoms = Dictionary.linear(batch, len(univariate), ranked, screening)
    atoms.pursue(residual, taken, wanted, significant_only=False)
    place = {j: k for k, j in enumerate(ranked.tolist())}
    places = torch.tensor([place[j] for (j,) in taken], dtype=torch.long, device=ranked.device)
    return ranked[places[regression.elimination_order(places, config)]].tolist()


@dataclass(frozen=True)
class _Regression:
    """A linear regression on features, beside the required ones and by the weights of the rows.

    Attributes
    ----------
    columns : Tensor (columns, n)
        Of a feature of several an orthonormal basis.
    target : Tensor (n, outputs)
    blocks : Blocks
    ridge : float
        Of the elimination.
    """

    columns: Tensor
    target: Tensor
    blocks: Blocks
    ridge: float

    @classmethod
    def of(cls, batch: Batch, features: Tensor, residual: Residual, config: ScreeningConfig) -> _Regression:
        """On these features (k,), of what required ones have left of the target."""
        target, given, ridge = residual.target, residual.given, config.linear_ridge
        columns, blocks = standardised(values_of(batch, features), config.clip), batch.blocks.only(features)
        if not blocks.is_single:  # columns of two features may depend on each other
            columns, blocks = without_empty_rows(orthonormal_blocks(columns, blocks, config.max_block_rank), blocks)
            ridge = config.ridge
        if batch.weights is not None:  # the target is w times a residual
            roots = batch.weights.to(target).sqrt()
            columns, target = weighted_rows(columns, batch.weights), target / roots.unsqueeze(1)
            if given is not None:
                given = orthonormal_basis(weighted_rows(given.t(), batch.weights).t(), min_size=1e-2)
        if given is not None:
            columns = columns - (columns @ given) @ given.t()
        return cls(columns, target, blocks, ridge)

    def elimination_order(self, features: Tensor, config: ProposalConfig) -> Tensor:
        """Places of these features, those that were eliminated last in front: (k,)."""
        if not len(features):
            return features
        columns, blocks = self.columns[self.blocks.columns_of(features)], self.blocks.only(features)
        return eliminate_by_ridge(columns, self.target, 0, blocks=blocks, ridge=self.ridge, config=config.elimination)
