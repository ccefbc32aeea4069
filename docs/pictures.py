"""The pictures of the documentation, each drawn once for light pages and once for dark ones.

What a picture needs is imported where it is drawn: whoever only asks which pictures there are has an answer at once.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import drawings
from schemes import BLACK, BLUE, SCHEMES, Scheme, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Found = dict[str, Any]  # what a snippet left


@dataclass(frozen=True)
class Picture:
    """A picture of what a snippet computed.

    Attributes
    ----------
    of : str
        The snippet.
    size : (float, float)
        In inches.
    paint : callable
        Takes the figure, the scheme, and the names that the snippet left.
    """

    of: str
    size: tuple[float, float]
    paint: Callable[[Figure, Scheme, Found], None]

    def files(self, title: str) -> list[str]:
        return [f"{title}-{scheme}.svg" for scheme in SCHEMES]

    def draw(self, title: str, found: Found, folder: Path) -> None:
        import matplotlib

        from maskrank.study.figures import new_figure

        for file, scheme in zip(self.files(title), SCHEMES.values(), strict=True):
            with matplotlib.rc_context(style(scheme, title)):
                figure = new_figure(*self.size)
                self.paint(figure, scheme, found)
                drawn = io.StringIO()
                figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
            text = drawn.getvalue().replace(BLACK, scheme.ink).replace(BLUE, scheme.first)
            (folder / file).write_text(text, encoding="utf-8")


PICTURES = {
    "explain_beeswarm": Picture("explain", (6.4, 3.0), drawings.beeswarm),
    "explain_waterfall": Picture("explain", (6.4, 3.0), drawings.waterfall),
    "gallery_demand": Picture("gallery_demand", (6.4, 2.8), drawings.demand),
    "gallery_digits": Picture("gallery_digits", (6.4, 3.4), drawings.digit_map),
    "gallery_groups": Picture("gallery_groups", (6.4, 2.4), drawings.ranking),
    "gallery_needles": Picture("gallery_needles", (6.4, 3.0), drawings.pair),
    "gallery_nothing": Picture("gallery_nothing", (6.4, 2.8), drawings.lasso_and_shares),
    "gallery_rare": Picture("gallery_rare", (6.4, 3.0), drawings.precision_recall),
    "gallery_redundant": Picture("gallery_redundant", (6.0, 4.2), drawings.correlation),
    "gallery_survival": Picture("gallery_survival", (6.4, 3.0), drawings.survival_curves),
    "images_map": Picture("images", (6.4, 2.5), drawings.importance_map),
    "needles": Picture("gallery_needles", (6.4, 3.2), drawings.needles),
    "penguins_explain": Picture("penguins", (6.4, 2.4), drawings.beeswarm),
    "penguins_history": Picture("penguins", (6.4, 3.6), drawings.history),
    "penguins_ranking": Picture("penguins", (6.4, 2.8), drawings.all_ranked),
    "size_of_fit": Picture("size", (6.4, 3.2), drawings.size_of_fit),
    "size_sweep": Picture("size", (6.4, 3.2), drawings.size_sweep),
}
