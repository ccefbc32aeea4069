"""Arguments and options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .tsv, .txt (also .gz and .zst of them), .parquet, .arrow, .feather, .npy, .npz or .xlsx file, a "
        "folder of Parquet or Arrow files, or - for CSV on standard input.",
    ),
]
Target = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Name of the target column (.npz: y).")]
Targets = Annotated[
    str | None,
    typer.Option(help="Several targets at once, separated by commas: numbers, or labels that are 0 or 1 each."),
]
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Survival: how long each row was observed; with --event.")
]
Event = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Survival: 1 where the event happened, 0 where a row is censored.")
]
Task = Annotated[str, typer.Option(help="auto, classification or regression.")]
RankTask = Annotated[
    str,
    typer.Option(
        help="auto, classification, regression, counts (whole numbers from 0 on), ordered (classes in order), or "
        "survival."
    ),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column that says what each row counts; no feature.")
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Every class counts the same, however many rows it has; for rare classes.")
]
MetricName = Annotated[
    str,
    typer.Option(
        "--metric",
        help="The figure shown first: auto; accuracy, balanced_accuracy, roc_auc, average_precision or log_loss for "
        "classes; r2, rmse, mae or mse for numbers; poisson_deviance, rmse or mae for counts. JSON and report hold "
        "them all.",
    ),
]
FoldBy = Annotated[
    str | None,
    typer.Option(
        "--fold-by",
        metavar="COLUMN",
        help="Column of patients, batches, ...: rows with the same value stay on one side of every split; no feature.",
    ),
]
TimeOrder = Annotated[
    str | None,
    typer.Option(
        "--time-order",
        metavar="COLUMN",
        help="Column of numbers or dates: later rows judge what earlier ones taught; no feature.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="A column that may give the target away, or identify rows, is an error."),
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave this column out; may be given again.")]
SkipMissing = Annotated[
    bool, typer.Option("--skip-missing", help="Leave out rows that lack a value; otherwise a gap is an answer too.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Read this column as categories, even if it holds numbers; may be given again."
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Read this column as numbers, and what is none as missing; may be given again."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Results are reproducible for a fixed seed.")]
Report = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Write a self-contained HTML report to this file.")
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Memory that may be used, such as 4GB: of a larger table, features are chosen on a uniform sample of the "
        "rows. Half of what is free if not given."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no messages but warnings.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what is done, on standard error.")]
DataDir = Annotated[str | None, typer.Option("--data-dir", help="Folder of local copies (or MASKRANK_DATA_DIR).")]
CheckpointFolder = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        help="Keep what is done in this folder: after a crash or a kill the same command goes on with --resume.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with what the folder of --checkpoint holds.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Fits in parallel.")]
