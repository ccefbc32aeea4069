"""Makes all that the pages show of the program's own output, in `_generated`, by running `snippets` and `examples`.

Usage: python docs/make_pictures.py [NAME ...] [--readme]

A file is run as it stands, in a folder that holds the tables of `data`. What a section of it prints goes to
`_generated/FILE_SECTION.txt`, of a file without sections to `_generated/FILE.txt`; pictures that `pictures.py` draws of
what it computed lie next to it. It is run again only when it or the package has changed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
SNIPPETS = DOCS / "snippets"
TABLES = DOCS / "data"
EXAMPLES = ROOT / "examples"
GENERATED = DOCS / "_generated"
sys.path.insert(0, str(DOCS))

import drawings  # noqa: E402  # the files beside this one
import pictures  # noqa: E402

HELP = "command_line.md"
# Files that a snippet leaves and a page links to.
KEPT = {"penguins_terminal": ("penguins.html", "explained.html"), "report_terminal": ("diabetes.html",)}
README = ("needles",)  # pictures that the README shows
_LIBRARIES = ("matplotlib", "numpy", "pandas", "rich", "scikit-learn", "torch", "typer")
_MARK = re.compile(r"^# --8<-- \[(start|end):(\w+)\]\n", re.MULTILINE)
_WIDTH = "78"  # columns of the terminal: as many as a page shows


def names() -> list[str]:
    """All snippets and examples, by their file names without the ending."""
    files = (path for folder in (SNIPPETS, EXAMPLES) if folder.is_dir() for path in folder.iterdir())
    return sorted(path.stem for path in files if path.suffix in (".py", ".sh"))


def source(name: str) -> Path:
    """The file of a snippet or an example."""
    files = (path for folder in (SNIPPETS, EXAMPLES) for path in folder.glob(f"{name}.*"))
    return next(path for path in files if path.suffix in (".py", ".sh"))


def text_file(name: str, section: str) -> str:
    """Where the output of a section goes; examples have one section without a name."""
    return f"{name}_{section}.txt" if section else f"{name}.txt"


def is_shown(name: str, section: str) -> bool:
    """Whether a page shows what a section prints."""
    return bool(section) or source(name).parent == EXAMPLES


def outputs(name: str) -> list[str]:
    """The files in `_generated` that a snippet makes."""
    parts = sections(source(name).read_text())
    texts = [text_file(name, section) for section, _ in parts if is_shown(name, section)]
    drawn = [
        file for title, picture in pictures.PICTURES.items() if picture.of == name for file in picture.files(title)
    ]
    return [*texts, *drawn, *KEPT.get(name, ())]


def sections(text: str) -> list[tuple[str, str]]:
    """The parts of a snippet in their order: the section's name, "" between sections, and its lines.

    Lines before a part are kept as empty ones, so that an error names the line of the file.
    """
    parts, name, begin = [], "", 0
    for mark in [*_MARK.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        if text[begin:end].strip():
            parts.append((name, "\n" * text.count("\n", 0, begin) + text[begin:end]))
        if mark is not None:
            name, begin = mark[2] if mark[1] == "start" else "", mark.end()
    return parts


def provide_tables() -> None:
    """Copy the tables that snippets read into the current folder."""
    for table in TABLES.glob("*.csv"):
        shutil.copy(table, ".")


def run_python(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """Run a snippet in Python; what each section printed, and the names it left."""
    provide_tables()
    printed: dict[str, str] = {}
    found: dict[str, Any] = {"__name__": "__main__"}
    for name, code in sections(path.read_text()):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile(code, str(path), "exec"), found)
        printed[name] = stream.getvalue()
    return printed, found


def run_terminal(path: Path) -> dict[str, str]:
    """Run a snippet of commands, in a folder that holds the other snippets; what each section printed."""
    provide_tables()
    for script in SNIPPETS.glob("*.py"):
        shutil.copy(script, ".")
    here = str(Path(sys.executable).parent)
    surroundings = {**os.environ, "COLUMNS": _WIDTH, "PATH": os.pathsep.join((here, os.environ["PATH"]))}
    printed = {}
    for name, code in sections(path.read_text()):
        done = subprocess.run(
            ["sh", "-ec", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=surroundings
        )
        if done.returncode:
            raise RuntimeError(f"{path.name}, section {name or 'none'}: {done.stdout}")
        printed[name] = done.stdout
    return printed


def make(name: str) -> None:
    """Run one snippet, and write what the pages show of it."""
    path, found = source(name), {}
    stamp = fingerprint(name)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if path.suffix == ".py":
            printed, found = run_python(path)
        else:
            printed = run_terminal(path)
        for file in KEPT.get(name, ()):
            shutil.copy(file, GENERATED)
    for section, text in printed.items():
        if is_shown(name, section):
            tidy = "\n".join(line.rstrip() for line in text.splitlines())
            (GENERATED / text_file(name, section)).write_text(tidy + "\n", encoding="utf-8")
    for title, picture in pictures.PICTURES.items():
        if picture.of == name:
            picture.draw(title, found, GENERATED)
    (GENERATED / ".stamps" / name).write_text(stamp)


def make_help() -> None:
    """All commands and their options, as the command line itself explains them, in Markdown."""
    import typer

    from maskrank.cli import app

    def explain(command: Any, title: str, parent: Any = None) -> list[str]:
        context = command.context_class(command, info_name=title, parent=parent, terminal_width=int(_WIDTH))
        level = "##" if parent is None else "###" if parent.parent is None else "####"
        text = [f"{level} {context.command_path}", "", "```text", command.get_help(context), "```", ""]
        for other in getattr(command, "commands", {}):
            text += explain(command.commands[other], other, context)
        return text

    (GENERATED / HELP).write_text("\n".join(explain(typer.main.get_command(app), "maskrank")), encoding="utf-8")


def fingerprint(name: str) -> str:
    """Of all that a snippet's output depends on."""
    package = sorted(
        path for path in (ROOT / "src").rglob("*") if path.suffix in (".css", ".html", ".js", ".py", ".toml")
    )
    machinery = [*sorted(DOCS.glob("*.py")), *sorted(TABLES.glob("*.csv")), drawings.NEEDLES]
    others = sorted(SNIPPETS.glob("*.py")) if source(name).suffix == ".sh" else []
    digest = hashlib.sha256(" ".join((sys.version, *(version(library) for library in _LIBRARIES))).encode())
    for path in (source(name), *others, *machinery, *package):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_fresh(name: str) -> bool:
    """Whether all outputs of a snippet are there, and nothing they depend on has changed."""
    stamp = GENERATED / ".stamps" / name
    made = stamp.is_file() and stamp.read_text() == fingerprint(name)
    return made and all((GENERATED / file).is_file() for file in outputs(name))


def make_all(wanted: list[str] | None = None) -> list[str]:
    """Make what is not fresh, two at a time; the names of what was made."""
    (GENERATED / ".stamps").mkdir(parents=True, exist_ok=True)
    make_help()
    stale = [name for name in wanted or names() if not is_fresh(name)]
    if stale:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # two snippets at a time leave no core for a second thread
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            list(pool.map(make, stale))
    return stale


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the snippets of the documentation and keep what they print.")
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--readme", action="store_true", help="put the README's pictures in their place, too")
    given = parser.parse_args()
    made = make_all(given.names)
    print("made:", ", ".join(made) or "nothing, all is fresh")
    if given.readme:
        for file in (file for title in README for file in pictures.PICTURES[title].files(title)):
            shutil.copy(GENERATED / file, DOCS / "img" / file)


if __name__ == "__main__":
    main()
