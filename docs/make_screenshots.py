"""Takes the README's pictures of the reports and of the terminal, by running the commands they show.

Usage: python docs/make_screenshots.py [NAME ...]

Each command runs in an empty folder beside three tables that ship with scikit-learn. Its report is opened in a real
browser, on a light and on a dark page, and what it printed is drawn as a terminal, light and dark. All goes to `img`.
Debian's chromium is needed, and playwright and Pillow. Ten minutes on one core.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMG = Path(__file__).resolve().parent / "img"
SCHEMES = ("light", "dark")
_COLUMNS = 80  # of the terminal
_PAGE = {"width": 940, "height": 700}
_MARGIN = 24  # above a part of a page
_SCALE = 2  # pixels of the picture for each of the page
_COLOURS = 96  # of a picture


@dataclass(frozen=True)
class Shot:
    """A command, and what is shown of it.

    Attributes
    ----------
    command : str
        As it is typed; its report, if it writes one, has the shot's name.
    begin, end : str
        Elements of the report: the picture runs from the top of the first to the top of the second.
    terminal : bool
        Whether the terminal is shown, too.
    """

    command: str
    begin: str = "body"
    end: str = "footer"
    terminal: bool = False


SHOTS = {
    "rank": Shot(
        "maskrank rank wine.csv --target cultivar --size 5 --repeats 10 --report rank.html",
        end="h3:text('Would other rows')",
        terminal=True,
    ),
    "image": Shot(
        "maskrank rank digits.csv --target digit --size 16 --image 8x8 --report image.html",
        begin="h3:text('Where the chosen')",
        end="h3:text('All 64 features')",
    ),
    "demo": Shot("maskrank demo --report demo.html", end="h3:text('How good') >> nth=0"),
    "compare": Shot(
        "maskrank compare cancer.csv --target diagnosis --size 5 --methods dualnet,rf,lasso,mrmr --report compare.html",
        terminal=True,
    ),
    "sweep": Shot(
        "maskrank sweep cancer.csv --target diagnosis --sizes 1,2,3,5,10,20 --report sweep.html", terminal=True
    ),
    "study": Shot("maskrank study synthetic --quick --out synthetic --report study.html", end=".pictures"),
}


def write_tables(folder: Path) -> None:
    """The tables of wines and of breast cancer, and the threes and eights among the digits."""
    import numpy as np
    import pandas as pd
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    wine = load_wine(as_frame=True)
    wine.data.assign(cultivar=wine.target.map({0: "A", 1: "B", 2: "C"})).to_csv(folder / "wine.csv", index=False)
    cancer = load_breast_cancer(as_frame=True)
    cancer.data.assign(diagnosis=cancer.target_names[cancer.target]).to_csv(folder / "cancer.csv", index=False)
    digits = load_digits()
    some = np.isin(digits.target, (3, 8))
    pixels = pd.DataFrame(digits.data[some], columns=[f"row {i // 8} column {i % 8}" for i in range(64)])
    pixels.assign(digit=digits.target[some]).to_csv(folder / "digits.csv", index=False)


def run(shot: Shot, folder: Path) -> str:
    """What the command printed, colours included."""
    here = str(Path(sys.executable).parent)
    surroundings = {
        **os.environ,
        "COLUMNS": str(_COLUMNS),
        "FORCE_COLOR": "1",
        "PATH": os.pathsep.join((here, os.environ["PATH"])),
    }
    done = subprocess.run(
        shlex.split(shot.command), cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(f"{shot.command}: ended with {done.returncode}")
    return done.stdout.decode()


def draw_terminal(command: str, printed: str, scheme: str, file: Path) -> None:
    """The command and what it printed, as a window of a terminal."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    themes = {
        "light": TerminalTheme((255, 255, 255), (28, 36, 48), [(0, 0, 0)] * 4 + [(0, 103, 165)] + [(0, 0, 0)] * 3),
        "dark": TerminalTheme((18, 22, 27), (232, 236, 241), [(0, 0, 0)] * 4 + [(99, 179, 232)] + [(0, 0, 0)] * 3),
    }
    console = Console(record=True, width=_COLUMNS, force_terminal=True, file=io.StringIO(), highlight=False)
    console.print(Text(f"$ {command}\n", style="bold"))
    console.print(Text.from_ansi(printed.rstrip()))
    drawn = console.export_svg(title="", theme=themes[scheme], unique_id=file.stem)
    local = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # no request for a font from outside
    file.write_text(local.replace('stroke="rgba(255,255,255,0.35)"', 'stroke="#8a94a1"'), encoding="utf-8")


def photograph(browser: Any, report: Path, shot: Shot, scheme: str, file: Path) -> None:
    """A part of a report, in few colours."""
    from PIL import Image

    page = browser.new_page(viewport=_PAGE, device_scale_factor=_SCALE, color_scheme=scheme)
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    top, bottom = (page.locator(place).bounding_box()["y"] for place in (shot.begin, shot.end))
    top = max(0, int(top) - _MARGIN)
    area = {"x": 0, "y": top, "width": _PAGE["width"], "height": int(bottom) - top}
    taken = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=area))).convert("RGB")
    taken.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the README's pictures of reports and terminal.")
    parser.add_argument("names", nargs="*", help=f"only these, of {', '.join(SHOTS)}")
    wanted = parser.parse_args().names or list(SHOTS)

    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        write_tables(folder)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in wanted:
            printed = run(SHOTS[name], folder)
            for scheme in SCHEMES:
                photograph(browser, folder / f"{name}.html", SHOTS[name], scheme, IMG / f"{name}-{scheme}.png")
                if SHOTS[name].terminal:
                    draw_terminal(SHOTS[name].command, printed, scheme, IMG / f"{name}-terminal-{scheme}.svg")
            print("made:", name)
        browser.close()


if __name__ == "__main__":
    main()
