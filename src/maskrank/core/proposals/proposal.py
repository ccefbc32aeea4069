"""What is handed from the proposals to the search: features worth searching, and how to search them.

Features are numbered as in the training rows, here and in every later stage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Protocol

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.data.subsets import draw_subsets, nth_outside
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.top_list import Workers

FeatureGroup = tuple[int, ...]  # one feature, or two or three that belong together


@dataclass(frozen=True)
class SearchPolicy:
    """How the later stages go about, decided once by the proposer.

    Attributes
    ----------
    max_batches : int
        Bound on the operator batches of both phases.
    tournament_rounds : int
    cross_fitting_steps : int
        Of the nets that judge candidates.
    weighs_evidence : bool
        Whether the evidence of the screens counts in the tournament, and candidates are built from single groups;
        else held-out losses decide alone.
    may_reselect : bool
        Whether a subset proposed by elimination is eliminated again with the held-out rows, if it wins.
    """

    max_batches: int
    tournament_rounds: int
    cross_fitting_steps: int
    weighs_evidence: bool = True
    may_reselect: bool = False

    @classmethod
    def of(cls, config: TrainConfig) -> SearchPolicy:
        """Without a proposed subset: the numbers of the config."""
        return cls(
            max_batches=config.max_batches,
            tournament_rounds=config.tournament.max_rounds,
            cross_fitting_steps=config.cross_fitting.steps,
        )

    @classmethod
    def of_elimination(cls, config: TrainConfig, *, few_rows: bool) -> SearchPolicy:
        """A whole subset was proposed, which is the one to beat: a shorter search, and losses decide.

        Parameters
        ----------
        few_rows : bool
            Whether rows are so few that the held-out ones would improve the elimination.
        """
        return cls(
            max_batches=min(config.max_batches, config.phase1_batches + config.proposal.phase2_batches),
            tournament_rounds=config.tournament.elimination_rounds,
            cross_fitting_steps=config.tournament.elimination_steps,
            weighs_evidence=False,
            may_reselect=few_rows and config.reselection.enabled,
        )


@dataclass(frozen=True)
class Coverage:
    """How many of d features had all their pairs and all their triples looked at.

    Attributes
    ----------
    n_features : int
        d.
    in_pairs : int
    in_triples : int or None
        None where there was no need to look at triples.
    """

    n_features: int
    in_pairs: int
    in_triples: int | None

    @property
    def sentence(self) -> str | None:
        """What was looked at, in a line; None where that is all there is.

        Examples
        --------
        >>> from maskrank.core.proposals.proposal import Coverage
        >>> Coverage(50_000, 6_000, 0).sentence
        'looked at pairs among the 6,000 most promising of 50,000 features, and at no triples'
        """
        d, pairs, triples = self.n_features, self.in_pairs, self.in_triples
        enough = triples is None or triples == d
        if pairs == d and enough:
            return None
        said = (
            f"pairs among the {pairs:,} most promising of {d:,} features"
            if pairs < d
            else f"all pairs of {d:,} features"
        )
        said = f"no pairs of {d:,} features" if pairs == 0 else said
        if enough:
            return f"looked at {said}"
        return (
            f"looked at {said}, and at {f'triples among the {triples:,} most promising' if triples else 'no triples'}"
        )


@dataclass(frozen=True)
class Proposal:
    """What the closed-form models suggest.

    Attributes
    ----------
    pool : Tensor (features,)
        The features that the dual net searches among, sorted.
    policy : SearchPolicy
    groups : list of FeatureGroup
        Features and pairs, most promising first; a feature may stand in several. Empty for a uniform search.
    evidence : dict of FeatureGroup to float
        The significant groups in the same order: log-likelihood gained by each given those before it, less the log of
        the number of tests.
    correlated : list of int
        Features that the significant ones predict far beyond chance, closest first.
    linear_order : list of int
        Reverse order of a linear backward elimination: the last survivor first.
    elimination_order : list of int
        The s survivors of a backward elimination, then the features eliminated last. Empty where there was none.
    univariate : Tensor (d,), optional
        Evidence of each feature alone; None where nothing was screened.
    coverage : Coverage, optional
        What was looked at; None where nothing was screened.
    """

    pool: Tensor
    policy: SearchPolicy
    groups: list[FeatureGroup] = field(default_factory=list)
    evidence: dict[FeatureGroup, float] = field(default_factory=dict)
    correlated: list[int] = field(default_factory=list)
    linear_order: list[int] = field(default_factory=list)
    elimination_order: list[int] = field(default_factory=list)
    univariate: Tensor | None = None
    coverage: Coverage | None = None

    @property
    def significant(self) -> list[int]:
        """Features of the significant groups, in their order."""
        return features_of(self.evidence)

    def feature_evidence(self) -> Tensor | None:
        """The evidence of each feature, alone or in the best of its significant groups: (d,)."""
        if self.univariate is None:
            return None
        evidence = self.univariate.cpu().double()
        for group, value in self.evidence.items():
            members = torch.tensor(group)
            evidence[members] = evidence[members].clamp(min=value)
        return evidence

    def is_satisfied_by(self, subset: Iterable[int]) -> bool:
        """Whether a subset leaves nothing of the proposal out that it has room for.

        A proposed subset is satisfied by itself alone. Otherwise all significant groups must be in, and, in the places
        they leave, the first features of the linear elimination order.
        """
        inside = set(subset)
        if self.elimination_order:
            return inside == set(self.elimination_order[: len(inside)])
        if not all(inside.issuperset(group) for group in self.evidence):
            return False
        return inside.issubset(self.significant) or inside.issuperset(self.linear_order[: len(inside)])

    def summary(self, d: int) -> str:
        """What was found among d features, in one sentence."""
        if not self.groups:
            return f"screening: none, all {d:,} features are searched"
        sizes = [len(group) for group in self.evidence]
        counts = {what: sizes.count(k) for k, what in enumerate(("features", "pairs", "triples"), start=1)}
        counts["larger tuples"] = sum(size > len(counts) for size in sizes)
        listed = [f"{count} {what}" for what, count in counts.items() if count or what in ("features", "pairs")]
        found = f"{', '.join(listed[:-1])} and {listed[-1]}"
        return f"screening: {found} beyond chance; {len(self.pool):,} of {d:,} are searched"


class Proposer(Protocol):
    """Proposes features and a search policy from training rows. To add one: a file here, and its name in `registry`."""

    def propose(
        self,
        task: Task,
        rows: Rows,
        size: int,
        *,
        config: TrainConfig,
        generator: torch.Generator,
        workers: Workers | None = None,
    ) -> Proposal: ...


def features_of(groups: Iterable[FeatureGroup]) -> list[int]:
    """The features of some groups, each once, in their order."""
    return list(dict.fromkeys(j for group in groups for j in group))


def round_robin(*lists: Iterable[FeatureGroup]) -> list[FeatureGroup]:
    """The first of each list, then the second, ...; each group once."""
    return list(dict.fromkeys(group for turn in zip_longest(*lists) for group in turn if group is not None))


def pool_with_random(proposed: Iterable[int], d: int, *, share: float, generator: torch.Generator) -> Tensor:
    """Some features, and a share as many others at random, of d; all, where these are not many more: sorted."""
    chosen = torch.tensor(sorted(set(proposed)), dtype=torch.long)
    n_random = math.ceil(share * len(chosen))
    if len(chosen) + n_random >= d:
        return torch.arange(d)
    random = draw_subsets(1, d - len(chosen), n_random, generator=generator)[0]
    return torch.cat([chosen, nth_outside(chosen, random)]).sort().values
