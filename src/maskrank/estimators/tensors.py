"""The arrays of a model file: their names, types and shapes follow from its metadata, and are checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskrank.estimators.checks import SchemaError

Array = NDArray[Any]
Shape = tuple[int, ...]
Head = Mapping[str, tuple[str, Shape]]  # type and shape of each array

_HALF, _SINGLE, _DOUBLE, _WHOLE, _TRUTH, _BYTE = "F16", "F32", "F64", "I64", "BOOL", "U8"
_OF_FEATURES = ("raw_scores", "scores", "scores_std", "evidence")
_CODE = {"source": _WHOLE, "level": _DOUBLE, "flagged": _TRUTH, "mean": _DOUBLE, "scale": _DOUBLE, "fill": _DOUBLE}
_CURVE = {"sizes": _WHOLE, "values": _DOUBLE, "values_std": _DOUBLE, "figures": _DOUBLE, "figures_std": _DOUBLE}
_STABILITY = ("frequency", "rank_low", "rank_median", "rank_high", "score_low", "score_median", "score_high", "order")
_OWN = ("target.",)  # what a user's own estimator keeps
_NETS = ("custom", "image_cnn")  # whose shapes are those of a net, which is compared with them when it is made


@dataclass
class _Shapes:
    """Compares a head with what is expected; a dimension of a name is the same wherever it stands."""

    head: Head
    sizes: dict[str, int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def need(self, name: str, kind: str | tuple[str, ...], *dimensions: str | int, optional: bool = False) -> None:
        """Check one array."""
        self.seen.add(name)
        if name not in self.head:
            if optional:
                return
            raise SchemaError(f"the array {name} is missing")
        found, shape = self.head[name]
        if found not in ((kind,) if isinstance(kind, str) else kind):
            raise SchemaError(f"the array {name} is of type {found}; {kind} is needed")
        if len(shape) != len(dimensions):
            raise SchemaError(f"the array {name} has shape {shape}; {len(dimensions)} dimensions are needed")
        for size, dimension in zip(shape, dimensions, strict=True):
            expected = dimension if isinstance(dimension, int) else self.sizes.setdefault(dimension, size)
            if size != expected:
                raise SchemaError(f"the array {name} has shape {shape}, which does not fit the others")


def check_head(document: dict[str, Any], head: Head) -> None:
    """Check names, types and shapes.

    Parameters
    ----------
    document : dict
        The metadata, which were found to be good.
    head : dict of (type, shape)
    """
    shapes = _Shapes(head)
    shapes.need("table", _BYTE, "bytes")
    shapes.need("support", _TRUTH, "features")
    for name in _OF_FEATURES:
        shapes.need(name, _DOUBLE, "features", optional=name in _OF_FEATURES[2:])
    shapes.need("missing", _DOUBLE, "columns")
    shapes.need("varies", _TRUTH, "columns")
    for name, kind in _CODE.items():
        shapes.need(f"encoding.{name}", kind, "code")
    shapes.need("encoding.widths", _WHOLE, "chosen")
    shapes.need("encoding.numeric", _TRUTH, "code")
    if document["predictor"]["kind"] == "mlp":
        _mlp(shapes, document["predictor"], document["task"]["n_outputs"])
    if document["subset_predictor"] is not None:
        _subset_predictor(shapes, document["subset_predictor"], document["task"]["n_outputs"])
    if document["stability"] is not None:
        for name in _STABILITY:
            shapes.need(f"stability.{name}", (_DOUBLE, _WHOLE), "features")
    if document["size_curve"] is not None:
        for name, kind in _CURVE.items():
            shapes.need(f"size_curve.{name}", kind, "curve")
    if document["task"]["kind"] == "survival":
        shapes.need("target.times", _DOUBLE, "times")
        shapes.need("target.hazard", _DOUBLE, "times")
    open_names = (*_OWN, "predictor.") if document["predictor"]["kind"] in _NETS else _OWN
    unknown = [name for name in head if name not in shapes.seen and not name.startswith(open_names)]
    if unknown:
        raise SchemaError(f"the array {unknown[0][:60]!r} is not known")


def _mlp(shapes: _Shapes, spec: dict[str, Any], n_outputs: int) -> None:
    layers, before = spec["layers"], "code"
    for i in range(layers):
        units: str | int = n_outputs if i == layers - 1 else f"units {i}"
        shapes.need(f"predictor.weights.{i}", _HALF, "members", before, units)
        shapes.need(f"predictor.biases.{i}", _HALF, "members", units)
        before = str(units)
    if not spec["encoded"]:
        return
    shapes.need("predictor.bins.edges", _SINGLE, "binned", "edges")
    shapes.need("predictor.bins.numeric", _TRUTH, "code", optional=True)
    bins = shapes.sizes["edges"] - 1
    for name in ("centre", "scale"):
        shapes.need(f"predictor.bins.{name}", _SINGLE, "binned", bins)
    first: str | int = n_outputs if layers == 1 else "units 0"
    shapes.need("predictor.bins.weights", _HALF, "encoded members", shapes.sizes["binned"] * bins, first)
    if shapes.sizes["encoded members"] > shapes.sizes["members"]:
        raise SchemaError("the array predictor.bins.weights has more members than there are")


def _subset_predictor(shapes: _Shapes, spec: dict[str, Any], n_outputs: int) -> None:
    """Nets that see all columns of the encoding, some of them switched off."""
    own = "subset_predictor."
    shapes.need(f"{own}starts", _WHOLE, "starts")
    shapes.need(f"{own}numeric", _TRUTH, "code")
    shapes.need(f"{own}shrinkage", _SINGLE, "starts")
    shapes.need(f"{own}constant", _SINGLE, n_outputs)
    shapes.need(f"{own}n_required", _WHOLE, 1)
    if shapes.sizes["starts"] != shapes.sizes["chosen"] + 1:
        raise SchemaError(f"the array {own}starts has another number of features than the encoding")
    layers, before = spec["layers"], "inputs"
    for i in range(layers):
        units: str | int = n_outputs if i == layers - 1 else f"subset units {i}"
        shapes.need(f"{own}weights.{i}", _HALF, "nets", before, units)
        shapes.need(f"{own}biases.{i}", _HALF, "nets", 1, units)
        before = str(units)
    if spec["encoded"]:
        shapes.need(f"{own}encoding.edges", _SINGLE, "subset binned", "subset edges")
        for name in ("centre", "scale"):
            shapes.need(f"{own}encoding.{name}", _SINGLE, "subset binned", shapes.sizes["subset edges"] - 1)
        shapes.need(f"{own}encoding.numeric", _TRUTH, "code", optional=True)


def check_values(document: dict[str, Any], table: dict[str, Any], arrays: Mapping[str, Array]) -> None:
    """Check that arrays fit the columns of the table, that their numbers are numbers, and places are places."""
    columns, members = table["columns"], table["features"]["members"]
    support = arrays["support"]
    if len(arrays["missing"]) != len(columns) or len(support) != len(columns if members is None else members):
        raise SchemaError("the arrays have another number of features than the table")
    chosen = np.flatnonzero(support)
    inputs = chosen if members is None else sorted({column for j in chosen for column in members[j]})
    encoding = table["encoding"]
    if not len(chosen) or len(arrays["encoding.widths"]) != len(chosen) or encoding["n_inputs"] != len(inputs):
        raise SchemaError("the encoding has another number of features than are chosen")
    n_sources = encoding["n_inputs"] + sum(map(_width, encoding["derived"]))
    source, widths = arrays["encoding.source"], arrays["encoding.widths"]
    if (source < 0).any() or (source >= n_sources).any():
        raise SchemaError("the array encoding.source names columns that are not there")
    if (widths < 0).any() or widths.sum() != len(source):
        raise SchemaError("the array encoding.widths does not fit the columns of the encoding")
    if not (arrays["encoding.scale"] > 0).all():
        raise SchemaError("the array encoding.scale holds numbers that are not above 0")
    for bins in ("predictor.bins.", "subset_predictor.encoding."):
        numeric = arrays.get(f"{bins}numeric", arrays["encoding.numeric"] | True)
        if f"{bins}edges" in arrays and numeric.sum() != len(arrays[f"{bins}edges"]):
            raise SchemaError(f"the array {bins}edges has another number of columns than the encoding")
    if document["subset_predictor"] is not None:
        starts = arrays["subset_predictor.starts"]
        if starts[0] != 0 or starts[-1] != len(source) or (np.diff(starts) < 0).any():
            raise SchemaError("the array subset_predictor.starts does not fit the columns of the encoding")
        if not 0 <= arrays["subset_predictor.n_required"][0] < len(starts):
            raise SchemaError("the array subset_predictor.n_required does not fit the features")
    own = () if document["predictor"]["kind"] == "custom" else ("predictor.",)
    finite = [name for name in arrays if name.startswith((*own, "subset_predictor.", "target."))]
    for name in (*finite, "encoding.mean", "encoding.scale", "encoding.fill", *_OF_FEATURES[:2]):
        if arrays[name].dtype.kind == "f" and not np.isfinite(arrays[name]).all():
            raise SchemaError(f"the array {name} holds numbers that are not finite")


def _width(derived: dict[str, Any]) -> int:
    """Columns that are computed from one of the table."""
    if derived["kind"] == "cycles":
        return 2 * len(derived["periods"])
    return len(derived["means"][0]) if derived["kind"] == "means" else 1
