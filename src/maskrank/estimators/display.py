"""A fitted estimator as a frame, as plots, and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maskrank import plots
from maskrank.estimators.attributes import Attributes
from maskrank.estimators.ranking import ranking_columns, ranking_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from maskrank.estimators.scaling import Array


class DisplayMixin(Attributes, BaseEstimator):
    """``to_frame``, the plots, and what a notebook shows."""

    def to_frame(self) -> Any:
        """The ranking as a table, best first: rank, feature, importance, importance_std, evidence, raw_score, selected.

        A polars frame after a fit on polars, else a pandas one.
        """
        check_is_fitted(self)
        order = self.result_.order
        columns = {name: values[order] for name, values in ranking_columns(self.result_).items()}
        names = [self.result_.names[i] for i in order]
        return nw.from_dict(
            {"rank": columns.pop("rank"), "feature": names, **columns}, backend=self._frame_kind
        ).to_native()

    def plot_ranking(self, n: int = 20, *, ax: Axes | None = None) -> Axes:
        """Scores of the first features as bars, in per cent of what all chosen ones explain together.

        With one standard error, or, after refits on subsamples, with their intervals.

        Parameters
        ----------
        n : int
            How many features are shown.
        ax : Axes, optional
            Without it a new figure is made. Needs matplotlib, the extra ``report``.
        """
        check_is_fitted(self)
        return plots.plot_ranking(self.result_, n, self.stability_, ax)

    def plot_size_curve(self, *, ax: Axes | None = None) -> Axes:
        """Accuracy or R² of the best 1, 2, ... features on held-out rows, with a ring at the number that is enough.

        Parameters
        ----------
        ax : Axes, optional
        """
        check_is_fitted(self)
        if self.size_curve_ is None:
            raise ValueError("there is no size curve: the scores of this model are not measured (preset='paper')")
        return self.size_curve_.plot(ax)

    def plot_history(self, *, ax: Axes | None = None) -> Axes:
        """Losses of both nets over the batches.

        Parameters
        ----------
        ax : Axes, optional
        """
        check_is_fitted(self)
        return plots.plot_history(self.history_, ax)

    def plot_importance_map(
        self, shape: tuple[int, int], *, image: Array | None = None, ax: Axes | None = None
    ) -> Axes:
        """Importance map of an image: the scores of its pixels.

        Parameters
        ----------
        shape : (height, width)
        image : array (height, width) or (d,), optional
            A grey image below the scores, for example the mean of a class.
        ax : Axes, optional
        """
        check_is_fitted(self)
        return plots.plot_importance_map(self.result_, shape, image, ax)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._ranking_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What Jupyter asks for: scikit-learn's diagram, and below it the ranking of a fitted model."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._ranking_html()
        return bundle

    def _ranking_html(self) -> str:
        return ranking_html(self.result_) if hasattr(self, "result_") else ""
