"""The command ``study``: the experiments of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from maskrank.cli.clusters import Cluster, many_fits
from maskrank.cli.common import console, listed, polite, say, typed_command, whole_numbers
from maskrank.cli.options import DataDir, Jobs, Quiet, Report, Verbose
from maskrank.cli.outputs import Outputs
from maskrank.cli.voice import Voice, failure
from maskrank.interrupts import leaving, shield_children

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from maskrank.study.runner import Result


@polite
@many_fits
def study(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="synthetic, mnist, selection, enhancer, wide, behaviour, needles, learners, all."
        ),
    ],
    data_dir: DataDir = None,
    out: Annotated[str | None, typer.Option("--out", help="Folder for the results. Default: study-NAME.")] = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume a run that was stopped.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Run a smaller version that takes a few minutes.")] = False,
    methods: Annotated[str | None, typer.Option(help="Run only these methods, separated by commas.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Run only these sizes, separated by commas.")] = None,
    data: Annotated[str | None, typer.Option(help="Run only these data sets, separated by commas.")] = None,
    widths: Annotated[str | None, typer.Option(help="needles: only these numbers of features.")] = None,
    folds: Annotated[int, typer.Option(min=1, max=6, help="needles: only this many of the six folds.")] = 6,
    report: Report = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Reproduce an experiment of the paper.

    Its tables and figures go to a folder. "all" runs the six experiments of the paper; needles is a benchmark with
    known answers, and learners judges the choice by other learners.

    Example: maskrank study synthetic --jobs 2 --out synthetic
    """
    from pathlib import Path

    from maskrank.study.names import STUDIES, check_study

    check_study(name)
    from maskrank.findings import study_finding
    from maskrank.findings.studies import finished_fits
    from maskrank.terminal.ranking import show_answer

    voice, outputs = Voice(quiet=quiet, verbose=verbose), Outputs([], report=report)
    if jobs > 1:
        shield_children()
    whole = name == "all"
    failures, folders = 0, []
    done: list[Result] = []  # fits of this run

    def told(line: Result) -> None:
        done.append(line)
        voice.tell_fit(line)

    def leave() -> str:
        outputs.leave_out("report", "the study is not done")
        return f"{len(done)} fits of this run are done; the same command with --resume goes on"

    for each in STUDIES if whole else (name,):
        folder = Path(out or f"study-{name}") / (each if whole else "")
        try:
            with leaving(leave):
                if each == "needles":
                    text, failed = _needles(folder, methods, data, widths, folds, jobs, resume, quick, quiet, told)
                else:
                    text, failed = _paper_study(
                        each, folder, data_dir, methods, sizes, data, jobs, resume, quick, quiet, told
                    )
        except (ValueError, OSError, ImportError) as error:
            if not whole:
                raise
            text, failed = "", [{"study": each, "error": " ".join(str(error).split())}]
        if text:
            show_answer(console(), study_finding(each, finished_fits(folder)))
        console().print(text, markup=False, soft_wrap=True)
        for line in failed:
            say(failure(line))
        failures += len(failed)
        folders += [folder] if text else []
        voice.written([str(folder)])
    if report is not None and folders:
        from maskrank.report import study_report

        outputs.write("report", lambda: study_report(name, folders, command=typed_command()))
    outputs.finish(voice)
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
    quiet: bool,
    told: Callable[[Result], None],
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
        quiet=quiet,
        told=told,
        command=typed_command(),
    )
    return fits.attrs["tables"] if len(fits) else "", failed


def _needles(
    folder: Path,
    methods: str | None,
    data: str | None,
    widths: str | None,
    folds: int,
    jobs: int,
    resume: bool,
    quick: bool,
    quiet: bool,
    told: Callable[[Result], None],
) -> tuple[str, list[Result]]:
    """Run the needles; returns their summary and what failed."""
    from maskrank.study.needles import DAG, METHODS, OPTIONAL, PROBLEMS, WIDTHS, run_needles, summary

    chosen = METHODS if methods is None else tuple(listed(methods))
    for method in chosen:
        if method not in (*METHODS, *OPTIONAL):
            raise ValueError(f"--methods {method}: there are {', '.join((*METHODS, *OPTIONAL))}")
    problems = (*PROBLEMS, DAG) if data is None else tuple(listed(data))
    for problem in problems:
        if problem not in (*PROBLEMS, DAG):
            raise ValueError(f"--data {data}: there are {', '.join((*PROBLEMS, DAG))}")
    all_widths = WIDTHS[:6] if quick else WIDTHS
    fits, failed = run_needles(
        folder,
        methods=chosen,
        widths=all_widths if widths is None else whole_numbers("--widths", widths, least=2),
        problems=problems,
        folds=min(folds, 1) if quick else folds,
        n_jobs=jobs,
        resume=resume,
        quiet=quiet,
        told=told,
    )
    return summary(fits) if len(fits) else "", failed
