"""``maskrank datasets``: the list, and paths of local copies."""

from __future__ import annotations

import typer

from maskrank.cli.common import console, polite
from maskrank.cli.options import DataDir

app = typer.Typer(help="List and find the paper's data sets.", no_args_is_help=True)


@app.command("list")
@polite
def datasets_list(data_dir: DataDir = None) -> None:
    """List the data sets, and which of them are on this machine.

    Example: maskrank datasets list --data-dir ~/data
    """
    from rich.table import Table as Grid

    from maskrank.datasets.catalogue import PUBLIC
    from maskrank.datasets.public import is_present

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title, justify in (("name", "left"), ("rows", "right"), ("features", "right"), ("classes", "right")):
        grid.add_column(title, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    grid.add_column("here", no_wrap=True)
    grid.add_column("about")
    for name, (classes, about, _) in _GENERATORS.items():
        grid.add_row(name, "512+1024", "10", classes, "ships", about)
    for name, entry in PUBLIC.items():
        present = "yes" if is_present(name, data_dir) else "no"
        grid.add_row(name, str(entry.rows), str(entry.features), str(entry.classes), present, entry.about)
    console().print(grid)


@app.command("path")
@polite
def datasets_path(name: str, data_dir: DataDir = None) -> None:
    """Print the path of a local copy.

    Its checksum is verified.

    Example: maskrank rank $(maskrank datasets path vowel --data-dir ~/data) --size 5
    """
    from maskrank.datasets.public import dataset_path

    if name in _GENERATORS:
        raise ValueError(f"{name} is generated, it has no file: maskrank.datasets.{_GENERATORS[name][-1]}")
    try:
        typer.echo(str(dataset_path(name, data_dir)))
    except KeyError as error:
        raise ValueError(error.args[0]) from None


_GENERATORS = {  # classes, what it is, and the function that draws it
    "xor": ("4", "exclusive or of three features, noise of variance 0.5", "make_xor"),
    "xor_variance1": ("4", "the same with noise of variance 1", "make_xor(noise_variance=1)"),
    "regression": ("-", "a nonlinear sum of four features", "make_nonlinear_regression"),
    "orange_skin": ("2", "a cloud and a shell around it, in four features", "make_orange_skin"),
}
