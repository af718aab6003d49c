"""How numbers and foreign text look on paper. Nothing else rounds, and nothing else truncates.

Promises: "0 %" is printed only for a true zero and "100 %" only for a true one; digits follow the
width of the interval; what was not measured says so and why; invisible characters are shown.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from judgesheet.records import Estimate, canonical_json
from judgesheet.units import unit

NOT_MEASURED = "not measured"
NOT_RECORDED = "not recorded"

_MINUS = "\N{MINUS SIGN}"
_DASH = "\N{EN DASH}"
_MOST_DECIMALS = 4
_HUGE = 1e9
# Controls, direction marks and other characters that a reader cannot see but a machine obeys.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ufffe\uffff]"
)


class Shown(NamedTuple):
    """An estimate ready for print; `why` is filled when there is no value."""

    value: str
    low: str
    high: str
    unit: str
    why: str

    @property
    def interval(self) -> str:
        """`24.1–28.5`, with "to" where a minus sign would meet the dash; "" without bounds."""
        if not (self.low and self.high):
            return ""
        dash = " to " if _MINUS in self.low + self.high else _DASH
        return f"{self.low}{dash}{self.high}"

    @property
    def with_unit(self) -> str:
        """`26.3 %`, `p = .034`, or the words for a missing value."""
        if self.why:
            return NOT_MEASURED
        symbol, _, rest = self.unit.partition(", ")
        if unit(symbol).symbol:
            sign = " " if self.value.startswith(("<", ">")) else " = "
            return f"{symbol}{sign}{self.value}{f', {rest}' if rest else ''}"
        if self.unit == "order":
            return f"order {self.value}"
        return f"{self.value}{' ' if self.unit else ''}{self.unit}"

    @property
    def sentence(self) -> str:
        """Value, unit and interval in one line."""
        if self.why:
            return f"{NOT_MEASURED}: {self.why}"
        return f"{self.with_unit} ({self.interval})" if self.interval else self.with_unit


def estimate(e: Estimate) -> Shown:
    """The estimate's value and bounds, rounded together."""
    return quantity(e.value, e.low, e.high, e.unit, e.note)


def imputed(e: Estimate) -> str:
    """`1.0–12.3`, how far lost calls could move the interval; "" where none enters the figure."""
    if e.imputed is None or e.least is None or e.most is None:
        return "" if e.imputed is None or e.low is None else "anything"
    return quantity(e.value, e.least, e.most, e.unit).interval


def quantity(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    given_in: str = "",
    note: str = "",
) -> Shown:
    """A value with its bounds in a unit; `note` says why there is none."""
    scale = unit(given_in).scale
    # Scaled first: a share of 1e308 is finite, its percentage is not.
    value, low, high = (None if one is None else finite(one * scale) for one in (value, low, high))
    name = visible(given_in, 40)
    if value is None:
        return Shown(NOT_MEASURED, "", "", name, visible(note, 600) or "no reason given")
    if given_in == "p":
        return Shown(p_value(value), "", "", "p", "")
    if given_in == "order":
        return Shown(f"{value:.0f}", "", "", "order", "")
    decimals = _decimals(value, low, high, 2 if scale > 1 else _MOST_DECIMALS)
    cells = [
        "" if part is None else _rounded(part, decimals, 100.0 if scale > 1 else None)
        for part in (value, low, high)
    ]
    return Shown(cells[0], cells[1], cells[2], "%" if scale > 1 else name, "")


def finite(value: float | None) -> float | None:
    """The number, or None where there is none to print."""
    return value if value is not None and math.isfinite(value) else None


def p_value(p: float) -> str:
    """`.034`, `<.001`, `>.999`."""
    if p < 0.001:
        return "<.001"
    if p > 0.999:
        return ">.999"
    return f"{p:.3f}".removeprefix("0") if p < 0.1 else f"{p:.2f}".removeprefix("0")


def share(part: float, whole: float) -> str:
    """`part` of `whole` in percent; "–" when there is no whole."""
    return f"{_rounded(100 * part / whole, 1, 100.0)} %" if whole else _DASH


