"""Studies, and the methods that they and ``compare`` can run, by name. Nothing here needs torch or scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

from maskrank.baselines import BASELINES

OURS = "dualnet"
STUDIES = ("synthetic", "mnist", "selection", "enhancer", "wide", "behaviour")  # of the paper


def methods() -> tuple[str, ...]:
    """Every method that a study, or ``compare``, can run."""
    return (OURS, *BASELINES)


def check_study(name: str) -> None:
    """Raise a ValueError that names the studies there are."""
    if name not in (*STUDIES, "needles", "all"):
        raise ValueError(f"study {name!r} is not known; there are needles, {', '.join(STUDIES)}, and all")


def check_method(method: str) -> None:
    """Raise a ValueError that names the methods there are."""
    name, _, judge = method.partition("+")
    if name not in methods() or judge not in ("", "svm", "mlp") or (name == OURS and judge):
        raise ValueError(f"method {method!r} is not known; there are {', '.join(methods())}, and NAME+svm, NAME+mlp")


def check_sizes(sizes: Sequence[int], d: int, name: str = "size") -> None:
    """Raise a ValueError where a size leaves nothing to choose of d features; ``name`` is what messages call it."""
    for size in sizes:
        if not 1 <= size < d:
            raise ValueError(f"{name} {size} must lie in 1..{d - 1}: the table has {d} features")
