"""From the specification of a predictor in a model file back to what predicts: one builder for each kind.

`Deployed.spec` writes what is read here. To add a kind, add its builder to `BUILDERS`. Nets that are not MLPs need
torch, which is imported for them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from maskrank.core.engine.deployed import Array, Deployed, DeployedMLP

if TYPE_CHECKING:
    from torch import nn

Spec = dict[str, Any]
NetMaker = Callable[[int, int], "nn.Module"]  # (width, outputs) -> a net with forward(x, mask)


def deployed_from_spec(
    spec: Spec, arrays: dict[str, Array], n_outputs: int, make_net: NetMaker | None = None
) -> Deployed:
    """Build a predictor again.

    Parameters
    ----------
    spec : dict
        What its ``spec()`` said.
    arrays : dict of str to ndarray
        Its ``arrays()``.
    n_outputs : int
    make_net : callable (width, n_outputs) -> nn.Module, optional
        Makes a net of the user's own.

    Raises
    ------
    KeyError, TypeError
        If the parts do not belong together.
    RuntimeError
        If the arrays do not fit the net.
    ValueError
        If a net of the user's own is asked for and none is given.
    """
    return BUILDERS[spec["kind"]](spec, arrays, n_outputs, make_net)


def _mlp(spec: Spec, arrays: dict[str, Array], n_outputs: int, make_net: NetMaker | None) -> Deployed:
    return DeployedMLP.from_arrays(spec, arrays)


def _image_cnn(spec: Spec, arrays: dict[str, Array], n_outputs: int, make_net: NetMaker | None) -> Deployed:
    from maskrank.core.method.image_cnn import ImageCNN

    shape: tuple[int, int] = tuple(spec["image_shape"])

    def make(width: int, outputs: int) -> nn.Module:
        return ImageCNN(width, outputs, image_shape=shape)

    _check_fits(make, spec, arrays, n_outputs)
    return _masked(make, spec, arrays, n_outputs)


def _check_fits(make_net: NetMaker, spec: Spec, arrays: dict[str, Array], n_outputs: int) -> None:
    """Refuse arrays of other shapes than those of a net, before it takes any memory."""
    import torch

    with torch.device("meta"):
        needed = make_net(spec["width"], n_outputs).state_dict()
    found = {name.removeprefix("net."): array.shape for name, array in arrays.items() if name.startswith("net.")}
    if found != {name: tuple(tensor.shape) for name, tensor in needed.items()}:
        raise RuntimeError("its arrays have other names or shapes")


def _custom(spec: Spec, arrays: dict[str, Array], n_outputs: int, make_net: NetMaker | None) -> Deployed:
    if make_net is None:
        name = spec["net"]
        raise ValueError(f"the model's operator is a net of your own, {name}: load it with operator={name}")
    return _masked(make_net, spec, arrays, n_outputs)


def _masked(make_net: NetMaker, spec: Spec, arrays: dict[str, Array], n_outputs: int) -> Deployed:
    """A masked net, made without a trace in torch's global random state, and then filled with the arrays."""
    import torch

    from maskrank.core.method.operators import MaskedPredictor

    with torch.random.fork_rng():
        net = make_net(spec["width"], n_outputs)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    predictor = MaskedPredictor(net, tensors["places"], spec["width"]).double()
    predictor.load_state_dict(tensors)
    return predictor.deployed()


BUILDERS: dict[str, Callable[[Spec, dict[str, Array], int, NetMaker | None], Deployed]] = {
    "mlp": _mlp,
    "image_cnn": _image_cnn,
    "custom": _custom,
}
