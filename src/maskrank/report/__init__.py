"""Reports: self-contained HTML pages of rankings, explained rows, comparisons, sweeps and studies.

HTML, styles and scripts belong here; results as JSON and CSV are in `results`, matplotlib in `plots`.
"""

from maskrank.report.explanations import explanation_report
from maskrank.report.page import render
from maskrank.report.rankings import RankingSection, ranking_report
from maskrank.report.studies import comparison_report, study_report, sweep_report

__all__ = [
    "RankingSection",
    "comparison_report",
    "explanation_report",
    "ranking_report",
    "render",
    "study_report",
    "sweep_report",
]
