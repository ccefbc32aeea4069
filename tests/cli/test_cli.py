from __future__ import annotations

import io
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import maskrank
from maskrank import load
from maskrank.cli import app
from maskrank.datasets import make_nonlinear_regression, make_xor
from maskrank.datasets.catalogue import PUBLIC
from maskrank.datasets.loading import SYNTHETIC
from maskrank.terminal import demo

pytestmark = pytest.mark.usefixtures("few_batches")

runner = CliRunner()


def run(*arguments: object, code: int = 0, stdin: str | None = None) -> tuple[str, str]:
    result = runner.invoke(app, [str(a) for a in arguments], input=stdin)
    assert result.exit_code == code, result.output
    if code == 2:
        assert result.stdout == ""
        assert all(line.startswith("maskrank: ") for line in result.stderr.strip().splitlines())
        assert "Traceback" not in result.stderr
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def xor_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y, _ = make_xor(400, random_state=0)
    path = tmp_path_factory.mktemp("data") / "xor.csv"
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
    frame.assign(label=np.array(["red", "green", "blue", "grey"])[y]).to_csv(path, index=False)
    return path


def test_rank_answers_in_one_screen_and_writes_what_was_asked(xor_csv: Path, tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "html", "maskrank")}
    shown, said = run(
        *("rank", xor_csv, "--target", "label", "--size", 4, "--seed", 1),
        *("--json", paths["json"], "--csv", paths["csv"], "--report", paths["html"], "--model", paths["maskrank"]),
    )
    assert len(shown.splitlines()) < 24
    assert max(map(len, shown.splitlines())) <= 80 + len(str(xor_csv))
    assert "classification (the target has 4 distinct labels)" in " ".join(shown.split())
    assert "written:" in said

    document = json.loads(paths["json"].read_text())
    assert set(document) >= {"version", "task", "size", "selected", "scores", "raw_scores", "metric", "validation"}
    assert document["size"] == len(document["selected"]) == 4
    assert set(document["scores"]) == {f"f{i}" for i in range(10)}
    assert document["config"]["seed"] == 1
    best_first = [document["scores"][name] for name in document["selected"]]
    assert best_first == sorted(best_first, reverse=True)
    places = [shown.index(f" {name} ") for name in document["selected"]]
    assert places == sorted(places)

    table = pd.read_csv(paths["csv"])
    assert table["feature"].tolist()[:4] == document["selected"]
    assert table["rank"].tolist() == [1, 2, 3, 4] + [5] * 6
    page = paths["html"].read_text()
    assert "://" not in page
    assert all(name in page for name in document["selected"])
    assert load(paths["maskrank"]).result_.selected == tuple(document["selected"])


def test_the_same_seed_gives_the_same_answer(xor_csv: Path, tmp_path: Path) -> None:
    answers = []
    for name in ("a", "b"):
        run("rank", xor_csv, "--target", "label", "--size", 3, "--json", tmp_path / name, "--quiet")
        answers.append({k: v for k, v in json.loads((tmp_path / name).read_text()).items() if k != "seconds"})
    assert answers[0] == answers[1]


def test_what_the_search_left_out_is_said(xor_csv: Path, tmp_path: Path) -> None:
    table, paths = pd.read_csv(xor_csv), [tmp_path / name for name in ("out.json", "out.html", "out.maskrank")]
    noise = tmp_path / "noise.csv"
    table.assign(label=table["label"].sample(frac=1.0, random_state=0).to_numpy()).to_csv(noise, index=False)
    asked = ("rank", noise, "--target", "label", "--size", 3, "--seed", 1, "--quiet")
    outputs = ("--json", paths[0], "--report", paths[1], "--model", paths[2])
    shown, _ = run(*asked, "--search-effort", "quick", *outputs)
    said = "looked at all pairs of 10 features, and at no triples"
    assert f"search: {said}" in shown
    assert said in json.loads(paths[0].read_text())["notes"]
    assert f"The search {said}." in paths[1].read_text()
    assert load(paths[2]).history_.coverage == said
    assert "search:" not in run(*asked, "--search-effort", 2)[0]


def test_rank_with_repeats_shows_how_stable_it_is(xor_csv: Path, tmp_path: Path) -> None:
    asked = ("rank", xor_csv, "--target", "label", "--size", 3, "--quiet", "--json", tmp_path / "out.json")
    shown, _ = run(*asked, "--repeats", 2, "--jobs", 1)
    stability = json.loads((tmp_path / "out.json").read_text())["stability"]
    assert set(stability) == {"repeats", "frequency", "rank", "score", "consensus"}
    assert stability["repeats"] == 2
    assert set(stability["frequency"]) == set(stability["rank"]) == set(stability["score"])
    assert len(stability["consensus"]) == 3
    assert all(low <= middle <= high for low, middle, high in stability["rank"].values())
    assert "consensus of the refits: " + ", ".join(stability["consensus"]) in shown
    assert ["rank", "feature", "score", "chosen", "ranks"] in [line.split() for line in shown.splitlines()]
    assert max(map(len, shown.splitlines()[1:])) <= 80
    run(*asked)
    assert "stability" not in json.loads((tmp_path / "out.json").read_text())


