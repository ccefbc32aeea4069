"""From the specification of a predictor in a model file back to the predictor: one builder for each kind.

`Predictor.spec` writes what is read here. To add a kind, add its builder to `BUILDERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.predictor import Predictor
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.image_cnn import ImageCNN
from maskrank.core.method.operators import MaskedPredictor

Spec = dict[str, Any]
NetMaker = Callable[[int, int], nn.Module]  # (width, outputs) -> a net with forward(x, mask)


def predictor_from_spec(
    spec: Spec, tensors: dict[str, Tensor], n_outputs: int, make_net: NetMaker | None = None
) -> Predictor:
    """Build a predictor again.

    Parameters
    ----------
    spec : dict
        What its ``spec()`` said.
    tensors : dict of str to Tensor
        Its ``state_dict()``.
    n_outputs : int
    make_net : callable (width, n_outputs) -> nn.Module, optional
        Makes a net of the user's own.

    Raises
    ------
    KeyError, TypeError
        If the parts do not belong together.
    RuntimeError
        If the tensors do not fit the net.
    ValueError
        If a net of the user's own is asked for and none is given.
    """
    return BUILDERS[spec["kind"]](spec, tensors, n_outputs, make_net)


def _stacked_mlp(spec: Spec, tensors: dict[str, Tensor], n_outputs: int, make_net: NetMaker | None) -> Predictor:
    layers = range(spec["layers"])
    weights, biases = ([tensors[f"{part}.{i}"] for i in layers] for part in ("weights", "biases"))
    encoding = None
    if spec["encoded"]:
        edges, centre, scale = (tensors[f"encoding.{name}"] for name in ("edges", "centre", "scale"))
        numeric = tensors.get("encoding.numeric")  # not there where all columns hold numbers
        encoding = PiecewiseLinearEncoding(edges, centre, scale, numeric)
    return StackedMLP(weights, biases, spec["activation"], encoding)


def _image_cnn(spec: Spec, tensors: dict[str, Tensor], n_outputs: int, make_net: NetMaker | None) -> Predictor:
    shape: tuple[int, int] = tuple(spec["image_shape"])
    return _masked(lambda width, outputs: ImageCNN(width, outputs, image_shape=shape), spec, tensors, n_outputs)


def _custom(spec: Spec, tensors: dict[str, Tensor], n_outputs: int, make_net: NetMaker | None) -> Predictor:
    if make_net is None:
        name = spec["net"]
        raise ValueError(f"the model's operator is a net of your own, {name}: load it with operator={name}")
    return _masked(make_net, spec, tensors, n_outputs)


def _masked(make_net: NetMaker, spec: Spec, tensors: dict[str, Tensor], n_outputs: int) -> Predictor:
    """A masked net, made without a trace in torch's global random state, and then filled with the tensors."""
    with torch.random.fork_rng():
        net = make_net(spec["width"], n_outputs)
    predictor = MaskedPredictor(net, tensors["places"], spec["width"]).double()
    predictor.load_state_dict(tensors)
    return predictor


BUILDERS: dict[str, Callable[[Spec, dict[str, Tensor], int, NetMaker | None], Predictor]] = {
    "mlp": _stacked_mlp,
    "image_cnn": _image_cnn,
    "custom": _custom,
}
