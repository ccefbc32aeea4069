"""Statistics behind the screens: columns and bases of features, sums of squares, corrected evidence.

A feature is a row of n values here. It is tested by its standardised column, clipped so that an outlier counts for
little, and by cosines of its ranks. Under the null hypothesis a sum of squares is chi-squared. `wilson_hilferty`
brings it to a standard normal deviate z. `corrected_evidence` is z²/2, a gain in log-likelihood, less the log of the
number of tests (Bonferroni).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Batch


def values_of(batch: Batch, features: Tensor) -> Tensor:
    """Some columns, each as a row: (features, n)."""
    return batch.columns(features.unsqueeze(0)).squeeze(0).t().contiguous()


def target_directions(y: Tensor, config: ScreeningConfig) -> Tensor:
    """An orthonormal basis of the standardised target, or of the directions that span most of it: (n, q).

    Parameters
    ----------
    y : Tensor (n, ...)
        Numbers.
    """
    y = y.reshape(len(y), -1).double()
    y = y[:, y.var(dim=0).argsort(descending=True, stable=True)[: config.max_outputs]]
    return orthonormal_basis(standardised(y.t(), config.clip).t())[:, : config.max_directions].float()


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


def wilson_hilferty(chi_squared: Tensor, freedom: int) -> Tensor:
    """A chi-squared variable as a standard normal deviate, by its cube root (Wilson and Hilferty 1931)."""
    variance = 2 / (9 * freedom)
    return ((chi_squared / freedom) ** (1 / 3) - (1 - variance)) / math.sqrt(variance)


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
