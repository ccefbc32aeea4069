from __future__ import annotations

import pytest
import torch

from maskrank.core import limits
from maskrank.core.config import DEFAULT
from maskrank.core.engine.encoding import EncodedRows, PiecewiseLinearEncoding, bins_per_column


def test_the_encoding_tells_how_far_a_value_is_through_each_bin() -> None:
    edges, blank = torch.tensor([[0.0, 1.0, 3.0, 3.0]]), torch.zeros((1, 3))
    encoding = PiecewiseLinearEncoding(edges, blank, blank + 1)
    values = torch.tensor([[-1.0], [0.25], [2.0], [7.0]])
    expected = [[-1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.0, 0.0], [2.0, 1.0, 0.5, 0.0], [7.0, 1.0, 1.0, 0.0]]
    assert encoding(values).tolist() == expected
    assert (encoding.n_columns, encoding.n_inputs) == (1, 4)


def test_bins_hold_as_many_rows_each_and_a_feature_of_few_values_has_empty_ones(generator: torch.Generator) -> None:
    x = torch.stack([torch.randn(1000, generator=generator), (torch.arange(1000) % 10 == 0).float()], dim=1)
    encoding = PiecewiseLinearEncoding.fit(x, 4, DEFAULT.predictor)
    edges = encoding.get_buffer("edges")
    counts = torch.histogram(x[:, 0], edges[0])[0]
    assert counts.tolist() == [250.0] * 4
    assert edges[1].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    inputs = encoding(x)
    assert inputs.shape == (1000, 10)
    assert inputs.isfinite().all()
    torch.testing.assert_close(inputs[:, 2:].mean(dim=0), torch.zeros(8), atol=1e-5, rtol=0)
    assert inputs[:, 6:9].eq(0).all()
    torch.testing.assert_close(inputs[:, 2:6].std(dim=0), torch.full((4,), 0.5), atol=1e-3, rtol=0)


def test_of_very_many_rows_some_tell_where_the_bins_are() -> None:
    x = torch.arange(100.0).unsqueeze(1)
    config = DEFAULT.using(predictor__max_quantile_rows=10).predictor
    edges = PiecewiseLinearEncoding.fit(x, 3, config).get_buffer("edges")
    torch.testing.assert_close(edges, torch.tensor([[0.0, 30.0, 60.0, 90.0]]))


@pytest.mark.parametrize(
    ("s", "rows", "each"),
    [(1, 500, 16), (16, 500, 16), (35, 500, 7), (64, 500, 4), (65, 500, 0), (20, 100, 5), (49, 120, 0)],
)
def test_many_features_or_few_rows_have_fewer_bins_or_none(s: int, rows: int, each: int) -> None:
    assert bins_per_column(s, rows, DEFAULT.predictor) == each


def test_rows_encoded_as_they_are_needed_are_those_encoded_at_once(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, index = torch.randn((30, 2), generator=generator), torch.tensor([[3, 3], [0, 29]])
    encoding = PiecewiseLinearEncoding.fit(x, 4, DEFAULT.predictor)
    at_once = EncodedRows(x, encoding).take(index)
    assert at_once.shape == (2, 2, encoding.n_inputs)
    monkeypatch.setattr(limits, "ENCODED", 1)
    assert torch.equal(EncodedRows(x, encoding).take(index), at_once)
    assert torch.equal(EncodedRows(x, None).take(index), x[index])


def test_indicators_are_not_encoded(generator: torch.Generator) -> None:
    x = torch.randn((50, 3), generator=generator)
    numeric = torch.tensor([True, False, True])
    encoding = PiecewiseLinearEncoding.fit(x, 4, DEFAULT.predictor, numeric)
    assert (encoding.n_columns, encoding.n_bins, encoding.n_inputs) == (3, 4, 11)
    of_numbers = PiecewiseLinearEncoding.fit(x[:, numeric], 4, DEFAULT.predictor)
    assert torch.equal(encoding(x), torch.cat([x, of_numbers(x[:, numeric])[:, 2:]], dim=1))
    every = PiecewiseLinearEncoding.fit(x, 4, DEFAULT.predictor, torch.ones(3, dtype=torch.bool))
    assert "numeric" not in every.state_dict()
    assert bins_per_column(0, 500, DEFAULT.predictor) == 0
