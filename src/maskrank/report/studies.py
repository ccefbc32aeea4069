"""The reports of ``compare``, ``sweep`` and ``study``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank.core.metrics import METRICS
from maskrank.report.charts import labelled, nice_ticks, size_chart
from maskrank.report.page import data_address, packed, render
from maskrank.terminal.text import brief_seconds, lined_up


def comparison_report(
    title: str,
    fits: pd.DataFrame,
    names: Sequence[str],
    facts: Sequence[tuple[str, str]],
    *,
    command: str,
    csv: str,
) -> str:
    """Methods beside each other: scores over the folds, times, and the features each of them always chose.

    Parameters
    ----------
    fits : DataFrame
        One row per fit: method, fold, metric, score, seconds, selected.
    names : sequence of str
        Of all features.
    csv : str
        All fits, to be downloaded.
    """
    metric = METRICS[fits["metric"].iloc[0]]
    ticks = _axis(fits["score"])
    low, high = ticks[0], ticks[-1]
    rows: list[dict[str, Any]] = []
    for method, some in fits.groupby("method", sort=False):
        counts = pd.Series([i for chosen in some["selected"] for i in chosen]).value_counts(sort=False)
        order = sorted(counts.index, key=lambda i: (-counts[i], _mean_place(some["selected"], i)))
        rows.append(
            {
                "name": str(method),
                "mean": float(some["score"].mean()),
                "spread": float(some["score"].std(ddof=0)),
                "dots": [(round(100 * (score - low) / (high - low), 2), float(score)) for score in some["score"]],
                "at": round(100 * (float(some["score"].mean()) - low) / (high - low), 2),
                "seconds": brief_seconds(float(some["seconds"].mean())),
                "features": [(names[i], int(counts[i])) for i in order[:12]],
                "more": max(0, len(order) - 12),
                "folds": len(some),
            }
        )
    rows.sort(key=lambda row: row["mean"], reverse=metric.higher_is_better)
    means, spreads = lined_up([row["mean"] for row in rows], 4), lined_up([row["spread"] for row in rows], 2)
    shown = [{**row, "mean_text": m, "spread_text": s} for row, m, s in zip(rows, means, spreads, strict=True)]
    return render(
        "comparison.html",
        title=title,
        facts=facts,
        metric=metric.title,
        rises=metric.higher_is_better,
        ticks=[(round(100 * (x - low) / (high - low), 2), text) for x, text in labelled(ticks)],
        rows=shown,
        csv=packed(csv),
        command=command,
    )


def sweep_report(
    title: str, fits: pd.DataFrame, chosen: int, facts: Sequence[tuple[str, str]], *, command: str, csv: str
) -> str:
    """Scores against the number of features, with one standard error, and the size to take.

    Parameters
    ----------
    fits : DataFrame
        One row per fit: size, fold, metric, score, seconds.
    chosen : int
        The smallest size within one standard error of the best.
    """
    rows = []
    for size, some in fits.groupby("size"):
        error = float(some["score"].std(ddof=1) / np.sqrt(len(some))) if len(some) > 1 else 0.0
        rows.append((int(size), float(some["score"].mean()), error, float(some["seconds"].mean())))
    metric = METRICS[fits["metric"].iloc[0]].title
    sizes, means, errors, seconds = zip(*rows, strict=True)
    title_of_line = "mean over the folds, with one standard error"
    texts = zip(sizes, lined_up(means, 4), lined_up(errors, 2), map(brief_seconds, seconds), strict=True)
    chart = size_chart(sizes, means, errors, chosen, name=title_of_line, y_label=metric, log_x=len(rows) > 1)
    return render(
        "sweep.html",
        title=title,
        facts=facts,
        metric=metric,
        chart_=chart,
        rows=list(texts),
        chosen=chosen,
        csv=packed(csv),
        command=command,
    )


def study_report(title: str, folders: Sequence[Path], *, command: str) -> str:
    """The tables and pictures of studies, from the folders they were written to."""
    studies = []
    for folder in folders:
        pictures = [
            (_caption(file.stem), data_address(file.read_bytes(), "image/png"), not file.stem.startswith("maps"))
            for file in sorted(folder.glob("*.png"))
        ]
        tables, costs = (_blocks(folder, names) for names in (("tables.md", "needles.md"), ("costs.md",)))
        studies.append({"name": folder.name, "tables": tables, "pictures": pictures, "costs": costs})
    return render("study.html", title=title, studies=studies, command=command)


_CAPTIONS = {  # of a figure of a study, by how its file's name begins
    "ranking": "scores of the chosen features; blue where every fold chose a feature, red where not",
    "maps": "the pixels that were chosen, alone and over the mean images",
    "sizes": "score against the number of features, with one standard deviation",
    "losses": "both nets' losses in the search, all folds",
}


def _caption(stem: str) -> str:
    """What a figure's file shows, in words."""
    kind, _, data = stem.partition("_")
    told = _CAPTIONS.get(kind, stem)
    return f"{data}: {told}" if data and kind in _CAPTIONS else told


def _blocks(folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    found = [folder / name for name in names if (folder / name).exists()]
    return markdown_blocks("\n".join(file.read_text(encoding="utf-8") for file in found))


def markdown_blocks(text: str) -> list[dict[str, Any]]:
    r"""The headings, paragraphs and tables of the study's own Markdown.

    Examples
    --------
    >>> markdown_blocks("# A\n\n| x | y |\n|---|---|\n| 1 | 2 |")
    [{'kind': 'h1', 'text': 'A'}, {'kind': 'table', 'head': ['x', 'y'], 'rows': [['1', '2']]}]
    """
    blocks: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            blocks.append({"kind": f"h{level}", "text": line.lstrip("# ")})
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if all(set(cell) <= set("-: ") for cell in cells):
                continue
            if blocks and blocks[-1]["kind"] == "table" and not blocks[-1].get("closed"):
                blocks[-1]["rows"].append(cells)
            else:
                blocks.append({"kind": "table", "head": cells, "rows": []})
        elif line.strip():
            blocks.append({"kind": "p", "text": line.strip()})
        elif blocks and blocks[-1]["kind"] == "table":
            blocks[-1]["closed"] = True
    for block in blocks:
        block.pop("closed", None)
    return blocks


def _mean_place(choices: Any, feature: int) -> float:
    """At which place of its choice a feature stands, on average over the folds that chose it."""
    return float(np.mean([list(chosen).index(feature) for chosen in choices if feature in chosen]))


def _axis(scores: pd.Series) -> list[float]:
    """Round numbers around the scores: where the axis of the dots begins, its marks, and where it ends."""
    return nice_ticks(float(scores.min()), float(scores.max()), about=4)
