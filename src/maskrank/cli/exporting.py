"""The command ``export``."""

from __future__ import annotations

from typing import Annotated

import typer

from maskrank.cli.common import polite
from maskrank.cli.options import Quiet
from maskrank.cli.outputs import Outputs
from maskrank.cli.voice import Voice


@polite
def export(
    model: Annotated[str, typer.Argument(help="A model file that rank --model wrote.")],
    out: Annotated[str, typer.Option("--out", help="The ONNX file to write.")],
    quiet: Quiet = False,
) -> None:
    """Write a saved model as ONNX.

    The file predicts with onnxruntime, without maskrank. It holds the scaling and the categories of the columns, and
    needs the extra onnx to be written.

    Example: maskrank export outcome.maskrank --out outcome.onnx
    """
    from maskrank.estimators.deployment import read_deployed
    from maskrank.estimators.onnx_export import write_onnx

    outputs = Outputs([model], onnx=out)
    deployed = read_deployed(model)
    outputs.save("onnx", lambda path: write_onnx(path, deployed))
    outputs.finish(Voice(quiet=quiet, verbose=False))
