"""The reports of ``compare``, ``sweep`` and ``study``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank.core.metrics import METRICS, Metric
from maskrank.findings import Comparison, Finding, study_finding
from maskrank.findings.comparisons import compared
from maskrank.findings.finding import to_error
from maskrank.findings.studies import finished_fits, study_parts
from maskrank.report.charts import labelled, nice_ticks, size_chart
from maskrank.report.page import data_address, packed, render
from maskrank.report.pictures import Bar, share_picture
from maskrank.terminal.text import brief_seconds, grouped, to_errors

_MOST_CHOSEN = 12  # features that are named of a method


def comparison_report(
    finding: Comparison,
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
    finding : Comparison
        The answer.
    fits : DataFrame
        One row per fit: method, fold, metric, score, seconds, selected, and rmse of numbers.
    names : sequence of str
        Of all features.
    csv : str
        All fits, to be downloaded.
    """
    metric = METRICS[fits["metric"].iloc[0]]
    view = methods_view(fits, metric)
    rows = [{**row, **_choices(fits[fits["method"] == row["name"]], names)} for row in view["rows"]]
    return render(
        "comparison.html",
        title=finding.title,
        finding=finding,
        facts=facts,
        view={**view, "rows": rows},
        csv=packed(csv),
        picture=_picture(
            finding,
            [(row["name"], row["mean_text"], row["mean"], 0.0) for row in rows],
            f"mean {metric.title} over the folds",
            set(finding.best),
        ),
        command=command,
    )


def methods_view(fits: pd.DataFrame, metric: Metric) -> dict[str, Any]:
    """Methods beside each other, best first: a dot for each fold, their mean, and how far it is behind the best."""
    of_folds = fits.groupby(["method", "fold"], sort=False)["score"].mean()
    ticks = nice_ticks(float(of_folds.min()), float(of_folds.max()), about=4)
    low, span = ticks[0], ticks[-1] - ticks[0]
    standings = compared(fits, metric)
    deviations = [float(of_folds[each.method].std(ddof=0)) for each in standings]
    (means, spreads), in_unit = to_errors([each.mean for each in standings], deviations), "rmse" in fits
    errors = fits.groupby("method")["rmse"].mean() if in_unit else None
    units = [""] * len(standings) if errors is None else grouped([errors[each.method] for each in standings], 4)
    seconds = fits.groupby("method")["seconds"].mean()
    rows = [
        {
            "name": each.method,
            "best": each.tied,
            "dots": [(round(100 * (score - low) / span, 2), float(score)) for score in of_folds[each.method]],
            "at": round(100 * (each.mean - low) / span, 2),
            "mean": each.mean,
            "mean_text": mean,
            "spread_text": spread,
            "behind": "" if each is standings[0] else " ± ".join(to_error([each.difference], each.error)),
            "rmse_text": unit,
            "seconds": brief_seconds(float(seconds[each.method])),
        }
        for each, mean, spread, unit in zip(standings, means, spreads, units, strict=True)
    ]
    return {
        "metric": metric.title,
        "rises": metric.higher_is_better,
        "ticks": [(round(100 * (x - low) / span, 2), text) for x, text in labelled(ticks)],
        "tied": sum(each.tied for each in standings),
        "in_unit": in_unit,
        "rows": rows,
    }


def _choices(fits: pd.DataFrame, names: Sequence[str]) -> dict[str, Any]:
    """The features that the folds of a method chose, the most frequent first."""
    counts = pd.Series([i for chosen in fits["selected"] for i in chosen]).value_counts(sort=False)
    order = sorted(counts.index, key=lambda i: (-counts[i], _mean_place(fits["selected"], i)))
    return {
        "features": [(names[i], int(counts[i])) for i in order[:_MOST_CHOSEN]],
        "more": max(0, len(order) - _MOST_CHOSEN),
        "folds": len(fits),
    }


def _picture(
    finding: Finding, rows: Sequence[tuple[str, str, float, float]], label: str, strong: Collection[str]
) -> str:
    """Bars from 0, or from below the least where that is negative: name, text, value and error."""
    low = min(0.0, *(value - error for *_, value, error in rows))
    span = (max(0.0, *(value + error for *_, value, error in rows)) - low) or 1.0
    bars = [
        Bar(
            name,
            text,
            100 * (value - low) / span,
            (100 * (value - error - low) / span, 100 * (value + error - low) / span) if error else None,
            muted=name not in strong,
        )
        for name, text, value, error in rows
    ]
    return share_picture(finding.title, finding.answer, bars, label=label)


def sweep_report(
    finding: Finding, fits: pd.DataFrame, chosen: int, facts: Sequence[tuple[str, str]], *, command: str, csv: str
) -> str:
    """Scores against the number of features, with one standard error, and the size to take.

    Parameters
    ----------
    finding : Finding
        The answer.
    fits : DataFrame
        One row per fit: size, fold, metric, score, seconds, and rmse of numbers.
    chosen : int
        The smallest size within one standard error of the best.
    """
    by_size = fits.groupby("size")
    sizes = [int(size) for size in by_size.groups]
    means = by_size["score"].mean().tolist()
    errors = by_size["score"].sem().fillna(0.0).tolist()
    metric, in_unit = METRICS[fits["metric"].iloc[0]].title, "rmse" in fits
    texts, spreads = to_errors(means, errors)
    rows = zip(
        sizes,
        texts,
        spreads,
        grouped(by_size["rmse"].mean().tolist(), 4) if in_unit else [""] * len(sizes),
        map(brief_seconds, by_size["seconds"].mean()),
        strict=True,
    )
    title_of_line = "mean over the folds, with one standard error"
    chart = size_chart(sizes, means, errors, chosen, name=title_of_line, y_label=metric, log_x=len(sizes) > 1)
    drawn = [
        (str(size), text, mean, error) for size, text, mean, error in zip(sizes, texts, means, errors, strict=True)
    ]
    return render(
        "sweep.html",
        title=finding.title,
        finding=finding,
        facts=facts,
        metric=metric,
        in_unit=in_unit,
        chart_=chart,
        rows=list(rows),
        chosen=chosen,
        csv=packed(csv),
        picture=_picture(finding, drawn, f"{metric} by the number of features, ± standard error", {str(chosen)}),
        command=command,
    )


def study_report(name: str, folders: Sequence[Path], *, command: str) -> str:
    """Methods on each data set, tables and pictures of studies, from the folders they were written to."""
    studies, every = [], []
    for folder in folders:
        pictures = [
            (_caption(file.stem), data_address(file.read_bytes(), "image/png"), not file.stem.startswith("maps"))
            for file in sorted(folder.glob("*.png"))
        ]
        tables, costs = (_blocks(folder, names) for names in (("tables.md", "needles.md"), ("costs.md",)))
        fits = finished_fits(folder)
        every += fits
        parts = [(part.data, methods_view(part.fits, part.metric)) for some in fits for part in study_parts(some)]
        head = next((block["text"] for block in tables if block["kind"] == "h1"), folder.name)
        blocks = [block for block in tables if block["kind"] != "h1"]
        studies.append({"title": head, "parts": parts, "tables": blocks, "pictures": pictures, "costs": costs})
    finding = study_finding(name, every)
    return render("study.html", title=finding.title, finding=finding, studies=studies, command=command)


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
