"""A fitted estimator as the document and arrays of a model file, and back."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maskrank.core.config import TrainConfig
from maskrank.core.method.tasks import task_from_document
from maskrank.core.metrics import Metric
from maskrank.core.recorder import History
from maskrank.core.scoring.ranking import Ranking
from maskrank.estimators.attributes import Attributes
from maskrank.estimators.deployment import DeployedModel
from maskrank.estimators.encoding import Encoding
from maskrank.estimators.feature_table import FeatureTable
from maskrank.estimators.figures import Figure
from maskrank.estimators.inputs import Inputs
from maskrank.estimators.persistence import StoredModel, as_tuples, write_model
from maskrank.estimators.preparation import is_sizes, net_maker
from maskrank.estimators.scaling import Array
from maskrank.estimators.size_curve import SizeCurve
from maskrank.estimators.stability import Stability

# Before the names of their arrays:
_STABILITY, _SIZE_CURVE, _ENCODING, _TARGET = "stability.", "size_curve.", "encoding.", "target."


class StorageMixin(Attributes, BaseEstimator):
    """``save``, and what `maskrank.load` needs."""

    def save(self, path: Any) -> None:
        """Write the fitted model to one file, to be read by `maskrank.load`."""
        check_is_fitted(self)
        document = {
            "estimator": type(self).__name__,
            "parameters": self._plain_parameters(),
            "config": asdict(self.config_),
            "history": asdict(self.history_),
            "has_names": hasattr(self, "feature_names_in_"),
            "frame_kind": self._frame_kind,
            "figures": {name: asdict(figure) for name, figure in self.figures_.items()},
            "metric": self.metric_.name,
            "n_validation": self.n_validation_,
            "unseen": self._unseen,
            "signal_pvalue": self.signal_pvalue_,
            "explained": self.result_.explained,
            "explainable": self.result_.baseline,
            "stability": None if self.stability_ is None else self.stability_.figures(),
            "size_curve": None if (curve := self.size_curve_) is None else curve.answer(),
            "task": self.task_.to_document(),
            **self._target_document(),
        }
        arrays = {
            "support": self.result_.support,
            "raw_scores": self.result_.raw_scores,
            "scores": self.result_.scores,
            "missing": self._missing,
            "varies": self._varies,
            "table": _as_bytes(
                {
                    "columns": list(self._column_names),
                    "targets": self._target_names,
                    "features": self._table.document(),
                    "encoding": self._encoding.document(),
                }
            ),
        }
        arrays |= {_ENCODING + name: values for name, values in self._encoding.arrays().items()}
        arrays |= {_TARGET + name: values for name, values in self._target_arrays().items()}
        optional = {"scores_std": self.result_.scores_std, "evidence": self.result_.evidence}
        arrays |= {name: values for name, values in optional.items() if values is not None}
        if self.stability_ is not None:
            arrays |= {_STABILITY + name: values for name, values in self.stability_.arrays().items()}
        if curve is not None:
            arrays |= {_SIZE_CURVE + name: values for name, values in curve.arrays().items()}
        write_model(path, document, arrays, self.predictor_, self._subset_predictor)

    def to_onnx(self, path: Any) -> None:
        """Write the predictor as an ONNX model, with the scaling and the categories of its columns.

        Where the chosen columns are plain numbers, its input is the matrix ``X``, (rows, columns) of 64-bit floats in
        the order of ``get_feature_names_out()``; NaN is a missing value. Otherwise each column is an input of its own,
        (rows, 1): text for categories of text, where ``""`` is a missing value, 64-bit floats for numbers, other
        categories, and dates as seconds since 1970. Outputs are ``label`` and ``probabilities`` of a classifier,
        ``value`` of a regression or of counts, ``risk`` of a survival. It needs onnx (extra ``onnx``).

        Parameters
        ----------
        path : path

        Raises
        ------
        ValueError
            The operator is a net of its own kind, such as `ImageCNN`, or a category has levels of several types.
        """
        check_is_fitted(self)
        from maskrank.estimators.onnx_export import write_onnx

        chosen = np.flatnonzero(self.support_).tolist()
        columns = {self._column_names[j]: self._table.kind_of(j) for j in chosen}
        write_onnx(path, DeployedModel(columns, self._target_names, self._answers(), self._encoding, self.predictor_))

    @classmethod
    def _restored(cls, stored: StoredModel, operator: Any) -> Any:
        """A fitted estimator from what a file holds."""
        document, arrays = stored.document, stored.arrays
        model = cls(**_parameters(document["parameters"]))
        if operator is not None:
            model.set_params(operator=operator)
        model.config_ = TrainConfig.from_dict(document["config"])
        model.history_ = History.from_dict(document["history"])
        model.predictor_ = stored.predictor(net_maker(operator))
        model._subset_predictor = stored.subset_predictor()
        table = stored.table
        model._table = FeatureTable.from_document(table["features"], table["columns"])
        model._inputs = None if model._table.kinds is None else Inputs(model._table.kinds)
        model._column_names = tuple(table["columns"])
        model._target_names = None if (targets := table.get("targets")) is None else tuple(targets)
        model._missing, model._varies = arrays["missing"], arrays["varies"]
        names = tuple(model._table.names)
        model.n_features_in_ = model._table.n_columns
        if document["has_names"]:
            model.feature_names_in_ = np.array(table["columns"], dtype=object)
        ranking = Ranking(
            names=names,
            support=arrays["support"],
            raw_scores=arrays["raw_scores"],
            scores=arrays["scores"],
            scores_std=arrays.get("scores_std"),
            evidence=arrays.get("evidence"),
            explained=document["explained"],
            baseline=document["explainable"],
            required=model._table.is_required,
        )
        model._set_ranking(ranking)
        model._encoding = Encoding.restored(table["encoding"], stored.named(_ENCODING))
        model._frame_kind = document["frame_kind"]
        model.figures_ = {name: _figure(figure) for name, figure in document["figures"].items()}
        headline = model.figures_[document["metric"]]
        model.metric_ = headline.metric
        model.validation_score_, model.baseline_score_ = headline.value, headline.baseline
        model.n_validation_, model._unseen = document["n_validation"], document["unseen"]
        model.signal_pvalue_ = document["signal_pvalue"]
        model.signal_ = model.signal_pvalue_ <= model.config_.signal.level
        stability, curve = stored.part("stability"), stored.part("size_curve")
        model.stability_ = None if stability is None else Stability(names=names, **stability)
        model.size_curve_ = None if curve is None else SizeCurve(**curve)
        model.task_ = task_from_document(document["task"])
        model._restore_target(document | stored.named(_TARGET))
        return model

    def _plain_parameters(self) -> dict[str, Any]:
        """The constructor parameters that a file can hold: no objects of the user's session."""
        parameters = self.get_params()
        parameters.pop("callbacks")
        parameters.pop("checkpoint")
        if not is_sizes(self.operator):
            parameters.pop("operator")
        if not isinstance(self.random_state, numbers.Integral):
            parameters.pop("random_state")
        parameters["device"] = str(self.device)
        if isinstance(self.preset, TrainConfig):
            parameters["preset"] = asdict(self.preset)
        for name in ("operator", "selector"):
            if is_sizes(parameters.get(name)):
                parameters[name] = [int(size) for size in parameters[name]]
        if isinstance(parameters.get("class_weight"), Mapping):  # names in JSON are text, and classes need not be
            parameters["class_weight"] = [list(pair) for pair in parameters["class_weight"].items()]
        return {name: _plain(value) for name, value in parameters.items()}


def _figure(document: dict[str, Any]) -> Figure:
    """A figure from what ``asdict`` gave."""
    return Figure(**{**document, "metric": Metric(**document["metric"])})


def _as_bytes(document: dict[str, Any]) -> Array:
    """JSON as an array: the head of a model file has no room for the levels of very large categories."""
    return np.frombuffer(json.dumps(document).encode(), dtype=np.uint8).copy()


def _plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as JSON holds them, in lists and dicts, too."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if hasattr(value, "tolist"):  # arrays, NumPy's numbers, and what pandas has of them
        value = value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple | set) else value


def _parameters(document: dict[str, Any]) -> dict[str, Any]:
    """Constructor parameters from JSON, where a `TrainConfig` is an object and a tuple a list."""
    parameters = as_tuples(document)
    if isinstance(parameters.get("preset"), dict):
        parameters["preset"] = TrainConfig.from_dict(parameters["preset"])
    if isinstance(parameters.get("class_weight"), tuple):
        parameters["class_weight"] = dict(parameters["class_weight"])
    return parameters
