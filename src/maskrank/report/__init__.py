"""What a person sees: reports, each a self-contained HTML page."""

from maskrank.report.page import render
from maskrank.report.rankings import RankingSection, ranking_report
from maskrank.report.studies import comparison_report, study_report, sweep_report

__all__ = ["RankingSection", "comparison_report", "ranking_report", "render", "study_report", "sweep_report"]
