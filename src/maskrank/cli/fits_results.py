"""What ``compare`` and ``sweep`` show and write: of all fits, or of those that were done when they were stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

import maskrank
from maskrank.cli.common import table_facts, typed_command
from maskrank.findings import Comparison, Finding, comparison_finding, sweep_finding
from maskrank.results import as_json, frame_csv
from maskrank.size_choice import smallest_size
from maskrank.study.folds import described_folds, sampled
from maskrank.study.own_table import comparison_rows, sweep_rows, timed_out
from maskrank.study.protocol import uses_all_features
from maskrank.study.runner import Job, Result
from maskrank.terminal.ranking import show_answer, show_table

if TYPE_CHECKING:
    from rich.console import Console

    from maskrank.cli.outputs import Outputs
    from maskrank.cli.voice import Voice
    from maskrank.tables import Table

_KEY = ("method", "size", "fold")


class FitsResults:
    """Fits as they arrive, and their table, files and report at the end.

    Parameters
    ----------
    data : str
        Where the table was read from.
    table : Table
    jobs : list of dict
        The fits that there are to be, in order.
    folds : int
    outputs : Outputs
    voice : Voice
    """

    def __init__(
        self, data: str, table: Table, jobs: Sequence[Job], folds: int, outputs: Outputs, voice: Voice
    ) -> None:
        self._data, self._table, self._folds = data, table, folds
        self._outputs, self._voice = outputs, voice
        self._places = {_key(job): place for place, job in enumerate(jobs)}
        self._lines: list[Result] = []

    def told(self, line: Result) -> None:
        """A fit is done, or has failed."""
        self._lines.append(line)
        self._voice.tell_fit(line)

    @property
    def failed(self) -> list[Result]:
        """Fits that failed, in the order of the jobs."""
        return [line for line in self._ordered() if "error" in line]

    def finish(self, fits: pd.DataFrame, failed: Sequence[Result]) -> None:
        """Show and write all fits, which `compare_methods` returned; a checkpoint's full disk is none of them."""
        self._lines = [*fits.to_dict("records"), *(line for line in failed if "file" not in line)]
        self._give()

    def leave(self) -> str:
        """Show and write the fits that are done, and say how many these are."""
        self._give()
        return f"{len(self._fits())} of {len(self._places)} fits are done"

    def _give(self) -> None:
        fits, late, outputs = self._fits(), [line for line in self.failed if timed_out(line)], self._outputs
        if not len(fits) and not late:
            for kind in ("json", "csv", "report"):
                outputs.leave_out(kind, "no fit is done")
            return
        outputs.show(lambda screen: self._show(screen, fits))
        outputs.write("json", lambda: self._json(fits))
        outputs.write("csv", lambda: self._csv(fits, late))
        if len(fits):
            outputs.write("report", lambda: self._page(fits, self._facts(late), self._csv(fits, late)))
        outputs.leave_out("report", "no fit is done")

    def _ordered(self) -> list[Result]:
        return sorted(self._lines, key=lambda line: self._places[_key(line)])

    def _fits(self) -> pd.DataFrame:
        return pd.DataFrame([line for line in self._ordered() if "error" not in line])

    @property
    def _complete(self) -> bool:
        """Whether every fit has come to an end, if only to a bad one."""
        return len(self._lines) == len(self._places)

    def _json(self, fits: pd.DataFrame) -> str:
        finding, table = self._finding(fits) if len(fits) else None, self._table
        errors = [{**{name: line[name] for name in _KEY}, "error": line["error"]} for line in self.failed]
        return as_json(
            {
                "version": maskrank.__version__,
                "complete": self._complete,
                **({"answer": finding.answer, "certainty": finding.certainty} if finding is not None else {}),
                "task": table.task,
                "folds": self._folds,
                **({} if table.others is None else {"sample": {"rows": len(table.X), "of": table.n_rows}}),
                **self._found(fits),
                "fits": fits.drop(columns=["scores"], errors="ignore").to_dict("records"),
                "failed": errors,
            }
        )

    def _csv(self, fits: pd.DataFrame, late: Sequence[Result]) -> str:
        """All fits; a column tells of those that took too long, another one of a run that was stopped."""
        frame = pd.concat([fits, pd.DataFrame(late)]) if late else fits
        frame = frame.drop(columns=["scores"], errors="ignore")
        return frame_csv(frame if self._complete else frame.assign(complete=False))

    def _facts(self, late: Sequence[Result]) -> list[tuple[str, str]]:
        """What a report says of the data and of the run."""
        stopped = f"no, it was stopped: {len(self._lines)} of {len(self._places)} fits are done"
        return [
            *table_facts(self._data, self._table),
            *(("sample", line) for line in sampled(self._table)),
            ("folds", described_folds(self._table, self._folds)),
            *(("ended", f"{line['method']}, fold {line['fold'] + 1}: {line['error']}") for line in late),
            *([] if self._complete else [("complete", stopped)]),
        ]

    def _show(self, screen: Console, fits: pd.DataFrame) -> None:
        """The answer, and the table that it is read from."""
        if len(fits):
            show_answer(screen, self._finding(fits))
        self._show_table(screen, fits)

    def _finding(self, fits: pd.DataFrame) -> Finding:
        """The answer of some fits."""
        raise NotImplementedError

    def _show_table(self, screen: Console, fits: pd.DataFrame) -> None:
        raise NotImplementedError

    def _found(self, fits: pd.DataFrame) -> dict[str, Any]:
        """What the JSON says beside the fits."""
        return {}

    def _page(self, fits: pd.DataFrame, facts: list[tuple[str, str]], csv: str) -> str:
        raise NotImplementedError


class ComparisonResults(FitsResults):
    """Several methods at one size."""

    def _finding(self, fits: pd.DataFrame) -> Comparison:
        expected = Counter(method for method, *_ in self._places)
        return comparison_finding(
            fits, self._table.target, expected=expected, of_all=set(filter(uses_all_features, expected))
        )

    def _show_table(self, screen: Console, fits: pd.DataFrame) -> None:
        show_table(screen, *comparison_rows(fits, self._table.names, folds=self._folds, failed=self.failed))

    def _page(self, fits: pd.DataFrame, facts: list[tuple[str, str]], csv: str) -> str:
        from maskrank.report import comparison_report

        facts = [*facts, ("size", f"{fits['size'].iloc[0]} features")]
        found = self._finding(fits)
        return comparison_report(found, fits, self._table.names, facts, command=typed_command(), csv=csv)


class SweepResults(FitsResults):
    """One method at several sizes."""

    def _finding(self, fits: pd.DataFrame) -> Finding:
        d = len(self._table.names)
        return sweep_finding(fits, self._table.target, d, complete=len(fits) == len(self._places))

    def _show_table(self, screen: Console, fits: pd.DataFrame) -> None:
        show_table(screen, *sweep_rows(fits, folds=None if self._complete else self._folds))

    def _found(self, fits: pd.DataFrame) -> dict[str, Any]:
        return {"enough": smallest_size(fits) if self._complete else None}

    def _page(self, fits: pd.DataFrame, facts: list[tuple[str, str]], csv: str) -> str:
        from maskrank.report import sweep_report

        return sweep_report(self._finding(fits), fits, smallest_size(fits), facts, command=typed_command(), csv=csv)


def _key(line: Result) -> tuple[Any, ...]:
    return tuple(line[name] for name in _KEY)
