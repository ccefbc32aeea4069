"""A fit that is stopped: the estimator stays unfitted, and keeps the history and what was finished."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from maskrank.core.recorder import Callback, History
from maskrank.core.scoring import ranking as core
from maskrank.estimators.ranking import Ranking
from maskrank.estimators.stability import Stability
from maskrank.interrupts import WorkLostError

if TYPE_CHECKING:
    from maskrank.parallel.repeats import Repeats
    from maskrank.terminal.progress_bar import ProgressBar

Fit = TypeVar("Fit", bound=Callable[..., Any])


@dataclass(frozen=True)
class Finished:
    """What a fit had finished when it was stopped.

    Attributes
    ----------
    stage : str
        Where it was: "prepare", one of `maskrank.core.recorder.STAGES`, or "repeats".
    seconds : float
        Since the fit began.
    history : History
    subset : tuple of str
        m_opt, the best features of the search so far; empty before the search has any.
    ranking : Ranking or None
        Where the features are chosen and scored.
    model : fitted estimator or None
        Where only refits are missing; its ``stability_`` is that of the refits that are done, None without any.
    repeats : int
        How many refits were asked for.
    """

    stage: str
    seconds: float
    history: History
    subset: tuple[str, ...]
    ranking: Ranking | None
    model: Any
    repeats: int

    def __str__(self) -> str:
        if self.model is not None:
            done = 0 if self.model.stability_ is None else self.model.stability_.repeats
            return f"the fit and {done} of {self.repeats} refits are done"
        if self.ranking is not None:
            return "the features are chosen and scored, the predictor is not made"
        if self.subset:
            return f"the search had come to {len(self.subset)} features, which are not scored"
        return "no features are chosen yet"


class Course(Callback):
    """A callback that keeps what a fit has done so far; it may be read from another thread."""

    def __init__(self, *, verbose: Any = 0) -> None:
        self._bar: ProgressBar | None = None
        if verbose:
            from maskrank.terminal.progress_bar import ProgressBar

            self._bar = ProgressBar().__enter__()
            self._bar.on_stage("prepare")
        self._started = time.perf_counter()
        self._stage = "prepare"
        self._history = History()
        self._names: Sequence[str] = ()
        self._ranking: core.Ranking | None = None
        self._model: Any = None
        self._repeats: Repeats | None = None

    @property
    def bars(self) -> tuple[Callback, ...]:
        """The progress bar of the fit, where one is wanted, as a callback."""
        return () if self._bar is None else (self._bar,)

    def close_bar(self) -> None:
        """Take the bar away: the fit is over, or another bar is shown."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None

    def on_begin(self, history: History, names: Sequence[str]) -> None:
        self._history, self._names = history, names

    def on_stage(self, stage: str) -> None:
        self._stage = stage

    def on_ranking(self, ranking: core.Ranking) -> None:
        self._ranking = ranking

    def waits_for(self, repeats: Repeats, model: Any) -> None:
        """The estimator is fitted, and refits are awaited."""
        self._stage, self._repeats, self._model = "repeats", repeats, model

    def finished(self) -> Finished:
        """What is finished at this moment."""
        optimal = self._history.optimal
        return Finished(
            stage=self._stage,
            seconds=time.perf_counter() - self._started,
            history=self._history,
            subset=tuple(self._names[i] for i in optimal[-1][1]) if optimal else (),
            ranking=None if self._ranking is None else Ranking.of(self._ranking),
            model=self._fitted(),
            repeats=0 if self._repeats is None else len(self._repeats),
        )

    def _fitted(self) -> Any:
        """A copy of the estimator, with the stability of the refits that are done."""
        if self._model is None or self._repeats is None:
            return None
        model, found = copy.copy(self._model), list(self._repeats.found)
        del model._course
        if found:
            ranks, scores = (np.stack(parts) for parts in zip(*found, strict=True))
            model.stability_ = Stability.of(model.result_.names, ranks, scores, size=model.result_.size)
        return model


class StoppingMixin:
    """Tells a stopped estimator, which has ``history_`` and ``finished_``, from a fitted one."""

    _course: Course

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")


def unfitted_when_stopped(fit: Fit) -> Fit:
    """A ``fit`` that leaves nothing but ``history_`` and ``finished_`` when it is interrupted, and says so.

    The same holds where what computes its refits is lost.
    """

    @wraps(fit)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._course = Course(verbose=self.verbose)
        try:
            return fit(self, *args, **kwargs)
        except (KeyboardInterrupt, WorkLostError) as stop:
            self._course.close_bar()
            finished = self._course.finished()
            _unfit(self)
            self.history_, self.finished_ = finished.history, finished
            stop.add_note(
                f"maskrank: stopped in stage {finished.stage!r} after {finished.seconds:.1f} s: {finished}. "
                f"This {type(self).__name__} is not fitted; history_ and finished_ hold what there is."
            )
            raise
        finally:
            course = vars(self).pop("_course", None)
            if course is not None:
                course.close_bar()
            if hasattr(self, "result_"):
                vars(self).pop("finished_", None)  # of an earlier fit

    return run  # type: ignore[return-value]


def finished_part(model: Any) -> Finished | None:
    """What a fit has finished, while it runs or after it was stopped; None before it begins and when it is done."""
    course = vars(model).get("_course")
    finished: Finished | None = vars(model).get("finished_") if course is None else course.finished()
    return finished


def _unfit(model: Any) -> None:
    """Take away everything that a fit sets; parameters, and what scikit-learn was told of outputs and routing, stay."""
    kept = set(model.get_params(deep=False))
    for name in [name for name in vars(model) if name not in kept and not name.startswith(("_sklearn", "_metadata"))]:
        delattr(model, name)
