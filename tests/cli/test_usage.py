"""Wrong options: one line that names the option, before a net library is loaded; and help of any width."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maskrank.cli import app

HEAVY = {"torch", "sklearn", "scipy"}
COMMANDS = ("rank", "predict", "explain", "export", "demo", "compare", "sweep", "study", "doctor", "datasets")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 7},{k % 5},{k % 3},{'uv'[k % 2]}" for k in range(40)]
    Path("table.csv").write_text("\n".join(["a,b,c,y", *rows]) + "\n")
    return "table.csv"


def said(*arguments: str) -> str:
    """What is said of a wrong command, which shows nothing and ends with code 2."""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("maskrank: ")
    assert done.stderr.count("\n") == 1
    return str(done.stderr)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("rank", "table.csv", "--sise", "3"), ("no such option: --sise", "--size", "rank --help'")),
        (("rank", "table.csv", "--seed", "one"), ("--seed: a whole number is needed; see '", "rank --help'")),
        (("rank", "table.csv", "--jobs", "0"), ("--jobs: at least 1 is needed; see '",)),
        (("rank", "table.csv", "--target"), ("option '--target' requires an argument",)),
        (("rank",), ("missing argument 'DATA'; see '", "rank --help'")),
        (("rnk",), ("no such command 'rnk'", " --help'")),
        (("compare", "table.csv", "--size", "0"), ("--size: at least 1 is needed", "compare --help'")),
        (("compare", "table.csv", "--timeout", "soon"), ("--timeout: a number is needed", "compare --help'")),
        (("study", "needles", "--folds", "9"), ("--folds: at most 6 is needed", "study --help'")),
        (("datasets", "path"), ("missing argument", "datasets path --help'")),
    ],
)
def test_a_usage_error_is_one_line(table: str, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    line = said(*arguments)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (["--size", "4"], "--size 4 must be a whole number in 1..3, a share in (0, 1), auto or all; the data has 3"),
        (["--size", "3", "--require", "a"], "--size 3 must be a whole number in 1..2"),
        (["--size", "0"], "--size 0: a whole number, a share between 0 and 1, auto or all is needed"),
        (["--size", "auto", "--max-size", "0"], "--max-size: "),
        (["--size", "auto", "--preset", "paper"], "--size auto needs measured scores"),
        (["--size", "all", "--preset", "paper"], "--size 3: --preset paper needs a choice"),
        (["--preset", "quick"], "--preset quick is not known; there are default, paper"),
        (["--preset", "paper:none"], "--preset paper:none is not known"),
        (["--repeats", "1"], "--repeats 1 must be 0 for none"),
        (["--image", "2by2"], "--image 2by2: HEIGHTxWIDTH is needed"),
        (["--image", "2x2"], "--image 2x2: has 4 pixels, but the table has 3 features"),
    ],
)
def test_what_can_t_be_fitted_is_said_in_words_of_the_option(table: str, options: list[str], start: str) -> None:
    assert said("rank", table, "--target", "y", *options).startswith(f"maskrank: {start}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "table.csv", "--target", "y", "--size", "9"),
        ("compare", "table.csv", "--target", "y", "--size", "9"),
        ("compare", "table.csv", "--target", "y", "--methods", "none"),
        ("sweep", "table.csv", "--target", "y", "--sizes", "1,9"),
        ("study", "none"),
    ],
)
def test_wrong_options_are_said_before_anything_heavy_is_imported(table: str, arguments: tuple[str, ...]) -> None:
    program = (
        "import sys\nfrom maskrank.cli import app\n"
        f"sys.argv = ['maskrank', *{arguments!r}]\n"
        "try:\n app()\nexcept SystemExit as end:\n print(end.code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.split()
    assert code == "2", done.stderr
    assert not HEAVY & set(modules)
    wrong = arguments[-1].split(",")[-1]
    assert wrong in done.stderr


def test_a_command_that_is_given_nothing_shows_its_help() -> None:
    for command in ((), ("datasets",)):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert "Usage: " in done.output
        assert "Commands:" in done.output


def test_help_fits_a_narrow_terminal_and_cuts_no_summary() -> None:
    for command in ((), *((name,) for name in COMMANDS)):
        lines = CliRunner().invoke(app, [*command, "--help"], terminal_width=60).stdout.splitlines()
        assert max(map(len, lines)) <= 60
        if not command:
            summaries = lines[lines.index("Commands:") + 1 :]
            assert not [line for line in summaries if line.endswith("...")]
            assert [line.split()[0] for line in summaries] == list(COMMANDS)


def test_help_uses_a_wide_terminal_as_far_as_lines_can_be_read() -> None:
    command = [sys.executable, "-m", "maskrank", "rank", "--help"]
    lines = subprocess.check_output(command, text=True, env={**os.environ, "COLUMNS": "200"}).splitlines()
    assert 80 < max(map(len, lines)) <= 100
