"""The commands that rank: ``rank``, ``predict`` and ``demo``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.cli.common import (
    Categorical,
    Data,
    Drop,
    Numeric,
    Quiet,
    Report,
    Seed,
    SkipMissing,
    Target,
    Task,
    Verbose,
    check_distinct,
    chosen_columns,
    console,
    polite,
    read_table,
    table_facts,
    typed_command,
)
from maskrank.cli.voice import Voice

if TYPE_CHECKING:
    from maskrank.estimators.base import DualNetBase
    from maskrank.tables import Table

Size = int | float | str | None  # as the estimators take it


@polite
def rank(
    data: Data,
    target: Target = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="How many features to keep, or a share below 1; auto finds how many are enough, all keeps and scores "
            "every feature. Half of them if not given."
        ),
    ] = None,
    max_size: Annotated[
        int | None, typer.Option("--max-size", min=1, help="With --size auto: the most features it may keep.")
    ] = None,
    task: Task = "auto",
    preset: Annotated[
        str,
        typer.Option(
            help="default; paper, which ranks by the derivative as the paper does; or paper:NAME, with the nets and "
            "numbers of the paper for one data set."
        ),
    ] = "default",
    metric: Annotated[
        str,
        typer.Option(
            help="The figure shown first: auto; accuracy, balanced_accuracy, roc_auc, average_precision or log_loss "
            "for classes; r2, rmse, mae or mse for numbers. JSON and report hold them all."
        ),
    ] = "auto",
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep this column, outside the count: others are ranked by what they add; may be given again."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help='Choose columns together: a JSON file {"group": ["column", ...], ...}, or CSV with the columns group '
            "and column; --size then counts groups."
        ),
    ] = None,
    skip_missing: SkipMissing = False,
    seed: Seed = 0,
    repeats: Annotated[int, typer.Option(help="Refit on so many random 80 % subsamples, to measure stability.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Refits in parallel; one per core if not given.")] = None,
    json: Annotated[str | None, typer.Option("--json", help="Write the result as JSON to this file.")] = None,
    csv: Annotated[str | None, typer.Option("--csv", help="Write the ranking of all features as CSV.")] = None,
    report: Report = None,
    model: Annotated[str | None, typer.Option("--model", help="Write the fitted model to this file.")] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="The features are pixels, HEIGHTxWIDTH: maps in the report.")
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rank the features of a table and keep the best of them.

    Example: maskrank rank patients.csv --target outcome --size 5 --report ranking.html
    """
    from maskrank.files import check_writable
    from maskrank.tables import ColumnOptions, read_groups

    voice = Voice(quiet=quiet, verbose=verbose)
    outputs = [path for path in (json, csv, report, model) if path is not None]
    check_distinct(data, outputs)
    for path in outputs:
        check_writable(path)
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"--task {task}: use auto, classification or regression")
    wanted = _size(size)
    if max_size is not None and wanted != "auto":
        raise ValueError(f"--max-size {max_size} goes with --size auto")

    groups = {} if group is None else read_groups(group)
    options = ColumnOptions(categorical or (), numeric or (), require or (), groups)
    table = read_table(data, target, drop, task, skip_missing=skip_missing, voice=voice, options=options)
    shape = None if image is None else _image_shape(image, len(table.names))
    settings: dict[str, Any] = {"preset": preset, "n_repeats": repeats, "n_jobs": jobs or -1, "random_state": seed}
    settings |= {"max_features_to_select": max_size, "metric": metric}
    settings |= {"required": table.required} if table.required else {}
    settings |= {"groups": table.groups} if table.groups else {}
    fitted, seconds = _fit(table, wanted, settings, voice)
    summary = _summary(data, table, fitted, seconds)
    _write_results(fitted, seconds, json=json, csv=csv, model=model)
    if report is not None:
        _write_report(report, table, fitted, summary, seconds, shape)
    _show(fitted, summary)
    voice.written(outputs)


def _fit(table: Table, wanted: Size, settings: dict[str, Any], voice: Voice) -> tuple[DualNetBase, float]:
    """The fitted model, and the seconds it took."""
    import time

    from maskrank import DualNetClassifier, DualNetRegressor

    started = time.perf_counter()
    kind = DualNetClassifier if table.task == "classification" else DualNetRegressor
    fitted = kind(wanted, callbacks=voice.listeners, verbose=int(not voice.quiet), **settings)
    try:
        fitted.fit(table.X, table.y)
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    seconds = time.perf_counter() - started
    voice.tell_model(fitted)
    return fitted, seconds


