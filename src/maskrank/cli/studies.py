"""The commands that compare on a user's own table: ``compare`` and ``sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskrank.cli.checkpoints import check_folder
from maskrank.cli.common import (
    check_distinct,
    console,
    listed,
    polite,
    read_table,
    table_facts,
    typed_command,
    whole_numbers,
)
from maskrank.cli.options import (
    Categorical,
    CheckpointFolder,
    Data,
    Drop,
    FoldBy,
    Jobs,
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
from maskrank.cli.questions import Question, ask
from maskrank.cli.voice import Voice

if TYPE_CHECKING:
    import pandas as pd

    from maskrank.study.runner import Result
    from maskrank.tables import Table

Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")]
Csv = Annotated[str | None, typer.Option("--csv", help="Write all fits as CSV to this file.")]


@polite
def compare(
    data: Data,
    target: Target = None,
    size: Annotated[int, typer.Option(min=1, help="How many features to keep.")] = 5,
    methods: Annotated[str, typer.Option(help="Separated by commas.")] = "dualnet,rf,lasso,mrmr",
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
    csv: Csv = None,
    report: Report = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Compare methods that choose features, on your own table, by cross-validation.

    Example: maskrank compare patients.csv --target outcome --size 5 --methods dualnet,rf,lasso,rfe
    """
    from maskrank.files import check_writable, write_atomically
    from maskrank.study.folds import rare_classes
    from maskrank.study.own_table import compare_methods, comparison_rows
    from maskrank.tables import ColumnOptions
    from maskrank.terminal.ranking import show_table

    voice = Voice(quiet=quiet, verbose=verbose)
    outputs = [path for path in (csv, report) if path is not None]
    check_distinct(data, outputs)
    for path in outputs:
        check_writable(path)
    check_folder(checkpoint, resume=resume)
    options = ColumnOptions(categorical or (), numeric or ())
    question = _question(target, task, drop=drop, skip_missing=skip_missing, fold_by=fold_by, time_order=time_order)
    table = read_table(data, question, options, voice, strict=strict)
    voice.warn(rare_classes(table, folds), always=True)
    fits, failed = compare_methods(
        table,
        listed(methods),
        [size],
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        quiet=quiet,
        told=voice.tell_fit,
        checkpoint=checkpoint,
    )
    if len(fits):
        show_table(console(), *comparison_rows(fits, table.names))
    if report is not None and len(fits):
        from maskrank.report import comparison_report

        title = f"Which method chooses best for {table.target}?"
        facts = [*_facts(data, table, folds), ("size", f"{size} features")]
        page = comparison_report(title, fits, table.names, facts, command=typed_command(), csv=_fits_csv(fits))
        write_atomically(report, page)
    _finish(fits, failed, csv, report, voice)


@polite
def sweep(
    data: Data,
    target: Target = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of features, separated by commas; 1,2,3,5,10,20,50 as far as there are.")
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
    csv: Csv = None,
    report: Report = None,
    checkpoint: CheckpointFolder = None,
    resume: Resume = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """How many features are enough? Cross-validates our method at several sizes.

    Example: maskrank sweep patients.csv --target outcome --sizes 2,5,10,20 --jobs 2
    """
    from maskrank.files import check_writable, write_atomically
    from maskrank.size_choice import smallest_size
    from maskrank.study.folds import rare_classes
    from maskrank.study.own_table import compare_methods, sweep_rows
    from maskrank.study.protocol import OURS
    from maskrank.tables import ColumnOptions
    from maskrank.terminal.ranking import show_table

    voice = Voice(quiet=quiet, verbose=verbose)
    outputs = [path for path in (csv, report) if path is not None]
    check_distinct(data, outputs)
    for path in outputs:
        check_writable(path)
    check_folder(checkpoint, resume=resume)
    given = None if sizes is None else whole_numbers("--sizes", sizes, least=1)
    options = ColumnOptions(categorical or (), numeric or ())
    question = _question(target, task, drop=drop, skip_missing=skip_missing, fold_by=fold_by, time_order=time_order)
    table = read_table(data, question, options, voice, strict=strict)
    voice.warn(rare_classes(table, folds), always=True)
    wanted = given or [size for size in (1, 2, 3, 5, 10, 20, 50) if size < table.X.shape[1]]
    fits, failed = compare_methods(
        table,
        [OURS],
        wanted,
        folds=folds,
        seed=seed,
        n_jobs=jobs,
        quiet=quiet,
        told=voice.tell_fit,
        checkpoint=checkpoint,
    )
    if len(fits):
        screen = console()
        show_table(screen, *sweep_rows(fits))
        screen.print(f"\n{smallest_size(fits)} features: the fewest within one standard error of the best")
    if report is not None and len(fits):
        from maskrank.report import sweep_report

        title, facts = f"How many features are enough for {table.target}?", _facts(data, table, folds)
        page = sweep_report(title, fits, smallest_size(fits), facts, command=typed_command(), csv=_fits_csv(fits))
        write_atomically(report, page)
    _finish(fits, failed, csv, report, voice)


def _question(target: list[str] | None, task: str, **options: Any) -> Question:
    """What is asked; methods are compared by classes or by one number."""
    question = ask(target, task, **options)
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"--task {task}: methods are compared by classification or regression; {task} goes with rank")
    return question


def _facts(data: str, table: Table, folds: int) -> list[tuple[str, str]]:
    """What a report says of the data."""
    from maskrank.study.folds import described_folds

    return [*table_facts(data, table), ("folds", described_folds(table, folds))]


def _fits_csv(fits: pd.DataFrame) -> str:
    from maskrank.results import frame_csv

    return frame_csv(fits.drop(columns=["scores"], errors="ignore"))


def _finish(fits: pd.DataFrame, failed: list[Result], csv: str | None, report: str | None, voice: Voice) -> None:
    """Write what was asked for, and end with an error where fits failed."""
    from maskrank.files import write_atomically

    if csv is not None and len(fits):
        write_atomically(csv, _fits_csv(fits))
    if len(fits):
        voice.written([path for path in (csv, report) if path is not None])
    for line in failed:
        typer.echo(f"maskrank: failed: {line}", err=True)
    if failed:
        raise typer.Exit(1)
