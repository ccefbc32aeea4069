"""What a command prints and writes: the result is shown first, then each file is written by itself.

A file that can't be written is named, and the others are still written. ``-`` and ``/dev/stdout`` are standard
output; what people read then goes to standard error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from maskrank.cli.common import console, say
from maskrank.cli.errors import said_of

if TYPE_CHECKING:
    from rich.console import Console

    from maskrank.cli.voice import Voice

_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_BINARY = {"model": "--model", "onnx": "--out"}  # outputs that are no text, and their options


class Outputs:
    """The outputs that a command was asked for, checked before the work begins.

    Parameters
    ----------
    read : list of str
        Files that the command reads, which no output may fall on.
    paths : dict of str to (str or None)
        The path of each output by its kind, such as "json"; None where it was not asked for.
    """

    def __init__(self, read: list[str], **paths: str | None) -> None:
        from maskrank.files import check_distinct, check_writable

        self._paths = {kind: path for kind, path in paths.items() if path is not None}
        printed = [path for path in self._paths.values() if path in _STANDARD_OUTPUT]
        if len(printed) > 1:
            raise ValueError(f"{' and '.join(printed)}: only one output can go to standard output")
        for kind, option in _BINARY.items():
            if (path := self._paths.get(kind)) in _STANDARD_OUTPUT:
                raise ValueError(f"{option} {path}: a model needs a file of its own")
        files = [path for path in self._paths.values() if path not in _STANDARD_OUTPUT]
        for path in files:
            check_writable(path)
        check_distinct(read, files)
        self._to_stdout = bool(printed)
        self._shown = False
        self._done: list[str] = []
        self._written: list[str] = []
        self._problems: list[str] = []

    def wants(self, kind: str) -> bool:
        """Whether an output was asked for, and is not there yet."""
        return kind in self._paths and kind not in self._done

    def show(self, show: Callable[[Console], None]) -> None:
        """Print what people read, once."""
        if not self._shown:
            self._printing(lambda: show(console(stderr=self._to_stdout)))
            self._shown = True  # a stop in the middle shows it again

    def write(self, kind: str, content: Callable[[], str | Iterable[str]], *, or_print: bool = False) -> None:
        """Write an output that was asked for, whole or part by part.

        With ``or_print`` the content is made again and printed where its file can't be written.
        """
        from maskrank.files import write_atomically
        from maskrank.terminal.standard_output import print_text

        if not self.wants(kind):
            return
        path = self._paths[kind]
        if path in _STANDARD_OUTPUT:
            self._done.append(kind)  # half of it twice would be worse than half of it
            self._printing(lambda: print_text(content()))
        else:
            try:
                made = content()
            except Exception as error:
                self._not_made(kind, error)
                return
            self._file(kind, lambda: write_atomically(path, made))
            if or_print and path not in self._written:
                self._printing(lambda: print_text(content()))

    def save(self, kind: str, save: Callable[[str], None]) -> None:
        """Have an output that was asked for written by a function of its path."""
        if self.wants(kind):
            self._file(kind, lambda: save(self._paths[kind]))

    def leave_out(self, kind: str, reason: str) -> None:
        """Say that an output that was asked for is not written."""
        if self.wants(kind):
            self._done.append(kind)
            say(f"{self._paths[kind]} is not written: {reason}")

    @contextmanager
    def checkpoints(self) -> Iterator[None]:
        """Inside the block, a checkpoint that can't be written is reported at the end, like a file."""
        from maskrank.estimators.checkpoints import CheckpointWarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, CheckpointWarning):
                before(message, category, *place, **more)
            elif str(message) not in self._problems:
                self._problems.append(str(message))

        with warnings.catch_warnings():
            before = warnings.showwarning
            warnings.simplefilter("always", CheckpointWarning)
            warnings.showwarning = show
            yield

    def finish(self, voice: Voice | None = None) -> None:
        """Tell what was written, where there is a voice, and end with exit code 1 where something could not be."""
        if voice is not None:
            voice.written(self._written)
        for line in self._problems:
            say(line)
        if self._problems:
            raise typer.Exit(1)

    def _not_made(self, kind: str, error: Exception) -> None:
        """What was shown is there: the other outputs are still written."""
        said = said_of(error)
        if said is None or not self._shown:
            raise error
        self._problems += [f"{self._paths[kind]} is not written: {line}" for line in said[0]]
        self._done.append(kind)

    def _file(self, kind: str, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self._problems.append(str(error))
        else:
            self._written.append(self._paths[kind])
        self._done.append(kind)  # a stop in the middle writes it again

    def _printing(self, show: Callable[[], None]) -> None:
        from maskrank.terminal.standard_output import OutputError, flush_output

        try:
            show()
            flush_output()
        except OutputError as error:
            self._problems.append(str(error))
