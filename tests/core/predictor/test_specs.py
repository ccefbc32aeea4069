from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from maskrank.core.config import DEFAULT
from maskrank.core.engine.deployed import Deployed
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.method.image_cnn import ImageCNN
from maskrank.core.method.operators import MaskedPredictor
from maskrank.core.predictor.specs import deployed_from_spec


class Own(nn.Module):
    def __init__(self, n_features: int, n_outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(n_features, n_outputs)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(x * mask)

    def spec(self) -> str:
        """A user's net may have a method of this name; it is not ours to call."""
        return "mine"


class OwnCNN(ImageCNN):
    """It could compute something else."""

    def __init__(self, n_features: int, n_outputs: int) -> None:
        super().__init__(n_features, n_outputs, image_shape=(8, 8))


PLACES = torch.tensor([3, 60])


def stacked(kind: str, generator: torch.Generator) -> StackedMLP:
    x = torch.randn((40, 2), generator=generator)
    numeric = torch.tensor([True, kind != "indicator"])
    encoding = None if kind == "plain" else PiecewiseLinearEncoding.fit(x, 4, DEFAULT.predictor, numeric)
    n_inputs = 2 if encoding is None else encoding.n_inputs
    return start_nets(3, (n_inputs, 5, 3), "silu", generator, encoding)


def rebuilt(predictor: Deployed, make_net: object = None) -> Deployed:
    """By way of JSON, as in a model file."""
    spec = json.loads(json.dumps(predictor.spec()))
    return deployed_from_spec(spec, predictor.arrays(), 3, make_net)  # type: ignore[arg-type]


def masked(net: nn.Module) -> Deployed:
    return MaskedPredictor(net, PLACES, 64).deployed()


@pytest.mark.parametrize("kind", ["plain", "encoded", "indicator", "image_cnn", "custom"])
def test_a_predictor_is_rebuilt_from_its_spec_and_tensors(kind: str, generator: torch.Generator) -> None:
    if kind in ("plain", "encoded", "indicator"):
        predictor: Deployed = stacked(kind, generator).deployed()
    else:
        predictor = masked(Own(64, 3) if kind == "custom" else ImageCNN(64, 3, image_shape=(8, 8)))
    again = rebuilt(predictor, Own if kind == "custom" else None)
    x = torch.randn((7, 2), generator=generator, dtype=torch.float64).numpy()
    assert type(again) is type(predictor)
    assert np.array_equal(again.outputs(x), predictor.outputs(x))
    assert again.spec() == predictor.spec()


def test_rebuilding_leaves_the_global_random_state_alone() -> None:
    predictor = masked(ImageCNN(64, 3, image_shape=(8, 8)))
    before = torch.get_rng_state()
    rebuilt(predictor)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("kind", [Own, OwnCNN])
def test_a_net_of_ones_own_is_known_by_the_name_of_its_class_alone(kind: type[nn.Module]) -> None:
    predictor = masked(kind(64, 3))
    assert predictor.spec() == {"kind": "custom", "net": kind.__name__, "width": 64}
    with pytest.raises(ValueError, match=f"a net of your own, {kind.__name__}: load it with operator={kind.__name__}"):
        rebuilt(predictor)
    with pytest.raises(RuntimeError, match="size mismatch"):
        rebuilt(predictor, lambda width, n_outputs: kind(64, 5))


@pytest.mark.parametrize("spec", [{}, {"kind": "other"}, {"kind": "mlp", "layers": 9, "encoded": False}])
def test_parts_that_do_not_belong_together_are_refused(spec: dict[str, object]) -> None:
    with pytest.raises(KeyError):
        deployed_from_spec(spec, {}, 3)
