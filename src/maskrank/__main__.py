"""The program ``maskrank``, also ``python -m maskrank``."""

from __future__ import annotations

import gc

from maskrank.cli import app

_ALLOCATIONS = 100_000  # before garbage is collected: 700 without


def run() -> None:
    """Run the command line, in a process of its own.

    Libraries make hundreds of thousands of objects when they are imported, and hardly any garbage. To look for it as
    often as Python does by itself costs a sixth of the start.
    """
    gc.set_threshold(_ALLOCATIONS)
    app()


if __name__ == "__main__":
    run()
