"""The metadata of a model file: every field with its type and range, checked before anything is made of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from maskrank.core.config import TrainConfig
from maskrank.core.metrics import Metric
from maskrank.core.recorder import History
from maskrank.estimators.checks import (
    Check,
    SchemaError,
    fields,
    flag,
    listed,
    mapped,
    maybe,
    number,
    of_type,
    one_of,
    plain,
    text,
    whole,
)

_MOST_LAYERS = 64
_MOST_OUTPUTS = 1_000_000
_MOST_COLUMNS = 100_000_000
_ONE_OUTPUT = ("binary", "counts", "survival")
_WIDEST = 1 << 20  # pixels of a side of an image
_LONGEST_LABEL = 1 << 20  # characters
_MOST_LABELS = 1 << 28  # characters that all classes take together
_TYPE = re.compile(r"\|b1|\|O|[<>]U(\d{1,8})|\|i1|\|u1|[<>][iuf][248]")

_LABEL: Check = of_type(str | int | float | bool)
_ACTIVATION = one_of("sigmoid", "silu", "relu")
_MLP = {"kind": one_of("mlp"), "layers": whole(1, _MOST_LAYERS), "activation": _ACTIVATION, "encoded": flag}
_NETS: dict[str, Check] = {
    "mlp": fields(_MLP),
    "image_cnn": fields(
        {
            "kind": one_of("image_cnn"),
            "image_shape": listed(whole(8, _WIDEST), 2),
            "width": whole(64, _MOST_COLUMNS),
        }
    ),
    "custom": fields({"kind": one_of("custom"), "net": text(1_000), "width": whole(1, _MOST_COLUMNS)}),
}


def check_document(document: dict[str, Any]) -> None:
    """Check the metadata of a model file.

    Raises
    ------
    SchemaError
        A field is missing, of another type, or out of its range.
    """
    _document()(document, "")
    _check_net(document["predictor"])
    if document["metric"] not in document["figures"]:
        raise SchemaError(f"metric is {document['metric']!r}, of which figures holds nothing")
    n_outputs = document["task"]["n_outputs"]
    if document["task"]["kind"] in _ONE_OUTPUT and n_outputs != 1:
        raise SchemaError(f"task.n_outputs is {n_outputs}; 1 is needed for {document['task']['kind']}")
    if "classes" in document or "class_type" in document:
        _check_classes(document, n_outputs)
    for name in ("y_mean", "y_scale"):
        if name in document:
            listed(_SCALE if name == "y_scale" else number(), n_outputs)(document[name], name)


def check_table(table: Any) -> None:
    """Check what a model file holds of the columns, and of how they are encoded."""
    _TABLE(table, "table")
    columns, features, encoding = table["columns"], table["features"], table["encoding"]
    if len(set(columns)) < len(columns):
        raise SchemaError("table.columns holds a name twice")
    d = len(columns)
    if features["members"] is not None:
        listed(listed(whole(0, d - 1)))(features["members"], "table.features.members")
        if features["names"] is None or len(features["names"]) != len(features["members"]):
            raise SchemaError("table.features holds other numbers of names and of members")
        d = len(features["members"])
    listed(whole(0, d - 1))(features["required"], "table.features.required")
    if features["kinds"] is not None and len(features["kinds"]) != len(columns):
        raise SchemaError("table.features holds other numbers of kinds and of columns")
    for one in encoding["derived"]:
        _check_derived(one, encoding["n_inputs"])


def _check_net(spec: Any) -> None:
    kind = spec.get("kind") if isinstance(spec, dict) else None
    one_of(*_NETS)(kind, "predictor.kind")
    _NETS[str(kind)](spec, "predictor")
    if kind == "image_cnn" and spec["image_shape"][0] * spec["image_shape"][1] != spec["width"]:
        raise SchemaError(f"predictor.width is {spec['width']}, which {spec['image_shape']} pixels are not")


def _check_classes(document: dict[str, Any], n_outputs: int) -> None:
    listed(_LABEL)(document.get("classes"), "classes")
    kind = document.get("class_type")
    text(20)(kind, "class_type")
    found = _TYPE.fullmatch(str(kind))
    if found is None:
        raise SchemaError(f"class_type is {kind!r}; a type of text or numbers is needed")
    n_classes, length = len(document["classes"]), int(found[1] or 0)
    if length > _LONGEST_LABEL or length * n_classes > _MOST_LABELS:
        raise SchemaError(f"class_type is {kind!r}; at most {_LONGEST_LABEL:,} characters are allowed")
    if not all(_fits(label, str(kind), length) for label in document["classes"]):
        raise SchemaError(f"classes holds labels that are not of the type {kind}")
    needed = {"binary": 2, "multiclass": n_outputs, "ordered": n_outputs + 1, "multilabel": n_outputs}
    expected = needed.get(document["task"]["kind"])
    if expected is not None and n_classes != expected:
        raise SchemaError(f"classes holds {n_classes} classes, for which {n_outputs} outputs do not fit")


def _fits(label: Any, kind: str, length: int) -> bool:
    """Whether a label is of a type, so that nothing of it is lost."""
    if "U" in kind:
        return isinstance(label, str) and len(label) <= length
    if kind == "|O":
        return True
    return isinstance(label, bool) == (kind == "|b1") and not isinstance(label, str)


def _check_derived(one: Any, n_inputs: int) -> None:
    kind = one.get("kind") if isinstance(one, dict) else None
    one_of(*_DERIVED)(kind, "table.encoding.derived.kind")
    _DERIVED[str(kind)](one, "table.encoding.derived")
    whole(0, n_inputs - 1)(one["source"], "table.encoding.derived.source")
    if kind == "normal_scores" and len(one["values"]) != len(one["scores"]):
        raise SchemaError("table.encoding.derived holds other numbers of values and of scores")
    if kind == "means" and len({len(means) for means in one["means"]}) != 1:
        raise SchemaError("table.encoding.derived.means holds rows of several lengths, or none")


_SCALE = number(5e-324, 1.7e308)
_SOURCE = {"kind": text(20), "source": whole()}
_DERIVED: dict[str, Check] = {
    "cycles": fields({**_SOURCE, "periods": listed(number(1.0, 1e12))}),
    "normal_scores": fields({**_SOURCE, "values": listed(number()), "scores": listed(number())}),
    "means": fields({**_SOURCE, "means": listed(listed(number()))}),
}
_KIND = fields(
    {
        "kind": one_of("numeric", "categorical", "ordered", "date"),
        "levels": maybe(listed(_LABEL)),
        "day_first": maybe(flag),
    }
)
_TABLE = fields(
    {
        "columns": listed(text()),
        "targets": maybe(listed(text())),
        "features": fields(
            {
                "names": maybe(listed(text())),
                "members": maybe(listed(plain)),
                "required": listed(whole()),
                "kinds": maybe(listed(_KIND)),
            }
        ),
        "encoding": fields({"n_inputs": whole(1, _MOST_COLUMNS), "derived": listed(plain)}),
    }
)


@lru_cache(maxsize=1)
def _document() -> Check:
    """Of all metadata; what the target of a user's own estimator needs may be beside."""
    figure = fields(
        {"metric": of_type(Metric), **dict.fromkeys(("value", "std", "low", "high", "baseline"), number(finite=False))}
    )
    return fields(
        {
            "format": whole(1),
            "version": text(100),
            "predictor": plain,
            "subset_predictor": maybe(fields(_MLP)),
            "estimator": text(1_000),
            "parameters": mapped(plain),
            "config": of_type(TrainConfig),
            "history": of_type(History),
            "has_names": flag,
            "frame_kind": maybe(text(100)),
            "figures": mapped(figure),
            "metric": text(1_000),
            "n_validation": whole(),
            "unseen": flag,
            "signal_pvalue": number(0.0, 1.0),
            "explained": maybe(number()),
            "explainable": maybe(number()),
            "stability": maybe(fields({"repeats": whole(1), "size": whole(1)})),
            "size_curve": maybe(fields({"figure": text(100), "enough": maybe(whole())})),
            "task": fields({"kind": text(1_000), "n_outputs": whole(1, _MOST_OUTPUTS)}, others=plain),
            "classes": plain,
            "class_type": plain,
            "single_output": flag,
            "y_mean": plain,
            "y_scale": plain,
        },
        others=plain,
        optional=("classes", "class_type", "single_output", "y_mean", "y_scale"),
    )
