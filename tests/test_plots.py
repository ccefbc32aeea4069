from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from maskrank import DualNetClassifier, Ranking, plot_size_curve
from maskrank.core.recorder import History
from maskrank.datasets import make_orange_skin
from maskrank.estimators.stability import Stability
from maskrank.plots import plot_history, plot_importance_map, plot_ranking
from tests.report.pages import curve_of

RANKING = Ranking(
    names=(r"$\price$", "<b>", "c" * 50, "d"),
    support=np.array([True, False, True, False]),
    raw_scores=np.array([0.5, 0.1, 0.9, 0.3]),
    scores=np.array([0.3, -0.1, 0.7, 0.1]),
)
HISTORY = History(
    phase=["explore", "explore", "search"],
    batch=[8, 16, 24],
    operator_loss=[1.0, 0.8, 0.5],
    selector_loss=[0.1, 0.2, 0.05],
    validation=[(16, 0.9), (24, 0.4)],
)


@pytest.fixture(autouse=True)
def _nothing_else_changes() -> Iterator[None]:
    """The pictures are drawn without a screen, and leave matplotlib's settings and figures as they were."""
    pyplot.switch_backend("agg")
    before = matplotlib.rcParams.copy()
    yield
    assert dict(matplotlib.rcParams) == dict(before)
    pyplot.close("all")


