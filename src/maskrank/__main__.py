"""The command ``maskrank``, and ``python -m maskrank``."""

from __future__ import annotations

import gc

from maskrank import interrupts

_ALLOCATIONS = 100_000  # before garbage is collected: 700 without


def main() -> None:
    """Run the command line, in a process of its own; Ctrl-C and SIGTERM are answered from the start.

    Libraries make hundreds of thousands of objects when they are imported, and hardly any garbage. To look for it as
    often as Python does by itself costs a sixth of the start.
    """
    interrupts.listen()
    gc.set_threshold(_ALLOCATIONS)
    try:
        from maskrank.cli import app

        app()
    except BaseException:
        if not interrupts.stopping():
            raise
        interrupts.say_stopped()
        interrupts.end_process(interrupts.STOPPED)
    finally:
        interrupts.ignore()


if __name__ == "__main__":
    main()
