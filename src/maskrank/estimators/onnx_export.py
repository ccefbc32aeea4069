"""A fitted predictor as an ONNX model: columns in their own units go in, answers in the units of the target come out.

It is written from what predicts (`DeployedModel`), step by step: `Inputs`, `Encoding`, `DeployedMLP`, `Answers`. All of
it computes in 64-bit floats, as `predict` does, and outputs are rounded to 32 bits in the same place.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

import maskrank
from maskrank.core.data.code import MISSING, Code
from maskrank.core.engine.deployed import LARGEST_INPUT, Deployed, DeployedMLP
from maskrank.core.probabilities import LARGEST_LOG_RATE
from maskrank.estimators.answers import LOWEST_COUNT, Answers, ClassAnswers, CountAnswers, NumberAnswers, RiskAnswers
from maskrank.estimators.derived import Cycles, Derived, MeanTargets
from maskrank.estimators.encoding import Encoding
from maskrank.estimators.kinds import InputColumn
from maskrank.estimators.onnx_graph import Graph
from maskrank.estimators.scaling import Array, Scaling
from maskrank.files import check_writable, write_atomically

if TYPE_CHECKING:
    from onnx import ModelProto

    from maskrank.estimators.deployment import DeployedModel

MATRIX = "X"  # the input of a table of plain numbers
ROWS = "rows"
_ACTIVATIONS = {"sigmoid": "Sigmoid", "relu": "Relu"}


def onnx_model(model: DeployedModel) -> ModelProto:
    """The model as ONNX has it.

    Raises
    ------
    ImportError
        onnx is not installed.
    ValueError
        The model predicts in a way that can't be written.
    """
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError("ONNX needs the package onnx: pip install 'maskrank[onnx]'") from error
    graph = Graph()
    numbers = _inputs(graph, model.columns)
    outputs = _outputs(graph, model.predictor, _encoded(graph, model.encoding, numbers))
    _answer(graph, model.answers, outputs)
    columns = {name: {"kind": kind.kind, "levels": kind.levels} for name, kind in model.columns.items()}
    facts = {"columns": json.dumps(columns)}
    if model.target_names is not None:
        facts["targets"] = json.dumps(list(model.target_names))
    return graph.model(facts, producer_name="maskrank", producer_version=maskrank.__version__, domain="maskrank")


def write_onnx(path: str | os.PathLike[str], model: DeployedModel) -> None:
    """Write the model as a file, whole or not at all."""
    check_writable(path)
    write_atomically(path, onnx_model(model).SerializeToString(deterministic=True))


def _inputs(graph: Graph, columns: dict[str, InputColumn]) -> str:
    """The numbers of a table as `Inputs` has them, NaN for gaps: (rows, columns).

    A table of plain numbers is one matrix; of others each column is an input of its own, of shape (rows, 1).
    """
    if all(column.kind == "numeric" for column in columns.values()):
        return graph.given(MATRIX, graph.types.DOUBLE, [ROWS, len(columns)])
    return graph.add("Concat", *(_column(graph, *column) for column in columns.items()), axis=1)


def _column(graph: Graph, name: str, column: InputColumn) -> str:
    if not name:
        raise ValueError("a column without a name can't be an input of an ONNX model: name it, and fit again")
    if column.levels is None:  # a number, or a date in seconds
        return graph.given(name, graph.types.DOUBLE, [ROWS, 1])
    if all(isinstance(level, str) for level in column.levels):
        text = graph.given(name, graph.types.STRING, [ROWS, 1])
        known = {"keys_strings": list(column.levels), "values_int64s": list(range(len(column.levels)))}
        place = graph.add("LabelEncoder", text, domain="ai.onnx.ml", default_int64=-1, **known)
        place = graph.add("Cast", place, to=graph.types.DOUBLE)
        return graph.add("Where", graph.add("Less", place, 0.0), np.nan, place)
    if any(isinstance(level, str) for level in column.levels):
        raise ValueError(f"column {name!r} has levels of text beside numbers, which no input of ONNX can hold")
    number = graph.given(name, graph.types.DOUBLE, [ROWS, 1])
    levels = np.array(column.levels, dtype=np.float64)
    same = graph.add("Cast", graph.add("Equal", number, levels), to=graph.types.DOUBLE)  # (rows, levels)
    place = graph.add("MatMul", same, np.arange(1.0, len(levels) + 1)[:, None])  # 0 where it is none of them
    return graph.add("Where", graph.add("Equal", place, 0.0), np.nan, graph.add("Sub", place, 1.0))


def _encoded(graph: Graph, encoding: Encoding, numbers: str) -> str:
    """As `Encoding.scaled`: (rows, inputs) -> (rows, columns)."""
    derived = [_derived(graph, one, numbers) for one in encoding.derived]
    wide = graph.add("Concat", numbers, *derived, axis=1) if derived else numbers
    return _scaled(graph, encoding.code, wide)


def _scaled(graph: Graph, code: Code, wide: str) -> str:
    """As `Code.apply`."""
    is_number, is_flag = np.isnan(code.level), code.level == MISSING
    raw = graph.add("Gather", wide, code.source, axis=1)
    missing = graph.add("IsNaN", raw)
    of_level = graph.add("And", graph.add("Equal", raw, code.level), ~is_flag)
    indicator = graph.add("Or", of_level, graph.add("And", missing, is_flag))
    value = graph.add("Where", is_number, raw, graph.add("Cast", indicator, to=graph.types.DOUBLE))
    gap = graph.add("And", missing, is_number | ~code.flagged)
    scaled = graph.add("Div", graph.add("Sub", value, code.mean), code.scale)
    return graph.add("Where", gap, code.fill, scaled)


def _derived(graph: Graph, derived: Derived, numbers: str) -> str:
    """As ``derived.columns``; a gap stays one."""
    column = graph.add("Gather", numbers, np.array([derived.source]), axis=1)
    missing = graph.add("IsNaN", column)
    present = graph.add("Where", missing, 0.0, column)
    if isinstance(derived, Cycles):
        angles = graph.add("Mul", present, 2 * np.pi / np.array(derived.periods))
        values = graph.add("Concat", graph.add("Sin", angles), graph.add("Cos", angles), axis=1)
    elif isinstance(derived, MeanTargets):
        level = graph.add("Cast", present, to=graph.types.INT64)
        means = graph.add("Gather", derived.means, level, axis=0)  # (rows, 1, outputs)
        values = graph.add("Squeeze", means, np.array([1]))
    else:
        places = _places(graph, present, derived.values[None])  # as np.interp
        steps = graph.add("MatMul", places, np.diff(derived.scores)[:, None])
        values = graph.add("Add", steps, derived.scores[:1])
    return graph.add("Where", missing, np.nan, values)


def _places(graph: Graph, columns: str, edges: Array) -> str:
    """Each number's place between neighbouring edges of its column: (rows, k), (k, bins + 1) -> (rows, k * bins)."""
    width = np.diff(edges, axis=1)
    slope = np.divide(1, width, out=np.zeros_like(width), where=width > 0)
    beyond = graph.add("Sub", graph.add("Unsqueeze", columns, np.array([2])), graph.exactly(edges[:, :-1]))
    places = graph.add("Clip", graph.add("Mul", beyond, graph.exactly(slope)), 0.0, 1.0)
    return graph.add("Reshape", places, np.array([-1, slope.size]))


