"""The commands that rank: ``rank`` and ``demo``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.cli.common import (
    check_distinct,
    console,
    polite,
    read_table,
    table_facts,
    typed_command,
)
from maskrank.cli.options import (
    Balanced,
    Categorical,
    Data,
    Drop,
    Event,
    FoldBy,
    MetricName,
    Numeric,
    Quiet,
    RankTask,
    Report,
    Seed,
    SkipMissing,
    Strict,
    Target,
    Targets,
    Time,
    TimeOrder,
    Verbose,
    Weight,
)
from maskrank.cli.questions import HELD_OUT, ask, check_metric, fit_table, given_target, make_model, row_arguments
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
    task: RankTask = "auto",
    targets: Targets = None,
    time: Time = None,
    event: Event = None,
    weight: Weight = None,
    balanced: Balanced = False,
    metric: MetricName = "auto",
    fold_by: FoldBy = None,
    time_order: TimeOrder = None,
    preset: Annotated[
        str,
        typer.Option(
            help="default; paper, which ranks by the derivative as the paper does; or paper:NAME, with the nets and "
            "numbers of the paper for one data set."
        ),
    ] = "default",
    search_effort: Annotated[
        str,
        typer.Option(
            help="How far pairs and triples that act only together are looked for: quick, default, thorough, or about "
            "so many seconds of one core."
        ),
    ] = "default",
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
    strict: Strict = False,
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
    wanted = _size(size)
    if max_size is not None and wanted != "auto":
        raise ValueError(f"--max-size {max_size} goes with --size auto")
    check_metric(metric)
    question = ask(
        target,
        task,
        drop=drop,
        skip_missing=skip_missing,
        targets=targets,
        time=time,
        event=event,
        weight=weight,
        fold_by=fold_by,
        time_order=time_order,
    )
    groups = {} if group is None else read_groups(group)
    options = ColumnOptions(categorical or (), numeric or (), require or (), groups)
    table = read_table(data, question, options, voice, strict=strict)
    shape = None if image is None else _image_shape(image, len(table.names))
    settings: dict[str, Any] = {"preset": preset, "n_repeats": repeats, "n_jobs": jobs or -1, "random_state": seed}
    settings |= {"max_features_to_select": max_size, "search_effort": _effort(search_effort)}
    settings |= {"required": table.required} if table.required else {}
    settings |= {"groups": table.groups} if table.groups else {}
    fitted = make_model(
        table,
        wanted,
        balanced=balanced,
        metric=metric,
        callbacks=voice.listeners,
        verbose=int(not voice.quiet),
        **settings,
    )
    seconds = _fit(fitted, table, voice)
    summary = _summary(data, table, fitted, seconds)
    _write_results(table, fitted, seconds, json=json, csv=csv, model=model)
    if report is not None:
        _write_report(report, table, fitted, summary, seconds, shape)
    _show(fitted, summary)
    voice.written(outputs)


def _fit(fitted: DualNetBase, table: Table, voice: Voice) -> float:
    """Fit the model; the seconds it took."""
    import time

    from maskrank.estimators.reading import remember_file

    started = time.perf_counter()
    try:
        fit_table(fitted, table)
    except ValueError as error:
        raise ValueError(_in_options(str(error))) from error
    remember_file(fitted, date_orders=table.date_orders, targets=table.roles.targets)
    seconds = time.perf_counter() - started
    voice.tell_model(fitted)
    return seconds


def _summary(data: str, table: Table, fitted: DualNetBase, seconds: float) -> list[tuple[str, str]]:
    from maskrank.results import facts
    from maskrank.tables.roles import said_of_rows

    said = said_of_rows(table.roles, table.rows, HELD_OUT)
    return [*table_facts(data, table), *said, *facts(fitted, seconds=seconds)]


def _write_results(
    table: Table, fitted: DualNetBase, seconds: float, *, json: str | None, csv: str | None, model: str | None
) -> None:
    from maskrank.files import write_atomically
    from maskrank.results import ranking_csv, ranking_json
    from maskrank.tables.roles import roles_document

    if json is not None:
        question = roles_document(table.roles, table.target)
        write_atomically(json, ranking_json(fitted, seconds=seconds, question=question))
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
    from maskrank.tables.roles import roles_document

    known = table.rows.order is None and not fitted.support_.all()  # which rows were held out
    section = RankingSection(
        f"Target: {table.target}",
        fitted,
        summary,
        seconds,
        table.X,
        table.y,
        all_features=all_features_figures(fitted, table.X, given_target(table), **row_arguments(table))
        if known
        else None,
        image_shape=shape,
        question=roles_document(table.roles, table.target),
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


def _effort(text: str) -> str | float:
    """An effort by its name, or seconds."""
    from maskrank.core.config import WideSearchConfig

    try:
        effort: str | float = float(text)
    except ValueError:
        effort = text
    try:
        WideSearchConfig().of_effort(effort)
    except ValueError:
        raise ValueError(
            f"--search-effort {text}: quick, default, thorough, or a number of seconds is needed"
        ) from None
    return effort


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