def test_the_size_may_be_found_or_be_all(xor_csv: Path, tmp_path: Path) -> None:
    asked = ("rank", xor_csv, "--target", "label", "--quiet", "--json", tmp_path / "out.json")
    shown, _ = run(*asked, "--size", "auto", "--max-size", 4, "--report", tmp_path / "auto.html")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["size"] == document["enough"] <= 4
    assert [entry["size"] for entry in document["size_curve"]] == [1, 2, 3, 4]
    said = " ".join(shown.split())
    assert f"size: {document['notes'][0]}" in said
    assert document["notes"][0].startswith(("sizes up to ", "the size is "))
    assert max(map(len, shown.splitlines()[1:])) <= 80

    shown, _ = run(*asked, "--size", "all", "--report", tmp_path / "all.html")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["size"] == len(document["selected"]) == 10
    assert "all 10 features" in shown
    for name in ("auto", "all"):
        assert "How many are enough?" in (tmp_path / f"{name}.html").read_text()
    assert "the same nets" not in (tmp_path / "all.html").read_text()  # these are the nets


def test_predict_takes_columns_by_name(xor_csv: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "m", tmp_path / "p.csv"
    run("rank", xor_csv, "--target", "label", "--size", 3, "--model", model, "--quiet")
    frame = pd.read_csv(xor_csv)
    expected = load(model).predict(frame.drop(columns="label"))
    shown, _ = run("predict", model, xor_csv)
    assert pd.read_csv(io.StringIO(shown))["prediction"].tolist() == expected.tolist()

    shuffled = tmp_path / "shuffled.csv"
    frame[frame.columns[::-1]].assign(note="text").to_csv(shuffled, index=False)
    run("predict", model, shuffled, "--out", out)
    predicted = pd.read_csv(out)
    assert predicted["prediction"].tolist() == expected.tolist()
    assert list(predicted.columns) == ["prediction", *(f"probability_{c}" for c in ("blue", "green", "grey", "red"))]

    chosen = load(model).result_.selected[0]
    frame.drop(columns=chosen).to_csv(shuffled, index=False)
    _, said = run("predict", model, shuffled, code=2)
    assert f"needs column '{chosen}', which the table lacks" in said


def test_a_regression_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = make_nonlinear_regression(200, random_state=0)
    text = pd.DataFrame(X).add_prefix("f").assign(y=y).to_csv(index=False)
    shown, _ = run("rank", "-", "--target", "y", "--size", "0.4", "--model", tmp_path / "m", stdin=text)
    assert "mean squared error" in shown
    assert "standard input" in shown
    predicted, _ = run("predict", tmp_path / "m", "-", stdin=text)
    assert len(predicted.splitlines()) == 201


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", "0"], "--size 0: a whole number, a share"),
        (["--size", "11"], "--size 11 must be a whole number in 1..10"),
        (["--size", "-3"], "--size -3: a whole number"),
        (["--size", "1.5"], "--size 1.5: a whole number"),
        (["--size", "nan"], "--size nan: a whole number"),
        (["--size", "few"], "--size few: a whole number, a share between 0 and 1, auto or all is needed"),
        (["--size", "all", "--preset", "paper"], "--size 10: --preset paper needs a choice, of at most 9 features"),
        (["--size", "auto", "--preset", "paper"], "--size auto needs measured scores, which --preset paper does not"),
        (["--max-size", "2"], "--max-size 2 goes with --size auto"),
        (["--size", "all", "--max-size", "2"], "--max-size 2 goes with --size auto"),
        (["--target", "f1"], "--target is given 2 times: to predict several columns use --targets label,f1"),
        (["--weight", "labl"], "--weight: there is no column 'labl'; did you mean 'label'?"),
        (["--task", "ranking"], "--task ranking: use auto"),
        (["--task", "regression"], "that is --task classification"),
        (["--preset", "fast"], "--preset fast is not known"),
        (
            ["--search-effort", "slow"],
            "--search-effort slow: quick, default, thorough, or a number of seconds is needed",
        ),
        (["--search-effort", "-1"], "--search-effort -1: quick, default, thorough, or a number of seconds is needed"),
        (["--drop", "f99"], "no column 'f99'"),
        (["--require", "f99"], "--require: there is no column 'f99'"),
        (["--categorical", "label"], "--categorical: column 'label' is the target"),
        (["--numeric", "f1", "--categorical", "f1"], "column 'f1' can't be both --categorical and --numeric"),
        (["--group", "absent.json"], "absent.json: there is no such file; --group needs a JSON object of lists"),
        (["--seed", "-1"], "--seed: "),
        (["--repeats", "1"], "--repeats 1 must be 0 for none"),
        (["--repeats", "-2"], "--repeats -2 must be"),
        (["--json", "absent/out.json"], "there is no folder absent"),
        (["--report", "."], "is a folder"),
    ],
)
def test_bad_input_is_one_line_and_code_2(xor_csv: Path, options: list[str], message: str) -> None:
    _, said = run("rank", xor_csv, "--target", "label", "--size", "3", *options, code=2)
    assert message in said


