"""Questions people ask of a fit: is there signal, how sure is the figure, what of rare classes?

Usage: python benchmarks/questions.py SECTION [--seeds N] [--jobs 2] [--preset default] [--tag 0] [--out FILE.md]

signal-null  tables whose labels have nothing to do with the features: are the p-values uniform?
signal-real  tables with signal, fitted with ten seeds: is it found each time? [--tables glass ...]
coverage     the shown 95 % interval against the figure on 5,000 fresh rows
imbalance    1, 4 and 8 % positives: are the two features that matter first, and is ROC AUC that of the true model?
subjects     rows of one subject are near copies: the figure shown with and without groups, and on fresh subjects

Each section prints a table in Markdown and a verdict; --out appends both to a file, with the command beside them. Every
random state depends on the tag. Processes have one thread each. ``--seeds`` is the number of tables (signal-null,
imbalance, subjects), of seeds (signal-real) or of draws of each table (coverage); each section has a default. Public
tables are read from the folder in MASKRANK_DATA_DIR, or downloaded.
"""

from __future__ import annotations

import argparse

import question_figures
import question_signal
import sections

PROG = "questions.py"
SECTIONS: sections.Sections = {
    "signal-null": (question_signal.signal_null, 200),
    "signal-real": (question_signal.signal_real, 10),
    "coverage": (question_figures.coverage, 5),
    "imbalance": (question_figures.imbalance, 30),
    "subjects": (question_figures.subjects, 20),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    tables = list(question_signal.TABLES)
    own["signal-real"].add_argument("--tables", nargs="+", default=tables, choices=tables)
    tables = list(question_figures.TABLES)
    own["coverage"].add_argument("--tables", nargs="+", default=tables, choices=tables)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
