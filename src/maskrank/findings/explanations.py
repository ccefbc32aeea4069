"""The answer of explained rows: which feature moves the predictions most, and how well the values fit them."""

from __future__ import annotations

import numpy as np

from maskrank.estimators.explanation import Explanation
from maskrank.findings.finding import Certainty, Finding, capital, certainty_of, counted, listed, named
from maskrank.terminal.text import readable

_LOOSE = 0.25  # of what is explained: where the adjustments are larger, values say less about the model


def explanation_finding(explanation: Explanation, target: str | None = None) -> Finding:
    """The answer of an explanation.

    Parameters
    ----------
    explanation : Explanation
    target : str, optional
        What is predicted.
    """
    of_rows = _sizes(explanation)  # (rows, features)
    means = of_rows.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    names, n = explanation.feature_names, len(explanation)
    what = _what(explanation, target)
    rows = "one row" if n == 1 else f"{n:,} rows"
    if not means[order[0]] > 0:
        return Finding(f"No feature moves {what}", (f"No feature moves {what} in the {rows}.",), "none")
    tied = _tied(of_rows, order)
    certainty: Certainty = "unclear" if len(tied) > 1 else "clear"
    if len(tied) == 1 and len(order) > 1 and n > 1:
        apart = of_rows[:, order[0]] - of_rows[:, order[1]]
        certainty = certainty_of(float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(n)))
    texts = [readable(float(mean)) for mean in means[order]]
    average = "" if n == 1 else " on average"
    if len(tied) > 1:
        who = listed([names[i] for i in tied]) if len(tied) < 4 else f"{capital(counted(len(tied)))} features"
        line = f"{who} move {what} by about as much, {texts[0]}{average}: they are tied over {rows}."
        title = f"{who} move {what} most"
    else:
        title = f"{named(names[order[0]])} moves {what} most"
        line = f"{title}: by {texts[0]}{average} over {rows}{_next(names, order, texts)}."
    return Finding(title, (line, *_doubts(explanation)), certainty)


def _what(explanation: Explanation, target: str | None) -> str:
    if len(explanation.output_names) == 1 and explanation.probabilities:
        return f"the {explanation.title()}" if target is None else f"the {explanation.title()} as {named(target)}"
    several = "predictions" if len(explanation.output_names) > 1 else "prediction"
    kind = "probabilities" if explanation.probabilities else several
    return f"the {kind}" if target is None else f"the {kind} of {named(target)}"


def _sizes(explanation: Explanation) -> np.ndarray:
    """What each feature moves in each row, whatever the direction; of several outputs the mean."""
    sizes = np.abs(explanation.values)
    return np.asarray(sizes if sizes.ndim == 2 else sizes.mean(axis=2))


def _tied(of_rows: np.ndarray, order: np.ndarray) -> list[int]:
    """The first feature, and those behind it by no more than the standard error of the difference over the rows."""
    n, tied = len(of_rows), [int(order[0])]
    for i in order[1:]:
        apart = of_rows[:, order[0]] - of_rows[:, i]
        error = float(apart.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
        if apart.mean() > error:
            break
        tied.append(int(i))
    return tied


def _next(names: list[str], order: np.ndarray, texts: list[str]) -> str:
    if len(order) == 1:
        return ""
    shown = [f"{named(names[i])} ({text})" for i, text in list(zip(order, texts, strict=True))[1:3]]
    return f"; {'next is' if len(shown) == 1 else 'next are'} {' and '.join(shown)}"


def _doubts(explanation: Explanation) -> list[str]:
    """Where the nets that explain differ much from those that predict."""
    explained = np.abs(explanation.predictions - explanation.base_values).mean()
    adjusted = np.abs(explanation.adjustments).mean()
    if not adjusted > _LOOSE * explained:
        return []
    return [
        f"The nets that explain differ from the predictor by {adjusted / explained:.0%} of that, so the values are "
        "approximate."
        if explained > 0
        else "The predictions are identical."
    ]
