from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import torch

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine,
    cosine_of_ranks,
    explained_squares,
    orthonormal_basis,
    orthonormal_blocks,
    skewness_corrected,
    split_features,
    standardised,
    target_directions,
    unit_length,
    values_of,
    wilson_hilferty,
    without_empty_rows,
)


def test_columns_of_a_batch_become_rows(generator: torch.Generator) -> None:
    x = torch.randn((10, 4), generator=generator)
    assert torch.equal(values_of(Rows(x, x[:, :1]).all(), torch.tensor([2, 0])), x[:, [2, 0]].t())


def test_a_standardised_column_is_centred_and_of_length_1_and_an_outlier_counts_for_little(
    generator: torch.Generator,
) -> None:
    x = torch.randn((2, 200), generator=generator)
    x[1, 7] = 50.0
    columns = standardised(x, 3.0)
    torch.testing.assert_close(columns.norm(dim=1), torch.ones(2))
    assert columns.mean(dim=1).abs().max() < 1e-6
    assert columns[1].abs().max() < 0.5
    assert standardised(x, 1e9)[1].abs().max() > 0.9  # not clipped


def test_a_constant_column_becomes_0() -> None:
    assert not unit_length(torch.full((1, 5), 3.0)).any()


def test_cosines_are_orthonormal() -> None:
    basis = torch.stack([cosine(50, k, torch.device("cpu")) for k in range(1, 6)])
    torch.testing.assert_close(basis @ basis.t(), torch.eye(5), rtol=0, atol=1e-5)


def test_a_cosine_of_ranks_depends_on_the_ranks_alone(generator: torch.Generator) -> None:
    x = torch.randn((1, 30), generator=generator)
    by_rank, by_exp_rank = (cosine_of_ranks(values.argsort(dim=1), 2) for values in (x, x.exp()))
    assert torch.equal(by_rank, by_exp_rank)
    torch.testing.assert_close(by_rank[0, x[0].argsort()], cosine(30, 2, x.device))


@pytest.mark.parametrize("freedom", [1, 4, 16])
def test_wilson_and_hilferty_keep_tail_probabilities(freedom: int) -> None:
    tails = np.array([0.1, 1e-2, 1e-4])
    quantiles = torch.from_numpy(scipy.stats.chi2.isf(tails, freedom))
    np.testing.assert_allclose(wilson_hilferty(quantiles, freedom), scipy.stats.norm.isf(tails), atol=0.13)


def test_evidence_is_half_the_square_less_the_log_of_the_number_of_tests() -> None:
    z = torch.tensor([-3.0, 2.0])
    assert corrected_evidence(z, 10.0).tolist() == pytest.approx([-math.log(10), 2 - math.log(10)])


def test_a_basis_has_the_rank_of_the_columns(generator: torch.Generator) -> None:
    columns = torch.randn((20, 2), generator=generator) @ torch.randn((2, 5), generator=generator)
    basis = orthonormal_basis(columns, min_size=1e-3)
    assert basis.shape == (20, 2)
    torch.testing.assert_close(basis @ (basis.t() @ columns), columns, rtol=0, atol=1e-4)


def test_of_many_outputs_the_directions_of_most_variance_are_kept(generator: torch.Generator) -> None:
    y = torch.randn((100, 6), generator=generator)
    assert target_directions(y, ScreeningConfig()).shape == (100, 6)
    assert target_directions(y, ScreeningConfig(max_directions=3)).shape == (100, 3)
    y[:, 4] *= 9
    (direction,) = target_directions(y, ScreeningConfig(max_outputs=1)).t()
    assert abs(float(direction @ standardised(y.t(), 3.0)[4])) > 0.999


def test_explained_is_the_squared_length_of_the_projection() -> None:
    rng = np.random.default_rng(0)
    columns = torch.from_numpy(rng.standard_normal((1, 5, 50)))
    directions = orthonormal_basis(torch.from_numpy(rng.standard_normal((50, 2))))
    gram = columns @ columns.transpose(1, 2)
    explained = explained_squares(columns @ directions, gram, ridge=1e-6)
    basis = orthonormal_basis(columns[0].t())
    assert float(explained) == pytest.approx(float((basis.t() @ directions).square().sum()), rel=1e-4)


def test_each_feature_has_an_orthonormal_basis_of_its_own(generator: torch.Generator) -> None:
    columns = standardised(torch.randn((7, 90), generator=generator), 3.0)
    columns[3] = unit_length((columns[1] - columns[2]).unsqueeze(0))[0]
    blocks = Blocks.of_widths([1, 3, 3])
    basis = orthonormal_blocks(columns, blocks, max_rank=2)
    rows, of_rows = without_empty_rows(basis, blocks)
    assert of_rows.widths.tolist() == [1, 2, 2]
    assert len(rows) == 5
    assert torch.equal(basis[0], columns[0])
    for own in (slice(1, 4), slice(4, 7)):
        squares = torch.linalg.eigvalsh(basis[own] @ basis[own].t())
        torch.testing.assert_close(squares, torch.tensor([0.0, 1.0, 1.0]), rtol=0, atol=1e-4)
    projected = columns[1:4] @ basis[1:4].t() @ basis[1:4]
    torch.testing.assert_close(projected, columns[1:4], rtol=0, atol=1e-4)


def test_features_are_never_cut() -> None:
    blocks = Blocks.of_widths([1, 5, 1, 1, 9, 1])
    runs = split_features(blocks, 5, 4, torch.device("cpu"))
    assert torch.cat(runs).tolist() == list(range(5))
    assert [len(some) for some in split_features(Blocks.single(10), 10, 4, torch.device("cpu"))] == [4, 4, 2]


def test_a_skewed_deviate_says_less_in_its_longer_tail() -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(1.0, 400_000)  # of deviation 1 and skewness 1
    tail = float((counts >= 6).mean())
    z = skewness_corrected(torch.tensor([[4.5], [-4.5]]), torch.tensor([[1.0], [1.0]])).flatten()
    assert float(z[0]) == pytest.approx(scipy.stats.norm.isf(tail), abs=0.35)
    assert float(z[1]) == 4.5


def test_of_more_columns_than_rows_the_leading_directions_are_the_basis(generator: torch.Generator) -> None:
    columns = standardised(torch.randn((30, 20), generator=generator), 3.0)
    basis = orthonormal_blocks(columns, Blocks.of_widths([30]), max_rank=5)
    leading = torch.linalg.svd(columns).Vh[:5]
    torch.testing.assert_close(basis.t() @ basis, leading.t() @ leading, rtol=0, atol=1e-4)
