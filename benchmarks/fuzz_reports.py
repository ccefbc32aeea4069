"""Hostile names of features and labels, in pages, in CSV, in JSON and in the terminal."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd

from maskrank import DualNetClassifier
from maskrank.core.config import DEFAULT
from maskrank.csv_text import csv_text
from maskrank.report import RankingSection, ranking_report
from maskrank.results import as_json
from maskrank.terminal.text import one_line, shell_word, visible

Case = Callable[[], tuple[str, str]]
_PIECES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "-->",
    "]]>",
    "</style>",
    "</textarea>",
]
_PIECES += ["&lt;", "{{ 7*7 }}", "{% raw %}", "${a}", "javascript:alert(1)", "%0a", "&#x3c;", "`", "'", '"', "\\", "/"]
_PIECES += ["=1+1", "@SUM(A1)", "+1", "-1+2", ';=HYPERLINK("x")', "\ufeff=1", " =1", "\t=1", "＝1", "|", ",", ";"]
_PIECES += [
    "\n",
    "\r",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\x9b2J",
    "\u202e",
    "\u2028",
    "\0",
    "\ud800",
    "a",
    "ß",
    "温",
    "x" * 300,
]
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_SOFT = "\u200c\u200d"
_SEEN: list[set[tuple[str, ...]]] = []


def prepare(folder: Path) -> None:
    """What a page of harmless names is made of."""
    _SEEN.append(_shape(_page([f"name{i}" for i in range(4)], ["no", "yes"])))


def draw(rng: np.random.Generator, folder: Path) -> tuple[str, Case]:
    """A kind of case, and the case."""
    if rng.random() < 0.01:
        names, labels = ([f"{_name(rng)}{i}".replace("\ud800", "") for i in range(n)] for n in (4, 2))
        return "page", lambda: _try_page(names, labels)
    name = _name(rng)
    kind = list(_TRIES)[int(rng.integers(len(_TRIES)))]
    return kind, {
        "csv": lambda: _try_csv(name),
        "json": lambda: _try_json(name),
        "terminal": lambda: _try_terminal(name),
    }[kind]


def _name(rng: np.random.Generator) -> str:
    return "".join(_PIECES[int(i)] for i in rng.integers(len(_PIECES), size=int(rng.integers(1, 5))))


def _page(names: list[str], labels: list[str]) -> str:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, len(names))), columns=names)
    y = np.array(labels)[(X.iloc[:, 0] > 0).astype(int)]
    preset = DEFAULT.using(max_batches=8, phase1_batches=8, predictor__cycles=(10,))
    model = DualNetClassifier(2, preset=preset, random_state=0).fit(X, y)
    section = RankingSection(f"Target: {labels[0]}", model, [(names[0], labels[1])], 1.0, X, y)
    return ranking_report(names[1], [section], command=names[2])


class _Shapes(HTMLParser):
    """Tags, and what of them could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag,))
        for name, value in attrs:
            text = (value or "").strip().lower()
            if name.startswith("on") or name in ("src", "href", "action", "srcdoc", "xlink:href"):
                self.found.add((tag, name, text[:12]))


def _shape(page: str) -> set[tuple[str, ...]]:
    parser = _Shapes()
    parser.feed(page)
    return parser.found


def _try_page(names: list[str], labels: list[str]) -> tuple[str, str]:
    page = _page(names, labels)
    page.encode("utf-8", errors="backslashreplace")
    more = {entry for entry in _shape(page) - _SEEN[0] if not (len(entry) == 3 and entry[2].startswith("#"))}
    return ("traceback", f"a page has gained {sorted(more)[:3]}") if more else ("harmless", "")


def _try_csv(name: str) -> tuple[str, str]:
    rows = list(csv.reader(io.StringIO(csv_text([name, "b"], [(name, 1), ("x", name)]), newline="")))
    cells = [rows[0][0], rows[1][0], rows[2][1]] if len(rows) == 3 else []
    if not cells or len({len(row) for row in rows}) != 1:
        return "traceback", f"other rows of {name!r}"
    for cell in cells:
        if _NUMBER.fullmatch(cell):
            continue
        bare = cell.lstrip('\ufeff\u200b \t\r\n;,|\x00"')
        if not cell.startswith("'") and bare[:1] in ("=", "+", "-", "@", "＝", "＋", "－", "＠"):
            return "traceback", f"a formula in {cell!r}"
    return "harmless", ""


def _try_json(name: str) -> tuple[str, str]:
    text = as_json({name: name, "b": [float("inf"), np.float32("nan")]}).encode()
    found = json.loads(text)
    return (
        ("harmless", "")
        if list(found) == [name, "b"] and found[name] == name
        else ("traceback", f"other than {name!r}")
    )


def _try_terminal(name: str) -> tuple[str, str]:
    for shown in (visible(name), one_line(name), shell_word(name)):
        odd = [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in _SOFT]
        if odd:
            return "traceback", f"{odd[0]!r} of {name!r} is shown"
    return "harmless", ""


_TRIES = {"csv": _try_csv, "json": _try_json, "terminal": _try_terminal}
