"""With how many digits a number is printed, on the sheet and in its sentences.

Digits follow the width of the interval; what is not zero is never printed as zero, nor what is not
the whole as the whole.
"""

import math

MINUS = "\N{MINUS SIGN}"
MOST_DECIMALS = 4
_HUGE = 1e9
"""Numbers beyond this are printed with an exponent."""


def decimals(value: float, low: float | None, high: float | None, most: int = MOST_DECIMALS) -> int:
    """Enough decimals for the half-width's first digit, and for the next one if that is below 5."""
    if low is not None and high is not None and high > low:
        # Beyond these ends nothing changes, and a width may overflow or vanish.
        half = min(max((high - low) / 2, 1 / _HUGE), _HUGE)
        exponent = math.floor(math.log10(half))
        wanted = -exponent + (1 if half / 10.0**exponent < 5 else 0)
    elif value == round(value):
        wanted = 0
    else:
        wanted = 2 - math.floor(math.log10(abs(value)))
    return min(max(wanted, 0), most)


def rounded(value: float, decimals: int, whole: float | None = None) -> str:
    """Round for print; what is not zero (or not `whole`) is never printed as if it were."""
    if abs(value) >= _HUGE:
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:,.{decimals}f}"
    printed, step = float(text.replace(",", "")), 10.0**-decimals
    if printed == 0 and value != 0:
        return f"<{step:.{decimals}f}" if value > 0 else f">{MINUS}{step:.{decimals}f}"
    if whole is not None and value < whole and printed >= whole:
        return f">{whole - step:.{decimals}f}"
    return f"{value:.0f}" if value in (0, whole) else text.replace("-", MINUS)


def percent(value: float) -> str:
    """A share, or a difference of two, as a reader says it; 0 and 100 only where exactly so."""
    if value < 0:
        return f"{MINUS}{percent(-value)}"
    if value in (0, 1) or 0.01 <= value <= 0.99 or value > 1:
        return f"{100 * value:.0f} %"
    return f"{100 * min(max(value, 0.001), 0.999):.1f} %"


def two_digits(value: float) -> str:
    """A number of which no interval is known: `0.53`, `12`, `0.0034`."""
    known = value not in (0, round(value)) and math.isfinite(value)
    return rounded(value, max(0, 1 - math.floor(math.log10(abs(value)))) if known else 0)
