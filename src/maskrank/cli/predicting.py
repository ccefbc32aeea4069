"""The command ``predict``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from maskrank.cli.common import chosen_columns, polite
from maskrank.cli.options import Data, Quiet
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
    from maskrank.estimators.deployment import read_deployed
    from maskrank.files import check_writable, write_atomically
    from maskrank.predictions import predictions_csv

    if out is not None:
        check_writable(out)
    deployed = read_deployed(model)
    content = predictions_csv(deployed, chosen_columns(data, deployed.columns, Voice(quiet=quiet, verbose=False)))
    if out is None:
        sys.stdout.write(content)
    else:
        write_atomically(out, content)
