"""The predictor trained on all features: a reference for the figures of the chosen ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from sklearn.base import clone

from maskrank.core.config import DEFAULT, TrainConfig
from maskrank.core.predictor.training import fit_predictor
from maskrank.estimators import DualNetClassifier, DualNetRegressor
from maskrank.estimators.figures import Figures
from maskrank.estimators.fitting import prepare, scaled_rows
from maskrank.estimators.judging import without_factors
from maskrank.estimators.preparation import net_maker, resolve_seed, torch_threads

_MOST_FEATURES = 5_000


def all_features_figures(
    model: DualNetClassifier | DualNetRegressor, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None
) -> Figures | None:
    """The figures of the same predictor, trained on all features of the same rows, on the same held-out rows.

    Parameters
    ----------
    model : fitted estimator
        With an integer ``random_state``, so that the same rows are held out.
    X, y, sample_weight, groups : what it was fitted on

    Returns
    -------
    dict of str to Figure, or None
        As ``figures_``, without baselines; None for a net of the user's own, and beyond 5,000 features.
    """
    if net_maker(model.operator) is not None:
        return None
    fresh = clone(model)
    whole, factors = fresh._training_part(X, y, sample_weight, groups)
    generator = torch.Generator().manual_seed(resolve_seed(model.random_state))
    fresh.task_ = fresh._make_task()
    parts = whole.hold_out(model.validation_fraction, generator)
    config = _with_predictor(model.config_)
    settings = fresh._settings(fresh.task_, model.result_.size, model._table, config)
    prepared = prepare(settings, *parts)
    if len(prepared.features) > _MOST_FEATURES:
        return None
    fresh._y_scaling = prepared.y_scaling
    shown, held_out = (scaled_rows(prepared, part) for part in parts)
    useful = torch.ones(shown.n_features + shown.n_required, dtype=torch.bool, device=shown.device)
    features = torch.arange(shown.n_features, device=shown.device)
    with torch_threads(1):
        fitted = fit_predictor(
            settings.task, shown, held_out, features, useful, config=config, generator=generator, learn_all=True
        )
        with torch.no_grad():
            outputs = fitted.held_out(held_out.chosen(features)[0])
    rows = fitted.unseen if bool(fitted.unseen.any()) else ~fitted.unseen
    judging = without_factors(parts[1], factors).take(rows.nonzero().squeeze(1).numpy())
    figures: Figures = fresh._figures(judging, outputs.cpu().double()[rows].numpy())
    return figures


def _with_predictor(config: TrainConfig) -> TrainConfig:
    """The config with the default's predictor, where it has none."""
    if config.predictor.n_recipes:
        return config
    return replace(config, predictor=DEFAULT.predictor, activation=DEFAULT.activation)
