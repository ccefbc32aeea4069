"""Checks of values that JSON held: each raises a `SchemaError` that names the field, and says what is allowed."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], None]

LARGEST = 2**53  # of whole numbers
_DEEPEST = 12
_MOST_VALUES = 10_000_000  # in a list or an object


class SchemaError(ValueError):
    """A field of a model file that can't be what a model wrote."""


def _refuse(where: str, value: Any, needed: str) -> SchemaError:
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return SchemaError(f"{where} is {text if len(text) <= 40 else text[:39] + '…'}; {needed} is needed")


def whole(low: int = 0, high: int = LARGEST) -> Check:
    """A whole number of a range."""

    def check(value: Any, where: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise _refuse(where, value, f"a whole number from {low} to {high}")

    return check


def number(low: float = -math.inf, high: float = math.inf, *, finite: bool = True) -> Check:
    """A number of a range; where it need not be finite, it may be NaN, too."""

    def check(value: Any, where: str) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and (not finite or (abs(value) <= 1.8e308 and low <= value <= high)):
            return
        raise _refuse(where, value, f"a number from {low:g} to {high:g}" if finite else "a number")

    return check


def text(most: int = 1_000_000) -> Check:
    """A text of at most so many characters."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or len(value) > most:
            raise _refuse(where, value, f"a text of at most {most:,} characters")

    return check


def flag(value: Any, where: str) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise _refuse(where, value, "true or false")


def one_of(*known: str) -> Check:
    """One of some texts."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in known:
            raise _refuse(where, value, f"one of {', '.join(known)}")

    return check


def maybe(check: Check) -> Check:
    """The same, or nothing."""
    return lambda value, where: None if value is None else check(value, where)


def listed(check: Check, length: int | None = None) -> Check:
    """A list, perhaps of a length."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) > _MOST_VALUES or length not in (None, len(value)):
            raise _refuse(where, value, "a list" if length is None else f"a list of {length}")
        for place, entry in enumerate(value):
            check(entry, f"{where}[{place}]")

    return check_all


def mapped(check: Check) -> Check:
    """An object of any names."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _refuse(where, value, "an object")
        for name, entry in value.items():
            check(entry, f"{where}.{name}")

    return check_all


def fields(known: Mapping[str, Check], *, others: Check | None = None, optional: tuple[str, ...] = ()) -> Check:
    """An object of these names."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _refuse(where, value, "an object")
        for name, check in known.items():
            if name in value:
                check(value[name], f"{where}.{name}".lstrip("."))
            elif name not in optional:
                raise SchemaError(f"{where or 'the file'} lacks {name}")
        for name in value:
            if name not in known:
                if others is None:
                    raise SchemaError(f"{where or 'the file'} holds {name[:40]!r}, which is not known")
                others(value[name], f"{where}.{name}".lstrip("."))

    return check_all


def plain(value: Any, where: str, depth: int = 0) -> None:
    """Numbers, texts, and lists and objects of them, not too deep."""
    if depth > _DEEPEST:
        raise SchemaError(f"{where} is nested too deeply; {_DEEPEST} levels are allowed")
    if isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            plain(entry, where, depth + 1)
    elif not isinstance(value, str | int | float | bool | None):
        raise _refuse(where, value, "a number or a text")


def of_type(kind: Any) -> Check:
    """What JSON holds of a type: numbers, texts, tuples, and dataclasses of them."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return _of_union(list(typing.get_args(kind)))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        optional = [entry.name for entry in dataclasses.fields(kind) if not _is_needed(entry)]
        return fields({name: of_type(hints[name]) for name in hints}, optional=tuple(optional))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return one_of(*arguments)
    if origin in (tuple, list):
        if origin is tuple and len(arguments) == 2 and arguments[1] is not Ellipsis:
            return _pair(*map(of_type, arguments))
        return listed(of_type(arguments[0]))
    if origin is dict:
        return mapped(of_type(arguments[1]))
    return _PLAIN.get(kind, plain)


def _is_needed(entry: dataclasses.Field[Any]) -> bool:
    return entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING


def _of_union(kinds: list[Any]) -> Check:
    inner = [of_type(kind) for kind in kinds if kind is not type(None)]
    empty = type(None) in kinds

    def check(value: Any, where: str) -> None:
        if value is None and empty:
            return
        for one in inner[:-1]:
            try:
                one(value, where)
            except SchemaError:
                continue
            return
        inner[-1](value, where)

    return check


def _pair(first: Check, second: Check) -> Check:
    def check(value: Any, where: str) -> None:
        listed(plain, 2)(value, where)
        first(value[0], f"{where}[0]")
        second(value[1], f"{where}[1]")

    return check


_PLAIN: dict[Any, Check] = {
    bool: flag,
    int: whole(-LARGEST),
    float: number(finite=False),
    str: text(),
}
