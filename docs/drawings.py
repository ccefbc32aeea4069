"""What the pictures of the documentation show, each of what one snippet computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from schemes import Scheme

NEEDLES = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "needles.csv"
Found = dict[str, Any]  # what a snippet left


def ranking(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The scores of the first features, best on top."""
    found["model"].plot_ranking(n=8, ax=figure.add_subplot())


def history(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The losses over both phases."""
    found["model"].plot_history(ax=figure.add_subplot())


def correlation(figure: Figure, scheme: Scheme, found: Found) -> None:
    """How strongly some features are correlated."""
    import numpy as np

    names = found["measures"]
    values = found["X"][names].corr().abs().to_numpy()
    axes = figure.add_subplot()
    shades = axes.imshow(values, vmin=0, vmax=1, cmap=scheme.map).cmap
    for row, column in np.ndindex(values.shape):
        red, green, blue, _ = shades(values[row, column])
        colour = "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.55 else "#1c2430"
        axes.text(column, row, f"{values[row, column]:.2f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
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
    """How often the two features of the exclusive or are ranked first, by the width of the table."""
    import pandas as pd

    fits = pd.read_csv(NEEDLES)
    fits = fits[fits["problem"] == "XOR"]
    axes = figure.add_subplot()
    lines = {  # the title, and where on the picture it stands
        "mrmr": ("mRMR", (3.6, 90), scheme.others[0], "D"),
        "avgrad": ("input gradients", (96, 30), scheme.others[1], "^"),
        "rf": ("random forest", (210, 42), scheme.second, "s"),
        "dualnet": ("maskrank", (500, 92), scheme.first, "o"),
    }
    for method, (title, place, colour, mark) in lines.items():
        line = 100 * fits[fits["method"] == method].groupby("d")["best_p"].mean()
        wide = 2.6 if method == "dualnet" else 1.5
        axes.plot(line.index, line.to_numpy(), marker=mark, markersize=4 + wide / 2, color=colour, linewidth=wide)
        side = "right" if method == "avgrad" else "left"
        axes.text(*place, title, color=colour, ha=side, fontweight="bold" if method == "dualnet" else "normal")
    axes.set_xscale("log", base=2)
    axes.set_xticks(line.index, [f"{d:,}" for d in line.index])
    axes.minorticks_off()
    axes.set_xlabel("columns of the table; two of them decide, and only together")
    axes.set_ylabel("found, %")
    axes.grid(axis="y")


def all_ranked(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The scores of the chosen features, and the names of all others."""
    found["model"].plot_ranking(n=len(found["model"].ranking_), ax=figure.add_subplot())


def pair(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The classes over the two columns that decide, and the scores."""
    left, right = figure.subplots(1, 2)
    first, second = (found["X"][:, i] for i in found["relevant"])
    for label, colour, mark in ((0, scheme.first, "o"), (1, scheme.second, "^")):
        rows = found["y"] == label
        left.scatter(first[rows], second[rows], s=5, color=colour, marker=mark, label=f"class {label}")
    left.set_xlabel(f"x{found['relevant'][0]}")
    left.set_ylabel(f"x{found['relevant'][1]}")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=2, markerscale=2)
    found["model"].plot_ranking(n=4, ax=right)
    right.set_xlabel("score, % of what all four explain")


def digit_map(figure: Figure, scheme: Scheme, found: Found) -> None:
    """Scores as colours: alone, and over the mean image of four digits."""
    places = figure.subplots(2, 3).ravel()
    model, X, y = found["model"], found["X"], found["y"]
    model.plot_importance_map((8, 8), ax=places[0]).set_title("chosen pixels", fontsize=10)
    for place, digit in zip(places[1:], (0, 1, 4, 7, 8), strict=True):
        axes = model.plot_importance_map((8, 8), image=X[y == digit].mean(axis=0), ax=place)
        axes.set_title(f"over the mean {digit}", fontsize=10)


def survival_curves(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The predicted survival of the same patient with the drug and without."""
    axes = figure.add_subplot()
    for curve, arm, colour in zip(found["curves"], ("placebo", "drug"), (scheme.second, scheme.first), strict=True):
        axes.step(found["months"], 100 * curve, where="post", color=colour)
        axes.text(36.4, 100 * curve[-1], arm, color=colour, va="center")
    axes.set_xlim(0, 41)
    axes.set_ylim(0, 102)
    axes.set_xlabel("months")
    axes.set_ylabel("alive, %")
    axes.grid(axis="y")


def demand(figure: Figure, scheme: Scheme, found: Found) -> None:
    """What was sold in the last weeks, and what the model expected."""
    axes, last = figure.add_subplot(), slice(-56, None)
    days, shop = found["shop"]["date"][last], found["shop"][last]
    axes.scatter(days, found["sold"][last], s=14, color=scheme.second, label="sold")
    axes.plot(days, found["model"].predict(shop), color=scheme.first, label="expected, from the past alone")
    axes.set_ylabel("portions")
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", rotation=30)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=2)


def precision_recall(figure: Figure, scheme: Scheme, found: Found) -> None:
    """Precision against recall on the test set."""
    from sklearn.metrics import precision_recall_curve

    truth = found["fraud"][found["test"]]
    precision, recall, _ = precision_recall_curve(truth, found["probability"])
    axes = figure.add_subplot()
    axes.step(recall, precision, where="post", color=scheme.first)
    axes.axhline(truth.mean(), color=scheme.others[0], linestyle="--")
    axes.text(1, truth.mean() + 0.02, "baseline", ha="right", color=scheme.others[0])
    axes.set_xlabel("recall: share of the fraud that is found")
    axes.set_ylabel("precision")
    axes.set_ylim(0, 1.03)


def lasso_and_shares(figure: Figure, scheme: Scheme, found: Found) -> None:
    """The largest coefficients of a lasso on random labels, and our scores with their standard errors."""
    import numpy as np

    left, right = figure.subplots(1, 2)
    sizes = np.abs(found["lasso"].coef_[0])
    best = np.argsort(-sizes)[:5]
    left.barh([f"x{i}" for i in best][::-1], sizes[best][::-1], color=scheme.second)
    left.set_title("lasso: size of the coefficient", fontsize=10)
    result = found["model"].result_
    names, places = result.selected, result.chosen
    right.barh(names[::-1], result.scores[places][::-1], xerr=result.scores_std[places][::-1], color=scheme.first)
    right.axvline(0, color=scheme.ink, linewidth=0.8)
    right.locator_params(axis="x", nbins=4)
    right.set_title("maskrank: score in nats, ± standard error", fontsize=10)
