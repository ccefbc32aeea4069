"""The pictures of the documentation, each drawn once for light pages and once for dark ones.

What a picture needs is imported where it is drawn: whoever only asks which pictures there are has an answer at once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDLES = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "needles.csv"
INPUTS = (NEEDLES,)  # files that pictures are drawn from
Found = dict[str, Any]  # what a snippet left
_BLACK, _BLUE = "#000000", "#0072b2"  # of the package's own plots: hard to see on a dark page


@dataclass(frozen=True)
class Scheme:
    """Colours that can be read on a page."""

    ink: str
    line: str
    first: str
    second: str
    others: tuple[str, ...]
    map: str


SCHEMES = {
    "light": Scheme("#1c2430", "#b9c1cc", "#0072b2", "#b4540a", ("#5b6b7f", "#2a7f62", "#8a5fa8"), "Blues"),
    "dark": Scheme("#e7ebf0", "#56616f", "#5aa9e6", "#f0a35e", ("#a3adba", "#63c7a2", "#c3a2dc"), "Blues_r"),
}


@dataclass(frozen=True)
class Picture:
    """A picture of what a snippet computed.

    Attributes
    ----------
    of : str
        The snippet.
    size : (float, float)
        In inches.
    paint : callable
        Takes the figure, the scheme, and the names that the snippet left.
    """

    of: str
    size: tuple[float, float]
    paint: Callable[[Figure, Scheme, Found], None]

    def files(self, title: str) -> list[str]:
        return [f"{title}-{scheme}.svg" for scheme in SCHEMES]

    def draw(self, title: str, found: Found, folder: Path) -> None:
        import matplotlib

        from maskrank.study.figures import new_figure

        for file, scheme in zip(self.files(title), SCHEMES.values(), strict=True):
            with matplotlib.rc_context(_style(scheme, title)):
                figure = new_figure(*self.size)
                self.paint(figure, scheme, found)
                drawn = io.StringIO()
                figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
            text = drawn.getvalue().replace(_BLACK, scheme.ink).replace(_BLUE, scheme.first)
            (folder / file).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Screen:
    """The ranking as the terminal shows it; dark on all pages.

    Attributes
    ----------
    of : str
        The snippet.
    heading : str
    """

    of: str
    heading: str

    def files(self, title: str) -> list[str]:
        return [f"{title}.svg"]

    def draw(self, title: str, found: Found, folder: Path) -> None:
        from rich.console import Console
        from rich.terminal_theme import DIMMED_MONOKAI

        from maskrank.terminal.ranking import show_ranking

        console = Console(record=True, width=64, force_terminal=True, file=io.StringIO(), highlight=False)
        console.print(f"{self.heading}\n", style="bold")
        show_ranking(console, found["model"].result_)
        drawn = console.export_svg(title="maskrank", theme=DIMMED_MONOKAI)
        local = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # no request for a font from outside
        (folder / f"{title}.svg").write_text(local, encoding="utf-8")


def _style(scheme: Scheme, title: str) -> dict[str, Any]:
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"), scheme.ink)
    return {
        **ink,
        "axes.edgecolor": scheme.line,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "font.size": 10,
        "grid.color": scheme.line,
        "grid.alpha": 0.5,
        "legend.frameon": False,
        "svg.hashsalt": title,  # the same picture is the same file
    }


def ranking(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The scores of the first features, best on top."""
    found["model"].plot_ranking(n=8, ax=figure.add_subplot())


def history(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The losses over both phases."""
    found["model"].plot_history(ax=figure.add_subplot())


def correlation(figure: Figure, scheme: Scheme, found: Found) -> None:
    """How the chosen features go with each other."""
    import numpy as np

    result = found["model"].result_
    values = found["X"][list(result.selected)].corr().abs().to_numpy()
    axes = figure.add_subplot()
    shades = axes.imshow(values, vmin=0, vmax=1, cmap=scheme.map).cmap
    for row, column in np.ndindex(values.shape):
        red, green, blue, _ = shades(values[row, column])
        colour = "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.55 else "#1c2430"
        axes.text(column, row, f"{values[row, column]:.2f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(result.size), result.selected, rotation=30, ha="right")
    axes.set_yticks(range(result.size), result.selected)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def importance_map(figure: Figure, scheme: Scheme, found: Found) -> None:
    """Scores as colours: alone, and over the mean image of each class."""
    import numpy as np

    model, X, y = found["model"], found["X"], found["y"]
    means = [(f"over the mean {label}", X[y == label].mean(axis=0)) for label in np.unique(y)]
    for place, (title, image) in enumerate([("chosen pixels", None), *means], 1):
        axes = model.plot_importance_map((8, 8), image=image, ax=figure.add_subplot(1, 3, place))
        axes.set_title(title, fontsize=10)


def beeswarm(figure: Figure, scheme: Scheme, found: Found) -> None:
    """What each feature adds to all predictions."""
    found["explained"].plot_beeswarm(ax=figure.add_subplot())


def waterfall(figure: Figure, scheme: Scheme, found: Found) -> None:
    """What each feature adds to the prediction of the first row."""
    found["explained"].plot_waterfall(0, ax=figure.add_subplot())


def size_of_fit(figure: Figure, scheme: Scheme, found: Found) -> None:
    """R² of the best 1, 2, ... features of one fit, and how many are enough."""
    found["model"].plot_size_curve(ax=figure.add_subplot())


def size_sweep(figure: Figure, scheme: Scheme, found: Found) -> None:
    """Cross-validated error against the number of features, and the size to take."""
    from maskrank import plot_size_curve

    plot_size_curve(found["fits"], ax=figure.add_subplot())


def needles(figure: Figure, scheme: Scheme, found: Found) -> None:
    """How many of the two features of the exclusive or are ranked first, by the width of the table."""
    import pandas as pd

    fits = pd.read_csv(NEEDLES)
    fits = fits[fits["problem"] == "XOR"]
    axes = figure.add_subplot()
    titles = {"dualnet": "maskrank", "rf": "random forest", "mrmr": "mRMR", "avgrad": "input gradients"}
    for (method, title), colour, mark in zip(
        titles.items(), (scheme.first, scheme.second, *scheme.others), "osD^", strict=False
    ):
        line = 100 * fits[fits["method"] == method].groupby("d")["best_p"].mean()
        axes.plot(line.index, line.to_numpy(), marker=mark, markersize=5, color=colour, label=title)
    axes.set_xscale("log", base=2)
    axes.set_xticks(line.index, [str(d) for d in line.index])
    axes.minorticks_off()
    axes.set_xlabel("features, of which 2 matter")
    axes.set_ylabel("found, %")
    axes.grid(axis="y")
    axes.legend()


PICTURES: dict[str, Picture | Screen] = {
    "ranking": Screen("regression", "y = -2 sin(2 x0) + max(x1, 0) + x2 + exp(-x3) + noise"),
    "tutorial_ranking": Picture("tutorial", (6.4, 3.0), ranking),
    "tutorial_history": Picture("tutorial", (6.4, 4.0), history),
    "tutorial_correlation": Picture("tutorial", (6.0, 4.2), correlation),
    "images_map": Picture("images", (6.4, 2.5), importance_map),
    "explain_beeswarm": Picture("explain", (6.4, 3.0), beeswarm),
    "explain_waterfall": Picture("explain", (6.4, 3.0), waterfall),
    "size_of_fit": Picture("size", (6.4, 3.2), size_of_fit),
    "size_sweep": Picture("size", (6.4, 3.2), size_sweep),
    "needles": Picture("wide", (6.4, 3.2), needles),
}
