"""How soon a wide report can be used: from the moment it is opened until its search has answered.

A net is fitted on a small budget to a table of random numbers, its report is written as `rank --report` does, and
opened in a new page of a real browser, some times over; the best and the worst time are printed. Debian's chromium
and playwright are needed. Usage: python benchmarks/report.py [--features 5000 100000] [--size 500] [--openings 5]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank import DualNetClassifier
from maskrank.report import RankingSection, ranking_report

ROWS = 120


def write_report(d: int, size: int, file: Path) -> str:
    """Write the report of d features; returns the name of one that was left out."""
    random = np.random.default_rng(0)
    X = random.standard_normal((ROWS, d), dtype=np.float32)
    y = np.where(X[:, 0] + X[:, 1] > 0, "high", "low")
    names = [f"gene {i}" for i in range(d)]
    model = DualNetClassifier(size, max_batches=240, phase1_batches=160, refit=False, random_state=0)
    model.fit(pd.DataFrame(X, columns=names), y)
    section = RankingSection("Target: y", model, [("table", f"{ROWS} rows, {d:,} features")], 1.0, X, y)
    page = ranking_report("Features that predict y", [section], command="python benchmarks/report.py")
    file.write_text(page, encoding="utf-8")
    return names[int(np.flatnonzero(~model.support_)[-1])]


def seconds_to_answer(browser: Any, file: Path, name: str) -> float:
    """From opening the page to the row that was searched for."""
    page = browser.new_page()
    started = time.perf_counter()
    page.goto(file.as_uri())
    page.fill("input[type=search]", name)
    page.locator(".all-features tbody td.name", has_text=name).wait_for()
    passed = time.perf_counter() - started
    page.close()
    return passed


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon a wide report can be used.")
    parser.add_argument("--features", type=int, nargs="+", default=[5_000, 100_000])
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--openings", type=int, default=5)
    given = parser.parse_args()

    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    print("| features | size of the page | best | worst |\n|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for d in given.features:
            file = Path(folder) / "report.html"
            name = write_report(d, given.size, file)
            times = [seconds_to_answer(browser, file, name) for _ in range(given.openings)]
            size = f"{file.stat().st_size / 1e6:.2f} MB"
            print(f"| {d:,} | {size} | {min(times):.2f} s | {max(times):.2f} s |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
