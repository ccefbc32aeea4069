"""Wrong options and arguments are said in one line, as all errors are, and not as a page of usage."""

from __future__ import annotations

import re
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from maskrank.cli.common import say

_PLAIN = {  # what the parser says of a value: what is needed
    r"Input should be a valid integer\b.*": "a whole number is needed",
    r"Input should be a valid number\b.*": "a number is needed",
    r"Input should be greater than or equal to (\S+)": r"at least \1 is needed",
    r"Input should be less than or equal to (\S+)": r"at most \1 is needed",
}
_UsageError: Any = typer.BadParameter.__mro__[1]  # of the library that parses, which typer brings along or imports


class OneLineErrors(TyperGroup):
    """A command line whose usage errors have one line and exit code 2."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command and end the process."""
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except _UsageError as error:
            if "\n" in str(error):  # the help of a command that was given nothing
                error.show()
            else:
                say(_said(error))
            code = error.exit_code
        except typer.Abort:
            code = 1
        sys.exit(code)


def _said(error: Any) -> str:
    """What is wrong, and where the options are explained."""
    line = re.sub(r"^Invalid value for '(.+?)': ", r"\1: ", error.format_message().removesuffix("."))
    for said, plain in _PLAIN.items():
        line = re.sub(said, plain, line)
    if line[1:2].islower():
        line = line[0].lower() + line[1:]
    return line if error.ctx is None else f"{line}; see '{error.ctx.command_path} --help'"
