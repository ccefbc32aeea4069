"""Arguments and options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A table: .csv, .tsv, .txt (also compressed, as .gz or .zst), .parquet, .arrow, .feather, .npy, .npz or "
        ".xlsx; a folder of Parquet or Arrow files; or - for CSV on standard input.",
    ),
]
Target = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Name of the target column (.npz: y).")]
Targets = Annotated[
    str | None,
    typer.Option(metavar="COLUMNS", help="Several targets, separated by commas: numbers, or labels of 0 and 1."),
]
Time = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Survival: column with the time each row was observed; needs --event."),
]
Event = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Survival: column with 1 where the event happened, 0 where censored."),
]
Task = Annotated[str, typer.Option(metavar="TASK", help="auto, classification or regression.")]
RankTask = Annotated[
    str,
    typer.Option(
        metavar="TASK",
        help="auto, classification, regression, counts (whole numbers from 0 on), ordered (classes in order), or "
        "survival.",
    ),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the weight of each row; not used as a feature.")
]
Balanced = Annotated[bool, typer.Option("--balanced", help="Give every class the same total weight; for rare classes.")]
MetricName = Annotated[
    str,
    typer.Option(
        "--metric",
        metavar="METRIC",
        help="Metric to show first: auto; accuracy, balanced_accuracy, roc_auc, average_precision or log_loss for "
        "classes; r2, rmse, mae or mse for numbers; poisson_deviance, rmse or mae for counts. JSON and report hold "
        "them all.",
    ),
]
FoldBy = Annotated[
    str | None,
    typer.Option(
        "--fold-by",
        metavar="COLUMN",
        help="Column of patients, batches, ...: rows with the same value stay on one side of every split. "
        "Not used as a feature.",
    ),
]
TimeOrder = Annotated[
    str | None,
    typer.Option(
        "--time-order",
        metavar="COLUMN",
        help="Column of numbers or dates: train on earlier rows, test on later ones. Not used as a feature.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Make columns that may leak the target, or identify rows, an error."),
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave out this column; repeat for more.")]
SkipMissing = Annotated[
    bool,
    typer.Option(
        "--skip-missing", help="Leave out rows with missing values. By default a missing value is information."
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Read this column as categories, even if it holds numbers; repeat for more."),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Read this column as numbers, other values as missing; repeat for more."),
]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="Seed of the random numbers; the same seed gives the same result.")
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Write a self-contained HTML report to this file.")
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Memory to use, such as 4GB; of a larger table, features are chosen on a uniform sample of the rows. "
        "Default: half of the free memory.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress bar and no messages but warnings.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more details, on standard error.")]
DataDir = Annotated[
    str | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", help="Folder with copies of the data sets. Default: $MASKRANK_DATA_DIR."
    ),
]
CheckpointFolder = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FOLDER",
        help="Save progress in this folder; after a crash, the same command with --resume continues.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the run in the folder of --checkpoint.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Fits in parallel.")]
