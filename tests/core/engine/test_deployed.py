"""The predictor as it is deployed: what the trained nets predict, up to half precision, row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.engine.deployed import DeployedMLP
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets

N_COLUMNS = 4


def nets(kind: str, activation: str = "silu", *, members: int = 3, n_outputs: int = 2) -> StackedMLP:
    """Nets whose second member does not see the encoding, where there is one."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((200, N_COLUMNS), generator=g)
    numeric = torch.tensor([True, False, True, True]) if kind == "mixed" else None
    encoding = None if kind == "plain" else PiecewiseLinearEncoding.fit(x, 5, DEFAULT.predictor, numeric)
    n_inputs = N_COLUMNS if encoding is None else encoding.n_inputs
    stacked = start_nets(members, (n_inputs, 7, 6, n_outputs), activation, g, encoding)
    with torch.no_grad():
        for bias in stacked.biases:
            bias.normal_(generator=g)
        stacked.weights[0][1:2, N_COLUMNS:] = 0
    return stacked


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((700, N_COLUMNS))


@pytest.mark.parametrize("activation", ["silu", "relu", "sigmoid"])
@pytest.mark.parametrize("kind", ["plain", "encoded", "mixed"])
def test_it_predicts_what_the_trained_nets_do(kind: str, activation: str, rows: np.ndarray) -> None:
    trained = nets(kind, activation)
    with torch.no_grad():
        expected = trained.double()(torch.from_numpy(rows)).numpy()
    found = trained.deployed().outputs(rows)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-2 * np.abs(expected).max())


def test_weights_in_half_precision_are_the_only_loss(rows: np.ndarray) -> None:
    trained = nets("encoded")
    with torch.no_grad():
        for parameter in trained.parameters():
            parameter.copy_((parameter / 3).half() * 3)  # the mean over three members is taken beforehand
        expected = trained.double()(torch.from_numpy(rows)).numpy()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(trained.deployed().outputs(rows), expected, atol=2e-3 * scale)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "encoded"])
def test_a_row_is_predicted_the_same_whatever_rows_stand_beside_it(kind: str, n_outputs: int, rows: np.ndarray) -> None:
    predictor = nets(kind, n_outputs=n_outputs).deployed()
    together = predictor.outputs(rows)
    order = np.random.default_rng(2).permutation(len(rows))
    assert np.array_equal(predictor.outputs(rows[order]), together[order])
    for n in (1, 2, 15, 17, 100, 513):
        assert np.array_equal(predictor.outputs(rows[order[:n]]), together[order[:n]])


def test_extreme_rows_have_finite_predictions() -> None:
    predictor = nets("encoded").deployed()
    extreme = np.array([[1e300, -1e300, 0.0, 1e-300], [1e20, 1e20, 1e20, 1e20], [-1e300] * 4])
    assert np.isfinite(predictor.outputs(extreme)).all()
    assert predictor.outputs(extreme[:0]).shape == (0, 2)


def test_what_no_member_sees_is_left_out() -> None:
    stacked = nets("encoded")
    assert stacked.deployed().bins is not None
    assert stacked.deployed().bins.weights.shape == (2, 5 * N_COLUMNS, 7)
    with torch.no_grad():
        stacked.weights[0][:, N_COLUMNS:] = 0
    assert stacked.deployed().bins is None


def test_its_arrays_and_specification_are_all_of_it(rows: np.ndarray) -> None:
    predictor = nets("mixed").deployed()
    again = DeployedMLP.from_arrays(predictor.spec(), predictor.arrays())
    assert np.array_equal(again.outputs(rows), predictor.outputs(rows))
    weights = [array for name, array in predictor.arrays().items() if "weights" in name]
    assert {array.dtype for array in weights} == {np.dtype(np.float16)}
