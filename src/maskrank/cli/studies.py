"""The commands that compare: ``compare`` and ``sweep`` on a user's own table, ``study`` on the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    Data,
    DataDir,
    Drop,
    FoldBy,
    Numeric,
    Quiet,
    Report,
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
    from pathlib import Path

    import pandas as pd

    from maskrank.study.runner import Result
    from maskrank.tables import Table

Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Fits in parallel.")]
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
    given = None if sizes is None else whole_numbers("--sizes", sizes, least=1)
    options = ColumnOptions(categorical or (), numeric or ())
    question = _question(target, task, drop=drop, skip_missing=skip_missing, fold_by=fold_by, time_order=time_order)
    table = read_table(data, question, options, voice, strict=strict)
    voice.warn(rare_classes(table, folds), always=True)
    wanted = given or [size for size in (1, 2, 3, 5, 10, 20, 50) if size < table.X.shape[1]]
    fits, failed = compare_methods(
        table, [OURS], wanted, folds=folds, seed=seed, n_jobs=jobs, quiet=quiet, told=voice.tell_fit
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


@polite
def study(
    name: Annotated[str, typer.Argument(help="synthetic, mnist, selection, enhancer, wide, behaviour, needles, all.")],
    data_dir: DataDir = None,
    out: Annotated[str | None, typer.Option("--out", help="Folder for the results; study-NAME if not given.")] = None,
    jobs: Jobs = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Resume a run that was stopped.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller version, of a few minutes.")] = False,
    methods: Annotated[str | None, typer.Option(help="Some methods only, separated by commas.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Some sizes of a study only, separated by commas.")] = None,
    data: Annotated[str | None, typer.Option(help="Some data sets of a study only, separated by commas.")] = None,
    widths: Annotated[str | None, typer.Option(help="needles: some numbers of features only.")] = None,
    folds: Annotated[int, typer.Option(min=1, max=6, help="needles: the first of six folds.")] = 6,
    report: Report = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Reproduce an experiment of the paper, or one with known answers, and write its tables and figures.

    "all" are the six of the paper; needles, with known answers, stands beside.

    Example: maskrank study synthetic --jobs 2 --out synthetic
    """
    from pathlib import Path

    from maskrank.files import check_writable, write_atomically
    from maskrank.study.run import STUDIES

    voice = Voice(quiet=quiet, verbose=verbose)
    if report is not None:
        check_writable(report)
    whole = name == "all"
    failures, folders = 0, []
    for each in STUDIES if whole else (name,):
        folder = Path(out or f"study-{name}") / (each if whole else "")
        try:
            if each == "needles":
                text, failed = _needles(folder, methods, widths, folds, jobs, resume, quick, voice)
            else:
                text, failed = _paper_study(each, folder, data_dir, methods, sizes, data, jobs, resume, quick, voice)
        except (ValueError, OSError, ImportError) as error:
            if not whole:
                raise
            text, failed = "", [{"study": each, "error": " ".join(str(error).split())}]
        console().print(text, markup=False, soft_wrap=True)
        for line in failed:
            typer.echo(f"maskrank: failed: {line}", err=True)
        failures += len(failed)
        folders += [folder] if text else []
        voice.written([str(folder)])
    if report is not None and folders:
        from maskrank.report import study_report

        page = study_report(f"Study: {name}", folders, command=typed_command())
        write_atomically(report, page)
        voice.written([report])
    if failures:
        raise typer.Exit(1)


def _paper_study(
    name: str,
    folder: Path,
    data_dir: str | None,
    methods: str | None,
    sizes: str | None,
    data: str | None,
    jobs: int,
    resume: bool,
    quick: bool,
    voice: Voice,
) -> tuple[str, list[Result]]:
    """Run one; returns its tables and what failed."""
    from maskrank.study.run import get_study, run_study

    study = get_study(name)
    study = study.smaller() if quick else study
    study = study if data is None else study.of(listed(data))
    fits, failed = run_study(
        study if sizes is None else study.only(whole_numbers("--sizes", sizes, least=1)),
        folder,
        data_dir=data_dir,
        methods=None if methods is None else listed(methods),
        n_jobs=jobs,
        resume=resume,
        quiet=voice.quiet,
        told=voice.tell_fit,
        command=typed_command(),
    )
    return (folder / "tables.md").read_text(encoding="utf-8") if len(fits) else "", failed


def _needles(
    folder: Path,
    methods: str | None,
    widths: str | None,
    folds: int,
    jobs: int,
    resume: bool,
    quick: bool,
    voice: Voice,
) -> tuple[str, list[Result]]:
    """Run the needles; returns their summary and what failed."""
    from maskrank.study.needles import METHODS, OPTIONAL, WIDTHS, run_needles, summary

    chosen = METHODS if methods is None else tuple(listed(methods))
    for method in chosen:
        if method not in (*METHODS, *OPTIONAL):
            raise ValueError(f"--methods {method}: there are {', '.join((*METHODS, *OPTIONAL))}")
    all_widths = WIDTHS[:6] if quick else WIDTHS
    fits, failed = run_needles(
        folder,
        methods=chosen,
        widths=all_widths if widths is None else whole_numbers("--widths", widths, least=2),
        folds=min(folds, 1) if quick else folds,
        n_jobs=jobs,
        resume=resume,
        quiet=voice.quiet,
        told=voice.tell_fit,
    )
    return summary(fits) if len(fits) else "", failed


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
