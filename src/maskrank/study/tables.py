"""The tables of a study: scores, how often the relevant features were found, times, and the paper's figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from maskrank.core.metrics import METRICS
from maskrank.study.markdown import table
from maskrank.study.protocol import uses_all_features
from maskrank.study.spec import PaperFigure, Study

_ALL = "all"


def document(study: Study, fits: pd.DataFrame, relevant: Mapping[str, Any]) -> str:
    """All tables of a study in Markdown.

    Parameters
    ----------
    fits : DataFrame
        One row per fit: data, method, size, fold, seed, metric, score, seconds, megabytes, selected.
    relevant : dict of data set to feature numbers
        Where they are known.
    """
    parts = [f"# {study.title}"]
    for data, some in fits.groupby("data", sort=False):
        parts += ["", f"## {data}", "", f"{_metric(some)}, mean ± standard deviation of {_fits(some)}", ""]
        parts += [score_table(some)]
        if relevant.get(str(data)) is not None:
            parts += ["", "relevant features among the chosen, by fold", "", found_table(some, relevant[str(data)])]
    if study.paper:
        parts += ["", "## The paper, and here", "", paper_table(study.paper, fits)]
    return "\n".join([*parts, ""])


def costs(study: Study, fits: pd.DataFrame) -> str:
    """What the fits took: apart from the scores, as no two runs agree on it."""
    parts = [
        f"# {study.title}: what a fit takes",
        "",
        "Mean seconds of a fit by size, and the most memory beyond what was there (MB).",
    ]
    for data, some in fits.groupby("data", sort=False):
        parts += ["", f"## {data}", "", cost_table(some)]
    return "\n".join([*parts, ""])


def score_table(fits: pd.DataFrame) -> str:
    """Methods by sizes; a method that uses all features has one figure."""
    sizes = sorted(fits["size"].unique())
    body = []
    for method, some in fits.groupby("method", sort=False):
        if uses_all_features(str(method)):
            body.append([f"{method} (all features)", _spread(some["score"]), *[""] * (len(sizes) - 1)])
        else:
            body.append([str(method), *(_spread(some.loc[some["size"] == size, "score"]) for size in sizes)])
    return table(["method", *(f"s = {size}" for size in sizes)], body)


def found_table(fits: pd.DataFrame, relevant: Collection[int]) -> str:
    """How many of the relevant features each fold's choice holds."""
    counts = fits.assign(found=[len(set(chosen) & set(relevant)) for chosen in fits["selected"]])
    body = []
    for (method, size), some in counts.groupby(["method", "size"], sort=False):
        ordered = some.sort_values(["seed", "fold"])["found"]
        body.append([str(method), str(size), " ".join(map(str, ordered)), f"{(ordered == len(relevant)).mean():.0%}"])
    return table(["method", "s", f"found of {len(relevant)}", "all found"], body)


def cost_table(fits: pd.DataFrame) -> str:
    """Mean seconds of each size, and the largest growth of memory."""
    sizes = sorted(fits["size"].unique())
    body = []
    for method, some in fits.groupby("method", sort=False):
        means = some.groupby("size")["seconds"].mean()
        memory = some["megabytes"].max()
        seconds = [f"{means[size]:.2f}" if size in means else "" for size in sizes]
        name = f"{method} (all features)" if uses_all_features(str(method)) else str(method)
        body.append([name, *seconds, "" if pd.isna(memory) else f"{memory:.0f}"])
    return table(["method", *(f"s = {size}" for size in sizes), "MB"], body)


def paper_table(figures: Sequence[PaperFigure], fits: pd.DataFrame) -> str:
    """What the paper reports, what came out here, and the difference."""
    body = []
    for figure in figures:
        some = fits[(fits["data"] == figure.data) & (fits["method"] == figure.method)]
        if figure.size is not None and not uses_all_features(figure.method):
            some = some[some["size"] == figure.size]
        here, difference = ("-", "-")
        if len(some):
            here, difference = _spread(some["score"]), f"{some['score'].mean() - figure.value:+.4f}"
        paper = f"{figure.value:.4f}" + ("" if figure.spread is None else f" ± {figure.spread:.4f}")
        size = _ALL if figure.size is None else str(figure.size)
        body.append([f"{figure.data}, {figure.method}", size, paper, here, difference])
    return table(["", "s", "paper", "here", "difference"], body)


def _spread(scores: Any) -> str:
    if not len(scores):
        return "-"
    return f"{scores.mean():.4f}" if len(scores) == 1 else f"{scores.mean():.4f} ± {scores.std(ddof=0):.4f}"


def _metric(fits: pd.DataFrame) -> str:
    return f"{METRICS[fits['metric'].iloc[0]].title} on test rows"


def _fits(fits: pd.DataFrame) -> str:
    folds, seeds = fits["fold"].nunique(), fits["seed"].nunique()
    return f"{folds} folds" if seeds == 1 else f"{folds} folds and {seeds} seeds"
