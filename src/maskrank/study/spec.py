"""What a study is: which methods meet which data, at which sizes, and what the paper reports of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from maskrank.study.runner import Job

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """Some methods on one data set.

    Attributes
    ----------
    data : str
        A name that `maskrank.datasets.load_dataset` knows.
    sizes : tuple of int
    methods : dict of name to settings
        "dualnet" or a name of `maskrank.baselines.BASELINES`, with parameters that are not the method's own defaults.
    folds : int
    seeds : tuple of int
        Of the division into folds, of the methods, and of generated data.
    mlp : tuple of int
        Hidden sizes of the MLP that predicts from the features of LASSO, LIME and SAN.
    published_test : bool
        Whether published test rows are the test set, where there are some; else each fold is, once.
    """

    data: str
    sizes: tuple[int, ...]
    methods: Mapping[str, Settings]
    folds: int = 5
    seeds: tuple[int, ...] = (0,)
    mlp: tuple[int, ...] = (60, 30, 20)
    published_test: bool = True


@dataclass(frozen=True)
class PaperFigure:
    """A number of the paper: the accuracy or error of a method, at a size where it says one."""

    data: str
    method: str
    value: float
    spread: float | None = None
    size: int | None = None


@dataclass(frozen=True)
class Study:
    """A reproducible experiment.

    Attributes
    ----------
    name, title : str
    parts : tuple of Part
    paper : tuple of PaperFigure
    figures : tuple of str
        Which pictures are drawn, see `maskrank.study.figures`.
    quick : tuple of Part
        A smaller version of the parts, of a few minutes at most.
    keep_history : bool
        Whether the course of training is kept with each fit.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    quick: tuple[Part, ...]
    paper: tuple[PaperFigure, ...] = ()
    figures: tuple[str, ...] = field(default=())
    keep_history: bool = False

    def smaller(self) -> Study:
        """The same study with its quick parts."""
        return replace(self, parts=self.quick)

    def of(self, data: Sequence[str]) -> Study:
        """The same study on some of its data sets; ValueError where it does not have one of them."""
        has = [part.data for part in self.parts]
        if unknown := [name for name in data if name not in has]:
            raise ValueError(f"study {self.name} has no data set {unknown[0]!r}; there are {', '.join(has)}")
        return replace(self, parts=tuple(part for part in self.parts if part.data in data))

    def only(self, sizes: Sequence[int]) -> Study:
        """The same study at some of its sizes; ValueError where it has none of them."""
        parts = [replace(part, sizes=tuple(size for size in part.sizes if size in sizes)) for part in self.parts]
        if not any(part.sizes for part in parts):
            has = sorted({size for part in self.parts for size in part.sizes})
            raise ValueError(f"study {self.name} has the sizes {', '.join(map(str, has))}")
        return replace(self, parts=tuple(part for part in parts if part.sizes))

    def part(self, data: str) -> Part:
        """The part that holds a data set."""
        return next(part for part in self.parts if part.data == data)

    def jobs(self) -> list[Job]:
        """All fits. A method that predicts from all features is fitted once, whatever the sizes."""
        from maskrank.study.protocol import uses_all_features

        return [
            {"data": part.data, "method": method, "size": size, "fold": fold, "seed": seed}
            for part in self.parts
            for method in part.methods
            for size in (part.sizes[:1] if uses_all_features(method) else part.sizes)
            for seed in part.seeds
            for fold in range(part.folds)
        ]
