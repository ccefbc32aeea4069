"""The option ``--cluster`` of commands that are many fits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Annotated, Any

import typer

from maskrank.cli.voice import Voice

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Run fits on a Dask cluster: tcp://HOST:8786 for its scheduler, or local:N for N processes on this "
        "machine. One fit per worker at a time.",
    ),
]
_ONE_FIT = "one fit has only its search over the pairs of a very wide table to share; --repeats makes many fits"


def many_fits(command: Callable[..., None]) -> Callable[..., None]:
    """Run a command with its fits on the cluster that its option ``cluster`` names, if any."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        address = options.get("cluster")
        if address is None:
            command(*args, **options)
            return
        from maskrank.parallel.cluster import on_cluster

        voice = Voice(quiet=options["quiet"], verbose=options["verbose"])
        with ExitStack() as stack:
            with voice.busy("cluster"):  # processes that start, or a scheduler that is slow to answer, take seconds
                warnings = stack.enter_context(on_cluster(address, lambda line: voice.warn([line])))
            voice.warn([*warnings, *([_ONE_FIT] if options.get("repeats") == 0 else [])])
            command(*args, **options)

    return run
