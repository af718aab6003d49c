"""How numbers and foreign text look on paper. Nothing else rounds, and nothing else truncates.

Promises: "0 %" is printed only for a true zero and "100 %" only for a true one; digits follow the
width of the interval; what was not measured says so and why; invisible characters are shown.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from judgesheet.base import digits
from judgesheet.base.digits import MINUS, decimals, rounded, with_noun
from judgesheet.base.facts import RunFacts
from judgesheet.base.limits import MOST_DECIMALS
from judgesheet.base.records import (
    LEVEL,
    STATUS_WORDS,
    Datasheet,
    Decision,
    Estimate,
    Verdict,
    canonical_json,
)
from judgesheet.base.sanitize import spelled
from judgesheet.base.units import Unit, unit

NOT_MEASURED = "not measured"
NOT_RECORDED = "not recorded"

SIGNS = {"max": "\N{LESS-THAN OR EQUAL TO} ", "min": "\N{GREATER-THAN OR EQUAL TO} ", "": ""}
"""Before a limit or a bound, by its kind."""
ENDS = {"max": "at most", "min": "at least", "": ""}
"""The same as words."""


def sign(verdict: Verdict) -> str:
    """What stands before the limit of a verdict: `≤ `, or `Δ ≤ ` where it is about a change."""
    return f"{'Δ ' if verdict.against_baseline else ''}{SIGNS[verdict.kind]}"


_DASH = "\N{EN DASH}"


class PrintedNumber(NamedTuple):
    """An estimate ready for print; `why` says what is missing where it is not `measured`."""

    value: str
    low: str
    high: str
    unit: str
    given_in: Unit
    measured: bool = True
    why: str = ""
    df: int | None = None

    @property
    def percent(self) -> bool:
        """Whether its numbers are in percent."""
        return self.measured and self.given_in.percent

    @property
    def interval(self) -> str:
        """`24.1–28.5`, with "to" where another sign would meet the dash; "" without bounds."""
        if not (self.low and self.high):
            return ""
        dash = " to " if {MINUS, "<", ">"} & {*self.low, *self.high} else _DASH
        return f"{self.low}{dash}{self.high}"

    @property
    def bare(self) -> str:
        """`26.3 %`, `0.11`, or the words for a missing value, where a head names the unit."""
        return self._with(self.given_in.sign) if self.percent else self.value

    @property
    def in_table(self) -> str:
        """The same with its interval."""
        return f"{self.bare} ({self.interval})" if self.interval else self.bare

    @property
    def number(self) -> str:
        """`26.3 %`, `.034`, or the words for a missing value; without a symbol."""
        if not self.measured:
            return self.value
        if self.given_in.kind == "name":
            return f"{self.unit} {self.value}"
        if self.given_in.symbol:
            return self.value if self.df is None else f"{self.value}, {self.df} df"
        return self._with(self.unit) if self.unit else self.value

    def _with(self, unit: str) -> str:
        return with_noun(self.value, self.given_in.one or unit, unit)

    @property
    def with_unit(self) -> str:
        """`26.3 %`, `p = .034`, or the words for a missing value."""
        if not (self.measured and self.given_in.symbol):
            return self.number
        bounded = self.number.startswith(("<", ">"))
        return f"{self.given_in.name}{' ' if bounded else ' = '}{self.number}"

    @property
    def with_interval(self) -> str:
        """Number and interval, for where a label names the symbol."""
        return f"{self.number} ({self.interval})" if self.interval else self.number

    @property
    def sentence(self) -> str:
        """Value, unit and interval in one line."""
        if not self.measured:
            return f"{NOT_MEASURED}: {self.why}"
        return f"{self.with_unit} ({self.interval})" if self.interval else self.with_unit


def estimate(e: Estimate) -> PrintedNumber:
    """The estimate's value and bounds, rounded together."""
    shown, df = quantity(e.value, e.low, e.high, e.unit, e.note), e.given.get("df")
    return shown._replace(df=df) if isinstance(df, int) else shown


