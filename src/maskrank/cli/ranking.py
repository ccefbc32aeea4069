"""The commands that rank: ``rank`` and ``demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.cli.checkpoints import check_folder
from maskrank.cli.checks import asked_effort, asked_pixels, asked_size, check_fits, check_pixels, check_size, in_options
from maskrank.cli.clusters import Cluster, many_fits
from maskrank.cli.common import console, polite, read_table
from maskrank.cli.options import (
    Balanced,
    Categorical,
    CheckpointFolder,
    Data,
    Drop,
    Event,
    FoldBy,
    Memory,
    MetricName,
    Numeric,
    Quiet,
    RankTask,
    Report,
    Resume,
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
from maskrank.cli.outputs import Outputs
from maskrank.cli.questions import ask, check_metric, fit_table, make_model
from maskrank.cli.voice import Voice
from maskrank.interrupts import leaving, shield_children

if TYPE_CHECKING:
    from maskrank.estimators.base import DualNetBase
    from maskrank.tables import Table


@polite
@many_fits
def rank(
    data: Data,
    target: Target = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Number of features to keep, or a share below 1; auto finds how many are enough, all keeps and scores "
            "every feature. Default: half of them.",
        ),
    ] = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size", min=1, metavar="N", help="With --size auto: the largest number of features to keep."
        ),
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
            metavar="NAME",
            help="default; paper, which ranks by the derivative as in the paper; or paper:NAME, with the settings of "
            "the paper for one data set.",
        ),
    ] = "default",
    search_effort: Annotated[
        str,
        typer.Option(
            metavar="EFFORT",
            help="Budget for finding pairs and triples that only work together: quick, default, thorough, or a "
            "number of seconds on one core.",
        ),
    ] = "default",
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Keep this column without counting it, and rank the others by what they add; repeat for more.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='Choose columns together: a JSON file {"group": ["column", ...], ...}, or CSV with the columns group '
            "and column; --size then counts groups.",
        ),
    ] = None,
    skip_missing: SkipMissing = False,
    strict: Strict = False,
    seed: Seed = 0,
    repeats: Annotated[
        int, typer.Option(metavar="N", help="Refit on N random 80 % subsamples: would they choose the same?")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Refits in parallel. Default: one per core.")
    ] = None,
    cluster: Cluster = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON to this file.")
    ] = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write the ranking of all features as CSV.")
    ] = None,
    report: Report = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="FILE", help="Write the fitted model to this file.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image", metavar="HEIGHTxWIDTH", help="The features are pixels of such images: draw maps in the report."
        ),
    ] = None,
    memory: Memory = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rank the features of a table; keep the best.

    Example: maskrank rank patients.csv --target outcome --size 5 --report ranking.html
    """
    voice = Voice(quiet=quiet, verbose=verbose)  # the time waited is counted from here
    wanted, effort, pixels = asked_size(size), asked_effort(search_effort), asked_pixels(image)
    check_fits(wanted, max_size, preset=preset, repeats=repeats)
    check_metric(metric)
    from maskrank.tables import ColumnOptions, memory_limit, read_groups

    outputs = Outputs([data] if group is None else [data, group], json=json, csv=csv, report=report, model=model)
    check_folder(checkpoint, resume=resume)
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
    limit = memory_limit(memory, "--memory")
    table = read_table(data, question, options, voice, strict=strict, memory=limit, seed=seed)
    check_pixels(pixels, table)
    check_size(wanted, max_size, preset=preset, table=table)
    from maskrank.cli.ranking_results import RankingResults

    settings: dict[str, Any] = {"preset": preset, "n_repeats": repeats, "n_jobs": jobs or -1, "random_state": seed}
    settings |= {"max_features_to_select": max_size, "search_effort": effort, "checkpoint": checkpoint}
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
    results = RankingResults(data, table, fitted, outputs, voice, image_shape=pixels)
    if repeats and jobs != 1:
        shield_children()
    with leaving(results.leave):
        with outputs.checkpoints():
            _fit(fitted, table)
        results.finish()
    outputs.finish(voice)


def _fit(fitted: DualNetBase, table: Table) -> None:
    with in_options():
        fit_table(fitted, table)


@polite
def demo(report: Report = None, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Rank the paper's three synthetic problems.

    Example: maskrank demo --report demo.html
    """
    from maskrank.report import RankingSection, ranking_report
    from maskrank.terminal.demo import PROBLEMS, run_demo

    voice, outputs = Voice(quiet=quiet, verbose=verbose), Outputs([], report=report)
    sections: list[RankingSection] = []

    def write() -> str:
        title = "Three problems with known answers"
        if sections:
            outputs.write("report", lambda: ranking_report(title, sections, command="maskrank demo"))
        outputs.leave_out("report", "no fit is done")
        return f"{len(sections)} of {len(PROBLEMS)} problems are in the report" if report is not None else ""

    with leaving(write):
        run_demo(
            console(),
            done=None if report is None else sections.append,
            verbose=0 if quiet else 1,
            callbacks=voice.listeners,
            after_fit=voice.tell_model,
        )
        write()
    outputs.finish(voice)
