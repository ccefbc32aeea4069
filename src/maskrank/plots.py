"""Plots for notebooks and scripts, with matplotlib (extra ``report``).

Each function draws on the Axes it is given and returns it; no style, backend or other setting of matplotlib is
changed. Without ``ax`` it makes a figure with pyplot, since that is what notebooks show by themselves and what
``plt.show()`` and ``plt.close()`` know of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maskrank.core.metrics import FIGURE_TITLES
from maskrank.images import among_chosen, overlay
from maskrank.layouts import by_size, shades, swarm, waterfall, with_values
from maskrank.size_choice import smallest_size
from maskrank.units import explains, in_shown_unit, map_scores, shown_errors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from maskrank.core.recorder import History
    from maskrank.core.scoring.ranking import Ranking
    from maskrank.core.scoring.size_curve import SizeCurve
    from maskrank.estimators.scaling import Array
    from maskrank.estimators.stability import Stability

# The colours of Okabe and Ito, which people with any kind of colour vision can tell apart.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
_MUTED = "#BBBBBB"
_MARKS = "osD^vPX*<>"
_LONGEST_NAME = 30  # characters


def plot_ranking(ranking: Ranking, n: int = 20, stability: Stability | None = None, ax: Axes | None = None) -> Axes:
    """Scores of the best features as bars, best on top; features that were not chosen are muted.

    Measured scores are shown in per cent of what all chosen features explain together, with one standard error.

    Parameters
    ----------
    ranking : Ranking
    n : int
        Number of features to show.
    stability : Stability, optional
        Adds the interval of each score over the refits, with a dot at its median, and the selection frequency of the
        feature.
    ax : Axes, optional
    """
    if n < 1:
        raise ValueError(f"n={n} must be at least 1: it is the number of features to show")
    shown = ranking.order[:n]
    ax = _axes(ax, height=1.4 + 0.28 * len(shown))
    label = _score_label(ranking, errors=stability is None)
    places = np.arange(len(shown))
    names = [_short(ranking.names[i]) for i in shown]
    colours = [BLUE if ranking.support[i] else _MUTED for i in shown]
    errors = None if stability is not None else shown_errors(ranking)
    ax.barh(
        places,
        in_shown_unit(ranking, ranking.scores)[shown],
        color=colours,
        xerr=None if errors is None else errors[shown],
        error_kw={"linewidth": 1, "capsize": 2},
    )
    if stability is not None:
        ends = (stability.score_low, stability.score_median, stability.score_high)
        low, middle, high = (in_shown_unit(ranking, scores)[shown] for scores in ends)
        reach = [middle - low, high - middle]
        ax.errorbar(middle, places, xerr=reach, fmt="o", markersize=3, color="black", linewidth=1, capsize=2)
        names = [f"{name}  {stability.frequency[i]:.0%}" for name, i in zip(names, shown, strict=True)]
        label += f"\n{stability.repeats} refits: % = selection frequency; line: 10 to 90 % quantile, dot: median"
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(places, names, parse_math=False)  # a dollar sign in a name is no formula
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlabel(label)
    return ax


def plot_history(history: History, ax: Axes | None = None) -> Axes:
    """Losses of both nets over the batches, the validation figure of the best subset, and where Phase II begins.

    Parameters
    ----------
    history : History
    ax : Axes, optional
    """
    ax = _axes(ax)
    ax.plot(history.batch, history.operator_loss, color=BLUE, linewidth=1.2, label="operator")
    ax.plot(history.batch, history.selector_loss, color=ORANGE, linewidth=1.2, label="selector")
    judged = np.reshape(history.validation, (-1, 2))
    ax.plot(judged[:, 0], judged[:, 1], "o", color=VERMILION, markersize=3, label="validation, best subset")
    if min([*history.operator_loss, *history.selector_loss, *judged[:, 1]], default=0) > 0:
        ax.set_yscale("log")
    explored = [batch for batch, phase in zip(history.batch, history.phase, strict=True) if phase == "explore"]
    searched = [batch for batch, phase in zip(history.batch, history.phase, strict=True) if phase == "search"]
    if explored and searched:
        ax.axvline(explored[-1], color="black", linestyle=":", linewidth=1)
    for title, batches, start in (("explore", explored, 0), ("search", searched, explored[-1] if explored else 0)):
        if batches:
            middle = (start + batches[-1]) / 2
            ax.text(middle, 1.01, title, transform=ax.get_xaxis_transform(), ha="center", va="bottom")
    ax.set_xlabel("batch")
    ax.set_ylabel("loss")
    ax.legend()
    return ax


def plot_importance_map(
    ranking: Ranking, shape: tuple[int, int], image: Array | None = None, ax: Axes | None = None
) -> Axes:
    """Scores of the chosen pixels as a picture: the lighter and yellower, the more important; the others stay grey.

    Parameters
    ----------
    ranking : Ranking
        Its features are the pixels of an image, row by row.
    shape : (height, width)
    image : array (height, width) or (d,), optional
        A grey image below the scores, for example the mean of a class.
    ax : Axes, optional
    """
    for what, pixels in (("the ranking", len(ranking.names)), ("the image", None if image is None else np.size(image))):
        if pixels not in (None, int(np.prod(shape))):
            raise ValueError(f"shape={shape} has {np.prod(shape)} pixels, {what} has {pixels}")
    ax = _axes(ax)
    draw_map(ax, map_scores(ranking), ranking.support, shape, image)
    return ax


def plot_size_curve(sweep: pd.DataFrame | SizeCurve, ax: Axes | None = None) -> Axes:
    """Score against the number of features, with a band of one standard error.

    A ring marks the fewest features that are enough: in a sweep, those whose score lies within one standard error of
    the best; in a fit, ``size_curve_.enough``. A method with a single size among others of several is a level line.

    Parameters
    ----------
    sweep : DataFrame, or the ``size_curve_`` of a fitted model
        One row per fit, with the columns method, size, metric and score: what ``maskrank sweep --csv`` and
        ``maskrank compare --csv`` write.
    ax : Axes, optional

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from maskrank import plot_size_curve
    >>> scores = [0.70, 0.72, 0.90, 0.94, 0.91, 0.95]
    >>> sweep = pd.DataFrame(
    ...     {"method": "dualnet", "size": [1, 1, 2, 2, 3, 3], "metric": "accuracy", "score": scores}
    ... )
    >>> ax = plot_size_curve(sweep, ax=Figure().subplots())
    >>> ax.get_legend_handles_labels()[1]
    ['dualnet: 2 are enough']
    """
    if hasattr(sweep, "enough"):
        return _plot_curve_of_model(sweep, _axes(ax))
    table: Any = sweep
    missing = {"method", "size", "metric", "score"} - set(getattr(table, "columns", ()))
    if missing:
        raise ValueError(f"the sweep lacks {', '.join(sorted(missing))}: give a table with one row per fit")
    ax = _axes(ax)
    several = table["size"].nunique() > 1
    for number, (method, fits) in enumerate(table.groupby("method", sort=False)):
        colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
        if several and fits["size"].nunique() == 1:
            ax.axhline(fits["score"].mean(), color=colour, linestyle=":", label=str(method))
            continue
        enough = smallest_size(fits)
        by_size = fits.groupby("size")["score"]
        means = by_size.mean()
        draw_band(ax, means.index, means, by_size.sem(), colour, marker=mark, label=f"{method}: {_enough(enough)}")
        _draw_ring(ax, enough, means[enough], colour)
    return _with_sizes(ax, str(table["metric"].iloc[0]))


def _plot_curve_of_model(curve: Any, ax: Axes) -> Axes:
    """The curve of one fit: accuracy, R² or D²; which size is enough was decided by the loss."""
    figures, errors = curve.figures, np.where(np.isfinite(curve.figures_std), curve.figures_std, 0.0)
    by_loss = ", by the log-loss" if curve.figure == "accuracy" else ""
    draw_band(ax, curve.sizes, figures, errors, BLUE, marker="o", label=f"{_enough(curve.enough)}{by_loss}")
    _draw_ring(ax, curve.enough, float(figures[curve.sizes == curve.enough][0]), BLUE)
    return _with_sizes(ax, FIGURE_TITLES[curve.figure])


def _draw_ring(ax: Axes, size: int, height: float, colour: str) -> None:
    ax.plot([size], [height], "o", markersize=12, markerfacecolor="none", color=colour)


def _enough(size: int) -> str:
    return f"{size} {'is' if size == 1 else 'are'} enough"


def _with_sizes(ax: Axes, figure: str) -> Axes:
    """The axes of a size curve."""
    ax.set_xlabel("features")
    ax.locator_params(axis="x", integer=True)
    ax.set_ylabel(figure)
    ax.legend()
    return ax


def plot_beeswarm(
    values: Array, data: Array, names: Sequence[str], n: int = 20, *, label: str, ax: Axes | None = None
) -> Axes:
    """What features add to the predictions of all rows: one line per feature, one dot per row.

    Parameters
    ----------
    values, data : ndarray (rows, s)
        What each feature adds, and its own value, which colours the dot: low blue, high vermilion.
    names : sequence of str
    n : int
        Number of features to show, those with the largest mean absolute values.
    label : str
        What is explained.
    ax : Axes, optional
    """
    if n < 1:
        raise ValueError(f"n={n} must be at least 1: it is the number of features to show")
    shown = by_size(values, n)
    ax = _axes(ax, height=1.4 + 0.36 * len(shown))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("values", [BLUE, VERMILION])
    low, high = float(values[:, shown].min()), float(values[:, shown].max())
    for line, i in enumerate(shown):
        heights = line + swarm(values[:, i], low, high)
        dots = ax.scatter(values[:, i], heights, c=shades(data[:, i]), cmap=colours, vmin=0, vmax=1, s=9, linewidths=0)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), [_short(names[i]) for i in shown], parse_math=False)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlabel(f"added to the {label}", parse_math=False)
    if ax.figure is not None:
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=40)
        bar.set_ticklabels(["low", "high"])
        bar.set_label("value of the feature", labelpad=-10)
        bar.outline.set_visible(False)
    return ax


def plot_waterfall(
    values: Array,
    base: float,
    row: Array,
    names: Sequence[str],
    *,
    label: str,
    most: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """What features add to the prediction of one row, from the base value on top to the prediction below.

    Parameters
    ----------
    values, row : ndarray (s,)
        What each feature adds, and its own value.
    base : float
        The prediction without any feature.
    names : sequence of str
    label : str
        What is explained.
    most : int
        Largest number of steps; the smallest values beyond it are summed.
    ax : Axes, optional
    """
    steps = waterfall(values, base, most)
    ax = _axes(ax, height=1.6 + 0.34 * len(steps))
    places = np.arange(len(steps))
    sizes = [step.value for step in steps]
    colours = [VERMILION if size > 0 else BLUE for size in sizes]
    bars = ax.barh(places, sizes, left=[step.start for step in steps], color=colours, height=0.7)
    ax.bar_label(bars, [f"{size:+.3g}" for size in sizes], padding=3, fontsize="small")
    for place, step in enumerate(steps[:-1]):
        ax.plot([step.end] * 2, [place - 0.35, place + 1.35], color=_MUTED, linewidth=0.8)
    for level, style in ((base, ":"), (steps[-1].end, "--")):
        ax.axvline(level, color="black", linestyle=style, linewidth=0.8)
    shown = [with_values(names, row, step) for step in steps]
    ax.set_yticks(places, [f"{_short(name)} = {x}" if x else name for name, x in shown], parse_math=False)
    ax.set_ylim(len(steps) - 0.5, -0.5)
    reached = [base, *(step.end for step in steps)]
    space = 0.18 * (max(reached) - min(reached)) or 1.0  # for the numbers beside the bars
    ax.set_xlim(min(reached) - space, max(reached) + space)
    note = f"dotted: {base:.4g}, without any feature; dashed: {steps[-1].end:.4g}, for this row"
    ax.set_xlabel(f"{label}\n{note}", parse_math=False)
    return ax


def draw_map(ax: Axes, scores: Array, chosen: Array, shape: Sequence[int], image: Array | None = None) -> None:
    """Importance of the chosen pixels over a grey image."""
    background = np.zeros(len(scores)) if image is None else np.asarray(image, dtype=np.float64).ravel()
    ax.imshow(overlay(among_chosen(scores, chosen), background).reshape(*shape, 3))
    ax.set_axis_off()


def draw_band(ax: Axes, x: Any, middle: Any, spread: Any, colour: str, **style: Any) -> None:
    """A line through the means of each size, and a band around it."""
    ax.plot(x, middle, color=colour, markersize=4, **style)
    ax.fill_between(x, middle - spread, middle + spread, alpha=0.15, color=colour, linewidth=0)


def _score_label(ranking: Ranking, *, errors: bool) -> str:
    """What the axis of the scores says: the unit, and what all chosen features explain."""
    if not ranking.measured:
        return "score: 0 = an average feature left out"
    shown = "score: % of what all chosen features explain together" + (", ± standard error" if errors else "")
    if not explains(ranking) or ranking.explained_share is None:
        return f"{shown} (nothing)"
    return f"{shown}\ntogether: {100 * ranking.explained_share:.1f} % of the loss without any feature"


def _axes(ax: Axes | None, height: float = 4.0) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ValueError("matplotlib is not installed: pip install 'maskrank[report]' brings it") from error
    return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
