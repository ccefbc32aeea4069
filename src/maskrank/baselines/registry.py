"""Methods by name; a method's module is imported when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from maskrank.baselines._base import Baseline

_BOTH = ("classification", "regression")


@dataclass(frozen=True)
class BaselineEntry:
    """What is known of a method before it is imported.

    Attributes
    ----------
    path : str
        Module and class, with a colon between.
    title : str
        For tables.
    scored_by : "own", "svm" or "mlp"
        What predicts in the paper's comparisons: the method, or another model on the features it chose.
    library : str or None
        What it needs beyond the package's own requirements.
    extra : str or None
        Which of the package's extras brings that.
    gives_scores : bool
        Whether it ranks what it chooses.
    orders_once : bool
        Whether its order of the features is the same for every size.
    tasks : tuple of str
    settings : mapping
        Parameters that go with the name.
    """

    path: str
    title: str
    scored_by: Literal["own", "svm", "mlp"]
    library: str | None = None
    extra: str | None = None
    gives_scores: bool = True
    orders_once: bool = False
    tasks: tuple[str, ...] = _BOTH
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


_HERE = "maskrank.baselines"
BASELINES: dict[str, BaselineEntry] = {
    "dfs": BaselineEntry(f"{_HERE}.dfs:DFS", "DFS", "own", orders_once=True),
    "avgrad": BaselineEntry(f"{_HERE}.avgrad:AvGrad", "AvGrad", "own", "captum", "study", orders_once=True),
    "fs": BaselineEntry(f"{_HERE}.forward:ForwardSelection", "FS", "own"),
    "lasso": BaselineEntry(f"{_HERE}.lasso:Lasso", "LASSO", "mlp", orders_once=True),
    "rf": BaselineEntry(f"{_HERE}.forest:RandomForest", "RF", "own", orders_once=True),
    "rfe": BaselineEntry(f"{_HERE}.rfe:RFE", "RFE", "svm", orders_once=True),
    "bahsic": BaselineEntry(f"{_HERE}.bahsic:BAHSIC", "BAHSIC", "svm", orders_once=True),
    "mrmr": BaselineEntry(f"{_HERE}.mrmr:MRMR", "mRMR", "svm", gives_scores=False),
    "ccm": BaselineEntry(f"{_HERE}.ccm:CCM", "CCM", "svm", gives_scores=False),
    "lime": BaselineEntry(f"{_HERE}.lime:LIME", "LIME", "mlp", "lime", "study", orders_once=True),
    "san_aggr": BaselineEntry(
        f"{_HERE}.san:SAN", "SAN (AGGR)", "mlp", orders_once=True, settings={"aggregate": "aggr"}
    ),
    "san_global": BaselineEntry(
        f"{_HERE}.san:SAN", "SAN (GLOBAL)", "mlp", orders_once=True, settings={"aggregate": "global"}
    ),
    "lassonet": BaselineEntry(f"{_HERE}.lassonet:LassoNet", "LassoNet", "mlp", "lassonet", "bench"),
}


def make_baseline(
    name: str, n_features_to_select: int | float | None = None, *, random_state: Any = None, **settings: Any
) -> Baseline:
    """A method by its name, ready to fit.

    Parameters
    ----------
    name : str
        One of ``BASELINES``.
    n_features_to_select : int, float or None
        A number, a share, or None for half of the features.
    random_state : int, NumPy generator or None
    **settings
        Parameters of the method.

    Examples
    --------
    >>> from maskrank.datasets import make_ring
    >>> X, y, _ = make_ring(500, 8, random_state=0)
    >>> make_baseline("mrmr", 2).fit(X, y).get_support(indices=True)
    array([0, 1])
    """
    entry = BASELINES.get(name)
    if entry is None:
        raise ValueError(f"method {name!r} is not known; there are {', '.join(BASELINES)}")
    if entry.library and not _is_there(entry.library):
        raise ValueError(f"{entry.library} is not installed: pip install 'maskrank[{entry.extra}]' brings it")
    module, _, attribute = entry.path.partition(":")
    made: Baseline = getattr(import_module(module), attribute)(
        n_features_to_select, random_state=random_state, **{**entry.settings, **settings}
    )
    return made


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ValueError:  # a module without a specification, such as None in its place
        return False
