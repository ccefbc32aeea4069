"""An HTML page in one file, with its style, script and data inside; it loads nothing from the network."""

from __future__ import annotations

import base64
import gzip
import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import jinja2

import maskrank
from maskrank.findings.finding import capital


def render(template: str, **values: Any) -> str:
    """A template of the package as HTML text; everything in ``values`` is escaped where it is shown."""
    environment = _environment()
    style, script = (_source(environment, name) for name in ("style.css", "report.js"))
    return environment.get_template(template).render(versions=_versions(), style=style, script=script, **values)


def drawn(template: str, **values: Any) -> str:
    """A picture of the package as SVG text; everything in ``values`` is escaped."""
    return _environment().get_template(template).render(version=maskrank.__version__, **values)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("maskrank.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["signed"] = _signed
    environment.filters["longest"] = _longest
    environment.filters["capital"] = capital
    environment.filters["together"] = _together
    return environment


def packed(text: str) -> str:
    """Text as the page's script unpacks it: compressed, and in letters that mean nothing to HTML."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def data_address(content: bytes, kind: str) -> str:
    """A file inside the page, as the address of an image."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _signed(value: float, digits: int) -> str:
    """With its sign, in typographic form; no sign where nothing is left after rounding."""
    text = f"{abs(value):.{digits}f}"
    return text if float(text) == 0 else ("−" if value < 0 else "+") + text


def _together(text: str) -> str:
    """With the numbers, their errors and their units on one line."""
    return text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0±\u00a0")


def _longest(rows: Sequence[Any], key: str | int) -> int:
    """How many characters the longest name of a table has; the column is made as wide, within limits."""
    return max((len(str(row[key])) for row in rows), default=0)


def _source(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _versions() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "scikit-learn", "numpy"))
    return f"maskrank {maskrank.__version__}, {libraries}, Python {platform.python_version()}"