def count(number: Any) -> str:
    """`1,920`; anything that is no number is shown as it is."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return NOT_RECORDED if number is None else visible(str(number), 60)
    if not math.isfinite(number):
        return NOT_RECORDED
    return f"{number:,.0f}".replace("-", _MINUS)


def money(usd: Any) -> str:
    """`$0.42`; "unknown" where no price is known."""
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not math.isfinite(usd):
        return "unknown"
    if usd == 0:
        return "$0"
    return "<$0.01" if usd < 0.01 else f"${usd:,.2f}"


def seconds(value: Any) -> str:
    """`0.84 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return NOT_RECORDED
    if value < 10:
        return f"{value:.2g} s" if value >= 0.001 or value == 0 else "<0.001 s"
    whole = round(value)
    if whole < 100:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def moment(text: Any) -> str:
    """`20 November 2026, 14:03 UTC` from ISO 8601; other text is shown as it is."""
    if text is None:
        return NOT_RECORDED
    parsed = parse_moment(text)
    if parsed is None:
        return visible(str(text), 60)
    return f"{_date(parsed)}, {parsed:%H:%M} {parsed.tzname() or ''}".rstrip()


def day(text: Any) -> str:
    """`20 November 2026` from ISO 8601."""
    parsed = parse_moment(text)
    return _date(parsed) if parsed else moment(text)


def parse_moment(text: Any) -> datetime | None:
    """The time in ISO 8601, or None."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def anything(value: Any, limit: int = 400) -> str:
    """Any JSON value in one line: for items of the provenance that nobody has heard of."""
    if value is None or value == "":
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}".replace("-", _MINUS)
    if isinstance(value, Mapping):
        value = ", ".join(f"{name}: {_plain(part)}" for name, part in value.items()) or "none"
    elif isinstance(value, list | tuple):
        value = ", ".join(_plain(part) for part in value) or "none"
    return visible(str(value), limit)


def visible(text: str, limit: int = 2000) -> str:
    r"""Foreign text with its invisible characters spelled out and its length bounded.

    `\u202e` becomes `[U+202E]`, NUL `[U+0000]`; line ends and tabs stay.
    """
    shown = text[:limit].replace("\r\n", "\n")
    shown = _INVISIBLE.sub(lambda match: f"[U+{ord(match[0]):04X}]", shown)
    cut = len(text) - limit
    return f"{shown} [… {cut:,} more characters]" if cut > 0 else shown


def short(text: str, limit: int) -> str:
    """Foreign text as one short line: for running heads and the inside of figures."""
    line = " ".join(visible(text, 4 * limit).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def tied(sentence: str) -> str:
    """A sentence whose numbers stay on the line of their percent sign."""
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", sentence)


def words(name: str) -> str:
    """`latency_p50_s` as `latency p50 s`: a heading made of an unknown item's name."""
    return visible(name, 60).replace("_", " ")


def _plain(part: Any) -> str:
    if isinstance(part, Mapping | list | tuple):
        return canonical_json(part)
    if isinstance(part, bool):
        return "yes" if part else "no"
    return "none" if part is None else str(part)


def _date(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"


def _decimals(value: float, low: float | None, high: float | None, most: int) -> int:
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


def _rounded(value: float, decimals: int, whole: float | None = None) -> str:
    """Round for print; what is not zero (or not `whole`) is never printed as if it were."""
    if abs(value) >= _HUGE:
        return f"{value:.3g}".replace("-", _MINUS)
    text = f"{value:,.{decimals}f}"
    step = f"{10.0**-decimals:.{decimals}f}"
    if float(text.replace(",", "")) == 0 and value != 0:
        return f"<{step}" if value > 0 else f">{_MINUS}{step}"
    if whole is not None and value < whole and float(text.replace(",", "")) >= whole:
        return f">{whole - 10.0**-decimals:.{decimals}f}"
    if value in (0, whole):
        return f"{value:.0f}"
    return text.replace("-", _MINUS)
