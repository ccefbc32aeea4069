"""Tables with text, gaps and dates, from the file to predictions, by the command line alone."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app

pytestmark = pytest.mark.usefixtures("few_batches")

N = 240


def call(*arguments: object, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def passengers() -> pd.DataFrame:
    """Made up, in the form of the passengers of the Titanic: mostly the women survive."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "female"], N)
    lives = np.where(sex == "female", rng.random(N) < 0.9, rng.random(N) < 0.1)
    return pd.DataFrame(
        {
            "pclass": rng.integers(1, 4, N),
            "name": [f"Passenger, Mr. {i}" for i in range(N)],
            "sex": sex,
            "age": np.where(rng.random(N) < 0.2, np.nan, rng.normal(30, 10, N).round(1)),
            "embarked": np.where(rng.random(N) < 0.05, None, rng.choice(["S", "C", "Q"], N)),
            "boarded": [f"{1 + i % 28:02d}.04.1912" for i in range(N)],
            "survived": np.where(lives, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passengers")
    passengers().to_csv(folder / "table.csv", index=False)
    return folder


def test_a_table_as_it_comes_is_ranked_and_predicts_where_cells_are_blank(folder: Path, tmp_path: Path) -> None:
    asked = ("rank", folder / "table.csv", "--target", "survived", "--size", 3, "--categorical", "pclass", "-q")
    shown, said = call(
        *asked, "--model", tmp_path / "m", "--json", tmp_path / "o.json", "--report", tmp_path / "o.html"
    )
    (warning,) = said.splitlines()
    assert "column 'name' looks like an identifier" in warning
    assert json.loads((tmp_path / "o.json").read_text())["selected"][0] == "sex"
    assert "1 numeric, 4 categorical (2-240 levels), 1 date; gaps in 2 columns, most in 'age'" in " ".join(
        shown.split()
    )
    assert "How the columns were read" in (tmp_path / "o.html").read_text()

    blank = passengers().drop(columns="survived").astype(object)
    blank = blank.mask(np.random.default_rng(1).random(blank.shape) < 0.1)
    blank.loc[0, "sex"] = "unheard of"
    answers = []
    for name in ("blank.csv", "blank.csv.gz", "blank.xlsx"):
        to_file = blank.to_excel if name.endswith("xlsx") else blank.to_csv
        to_file(tmp_path / name, index=False)
        answers.append(call("predict", tmp_path / "m", tmp_path / name, "-q")[0])
    assert len(set(answers)) == 1
    predicted = pd.read_csv(io.StringIO(answers[0]))
    assert len(predicted) == N
    assert predicted.notna().all(axis=None)
    told = (blank["sex"] == "female").to_numpy()
    assert (predicted["prediction"][told] == "yes").mean() > 0.9

    explained, _ = call("explain", tmp_path / "m", tmp_path / "blank.csv")
    assert len(explained.splitlines()) == N + 1


def test_required_columns_and_groups_are_handed_on(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "groups.json").write_text('{"person": ["sex", "age"]}')
    asked = ("rank", folder / "table.csv", "--target", "survived", "--size", 1, "--drop", "name", "-q")
    shown, _ = call(*asked, "--group", tmp_path / "groups.json")
    assert "person" in shown
    shown, _ = call(*asked, "--require", "sex", "--json", tmp_path / "o.json")
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["required"] == ["sex"]
    assert document["size"] == len(document["selected"]) == 1
    assert "1 of 4 features, in addition to 1 required" in shown
    assert re.search(rf"^ +1 +{document['selected'][0]} ", shown, re.MULTILINE)


def test_how_columns_were_read_is_told_when_asked(folder: Path) -> None:
    _, said = call("rank", folder / "table.csv", "--target", "survived", "--size", 2, "--drop", "name", "-v")
    for line in (
        "maskrank: columns: 2 numeric, 2 categorical (2-3 levels), 1 date; gaps in 2 columns, most in 'age' (",
        "maskrank: column 'pclass': numeric\n",
        "maskrank: column 'sex': categorical, 2 levels ('female', 'male')\n",
        "maskrank: column 'boarded': date, 1912-04-01 to 1912-04-28\n",
    ):
        assert line in said
