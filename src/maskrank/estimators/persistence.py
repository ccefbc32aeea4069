"""The model file: safetensors with JSON metadata; nothing is ever unpickled, and nothing here needs torch.

A checksum over all bytes stands in the metadata: a file that was altered in any place is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from_bytes
from safetensors.numpy import save as arrays_to_bytes

import maskrank
from maskrank.core.engine.deployed import Deployed
from maskrank.core.predictor.specs import NetMaker, deployed_from_spec
from maskrank.estimators.checks import SchemaError
from maskrank.estimators.schema import check_document, check_table
from maskrank.estimators.tensors import check_head, check_values
from maskrank.files import check_writable, write_atomically
from maskrank.tables.memory import free_bytes, size_text

if TYPE_CHECKING:
    from maskrank.core.scoring.subset_predictor import SubsetPredictor

FORMAT = 12
_LONGEST_HEAD = 100_000_000  # bytes, as in safetensors
_KEY = "maskrank"
_SEAL = "sha256"
_UNSEALED = "0" * 64  # in the place of the checksum when it is computed
_PREDICTOR = "predictor."
_SUBSETS = "subset_predictor."


class OperatorError(ValueError):
    """A net of the user's own is missing, or is not the one that was saved."""


@dataclass(frozen=True)
class StoredModel:
    """What a model file holds.

    Attributes
    ----------
    path : path
    document : dict
        The metadata.
    table : dict
        What it says of the columns, and of how they are encoded.
    arrays : dict of str to ndarray
    """

    path: Path
    document: dict[str, Any]
    table: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def named(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The arrays whose names begin so, without the prefix."""
        return {name.removeprefix(prefix): value for name, value in self.arrays.items() if name.startswith(prefix)}

    def part(self, name: str) -> dict[str, Any] | None:
        """The single numbers and the arrays of a part of a model; None where the file has no such part."""
        figures = self.document[name]
        return None if figures is None else {**figures, **self.named(f"{name}.")}

    def predictor(self, make_net: NetMaker | None = None) -> Deployed:
        """What predicts.

        Parameters
        ----------
        make_net : callable (width, n_outputs) -> nn.Module, optional
            Makes the net of a predictor that is the user's own.
        """
        n_outputs, arrays = self.document["task"]["n_outputs"], self.named(_PREDICTOR)
        if self.document["predictor"]["kind"] == "custom" and make_net is None:
            name = self.document["predictor"]["net"]
            raise OperatorError(f"the model's operator is a net of your own, {name}: load it with operator={name}")
        try:
            return deployed_from_spec(self.document["predictor"], arrays, n_outputs, make_net)
        except RuntimeError as error:
            raise OperatorError(f"the operator does not fit the saved net: {error}") from error

    def subset_predictor(self) -> SubsetPredictor | None:
        """What explains a row; None where scores are not measured."""
        if self.document["subset_predictor"] is None:
            return None
        import torch

        from maskrank.core.scoring.subset_predictor import SubsetPredictor

        tensors = {name: torch.from_numpy(array) for name, array in self.named(_SUBSETS).items()}
        return SubsetPredictor.of(self.document["subset_predictor"], tensors)

    def damaged(self, error: Exception) -> ValueError:
        """What to say where its parts do not fit together."""
        return ValueError(f"{self.path} is damaged: its parts do not fit together ({_shown(error)})")


def write_model(
    path: str | os.PathLike[str],
    document: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    predictor: Deployed,
    subset_predictor: SubsetPredictor | None,
) -> None:
    """Write a model file, whole or not at all."""
    check_writable(path)
    arrays = {**arrays, **{_PREDICTOR + name: array for name, array in predictor.arrays().items()}}
    specs: dict[str, Any] = {"predictor": predictor.spec(), "subset_predictor": None}
    if subset_predictor is not None:
        specs["subset_predictor"] = subset_predictor.spec()
        arrays |= {_SUBSETS + name: tensor.numpy() for name, tensor in subset_predictor.tensors().items()}
    document = {"format": FORMAT, "version": maskrank.__version__, **specs, **document}
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    content = arrays_to_bytes(contiguous, {_KEY: json.dumps(document), _SEAL: _UNSEALED})
    write_atomically(path, _with_seal(content, hashlib.sha256(content).hexdigest()))


def read_model(path: str | os.PathLike[str]) -> StoredModel:
    """Read a model file, or raise an error that says what the file is instead."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no model file {path}")
    size, most = path.stat().st_size, free_bytes() // 3
    if size > most:
        raise ValueError(f"{path} has {size_text(size)}: of models, {size_text(most)} fit into the memory that is free")
    content = path.read_bytes()
    foreign = f"{path} is not a maskrank model"
    length = int.from_bytes(content[:8], "little")
    if length > _LONGEST_HEAD or content[8:9] != b"{" or f'"{_KEY}"'.encode() not in content[:4096]:
        raise ValueError(foreign)
    if 8 + length > len(content):
        raise ValueError(f"{path} is damaged: it ends too early")
    try:
        head = json.loads(content[8 : 8 + length])
        document = json.loads(head["__metadata__"][_KEY])
        written = int(document["format"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
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
    if hashlib.sha256(_with_seal(content, _UNSEALED)).hexdigest() != _seal(content):
        raise ValueError(f"{path} is damaged: it was altered after it was written (its checksum differs)")
    try:
        check_document(document)
        check_head(document, _types_and_shapes(head))
        arrays = {name: array.copy() for name, array in arrays_from_bytes(content).items()}  # they may be changed then
        table = json.loads(arrays["table"].tobytes())
        check_table(table)
        check_values(document, table, arrays)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: it ends too early or was altered ({error})") from error
    except SchemaError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise ValueError(f"{path} is damaged: its parts do not fit together ({_shown(error)})") from error
    return StoredModel(path, document, table, arrays)


def _types_and_shapes(head: dict[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Of the arrays, by what the head of a file says."""
    return {name: (entry["dtype"], tuple(entry["shape"])) for name, entry in head.items() if name != "__metadata__"}


def _shown(error: Exception) -> str:
    """An error in few words."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else text[:199] + "…"


def _seal(content: bytes) -> str | None:
    """The checksum in the head of a file; None where there is none."""
    found = _sealed_place(content)
    return None if found is None else found[1].decode()


def _with_seal(content: bytes, seal: str) -> bytes:
    """The same bytes with another checksum."""
    found = _sealed_place(content)
    return content if found is None else content[: found.start(1)] + seal.encode() + content[found.end(1) :]


def _sealed_place(content: bytes) -> re.Match[bytes] | None:
    """Quotes within the other metadata are escaped, so that this is a name of the head itself."""
    head = content[: 8 + int.from_bytes(content[:8], "little")]
    return re.search(rf'"{_SEAL}"\s*:\s*"([0-9a-f]{{64}})"'.encode(), head)


def as_tuples(document: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no tuples: turn its lists back into them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
