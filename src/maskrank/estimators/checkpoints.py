"""The folder of a checkpoint: what it belongs to, and a file for each state; nothing is ever unpickled.

A file is a line with a check sum and, behind it, safetensors whose metadata say how tensors and plain values nest. Each
is written as a whole or not at all. A file that is damaged all the same is as good as none: its state is computed anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from_bytes
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor

import maskrank
from maskrank.core.checkpoint import EVERY, State
from maskrank.files import write_atomically

FORMAT = 1
IDENTITY = "checkpoint.json"
_SUFFIX = ".state"
_HEAD = b"maskrank state %08x\n"
_KEY = "state"
_LONG = 60  # characters of two values that are told apart by their name alone


class CheckpointWarning(UserWarning):
    """A state of a fit could not be kept."""


class Folder:
    """States in the files of a folder.

    Parameters
    ----------
    path : path
        Made where it is not there.
    every : float
        Seconds between two states of a loop, at least; 0 keeps every state.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = EVERY) -> None:
        self.path, self.every = Path(path), every
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise NotADirectoryError(f"checkpoint {path} is a file: give the name of a folder") from None
        except OSError as error:
            raise type(error)(f"checkpoint {path} can't be written: {error.strerror or error}") from error
        for name in (f"*{_SUFFIX}", IDENTITY):  # of a process that was ended while it wrote
            for unfinished in self.path.glob(f".{name}.*"):
                unfinished.unlink(missing_ok=True)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> State | None:
        """What was kept; None where there is nothing, or the file is damaged."""
        try:
            content = self._file(name).read_bytes()
        except OSError:
            return None
        return _from_bytes(content)

    def write(self, name: str, state: State) -> None:
        """Keep a state in place of the last of this name; where it can't be written, a `CheckpointWarning` says so."""
        try:
            write_atomically(self._file(name), _to_bytes(state))
        except OSError as error:  # a full disk: the fit goes on, and what it lacks is computed again after a crash
            reason = error.__cause__ if isinstance(error.__cause__, OSError) else error
            text = f"checkpoint {self.path} can't be written: {reason.strerror or reason}"
            warnings.warn(text, CheckpointWarning, stacklevel=2)

    def remove(self, beginning: str) -> None:
        """Forget all states whose names begin so."""
        for file in self.path.glob(f"*{_SUFFIX}"):
            if file.name.startswith(beginning) and _is_state(file):
                file.unlink(missing_ok=True)

    def misfit(self, name: str, error: Exception) -> ValueError:
        """The error of a state that is not one of this fit."""
        reason = " ".join(str(error).split())
        return ValueError(f"checkpoint {self._file(name)} does not fit this run: remove it to start anew ({reason})")

    def within(self, name: str) -> Folder:
        """A folder of its own for a part of the fit."""
        return Folder(self.path / name, self.every)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{_SUFFIX}"


def _is_state(file: Path) -> bool:
    """Whether a file is one of a checkpoint: the folder may hold others, which belong to its owner."""
    beginning = _HEAD.partition(b"%")[0]
    with file.open("rb") as opened:
        return opened.read(len(beginning)) == beginning


def _to_bytes(state: State) -> bytes:
    tensors: dict[str, Tensor] = {}
    document = _document(state, tensors)
    content = tensors_to_bytes(tensors, {_KEY: json.dumps(document)})
    return _HEAD % zlib.crc32(content) + content


def _from_bytes(content: bytes) -> State | None:
    head, _, body = content.partition(b"\n")
    if head + b"\n" != _HEAD % zlib.crc32(body):
        return None
    try:
        length = int.from_bytes(body[:8], "little")
        document = json.loads(json.loads(body[8 : 8 + length])["__metadata__"][_KEY])
        return _state(document, tensors_from_bytes(body))
    except (ValueError, KeyError, TypeError, SafetensorError):
        return None


