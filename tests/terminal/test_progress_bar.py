from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from maskrank import Progress
from maskrank.core.recorder import STAGES
from maskrank.terminal.progress_bar import FitsBar, ProgressBar


def test_it_shows_phase_batch_losses_and_time() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen, force_terminal=True, width=120), refresh=0.0) as bar:
        bar(Progress("explore", 8, 100, 0.75, 0.1))
        bar(Progress("search", 64, 100, 0.5, 0.1, 0.625, (1, 2)))
        bar(Progress("predict", 20, 100, 0.25, 0.0, 0.5))
    shown = screen.getvalue()
    for part in ("explore", "search", "predict", "batch 64", "loss 0.500", "validation 0.625"):
        assert part in shown


def test_it_is_silent_where_there_is_no_terminal() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen)) as bar:
        bar(Progress("explore", 8, 100, 0.75, 0.1))
    assert screen.getvalue().strip() == ""


def test_one_bar_for_several_fits_with_the_time_left() -> None:
    screen = io.StringIO()
    with FitsBar(11, done=2, console=Console(file=screen, force_terminal=True, width=120)) as bar:
        bar.show(3)
        bar.workers(4)
        bar.advance(2)
    assert "4 workers" in screen.getvalue()
    assert "5/11" in screen.getvalue()
    assert "left" in screen.getvalue()
    for quiet, terminal in ((True, True), (False, False)):
        silent = io.StringIO()
        with FitsBar(2, quiet=quiet, console=Console(file=silent, force_terminal=terminal)) as bar:
            bar.show(1)
        assert silent.getvalue().strip() == ""


def test_it_names_the_stages_before_their_first_batch() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen, force_terminal=True, width=120)) as bar:
        for stage in STAGES:
            bar.on_stage(stage)
    for stage in (stage for stage in STAGES if stage != "search"):  # Phase II goes on with the bar of Phase I
        assert stage in screen.getvalue()


def test_the_bar_shows_how_much_of_a_search_is_done() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen, force_terminal=True, width=120), refresh=0.0) as bar:
        bar.on_stage("propose")
        bar.on_share("triples", 0.5)
    assert "triples" in screen.getvalue()


def test_the_bar_of_several_fits_names_what_runs() -> None:
    screen = io.StringIO()
    with FitsBar(2, console=Console(file=screen, force_terminal=True, width=120)) as bar:
        bar.name("fits: tournament")
        bar.show(1)
    assert "fits: tournament" in screen.getvalue()


def test_it_shows_what_is_done_of_a_stage_that_is_counted() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen, force_terminal=True, width=120), refresh=0.0) as bar:
        bar.on_stage("propose")
        bar.on_share("pairs", 0.25)
    assert "pairs 25%" in screen.getvalue()


@pytest.mark.parametrize("width", [60, 80])
def test_bars_fit_into_a_narrow_terminal(width: int) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    with ProgressBar(console, refresh=0.0) as bar:
        bar.on_stage("propose")
        bar(Progress("search", 12345, 20000, 0.75, 0.1, 0.625, (1, 2)))
    with FitsBar(25, console=console) as fits:
        fits.name("fits: dualnet, 10")
        fits.show(12)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    for part in ("search", "batch 12345", "fits: dualnet, 10", "12/25"):
        assert part in shown
    assert max(len(line) for line in re.split(r"[\r\n]", shown)) <= width
