"""The documentation can't rot: snippets run, links lead somewhere, commands exist, all public names are explained."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
import socket
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import maskrank
from maskrank.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if "_generated" not in p.parts)]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
RESULTS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "benchmarks/results").rglob("*.md"))]
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


@cache
def module(name: str) -> ModuleType:
    """A file of the documentation's machinery."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def prose(page: str) -> str:
    return _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))


def generated() -> set[str]:
    making = module("make_pictures")
    return {file for name in making.names() for file in making.outputs(name)} | {making.HELP}


@pytest.mark.parametrize(
    "name",
    [
        "baseline",
        "cluster",
        "compare",
        "explain",
        "first_answer",
        "images",
        "large",
        "leaks",
        "make_clinic",
        "penguins",
    ],
)
@pytest.mark.usefixtures("few_batches")
def test_snippets_run_and_their_pictures_are_drawn(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    making = module("make_pictures")
    monkeypatch.chdir(tmp_path)
    printed, found = making.run_python(making.source(name))
    for section, code in making.sections(making.source(name).read_text()):
        assert bool(printed[section]) == ("print(" in code)
    for title, picture in making.pictures.PICTURES.items():
        if picture.of == name:
            picture.draw(title, found, tmp_path)
            assert all((tmp_path / file).stat().st_size for file in picture.files(title))


@pytest.mark.parametrize("name", module("make_pictures").names())
def test_what_snippets_import_is_there(name: str) -> None:
    path = module("make_pictures").source(name)
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("maskrank"):
                found = importlib.import_module(node.module)
                assert all(hasattr(found, alias.name) for alias in node.names)


def test_all_code_of_the_pages_is_run() -> None:
    not_run = {  # takes a library or hours that the build does not have, or is a file that a reader writes
        "docs/howto/cluster.md": 1,
        "docs/howto/compare.md": 1,
        "docs/index.md": 1,
    }
    for page in NAMES[1:]:
        blocks = [fence.split("\n", 1) for fence in re.findall(_FENCE, (ROOT / page).read_text(encoding="utf-8"))]
        code = [block.lstrip() for mark, block in blocks if mark.strip(" `") in ("", "python", "sh")]
        typed = [block for block in code if not block.startswith(("--8<--", "make ", "pip "))]
        assert len(typed) == not_run.get(page, 0), (page, typed)


def test_errors_in_a_snippet_name_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wrong.py"
    path.write_text("# --8<-- [start:one]\nx = 1\n# --8<-- [end:one]\n\nx / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        module("make_pictures").run_python(path)
    assert caught.traceback[-1].lineno + 1 == 5


def test_a_snippet_is_run_again_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    making = module("make_pictures")
    monkeypatch.setattr(making, "SNIPPETS", tmp_path)
    monkeypatch.setattr(making, "GENERATED", tmp_path / "made")
    (tmp_path / "made" / ".stamps").mkdir(parents=True)
    snippet = tmp_path / "short.py"
    snippet.write_text("# --8<-- [start:say]\nprint('one  ')\n# --8<-- [end:say]\n")
    assert not making.is_fresh("short")
    making.make("short")
    assert making.is_fresh("short")
    assert (tmp_path / "made" / "short_say.txt").read_text() == "one\n"
    (tmp_path / "made" / "short_say.txt").unlink()
    assert not making.is_fresh("short")
    making.make("short")
    snippet.write_text(snippet.read_text().replace("one", "two"))
    assert not making.is_fresh("short")


def test_the_commands_of_a_cluster_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    making = module("make_pictures")
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    text = making.source("cluster_terminal").read_text().replace("8786", port)
    ranking = dict(making.sections(text))["rank"].strip()  # real fits are run when the pages are built
    (tmp_path / "commands.sh").write_text(text.replace(ranking, ""))
    printed = making.run_terminal(tmp_path / "commands.sh")
    assert "chosen in every fold" in printed["compare"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(port)))


def test_a_command_that_fails_ends_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.sh").write_text("echo before\nfalse\necho after\n")
    with pytest.raises(RuntimeError, match=r"bad\.sh, section none: before$"):
        module("make_pictures").run_terminal(tmp_path / "bad.sh")


@pytest.mark.parametrize("page", NAMES)
def test_what_pages_include_is_there(page: str) -> None:
    making = module("make_pictures")
    for path, section in re.findall(r'--8<-- "([^":]+)(?::(\w+))?"', (ROOT / page).read_text(encoding="utf-8")):
        if path.startswith("docs/_generated/"):
            assert path.removeprefix("docs/_generated/") in generated(), path
        else:
            assert (ROOT / path).is_file(), path
            assert not section or section in dict(making.sections((ROOT / path).read_text())), (path, section)


def test_all_that_is_made_is_shown() -> None:
    making = module("make_pictures")
    shown = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in NAMES)
    for name in making.names():
        path = making.source(name)
        for section, code in making.sections(path.read_text()):
            assert not section or f'--8<-- "docs/snippets/{path.name}:{section}"' in shown
            if making.is_shown(name, section) and "print(" in code and path.suffix == ".py":
                assert f'--8<-- "docs/_generated/{making.text_file(name, section)}"' in shown
    assert all(f"_generated/{file}" in shown for file in generated() if file.endswith((".svg", ".html", ".md")))


