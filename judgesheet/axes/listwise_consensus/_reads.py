"""Which calls a figure of this axis reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.listwise_consensus._design import DIRECT, PERMUTED, REPEATED
from judgesheet.base.keys import Key

# Figures of one reading under each order.
_ORDERS = frozenset({"win_share", "order_agreement", "position_bias_p"})


def reads(key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
    """The direct reading, and where the key names no other arm one under each order."""
    arm = key.dims.get("arm", PERMUTED if key.name in _ORDERS else "")
    if arm == DIRECT:
        return [cell["arm"] == DIRECT for cell in cells]
    if arm == PERMUTED and "executions" not in key.dims:
        return [cell["arm"] != REPEATED and cell["repeat"] == 0 for cell in cells]
    return [True] * len(cells)
