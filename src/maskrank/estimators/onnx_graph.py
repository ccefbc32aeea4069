"""Writes an ONNX graph node by node; numbers are 64-bit floats where a node does not say otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maskrank.estimators.scaling import Array

if TYPE_CHECKING:
    from onnx import ModelProto

OPSETS = {"": 17, "ai.onnx.ml": 2}
_IR_VERSION = 8  # the format of these operator sets, which onnxruntime reads from 1.12 on


class Graph:
    """Nodes and constants of a graph; values are spoken of by their names."""

    def __init__(self) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self._helper, self._as_tensor, self.types = helper, numpy_helper.from_array, TensorProto
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._names = 0

    def add(self, kind: str, *inputs: str | Array | float, domain: str = "", **attributes: Any) -> str:
        """A node; returns the name of its output. An input that is no name is a constant."""
        out = self._new_name()
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self._nodes.append(self._helper.make_node(kind, names, [out], domain=domain, **attributes))
        return out

    def constant(self, values: Any) -> str:
        """An array as a value; Python's numbers are 64-bit floats."""
        name, array = self._new_name(), np.asarray(values)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self._constants.append(self._as_tensor(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def exactly(self, values: Array) -> str:
        """An array of shorter floats, kept as it is in the file, as 64-bit floats."""
        return self.add("Cast", values, to=self.types.DOUBLE)

    def given(self, name: str, kind: int, shape: list[Any]) -> str:
        """An input."""
        self._inputs.append(self._helper.make_tensor_value_info(name, kind, shape))
        return name

    def answer(self, value: str, name: str, kind: int, shape: list[Any]) -> None:
        """Name a value as an output; a name that an input has already gets an underscore."""
        while name in self.inputs:
            name += "_"
        self._nodes.append(self._helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._helper.make_tensor_value_info(name, kind, shape))

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [one.name for one in self._inputs]

    def model(self, facts: dict[str, str], **description: str) -> ModelProto:
        """The model, checked."""
        from onnx import checker

        graph = self._helper.make_graph(self._nodes, "maskrank", self._inputs, self._outputs, self._constants)
        opsets = [self._helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = self._helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, **description)
        self._helper.set_model_props(model, facts)
        checker.check_model(model)
        return model

    def _new_name(self) -> str:
        self._names += 1
        return f"maskrank:{self._names}"
