"""Progress bars on standard error: `ProgressBar` of one fit, as a callback, `FitsBar` of several fits."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from maskrank.core.recorder import STAGES, Callback
from maskrank.core.recorder import Progress as FitProgress

_PHASES = {"explore": "Phase I", "search": "Phase II"}  # the paper's


class ProgressBar(Callback):
    """Shows the stage and, while nets are trained, batch, losses and the most time that is left; a context manager.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error if not given. Nothing is shown where that is not a terminal.
    refresh : float
        Least seconds between two updates.
    """

    def __init__(self, console: Console | None = None, *, refresh: float = 0.1) -> None:
        self._refresh = refresh
        self._console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[batch]}"),
            TextColumn("{task.fields[losses]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            refresh_per_second=4,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID | None = None
        self._stage = ""
        self._shown = 0.0

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def on_stage(self, stage: str) -> None:
        """Name a stage, before its first batch if it has any."""
        if stage == "search" and self._stage == "explore":
            self._stage = stage  # one bar for both phases: their batches are counted on
            return
        self._start(stage, total=None)

    def on_share(self, what: str, done: float) -> None:
        """Show how much of a search over all pairs or triples is done."""
        now = time.monotonic()
        if self._task is None or now - self._shown < self._refresh:
            return
        self._shown = now
        self._bar.update(self._task, total=1.0, completed=done, batch=what, refresh=True)

    def _start(self, stage: str, total: int | None) -> TaskID:
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._stage, self._shown = stage, 0.0
        self._task = self._bar.add_task(_title(stage), total=total, batch="", losses="", left="")
        return self._task

    def __call__(self, progress: FitProgress) -> None:
        now = time.monotonic()
        if now - self._shown < self._refresh:
            return
        task = self._task
        if task is None:
            task = self._start(progress.phase, progress.max_batches)
        self._shown = now
        losses = f"loss {progress.operator_loss:.3f}"
        if progress.validation is not None:
            losses += f"  validation {progress.validation:.3f}"
        self._bar.update(
            task,
            total=progress.max_batches,
            completed=progress.batch,
            description=_title(progress.phase),
            batch=f"batch {progress.batch}",
            losses=losses,
            left="at most",
            refresh=True,
        )


class FitsBar:
    """Shows how many of several fits are done, and the time that is left; use it as a context manager.

    Parameters
    ----------
    total : int
    done : int
        Fits that were finished before.
    quiet : bool
        Show nothing.
    console : rich.console.Console, optional
        Standard error if not given. Nothing is shown where that is not a terminal.
    """

    def __init__(self, total: int, *, done: int = 0, quiet: bool = False, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._bar.add_task("fits", total=total, completed=done)
        self._done = done

    def __enter__(self) -> FitsBar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, done: int) -> None:
        """Set the number of finished fits."""
        if done != self._done:
            self._done = done
            self._bar.update(self._task, completed=done)

    def name(self, stage: str) -> None:
        """Name what is running."""
        self._bar.update(self._task, description=stage)

    def advance(self, more: int) -> None:
        """Add to the number of finished fits."""
        self.show(self._done + more)


def _title(stage: str) -> str:
    """A stage in a column of its own, after the paper's phase where it is one."""
    return f"{_PHASES.get(stage, ''):<8}  {stage:<{max(map(len, STAGES))}}"
