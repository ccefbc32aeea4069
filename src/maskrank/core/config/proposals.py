"""The numbers of the proposals: which closed-form models look at the data before training, and how far.

A command beside a number is the run that compared its values; "not measured" says that no such run is on record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, kw_only=True)
class ScreeningConfig:
    """Univariate and pairwise screening by orthogonal matching pursuit (see `proposals.screening`).

    Attributes
    ----------
    pairs : bool
        Whether interactions of two features are screened at all.
    joint_pairs : bool
        Whether a pair is also tested on all products of its cosine bases at once, as a ring needs it.
    correlated : bool
        Whether features that the significant ones predict join the pool.
    residual_rounds : int
        How often the residual of small cross-fitted nets on the significant features is screened again; 0 for never.
    max_rows, max_passes : int
        Rows that are looked at, and passes over the table in which significant features are looked for.
    groups_per_feature, extra_groups : int
        Feature groups asked for: so many for each feature to select, and so many more.
    n_cosines, n_main_cosines : int
        Cosines of a feature's rank in the univariate test, and those that count as a main effect of a pair's member.
    pair_cosine : int
        Frequency, in half periods, of the cosine of ranks whose products are searched besides those of the columns.
    joint_cosines : tuple of int
        Frequencies, in half periods, of the bases whose products make up the joint test of a pair.
    clip : float
        Standard deviations at which a standardised column is cut off: an outlier must not make a pair.
    max_outputs, max_directions : int
        Columns of the target that are looked at, and orthogonal directions kept of their span.
    pair_flops, max_pair_features : float, int
        Bounds on the work of the pairs of a pursuit: multiplications, and columns among which all pairs are tested.
    n_pairs, n_partners, n_joint_pairs, n_joint_partners : int
        Pairs that enter the pursuit: in all, and for each feature known to matter; and the same for the joint test.
    n_block_pairs, n_block_partners : int
        Pairs that enter the pursuit under the test of all products of their columns: in all, and for each known one.
    max_block_rank : int
        Principal directions of a feature of many columns that are tested together.
    max_main_effects : int
        Columns and cosines of two features that count as main effects of their pair, where these have several columns.
    max_atom_share : float
        Directions that an atom of several columns projects out, as a share of the rows; of more, its fit alone.
    max_feature_share : float
        The same for the column and the cosines of a number; of more, the one that was taken alone.
    max_pair_correlation : float
        Features correlated more than this make no pair: their product is the square of either.
    ridge : float
        Added to Gram matrices, as a share of a column's squared length.
    min_interaction : float
        Share of a product's length that must be left when its main effects are projected out.
    min_new : float
        Share of a column's squared length that must be orthogonal to what was taken before.
    max_basis_share : float
        Directions that may be projected out, as a share of the rows.
    max_pursuit_values, max_reread_values : int
        Bounds on memory and time in very wide tables: values of the atoms of a pursuit, and of a table that is read in
        more than one pass.
    marginal_weight : float
        What significance without the others counts, against significance given the others.
    correlated_z : float
        Standard deviations beyond chance from which a feature counts as predicted by the significant ones.
    linear_ridge : float
        Of the linear elimination order; next to none.
    lasso_factor, lasso_steps : float, int
        The penalty of the lasso path falls by this factor from step to step; and steps at most.
    lasso_iterations, lasso_tolerance : int, float
        Of the gradient steps for one penalty: how many at most, and the relative change at which they end.
    """

    pairs: bool = True  # benchmarks/ablation.py
    joint_pairs: bool = True  # benchmarks/ablation.py
    correlated: bool = True  # benchmarks/ablation.py
    residual_rounds: int = 2  # on or off: benchmarks/ablation.py; the count is not measured
    max_rows: int = 2048  # not measured
    max_passes: int = 3  # not measured
    groups_per_feature: int = 2  # not measured
    extra_groups: int = 16  # not measured
    n_cosines: int = 5  # not measured
    n_main_cosines: int = 8  # not measured
    pair_cosine: int = 2  # not measured
    joint_cosines: tuple[int, ...] = (2, 4)  # not measured
    clip: float = 3.0  # not measured
    max_outputs: int = 64  # not measured
    max_directions: int = 8  # not measured
    pair_flops: float = 1e10  # about a second on one core
    max_pair_features: int = 6_000  # about a second on one core
    n_pairs: int = 256  # not measured
    n_partners: int = 16  # not measured
    n_joint_pairs: int = 128  # not measured
    n_joint_partners: int = 4  # not measured
    n_block_pairs: int = 48  # about half a second on one core
    n_block_partners: int = 2  # not measured
    max_block_rank: int = 64  # a memory limit
    max_main_effects: int = 128  # a time limit
    max_atom_share: float = 1 / 32  # not measured
    # A curve that is taken in part leaves evidence to near copies of its column.
    max_feature_share: float = 0.025  # on and off: benchmarks/ablation.py; the value is not measured
    max_pair_correlation: float = 0.8  # not measured
    ridge: float = 0.02  # not measured
    min_interaction: float = 0.1  # not measured
    min_new: float = 0.05  # not measured
    max_basis_share: float = 0.25  # not measured
    max_pursuit_values: int = 1 << 22  # a memory limit
    max_reread_values: int = 1 << 26  # a time limit
    marginal_weight: float = 0.02  # not measured
    correlated_z: float = 10.0  # not measured
    linear_ridge: float = 1e-6  # next to none; with less, copies of a column spoil the digits of all others
    lasso_factor: float = 0.95  # not measured; on or off: benchmarks/ablation.py, lasso_steps=0
    lasso_steps: int = 100  # a time limit
    lasso_iterations: int = 100  # a time limit
    lasso_tolerance: float = 1e-3  # not measured


FLOPS_PER_SECOND = 1e11  # about what one core with 512-bit vectors does; a constant, so that load changes no result
EFFORTS = {"quick": 0.0, "default": 12.0, "thorough": 400.0}  # seconds
_PAIR_SHARE = 0.75  # of an effort; the rest goes to triples


@dataclass(frozen=True, kw_only=True)
class WideSearchConfig:
    """Searches that take longer than a screen: pairs among very many features, and triples (see `proposals`).

    What they may cost is counted in multiplications and additions, not in seconds, so that the same rows give the same
    answer on a busy machine.

    Attributes
    ----------
    pair_flops, triple_flops : float
        Bounds on the work of a search over all pairs, or all triples; 0 for none.
    only_with_room : bool
        Whether to look only where the significant features found before do not fill the subset to select.
    max_values : int
        Bound on memory: values of the columns among which pairs are sought.
    n_pairs, n_triples : int
        The strongest pairs and triples, which are tested.
    evidence_share : float
        Tuples enter these lists from this share of the log-likelihood on that a significant one needs: before its main
        effects are projected out, its strength is not yet exact.
    triple_level : float
        What the number of tests of triples is divided by: about the chance of a false one.
    min_triple_share : float
        Triples are looked for where this share of the features can be among them. Features that act only together
        are no more promising alone than others, so that few of them would be found among fewer.
    triple_effect : float
        Triples are looked for where rows suffice to tell one from chance that explains this share of the target.
    triple_cosine : int
        Frequency, in half periods, of the cosine of ranks that stands for a number in the product of a triple.
    n_extensions, max_tuple : int
        Further features with which a significant tuple is tested, the strongest; and the size up to which tuples grow.
    """

    pair_flops: float = _PAIR_SHARE * EFFORTS["default"] * FLOPS_PER_SECOND  # benchmarks/wide.py pairs
    triple_flops: float = (1 - _PAIR_SHARE) * EFFORTS["default"] * FLOPS_PER_SECOND  # benchmarks/wide.py triples
    only_with_room: bool = True  # a time limit
    max_values: int = 1 << 28  # a memory limit
    n_pairs: int = 256  # as in screening
    n_triples: int = 64  # not measured
    evidence_share: float = 0.8  # not measured
    triple_level: float = 0.05  # benchmarks/wide.py triples-null
    min_triple_share: float = 0.5  # not measured
    triple_effect: float = 0.25  # not measured
    triple_cosine: int = 1  # of a sign it keeps 0.90, the standardised values of a normal column 0.80
    n_extensions: int = 8  # not measured
    max_tuple: int = 5  # benchmarks/ablation.py; 2 for none

    def of_effort(self, effort: str | float) -> WideSearchConfig:
        """The same with the budget of an effort: "quick", "default", "thorough", or seconds of one core.

        Examples
        --------
        >>> from maskrank.core.config import WideSearchConfig
        >>> WideSearchConfig().of_effort(60).pair_flops
        4500000000000.0
        """
        if isinstance(effort, bool) or not isinstance(effort, str | int | float):
            raise ValueError(f"search_effort={effort!r} must be one of {', '.join(EFFORTS)}, or seconds")
        if isinstance(effort, str) and effort not in EFFORTS:
            raise ValueError(f"search_effort={effort!r} must be one of {', '.join(EFFORTS)}, or seconds")
        seconds = EFFORTS[effort] if isinstance(effort, str) else float(effort)
        if not 0 <= seconds < math.inf:
            raise ValueError(f"search_effort={effort!r} must not be negative or infinite: it is a number of seconds")
        return replace(
            self,
            pair_flops=_PAIR_SHARE * seconds * FLOPS_PER_SECOND,
            triple_flops=(1 - _PAIR_SHARE) * seconds * FLOPS_PER_SECOND,
            only_with_room=seconds <= EFFORTS["default"],
        )


@dataclass(frozen=True, kw_only=True)
class EliminationConfig:
    """Backward elimination with closed-form models (see `proposals.backward_elimination`).

    Attributes
    ----------
    enabled : bool
    significant_per_feature, extra_significant : float, int
        Elimination proposes a subset where at least this many single features are significant: so many for each
        feature to select, and so many more. Which of them go well together is the question then.
    significant_share : float
        The same, where at least this share of all features is significant.
    rows_per_feature : float
        The same, where features outnumber rows, and these are fewer for each feature to select than so many: too few
        to tell which are significant.
    max_kernel_rows : int
        Rows up to which a kernel ridge regression is used, where features outnumber them; its cost is cubic in rows.
    kernel_work : float
        Rows² times features that it starts from, at most.
    kernel_ridge : float
        Its penalty, for a target of mean square 1.
    max_rows, max_ridge_features : int
        Of the ridge regression that serves tables of many rows.
    max_block_rank : int
        Principal directions of a feature of many columns that it takes.
    ridge : float
        Its penalty, for columns of length 1.
    drop_share : float
        Share of the surviving features eliminated in one round, while they are many.
    single_from : int
        Surviving features from which on a ridge regression eliminates one at a time.
    exact_from, max_exact_rows : int
        Surviving features from which on kernel ridge tries every deletion, in tables of at most so many rows.
    clip : float
        Standard deviations at which a standardised column is cut off, as in screening.
    """

    enabled: bool = True  # maskrank study selection --data tox171, results/study/selection; benchmarks/ablation.py
    significant_per_feature: float = 1.5  # not measured
    extra_significant: int = 8  # not measured
    significant_share: float = 0.5  # no other was compared; benchmarks/guard.py enhancer, twice-30
    rows_per_feature: float = 10.0  # not measured
    max_kernel_rows: int = 768  # a time limit
    kernel_work: float = 1e9  # a time limit
    kernel_ridge: float = 3.0  # benchmarks/larger_subsets.py elimination --divisions 0 1, among 0.3 to 30
    max_rows: int = 4096  # a time limit
    max_ridge_features: int = 1024  # a time limit
    max_block_rank: int = 64  # a time limit
    ridge: float = 0.03  # not measured
    drop_share: float = 0.1  # not measured
    single_from: int = 256  # a time limit
    exact_from: int = 8  # 5 linear effects among 100, 60 rows, 12 seeds: 0.82 of them survive from 0, 0.95 from 8
    max_exact_rows: int = 256  # a time limit
    clip: float = 3.0  # not measured


@dataclass(frozen=True, kw_only=True)
class GuidedExplorationConfig:
    """How random subsets follow a proposal (see `method.exploration`).

    Attributes
    ----------
    enabled : bool
        Off, subsets are drawn uniformly from the pool.
    uniform_share : float
        Of the draws that ignore the proposal.
    offset, power : float
        The feature group at place i has weight 1 / (i + offset) ** power.
    """

    enabled: bool = True  # benchmarks/ablation.py
    uniform_share: float = 0.25  # not measured
    offset: float = 2.0  # not measured
    power: float = 2.0  # not measured


@dataclass(frozen=True, kw_only=True)
class ProposalConfig:
    """What is suggested before training, and how the search follows it.

    Attributes
    ----------
    enabled : bool
        Off, all features are searched with uniform draws, as in the paper.
    proposer : str
        A name in `proposals.registry.PROPOSERS`.
    screening : ScreeningConfig
    wide : WideSearchConfig
    elimination : EliminationConfig
    exploration : GuidedExplorationConfig
    min_features : int
        Features there must be for cross-fitted residuals and for elimination.
    random_share : float
        Features that join the pool at random, as a share of those proposed.
    pair_coverage : float
        All features are searched where a random subset holds a given pair at least this often.
    phase2_batches : int
        Bound on Phase II where elimination has proposed a subset.
    """

    enabled: bool = True  # benchmarks/ablation.py
    proposer: str = "screening"
    screening: ScreeningConfig = field(default_factory=ScreeningConfig)
    wide: WideSearchConfig = field(default_factory=WideSearchConfig)
    elimination: EliminationConfig = field(default_factory=EliminationConfig)
    exploration: GuidedExplorationConfig = field(default_factory=GuidedExplorationConfig)
    min_features: int = 16  # not measured
    random_share: float = 0.25  # not measured
    pair_coverage: float = 0.125  # not measured
    phase2_batches: int = 120  # not measured
