"""How many stimuli a figure takes until its interval is as short as wanted.

The calls that the figure reads are rehearsed by simulated judges on all stimuli and on half of
them. How the half-width shrinks between the two tells how many stimuli reach the target; where the
pool has as many, they are rehearsed, too.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Self

from judgesheet.axis.material import spread
from judgesheet.base.clusters import Clusters
from judgesheet.base.digits import cents, counted, thousandths
from judgesheet.base.errors import UsageError
from judgesheet.base.keys import Key
from judgesheet.base.prices import Prices, cost
from judgesheet.base.records import Call, Plan
from judgesheet.base.sanitize import one_line
from judgesheet.decide.looks import needed, of_plan
from judgesheet.forecast.rehearsal import half_widths
from judgesheet.planning.plan import tokens_in, tokens_out

SLOWEST, FASTEST = 0.4, 1.2
"""Powers of the number of stimuli with which a half-width shrinks: 1/2 for a mean, 1 for a rate of
0; what lies beyond comes from chance."""
LEAST = 4
"""Stimuli below which no interval means much."""
_TARGET = re.compile(r"(?P<key>.+?)\s*(?:±|\+-|\+/-)\s*(?P<width>[0-9.]+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and the half-width that its interval is to have, in the figure's unit."""

    key: Key
    half_width: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `KEY±0.05`, or `KEY+-0.05`; UsageError if it is neither."""
        form = _TARGET.fullmatch(text.strip())
        try:
            width = float(form["width"]) if form else 0.0
        except ValueError:
            width = 0.0
        if form is None or not width > 0:
            raise UsageError(
                f"--target {one_line(text)[:100]} is not KEY±WIDTH, such as "
                "axis.name[dim=value]±0.05"
            )
        return cls(Key.parse(form["key"]), width)


@dataclass(frozen=True, slots=True)
class Design:
    """What reaches a target for a judge such as `judge`.

    So many independent `stimuli`, of which the pool has `available`, are asked as `profile` asks
    them: each order up to `repeats` times, `orders` of them. `calls` are those that the figure
    reads. `cost` is in US dollars at most, None without prices; `half_width` is what the design is
    expected to have.
    """

    judge: str
    profile: str
    stimuli: int
    available: int
    orders: int
    repeats: int
    calls: int
    cost: float | None
    half_width: float


def designs(
    target: Target, plans: Sequence[tuple[str, Plan]], judges: Sequence[str], prices: Prices | None
) -> Iterator[Design]:
    """Per judge the design with the fewest calls of those that profiles (name, plan) ask.

    UsageError if no profile measures the figure with an interval.
    """
    for judge in judges:
        found = [one for plan in plans if (one := _design(target, *plan, judge, prices))]
        if not found:
            raise UsageError(
                f"no profile measures {target.key} with an interval: `judgesheet explain` lists "
                "the figures, and their stimuli must allow it"
            )
        yield min(found, key=lambda one: one.calls)


def _design(
    target: Target, profile: str, plan: Plan, judge: str, prices: Prices | None
) -> Design | None:
    plan = _read_by(target.key, plan)
    # Near copies make no interval shorter: what is halved, and asked for, is independent of others.
    cluster = Clusters.of(plan.provenance, target.key.axis)
    every = list(dict.fromkeys(cluster[call.stimulus] for call in plan.calls))
    all_of_them = _half_width(target.key, plan, every, judge)
    # Evenly over the pool: neighbours in a file are often alike.
    half = _half_width(target.key, plan, spread(every, ceil(len(every) / 2)), judge)
    # From no interval, or one without width, nothing tells what more stimuli would do.
    if not all_of_them or not half:
        return None
    # Twice the stimuli: the logarithm of what that does to the width is the power.
    power = min(FASTEST, max(SLOWEST, log2(half / all_of_them)))
    stimuli, width = len(every), all_of_them
    for _ in range(2):  # the second from where the first came out
        stimuli, width = _nearer(target, stimuli, width, power)
        if stimuli <= len(every):
            rehearsed = _half_width(target.key, plan, spread(every, stimuli), judge)
            width = rehearsed or width
    times = stimuli / len(every)
    read, written = (
        ceil(times * sum(map(tokens, plan.calls))) for tokens in (tokens_in, tokens_out)
    )
    return Design(
        judge=judge,
        profile=profile,
        stimuli=stimuli,
        available=len(every),
        orders=_most_orders(plan.calls),
        repeats=1 + max(call.repeat for call in plan.calls),
        calls=ceil(len(plan.calls) * times),
        cost=cost(read, written, prices),
        half_width=width,
    )


def _nearer(target: Target, stimuli: int, width: float, power: float) -> tuple[int, float]:
    """Stimuli that should reach the target, and the half-width to expect of them."""
    # Less a trifle: a width that is the target must not ask for one stimulus more.
    wanted = max(LEAST, ceil(stimuli * (width / target.half_width) ** (1 / power) - 1e-9))
    return wanted, width * (stimuli / wanted) ** power


def _read_by(key: Key, plan: Plan) -> Plan:
    """The plan of the calls that a figure reads alone."""
    mine = [call for call in of_plan(plan) if call.axis == key.axis]
    read = {call.id for call in needed(key.axis, [key], mine)}
    return replace(plan, calls=tuple(call for call in plan.calls if call.id in read))


def _half_width(key: Key, plan: Plan, clusters: Sequence[str], judge: str) -> float | None:
    """That of the figure where these clusters are asked about; None without interval."""
    asked, cluster = set(clusters), Clusters.of(plan.provenance, key.axis)
    part = replace(plan, calls=tuple(c for c in plan.calls if cluster[c.stimulus] in asked))
    return dict(half_widths(part, judge, [str(key)])).get(str(key))


def _most_orders(calls: Sequence[Call]) -> int:
    """The different orders in which the stimulus with the most of them is shown."""
    shown: dict[str, set[str]] = {}
    for call in calls:
        shown.setdefault(call.stimulus, set()).add(json.dumps(call.cell.get("order")))
    return max(map(len, shown.values()))


def as_text(target: Target, found: Sequence[Design]) -> str:
    """The designs for a reader."""
    return "\n".join(one_line(line) for one in found for line in _lines(target, one))


def _lines(target: Target, one: Design) -> Iterator[str]:
    yield f"{target.key} ± {target.half_width:g} for a judge such as {one.judge}:"
    lacking = one.stimuli - one.available
    more = f" ({one.available} are there: bring {lacking:,} more by --stimuli)"
    stimuli = counted(one.stimuli, "stimulus", "stimuli")
    times = "once" if one.repeats == 1 else f"up to {one.repeats} times"
    yield (
        f"  {stimuli}{more if lacking > 0 else ''}, each under {one.orders} orders, "
        f"{times}, as --profile {one.profile} asks"
    )
    spent = "give --prices IN,OUT for the cost"
    if one.cost is not None:
        spent = f"at most about {cents(one.cost)} US dollars"
    width = thousandths(one.half_width)
    yield f"  {counted(one.calls, 'call')} that the figure reads, {spent}; expect ± {width}"
