"""What the estimators share: parameters, and ``fit`` from the user's arrays to the fitted attributes."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from maskrank.core.config import TrainConfig
from maskrank.core.method.tasks import Task
from maskrank.core.recorder import Callback
from maskrank.core.scoring import ranking as core
from maskrank.core.scoring import size_curve as core_curve
from maskrank.estimators.amounts import resolve_choice, resolve_largest_size, resolve_repeats
from maskrank.estimators.checkpoints import Folder
from maskrank.estimators.copies import count_copies
from maskrank.estimators.display import DisplayMixin
from maskrank.estimators.explaining import ExplanationMixin
from maskrank.estimators.feature_table import FeatureTable, resolve_features
from maskrank.estimators.fitting import Part, Settings, find_size, prepare, train
from maskrank.estimators.inputs import as_table, column_names
from maskrank.estimators.judging import JudgingMixin, without_factors
from maskrank.estimators.large_tables import learn_others, sampled_rows
from maskrank.estimators.prediction import PredictionMixin
from maskrank.estimators.preparation import (
    frame_kind,
    hidden_sizes,
    is_sizes,
    net_maker,
    resolve_config,
    with_effort,
)
from maskrank.estimators.ranking import Ranking
from maskrank.estimators.row_weights import check_groups, check_several_groups, check_weights, scaled_weights
from maskrank.estimators.scaling import Array
from maskrank.estimators.size_curve import SizeCurve
from maskrank.estimators.stability import Stability, rank_subsample
from maskrank.estimators.stopping import StoppingMixin, unfitted_when_stopped
from maskrank.estimators.storage import StorageMixin
from maskrank.estimators.survivable import KeptRefits, fit_checkpoint, kept_seed
from maskrank.parallel.repeats import Repeats


class DualNetBase(
    StoppingMixin,
    ExplanationMixin,
    PredictionMixin,
    JudgingMixin,
    DisplayMixin,
    StorageMixin,
    SelectorMixin,
    BaseEstimator,
):
    """The dual net as a scikit-learn selector; a subclass has a `Task` and encodes and decodes its target."""

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        max_features_to_select: int | None = None,
        categorical_features: Any = "from_dtype",
        groups: Any = None,
        required: Any = None,
        preset: str | TrainConfig = "default",
        search_effort: str | float = "default",
        operator: Any = None,
        selector: tuple[int, ...] | None = None,
        max_batches: int | None = None,
        validation_fraction: float = 0.2,
        metric: str = "auto",
        standardize: bool = True,
        refit: bool = True,
        n_subsets: int | None = None,
        batch_size: int | None = None,
        phase1_batches: int | None = None,
        exploit_share: float | None = None,
        n_perturbed: int | None = None,
        operator_rate: float | None = None,
        selector_rate: float | None = None,
        patience: int | None = None,
        stop_on: str | None = None,
        n_repeats: int = 0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "auto",
        checkpoint: Any = None,
        callbacks: tuple[Any, ...] = (),
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.max_features_to_select = max_features_to_select
        self.categorical_features = categorical_features
        self.groups = groups
        self.required = required
        self.preset = preset
        self.search_effort = search_effort
        self.operator = operator
        self.selector = selector
        self.max_batches = max_batches
        self.validation_fraction = validation_fraction
        self.metric = metric
        self.standardize = standardize
        self.refit = refit
        self.n_subsets = n_subsets
        self.batch_size = batch_size
        self.phase1_batches = phase1_batches
        self.exploit_share = exploit_share
        self.n_perturbed = n_perturbed
        self.operator_rate = operator_rate
        self.selector_rate = selector_rate
        self.patience = patience
        self.stop_on = stop_on
        self.n_repeats = n_repeats
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    @unfitted_when_stopped
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Any:
        """Find the best s features, rank them, and learn to predict from them.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
            Numbers, categories, dates; NaN, None and blank text are missing values. Floats of 32 and 64 bits, also in
            memory-mapped files, and SciPy's compressed rows are read in place; other numbers are converted.
            A table larger than memory is a pyarrow dataset, a polars LazyFrame, a Dask DataFrame, or what
            `maskrank.tables.open_large` opens: features are chosen on a uniform sample (``sample_``), and the
            training of the predictor continues with the other rows.
        y : array (n,); (n, outputs) for a regression of several targets, or for labels, 0 and 1
            Times and events for `DualNetSurvival`, which has the forms. The name of a column, or a list of names, of a
            table larger than memory; so are ``sample_weight`` and ``groups``.
        sample_weight : array (n,), optional
            What each row counts, wherever it is learned from or judges; their scale does not matter. A row of weight 0
            is left out. A row of weight 3 is the same as three copies of it: with weights, copies of a row are
            counted as its weight, and so they are without, where rows are repeated with the same target each time.
            Columns are standardised without weights.
        groups : array (n,), optional
            The group of each row, such as its patient. No group is on both sides of the validation split, of a fold
            of any cross-fitting, or of a subsample of ``n_repeats``. (Groups of columns are a parameter of the
            estimator.) Of a table larger than memory the predictor then learns from the sample alone.
        X_val, y_val, sample_weight_val : the same, optional
            Rows for early stopping and for the choice among the predictor's nets; no net learns from them. Without
            them ``validation_fraction`` of the rows are held out until the features are chosen. Then, with up to
            20,000 rows, the predictor's nets are cross-fitted on all rows, and with fewer rows than features (and at
            most 768 rows) the features may be reselected on all rows. ``figures_`` are of nets that did not learn from
            the held-out rows, on features chosen without them; their number, with "auto", is measured on all rows.

        Returns
        -------
        self
        """
        X, y, sample_weight, groups, others = sampled_rows(self, X, y, sample_weight, groups, X_val=X_val)
        kind, given = frame_kind(X), as_table(X)
        whole, factors = self._training_part(given, y, sample_weight, groups)
        names = column_names(given, whole.source.shape[1])
        n_repeats = resolve_repeats(self.n_repeats, self.n_jobs)
        self._check_metric()
        task = self._make_task()
        kinds = None if self._inputs is None else self._inputs.columns
        table = resolve_features(names, kinds, groups=self.groups, required=self.required)
        own = self._own_validation(X_val, y_val, sample_weight_val, task, factors)
        if own is None:
            self._check_split(whole.target)
        seed = kept_seed(self.checkpoint, self.random_state)
        store = self._open_checkpoint(whole, own, table, seed)
        generator = torch.Generator().manual_seed(seed)
        training, validation = whole.hold_out(self.validation_fraction, generator) if own is None else (whole, own)
        self._check_parts(training.target, validation.target)
        size, curve = self._choose_size(task, training, validation, table, seed, store)
        settings = self._settings(task, size, table)
        prepared = prepare(settings, training, validation)
        refit: Any = partial(rank_subsample, settings, whole, own, self.validation_fraction)
        refit = refit if store is None else KeptRefits(refit, store)
        repeats = Repeats(refit, n_repeats, seed=seed, n_jobs=self.n_jobs, verbose=self.verbose) if n_repeats else None
        listeners = self._listeners(repeats)
        with repeats or nullcontext():
            trained = train(prepared, generator=generator, callbacks=listeners, test_signal=True, store=store)
            self._frame_kind, self._table = kind, table
            self.task_ = task
            self.config_ = trained.config
            self.history_ = trained.history
            self.size_curve_ = SizeCurve.joined(trained.curve, curve)
            self.predictor_ = trained.predictor.deployed()
            self._subset_predictor = None if trained.subset_predictor is None else trained.subset_predictor.deployed()
            self._set_ranking(trained.ranking)
            self._encoding = prepared.table.encoding(self._used_features(), np.flatnonzero(self.support_))
            self._column_names, self._missing, self._varies = tuple(names), *prepared.table.of_inputs
            self._y_scaling = prepared.y_scaling
            self.sample_ = None
            if others is not None:
                trained = learn_others(self, trained, validation, others, factors, seed=seed, callbacks=listeners)
            self._judge(trained, *(without_factors(part, factors) for part in (training, validation)))
            self.stability_ = None
            if repeats is not None:
                self._course.waits_for(repeats, self)
                self.stability_ = Stability.of(table.names, *repeats.results(), size=size)
        return self

    def _training_part(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Part, Array | None]:
        """The rows that count, with copies counted as weights; and the factors of the classes' weights (k,), if any."""
        X, y = self._validate_rows(X, y, reset=True)
        n = y.shape[0]
        weights, row_groups = check_weights(sample_weight, n), check_groups(groups, n)
        target = self._learn_target(y)
        factors = self._class_factors(target, weights)
        weights = _times_factors(weights, factors, target)
        rows = np.arange(n)
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            if len(rows) < 2:
                raise ValueError(f"sample_weight is above 0 in {len(rows)} row only: at least 2 rows are needed")
            target, weights = self._learn_target(y[rows]), weights[rows]
        if row_groups is not None:
            row_groups = row_groups[rows]
            check_several_groups(row_groups)
        whole = Part.whole(X, target, self._make_task(), rows=rows, weights=weights, groups=row_groups)
        return count_copies(whole), factors

    def _choose_size(
        self, task: Task, training: Part, validation: Part, table: FeatureTable, seed: int, store: Folder | None
    ) -> tuple[int, core_curve.SizeCurve | None]:
        """The number of features to select, and, where it is chosen here, the curve it was chosen on."""
        d = len(table) - len(table.required)
        if self.max_features_to_select is not None and self.n_features_to_select != "auto":
            raise ValueError("max_features_to_select goes with n_features_to_select='auto'")
        if self.n_features_to_select != "auto":
            return resolve_choice(self.n_features_to_select, d, self._config), None
        bound = resolve_largest_size(self.max_features_to_select, d, self._config(1, d))
        prepared = prepare(self._settings(task, bound, table), training, validation)
        generator = torch.Generator().manual_seed(seed)
        kept = None if store is None else store.within("size")
        curve = find_size(prepared, generator=generator, callbacks=self._listeners(None), store=kept)
        return curve.enough, curve

    def _open_checkpoint(self, whole: Part, own: Part | None, table: FeatureTable, seed: int) -> Folder | None:
        """The folder that the fit is kept in, if any."""
        if self.checkpoint is None:
            return None
        parameters = self._plain_parameters()
        return fit_checkpoint(
            self.checkpoint,
            whole=whole,
            own=own,
            table=table,
            parameters=parameters,
            operator=self.operator,
            seed=seed,
        )

    # What a subclass knows of its target: y as given, `target` as learned from, outputs of the predictor. It also has
    # `_decode`, `_explained`, `_output_names`, `_target_document` and `_restore_target`, see `Attributes`, and its
    # figures, see `JudgingMixin`.
    _standardizes_target: ClassVar[bool] = True  # whether ``standardize`` is about numbers to predict, too

    def _learn_target(self, y: Array) -> Array:
        """Check y, learn its classes or shape, and encode it."""
        raise NotImplementedError

    def _class_factors(self, target: Array, weights: Array | None) -> Array | None:
        """What the weights of each class's rows are multiplied by: (k,); None for nothing."""
        return None

    def _encode_target(self, y: Array) -> Array:
        """Encode more targets of the same kind."""
        raise NotImplementedError

    def _known_targets(self, y: Array) -> Array:
        """Which of more targets can be learned from: (n,) of bool."""
        return np.ones(len(y), dtype=bool)

    def _make_task(self) -> Task:
        """The task for the target that was learned."""
        raise NotImplementedError

    def _check_split(self, target: Array) -> None:
        """Check that the rows can be split into training and validation rows."""

    def _check_parts(self, training: Array, validation: Array) -> None:
        """Check that training rows can be learned from, and that validation rows can judge."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def _settings(self, task: Task, size: int, table: FeatureTable, config: TrainConfig | None = None) -> Settings:
        return Settings(
            task=task,
            size=size,
            config=self._config(size, len(table) - len(table.required)) if config is None else config,
            table=table,
            operator=self.operator,
            standardize=self.standardize,
            standardize_target=self.standardize and self._standardizes_target,
            device=self.device,
        )

    def _own_validation(
        self, X_val: Any, y_val: Any, sample_weight: Any, task: Task, factors: Array | None
    ) -> Part | None:
        """The user's validation rows, if any; the classes have the factors (k,) that they have in training."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: one of them is missing")
        if X_val is None:
            if sample_weight is not None:
                raise ValueError("sample_weight_val goes with X_val and y_val, which are missing")
            return None
        X_val, y_val = self._validate_rows(X_val, y_val, reset=False)
        target = self._encode_target(y_val)
        weights = check_weights(sample_weight, len(target), name="sample_weight_val")
        weights = _times_factors(weights, factors, target)
        if weights is None:
            return Part.whole(X_val, target, task)
        rows = np.flatnonzero(weights)
        return Part.whole(X_val, target[rows], task, rows=rows, weights=scaled_weights(weights[rows]))

    def _config(self, size: int, d: int) -> TrainConfig:
        changes = {
            name: getattr(self, name)
            for name in [
                "max_batches",
                "n_subsets",
                "batch_size",
                "phase1_batches",
                "exploit_share",
                "n_perturbed",
                "operator_rate",
                "selector_rate",
                "patience",
                "stop_on",
            ]
        }
        config = resolve_config(
            self.preset,
            shape=(size, d),
            own_net=net_maker(self.operator) is not None,
            **changes,
            operator_hidden=hidden_sizes("operator", self.operator) if is_sizes(self.operator) else None,
            selector_hidden=None if self.selector is None else hidden_sizes("selector", self.selector),
        )
        config = with_effort(config, self.search_effort)
        return config if self.refit else config.using(predictor__n_recipes=0)

    def _listeners(self, repeats: Repeats | None) -> tuple[Callback, ...]:
        """The user's callbacks, what a stop is told from, and the progress bar: that of all fits with refits."""
        callbacks = (*self._checked_callbacks(), self._course)
        if repeats is None:
            return (*callbacks, *self._course.bars)
        self._course.close_bar()
        return (*callbacks, repeats)

    def _checked_callbacks(self) -> tuple[Callback, ...]:
        if not (isinstance(self.callbacks, tuple | list) and all(map(callable, self.callbacks))):
            raise ValueError(f"callbacks={self.callbacks!r} must be a tuple of functions")
        for call in self.callbacks:
            if not isinstance(call, Callback) and (hasattr(call, "on_stage") or hasattr(call, "on_fact")):
                raise ValueError(f"{type(call).__name__} has on_stage or on_fact: it must subclass maskrank.Callback")
        return tuple(self.callbacks)

    def _set_ranking(self, ranking: core.Ranking) -> None:
        """Keep the ranking of the features; the columns of a group have its rank, and split its share."""
        table, measured = self._table, ranking.scores_std is not None
        self.result_ = Ranking.of(ranking)
        self.support_ = table.of_columns(ranking.support, outside=False)
        self.n_features_ = ranking.size
        self.ranking_ = -table.of_columns(-ranking.ranks, outside=-ranking.size - 1)
        self.raw_scores_ = table.of_columns(ranking.raw_scores, outside=-np.inf)
        spread = table.split if measured else partial(table.of_columns, outside=-np.inf)
        self.feature_importances_ = spread(ranking.scores)
        self.feature_importances_std_ = None if ranking.scores_std is None else table.split(ranking.scores_std)
        self.evidence_ = None if ranking.evidence is None else table.of_columns(ranking.evidence, outside=-np.inf)

    def _used_features(self) -> Array:
        """The features that the predictor sees, in its order: the chosen ones, then the required ones."""
        required = np.array(self._table.required, dtype=np.int64)
        return np.concatenate([np.setdiff1d(np.flatnonzero(self.result_.support), required), required])


def _times_factors(weights: Array | None, factors: Array | None, target: Array) -> Array | None:
    """The weights of rows times the factors of their classes: (n,), (k,), (n,) -> (n,)."""
    if factors is None:
        return weights
    return np.asarray(factors[target] if weights is None else weights * factors[target])
