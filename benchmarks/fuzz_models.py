"""Altered model files: bytes changed, and metadata and arrays changed under a checksum that is right."""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from fuzz_tables import mutated

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor, DualNetSurvival, load
from maskrank.core.config import DEFAULT
from maskrank.estimators.deployment import read_deployed

Case = Callable[[], tuple[str, str]]
N = 60
_JUNK: list[Any] = [None, True, 0, -1, 1, 2, 10**9, 2**63, 10**400, 1.5, float("nan"), float("inf"), -1e308]
_JUNK += ["", "x", "mlp", "<U300000000", "|O", "f8", "x" * 5000, "\ud800", "numeric", "binary", "DualNetRegressor"]
_JUNK += [[], {}, [0], [[1]], {"a": 1}, ["x"] * 3, [-1, 10**12], [6000, 6000]]
MODELS: dict[str, tuple[bytes, pd.DataFrame, Any]] = {}


def prepare(folder: Path) -> None:
    """Fit small models of several kinds, once."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    mixed = X.assign(
        kind=pd.Categorical(rng.choice(["u", "v", "w"], N)),
        many=pd.Categorical(rng.choice([f"level {i}" for i in range(20)], N)),
        day=pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(N) * 11, unit="D"),
    )
    mixed.loc[3, "a"] = np.nan
    y = X["a"] + X["b"] > 0
    torch.set_num_threads(1)  # processes that are forked off could wait for threads that they lack
    preset = DEFAULT.using(max_batches=8, phase1_batches=8, predictor__cycles=(10,))
    few: dict[str, Any] = {"preset": preset, "random_state": 0}
    fits = {
        "binary": (DualNetClassifier(2, **few), X, np.where(y, "yes", "no")),
        "classes": (DualNetClassifier(2, **few), X, np.arange(N) % 3),
        "labels": (DualNetClassifier(2, **few), X, np.stack([y, ~y], axis=1).astype(int)),
        "mixed": (DualNetRegressor("all", **few), mixed, X["a"] * 2 + (mixed["kind"] == "u")),
        "groups": (DualNetRegressor(1, groups={"g": ["a", "b"]}, required=["c"], **few), X, X["a"]),
        "counts": (DualNetCounts(2, **few), X, np.floor(np.exp(X["a"])).astype(int)),
        "survival": (DualNetSurvival(2, **few), X, (np.exp(X["a"]).to_numpy(), y.to_numpy())),
        "repeats": (DualNetClassifier(2, n_repeats=2, n_jobs=1, **few), X, y.astype(int)),
    }
    for name, (model, frame, target) in fits.items():
        model.fit(frame, target).save(folder / name)
        MODELS[name] = (folder / name).read_bytes(), frame, model.predict(frame)


def draw(rng: np.random.Generator, folder: Path) -> tuple[str, Case]:
    """A kind of case, and the case."""
    name = list(MODELS)[int(rng.integers(len(MODELS)))]
    content, frame, expected = MODELS[name]
    path = folder / "altered"
    path.unlink(missing_ok=True)  # a file that is overwritten is flushed to disk, which takes longer than the case
    if rng.random() < 0.4:
        changed = mutated(content, rng)
        path.write_bytes(changed)
        return "bytes", lambda: try_bytes(path, content == changed, frame, expected)
    document, head, arrays = taken_apart(content)
    how = "metadata" if rng.random() < 0.7 else "arrays"
    for _ in range(int(rng.integers(1, 3))):
        if how == "arrays":
            _change_array(head, arrays, rng)
        elif rng.random() < 0.25:
            _change_table(arrays, head, rng)
        else:
            change(document, rng)
    path.write_bytes(put_together(document, head, arrays))
    return how, lambda: try_model(path, frame)


def try_bytes(path: Path, same: bool, frame: pd.DataFrame, expected: Any) -> tuple[str, str]:
    """A file of altered bytes must be refused."""
    try:
        found = load(path).predict(frame)
    except ValueError as error:
        return _refused(path, error)
    if same:
        return "unchanged", ""
    return "silent change", "equal predictions" if np.array_equal(found, expected) else "other predictions"


def try_model(path: Path, frame: pd.DataFrame) -> tuple[str, str]:
    """A file that says that it is whole is refused, or predicts."""
    outcomes = []
    for way in (lambda: load(path).predict(frame), lambda: _predicted(path, frame)):
        try:
            way()
            outcomes.append("predicts")
        except ValueError as error:
            outcome, said = _refused(path, error)
            if said:
                return outcome, said
            outcomes.append(outcome)
    return ("refused", "") if "refused" in outcomes else ("predicts", "")


def _predicted(path: Path, frame: pd.DataFrame) -> Any:
    model = read_deployed(path)
    missing = [name for name in model.columns if name not in frame]
    if missing:
        raise ValueError(f"{path} needs columns that are not there")
    return model.answers.predicted(model.outputs(frame[list(model.columns)]))


def _refused(path: Path, error: ValueError) -> tuple[str, str]:
    text = str(error)
    known = str(path) in text or "feature names" in text or "X has" in text or "operator" in text or "infinit" in text
    if not known or ("\n" in text.strip() and "feature names" not in text) or len(text) > 1_500:
        return "traceback", f"an odd message: {type(error).__name__}: {text[:200]}"
    return "refused", ""


def taken_apart(content: bytes) -> tuple[Any, dict[str, Any], bytes]:
    """The metadata, the head of the arrays, and their bytes."""
    length = struct.unpack("<Q", content[:8])[0]
    head = json.loads(content[8 : 8 + length])
    return json.loads(head.pop("__metadata__")["maskrank"]), head, content[8 + length :]


def put_together(document: Any, head: dict[str, Any], arrays: bytes) -> bytes:
    """A file of these parts, with a checksum that is right."""
    text = document if isinstance(document, str) else json.dumps(document)
    whole = {"__metadata__": {"maskrank": text, "sha256": "0" * 64}, **head}
    data = json.dumps(whole).encode()
    content = struct.pack("<Q", len(data)) + data + arrays
    return content.replace(b"0" * 64, hashlib.sha256(content).hexdigest().encode(), 1)


def change(document: Any, rng: np.random.Generator) -> None:
    """Change a random value, leave it out, or give it another name."""
    holder, key = document, None
    while True:
        if key is not None:
            inner = holder[key]
            if not isinstance(inner, dict | list) or not inner or rng.random() < 0.15:
                break
            holder = inner
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = keys[int(rng.integers(len(keys)))]
    how = rng.random()
    if how < 0.15:
        del holder[key]
    elif how < 0.25 and isinstance(holder, dict):
        holder[str(rng.choice(["x", "format", "kind", "\0", "a" * 500]))] = holder.pop(key)
    elif how < 0.3:
        deep: Any = 1
        for _ in range(int(rng.choice([20, 600]))):
            deep = [deep]
        holder[key] = deep
    elif how < 0.4 and isinstance(holder[key], int | float) and abs(holder[key]) < 2**64:
        holder[key] = holder[key] * float(rng.choice([-1, 0, 2, 1e6])) + 1
    else:
        holder[key] = copy.deepcopy(_JUNK[int(rng.integers(len(_JUNK)))])


def _change_table(arrays: bytes, head: dict[str, Any], rng: np.random.Generator) -> None:
    """Change what the array of bytes says of columns; only where its length stays."""
    if not isinstance(head.get("table"), dict):
        return
    head["table"]["shape"] = [max(0, head["table"]["shape"][0] + int(rng.integers(-2, 2)))]


def _change_array(head: dict[str, Any], arrays: bytes, rng: np.random.Generator) -> None:
    """Change what the head says of an array."""
    names = sorted(head)
    name = names[int(rng.integers(len(names)))]
    entry, how = head[name], rng.integers(6)
    if not isinstance(entry, dict):
        return
    if how == 0:
        entry["dtype"] = str(rng.choice(["F64", "F32", "F16", "I64", "I32", "U8", "BOOL", "BF16", "X9", ""]))
    elif how in (1, 2) and "shape" not in entry:
        return
    elif how == 1:
        entry["shape"] = entry["shape"][::-1] + [1] * int(rng.integers(2))
    elif how == 2:
        entry["shape"] = [int(rng.choice([0, 1, 10**9, 2**62, -1])) for _ in entry["shape"]]
    elif how == 3:
        other = head[names[int(rng.integers(len(names)))]]
        if not isinstance(other, dict) or not {"data_offsets"} <= set(entry) & set(other):
            return
        entry["data_offsets"], other["data_offsets"] = other["data_offsets"], entry["data_offsets"]
    elif how == 4:
        head[str(rng.choice(["x", "support", "target.x", "predictor.weights.9"]))] = head.pop(name)
    else:
        head[name] = _JUNK[int(rng.integers(len(_JUNK)))]
