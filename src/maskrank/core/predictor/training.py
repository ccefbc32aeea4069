"""Temporary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from maskrank.core.method.operators import SubsetMLP
from maskrank.core.predictor.refit import collapse, fine_tune, refit_mlp


@dataclass(frozen=True)
class FittedPredictor:
    predictor: nn.Module
    held_out: nn.Module


def make_predictor(
    operator: Any,
    task: Any,
    rows: Any,
    validation: Any,
    subset: Any,
    importance: Any,
    *,
    config: Any,
    generator: Any,
    learn_all: bool,
    callbacks: Any,
) -> FittedPredictor:
    if config.predictor.n_recipes and isinstance(operator, SubsetMLP):
        r = refit_mlp(
            task,
            rows,
            validation,
            subset,
            importance,
            config=config,
            generator=generator,
            learn_all=learn_all,
            callbacks=callbacks,
        )
        return FittedPredictor(r.predictor, r.judged)
    if config.predictor.n_recipes:
        operator.train()
        fine_tune(operator, task, rows, validation, subset, config=config, generator=generator, callbacks=callbacks)
    c = collapse(operator, subset)
    return FittedPredictor(c, c)
