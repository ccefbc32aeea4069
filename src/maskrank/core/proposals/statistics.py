"""Statistics behind the screens: columns and bases of features, sums of squares, corrected evidence.

A column is a row of n values here. It is tested by its standardised values, clipped so that an outlier counts for
little, and by cosines of its ranks. Under the null hypothesis a sum of squares is chi-squared. `wilson_hilferty`
brings it to a standard normal deviate z. `corrected_evidence` is z²/2, a gain in log-likelihood, less the log of the
number of tests (Bonferroni). A feature of several columns is tested as a whole by its `orthonormal_blocks`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Batch
from maskrank.core.data.weights import mean_of_rows

_MIN_EIGENVALUE = 1e-3  # of a block's correlations, against the largest: below it a column depends on the others


def values_of(batch: Batch, features: Tensor) -> Tensor:
    """The columns of some features, feature by feature, each as a row: (columns, n)."""
    return batch.columns(features.unsqueeze(0)).squeeze(0).t().contiguous()


def split_features(blocks: Blocks, d: int, max_columns: int, device: torch.device) -> tuple[Tensor, ...]:
    """The first d features in runs of about so many columns: features are never cut, and a run has one at least."""
    _, counts = torch.unique_consecutive(blocks.starts[:d] // max(1, max_columns), return_counts=True)
    runs: tuple[Tensor, ...] = torch.arange(d, device=device).split(counts.tolist())  # type: ignore[no-untyped-call]
    return runs


def how_many_fit(sizes: Tensor, room: int) -> int:
    """How many of some things, taken in their order, have together at most this size; one at least: (k,)."""
    return max(1, int((sizes.cumsum(0) <= room).sum()))


def sum_by_owner(values: Tensor, owner: Tensor, n: int) -> Tensor:
    """Sums of the rows of each owner 0..n-1: (rows, ...) -> (n, ...)."""
    return values.new_zeros((n, *values.shape[1:])).index_add_(0, owner, values)


def target_directions(y: Tensor, config: ScreeningConfig, weights: Tensor | None = None) -> Tensor:
    """An orthonormal basis of the standardised target, or of the directions that span most of it: (n, q).

    Where rows have weights w, the screened target is w (y - weighted mean of y). Its inner product with a column is the
    derivative of a weighted loss by the column's coefficient, so that the screens are weighted score tests (Rao 1948).
    The columns stay as they are.

    Parameters
    ----------
    y : Tensor (n, ...)
        Numbers: a target, or residuals of a model.
    weights : Tensor (n,), optional
    """
    y = y.reshape(len(y), -1).double()
    y = y[:, y.var(dim=0).argsort(descending=True, stable=True)[: config.max_outputs]]
    target = standardised(y.t(), config.clip)  # (outputs, n)
    if weights is not None:
        target = weighted_scores(target, weights)
    return orthonormal_basis(target.t())[:, : config.max_directions].float()


def weighted_scores(values: Tensor, weights: Tensor) -> Tensor:
    """Values v as w (v - weighted mean of v), of length 1, or 0 for a constant: (k, n), (n,) -> (k, n)."""
    weights = weights.to(values)
    scores: Tensor = weights * (values - mean_of_rows(values, weights).unsqueeze(1))
    return scores.div_(scores.norm(dim=1, keepdim=True).clamp_(min=1e-12))


def weighted_rows(columns: Tensor, weights: Tensor) -> Tensor:
    """Columns for a weighted regression by ordinary least squares: (k, n), (n,) -> (k, n).

    Less their weighted means, times the roots of the weights, and of length 1; a constant becomes 0.
    """
    weights = weights.to(columns)
    rows: Tensor = weights.sqrt() * (columns - mean_of_rows(columns, weights).unsqueeze(1))
    return rows.div_(rows.norm(dim=1, keepdim=True).clamp_(min=1e-12))


def orthonormal_basis(columns: Tensor, min_size: float = 1e-5) -> Tensor:
    """An orthonormal basis of the span of some columns, by their singular vectors: (n, k) -> (n, rank).

    Parameters
    ----------
    min_size : float
        Singular values up to this count as zero.
    """
    u, size, _ = torch.linalg.svd(columns, full_matrices=False)
    basis: Tensor = u[:, size > min_size]
    return basis


def orthonormal_blocks(columns: Tensor, blocks: Blocks, max_rank: int) -> Tensor:
    """An orthonormal basis of the span of each feature's columns, in their place: (columns, n).

    Rows that are left over are 0. One column is its own basis. Of many columns the leading principal directions count.

    Parameters
    ----------
    columns : Tensor (columns, n)
        Standardised.
    """
    basis, widths, n = columns.clone(), blocks.widths, columns.shape[1]
    for width in torch.unique(widths[widths > 1]).tolist():
        features = (widths == width).nonzero().squeeze(1)
        for some in torch.split(features, max(1, limits.SCREENED // (width * n))):
            places = (blocks.starts[some].unsqueeze(1) + torch.arange(width)).to(columns.device)
            part = columns[places].double()  # (some, width, n)
            if width > n:  # the leading directions among the rows are fewer
                sizes, vectors = torch.linalg.eigh(part.transpose(1, 2) @ part)
                rows, sizes = vectors.transpose(1, 2)[:, -max_rank:], sizes[:, -max_rank:]
                rows = rows * (sizes > _MIN_EIGENVALUE * sizes[:, -1:].clamp(min=1e-6)).unsqueeze(2)
                basis[places] = 0.0
                basis[places[:, : rows.shape[1]]] = rows.to(columns.dtype)
                continue
            sizes, vectors = torch.linalg.eigh(part @ part.transpose(1, 2))  # rising
            kept = sizes > _MIN_EIGENVALUE * sizes[:, -1:].clamp(min=1e-6)
            kept[:, : max(0, width - max_rank)] = False
            scales = torch.where(kept, sizes.clamp(min=1e-12).rsqrt(), 0.0)
            basis[places] = (scales.unsqueeze(2) * (vectors.transpose(1, 2) @ part)).to(columns.dtype)
    return basis


def without_empty_rows(basis: Tensor, blocks: Blocks) -> tuple[Tensor, Blocks]:
    """Orthonormal blocks and the number of rows of each, without rows that are 0 but the first of a feature."""
    kept = (basis.square().sum(dim=1) > 0.5).cpu()
    kept[blocks.starts[:-1]] |= sum_by_owner(kept.long(), blocks.feature_of, len(blocks)) == 0
    widths = sum_by_owner(kept.long(), blocks.feature_of, len(blocks))
    return basis[kept.to(basis.device)], Blocks.of_widths(widths.tolist())


def explained_by(basis: Tensor, columns: Tensor, blocks: Blocks, max_rank: int) -> tuple[Tensor, Tensor]:
    """Squared length of the projections of each feature's orthonormal columns on a basis, and how many these are.

    Parameters
    ----------
    basis : Tensor (n, k)
        Orthonormal.
    columns : Tensor (columns, n)
        Standardised.

    Returns
    -------
    explained, rank : Tensor (features,), Tensor (features,)
    """
    if blocks.is_single:
        return (columns @ basis).square().sum(dim=1), torch.ones(len(columns), device=columns.device)
    rows, owner = orthonormal_blocks(columns, blocks, max_rank), blocks.feature_of.to(columns.device)
    explained = sum_by_owner((rows @ basis).square().sum(dim=1), owner, len(blocks))
    return explained, sum_by_owner(rows.square().sum(dim=1), owner, len(blocks)).round().clamp(min=1)


def standardised(x: Tensor, clip: float) -> Tensor:
    """Each feature standardised, clipped at so many standard deviations, and of length 1: (features, n)."""
    return unit_length(_clipped(_clipped(x, clip), clip))  # twice: an outlier widens the spread it is judged by


def _clipped(x: Tensor, clip: float) -> Tensor:
    x = x / x.abs().amax(dim=1, keepdim=True).clamp(min=1e-30)
    spread = x.std(dim=1, keepdim=True).clamp(min=1e-12)
    return x.sub_(x.mean(dim=1, keepdim=True)).div_(spread).clamp_(-clip, clip)


def unit_length(x: Tensor) -> Tensor:
    """Each feature centred and of length 1; a constant becomes 0: (features, n)."""
    x = x - x.mean(dim=1, keepdim=True)
    return x.div_(x.norm(dim=1, keepdim=True).clamp_(min=1e-12))


def cosine(n: int, k: int, device: torch.device) -> Tensor:
    """The k-th cosine basis vector over n ranks (k half periods), of length 1: (n,)."""
    return torch.cos((torch.arange(n, device=device) + 0.5) * (math.pi * k / n)) * math.sqrt(2 / n)


def cosine_of_ranks(order: Tensor, k: int) -> Tensor:
    """The k-th cosine at the rank of each value: (features, n).

    Parameters
    ----------
    order : Tensor (features, n)
        ``argsort`` of each feature's values.
    """
    values = cosine(order.shape[1], k, order.device).expand(order.shape)
    return torch.empty_like(values).scatter_(1, order, values)


def wilson_hilferty(chi_squared: Tensor, freedom: int | Tensor) -> Tensor:
    """A chi-squared variable as a standard normal deviate, by its cube root (Wilson and Hilferty 1931)."""
    variance = 2 / (9 * freedom)
    deviation = variance.sqrt() if isinstance(variance, Tensor) else math.sqrt(variance)
    return ((chi_squared / freedom) ** (1 / 3) - (1 - variance)) / deviation


def chi_squared_of(z: float, freedom: int) -> float:
    """The chi-squared variable of a standard normal deviate: the inverse of `wilson_hilferty`."""
    variance = 2 / (9 * freedom)
    return freedom * (z * math.sqrt(variance) + 1 - variance) ** 3


def skewness_corrected(overlaps: Tensor, skewness: Tensor) -> Tensor:
    """Deviates of a skewed distribution as standard normal ones, as if they were of a gamma distribution.

    The sum of a skewed target over the few rows of a rare level is skewed, too: in its longer tail a deviate says less.

    Parameters
    ----------
    overlaps, skewness : Tensor (k, q)
    """
    shape = 4 / skewness.square().clamp(min=1e-4)
    in_tail = overlaps * skewness > 0
    size = overlaps.abs()
    normal = ((1 + size / shape.sqrt()) ** (1 / 3) - (1 - 1 / (9 * shape))) * 3 * shape.sqrt()
    return torch.where(in_tail, torch.minimum(normal.clamp(min=0), size), size)


def tail_freedom(freedom: Tensor, target: Tensor, cubes: Tensor, fourths: Tensor, rows: Tensor) -> Tensor:
    """Degrees of freedom of a chi-squared variable as skewed and as heavy in its tail as a quadratic form is: (k,).

    That of a rare class has more of both: a few of its rows that coincide in a rare level are no surprise.

    Parameters
    ----------
    freedom : Tensor (k,)
        Of the form, for a normal target.
    target : Tensor (n, q)
    cubes, fourths, rows : Tensor (k,)
        Of the form's matrix off the diagonal: sums of cubes and of fourth powers, and of the squares of its rows' sums
        of squares, divided by its sum of squares to the power of 3/2, 2 and 2.
    """
    scaled = target * math.sqrt(len(target))
    third, fourth = (scaled.pow(k).mean(dim=0).square().mean().sqrt() for k in (3, 4))
    skewness = (8 / freedom).sqrt() + math.sqrt(2) * cubes * third.square()
    kurtosis = 12 / freedom + 2 * fourths * fourth.square() + 12 * rows * (fourth - 1).clamp(min=0)
    return 1 / (skewness.square() / 8 + kurtosis / 12 - 1 / freedom)  # both excesses count; either alone is too little


def quadratic_form_z(form: Tensor, half_variance: Tensor, freedom: Tensor) -> Tensor:
    """A quadratic form of mean 0, its diagonal left out, as a standard normal deviate, as if it were chi-squared.

    Products of different rows alone count: a square says nothing of what rows have in common, and the squares of a
    target that is seldom far from 0 are large in a few rows. So that levels of a row or two are no evidence.

    Parameters
    ----------
    form, half_variance : Tensor (k,)
    freedom : Tensor (k,)
        Degrees of freedom of the chi-squared variable.
    """
    deviations = form / half_variance.clamp(min=1e-6).sqrt()  # of sqrt(2) standard deviations
    freedom = freedom.clamp(min=1e-6)
    return wilson_hilferty((freedom + freedom.sqrt() * deviations).clamp(min=0), freedom)


def corrected_evidence(z: Tensor, n_tests: Tensor | float) -> Tensor:
    """z²/2 less the log of the number of tests: above 0 where the largest of so many would not be so by chance."""
    return z.clamp(min=0).square() / 2 - torch.as_tensor(n_tests, device=z.device).log()


def explained_squares(overlap: Tensor, gram: Tensor, ridge: float) -> Tensor:
    """Squared length of the projections of some directions on the span of each group of columns: (groups,).

    Parameters
    ----------
    overlap : Tensor (groups, w, q)
        Inner products of the groups' columns with the directions.
    gram : Tensor (groups, w, w)
        Of the columns among themselves.
    ridge : float
        Added to the Gram matrix, as columns may depend on each other.
    """
    factor, failed = torch.linalg.cholesky_ex(gram + ridge * torch.eye(gram.shape[-1]).to(gram))
    half = torch.linalg.solve_triangular(factor, overlap, upper=False)
    explained: Tensor = half.square().sum(dim=(1, 2)).masked_fill(failed > 0, 0.0)
    return explained
