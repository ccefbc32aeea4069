"""The command ``predict``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from maskrank.cli.common import chosen_batches, polite
from maskrank.cli.options import Data, Quiet
from maskrank.cli.outputs import Outputs
from maskrank.cli.voice import Voice

_ROWS_AT_ONCE = 1 << 16  # whose predictions are text in memory


@polite
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write CSV to this file instead of standard output.")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Memory to use, such as 4GB; a larger table is read in parts. Default: half of the free memory.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Predict new rows with a saved model.

    The table needs the chosen columns, in any order, among any others. Every row gets a prediction; a category that
    training did not see counts as missing.

    Example: maskrank predict outcome.maskrank new_patients.csv --out predictions.csv
    """
    from maskrank.estimators.deployment import read_deployed
    from maskrank.predictions import predictions_csv
    from maskrank.tables import memory_limit

    voice = Voice(quiet=quiet, verbose=False)
    outputs = Outputs([data, model], out="-" if out is None else out)
    limit = memory_limit(memory, "--memory")
    deployed = read_deployed(model)

    def content() -> Iterator[str]:
        frames = chosen_batches(data, deployed.chosen_columns, voice, limit, _ROWS_AT_ONCE)
        return (predictions_csv(deployed, frame, named=k == 0) for k, frame in enumerate(frames))

    if data == "-":  # which can't be read again
        text = list(content())
        outputs.write("out", lambda: text, or_print=True)
    else:
        outputs.write("out", content, or_print=True)
    outputs.finish()
