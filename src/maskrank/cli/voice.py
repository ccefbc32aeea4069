"""Messages of a command on standard error, as many as ``--quiet`` and ``--verbose`` ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from maskrank.core.recorder import Callback, Progress
from maskrank.terminal.text import one_line

if TYPE_CHECKING:
    from maskrank.tables import Table

_MOST_NAMED = 8
_MOST_COLUMNS = 40  # that are described one by one


class Voice:
    """Writes messages to standard error: warnings alone with ``--quiet``, more with ``--verbose``."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        if quiet and verbose:
            raise ValueError("--quiet and --verbose exclude each other: give one of them")
        self.quiet, self.verbose = quiet, verbose
        self._started = time.perf_counter()
        self._reading = 0.0
        self.listeners = (Stages(self.tell),) if verbose else ()  # callbacks for fits, one after the other

    def warn(self, lines: Sequence[str]) -> None:
        """Warnings about a table, also with ``--quiet``: they say what the answer is made of, and if to trust it."""
        for line in lines:
            typer.echo(f"maskrank: warning: {one_line(line)}", err=True)

    def written(self, files: Sequence[str]) -> None:
        if files and not self.quiet:
            typer.echo(f"written: {', '.join(files)}", err=True)

    def waited(self, fitting: float) -> str:
        """The time since the command began, and what of it was reading and fitting."""
        total = time.perf_counter() - self._started
        return f"{total:.1f} s, of which reading {self._reading:.1f} s and fitting {fitting:.1f} s"

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """Show that something goes on, for as long as it does."""
        from maskrank.terminal.progress_bar import ProgressBar

        if self.quiet:
            yield
            return
        with ProgressBar() as bar:
            bar.on_stage(what)
            yield

    def tell(self, line: str) -> None:
        """A line with ``--verbose`` alone."""
        if self.verbose:
            typer.echo(f"maskrank: {one_line(line)}", err=True)

    def tell_table(self, table: Table, dropped: Sequence[str], seconds: float) -> None:
        """What was read, and which columns are used."""
        self._reading = seconds
        if not self.verbose:
            return
        from maskrank.tables import describe_columns

        n, d = table.X.shape
        self.tell(f"read {n:,} rows and {d:,} features in {seconds:.1f} s; target {table.target!r}, {table.task}")
        if table.task in ("classification", "ordered"):
            self.tell(f"classes: {_counted(table.y)}")
        kinds, *each = describe_columns(table.X, most=_MOST_COLUMNS)
        for line in (f"columns: {kinds}", *each):
            self.tell(line)
        if dropped:
            self.tell(f"left out as asked: {_listed(dropped)}")
        for note in table.notes:
            self.tell(note)

    def tell_fit(self, line: dict[str, Any]) -> None:
        """One finished fit of many."""
        if "error" in line:
            self.tell(f"{_which(line)}: failed")
            return
        figure = "best_p" if "best_p" in line else "score"
        self.tell(f"{_which(line)}: {line.get('metric', figure)} {line[figure]:.4g} in {line['seconds']:.1f} s")

    def tell_model(self, model: Any) -> None:
        """How a fit ended, and its settings."""
        if not self.verbose:
            return
        for stages in self.listeners:
            stages.close()
        self.tell(_settings(model))


def failure(line: dict[str, Any]) -> str:
    """What is said of a fit that failed, or of a file of many fits that can't be written."""
    return str(line["error"]) if "file" in line else f"failed: {_which(line)}: {line['error']}"


class Stages(Callback):
    """A callback that reports each stage of a fit at its end: batches and seconds.

    Parameters
    ----------
    tell : callable
        Takes a line.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._stage, self._batches, self._before, self._since = "", 0, 0, time.perf_counter()

    def __call__(self, progress: Progress) -> None:
        self._batches = progress.batch

    def on_stage(self, stage: str) -> None:
        self.close()
        self._before = self._batches if stage == "search" else 0
        self._stage, self._batches, self._since = stage, self._before, time.perf_counter()

    def on_fact(self, fact: str) -> None:
        self._tell(fact)

    def close(self) -> None:
        """Report the last stage."""
        if self._stage:
            batches = self._batches - self._before
            done = f"{batches:,} batches, " if batches else ""
            self._tell(f"stage {self._stage}: {done}{time.perf_counter() - self._since:.1f} s")
        self._stage = ""


_KEYS = ("study", "data", "problem", "d", "method", "size", "seed", "fold")  # what tells a fit from others


def _which(line: dict[str, Any]) -> str:
    return ", ".join(f"{name} {line[name]}" for name in _KEYS if name in line)


def _settings(model: Any) -> str:
    """The settings of a fitted model."""
    from maskrank.results import flat_settings

    settings = {"preset": model.preset, "seed": model.random_state, **flat_settings(model.config_)}
    return "settings: " + " ".join(f"{name}={_compact(value)}" for name, value in settings.items())


def _compact(value: Any) -> str:
    """A setting without spaces, so that they separate settings."""
    return str(value).replace("; ", ";").replace(", ", ",").replace(" ", ":")


def _counted(labels: Any) -> str:
    import numpy as np

    values, counts = np.unique(labels, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return _listed([f"{values[i]} {counts[i]:,}" for i in order], quoted=False)


def _listed(names: Sequence[str], *, quoted: bool = True) -> str:
    shown = ", ".join(repr(name) if quoted else name for name in names[:_MOST_NAMED])
    return shown + (f", … ({len(names)} in all)" if len(names) > _MOST_NAMED else "")