def _outputs(graph: Graph, predictor: Deployed, columns: str) -> str:
    """As `DeployedMLP.outputs`: (rows, columns) -> (rows, outputs)."""
    if not isinstance(predictor, DeployedMLP):
        kind = predictor.spec().get("net", predictor.spec()["kind"])
        raise ValueError(f"the model's operator is a net of its own kind, {kind}: only MLPs are written as ONNX")
    weights, biases = predictor.weights, predictor.biases
    columns = graph.add("Clip", columns, -LARGEST_INPUT, LARGEST_INPUT)
    hidden = _activated(graph, predictor, _first_layer(graph, predictor, columns))  # (members, rows, units)
    for weight, bias in zip(weights[1:-1], biases[1:-1], strict=True):
        hidden = graph.add("MatMul", hidden, graph.exactly(weight))
        hidden = _activated(graph, predictor, graph.add("Add", hidden, graph.exactly(bias[:, None])))
    last = graph.add("Add", graph.add("MatMul", hidden, graph.exactly(weights[-1])), graph.exactly(biases[-1][:, None]))
    total = graph.add("ReduceSum", last, np.array([0]), keepdims=0)
    return graph.add("Cast", graph.add("Cast", total, to=graph.types.FLOAT), to=graph.types.DOUBLE)


def _first_layer(graph: Graph, predictor: DeployedMLP, columns: str) -> str:
    """(rows, columns) -> (members, rows, units), before the activation."""
    weight, bias, bins = predictor.weights[0], predictor.biases[0], predictor.bins
    plain = graph.add("Add", graph.add("MatMul", columns, graph.exactly(weight)), graph.exactly(bias[:, None]))
    if bins is None:
        return plain
    numeric = columns if bins.numeric is None else graph.add("Gather", columns, np.flatnonzero(bins.numeric), axis=1)
    places = _places(graph, numeric, bins.edges)
    centre, scale = (graph.exactly(array.reshape(-1)) for array in (bins.centre, bins.scale))
    standardised = graph.add("Mul", graph.add("Sub", places, centre), scale)
    encoded = graph.add("MatMul", standardised, graph.exactly(bins.weights))  # of the first members
    n_others = len(weight) - len(bins.weights)
    return graph.add("Add", plain, graph.add("Pad", encoded, np.array([0, 0, 0, n_others, 0, 0])))


