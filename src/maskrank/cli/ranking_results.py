"""What ``rank`` shows and writes: of a fit that is done, or of one that was stopped."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

from maskrank.cli.common import table_facts, typed_command
from maskrank.cli.questions import HELD_OUT, given_target, row_arguments
from maskrank.estimators.reading import remember_file
from maskrank.estimators.stopping import Finished, finished_part
from maskrank.findings import ranking_finding
from maskrank.notes import notes
from maskrank.results import facts, ranking_csv, ranking_json, stopped_csv, stopped_json
from maskrank.tables.roles import roles_document, said_of_rows
from maskrank.terminal.ranking import show_answer, show_facts, show_note, show_ranking, show_stability
from maskrank.terminal.text import short
from maskrank.units import score_note

if TYPE_CHECKING:
    from rich.console import Console

    from maskrank.cli.outputs import Outputs
    from maskrank.cli.voice import Voice
    from maskrank.estimators.base import DualNetBase
    from maskrank.tables import Table


class RankingResults:
    """The results of one fit.

    Parameters
    ----------
    data : str
        Where the table was read from.
    table : Table
    model : estimator
        To be fitted, from now on.
    outputs : Outputs
    voice : Voice
    image_shape : (height, width), optional
    """

    def __init__(
        self,
        data: str,
        table: Table,
        model: DualNetBase,
        outputs: Outputs,
        voice: Voice,
        *,
        image_shape: tuple[int, int] | None = None,
    ) -> None:
        self._data, self._table, self._model = data, table, model
        self._outputs, self._voice, self._image_shape = outputs, voice, image_shape
        self._question = roles_document(table.roles, table.target)
        self._asked = f"the time to {table.roles.event}" if table.roles.is_survival else table.target
        self._started = time.perf_counter()
        self._seconds: float | None = None  # what the fit took, when it is done

    def finish(self) -> None:
        """Show and write the results of the fit, which is done."""
        self._seconds = time.perf_counter() - self._started
        self._voice.tell_model(self._model)
        self._give(self._model, self._seconds)

    def leave(self) -> str:
        """Show and write what there is, and say what is finished; the fit may be done or not."""
        finished = finished_part(self._model)
        if finished is None:
            if not hasattr(self._model, "result_"):
                return ""
            self._give(self._model, self._seconds or time.perf_counter() - self._started, in_haste=True)
            return "the fit is done"
        if finished.model is not None:
            self._give(finished.model, finished.seconds, stopped=str(finished), in_haste=True)
        else:
            self._give_part(finished)
        return str(finished)

    def _give(self, model: DualNetBase, seconds: float, *, stopped: str = "", in_haste: bool = False) -> None:
        """Everything of a fitted model; in haste without what takes another fit."""
        outputs, complete = self._outputs, not stopped
        remember_file(model, date_orders=self._table.date_orders, targets=self._table.roles.targets)
        summary = self._summary(model, seconds, stopped)
        outputs.show(lambda screen: _show(screen, model, summary, self._asked))
        outputs.write("json", lambda: self._json(model, seconds, complete=complete))
        outputs.write("csv", lambda: ranking_csv(model.result_, complete=complete))
        outputs.save("model", model.save)
        outputs.write("report", lambda: self._page(model, summary, seconds, complete=complete, in_haste=in_haste))

    def _json(self, model: DualNetBase, seconds: float, *, complete: bool) -> str:
        return ranking_json(model, seconds=seconds, question=self._question, complete=complete, target=self._asked)

    def _give_part(self, finished: Finished) -> None:
        """A ranking without figures, or features without scores, or nothing."""
        outputs, ranking = self._outputs, finished.ranking
        if ranking is not None:
            outputs.show(lambda screen: show_ranking(screen, ranking))
        elif finished.subset:
            names = ", ".join(map(short, finished.subset))
            outputs.show(lambda screen: screen.print(f"best features so far, not scored: {names}", markup=False))
        if ranking is not None or finished.subset:
            task = self._table.task
            outputs.write("json", lambda: stopped_json(finished, task=task, question=self._question))
            outputs.write("csv", lambda: stopped_csv(finished))
        for kind in ("json", "csv", "model", "report"):
            outputs.leave_out(kind, "the fit is not done")

    def _summary(self, model: DualNetBase, seconds: float, stopped: str) -> list[tuple[str, str]]:
        table = self._table
        return [
            *table_facts(self._data, table),
            *said_of_rows(table.roles, table.rows, HELD_OUT),
            *facts(model, time=self._voice.waited(seconds)),
            *([("complete", f"no, it was stopped: {stopped}")] if stopped else []),
        ]

    def _page(
        self, model: DualNetBase, summary: list[tuple[str, str]], seconds: float, *, complete: bool, in_haste: bool
    ) -> str:
        with nullcontext() if in_haste else self._voice.busy("report"):
            return self._made_page(model, summary, seconds, complete=complete, in_haste=in_haste)

    def _made_page(
        self, model: DualNetBase, summary: list[tuple[str, str]], seconds: float, *, complete: bool, in_haste: bool
    ) -> str:
        from maskrank.estimators.all_features import all_features_figures
        from maskrank.report import RankingSection, ranking_report

        table = self._table
        known = table.rows.order is None and not model.support_.all() and not in_haste  # which rows were held out
        section = RankingSection(
            f"Target: {table.target}",
            model,
            summary,
            seconds,
            table.X,
            table.y,
            all_features=all_features_figures(model, table.X, given_target(table), **row_arguments(table))
            if known
            else None,
            image_shape=self._image_shape,
            question=self._question,
            complete=complete,
            target=self._asked,
            row_by_row=not in_haste,
        )
        title = ranking_finding(model, self._asked).title
        return ranking_report(title, [section], command=typed_command())


def _show(screen: Console, model: DualNetBase, summary: list[tuple[str, str]], target: str) -> None:
    """One screen: the answer, the ranking and how to read it, and the facts."""
    show_answer(screen, ranking_finding(model, target))
    show_ranking(screen, model.result_, model.stability_)
    show_note(screen, score_note(model.result_), style="dim")
    for about, note in notes(model).items():
        show_note(screen, f"{about}: {note}")
    if model.stability_ is not None:
        show_stability(screen, model.stability_)
    screen.print()
    show_facts(
        screen, [fact for fact in summary if fact[0] != "chosen" or model.result_.n_required]
    )  # the answer says it
