"""The way of a new user: a table out of a spreadsheet, in an empty folder, and only what the messages say."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app

pytestmark = pytest.mark.usefixtures("few_batches")

NASTY = [
    *(
        "=1+1",
        "=cmd|' /C calc'!A0",
        "+x",
        "-x",
        "@SUM(A1)",
        "\ttab",
        "\rreturn",
        "\nline",
        "two\nlines",
        "crlf\r\nname",
    ),
    *('say "hi"', "it's", "<script>alert(1)</script>", "[red]bold[/red]", "[/]", "\x1b[31mred\x1b[0m", "\u202eback"),
    *("عمر المريض", "גובה", "👩‍👩‍👧 🎉", "x" * 300, "a  b", "a,b;c", "a|b", "back\\slash", "$HOME `id`", "café"),
    *("%s {0}", "NaN", "self"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the user works in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str, code: int) -> tuple[str, list[str]]:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr.strip().splitlines()


def advised(message: str) -> list[str]:
    """The options that a message says to add."""
    return [word for flag in re.findall(r"--drop (?:'[^']*'|[^\s,;]+)", message) for word in shlex.split(flag)]


def spreadsheet() -> pd.DataFrame:
    """What a person keeps: numbers, and much besides."""
    rng = np.random.default_rng(0)
    n = 120
    weight, height = rng.normal(70, 12, n), rng.normal(1.7, 0.1, n)
    return pd.DataFrame(
        {
            "Patient-Nr": np.arange(1001, 1001 + n),
            "Datum": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(n)],
            "Name, Ort": rng.choice(["Ulm", "Köln"], n),
            "Größe": height.round(2),
            "Gewicht": weight.round(1),
            "Puls": rng.integers(50, 100, n),
            "Befund": np.where(weight > 70, "krank", "gesund"),
        }
    )


def export(path: Path, encoding: str, separator: str) -> None:
    text = spreadsheet().to_csv(index=False, sep=separator, decimal=",", lineterminator="\r\n")
    path.write_bytes(text.encode(encoding))


@pytest.mark.parametrize(("encoding", "separator"), [("utf-8-sig", ";"), ("utf-16", "\t"), ("cp1252", ";")])
def test_from_a_spreadsheet_to_a_ranking_by_the_messages_alone(folder: Path, encoding: str, separator: str) -> None:
    export(folder / "table.csv", encoding, separator)
    asked = ["rank", "table.csv", "--size", "2"]

    _, (message,) = call(*asked, code=2)
    assert "name the target column with --target; there are 'Patient-Nr', 'Datum', 'Name, Ort', 'Größe'" in message
    asked += ["--target", "Befund"]

    shown, said = call(*asked, code=0)
    assert "120 rows, 6 features; target Befund" in shown
    assert "4 numeric, 1 categorical (2 levels), 1 date" in shown
    (warning,) = [line for line in said if "identifier" in line]
    assert warning.startswith("maskrank: warning: table.csv: column 'Patient-Nr' looks like an identifier (every value")
    assert advised(warning) == ["--drop", "Patient-Nr"]
    assert any("Windows-1252" in line for line in said) == (encoding == "cp1252")
    asked += advised(warning)

    shown, said = call(*asked, code=0)
    assert "120 rows, 5 features" in shown
    assert re.search(r"^ *\d +Gewicht ", shown, re.MULTILINE)
    assert not any("identifier" in line for line in said)


def test_the_worst_spreadsheet_is_ranked_by_the_messages_alone(folder: Path) -> None:
    """A name of two lines, percents, money, yes and no, a constant, a gap, empty columns and rows at the end."""
    frame = spreadsheet()
    rng = np.random.default_rng(1)
    quoted = [f"{value:.1f}".replace(".", ",") for value in frame["Gewicht"]]
    odd = pd.DataFrame(
        {
            "Gewicht\n(kg)": ["k.A." if i == 7 else text for i, text in enumerate(quoted)],
            "Quote": [f"{value} %" for value in rng.integers(0, 100, len(frame))],
            "Lohn": [f"{value:,} €".replace(",", ".") for value in rng.integers(1_200, 9_800, len(frame))],
            "raucht": rng.choice(["ja", "nein"], len(frame)),
            "Land": "DE",
            "Klinik": 3,
            "Befund": frame["Befund"],
        }
    )
    text = odd.to_csv(index=False, sep=";", lineterminator=";;\r\n") + ";;;;;;;;\r\n" * 3
    (folder / "table.csv").write_bytes(text.encode("cp1252"))
    asked = ["rank", "table.csv", "--target", "Befund", "--size", "2"]

    shown, said = call(*asked, "-v", code=0)
    assert "120 rows, 6 features; target Befund" in shown
    assert any("5 numeric, 1 categorical (1 level); gaps in 'Gewicht\\n(kg)' (<1 %)" in line for line in said)
    shown, said = call(*asked, "--skip-missing", "-v", code=0)
    assert "119 rows, 6 features; target Befund" in shown
    assert re.search(r"^ +1 +Gewicht\\n\(kg\) ", shown, re.MULTILINE)
    told = "\n".join(said)
    for part in (
        "1 of 120 rows lack a value",
        "1 and 0: 'raucht'",
        "'Quote', 'Lohn'",
        "never chosen before others: 'Land', 'Klinik'",
    ):
        assert part in told


def test_quiet_hides_nothing_that_changes_the_answer(folder: Path) -> None:
    export(folder / "table.csv", "cp1252", ";")
    asked = ("table.csv", "--target", "Befund", "--drop", "Datum", "--drop", "Name, Ort", "--size", "2")
    usual = call("rank", *asked, "--csv", "out.csv", code=0)[1]
    assert call("rank", *asked, "--csv", "out.csv", "--quiet", code=0)[1] == usual[:-1]
    assert usual[-1] == "written: out.csv"
    assert [line for line in usual if "column 'Patient-Nr' looks like an identifier" in line]
    text = (folder / "table.csv").read_text(encoding="cp1252").replace(";gesund", ";", 3)
    (folder / "table.csv").write_text(text, encoding="cp1252")
    lost = "maskrank: warning: table.csv: 3 of 120 rows lack the target 'Befund' and are left out"
    assert lost in call("rank", *asked, "--quiet", code=0)[1]


@pytest.mark.parametrize("command", [("compare", "--methods", "mrmr", "--size", "2"), ("sweep", "--sizes", "1")])
def test_compare_and_sweep_warn_too(folder: Path, command: tuple[str, ...]) -> None:
    export(folder / "table.csv", "utf-8-sig", ";")
    asked = (*command, "table.csv", "--target", "Befund", "--folds", "2")
    _, said = call(*asked, "--drop", "Datum", "--drop", "Name, Ort", "--csv", "fits.csv", code=0)
    assert sum("column 'Patient-Nr' looks like an identifier" in line for line in said) == 1
    assert len(pd.read_csv("fits.csv")) == 2


def test_a_model_takes_new_rows_of_the_spreadsheet(folder: Path) -> None:
    export(folder / "table.csv", "utf-8-sig", ";")
    spreadsheet().drop(columns=["Befund", "Datum"]).to_csv("new.csv", index=False)
    asked = ("table.csv", "--target", "Befund", "--drop", "Datum", "--drop", "Name, Ort", "--drop", "Patient-Nr")
    call("rank", *asked, "--size", "2", "--model", "model", "--quiet", code=0)
    with_commas, with_dots = (call("predict", "model", name, code=0)[0] for name in ("table.csv", "new.csv"))
    assert with_commas == with_dots
    assert len(with_commas.splitlines()) == 121


def test_names_of_any_kind(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, len(NASTY)))
    with Path("table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([*NASTY, "-y\n"])
        writer.writerows([*row, "=HIGH()" if row[0] > 0 else "low"] for row in X.tolist())
    shown, said = call(
        *(
            "rank",
            "table.csv",
            "--target",
            "-y\n",
            "--size",
            "20",
            "--json",
            "o.json",
            "--csv",
            "o.csv",
            "--model",
            "m",
        ),
        code=0,
    )
    leak, written_files = said
    assert leak.startswith("maskrank: warning: table.csv: column '=1+1' alone predicts the target '-y\\n'")
    assert written_files == "written: o.json, o.csv, m"
    assert all(line.isprintable() or "\u200d" in line for line in shown.splitlines())
    assert len(re.findall(r"^ *\d+  .* \d+\.\d ± \d+\.\d % ", shown, re.MULTILINE)) == 20

    document = json.loads(Path("o.json").read_bytes())
    assert set(document["scores"]) == set(NASTY)
    assert set(document["selected"]) <= set(NASTY)

    written = [row[1] for row in csv.reader(io.StringIO(Path("o.csv").read_bytes().decode(), newline=""))][1:]
    assert sorted(written) == sorted(f"'{name}" if name[0] in "=+-@\t\r\n" else name for name in NASTY)

    predicted = list(csv.reader(io.StringIO(call("predict", "m", "table.csv", code=0)[0])))
    assert predicted[0] == ["prediction", "probability_=HIGH()", "probability_low"]
    assert {row[0] for row in predicted[1:]} == {"'=HIGH()", "low"}
