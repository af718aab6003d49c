"""Numbers in messages, plans and reasons: how many digits a reader needs of each kind.

The sheet itself rounds by the width of an interval (`spine.render.show`).
"""


def digits(value: float) -> str:
    """A bound, a margin or a correlation: `0.0312`, enough to tell it from a limit."""
    return f"{value:.3g}"


def thousandths(value: float) -> str:
    """A half-width or a mean, one below the other: `0.031`."""
    return f"{value:.3f}"


def tenths(value: float) -> str:
    """A rate or a multiple, of which no reader needs more: `1.7`."""
    return f"{value:.1f}"


def percent(share: float) -> str:
    """A share or a level of confidence: `99.8 %`."""
    return f"{100 * share:.3g} %"


def count(number: float) -> str:
    """`1,920`."""
    return f"{number:,.0f}"


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
