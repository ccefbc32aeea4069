"""Tuples of more than two features by greedy extension: each significant tuple with one feature more.

Of four and more features there are too many tuples to look at. Where part of one is significant by itself, the products
of this part with every further column are one matrix product, tested on what the part leaves of the target.
"""

from __future__ import annotations

import torch

from maskrank.core.config import ScreeningConfig, WideSearchConfig
from maskrank.core.proposals.matching_pursuit import Residual
from maskrank.core.proposals.proposal import FeatureGroup
from maskrank.core.proposals.tuples import BoundedColumns, Tuples


def extend_tuples(
    columns: BoundedColumns,
    residual: Residual,
    groups: dict[FeatureGroup, float],
    wanted: int,
    n_columns: int,
    screening: ScreeningConfig,
    config: WideSearchConfig,
) -> None:
    """Add significant extensions of the groups of two features and more, then extensions of these, up to a size.

    Parameters
    ----------
    residual : Residual
        Updated.
    groups : dict of FeatureGroup to float
        Extended, up to ``wanted``.
    n_columns : int
        Columns of the table, for the number of tests.
    """
    place = {feature: k for k, feature in enumerate(columns.owner.tolist())}
    single = {feature for feature in place if int((columns.owner == feature).sum()) == 1}
    room = int(screening.max_basis_share * len(residual.target))
    for size in range(2, config.max_tuple):
        n_effects = (size + 1) * (1 + screening.n_main_cosines) + 2 ** (size + 1)
        extended = [group for group in groups if len(group) == size and single.issuperset(group)]
        directions = residual.directions()
        if n_effects > room or directions.shape[1] == 0:
            return
        if not extended:
            continue
        inside = torch.tensor([[place[j] for j in group] for group in extended], device=columns.owner.device)
        products = columns.factors[inside].prod(dim=1)  # (groups, n)
        strength = torch.stack([(products * d) @ columns.factors.t() for d in directions.t()]).square().sum(dim=0)
        strength.scatter_(1, inside, -1.0)
        alike = (columns.columns[inside] @ columns.columns.t()).abs() > screening.max_pair_correlation
        strength.masked_fill_(alike.any(dim=1), -1.0)
        best = strength.topk(min(config.n_extensions, strength.shape[1]), dim=1)
        further = best.indices.unsqueeze(2)  # (groups, extensions, 1)
        places = torch.cat([inside.unsqueeze(1).expand(-1, further.shape[1], -1), further], dim=2)
        places = places[best.values >= 0]
        if len(places):
            n_tests = len(extended) * n_columns / config.triple_level
            Tuples.of(columns, places, n_tests, screening).pursue(residual, groups, wanted)
