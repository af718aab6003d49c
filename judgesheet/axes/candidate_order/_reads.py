"""Which calls a figure of this axis reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.candidate_order._design import BASELINE, LISTING
from judgesheet.axes.candidate_order._pairs import SETS
from judgesheet.base.keys import Key

# Figures of a step of the ladder that no other step moves.
_OF_STEP = frozenset({"target_sensitivity", "target_sensitivity_decided", "wrong_rate", "tie_rate"})
_OF_CONDITION = {"dark_current": "vacuum", "filler_preference": "filler"}


def reads(key: Key, cells: Sequence[Mapping[str, Any]]) -> list[bool]:
    """The calls in the condition, kind or step that a key names, under its prompt or the usual."""
    dims = key.dims
    where: dict[str, Any] = {"prompt": dims.get("prompt", BASELINE), "listing": LISTING}
    if condition := _OF_CONDITION.get(key.name) or SETS.get(dims.get("set", "")):
        where["condition"] = condition
    elif key.name in _OF_STEP and "delta" in dims:
        where |= {"condition": "ladder", "delta": dims["delta"]}
    else:
        return [True] * len(cells)
    if "kind" in dims:
        where["kind"] = dims["kind"]
    return [all(_is(cell.get(name), told) for name, told in where.items()) for cell in cells]


def _is(value: Any, told: str) -> bool:
    """Whether a cell has what a key says; numbers as keys write them."""
    return told == "*" or (f"{value:g}" if isinstance(value, int | float) else value) == told
