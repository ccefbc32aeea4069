"""The command ``maskrank``, and ``python -m maskrank``."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

from maskrank import interrupts

_ALLOCATIONS = 100_000  # before garbage is collected: 700 without


def main() -> None:
    """Run the command line, in a process of its own; Ctrl-C and SIGTERM are answered from the start.

    Libraries make hundreds of thousands of objects when they are imported, and hardly any garbage. To look for it as
    often as Python does by itself costs a sixth of the start.
    """
    open_closed_streams()
    interrupts.listen()
    gc.set_threshold(_ALLOCATIONS)
    try:
        _require_folder()
        from maskrank.cli import app

        app()
    except BaseException as error:
        if not interrupts.stopping():
            if isinstance(error, SystemExit):
                raise
            sys.exit(_said(error))
        interrupts.say_stopped()
        interrupts.end_process(interrupts.STOPPED)
    finally:
        interrupts.ignore()
        _flush_or_drop()


def _require_folder() -> None:
    """An error where the working directory was removed: libraries can't be loaded there."""
    try:
        Path.cwd()
    except OSError as error:
        raise OSError("the folder that this was started in is no longer there: change to another one") from error


def open_closed_streams() -> None:
    """Give standard input, output and errors that the parent process closed a place of their own.

    Otherwise the next file that is opened would get their number, and what is printed would go there. To read or to
    write them is an error as before; messages are dropped.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            unusable = os.O_RDONLY if number == 1 else os.O_WRONLY
            os.open(os.devnull, unusable)  # gets the lowest number that is free, which is this one
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115


def _said(error: BaseException) -> int:
    """Print what is to be said of an error that came before or behind a command; the exit code."""
    from maskrank.cli.errors import said_of

    if isinstance(error, OSError) and error.errno == errno.EBADF:
        error = OSError(f"standard output can't be written: {error.strerror}")
    said = said_of(error)
    if said is None:
        raise error
    for line in said[0]:
        with suppress(OSError):
            sys.stderr.write(f"maskrank: {line}\n")
            sys.stderr.flush()
    return said[1]


def _flush_or_drop() -> None:
    """What could not be printed is not tried again when Python ends, which would tell of it in its own way."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