def confidence(estimates: Iterable[Estimate]) -> str:
    """The level of their intervals: `95 %`, or `95 to 99.8 %` where they have several."""
    # A sheet without any interval speaks of the usual level.
    levels = {e.level for e in estimates if e.low is not None and finite(e.level)} or {LEVEL}
    ends = dict.fromkeys(f"{100 * level:.3g}" for level in (min(levels), max(levels)))
    return f"{' to '.join(ends)} %"


def looks(run: RunFacts) -> str:
    """How far a run went that stops once a policy is decided, and what that saved; "" for others.

    In one sentence: the looks, the calls that were asked and that the design has, and per axis the
    stimuli and the level at which its intervals hold whenever the run stops.
    """
    plan = run.looks
    if plan is None:
        return ""
    parts = (
        f"{visible(axis.axis, 60)} {digits.level(axis.level)} "
        f"({count(axis.stimuli)} of {count(axis.stimuli_planned)} stimuli)"
        for axis in plan.axes
    )
    return (
        f"{looked(run)}; {count(plan.calls)} of {count(plan.planned)} planned calls asked, a limit "
        f"reads {count(plan.needed)} of those planned; intervals hold whenever it stops, at "
        f"{', '.join(parts)}"
    )


ROLES = {
    "fail": "Furthest beyond its limit",
    "invalid": "First that is not usable",
    "inconclusive": "Limit not proven",
    "pass": "Closest to its limit",
    "": "Decided by",
}
"""What the limiting figure is, by what of it decided."""


def limits(decision: Decision) -> str:
    """`Limits that must be kept: 3 kept, 1 not usable. Limits that need not be: 2 not proven.`"""
    kinds = {
        "Limits that must be kept": decision.required,
        # Not "that only warn": one of them that is broken rejects the judge.
        "Limits that need not be": decision.warning,
    }
    lines = {
        name: ", ".join(
            f"{counts[status]} {word}"
            for status, word in STATUS_WORDS.items()
            if counts.get(status)
        )
        for name, counts in kinds.items()
    }
    return " ".join(f"{name}: {words}." for name, words in lines.items() if words)


def looked(run: RunFacts) -> str:
    """`stopped after look 3 of 5`, of a run that stops once a policy is decided; "" of others."""
    if run.looks is None:
        return ""
    did = "stopped after" if run.looks.ended else "at"
    return f"{did} look {count(run.looks.look)} of {count(run.looks.of)}"


def unit_of(e: Estimate) -> str:
    """The unit in words: `chi-square, 4 df`."""
    return f"{e.unit}, {e.given['df']} df" if "df" in e.given else e.unit


def imputed(e: Estimate) -> str:
    """`1.0–12.3`, how far lost calls could move the interval; "" where none enters the figure."""
    if e.imputed is None or e.least is None or e.most is None:
        return "" if e.imputed is None or e.low is None else "anything"
    return quantity(e.value, e.least, e.most, e.unit).interval


def ceiling(e: Estimate) -> str:
    """`at most 88.9 % possible`, what the design lets the figure be; "" where that is its scale."""
    if finite(e.ceiling) is None:
        return ""
    return f"at most {quantity(e.ceiling, e.low, e.high, e.unit).number} possible"


def quantity(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    given_in: str = "",
    note: str = "",
    apart: tuple[float | None, float | None] = (None, None),
) -> PrintedNumber:
    """A value with its bounds in a unit; `note` says why there is none.

    A bound and its limit that are `apart` do not read as equal.
    """
    of = unit(given_in)
    # Scaled first: a share of 1e308 is finite, its percentage is not.
    value, low, high, *two = (n and finite(n * of.scale) for n in (value, low, high, *apart))
    name = visible(given_in, 40)
    if value is None:
        why = visible(note, 600) or "no reason given"
        return PrintedNumber(NOT_MEASURED, "", "", name, of, measured=False, why=why)
    if of.kind != "quantity":
        text = p_value(value) if of.kind == "p-value" else f"{value:.0f}"
        return PrintedNumber(text, "", "", name, of)
    most = 2 if of.percent else MOST_DECIMALS
    places = decimals(value, low, high, most)
    # What is not zero has a further digit rather than none: −0.4, not ">−1".
    if value:
        shows = (n for n in range(places, most + 1) if float(f"{value:.{n}f}"))
        places = next(shows, places)
    if None not in two and two[0] != two[1]:
        tells = (n for n in range(places, 17) if f"{two[0]:.{n}f}" != f"{two[1]:.{n}f}")
        places = next(tells, places)
    whole = of.scale if of.percent else None
    text, lowest, highest = (
        "" if n is None else rounded(n, places, whole) for n in (value, low, high)
    )
    return PrintedNumber(text, lowest, highest, of.sign if of.percent else name, of)