def test_each_output_needs_a_file_of_its_own(xor_csv: Path, tmp_path: Path) -> None:
    before = xor_csv.read_text()
    asked = ("rank", xor_csv, "--target", "label", "--size", "3")
    assert "is given twice" in run(*asked, "--csv", xor_csv, code=2)[1]
    assert "is given twice" in run(*asked, "--csv", tmp_path / "o", "--json", tmp_path / "o", code=2)[1]
    assert xor_csv.read_text() == before
    assert "is not a plain file" in run(*asked, "--json", "/dev/null", code=2)[1]


def test_a_link_stays_a_link(xor_csv: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    run("rank", xor_csv, "--target", "label", "--size", "3", "--json", link, "--quiet")
    assert link.is_symlink()
    assert json.loads(real.read_text())["size"] == 3


def test_a_terminal_without_unicode_still_gets_its_answer(xor_csv: Path) -> None:
    result = CliRunner(charset="ascii").invoke(app, ["rank", str(xor_csv), "--target", "label", "--size", "3", "-q"])
    assert result.exit_code == 0
    assert "##" in result.stdout


def test_nothing_is_written_when_the_table_is_bad(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.csv", tmp_path / "out.json"
    bad.write_text("a,b,y\n1,2,u\n1,inf,v\n")
    out.write_text("kept")
    _, said = run("rank", bad, "--target", "y", "--json", out, "--require", "c", code=2)
    assert [line.split("bad.csv: ")[1].split(" in ")[0] for line in said.splitlines()] == [
        "--require: there is no column 'c'; there are 'a', 'b', 'y'",
        "an infinite value",
        "each class of the target 'y' has 1 row: there is nothing to learn from",
    ]
    assert out.read_text() == "kept"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "out.json"]


def test_a_model_that_is_none(tmp_path: Path, xor_csv: Path) -> None:
    _, said = run("predict", xor_csv, xor_csv, code=2)
    assert "is not a maskrank model" in said
    _, said = run("predict", tmp_path / "absent", xor_csv, code=2)
    assert "there is no model file" in said


def test_ctrl_c_ends_with_130(xor_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("maskrank.estimators.fitting.fit_dual_net", interrupted)
    _, said = run("rank", xor_csv, "--target", "label", "--size", "3", code=130)
    assert said.strip() == "maskrank: stopped: no features are chosen yet"


def test_demo_shows_the_three_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, _ = run("demo", "--report", tmp_path / "demo.html", "--quiet")
    assert shown.count("the best attainable is") == 3
    assert shown.count("rank") == 3
    for problem in demo.PROBLEMS:
        assert problem.title in shown
        assert problem.title in (tmp_path / "demo.html").read_text()


def test_datasets_are_listed_and_found(shared_data: Path) -> None:
    shown, _ = run("datasets", "list", "--data-dir", shared_data)
    for name in (*SYNTHETIC, *PUBLIC):
        assert name in shown
    assert " yes " in shown
    path, _ = run("datasets", "path", "vowel", "--data-dir", shared_data)
    assert Path(path.strip()).is_file()


def test_datasets_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MASKRANK_DATA_DIR", raising=False)
    monkeypatch.setenv("MASKRANK_CACHE_DIR", str(tmp_path / "cache"))
    shown = run("datasets", "list")[0]
    assert " no " in shown
    assert " yes " not in shown
    assert "--data-dir DIR or MASKRANK_DATA_DIR" in run("datasets", "path", "vowel", code=2)[1]
    assert "no vowel.npz in" in run("datasets", "path", "vowel", "--data-dir", tmp_path, code=2)[1]
    assert "no data set 'iris'" in run("datasets", "path", "iris", code=2)[1]
    assert "is generated" in run("datasets", "path", "xor", code=2)[1]
    assert "no .npz file of its own" in run("datasets", "path", "glass_without_id", code=2)[1]
    assert "no .npz file of its own" in run("datasets", "path", "rnaseq", code=2)[1]
    (tmp_path / "vowel.npz").write_bytes(b"altered")
    assert "was altered" in run("datasets", "path", "vowel", "--data-dir", tmp_path, code=2)[1]


def test_version_and_help() -> None:
    assert run("--version")[0].strip() == f"maskrank {maskrank.__version__}"
    for command in (["rank"], ["predict"], ["explain"], ["demo"], ["datasets", "list"], ["datasets", "path"]):
        assert "Example: maskrank" in run(*command, "--help")[0]


def test_python_dash_m(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["maskrank", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("maskrank", run_name="__main__")
    assert ended.value.code == 0
