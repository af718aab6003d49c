"""Which calls a figure of this axis reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.score_order._design import MAIN_SCALE
from judgesheet.axis.arms import balanced
from judgesheet.base.keys import Key

# Figures of the balanced arm at the main scale: of its first passes, and of all its repeats.
_ONE_READ = frozenset({
    *("position_share", "chi2", "chi2_p", "cramers_v", "cramers_v_debiased", "position_bias_p"),
    *("selection", "bias_cost", "pearson_r", "spearman_r", "single_read_r", "pair_accuracy"),
})  # fmt: skip
_REPEATS = frozenset({
    *("order_change_rate", "repeat_change_rate", "top_tie_rate"),
    *("order_flip_rate", "repeat_flip_rate", "excess_flip_rate"),
})  # fmt: skip


def reads(key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Those of the balanced arm at one scale, for the figures of which it is known."""
    elsewhere = "scale" in key.dims or key.dims.get("arm", "balanced") != "balanced"
    if elsewhere or key.name not in _ONE_READ | _REPEATS:
        return [True] * len(cells)
    scales = {cell["scale"] for cell in cells}
    main = MAIN_SCALE if MAIN_SCALE in scales else max(scales, default=0)
    mine = [cell for cell in cells if cell["scale"] == main]
    kept = iter(balanced(mine, repeats=key.name in _REPEATS))
    return [cell["scale"] == main and next(kept) for cell in cells]