def number(value: float, given_in: Unit | None = None) -> str:
    """A number that was set rather than measured, such as a limit: `0.15`, `10 %`."""
    scale = given_in.scale if given_in else 1.0
    sign = f" {given_in.sign}" if given_in and given_in.percent else ""
    return f"{value * scale:g}{sign}".replace("-", MINUS)


def limit(verdict: Verdict, of: Estimate) -> str:
    """`≤ 10 %`, the limit of a rule; "" where it has none."""
    if verdict.limit is None:
        return ""
    return f"{sign(verdict)}{number(verdict.limit, unit(of.unit))}"


def bound(verdict: Verdict, of: Estimate) -> str:
    """`≤ 5.6 %`, the one-sided bound that decided; "" where none did."""
    side, shown = deciding(verdict, of)
    return f"{SIGNS[side]}{shown.bare}" if side else ""


def deciding(verdict: Verdict, of: Estimate) -> tuple[Literal["max", "min", ""], PrintedNumber]:
    """The one-sided bound that decided: what it says, the most or the least; "" where none did."""
    apart = verdict.bound, verdict.limit
    shown = quantity(verdict.bound, of.low, of.high, of.unit, apart=apart)
    return side(verdict) if shown.measured else "", shown


def bounding(bound: float | None, of: Estimate) -> tuple[Literal["max", "min", ""], PrintedNumber]:
    """A bound of a figure without a limit, and what it says; "" where it is the value itself."""
    shown = quantity(bound, of.low, of.high, of.unit)
    if bound is None or of.value is None or bound == of.value:
        return "", shown
    return "max" if bound > of.value else "min", shown


def side(verdict: Verdict) -> Literal["max", "min"]:
    """Whether the bound that decided is an upper or a lower one.

    What may break a limit is looked at with the other bound than what keeps it, however it came
    out: it may be one of many, or not usable.
    """
    bound, observed = verdict.bound, verdict.observed
    if bound is None or observed is None or bound == observed:
        return "max" if (verdict.kind == "max") != (verdict.status == "fail") else "min"
    return "max" if bound > observed else "min"


def two_digits(value: float, given_in: Unit) -> str:
    """A number in a table whose column names the unit."""
    return number(float(f"{value * given_in.scale:.2g}"))


def brief(text: str) -> str:
    """A number where room is short."""
    return re.sub(r"percentage points?\b", "% points", text)


def signed(value: float) -> str:
    """`+0.12`, `−0.30`, `0.00`: a deviation in a drawing."""
    text = f"{value:+.2f}".replace("-", MINUS)
    return text if float(f"{value:.2f}") else "0.00"  # no direction that its digits do not show


def size(e: Estimate) -> str:
    """`360 (12)`: calls or items, and their stimuli; `1 of 72 (12)` of a small rate."""
    clusters = f" ({count(e.clusters)})" if e.clusters else ""
    return f"{e.counted or count(e.n)}{clusters}" if e.n else ""


