"""Studies, and the methods that they and ``compare`` can run, by name. Nothing here needs torch or scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

from maskrank.baselines import BASELINES

OURS = "dualnet"
STUDIES = ("synthetic", "mnist", "selection", "enhancer", "wide", "behaviour")  # of the paper
FURTHER_STUDIES = ("needles", "learners")  # by the protocols of others
JUDGES = ("svm", "mlp", "nn", "trees")  # that predict from the features of a method


def methods() -> tuple[str, ...]:
    """Every method that a study, or ``compare``, can run."""
    return (OURS, *BASELINES)


def check_study(name: str) -> None:
    """Raise a ValueError that names the studies there are."""
    if name not in (*STUDIES, *FURTHER_STUDIES, "all"):
        known = ", ".join((*FURTHER_STUDIES, *STUDIES))
        raise ValueError(f"study {name!r} is not known; there are {known}, and all")


def check_method(method: str) -> None:
    """Raise a ValueError that names the methods there are."""
    name, plus, judge = method.partition("+")
    if name not in methods() or (plus and judge not in JUDGES):
        judged = ", ".join(f"NAME+{judge}" for judge in JUDGES)
        raise ValueError(f"method {method!r} is not known; there are {', '.join(methods())}, and {judged}")


def check_sizes(sizes: Sequence[int], d: int, name: str = "size") -> None:
    """Raise a ValueError where a size leaves nothing to choose of d features; ``name`` is what messages call it."""
    for size in sizes:
        if not 1 <= size < d:
            raise ValueError(f"{name} {size} must lie in 1..{d - 1}: the table has {d} features")
