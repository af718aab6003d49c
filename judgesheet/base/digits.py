"""With how many digits a number is printed: on the sheet, in its sentences and in messages.

Digits follow the width of the interval; what is not zero is never printed as zero, nor what is not
the whole as the whole.
"""

import math

from judgesheet.base.limits import MOST_DECIMALS

MINUS = "\N{MINUS SIGN}"
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
    else:  # three digits, where no interval says how many
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
    """A number without a known interval: `0.53`, `12`, `0.0034`."""
    known = value not in (0, round(value)) and math.isfinite(value)
    return rounded(value, max(0, 1 - math.floor(math.log10(abs(value)))) if known else 0)


def significant(value: float) -> str:
    """A bound, a margin or a correlation: `0.0312`, enough to tell it from a limit."""
    return f"{value:.3g}"


def apart(value: float, limit: float) -> str:
    """A bound with as many digits as tell it from its limit, three or more."""
    digits = next((n for n in range(3, 17) if float(f"{value:.{n}g}") != limit), 3)
    return f"{value:.{digits}g}"


def thousandths(value: float) -> str:
    """A half-width or a mean, one below the other: `0.031`."""
    return f"{value:.3f}"


def tenths(value: float) -> str:
    """A rate or a multiple with one decimal: `1.7`."""
    return f"{value:.1f}"


def level(share: float) -> str:
    """A level of confidence, or a share that may not lose a digit: `99.8 %`."""
    return f"{100 * share:.3g} %"


def count(number: float) -> str:
    """`1,920`."""
    return f"{number:,.0f}"


def counted(number: float, one: str, many: str = "") -> str:
    """`1 call`, `1,920 calls`; `many` where the plural is not `one` with an s."""
    return with_noun(count(number), one, many)


def with_noun(printed: str, one: str, many: str = "") -> str:
    """A printed number and what it counts: `+1 point`, `1.0 points`."""
    is_one = printed.lstrip(f"+{MINUS}") == "1"
    return f"{printed} {one if is_one else many or f'{one}s'}"


def cents(usd: float) -> str:
    """US dollars, without their sign: `0.42`."""
    return f"{usd:,.2f}"


def seconds(value: float) -> str:
    """`0.84 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    if value < 10:
        return f"{value:.2g} s" if value >= 0.001 or value == 0 else "<0.001 s"
    whole = round(value)
    if whole < 100:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
