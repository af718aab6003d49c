"""Which calls a figure of this axis reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axis.arms import balanced
from judgesheet.base.keys import Key

# Figures of the balanced arm: of its first passes, and of all its repeats.
_ONE_READ = frozenset({
    *("delta_pos", "mean_delta_pos", "max_delta_pos", "position_mean", "position_shift"),
    *("friedman_p", "pearson_r", "spearman_r", "pair_accuracy"),
})  # fmt: skip
_REPEATS = frozenset({
    *("order_change_rate", "excess_change_rate", "order_flip_rate", "excess_flip_rate"),
})  # fmt: skip


def reads(key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Those of the balanced arm, for the figures of which it is known."""
    known = key.dims.get("arm", "balanced") == "balanced" and key.name in _ONE_READ | _REPEATS
    return balanced(cells, repeats=key.name in _REPEATS) if known else [True] * len(cells)
