"""The model file: safetensors with JSON metadata; nothing is ever unpickled."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor

import maskrank
from maskrank.core.engine.predictor import Predictor
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.predictor.specs import predictor_from_spec
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.estimators.preparation import net_maker
from maskrank.files import check_writable, write_atomically

FORMAT = 10
_KEY = "maskrank"
_PREDICTOR = "predictor."
_SUBSETS = "subset_predictor."


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds.

    Attributes
    ----------
    document : dict
        The metadata.
    arrays : dict of str to ndarray
    predictor : Predictor
        (rows, s) -> (rows, outputs).
    subset_predictor : SubsetPredictor or None
        What explains a row; None where scores are not measured.
    """

    document: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    predictor: Predictor
    subset_predictor: SubsetPredictor | None


def write_model(
    path: str | os.PathLike[str],
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    predictor: Predictor,
    subset_predictor: SubsetPredictor | None,
) -> None:
    """Write a model file, whole or not at all."""
    check_writable(path)
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    tensors |= {_PREDICTOR + name: tensor.contiguous() for name, tensor in predictor.state_dict().items()}
    specs: dict[str, Any] = {"predictor": predictor.spec(), "subset_predictor": None}
    if subset_predictor is not None:
        specs["subset_predictor"] = subset_predictor.spec()
        tensors |= {_SUBSETS + name: tensor.contiguous() for name, tensor in subset_predictor.tensors().items()}
    document = {"format": FORMAT, "version": maskrank.__version__, **specs, **document}
    write_atomically(path, tensors_to_bytes(tensors, {_KEY: json.dumps(document)}))


def read_model(path: str | os.PathLike[str], operator: Any = None) -> StoredModel:
    """Read a model file.

    Parameters
    ----------
    operator : nn.Module, its class, or a function, optional
        Makes the net of a predictor that is the user's own.
    """
    document, tensors = _read(Path(path))
    arrays = {name: value.numpy() for name, value in tensors.items() if not name.startswith((_PREDICTOR, _SUBSETS))}
    try:
        n_outputs, own = document["task"]["n_outputs"], _named(tensors, _PREDICTOR)
        predictor = predictor_from_spec(document["predictor"], own, n_outputs, net_maker(operator))
        subset_predictor = _subset_predictor(document["subset_predictor"], _named(tensors, _SUBSETS), n_outputs)
    except RuntimeError as error:
        raise ValueError(f"operator={operator!r} does not fit the saved net: {error}") from error
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: its parts do not fit together ({error!r})") from error
    return StoredModel(document, arrays, predictor.eval().requires_grad_(False), subset_predictor)


def as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no tuples: turn its lists back into them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}


def _named(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, without the prefix."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _subset_predictor(
    spec: dict[str, Any] | None, tensors: dict[str, Tensor], n_outputs: int
) -> SubsetPredictor | None:
    if spec is None:
        return None
    nets = cast(StackedMLP, predictor_from_spec(spec, tensors, n_outputs))
    return SubsetPredictor.of(nets.eval().requires_grad_(False), tensors)


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
