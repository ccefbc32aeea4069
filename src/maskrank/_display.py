"""How a fitted estimator shows itself: as a table, in a notebook, as pictures."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
from sklearn.utils.validation import check_is_fitted


class DisplayMixin:
    """``to_frame``."""

    def to_frame(self) -> Any:
        """The ranking as a table, best first: rank, feature, importance, raw_score, selected.

        A polars frame after a fit on polars, else a pandas one.
        """
        check_is_fitted(self)
        order = self.result_.order
        columns = {
            "rank": self.ranking_[order],
            "feature": [self.result_.names[i] for i in order],
            "importance": self.feature_importances_[order],
            "raw_score": self.raw_scores_[order],
            "selected": self.support_[order],
        }
        return nw.from_dict(columns, backend=self._frame_kind).to_native()