def finite(value: Any) -> float | None:
    """The number that a JSON value is, or None if it cannot be printed."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def p_value(p: float) -> str:
    """`.034`, `<.001`, `>.999`."""
    # As the APA prints them: never 0 or 1, more decimals where they decide.
    if not 0.001 <= p <= 0.999:
        return "<.001" if p < 0.5 else ">.999"
    return f"{p:.{3 if p < 0.1 else 2}f}".removeprefix("0")


def share(part: float, whole: float) -> str:
    """`part` of `whole` in percent; "–" when there is no whole."""
    return f"{rounded(100 * part / whole, 1, 100.0)} %" if whole else _DASH


def first_readings(known: Mapping[str, Any]) -> str:
    """`12 of 400 unreadable (3 %)`: what was lost of first replies before any was asked again."""
    unreadable, replies = known["unreadable"], known["replies"]
    return f"{count(unreadable)} of {count(replies)} unreadable ({share(unreadable, replies)})"


def stimuli(number: Any, independent: Any) -> str:
    """`24`, or `24 (2 independent)` where some are copies of others."""
    return (
        count(number)
        if number == independent
        else f"{count(number)} ({count(independent)} independent)"
    )


def count(number: Any) -> str:
    """`1,920`; anything else is shown as it is."""
    real = finite(number)
    if real is None:
        missing = number is None or isinstance(number, float)
        return NOT_RECORDED if missing else visible(str(number), 60)
    return digits.count(real).replace("-", MINUS)


def cost(run: RunFacts) -> str:
    """`$0.42`; `at least $0.42, …` where the cost of some attempts is unknown."""
    usd, unmetered = run.cost_usd, run.unmetered_attempts
    if not unmetered or not finite(usd):
        return money(usd)
    attempts = "1 attempt has" if unmetered == 1 else f"{count(unmetered)} attempts have"
    return f"at least {money(usd)}: {attempts} no token count"


def money(usd: Any) -> str:
    """`$0.42`; "unknown" where no price is known."""
    real = finite(usd)
    if real is None:
        return "unknown"
    return "$0" if real == 0 else "<$0.01" if real < 0.01 else f"${digits.cents(real)}"


def seconds(value: Any) -> str:
    """`0.84 s`, `42 s`, `3 min 5 s`, `2 h 10 min`."""
    real = finite(value)
    return NOT_RECORDED if real is None else digits.seconds(real)


def moment(text: Any) -> str:
    """`20 November 2026, 14:03 UTC` from ISO 8601; other text is shown as it is."""
    parsed = parse_moment(text)
    if parsed is None:
        return NOT_RECORDED if text is None else visible(str(text), 60)
    return f"{day(text)}, {parsed:%H:%M} {parsed.tzname() or ''}".rstrip()


def day(text: Any) -> str:
    """`20 November 2026` from ISO 8601."""
    parsed = parse_moment(text)
    return f"{parsed.day} {parsed:%B %Y}" if parsed else moment(text)


def parse_moment(text: Any) -> datetime | None:
    """The time in ISO 8601, or None."""
    try:
        parsed = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    # At the ends of the calendar no time zone can be reckoned with, and nothing was measured.
    return parsed if 1970 <= parsed.year < 9999 else None


def anything(value: Any, limit: int = 400) -> str:
    """Any JSON value in one line, for items of the provenance that this version does not know."""
    if value is None or value == "":
        return NOT_RECORDED
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        value = ", ".join(f"{name}: {_plain(part)}" for name, part in value.items()) or "none"
    elif isinstance(value, list | tuple):
        value = ", ".join(map(_plain, value)) or "none"
    return visible(_plain(value), limit)


def judge(sheet: Datasheet) -> str:
    """What the judge is called."""
    return visible(sheet.judge.model or "unnamed judge", 120)


def visible(text: str, limit: int = 2000) -> str:
    r"""Foreign text with its invisible characters spelled out and its length bounded.

    `\u202e` becomes `[U+202E]`, NUL `[U+0000]`; line ends and tabs stay.
    """
    # Cut first: a sign that is spelled out is eight times as long.
    shown = spelled(text[:limit].replace("\r\n", "\n"))
    cut = len(text) - limit
    return f"{shown} [… {cut:,} more characters]" if cut > 0 else shown


def short(text: str, limit: int) -> str:
    """Foreign text as one short line: for running heads and the inside of figures."""
    line = " ".join(visible(text, 4 * limit).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def no_break(sentence: str) -> str:
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
