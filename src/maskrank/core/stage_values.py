"""The results of a fit's stages as plain values, for a `Checkpoint`, and back.

Only the classes named here are ever made from what a store holds.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from maskrank.core.checkpoint import State
from maskrank.core.config import TrainConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.predictor import Predictor
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.construction import OwnNet
from maskrank.core.method.operators import MaskedPredictor
from maskrank.core.method.tasks import Task
from maskrank.core.predictor.deployment import Deployed
from maskrank.core.proposals.proposal import Coverage, Proposal, SearchPolicy
from maskrank.core.scoring.masked_nets import MaskedNets
from maskrank.core.scoring.measurement import MeasuredScores
from maskrank.core.scoring.scored_rows import ScoredRows
from maskrank.core.scoring.shapley import Shares
from maskrank.core.scoring.signal import SignalTest
from maskrank.core.scoring.size_curve import SizeCurve
from maskrank.core.scoring.subset_predictor import SubsetPredictor
from maskrank.core.scoring.value_function import JudgedTable, ValueFunction

_CLASSES = {
    kind.__name__: kind
    for kind in (
        Blocks,
        Coverage,
        Deployed,
        JudgedTable,
        MeasuredScores,
        Proposal,
        ScoredRows,
        SearchPolicy,
        Shares,
        SignalTest,
        SizeCurve,
        SubsetPredictor,
        ValueFunction,
    )
}
_CLASS = "class"


class StageValues:
    """Encodes and decodes the results of one fit's stages.

    Parameters
    ----------
    task : Task
    config : TrainConfig
        Both are given by the fit, and not kept.
    net : OwnNet, optional
        Makes the net of a predictor that is the user's own.
    """

    def __init__(self, task: Task, config: TrainConfig, net: OwnNet | None) -> None:
        self._given: dict[str, Any] = {"task": task, "signal": config.signal}
        self._n_outputs, self._make_net = task.n_outputs, None if net is None else net.make

    def encode(self, value: Any) -> State:
        """Plain values; an object becomes a dict with the name of its class."""
        for name, given in self._given.items():
            if value is given:
                return {_CLASS: "given", "name": name}
        if isinstance(value, Predictor):
            return {_CLASS: "Predictor", "spec": value.spec(), "tensors": dict(value.state_dict())}
        if isinstance(value, MaskedNets):
            parts = {"nets": value.nets, "blocks": value.blocks, "n_required": value.n_required}
            return {_CLASS: "MaskedNets", **{name: self.encode(part) for name, part in parts.items()}}
        if isinstance(value, torch.Generator):
            return {_CLASS: "Generator", "state": value.get_state()}
        if is_dataclass(value):
            members = {entry.name: self.encode(getattr(value, entry.name)) for entry in fields(value)}
            return {_CLASS: type(value).__name__, **members}
        return value

    def decode(self, state: State) -> Any:
        """The object that was encoded.

        Raises
        ------
        KeyError, TypeError, RuntimeError
            The state is not one of a stage of this fit.
        """
        if not (isinstance(state, dict) and _CLASS in state):
            return state
        kind, members = state[_CLASS], {name: part for name, part in state.items() if name != _CLASS}
        if kind == "given":
            return self._given[members["name"]]
        if kind == "Predictor":
            return self._predictor(members["spec"], members["tensors"]).eval().requires_grad_(False)
        if kind == "Generator":
            generator = torch.Generator()
            generator.set_state(members["state"])
            return generator
        decoded = {name: self.decode(part) for name, part in members.items()}
        return MaskedNets(**decoded) if kind == "MaskedNets" else _CLASSES[kind](**decoded)

    def _predictor(self, spec: dict[str, Any], tensors: dict[str, Tensor]) -> Predictor:
        """A trained predictor, in the precision that it was trained in."""
        if spec["kind"] == "mlp":
            layers = range(spec["layers"])
            weights, biases = ([tensors[f"{part}.{i}"] for i in layers] for part in ("weights", "biases"))
            encoding = None
            if spec["encoded"]:
                edges, centre, scale = (tensors[f"encoding.{name}"] for name in ("edges", "centre", "scale"))
                encoding = PiecewiseLinearEncoding(edges, centre, scale, tensors.get("encoding.numeric"))
            return StackedMLP(weights, biases, spec["activation"], encoding)
        if self._make_net is None:
            raise TypeError(f"a fit without a net of the user's own has no {spec['kind']}")
        with torch.random.fork_rng():
            net = self._make_net(spec["width"], self._n_outputs)
        predictor = MaskedPredictor(net, tensors["places"], spec["width"])
        predictor.load_state_dict(tensors)
        return predictor
