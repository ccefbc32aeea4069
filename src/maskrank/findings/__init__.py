"""The answer in one or two sentences: what was found, and how sure that is.

Every sentence is made from facts of a result, and is the same in terminal, JSON and report. Explanations of single
figures are in `notes`; nothing is printed or drawn here.
"""

from maskrank.findings.comparisons import Comparison, comparison_finding
from maskrank.findings.explanations import explanation_finding
from maskrank.findings.finding import Finding
from maskrank.findings.rankings import RankingFinding, ranking_finding
from maskrank.findings.studies import study_finding
from maskrank.findings.sweeps import sweep_finding

__all__ = [
    "Comparison",
    "Finding",
    "RankingFinding",
    "comparison_finding",
    "explanation_finding",
    "ranking_finding",
    "study_finding",
    "sweep_finding",
]