def _document(state: State, tensors: dict[str, Tensor]) -> Any:
    """What JSON holds of a state; its tensors are added to a dict."""
    if isinstance(state, np.generic):
        state = state.item()
    if state is None or isinstance(state, bool | int | float | str):
        return state
    if isinstance(state, Tensor):
        # Kept in the order of its strides: the same numbers in another order in memory are added up to other bits.
        order = sorted(range(state.dim()), key=state.stride, reverse=True)
        name = str(len(tensors))
        tensors[name] = state.detach().permute(order).cpu().clone(memory_format=torch.contiguous_format)
        return {"tensor": name, "order": order, "device": str(state.device)}
    if isinstance(state, np.ndarray):
        return {"array": _document(torch.from_numpy(np.ascontiguousarray(state)), tensors)}
    if isinstance(state, Mapping):
        return {"dict": [[_document(part, tensors) for part in pair] for pair in state.items()]}
    if isinstance(state, list | tuple):
        return {type(state).__name__: [_document(part, tensors) for part in state]}
    raise TypeError(f"a checkpoint can't hold {type(state).__name__} objects, and the state of the net has one")


def _state(document: Any, tensors: dict[str, Tensor]) -> State:
    """The state that a document and its tensors describe."""
    if not isinstance(document, dict):
        return document
    if "tensor" in document:
        order = document["order"]
        return tensors[document["tensor"]].clone().permute(np.argsort(order).tolist()).to(document["device"])
    ((kind, parts),) = document.items()
    if kind == "array":
        return _state(parts, tensors).numpy()
    if kind == "dict":
        return {_state(name, tensors): _state(part, tensors) for name, part in parts}
    return {"list": list, "tuple": tuple}[kind](_state(part, tensors) for part in parts)


@dataclass(frozen=True)
class Identity:
    """What a run depends on.

    Attributes
    ----------
    data : dict of str to str
        Check sums, by what they are of.
    settings : dict of str to what JSON holds
        By the names that people know.
    """

    data: Mapping[str, str]
    settings: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """As the folder holds it."""
        versions = {"maskrank": maskrank.__version__, "torch": str(torch.__version__)}
        plain = json.dumps({"format": FORMAT, "versions": versions, "data": self.data, "settings": self.settings})
        return cast(dict[str, Any], json.loads(plain))


def open_checkpoint(path: str | os.PathLike[str], identity: Identity) -> Folder:
    """The folder of a run.

    Parameters
    ----------
    path : path or Folder
        A `Folder` says for itself how often states are kept.
    identity : Identity

    Raises
    ------
    ValueError
        The folder is of another run: the error says in what it differs.
    """
    folder, wanted = path if isinstance(path, Folder) else Folder(path), identity.document()
    kept = stored_identity(path)
    if kept is None:
        folder.remove("")
        write_atomically(folder.path / IDENTITY, json.dumps(wanted, indent=1))
    elif kept != wanted:
        raise ValueError(f"checkpoint {path} is of {_difference(kept, wanted)}")
    return folder


def stored_identity(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What a folder belongs to; None where it is no checkpoint yet, or what it says is damaged."""
    try:
        kept = json.loads((Path(path) / IDENTITY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    parts = [kept.get(name) for name in ("versions", "data", "settings")] if isinstance(kept, dict) else [None]
    return kept if all(isinstance(part, dict) for part in parts) else None


def _difference(kept: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The first thing in which two runs differ, in a few words."""
    for name, value in wanted["versions"].items():
        if kept["versions"].get(name) != value:
            return f"{name} {kept['versions'].get(name)}, and this is {value}"
    for name in wanted["data"] | kept["data"]:
        if kept["data"].get(name) != wanted["data"].get(name):
            return f"other {name}"
    for name in wanted["settings"] | kept["settings"]:
        before, now = kept["settings"].get(name), wanted["settings"].get(name)
        if before != now:
            brief = len(f"{before!r}{now!r}") < _LONG
            return f"{name}={before!r}, not {now!r}" if brief else f"another {name}"
    return f"format {kept.get('format')}, and this is {FORMAT}"


def digest(*parts: Any) -> str:
    """A check sum of arrays, with their shapes and types, and of plain values."""
    total = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind != "O":
            total.update(f"{part.dtype}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).data)
        else:
            total.update(repr(part.tolist() if isinstance(part, np.ndarray) else part).encode())
    return total.hexdigest()
