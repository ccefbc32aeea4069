"""A benchmark of several sections as a command: its options, the command in a results file, what is written there."""

from __future__ import annotations

import argparse
import inspect
import platform
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from score_tools import Options, Section

Sections = Mapping[str, tuple[Callable[..., Section], int]]  # and the default of --seeds
_COMMON = ("jobs", "preset", "tag", "out", "seeds", "section")


def parsers(
    sections: Sections, prog: str, doc: str | None
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of a benchmark, and that of each section, to which options of its own may be added."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=int, default=2)
    common.add_argument("--preset", default="default")
    common.add_argument("--tag", type=int, default=0)
    common.add_argument("--out", type=Path)
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, prog=prog)
    places = parser.add_subparsers(dest="section", required=True, metavar="SECTION")
    own = {}
    for name, (run, seeds) in sections.items():
        text = _escaped(run.__doc__)
        own[name] = places.add_parser(name, parents=[common], help=text, description=text)
        own[name].add_argument("--seeds", type=int, default=seeds)
    return parser, own


def command_of(given: argparse.Namespace, prog: str) -> str:
    """The command with every option that shapes the figures, and without the file they go to."""
    named = {name: value for name, value in vars(given).items() if name not in ("section", "out")}
    words = ["python", f"benchmarks/{prog}", given.section]
    for name, value in named.items():
        words += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
    return shlex.join(words)


def commit() -> str:
    """Of the working tree, with a plus sign where it has changes."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=here, stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "../src", ".")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def run_section(sections: Sections, given: argparse.Namespace, prog: str) -> None:
    """Run a section, print what it found, and append it to the file that was asked for."""
    run, _ = sections[given.section]
    options = Options(preset=given.preset, seeds=given.seeds, tag=given.tag, jobs=given.jobs)
    started = time.perf_counter()
    section = run(options, **{name: value for name, value in vars(given).items() if name not in _COMMON})
    minutes = (time.perf_counter() - started) / 60
    command = command_of(given, prog)
    made = f"`{command}`\n\nCommit {commit()}, Python {platform.python_version()}, {minutes:.1f} minutes."
    text = f"## {given.section}\n\n{inspect.getdoc(run)}\n\n{made}\n\n{section}\n"
    print(text)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")


def _escaped(text: str | None) -> str:
    """A docstring as argparse takes it, where a per cent sign stands for itself."""
    return (text or "").replace("%", "%%")
