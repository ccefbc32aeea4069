"""From the outputs of a predictor to answers in the units of the target: NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from maskrank.core.probabilities import PROBABILITIES, rate_of
from maskrank.estimators.scaling import Array, Scaling

LOWEST_COUNT = 1e-12  # of an expected count beside the mean: a deviance is of counts above 0


class Answers(Protocol):
    """What depends on the kind of target. Outputs are (n, outputs)."""

    def predicted(self, outputs: Array) -> Array:
        """Predictions: (n,) or (n, targets)."""

    def explained(self, outputs: Array) -> Array:
        """The numbers that are explained: (n, predictions)."""

    def names(self, n: int) -> list[str]:
        """What n columns of predictions are called, where the targets have no names."""


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Classes and their probabilities, or labels, 0 and 1.

    Attributes
    ----------
    kind : "binary", "multiclass", "ordered" or "multilabel"
    classes : ndarray (classes,) or (labels,)
    """

    kind: str
    classes: Array

    def probabilities(self, outputs: Array) -> Array:
        """(n, outputs) -> (n, classes)."""
        return PROBABILITIES[self.kind](outputs)

    def predicted(self, outputs: Array) -> Array:
        probabilities = self.probabilities(outputs)
        if self.kind == "multilabel":
            return np.asarray(probabilities > 0.5).astype(np.int64)
        return np.asarray(self.classes[probabilities.argmax(axis=1)])

    def explained(self, outputs: Array) -> Array:
        return self.probabilities(outputs)

    def names(self, n: int) -> list[str]:
        return [f"prediction_{label}" for label in self.classes] if n > 1 else ["prediction"]


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Numbers of one target, or of several."""

    scaling: Scaling
    single: bool

    def predicted(self, outputs: Array) -> Array:
        values = self.scaling.undo(outputs)
        return values[:, 0] if self.single else values

    def explained(self, outputs: Array) -> Array:
        return self.scaling.undo(outputs)

    def names(self, n: int) -> list[str]:
        return [f"prediction_{place}" for place in range(n)] if n > 1 else ["prediction"]


@dataclass(frozen=True, eq=False)
class CountAnswers:
    """Expected counts; outputs are logarithms."""

    scaling: Scaling

    def predicted(self, outputs: Array) -> Array:
        return self.explained(outputs)[:, 0]

    def explained(self, outputs: Array) -> Array:
        return self.scaling.undo(np.maximum(rate_of(outputs), LOWEST_COUNT))

    def names(self, n: int) -> list[str]:
        return ["prediction"]


@dataclass(frozen=True)
class RiskAnswers:
    """Risks, the logarithms of relative hazards: the outputs themselves."""

    def predicted(self, outputs: Array) -> Array:
        return outputs[:, 0]

    def explained(self, outputs: Array) -> Array:
        return outputs

    def names(self, n: int) -> list[str]:
        return ["risk"]


def answers_from_document(document: dict[str, Any]) -> Answers:
    """Of a model file: its task, and what `DualNetBase._target_document` wrote."""
    kind = document["task"]["kind"]
    if kind in PROBABILITIES:
        return ClassAnswers(kind, np.array(document["classes"], dtype=document["class_type"]))
    if kind == "survival":
        return RiskAnswers()
    scale = np.array(document["y_scale"])
    if kind == "counts":
        return CountAnswers(Scaling(np.zeros_like(scale), scale))
    return NumberAnswers(Scaling(np.array(document["y_mean"]), scale), document["single_output"])
