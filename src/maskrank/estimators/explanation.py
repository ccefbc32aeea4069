"""`Explanation`: what each chosen feature adds to the prediction of each row, as arrays, frames and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from maskrank import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from maskrank.estimators.scaling import Array

_MOST_LISTED = 10  # outputs that an error names


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """Shapley values of single predictions: ``model.explain(X)``.

    ``base_values + values.sum(axis=1)`` is the prediction: that of ``predict`` for numbers, that of ``predict_proba``
    for classes.

    Attributes
    ----------
    values : ndarray (n, s), or (n, s, outputs) for several targets or classes
        What each chosen feature adds to the prediction, in the units of y, or as a probability. Of two classes, the
        second one is explained: ``classes_[1]``.
    base_values : ndarray (n,) or (n, outputs)
        The prediction without any feature, the same for all rows.
    predictions : ndarray (n,) or (n, outputs)
        What the values add up to: the predictions of the model.
    adjustments : ndarray (n,) or (n, outputs)
        Difference from the prediction of the nets that the values are computed with. It was split
        over the features in proportion to their absolute values.
    data : ndarray (n, s)
        The chosen columns, as they came in.
    feature_names : list of str
        Of these columns, in the order of ``get_feature_names_out()``.
    output_names : list
        What the outputs are of: the classes, or the numbers of the targets, from 0.
    probabilities : bool
        Whether probabilities of classes or labels are explained.
    frame_kind : "pandas" or "polars"
        What ``to_frame`` returns.

    Examples
    --------
    >>> from maskrank import DualNetClassifier
    >>> from maskrank.datasets import make_orange_skin
    >>> X, y, _ = make_orange_skin(200, random_state=0)
    >>> model = DualNetClassifier(3, max_batches=60, random_state=0).fit(X, y)
    >>> explained = model.explain(X[:5])
    >>> explained
    Explanation of 5 rows by 3 features; output: 1
    >>> explained.to_frame().shape  # row, output, prediction, base_value, and the features
    (5, 7)
    """

    values: Array
    base_values: Array
    predictions: Array
    adjustments: Array
    data: Array
    feature_names: list[str]
    output_names: list[Any]
    probabilities: bool
    frame_kind: Literal["pandas", "polars"] = "pandas"

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        n, s = self.data.shape
        outputs = "output" if len(self.output_names) == 1 else "outputs"
        return f"Explanation of {n} rows by {s} features; {outputs}: {_listed(self.output_names)}"

    def of_output(self, output: Any = None) -> tuple[Array, Array, Array]:
        """The values (n, s), base values (n,) and predictions (n,) of one output.

        Parameters
        ----------
        output : one of ``output_names``, optional
            Needed where there are several.
        """
        place = self._place(output)
        if len(self.output_names) == 1:
            return self.values, self.base_values, self.predictions
        return self.values[:, :, place], self.base_values[:, place], self.predictions[:, place]

    def to_frame(self, output: Any = None) -> Any:
        """One line per row: prediction, base_value, and the value of each chosen feature.

        For classes and several targets there is one line per row and output, with two more columns: row, from 0,
        and output. A polars frame where polars was explained, else a pandas one. Where a feature has the name of one
        of the other columns, an underscore is added to the latter's.

        Parameters
        ----------
        output : one of ``output_names``, optional
            Only this one.
        """
        names = self.output_names if output is None else [self.output_names[self._place(output)]]
        n, parts = len(self), [self.of_output(name) for name in names]
        values, base, predictions = (np.stack(some, axis=1) for some in zip(*parts, strict=True))  # (n, outputs, ...)
        columns: dict[str, Any] = {}
        if self.probabilities or len(self.output_names) > 1:
            columns[self._free("row")] = np.repeat(np.arange(n), len(names))
            columns[self._free("output")] = list(names) * n
        columns[self._free("prediction")] = predictions.ravel()
        columns[self._free("base_value")] = base.ravel()
        columns |= {name: values[:, :, j].ravel() for j, name in enumerate(self.feature_names)}
        return nw.from_dict(columns, backend=self.frame_kind).to_native()

    def to_shap(self) -> Any:
        """The same as a ``shap.Explanation``, for the plots of the library shap (extra ``explain``).

        Raises
        ------
        ImportError
            shap is not installed.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("shap is not installed: pip install 'maskrank[explain]' brings it") from error
        several = len(self.output_names) > 1
        return shap.Explanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=self.feature_names,
            output_names=[str(name) for name in self.output_names] if several else None,
        )

    def plot_beeswarm(self, output: Any = None, *, ax: Axes | None = None, n: int = 20) -> Axes:
        """All rows: a dot for each row and feature, coloured by the feature's value; the largest effects on top.

        Parameters
        ----------
        output : one of ``output_names``, optional
            Needed where there are several.
        ax : Axes, optional
            Without it a new figure is made. Needs matplotlib, the extra ``report``.
        n : int
            How many features are shown.
        """
        values, *_ = self.of_output(output)
        return plots.plot_beeswarm(values, self.data, self.feature_names, n, label=self.title(output), ax=ax)

    def plot_waterfall(self, row: int, output: Any = None, *, ax: Axes | None = None) -> Axes:
        """One row: from the base value to the prediction, feature by feature, the largest effect on top.

        Parameters
        ----------
        row : int
            Its number, from 0.
        output : one of ``output_names``, optional
            Needed where there are several.
        ax : Axes, optional
        """
        if not 0 <= row < len(self):
            raise ValueError(f"row={row} must lie in 0..{len(self) - 1}: {len(self)} rows are explained")
        values, base, _ = self.of_output(output)
        names, label = self.feature_names, self.title(output)
        return plots.plot_waterfall(values[row], float(base[row]), self.data[row], names, label=label, ax=ax)

    def title(self, output: Any = None) -> str:
        """What is explained: the prediction, or the probability of a class."""
        name = self.output_names[self._place(output)]
        if self.probabilities:
            return f"probability of {name}"
        return "prediction" if len(self.output_names) == 1 else f"prediction {name}"

    def _place(self, output: Any) -> int:
        """Number of an output by its name."""
        if output is None:
            if len(self.output_names) == 1:
                return 0
            raise ValueError(f"output=None: several outputs are explained, give one of {_listed(self.output_names)}")
        if output not in self.output_names:
            raise ValueError(f"output={output!r} is not explained here: give one of {_listed(self.output_names)}")
        return self.output_names.index(output)

    def _free(self, name: str) -> str:
        """A name for a column that no feature has."""
        while name in self.feature_names:
            name += "_"
        return name


def _listed(names: Sequence[Any]) -> str:
    more = ", …" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(repr, names[:_MOST_LISTED])) + more
