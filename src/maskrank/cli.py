"""The command line. Results go to standard output, messages and progress to standard error.

What a command needs is imported inside it, so that ``maskrank --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

import maskrank

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="maskrank",
    help="Which features does a deep net really need, and in what order?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
datasets_app = typer.Typer(help="The data sets of the paper.", no_args_is_help=True)
app.add_typer(datasets_app, name="datasets")

Data = Annotated[str, typer.Argument(help="A .csv, .tsv, .parquet or .npz file, or - for CSV on standard input.")]
Report = Annotated[str | None, typer.Option("--report", help="Write a self-contained HTML report to this file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no messages.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder of local copies (or MASKRANK_DATA_DIR).")]


def _polite(command: Callable[..., None]) -> Callable[..., None]:
    """Bad input ends with exit code 2 and one line, Ctrl-C with 130."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ValueError, OSError) as error:
            typer.echo(f"maskrank: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("maskrank: stopped", err=True)
            raise typer.Exit(130) from None

    return run


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        typer.echo(f"maskrank {maskrank.__version__}")
        raise typer.Exit


@app.command()
@_polite
def rank(
    data: Data,
    target: Annotated[str | None, typer.Option(help="Name of the target column (.npz: y).")] = None,
    size: Annotated[str | None, typer.Option(help="How many features to keep, or a share below 1.")] = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = "auto",
    preset: Annotated[str, typer.Option(help="default, paper, or paper:NAME.")] = "default",
    drop: Annotated[list[str] | None, typer.Option(help="Leave this column out; may be given again.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    json: Annotated[str | None, typer.Option("--json", help="Write the result as JSON to this file.")] = None,
    csv: Annotated[str | None, typer.Option("--csv", help="Write the ranking of all features as CSV.")] = None,
    report: Report = None,
    model: Annotated[str | None, typer.Option("--model", help="Write the fitted model to this file.")] = None,
    quiet: Quiet = False,
) -> None:
    """Rank the features of a table and keep the best of them.

    Example: maskrank rank patients.csv --target outcome --size 5 --report ranking.html
    """
    from maskrank.files import check_writable, write_atomically

    outputs = [path for path in (json, csv, report, model) if path is not None]
    _check_distinct(data, outputs)
    for path in outputs:
        check_writable(path)
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"--task {task}: use auto, classification or regression")
    wanted = _size(size)

    from maskrank.tables import load_table

    table = load_table(data, target=target, drop=drop or [], task=task)

    import time

    import pandas as pd

    from maskrank import DualNetClassifier, DualNetRegressor
    from maskrank.results import facts, ranking_csv, ranking_json
    from maskrank.screen import show_facts, show_ranking

    started = time.perf_counter()
    kind = DualNetClassifier if table.task == "classification" else DualNetRegressor
    fitted = kind(wanted, preset=preset, random_state=seed, verbose=0 if quiet else 1)
    fitted.fit(pd.DataFrame(table.X, columns=table.names), table.y)
    seconds = time.perf_counter() - started

    console = _console()
    summary = [
        ("data", "standard input" if data == "-" else data),
        ("table", f"{table.X.shape[0]:,} rows, {table.X.shape[1]:,} features; target {table.target}"),
        ("task", f"{table.task} ({table.reason})"),
        *facts(fitted, seconds=seconds),
    ]
    if json is not None:
        write_atomically(json, ranking_json(fitted, seconds=seconds))
    if csv is not None:
        write_atomically(csv, ranking_csv(fitted.result_))
    if report is not None:
        from dataclasses import asdict

        from maskrank.report import Section, render_report

        section = Section(table.target, summary, fitted.result_, fitted.history_, asdict(fitted.config_))
        page = render_report(f"Feature ranking for {table.target}", [section], command=_command())
        write_atomically(report, page)
    if model is not None:
        fitted.save(model)

    show_facts(console, summary)
    console.print()
    show_ranking(console, fitted.result_)
    console.print("\nscore: how much a feature lowers the net's loss; 0 = an average one left out", style="dim")
    if outputs and not quiet:
        typer.echo(f"written: {', '.join(outputs)}", err=True)


@app.command()
@_polite
def predict(
    model: Annotated[str, typer.Argument(help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[str | None, typer.Option("--out", help="Write CSV to this file, not to standard output.")] = None,
) -> None:
    """Predict with a model; the table needs the chosen columns, in any order, among any others.

    Example: maskrank predict outcome.maskrank new_patients.csv --out predictions.csv
    """
    from maskrank import load
    from maskrank.files import check_writable, write_atomically
    from maskrank.results import predictions_csv
    from maskrank.tables import select_columns

    if out is not None:
        check_writable(out)
    fitted = load(model)
    content = predictions_csv(fitted, select_columns(data, list(fitted.get_feature_names_out())))
    if out is None:
        sys.stdout.write(content)
    else:
        write_atomically(out, content)


@app.command()
@_polite
def demo(report: Report = None, quiet: Quiet = False) -> None:
    """Rank the features of the three synthetic problems of the paper.

    Example: maskrank demo --report demo.html
    """
    from maskrank.demo import run_demo

    run_demo(_console(), report=report, verbose=0 if quiet else 1)


@app.command()
@_polite
def study(
    name: Annotated[str, typer.Argument(help="needles, or all.")],
    out: Annotated[str | None, typer.Option("--out", help="Folder for the results; study-NAME if not given.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Fits at the same time.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    methods: Annotated[str | None, typer.Option(help="Some methods only, separated by commas.")] = None,
    widths: Annotated[str | None, typer.Option(help="Some numbers of features only, separated by commas.")] = None,
    folds: Annotated[int, typer.Option(min=1, max=6, help="The first of six folds.")] = 6,
    quiet: Quiet = False,
) -> None:
    """Run an experiment with known answers again, and write its tables.

    Example: maskrank study needles --jobs 2 --out needles
    """
    from pathlib import Path

    from maskrank.study.needles import METHODS, OPTIONAL, WIDTHS, run_needles, summary

    if name not in ("needles", "all"):
        raise ValueError(f"study {name!r} is not known; there are needles and all")
    chosen = METHODS if methods is None else tuple(methods.split(","))
    for method in chosen:
        if method not in (*METHODS, *OPTIONAL):
            raise ValueError(f"--methods {method}: there are {', '.join((*METHODS, *OPTIONAL))}")
    folder = Path(out or "study-needles")
    fits, failed = run_needles(
        folder,
        methods=chosen,
        widths=WIDTHS if widths is None else _widths(widths),
        folds=folds,
        n_jobs=jobs,
        resume=resume,
        quiet=quiet,
    )
    for line in failed:
        typer.echo(f"maskrank: failed: {line}", err=True)
    if len(fits):
        _console().print(summary(fits), markup=False, soft_wrap=True)
    if not quiet:
        typer.echo(f"written: {folder}", err=True)
    if failed:
        raise typer.Exit(1)


def _widths(text: str) -> list[int]:
    try:
        widths = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--widths {text}: whole numbers, separated by commas, are needed") from None
    if min(widths) < 2:
        raise ValueError(f"--widths {text}: at least 2 features are needed")
    return widths


@datasets_app.command("list")
@_polite
def datasets_list(data_dir: DataDir = None) -> None:
    """List the data sets, and which of them have a local copy.

    Example: maskrank datasets list --data-dir ~/data
    """
    from rich.table import Table as Grid

    from maskrank.datasets.catalogue import PUBLIC
    from maskrank.datasets.public import is_present

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title, justify in (("name", "left"), ("rows", "right"), ("features", "right"), ("classes", "right")):
        grid.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    grid.add_column("here", no_wrap=True)
    grid.add_column("about")
    for name, (classes, about, _) in _GENERATORS.items():
        grid.add_row(name, "512+1024", "10", classes, "ships", about)
    for name, entry in PUBLIC.items():
        present = "yes" if is_present(name, data_dir) else "no"
        grid.add_row(name, str(entry.rows), str(entry.features), str(entry.classes), present, entry.about)
    _console().print(grid)


@datasets_app.command("path")
@_polite
def datasets_path(name: str, data_dir: DataDir = None) -> None:
    """Print where the local copy of a data set lies, its checksum verified.

    Example: maskrank rank $(maskrank datasets path vowel --data-dir ~/data) --size 5
    """
    from maskrank.datasets.public import dataset_path

    if name in _GENERATORS:
        raise ValueError(f"{name} is generated, it has no file: maskrank.datasets.{_GENERATORS[name][-1]}")
    try:
        typer.echo(str(dataset_path(name, data_dir)))
    except KeyError as error:
        raise ValueError(error.args[0]) from None


_GENERATORS = {  # classes, what it is, and the function that draws it
    "xor": ("4", "exclusive or of three features, noise of variance 0.5", "make_xor"),
    "xor_variance1": ("4", "the same with noise of variance 1", "make_xor(noise_variance=1)"),
    "regression": ("-", "a nonlinear sum of four features", "make_nonlinear_regression"),
    "orange_skin": ("2", "a cloud and a shell around it, in four features", "make_orange_skin"),
}


def _console() -> Console:
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a name that the terminal can't show must not cost the answer
    return Console(highlight=False)


def _check_distinct(data: str, outputs: list[str]) -> None:
    """No output may fall on the table or on another output."""
    seen = {os.path.realpath(data)}
    for path in outputs:
        if os.path.realpath(path) in seen:
            raise ValueError(f"{path} is given twice: the table and each output need a file of their own")
        seen.add(os.path.realpath(path))


def _size(text: str | None) -> int | float | None:
    if text is None:
        return None
    try:
        return float(text) if "." in text or "e" in text or "nan" in text else int(text)
    except ValueError:
        raise ValueError(f"--size {text}: a whole number, or a share between 0 and 1, is needed") from None


def _command() -> str:
    import shlex

    return shlex.join(["maskrank", *sys.argv[1:]])