def _summary(data: str, table: Table, fitted: DualNetBase, seconds: float) -> list[tuple[str, str]]:
    from maskrank.results import facts

    return [*table_facts(data, table), *facts(fitted, seconds=seconds)]


def _write_results(
    fitted: DualNetBase, seconds: float, *, json: str | None, csv: str | None, model: str | None
) -> None:
    from maskrank.files import write_atomically
    from maskrank.results import ranking_csv, ranking_json

    if json is not None:
        write_atomically(json, ranking_json(fitted, seconds=seconds))
    if csv is not None:
        write_atomically(csv, ranking_csv(fitted.result_))
    if model is not None:
        fitted.save(model)


def _write_report(
    path: str,
    table: Table,
    fitted: DualNetBase,
    summary: list[tuple[str, str]],
    seconds: float,
    shape: tuple[int, int] | None,
) -> None:
    from maskrank.estimators.all_features import all_features_figures
    from maskrank.files import write_atomically
    from maskrank.report import RankingSection, ranking_report

    section = RankingSection(
        f"Target: {table.target}",
        fitted,
        summary,
        seconds,
        table.X,
        table.y,
        all_features=None if fitted.support_.all() else all_features_figures(fitted, table.X, table.y),
        image_shape=shape,
    )
    page = ranking_report(f"Which features predict {table.target}?", [section], command=typed_command())
    write_atomically(path, page)


def _show(fitted: DualNetBase, summary: list[tuple[str, str]]) -> None:
    """One screen: the facts, the ranking, and how to read it."""
    from maskrank.notes import notes
    from maskrank.terminal.ranking import show_facts, show_ranking, show_stability
    from maskrank.units import score_note

    screen = console()
    show_facts(screen, summary)
    screen.print()
    show_ranking(screen, fitted.result_, fitted.stability_)
    screen.print(f"\n{score_note(fitted.result_)}", style="dim")
    for about, note in notes(fitted).items():
        screen.print(f"{about}: {note}", markup=False)
    if fitted.stability_ is not None:
        show_stability(screen, fitted.stability_)


@polite
def predict(
    model: Annotated[str, typer.Argument(help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[str | None, typer.Option("--out", help="Write CSV to this file, not to standard output.")] = None,
    quiet: Quiet = False,
) -> None:
    """Predict with a model; the table needs the chosen columns, in any order, among any others.

    Every row is answered: what is missing, or was never seen before, is a gap.

    Example: maskrank predict outcome.maskrank new_patients.csv --out predictions.csv
    """
    from maskrank import load
    from maskrank.files import check_writable, write_atomically
    from maskrank.results import predictions_csv

    if out is not None:
        check_writable(out)
    fitted = load(model)
    content = predictions_csv(fitted, chosen_columns(data, fitted, Voice(quiet=quiet, verbose=False)))
    if out is None:
        sys.stdout.write(content)
    else:
        write_atomically(out, content)


@polite
def demo(report: Report = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Rank the features of the three synthetic problems of the paper.

    Example: maskrank demo --report demo.html
    """
    from maskrank.terminal.demo import run_demo

    voice = Voice(quiet=quiet, verbose=verbose)
    run_demo(
        console(),
        report=report,
        verbose=0 if quiet else 1,
        callbacks=voice.listeners,
        after_fit=voice.tell_model,
    )
    voice.written([] if report is None else [report])


def _size(text: str | None) -> Size:
    if text is None or text in ("auto", "all"):
        return text
    try:
        return float(text) if "." in text or "e" in text or "nan" in text else int(text)
    except ValueError:
        raise ValueError(f"--size {text}: a whole number, a share between 0 and 1, auto or all is needed") from None


def _in_options(message: str) -> str:
    """An error of the estimator in the words of the command line: ``n_features_to_select='auto'`` is --size auto."""
    options = {"n_features_to_select": "--size", "max_features_to_select": "--max-size", "metric": "--metric"}
    for parameter, option in options.items():
        message = re.sub(rf"{parameter}='?([^\s':;,]+)'?", rf"{option} \1", message)
    return re.sub(r"preset='(paper[\w:]*)'", r"--preset \1", message)


def _image_shape(text: str, d: int) -> tuple[int, int]:
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image {text}: HEIGHTxWIDTH is needed, for example 28x28") from None
    if height < 1 or width < 1 or height * width != d:
        raise ValueError(f"--image {text}: has {height * width} pixels, but the table has {d} features")
    return height, width
