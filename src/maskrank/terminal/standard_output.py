"""Standard output whose reader may leave at any moment, as ``| head -1`` does: the rest is dropped without a word."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from rich.console import Console


class Screen(Console):
    """A console that goes on when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Drop the rest; rich would end the process."""
        self.quiet = True
        drop_output()


def print_text(text: str) -> None:
    """Print text as it is; the rest is dropped where nobody reads any more."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        drop_output()
    flush_output()


def flush_output() -> None:
    """Send what was printed on its way; it is dropped where nobody reads any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Send what is still to be printed nowhere."""
    with suppress(io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
