"""Docstrings as they are at run time: those of the estimators are put together from parts they share."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import griffe


class RuntimeDocstrings(griffe.Extension):
    """Reads a class's docstring from the class itself where its text has places to fill."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        if cls.docstring is not None and "{parameters}" in cls.docstring.value:
            found = getattr(import_module(cls.module.path), cls.name)
            cls.docstring.value = inspect.getdoc(found)