@pytest.mark.parametrize("page", [*NAMES, "CHANGELOG.md", *RESULTS])
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        path = (ROOT / page).parent / target if target else ROOT / page
        if anchor.startswith("maskrank."):  # of a name that the build finds in the code
            assert anchor.rpartition(".")[0] in path.read_text(encoding="utf-8"), link
            continue
        if path.parent.name == "_generated":
            assert path.name in generated(), link
            assert (anchor in ("only-light", "only-dark")) == path.stem.endswith(("-light", "-dark")), link
            continue
        assert path.exists(), link
        assert not anchor or anchor in slugs(path), link


def slugs(path: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("page", NAMES)
def test_pages_can_be_read_by_all(page: str) -> None:
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose(page), re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(lower <= upper + 1 for upper, lower in pairwise(levels))
    for alternative in re.findall(r"!\[(.*?)\]\(", prose(page)):
        assert len(alternative) > 20, "a picture needs a text that says what is to be seen"


def command_lines() -> Iterator[tuple[str, str]]:
    """Every command of ours in the pages, the snippets and the help texts, and where it stands."""
    for path in (*PAGES, *sorted((DOCS / "snippets").glob("*.sh"))):
        text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
        found = [line.strip() for line in text.splitlines() if line.strip().startswith("maskrank ")]
        for line in (*found, *re.findall(r"(?<!`)`(maskrank [^`]+)`(?!`)", text)):
            yield path.relative_to(ROOT).as_posix(), re.split(r" \|| 2?>", line)[0]


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines())))
def test_commands_parse(page: str, line: str) -> None:
    _, *words = shlex.split(line, comments=True)
    command: Any = typer.main.get_command(app)
    path = []
    while words and words[0] in getattr(command, "commands", {}):
        path.append(words.pop(0))
        command = command.commands[path[-1]]
    options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= options
    if path and words and "--help" not in words:
        command.make_context(path[-1], words)


def test_all_public_names_are_in_the_reference() -> None:
    reference = "\n".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "reference").glob("*.md")))
    missing = [name for name in maskrank.__all__ if f"\n::: maskrank.{name}\n" not in reference]
    assert not missing


def test_the_help_of_every_command_is_in_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    making = module("make_pictures")
    monkeypatch.setattr(making, "GENERATED", tmp_path)
    making.make_help()
    text = (tmp_path / making.HELP).read_text(encoding="utf-8")
    for command in (
        "rank",
        "predict",
        "explain",
        "export",
        "demo",
        "compare",
        "sweep",
        "study",
        "doctor",
        "datasets list",
        "datasets path",
        "export",
        "doctor",
    ):
        assert f"# maskrank {command}\n\n```text\nUsage: maskrank {command} [OPTIONS]" in text


@pytest.mark.parametrize(
    ("html", "addresses"),
    [
        ('<script src="https://a.org/x.js"></script><a href="https://b.org">b</a>', ["https://a.org/x.js"]),
        (
            '<link rel="stylesheet" href="//c.org/c.css"><img alt="d" src=https://d.org/d.png>',
            ["//c.org/c.css", "https://d.org/d.png"],
        ),
        ('<img src="../img/e.svg"><script src="js/f.js"></script>', []),
    ],
)
def test_pages_that_load_from_elsewhere_are_found(html: str, addresses: list[str]) -> None:
    assert module("build_hooks").loaded_from_elsewhere(html) == addresses


@pytest.mark.parametrize(
    ("page", "link", "site"),
    [
        ("examples.md", "../examples/01_rank_a_table.py", "examples/01_rank_a_table.py"),
        ("howto/size.md", "../../benchmarks/results/engine.md", "../benchmarks/results/engine.md"),
        ("howto/size.md", "../examples.md", "../examples.md"),
        ("index.md", "../CHANGELOG.md", "CHANGELOG.md"),
    ],
)
def test_links_that_leave_the_folder_stay_in_the_site(page: str, link: str, site: str) -> None:
    assert module("build_hooks").inside(link, page) == site


def test_private_words_are_found_in_texts_and_not_in_code(tmp_path: Path) -> None:
    check = module("check_words")
    page, code = tmp_path / "page.md", tmp_path / "code.py"
    page.write_text(
        "# Page\n\nTwins need 3 seconds a fit.\n\n```\n2 seconds a fit\n```\n\nOne row per fit, `row a fit`.\n"
    )
    code.write_text('"""Fits.\n\nOne row a fit."""\n\nraise ValueError("it goes on with --resume")\ntwins = "twins"\n')
    assert [(found.line, found.found) for found in check.in_page(page, "page.md")] == [
        (3, "seconds a fit"),
        (3, "Twins"),
    ]
    assert [(found.line, found.found) for found in check.in_module(code, "code.py")] == [
        (3, "row a fit"),
        (5, "goes on with"),
    ]
    assert check.main([str(page)]) == 1


def test_readme_shows_every_screenshot_light_and_dark_and_they_are_small() -> None:
    shots = module("make_screenshots").SHOTS
    kinds = [(name, "png") for name in shots]
    kinds += [(f"{name}-terminal", "svg") for name, shot in shots.items() if shot.terminal]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files = [DOCS / "img" / f"{name}-{scheme}.{kind}" for name, kind in kinds for scheme in ("light", "dark")]
    for file in files:
        assert f'"docs/img/{file.name}"' in readme
        assert b"@font-face" not in file.read_bytes()
    assert sum(file.stat().st_size for file in files) < 1_500_000
