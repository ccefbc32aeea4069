"""Standard output that may end at any moment: a reader leaves, as ``| head -1`` does, or a disk is full.

What comes after a reader has left is dropped without a word; a full disk is an `OutputError`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console

from maskrank.terminal.text import visible


class OutputError(OSError):
    """Standard output can't be written."""


class Screen(Console):
    """A console that continues when nobody reads any more."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As `rich.console.Console.print`."""
        with _writing():
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Drop the rest; rich would end the process."""
        self.quiet = True
        _drop_output()


def print_text(text: str | Iterable[str]) -> None:
    """Print text as it is, or parts of it as they come; a terminal shows what it would obey as a file holds it."""
    shown = sys.stdout.isatty()
    for part in [text] if isinstance(text, str) else text:
        if shown:
            part = "\n".join(map(visible, part.split("\n")))
        with _writing():
            sys.stdout.write(part)
            sys.stdout.flush()


def flush_output() -> None:
    """Send what was printed on its way."""
    with _writing():
        sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        raise OutputError(f"standard output can't be written: {error.strerror or error}") from error


def _drop_output() -> None:
    """Send what is still to be printed nowhere."""
    with suppress(io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
