from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app
from maskrank.datasets import make_ring
from maskrank.findings.finding import capital, counted
from maskrank.study.own_table import compare_methods, comparison_rows, smallest_size
from maskrank.tables import Table

pytestmark = pytest.mark.usefixtures("few_batches")


@pytest.fixture
def ring(tmp_path: Path) -> str:
    X, y, _ = make_ring(600, 6, random_state=0)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)])
    frame["kind"] = np.where(y, "in", "out")
    frame.to_csv(tmp_path / "ring.csv", index=False)
    return str(tmp_path / "ring.csv")


def call(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_compare_lists_the_best_method_first(ring: str, tmp_path: Path) -> None:
    out = tmp_path / "fits.csv"
    code, shown, _ = call(
        *("compare", ring, "--target", "kind", "--size", "2", "--folds", "2", "-q", "--csv", str(out)),
        *("--methods", "dualnet,mrmr,bahsic"),
    )
    assert code == 0
    answer, table = shown.split("\n\n", 1)
    lines = table.splitlines()
    assert max(map(len, [*answer.splitlines(), *lines])) <= 80
    assert "dualnet" in answer or answer.startswith("All three methods are tied")
    assert lines[0].split() == ["method", "accuracy", "±", "std", "seconds", "chosen", "in", "every", "fold"]
    scores = [float(line.split()[1]) for line in lines[1:]]
    assert scores == sorted(scores, reverse=True)
    ours = next(line for line in lines if line.startswith("dualnet"))
    assert sorted(ours.split(maxsplit=4)[4].strip().split(", ")) == ["c0", "c1"]  # in every fold
    fits = pd.read_csv(out)
    assert sorted(fits["method"].unique()) == ["bahsic", "dualnet", "mrmr"]
    assert len(fits) == 6


def test_sweep_names_the_smallest_size_within_one_standard_error(ring: str) -> None:
    code, shown, _ = call("sweep", ring, "--target", "kind", "--sizes", "1,2,4", "--folds", "2", "-q")
    assert code == 0
    answer, table = shown.split("\n\n", 1)
    lines = table.splitlines()
    figures = {int(size): (float(mean), float(error)) for size, mean, error, *_ in map(str.split, lines[1:4])}
    best, error = max(figures.values())
    enough = min(size for size, (mean, _) in figures.items() if mean >= best - error)
    assert enough > 1  # of a ring nothing can be seen in one column
    assert answer.startswith(f"{capital(counted(enough))} of six features are enough for kind")


def test_without_sizes_those_are_tried_that_the_table_has_room_for(ring: str) -> None:
    code, shown, _ = call("sweep", ring, "--target", "kind", "--folds", "2", "-q")
    assert code == 0
    assert [line.split()[0] for line in shown.split("\n\n", 1)[1].splitlines()[1:5]] == ["1", "2", "3", "5"]


@pytest.mark.parametrize(
    ("scores", "metric", "size"),
    [
        ({1: [0.6, 0.6], 2: [0.90, 0.94], 3: [0.92, 0.96]}, "accuracy", 2),
        ({1: [0.6, 0.6], 2: [0.90, 0.90], 3: [0.95, 0.95]}, "accuracy", 3),
        ({1: [5.0, 5.0], 2: [1.1, 1.3], 3: [1.0, 1.4]}, "mse", 2),
        ({4: [1.0]}, "mse", 4),
    ],
)
def test_the_one_standard_error_rule(scores: dict[int, list[float]], metric: str, size: int) -> None:
    rows = [(s, value) for s, values in scores.items() for value in values]
    fits = pd.DataFrame(rows, columns=["size", "score"]).assign(metric=metric)
    assert smallest_size(fits) == size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "--methods", "rf,magic"), "method 'magic' is not known"),
        (("compare", "--size", "6"), "size 6 must lie in 1..5: the table has 6 features"),
        (("sweep", "--sizes", "2,six"), "--sizes 2,six: whole numbers"),
        (("sweep", "--sizes", "0,2"), "--sizes 0,2: at least 1 feature is needed"),
        (("compare", "--folds", "601"), "fewer than 601 folds"),
    ],
)
def test_bad_input_ends_with_one_line(ring: str, arguments: tuple[str, ...], message: str) -> None:
    code, shown, error = call(arguments[0], ring, "--target", "kind", *arguments[1:])
    assert code == 2
    assert message in error
    assert len(error.splitlines()) == 1
    assert shown == ""


def test_names_of_any_kind_keep_the_comparison_in_lines() -> None:
    names = ["two\nlines", "\x1b[31mred", "x" * 300]
    fits = pd.DataFrame({"method": ["rf"], "metric": "accuracy", "score": 0.9, "seconds": 1.0, "selected": [[0, 1, 2]]})
    _, (line,) = comparison_rows(fits, names)
    assert line[-1] == f"two\\nlines, \\x1b[31mred, {'x' * 39}…"


def test_a_table_may_be_a_frame_of_any_columns() -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 90)
    X = pd.DataFrame({"x": rng.standard_normal(90), "colour": colour, "gap": np.where(rng.random(90) < 0.3, np.nan, 1)})
    y = np.where(colour == "red", "yes", "no")
    table = Table(X=X, y=y, target="kind", task="classification", reason="labels")
    fits, failed = compare_methods(table, ["mrmr", "bahsic"], [1], folds=3, quiet=True)
    assert not failed
    assert fits["selected"].tolist() == [[1]] * 6
    head, lines = comparison_rows(fits, table.names)
    assert head[-1] == "chosen in every fold"
    assert [line[-1] for line in lines] == ["colour", "colour"]
