"""How findings say numbers, for every axis."""

import math

from judgesheet.records import Estimate


def percent(value: float) -> str:
    """A share, or a difference of two, as a reader says it; 0 and 100 only where exactly so."""
    if value < 0:
        return f"\N{MINUS SIGN}{percent(-value)}"
    if value in (0, 1) or 0.01 <= value <= 0.99:
        return f"{100 * value:.0f} %"
    return f"{100 * min(max(value, 0.001), 0.999):.1f} %"


_NUMBERS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def one_in(value: float) -> str:
    """A share as people say it aloud: `one in nine`; "" where that would mislead."""
    times = round(1 / value) if value > 0 else 0
    near = 2 <= times < len(_NUMBERS) and abs(1 / times - value) <= 0.1 * value
    return f"one in {_NUMBERS[times]}" if near else ""


def interval(estimate: Estimate) -> str:
    """The interval of a share in words."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"95 % interval {percent(estimate.low)} to {percent(estimate.high)}"


def at_most(value: float) -> str:
    """An upper bound of a share, rounded up: a limit must not be understated."""
    return percent(min(1.0, max(0.0, math.ceil(100 * value) / 100)))
