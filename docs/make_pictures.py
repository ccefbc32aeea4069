"""Makes the pictures of the README from the program's own output. Usage: python docs/make_pictures.py"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from maskrank import DualNetRegressor
from maskrank.datasets import make_nonlinear_regression
from maskrank.screen import show_ranking

IMAGES = Path(__file__).parent / "img"


def main() -> None:
    X, y, _ = make_nonlinear_regression(512, random_state=0)
    model = DualNetRegressor(5, random_state=0).fit(X, y)
    console = Console(record=True, width=64, force_terminal=True, file=io.StringIO(), highlight=False)
    console.print("y = -2 sin(2 x0) + max(x1, 0) + x2 + exp(-x3) + noise\n", style="bold")
    show_ranking(console, model.result_)
    picture = console.export_svg(title="maskrank", theme=DIMMED_MONOKAI)
    local = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # no request for a font from outside
    (IMAGES / "ranking.svg").write_text(local)


if __name__ == "__main__":
    main()
