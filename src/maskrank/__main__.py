"""``python -m maskrank``."""

from maskrank.cli import app

app()
