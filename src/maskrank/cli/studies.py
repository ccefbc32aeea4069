"""The commands that compare on a user's own table: ``compare`` and ``sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.cli.checkpoints import check_folder
from maskrank.cli.checks import check_methods
from maskrank.cli.clusters import Cluster, many_fits
from maskrank.cli.common import listed, polite, read_table, say, whole_numbers
from maskrank.cli.options import (
    Categorical,
    CheckpointFolder,
    Data,
    Drop,
    FoldBy,
    Jobs,
    Memory,
    Numeric,
    Quiet,
    Report,
    Resume,
    Seed,
    SkipMissing,
    Strict,
    Target,
    Task,
    TimeOrder,
    Verbose,
)
from maskrank.cli.outputs import Outputs
from maskrank.cli.questions import Question, ask
from maskrank.cli.voice import Voice, failure
from maskrank.interrupts import leaving, shield_children

if TYPE_CHECKING:
    from maskrank.study.runner import Result

Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON to this file.")]
Csv = Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Write all fits as CSV to this file.")]


@polite
@many_fits
def compare(
    data: Data,
    target: Target = None,
    size: Annotated[int, typer.Option(min=1, help="Number of features to keep.")] = 5,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas.")] = "dualnet,rf,lasso,mrmr",
    folds: Folds = 5,
    fold_by: FoldBy = None,
    time_order: TimeOrder = None,
    task: Task = "auto",
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    skip_missing: SkipMissing = False,
    strict: Strict = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.001, help="End fits that take longer than this many seconds."),
    ] = None,
    json: Json = None,
    csv: Csv = None,
    report: Report = None,
    memory: Memory = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Compare methods of feature selection.

    They are cross-validated on your own table.

    Example: maskrank compare patients.csv --target outcome --size 5 --methods dualnet,rf,lasso,rfe
    """
    voice = Voice(quiet=quiet, verbose=verbose)
    chosen = listed(methods)
    check_methods(chosen)
    from maskrank.study.names import check_sizes
    from maskrank.tables import ColumnOptions, memory_limit

    outputs = Outputs([data], json=json, csv=csv, report=report)
    check_folder(checkpoint, resume=resume)
    options = ColumnOptions(categorical or (), numeric or ())
    question = _question(target, task, drop=drop, skip_missing=skip_missing, fold_by=fold_by, time_order=time_order)
    limit = memory_limit(memory, "--memory")
    table = read_table(data, question, options, voice, strict=strict, memory=limit, seed=seed)
    check_sizes([size], len(table.names), "--size")
    from maskrank.cli.fits_results import ComparisonResults
    from maskrank.study.folds import rare_classes, sampled
    from maskrank.study.own_table import compare_methods, table_jobs

    voice.warn([*sampled(table), *rare_classes(table, folds)])
    results = ComparisonResults(data, table, table_jobs(chosen, [size], folds), folds, outputs, voice)
    shield_children()
    with leaving(results.leave):
        fits, failed = compare_methods(
            table,
            chosen,
            [size],
            folds=folds,
            seed=seed,
            n_jobs=jobs,
            timeout=timeout,
            quiet=quiet,
            told=results.told,
            checkpoint=checkpoint,
        )
        results.finish(fits, failed)
    _finish(outputs, failed, voice)
    if not len(fits):
        typer.echo(f"maskrank: no fit ended within the --timeout of {timeout:g} s", err=True)
        raise typer.Exit(1)


@polite
@many_fits
def sweep(
    data: Data,
    target: Target = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of features, separated by commas. Default: 1,2,3,5,10,20,50, up to all.")
    ] = None,
    folds: Folds = 5,
    fold_by: FoldBy = None,
    time_order: TimeOrder = None,
    task: Task = "auto",
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    skip_missing: SkipMissing = False,
    strict: Strict = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    json: Json = None,
    csv: Csv = None,
    report: Report = None,
    memory: Memory = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find how many features are enough.

    Our method is cross-validated at several sizes.

    Example: maskrank sweep patients.csv --target outcome --sizes 2,5,10,20 --jobs 2
    """
    voice = Voice(quiet=quiet, verbose=verbose)
    given = None if sizes is None else whole_numbers("--sizes", sizes, least=1)
    from maskrank.study.names import OURS, check_sizes
    from maskrank.tables import ColumnOptions, memory_limit

    outputs = Outputs([data], json=json, csv=csv, report=report)
    check_folder(checkpoint, resume=resume)
    options = ColumnOptions(categorical or (), numeric or ())
    question = _question(target, task, drop=drop, skip_missing=skip_missing, fold_by=fold_by, time_order=time_order)
    limit = memory_limit(memory, "--memory")
    table = read_table(data, question, options, voice, strict=strict, memory=limit, seed=seed)
    wanted = given or [size for size in (1, 2, 3, 5, 10, 20, 50) if size < table.X.shape[1]]
    check_sizes(wanted, len(table.names), "--sizes")
    from maskrank.cli.fits_results import SweepResults
    from maskrank.study.folds import rare_classes, sampled
    from maskrank.study.own_table import compare_methods, table_jobs

    voice.warn([*sampled(table), *rare_classes(table, folds)])
    results = SweepResults(data, table, table_jobs([OURS], wanted, folds), folds, outputs, voice)
    if jobs > 1:
        shield_children()
    with leaving(results.leave):
        fits, failed = compare_methods(
            table,
            [OURS],
            wanted,
            folds=folds,
            seed=seed,
            n_jobs=jobs,
            quiet=quiet,
            told=results.told,
            checkpoint=checkpoint,
        )
        results.finish(fits, failed)
    _finish(outputs, failed, voice)


def _question(target: list[str] | None, task: str, **options: Any) -> Question:
    """What is asked; methods are compared by classes or by one number."""
    question = ask(target, task, **options)
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"--task {task}: methods are compared by classification or regression; {task} goes with rank")
    return question


def _finish(outputs: Outputs, failed: list[Result], voice: Voice) -> None:
    """Tell what was written, and end with an error where fits failed; one that took too long is in the table."""
    from maskrank.study.own_table import timed_out

    errors = [line for line in failed if not timed_out(line)]
    for line in errors:
        say(failure(line))
    outputs.finish(voice)
    if errors:
        raise typer.Exit(1)
