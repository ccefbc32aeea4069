"""The command ``predict``."""

from __future__ import annotations

from typing import Annotated

import typer

from maskrank.cli.common import chosen_columns, polite
from maskrank.cli.options import Data, Quiet
from maskrank.cli.outputs import Outputs
from maskrank.cli.voice import Voice


@polite
def predict(
    model: Annotated[str, typer.Argument(help="A model file that rank --model wrote.")],
    data: Data,
    out: Annotated[str | None, typer.Option("--out", help="Write CSV to this file, not to standard output.")] = None,
    quiet: Quiet = False,
) -> None:
    """Predict with a model; the table needs the chosen columns, in any order, among any others.

    Every row is answered: what is missing, or was never seen before, is a gap.

    Example: maskrank predict outcome.maskrank new_patients.csv --out predictions.csv
    """
    from maskrank import load
    from maskrank.results import predictions_csv

    voice = Voice(quiet=quiet, verbose=False)
    outputs = Outputs([data, model], out="-" if out is None else out)
    fitted = load(model)
    columns = chosen_columns(data, fitted, voice)
    with voice.busy("predict"):
        content = predictions_csv(fitted, columns)
    outputs.write("out", lambda: content, or_print=True)
    outputs.finish()
