"""Finds private words in what users read, and says which words of the field to use instead.

Usage: python docs/check_words.py [FILE ...]

Reads the README and other pages, without their code, the templates of reports, and the texts of the package outside
its core: docstrings, help of the command line, messages. Prints one line per finding; then the exit code is 1.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/**/*.md", "src/maskrank/report/templates/*.html")
PACKAGE = "src/maskrank/**/*.py"
INTERNAL = ("core", "parallel")  # folders that users do not read

_THINGS = (
    "batch|branch|class|column|command|core|count|cycle|day|epoch|feature|figure|file|fit|fold|group|hour|label|level|line|"
    "machine|member|method|minute|model|net|page|part|patient|process|repeat|round|row|sample|score|second|size|split|step|"
    "subject|subset|table|target|thread|value|worker"
)
_COUNTED = (
    "bars?|batch(?:es)?|bits?|bytes|coins?|columns?|cores?|dots?|features?|files?|fits?|folds?|hours?|indicators?|labels?|"
    "lines?|masks?|minutes|nets?|numbers?|places?|pictures?|process(?:es)?|random numbers|rows?|scores?|seconds|steps?|"
    "subsets?|threads?|values?|weights?"
)

WORDS = {  # what is looked for: what to say instead
    # style.md
    r"surprises?": "evidence, corrected for multiple tests",
    r"(?:line|kernel) machines?": "(kernel) ridge regression",
    r"(?:waves|bends) of": "cosine basis of ranks",
    r"given up (?:at once|one after)": "eliminated",
    r"(?:in|by) turns": "interleaved, alternately",
    r"challengers?": "candidates",
    r"contests?": "tournament",
    r"settle the": "fine-tune",
    r"companions?": "correlated features",
    r"polish(?:es|ed|ing)?": "calibrate",
    r"jitter(?:s|ed)?": "input noise",
    r"blend(?:s|ed|ing)?": "greedy ensemble selection",
    r"cho(?:o|)ses? again": "reselect on all rows",
    r"tried (?:features|columns|ones)": "candidate pool",
    r"a fit again, so many times": "refit on R random 80 % subsamples",
    r"gives the same (?:answer|result|bits) twice": "reproducible for a fixed seed",
    # one thing per another thing
    rf"(?:one|two|three|ten|a|each|{_COUNTED}) an? (?:{_THINGS})(?! of one)(?= *[,.;:)|]|$)": 'per: "seconds per fit"',
    # standard words
    r"(?:the )?trivial (?:answer|predictor|one)s?": "baseline",
    r"say(?:s|ing)? (?:nearly |about )?the same": "redundant, correlated",
    r"twins?": "redundant features",
    r"anything in (?:it|them|the data)": "signal",
    r"of few rows every row": "where rows are few",
    r"left away": "left out",
    r"given away|gives? away|gives? (?:the|its|their) (?:answer|target)s? away": "leaks the target",
    r"learn(?:s|ed|t)? by heart": "overfits",
    r"look(?:s|ed)? by": "tests",
    r"quick looks?": "fast tests",
    r"the like of it": "its counterpart",
    r"fresh (?:rows|draws of rows)": "new rows, a test set",
    r"packed (?:file|text|or not)s?": "compressed",
    # idiom
    r"all the same(?! \w)": "still, anyway",
    r"as ever": "as before",
    r"at last": "finally",
    r"for want of": "because there is no",
    r"no yardstick": "cannot be compared",
    r"(?:goes?|going) on(?: (?:where|with|after))?": "continues, resumes",
    r"(?:is|are|was) to be had|to be had from": "available, get it from",
    r"rows? that (?:was|were) not learned from|not learned from": "held-out rows",
    r"within what chance gives": "may be chance",
    r"(?:no|any) (?:size|subset) was searched for by itself": "each size follows one ranking",
    r"so many (?:random|seconds|operations|rows|times)": 'a number: "R random subsamples"',
    r"(?:is|are) told of": "receives",
    r"what is none": "other values",
    r"that many as": "as many as",
    r"beside (?:it|them|that|those|the others?|the other chosen|one another)(?! all)": "with, next to, in addition to",
    r"one after the other": "in sequence",
    r"has none of them all": "has none",
    r"put aside(?= *[,.;:)])": "held out",
    r"it (?:is|was) otherwise": "it differs",
}
_PATTERNS = [(re.compile(rf"\b(?:{word})(?!\w)", re.IGNORECASE | re.MULTILINE), say) for word, say in WORDS.items()]
_CODE = re.compile(r"^ *(`{3,}).*?^ *\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """A private word, where it stands, and what to say instead."""

    place: str
    line: int
    found: str
    instead: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.found!r}: say {self.instead}"


def findings(text: str, place: str, first_line: int = 1) -> Iterator[Finding]:
    """All private words of a text."""
    for pattern, instead in _PATTERNS:
        for match in pattern.finditer(text):
            yield Finding(place, first_line + text.count("\n", 0, match.start()), match[0], instead)


def in_page(path: Path, place: str) -> Iterator[Finding]:
    """Those of a page in Markdown; code in it is left blank."""
    text = path.read_text(encoding="utf-8")
    yield from findings(_CODE.sub(lambda code: "\n" * code[0].count("\n") + " ", text), place)


def in_module(path: Path, place: str) -> Iterator[Finding]:
    """Those of the texts in a module: docstrings, help, messages."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from findings(node.value, place, node.lineno)


def read_by_users() -> list[Path]:
    """All files with texts for users."""
    pages = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern)) if "_generated" not in path.parts]
    package = [path for path in sorted(ROOT.glob(PACKAGE)) if path.relative_to(ROOT).parts[2] not in INTERNAL]
    return [*pages, *package]


def main(files: list[str]) -> int:
    """Print all findings; 1 if there are any."""
    found = []
    for path in [Path(file).resolve() for file in files] or read_by_users():
        place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
        found += (in_module if path.suffix == ".py" else in_page)(path, place)
    for finding in found:
        sys.stderr.write(f"{finding}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
