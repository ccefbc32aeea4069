"""The state of an estimator, for the type checker: what its mixins read. `parameters` documents it for users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from maskrank.core.config import TrainConfig

if TYPE_CHECKING:
    from maskrank.core.engine.deployed import Deployed
    from maskrank.core.method.tasks import Task
    from maskrank.core.metrics import Metric
    from maskrank.core.recorder import History
    from maskrank.core.scoring.subset_predictor import SubsetPredictor
    from maskrank.estimators.answers import Answers
    from maskrank.estimators.encoding import Encoding
    from maskrank.estimators.feature_table import FeatureTable
    from maskrank.estimators.figures import Figures
    from maskrank.estimators.inputs import Inputs
    from maskrank.estimators.large_tables import SampleFacts
    from maskrank.estimators.ranking import Ranking
    from maskrank.estimators.scaling import Array
    from maskrank.estimators.size_curve import SizeCurve
    from maskrank.estimators.stability import Stability


class Attributes:
    """Parameters, fitted attributes, and what each mixin needs of the others."""

    n_features_to_select: int | float | str | None
    categorical_features: Any
    preset: str | TrainConfig
    operator: Any
    device: Any
    metric: str
    memory_limit: int | str | None
    random_state: Any

    ranking_: Array
    feature_importances_: Array
    feature_importances_std_: Array | None
    evidence_: Array | None
    raw_scores_: Array
    support_: Array
    result_: Ranking
    task_: Task
    history_: History
    size_curve_: SizeCurve | None
    n_features_: int
    validation_score_: float
    baseline_score_: float
    figures_: Figures
    metric_: Metric
    n_validation_: int
    signal_: bool
    signal_pvalue_: float
    stability_: Stability | None
    sample_: SampleFacts | None = None
    config_: TrainConfig
    predictor_: Deployed
    n_features_in_: int
    feature_names_in_: Array

    _subset_predictor: SubsetPredictor | None  # None where scores are not measured
    _frame_kind: Literal["pandas", "polars"]
    _table: FeatureTable
    _inputs: Inputs | None  # what the columns hold; None where all are numbers
    _encoding: Encoding  # of the columns of the selected features
    _target_names: tuple[str, ...] | None  # of several targets, where a file names them
    _column_names: tuple[str, ...]
    _missing: Array  # share of missing values of each column
    _varies: Array  # which columns vary
    _unseen: bool  # whether the rows behind the figures had no part in the nets that they judge
    _y_scaling: Any  # of a regression or of counts: Scaling; of a survival: CumulativeHazard; of classes: None

    def _answers(self) -> Answers:
        """What outputs of the predictor mean in the units of y."""
        raise NotImplementedError

    def _output_names(self) -> list[Any]:
        """What these numbers are of: the classes or labels, or the numbers of the targets."""
        raise NotImplementedError

    def _set_ranking(self, ranking: Any) -> None:
        raise NotImplementedError

    def _used_features(self) -> Array:
        """The features that the predictor sees, in its order: (features,)."""
        raise NotImplementedError

    def _target_document(self) -> dict[str, Any]:
        """What a model file holds of the target beside the task."""
        raise NotImplementedError

    def _target_arrays(self) -> dict[str, Array]:
        """The same where it is long."""
        return {}

    def _restore_target(self, document: dict[str, Any]) -> None:
        """Restore what ``_target_document`` described, and ``_target_arrays``; ``task_`` is there."""
        raise NotImplementedError
