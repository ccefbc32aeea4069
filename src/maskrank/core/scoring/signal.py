"""Is there any signal? A p-value made of two permutation tests, of all rows and of the predictions for held-out rows.

All rows are tested for any association of target and features before a net is trained (see `association`). That test
is exact in finite samples, whatever the table is. The validation rows are tested with the predictions for them, of nets
that did not learn from them: the total loss against that of the same predictions beside other rows. It sees whatever
nets can learn, and is not quite exact: validation rows decide at which moment of the search the features are taken, and
nets of other folds, which learned from them, have a say in which recipes are good. So it has only a small share of the
chance of a false claim: of t = min(p₁ / 0.9, p₂ / 0.1) the p-value is 1 - (1 - 0.9 t)(1 - 0.1 t), as if the two were
independent (Šidák 1967, with weights); they nearly are. `benchmarks/questions.py signal-null` measures what comes out.

Rows of one group, such as a patient's, are not exchangeable. The first test then takes means of groups, or permutes
within them; the second has a sign for each group: how likely is so large a sum of the groups' mean gains over the
constant answer, if each had either sign?
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import SignalConfig, TrainConfig
from maskrank.core.data.rows import Joined, Rows
from maskrank.core.method.tasks import Task
from maskrank.core.scoring.association import association_pvalue, rank_of_first

_APART = 0x5EED  # from the seed of the fit, so that the test changes no other draw


@dataclass(frozen=True)
class SignalTest:
    """The test of one fit: what all rows said, and what is needed to ask the predictions for the validation rows.

    Attributes
    ----------
    task : Task
    association : float or None
        The p-value of all rows.
    constant : Tensor (outputs,)
        The best constant answer, learned from them.
    y : Tensor (validation rows, ...)
    groups : Tensor (validation rows,) or None
    config : SignalConfig
    generator : torch.Generator
        Of the test alone.
    """

    task: Task
    association: float | None
    constant: Tensor
    y: Tensor
    groups: Tensor | None
    config: SignalConfig
    generator: torch.Generator

    @classmethod
    def begin(cls, task: Task, rows: Rows, validation: Rows, config: TrainConfig, seed: int) -> SignalTest:
        """Test all rows, before a large table is left."""
        generator = torch.Generator().manual_seed((seed + _APART) % 2**63)
        association = association_pvalue(
            task,
            _joined(rows, validation),
            config=config.signal,
            screening=config.proposal.screening,
            generator=generator,
        )
        constant = task.constant(rows.y, rows.weights).cpu()
        groups = None if validation.groups is None else validation.groups.cpu()
        return cls(task, association, constant, validation.y.cpu(), groups, config.signal, generator)

    def pvalue(self, outputs: Tensor, unseen: Tensor) -> float:
        """The p-value of both tests together; NaN where neither was possible.

        Parameters
        ----------
        outputs : Tensor (validation rows, outputs)
        unseen : Tensor (validation rows,) of bool
            Which rows had no part in the nets that made them.
        """
        held_out = self._of_held_out(outputs.detach().cpu().double(), unseen)
        return combined(self.association, held_out, self.config.held_out_share)

    def _of_held_out(self, outputs: Tensor, unseen: Tensor) -> float | None:
        if int(unseen.sum()) < self.config.min_rows:
            return None
        chosen = unseen.nonzero().squeeze(1)
        chosen = chosen[torch.randperm(len(chosen), generator=self.generator)[: self.config.max_held_out_rows]]
        groups = None if self.groups is None else self.groups[chosen]
        return held_out_pvalue(
            self.task,
            outputs[chosen],
            self.y[chosen],
            self.constant,
            groups=groups,
            config=self.config,
            generator=self.generator,
        )


def _joined(rows: Rows, validation: Rows) -> Rows:
    """Training and validation rows in one; the training rows alone, where the others' groups are not known."""
    if rows.groups is None:
        groups = None
    elif validation.groups is None:
        return rows
    else:
        groups = torch.cat([rows.groups, validation.groups])
    values, y = Joined(rows.values, validation.values), torch.cat([rows.y, validation.y])
    return Rows(values, y, rows.blocks, rows.n_required, groups=groups)


def combined(association: float | None, held_out: float | None, share: float) -> float:
    """The p-value of two tests, of which the second has a share of the chance of a false claim; NaN without any.

    Examples
    --------
    >>> from maskrank.core.scoring.signal import combined
    >>> combined(0.2, None, 0.1), round(combined(0.6, 0.001, 0.1), 4)
    (0.2, 0.01)
    """
    if association is None or held_out is None:
        alone = held_out if association is None else association
        return math.nan if alone is None else alone
    smaller = min(association / (1 - share), held_out / share)
    return 1 - (1 - (1 - share) * smaller) * (1 - share * smaller)


@torch.no_grad()
def held_out_pvalue(
    task: Task,
    outputs: Tensor,
    y: Tensor,
    constant: Tensor,
    *,
    groups: Tensor | None = None,
    config: SignalConfig,
    generator: torch.Generator,
) -> float | None:
    """The p-value of the null hypothesis that predictions say nothing of the rows they were made for.

    Predictions far from the constant answer are pulled in before, so that one bad answer can't hide many good ones.

    Parameters
    ----------
    outputs : Tensor (n, outputs)
        Of nets that had no part in these rows' targets.
    y : Tensor (n, ...)
    constant : Tensor (outputs,)
        The best constant answer.
    groups : Tensor (n,) of int, optional
        Then whole groups are compared; None is returned for too few of them.
    """
    away = outputs - constant
    bound = config.max_deviation * away.abs().mean(dim=0)
    outputs = constant + away.clamp(-bound, bound)
    if groups is not None:
        return _by_signs(task, outputs, y, constant, groups, config, generator)
    orders = torch.stack([torch.randperm(len(y), generator=generator) for _ in range(config.held_out_orders)])
    orders[0] = torch.arange(len(y))
    some = orders.split(max(1, config.max_held_out_values // outputs.numel()))  # type: ignore[no-untyped-call]
    losses = torch.cat([task.loss(outputs[part], y).sum(dim=1) for part in some])  # (orders,)
    return rank_of_first(_without_rounding(-losses), generator)


def _by_signs(
    task: Task,
    outputs: Tensor,
    y: Tensor,
    constant: Tensor,
    groups: Tensor,
    config: SignalConfig,
    generator: torch.Generator,
) -> float | None:
    """Random signs of the groups' mean gains over the constant answer (a randomisation test of their sum)."""
    names, member = torch.unique(groups, return_inverse=True)
    if len(names) < config.min_rows:
        return None
    without, with_features = task.loss(torch.stack([constant.expand_as(outputs), outputs]), y).double()
    sums = torch.zeros(len(names), dtype=torch.float64).index_add_(0, member, without - with_features)
    gains = sums / torch.bincount(member)
    signs = 2.0 * torch.randint(2, (config.held_out_orders, len(gains)), generator=generator).double() - 1
    signs[0] = 1.0
    return rank_of_first(_without_rounding(signs @ gains), generator)


def _without_rounding(values: Tensor) -> Tensor:
    """Values that differ by rounding alone made equal, so that they count as ties."""
    unit = 1e-9 * float(values.abs().max())
    return values if unit == 0 else (values / unit).round()
