"""The model file: one safetensors file whose metadata is JSON; nothing is ever unpickled."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor, nn

import maskrank
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.operators import ImageCNN
from maskrank.core.predictor.ensemble import Steps
from maskrank.core.predictor.refit import MaskedPredictor
from maskrank.files import check_writable, write_atomically

FORMAT = 5
_KEY = "maskrank"
_PREDICTOR = "predictor."


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds.

    Attributes
    ----------
    document : dict
        The metadata.
    arrays : dict of str to ndarray
    predictor : nn.Module
        (rows, s) -> (rows, outputs).
    """

    document: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    predictor: nn.Module


def write_model(
    path: str | os.PathLike[str], document: dict[str, Any], arrays: dict[str, NDArray[Any]], predictor: nn.Module
) -> None:
    """Write a model file, whole or not at all."""
    check_writable(path)
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    tensors |= {_PREDICTOR + name: tensor.contiguous() for name, tensor in predictor.state_dict().items()}
    document = {"format": FORMAT, "version": maskrank.__version__, "predictor": _describe(predictor), **document}
    write_atomically(path, tensors_to_bytes(tensors, {_KEY: json.dumps(document)}))


def read_model(path: str | os.PathLike[str], operator: Any = None) -> StoredModel:
    """Read a model file.

    Parameters
    ----------
    operator : nn.Module, its class, or a function, optional
        Makes the net of a predictor that is not one of ours.
    """
    document, tensors = _read(Path(path))
    own = {name.removeprefix(_PREDICTOR): value for name, value in tensors.items() if name.startswith(_PREDICTOR)}
    arrays = {name: value.numpy() for name, value in tensors.items() if not name.startswith(_PREDICTOR)}
    try:
        predictor = _rebuild(document["predictor"], own, operator, document["task"]["n_outputs"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: its parts do not fit together ({error!r})") from error
    return StoredModel(document, arrays, predictor.eval().requires_grad_(False))


def as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no tuples: turn its lists back into them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Metadata and tensors of a model file, or an error that says what the file is instead."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    content = path.read_bytes()
    foreign = f"{path} is not a maskrank model"
    length = int.from_bytes(content[:8], "little")
    if content[8:9] != b"{" or f'"{_KEY}"'.encode() not in content[:4096]:
        raise ValueError(foreign)
    if 8 + length > len(content):
        raise ValueError(f"{path} is damaged: it ends too early")
    try:
        document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][_KEY])
        written = int(document["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(foreign) from error
    if written > FORMAT:
        raise ValueError(
            f"{path} was written by maskrank {document.get('version')} in format {written}; this is maskrank "
            f"{maskrank.__version__}, which reads formats up to {FORMAT}: update it to read the file"
        )
    if written < FORMAT:
        raise ValueError(
            f"{path} was written by an earlier maskrank, {document.get('version')}, in format {written}, which this "
            "one does not read: fit and save the model anew"
        )
    try:
        return document, tensors_from_bytes(content)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: it ends too early or was altered ({error})") from error


def _describe(predictor: nn.Module) -> dict[str, Any]:
    """How to build a predictor of this shape."""
    if isinstance(predictor, StackedMLP):
        layers, in_steps = len(predictor.weights), predictor.steps is not None
        return {"kind": "mlp", "layers": layers, "activation": predictor.activation, "steps": in_steps}
    assert isinstance(predictor, MaskedPredictor)
    if isinstance(predictor.net, ImageCNN):
        shape = list(predictor.net.image_shape)
        return {"kind": "image_cnn", "width": predictor.width, "image_shape": shape}
    return {"kind": "custom", "width": predictor.width, "net": type(predictor.net).__name__}


def _rebuild(description: dict[str, Any], tensors: dict[str, Tensor], operator: Any, n_outputs: int) -> nn.Module:
    if description["kind"] == "mlp":
        layers = range(description["layers"])
        weights, biases = ([tensors[f"{part}.{i}"] for i in layers] for part in ("weights", "biases"))
        shown = ("edges", "centre", "scale")
        steps = Steps(*(tensors[f"steps.{name}"] for name in shown)) if description["steps"] else None
        return StackedMLP(weights, biases, description["activation"], steps)
    width = description["width"]
    with torch.random.fork_rng():
        net = _rebuild_net(description, operator, width, n_outputs)
    predictor = MaskedPredictor(net, tensors["places"], width).double()
    try:
        predictor.load_state_dict(tensors)
    except RuntimeError as error:
        raise ValueError(f"operator={operator!r} does not fit the saved net: {error}") from error
    return predictor


def _rebuild_net(description: dict[str, Any], operator: Any, width: int, n_outputs: int) -> nn.Module:
    if description["kind"] == "image_cnn":
        return ImageCNN(width, n_outputs, image_shape=tuple(description["image_shape"]))
    if operator is None:
        name = description["net"]
        raise ValueError(f"the model's operator is a net of your own, {name}: load it with operator={name}")
    if isinstance(operator, nn.Module):
        return copy.deepcopy(operator)
    return operator(width, n_outputs)  # type: ignore[no-any-return]
