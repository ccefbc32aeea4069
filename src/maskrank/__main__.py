"""The command ``maskrank``, and ``python -m maskrank``."""

from __future__ import annotations

from maskrank import interrupts


def main() -> None:
    """Run the command line; Ctrl-C and SIGTERM are answered from the start."""
    interrupts.listen()
    try:
        from maskrank.cli import app

        app()
    except BaseException:
        if not interrupts.stopping():
            raise
        interrupts.say_stopped()
        interrupts.end_process(interrupts.STOPPED)


if __name__ == "__main__":
    main()