def test_bars_go_from_best_to_left_out_with_a_zero_line() -> None:
    ax = plot_ranking(RANKING, n=3)
    bars = ax.patches
    assert [bar.get_width() for bar in bars] == [0.7, 0.3, 0.1]
    assert bars[0].get_facecolor() == bars[1].get_facecolor() != bars[2].get_facecolor()
    assert ax.get_ylim() == (2.5, -0.5)  # the best on top
    assert [line.get_xdata() for line in ax.lines] == [[0, 0]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["c" * 29 + "…", r"$\price$", "d"]
    ax.figure.canvas.draw()  # a dollar sign is no formula


def test_whiskers_show_the_intervals_of_the_repeats() -> None:
    scores = RANKING.scores + np.linspace(-0.1, 0.3, 9)[:, None]
    stability = Stability.of(RANKING.names, np.tile(RANKING.ranks, (9, 1)), scores, size=2)
    ax = plot_ranking(RANKING, stability=stability)
    order = RANKING.order
    (whiskers,) = [part for part in ax.collections if len(part.get_segments()) == 4]
    ends = np.array(whiskers.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.column_stack([stability.score_low, stability.score_high])[order])
    assert ax.get_yticklabels()[0].get_text().endswith("100%")
    assert ax.get_yticklabels()[-1].get_text() == "<b>  0%"


MEASURED = Ranking(
    names=("a", "b", "c", "d"),
    support=np.array([True, False, True, True]),
    raw_scores=np.array([0.5, 0.1, 0.9, 0.3]),
    scores=np.array([0.3, 0.0, 0.1, 1e-12]),
    scores_std=np.array([0.04, 0.0, np.inf, 0.02]),
    explained=0.4,
    baseline=0.5,
)


def test_measured_scores_are_drawn_in_per_cent_with_their_standard_errors() -> None:
    ax = plot_ranking(MEASURED)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([75, 25, 2.5e-10, 0])
    (whiskers,) = [part for part in ax.collections if len(part.get_segments()) == 4]
    ends = np.array(whiskers.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.array([[65, 85], [25, 25], [-5, 5], [0, 0]]))  # an error that is unknown: no line
    assert "% of what all chosen features explain together, ± standard error" in ax.get_xlabel()
    assert "together: 80.0 % of the loss without any feature" in ax.get_xlabel()


def test_intervals_of_measured_scores_are_in_per_cent_too() -> None:
    scores = MEASURED.scores + np.linspace(0, 0.4, 9)[:, None]
    ax = plot_ranking(MEASURED, stability=Stability.of("abcd", np.tile(MEASURED.ranks, (9, 1)), scores, size=3))
    (whiskers,) = [part for part in ax.collections if len(part.get_segments()) == 4]
    assert np.array(whiskers.get_segments())[0, :, 0] == pytest.approx(75 + 100 * np.array([0.1, 0.9]))


def test_where_nothing_is_explained_no_bar_is_drawn() -> None:
    ax = plot_ranking(replace(MEASURED, scores=np.array([2e-12, 0.0, 3e-12, 1e-12]), explained=6e-12))
    assert [bar.get_width() for bar in ax.patches] == [0] * 4
    assert "nothing" in ax.get_xlabel()


def test_losses_validation_points_and_phases() -> None:
    ax = plot_history(HISTORY)
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["operator"].get_ydata().tolist() == HISTORY.operator_loss
    assert lines["selector"].get_xdata().tolist() == HISTORY.batch
    assert lines["validation, best subset"].get_xydata().tolist() == [[16, 0.9], [24, 0.4]]
    assert [text.get_text() for text in ax.texts] == ["explore", "search"]
    assert [16, 16] in [list(line.get_xdata()) for line in ax.lines]
    assert ax.get_yscale() == "log"


def test_a_history_without_a_second_phase_or_with_a_loss_of_zero() -> None:
    short = History(phase=["explore"], batch=[8], operator_loss=[0.0], selector_loss=[0.1])
    ax = plot_history(short)
    assert ax.get_yscale() == "linear"
    assert [text.get_text() for text in ax.texts] == ["explore"]


def test_a_map_shows_the_image_where_nothing_is_chosen() -> None:
    image = np.array([[0.5, 1.0], [0.0, 0.2]])
    (shown,) = (drawn.get_array() for drawn in plot_importance_map(RANKING, (2, 2), image).images)
    chosen = RANKING.support.reshape(2, 2)
    assert np.allclose(shown[~chosen], image[~chosen][:, None])
    assert (shown[chosen].std(axis=1) > 0.1).all()  # coloured


@pytest.mark.parametrize(
    ("shape", "image", "message"),
    [
        ((2, 3), None, r"shape=\(2, 3\) has 6 pixels, the ranking has 4"),
        ((2, 2), np.zeros(6), r"shape=\(2, 2\) has 4 pixels, the image has 6"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(shape: tuple[int, int], image: np.ndarray | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_importance_map(RANKING, shape, image)


def sweep() -> pd.DataFrame:
    ours = {1: (0.70, 0.72), 2: (0.90, 0.94), 5: (0.91, 0.95)}
    rows = [("dualnet", size, fold, score) for size, scores in ours.items() for fold, score in enumerate(scores)]
    rows += [("mlp", 1, fold, 0.8) for fold in range(2)]
    return pd.DataFrame(rows, columns=["method", "size", "fold", "score"]).assign(metric="accuracy")


def test_a_size_curve_has_means_a_band_and_the_size_to_take() -> None:
    ax = plot_size_curve(sweep())
    means, ring, level = ax.lines
    assert means.get_xydata().tolist() == [[1, pytest.approx(0.71)], [2, pytest.approx(0.92)], [5, pytest.approx(0.93)]]
    assert ring.get_xydata().tolist() == [[2, pytest.approx(0.92)]]
    assert list(level.get_ydata()) == [pytest.approx(0.8)] * 2
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(0.95)  # the mean and one standard error
    assert ax.get_ylabel() == "accuracy"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["dualnet: 2 are enough", "mlp"]


@pytest.mark.parametrize(("figure", "label"), [("accuracy", "2 are enough, by the log-loss"), ("r2", "2 are enough")])
def test_the_curve_of_a_model_looks_as_that_of_a_sweep(figure: str, label: str) -> None:
    curve = curve_of([0.2, 0.55, 0.56], 2, figure)
    ax = plot_size_curve(curve)
    line, ring = ax.lines
    assert line.get_xydata() == pytest.approx(np.column_stack([curve.sizes, curve.figures]))
    assert ring.get_xydata().tolist() == [[2, curve.figures[1]]]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(curve.figures[2] + curve.figures_std[2])
    assert ax.get_ylabel() == {"accuracy": "accuracy", "r2": "R²"}[figure]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [label]


def test_a_map_of_all_pixels_shows_the_scores() -> None:
    every = replace(MEASURED, support=np.ones(4, dtype=bool), raw_scores=np.zeros(4))
    (shown,) = (drawn.get_array() for drawn in plot_importance_map(every, (2, 2)).images)
    assert len(np.unique(shown.reshape(4, 3).round(3), axis=0)) == 3  # two pixels score nothing


def test_a_sweep_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="the sweep lacks metric, size: give a table with one row per fit"):
        plot_size_curve(sweep().drop(columns=["size", "metric"]))
    with pytest.raises(ValueError, match="the sweep lacks method, metric, score, size"):
        plot_size_curve((sweep(), []))


def test_a_model_draws_on_the_axes_it_is_given() -> None:
    X, y, _ = make_orange_skin(80, random_state=0)
    model = DualNetClassifier(3, max_batches=16, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        model.plot_ranking()
    model.fit(X, y)
    axes = Figure().subplots(4)
    assert model.plot_ranking(ax=axes[0]) is axes[0]
    assert model.plot_history(ax=axes[1]) is axes[1]
    assert model.plot_importance_map((2, 5), image=X.mean(axis=0), ax=axes[2]) is axes[2]
    assert model.plot_size_curve(ax=axes[3]) is axes[3]
    assert model.size_curve_.plot(ax=axes[3]) is axes[3]
    assert not pyplot.get_fignums()
    assert len(model.plot_ranking(n=4).patches) == 4
    with pytest.raises(ValueError, match="n=0 must be at least 1"):
        model.plot_ranking(n=0)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ValueError, match=r"matplotlib is not installed: pip install 'maskrank\[report\]' brings it"):
        plot_ranking(RANKING)
