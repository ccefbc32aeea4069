"""Options that are checked at once: by their text before a table is read, by its columns before torch is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maskrank.tables import Table

Size = int | float | str | None  # as the estimators take it
_OPTIONS = {  # parameters of the estimators
    "n_features_to_select": "--size",
    "max_features_to_select": "--max-size",
    "metric": "--metric",
    "n_repeats": "--repeats",
    "preset": "--preset",
    "random_state": "--seed",
}


def asked_size(text: str | None) -> Size:
    """The value of --size."""
    if text is None or text in ("auto", "all"):
        return text
    try:
        size = float(text) if "." in text or "e" in text or "nan" in text else int(text)
    except ValueError:
        size = 0
    if (isinstance(size, int) and size >= 1) or 0 < size < 1:
        return size
    raise ValueError(f"--size {text}: a whole number, a share between 0 and 1, auto or all is needed")


def asked_effort(text: str) -> str | float:
    """The value of --search-effort: an effort by its name, or seconds."""
    from maskrank.core.config import WideSearchConfig

    try:
        effort: str | float = float(text)
    except ValueError:
        effort = text
    try:
        WideSearchConfig().of_effort(effort)
    except ValueError:
        raise ValueError(
            f"--search-effort {text}: quick, default, thorough, or a number of seconds is needed"
        ) from None
    return effort


def asked_pixels(text: str | None) -> tuple[int, int] | None:
    """The value of --image: height and width."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)x(\d+)", text.lower())
    if match is None or not (int(match[1]) and int(match[2])):
        raise ValueError(f"--image {text}: HEIGHTxWIDTH is needed, for example 28x28")
    return int(match[1]), int(match[2])


def check_pixels(pixels: tuple[int, int] | None, table: Table) -> None:
    """Refuse an image that has not as many pixels as the table has features."""
    if pixels is not None and pixels[0] * pixels[1] != (d := len(table.names)):
        height, width = pixels
        raise ValueError(f"--image {height}x{width}: has {height * width} pixels, but the table has {d} features")


def check_fits(size: Size, max_size: int | None, *, preset: str, repeats: int) -> None:
    """Refuse what no table allows."""
    from maskrank.core.config import preset as config_of
    from maskrank.estimators.amounts import resolve_repeats

    if max_size is not None and size != "auto":
        raise ValueError(f"--max-size {max_size} goes with --size auto")
    with in_options():
        config_of(preset)
        resolve_repeats(repeats, None)


def check_size(size: Size, max_size: int | None, *, preset: str, table: Table) -> None:
    """Refuse a number of features that the table does not have; groups and required columns are counted as in a fit."""
    from maskrank.core.config import preset as config_of
    from maskrank.estimators.amounts import resolve_choice, resolve_largest_size
    from maskrank.estimators.feature_table import resolve_features

    with in_options():
        features = resolve_features(table.names, None, groups=table.groups or None, required=table.required)
        d = len(features) - len(features.required)
        if size == "auto":
            resolve_largest_size(max_size, d, config_of(preset))
        else:
            resolve_choice(size, d, lambda s, n: config_of(preset, shape=(s, n)))


def check_methods(methods: Sequence[str]) -> None:
    """Refuse methods that there are not."""
    from maskrank.study.names import check_method

    for method in methods:
        try:
            check_method(method)
        except ValueError as error:
            raise ValueError(f"--methods: {error}") from None


@contextmanager
def in_options() -> Iterator[None]:
    """Inside the block, errors of the estimators come in the words of the command line."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        for parameter, option in _OPTIONS.items():
            message = re.sub(rf"{parameter}='?([^\s':;,]+(?::\w+)?)'?", rf"{option} \1", message)
        raise ValueError(message.replace("'auto', 'all', or None for half", "auto or all")) from error