def _activated(graph: Graph, predictor: DeployedMLP, hidden: str) -> str:
    if predictor.activation == "silu":
        return graph.add("Mul", hidden, graph.add("Sigmoid", hidden))
    return graph.add(_ACTIVATIONS[predictor.activation], hidden)


def _answer(graph: Graph, answers: Answers, outputs: str) -> None:
    """Label and probabilities of classes; the value otherwise, or the risk of a survival."""
    double = graph.types.DOUBLE
    if isinstance(answers, ClassAnswers):
        _classes(graph, answers, outputs)
    elif isinstance(answers, NumberAnswers):
        values = _undone(graph, answers.scaling, outputs)
        if answers.single:
            graph.answer(_flat(graph, values), "value", double, [ROWS])
        else:
            graph.answer(values, "value", double, [ROWS, len(answers.scaling.scale)])
    elif isinstance(answers, CountAnswers):
        rate = graph.add("Max", _rate(graph, outputs), LOWEST_COUNT)
        graph.answer(_flat(graph, _undone(graph, answers.scaling, rate)), "value", double, [ROWS])
    elif isinstance(answers, RiskAnswers):
        graph.answer(_flat(graph, outputs), "risk", double, [ROWS])
    else:
        raise ValueError(f"answers of the kind {type(answers).__name__} can't be written as ONNX")


def _undone(graph: Graph, scaling: Scaling, values: str) -> str:
    return graph.add("Add", graph.add("Mul", values, scaling.scale), scaling.mean)


def _flat(graph: Graph, values: str) -> str:
    return graph.add("Reshape", values, np.array([-1]))


def _rate(graph: Graph, log_rate: str) -> str:
    """As `rate_of`."""
    above = graph.add("Relu", graph.add("Sub", log_rate, LARGEST_LOG_RATE))
    return graph.add("Mul", graph.add("Exp", graph.add("Sub", log_rate, above)), graph.add("Add", above, 1.0))


def _classes(graph: Graph, answers: ClassAnswers, outputs: str) -> None:
    probabilities, k = _probabilities(graph, answers, outputs), len(answers.classes)
    if answers.kind == "multilabel":
        labels = graph.add("Cast", graph.add("Greater", probabilities, 0.5), to=graph.types.INT64)
        graph.answer(labels, "label", graph.types.INT64, [ROWS, k])
    else:
        classes = np.array(answers.classes.tolist())  # of objects, too
        kind = {"b": graph.types.BOOL, "f": graph.types.DOUBLE, "i": graph.types.INT64, "u": graph.types.INT64}
        place = graph.add("ArgMax", probabilities, axis=1, keepdims=0)
        classes = classes.astype(np.int64) if classes.dtype.kind == "u" else classes
        label = graph.add("Gather", classes, place)
        graph.answer(label, "label", kind.get(classes.dtype.kind, graph.types.STRING), [ROWS])
    graph.answer(probabilities, "probabilities", graph.types.DOUBLE, [ROWS, k])


def _of_ordered_classes(graph: Graph, outputs: str, n_classes: int) -> str:
    """As `core.probabilities.of_ordered_classes`; ONNX has no running minimum, so that each looks at all columns."""
    beyond = graph.add("Sigmoid", outputs)
    each = graph.add("Unsqueeze", beyond, np.array([1]))  # (rows, 1, columns)
    left = np.tri(n_classes - 1, dtype=bool)  # the column itself and those before it
    lowest = graph.add("ReduceMin", graph.add("Where", left, each, 2.0), axes=[2], keepdims=0)
    highest = graph.add("ReduceMax", graph.add("Where", left.T, each, -1.0), axes=[2], keepdims=0)
    falling = graph.add("Div", graph.add("Add", lowest, highest), 2.0)
    before, behind = (
        graph.add("Pad", falling, np.array([0, 1, 0, 0]), 1.0),
        graph.add("Pad", falling, np.array([0, 0, 0, 1])),
    )
    return graph.add("Abs", graph.add("Sub", before, behind))


def _probabilities(graph: Graph, answers: ClassAnswers, outputs: str) -> str:
    """As `ClassAnswers.probabilities`: (rows, outputs) -> (rows, classes)."""
    if answers.kind == "ordered":
        return _of_ordered_classes(graph, outputs, len(answers.classes))
    if answers.kind == "multiclass":
        return graph.add("Softmax", outputs, axis=1)
    likely = graph.add("Sigmoid", outputs)
    if answers.kind == "multilabel":
        return likely
    return graph.add("Concat", graph.add("Sub", 1.0, likely), likely, axis=1)
