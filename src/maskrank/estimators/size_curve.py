"""`SizeCurve` as users get it: the core's, with a table and a plot."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from maskrank import plots
from maskrank.core.scoring import size_curve as core

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SizeCurve(core.SizeCurve):
    """What the best 1, 2, ... features of a ranking are worth on held-out rows.

    Attributes
    ----------
    sizes : ndarray (k,) of int
        Numbers of features, increasing.
    values, values_std : ndarray (k,)
        The loss saved relative to the best constant prediction, with standard errors: in nats for classes, a share of
        the variance (R²) for numbers, and of the deviance (D²) for counts and survival.
    figures, figures_std : ndarray (k,)
        Accuracy for classes, R² or D² for numbers, and the standard errors.
    figure : {"accuracy", "r2", "d2"}
        Which of them it is.
    enough : int
        The smallest size that is worse than the best by at most the standard error of the difference on the same rows,
        after the rule of Breiman et al. (1984).

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.estimators.size_curve import SizeCurve
    >>> worth, error = np.array([0.5, 0.8, 0.81]), np.full(3, 0.02)
    >>> curve = SizeCurve(np.array([1, 2, 3]), worth, error, worth, error, "r2", enough=2)
    >>> curve
    SizeCurve(sizes 1 to 3, 2 are enough: r2 0.800 ± 0.020)
    >>> list(curve.to_frame())
    ['size', 'value', 'value_std', 'r2', 'r2_std']
    """

    @classmethod
    def joined(cls, own: core.SizeCurve | None, chosen_on: core.SizeCurve | None) -> SizeCurve | None:
        """Of the chosen features; behind it, where their number was chosen, the larger sizes it was chosen among."""
        if own is None or chosen_on is None:
            return None if own is None else cls.of(own)
        whole = own.followed_by(chosen_on)
        return cls.of(whole.up_to(len(whole.sizes), enough=chosen_on.enough))

    @classmethod
    def of(cls, curve: core.SizeCurve) -> SizeCurve:
        """The same curve, with a table and a plot."""
        return cls(**{entry.name: getattr(curve, entry.name) for entry in fields(core.SizeCurve)})

    def columns(self) -> dict[str, Any]:
        """The columns of the table: size, value, value_std, and accuracy or r2 with its standard error."""
        return {
            "size": self.sizes,
            "value": self.values,
            "value_std": self.values_std,
            self.figure: self.figures,
            f"{self.figure}_std": self.figures_std,
        }

    def to_frame(self, backend: Literal["pandas", "polars"] = "pandas") -> Any:
        """One row per size: size, value, value_std, and accuracy or r2 with its standard error."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self.columns(), backend=backend).to_native()

    def answer(self) -> dict[str, Any]:
        """What is no array, for a model file."""
        return {"figure": self.figure, "enough": self.enough}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Accuracy or R² by the number of features, with a band of one standard error and a ring at ``enough``.

        Parameters
        ----------
        ax : Axes, optional
            Without it a new figure is made. Needs matplotlib, the extra ``report``.
        """
        return plots.plot_size_curve(self, ax)

    def __repr__(self) -> str:
        at = self.sizes == self.enough
        worth = f"{self.figure} {self.figures[at][0]:.3f} ± {self.figures_std[at][0]:.3f}"
        are = "is" if self.enough == 1 else "are"
        return f"SizeCurve(sizes {self.sizes[0]} to {self.sizes[-1]}, {self.enough} {are} enough: {worth})"
