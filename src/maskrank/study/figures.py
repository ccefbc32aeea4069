"""The pictures of a study, like the paper's: ranking bars, importance maps, scores against size, loss curves.

Each function takes the fits, the data sets and a folder, and writes PNG files; matplotlib comes with the extra
``study``.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.datasets import Dataset
from maskrank.files import write_atomically
from maskrank.plots import draw_band, draw_map
from maskrank.study.names import OURS
from maskrank.study.protocol import uses_all_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[Any]
Datasets = dict[str, Dataset]

_DPI = 110
_ALWAYS, _SOMETIMES = "#2166ac", "#c0392b"  # chosen in all folds, in fewer
_MARKS = "osD^vPX*<>"
_MOST_BARS = 40


def ranking_bars(fits: pd.DataFrame, datasets: Datasets, out: Path) -> None:
    """Mean scores of the chosen features, one panel a method: blue where all folds chose a feature, red where not."""
    for data, some in fits.groupby("data", sort=False):
        panels = list(some.groupby("method", sort=False))
        columns = min(4, len(panels))
        rows = -(-len(panels) // columns)
        figure = new_figure(3.1 * columns, 2.4 * rows)
        for place, (method, ones) in enumerate(panels, 1):
            axes = figure.add_subplot(rows, columns, place)
            smallest = ones[ones["size"] == ones["size"].min()]
            _bars(axes, smallest, datasets[str(data)])
            score = f"{smallest['score'].mean():.3f} ± {smallest['score'].std(ddof=0):.3f}"
            axes.set_title(f"{method}: {score}", fontsize=9)
        save_png(figure, out / f"ranking_{data}.png")


def _bars(axes: Axes, fits: pd.DataFrame, data: Dataset) -> None:
    """One method: scores divided by the largest, their spread over the folds, and the zero line."""
    scores = np.array(fits["scores"].tolist())  # (fits, d)
    scores = scores / np.maximum(np.abs(scores).max(axis=1, keepdims=True), 1e-12)
    chosen = np.zeros(scores.shape, dtype=bool)
    for row, selected in enumerate(fits["selected"]):
        chosen[row, selected] = True
    shown = np.flatnonzero(chosen.any(axis=0))
    shown = np.sort(shown[np.argsort(-scores[:, shown].mean(axis=0))][:_MOST_BARS])
    colours = np.where(chosen[:, shown].all(axis=0), _ALWAYS, _SOMETIMES).tolist()
    axes.bar(range(len(shown)), scores[:, shown].mean(axis=0), yerr=scores[:, shown].std(axis=0), color=colours)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(shown)), [data.feature_names[i] for i in shown], rotation=90, fontsize=6)
    axes.tick_params(axis="y", labelsize=7)


def importance_maps(fits: pd.DataFrame, datasets: Datasets, out: Path) -> None:
    """One row per method: the pixels of its first fold alone, and over the mean image of each of the first classes."""
    for data, some in fits.groupby("data", sort=False):
        shape = datasets[str(data)].image_shape
        if shape is None:
            continue
        methods = list(some.groupby("method", sort=False))
        X, y = datasets[str(data)].X, datasets[str(data)].y
        means = [(label, X[y == label].mean(axis=0)) for label in np.unique(y)[:2]]
        figure = new_figure(2.2 * (1 + len(means)), 2.3 * len(methods))
        for row, (method, ones) in enumerate(methods):
            first = ones.sort_values(["fold", "size"]).iloc[0]
            chosen = np.isin(np.arange(X.shape[1]), first["selected"])
            backgrounds = [("", None), *((f"over {label}", mean) for label, mean in means)]
            for column, (title, background) in enumerate(backgrounds):
                axes = figure.add_subplot(len(methods), len(backgrounds), 1 + row * len(backgrounds) + column)
                draw_map(axes, np.array(first["scores"]), chosen, shape, background)
                axes.set_title(f"{method} {title}".strip(), fontsize=9)
        save_png(figure, out / f"maps_{data}.png")


def size_curves(fits: pd.DataFrame, datasets: Datasets, out: Path) -> None:
    """Score against the number of features, one panel per data set, one line per method, bands of one deviation."""
    groups = list(fits.groupby("data", sort=False))
    figure = new_figure(3.6 * len(groups), 3.2)
    for place, (data, some) in enumerate(groups, 1):
        axes = figure.add_subplot(1, len(groups), place)
        for number, (method, ones) in enumerate(some.groupby("method", sort=False)):
            _curve(axes, str(method), ones, number)
        axes.set_title(str(data), fontsize=10)
        axes.set_xlabel("features")
        axes.set_ylabel(some["metric"].iloc[0])
        axes.grid(alpha=0.3)
    lines = {str(line.get_label()): line for axes in figure.axes for line in axes.get_legend_handles_labels()[0]}
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=len(lines), fontsize=8, frameon=False
    )
    save_png(figure, out / "sizes.png")


def _curve(axes: Axes, method: str, fits: pd.DataFrame, number: int) -> None:
    if uses_all_features(method):
        axes.axhline(fits["score"].mean(), color=f"C{number}", linestyle=":", label=f"{method} (all)")
        return
    by_size = fits.groupby("size")["score"]
    mean, spread = by_size.mean(), by_size.std(ddof=0)
    width = 2.2 if method == OURS else 1.2
    draw_band(axes, mean.index, mean, spread, f"C{number}", marker=_MARKS[number % 10], linewidth=width, label=method)


def loss_curves(fits: pd.DataFrame, datasets: Datasets, out: Path) -> None:
    """Phase II: the selector's loss, the operator's loss, and the validation loss of m_opt, all folds."""
    groups = list(fits.groupby(["data", "size"], sort=False))
    figure = new_figure(9.6, 2.4 * len(groups))
    titles = ("selector loss", "operator loss, training", "validation loss of m_opt")
    for row, ((data, size), some) in enumerate(groups):
        panels = [figure.add_subplot(len(groups), 3, 1 + 3 * row + column) for column in range(3)]
        for course in some["history"]:
            second = [i for i, phase in enumerate(course["phase"]) if phase == "search"]
            batches = [course["batch"][i] for i in second]
            panels[0].plot(batches, [course["selector_loss"][i] for i in second], linewidth=0.8)
            panels[1].plot(batches, [course["operator_loss"][i] for i in second], linewidth=0.8)
            judged = [(batch, value) for batch, value in course["validation"] if batches and batch >= batches[0]]
            panels[2].plot(*zip(*judged, strict=True) if judged else ((), ()), linewidth=0.8)
        for axes, title in zip(panels, titles, strict=True):
            axes.set_title(f"{data}, s = {size}: {title}", fontsize=8)
            axes.tick_params(labelsize=7)
            axes.grid(alpha=0.3)
    save_png(figure, out / "losses.png")


FIGURES: dict[str, Callable[[pd.DataFrame, Datasets, Path], None]] = {
    "ranking_bars": ranking_bars,
    "importance_maps": importance_maps,
    "size_curves": size_curves,
    "loss_curves": loss_curves,
}


def new_figure(width: float, height: float) -> Figure:
    """A figure that no plotting library's global state knows of; ValueError where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ValueError("matplotlib is not installed: pip install 'maskrank[study]' brings it") from error
    return Figure(figsize=(width, height), layout="constrained")


def save_png(figure: Figure, path: Path) -> None:
    """Write a picture, whole or not at all."""
    stream = BytesIO()
    figure.savefig(stream, dpi=_DPI)
    write_atomically(path, stream.getvalue())
