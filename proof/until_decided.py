"""What runs that stop once a policy is decided save, and whether they err more often."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from math import ceil

import numpy as np

from judgesheet import axis as kit
from judgesheet import collect, ledger, measuring, planning, stats
from judgesheet import decide as deciding
from judgesheet.axes import all_axes
from judgesheet.base.records import LEVEL, Datasheet
from judgesheet.decide import decide, looks
from judgesheet.decide import policy as policies
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.spending import Spending, nominal, obrien_fleming, pocock
from proof import rehearsal
from proof.gate import TWO_KINDS, Ints, Rates, smooth, two_kinds
from proof.lines import BREAK, MOST_FALSE, PASS, Line, Rng, Rows, Tally, Truths
from proof.profiles import JUDGES, plan_of
from proof.runner import Result, error
from proof.tables import grid, missed

STAGES = (planning, ledger, collect, measuring, deciding)
DEPENDS_ON = (*all_axes().values(), kit, stats, *STAGES)
SETS, POWER_OF, SHEETS = 200, 5, 6
"""Data sets at the limit, of which one in so many is drawn for power, too; sheets of a judge."""
DESIGNS = ((0.10, 40, 2), (0.10, 100, 4), (0.20, 40, 4), (0.15, 24, 4))
"""Limit, stimuli, calls on each: those of the shipped policies in the profile quick, and more."""
LAWS: Mapping[str, Rates] = {
    "ICC 0.0": partial(smooth, 0.0),
    "ICC 0.3": partial(smooth, 0.3),
    TWO_KINDS: two_kinds,
}
WAYS: Mapping[str, tuple[Sequence[float], Spending]] = {
    "once": ((1.0,), obrien_fleming),
    "O'Brien-Fleming": (looks.SHARES, obrien_fleming),
    "Pocock": (looks.SHARES, pocock),
    "peeking": (looks.SHARES, lambda _share, alpha: alpha),
}
"""How often is looked, and how the error is spent; peeking takes every look for the only one."""
OURS = "O'Brien-Fleming"
POLICIES = ("ranking", "scoring", "ci-regression", "order-only")
KEPT, BROKEN, USED = "kept", "broken", "used"
ADOPTED, REJECTED, BEFORE, LATER = "adopted", "rejected", "adopted once", "rejected once"
SAVED, NEEDED, CALLS = "saved", "needed", "calls"


@cache
def _looks(stimuli: int, way: str) -> tuple[tuple[int, float], ...]:
    """Stimuli and level of each look."""
    shares, spending = WAYS[way]
    sizes = sorted({ceil(share * stimuli - 1e-9) for share in shares})
    if way == "peeking" or len(sizes) == 1:
        return tuple((size, LEVEL) for size in sizes)
    tails = nominal([size / stimuli for size in sizes], 1 - LEVEL, spending)
    return tuple((size, float(1 - tail)) for size, tail in zip(sizes, tails, strict=True))


def _decided(hits: Ints, calls: int, limit: float, way: str) -> tuple[bool | None, float]:
    """Whether the limit is kept or broken at the first look that tells, and the share taken."""
    for size, level in _looks(len(hits), way):
        rate = cluster_rate(hits[:size], np.full(size, calls))
        low, high = rate.at(level).bounds or (0.0, 1.0)
        if high <= limit or low > limit:
            return high <= limit, size / len(hits)
    return None, 1.0


def _rates(
    rates: Rates, limit: float, stimuli: int, calls: int, sets: int, rng: Rng, _truths: Truths
) -> Rows:
    tally = Tally()
    for number in range(sets):
        tally.next()
        hits = rng.binomial(calls, rates(limit, stimuli, rng))
        for way in WAYS:
            kept, _ = _decided(hits, calls, limit, way)
            tally.add(way, {PASS: kept is True, BREAK: kept is False})
        if number % POWER_OF == 0:
            for name, p in ((KEPT, limit / 5), (BROKEN, 3 * limit)):
                hits = rng.binomial(calls, rates(p, stimuli, rng))
                for way in WAYS:
                    kept, used = _decided(hits, calls, limit, way)
                    tally.add(way, {name: kept is (name == KEPT)})
                    tally.note(way, **{f"{USED} {name}": used})
    return tally.rows()


def _judges(name: str, sets: int, _rng: Rng, _truths: Truths) -> Rows:
    plan, tally = plan_of("quick"), Tally()
    rules = [policies.load(one) for one in POLICIES]
    schedules = [looks.schedules(looks.of_plan(plan), rule) for rule in rules]
    for draw in range(sets):
        tally.next()
        spec = f"{name.partition('/')[2]}{'&' if '?' in name else '?'}seed={2_000 + draw}"
        frame = rehearsal.answered(plan, SimulatedJudge.from_name(spec, answer_key(plan.labels)))
        tables = rehearsal.tables_of(plan, frame)
        for policy, rule, schedule in zip(POLICIES, rules, schedules, strict=True):
            course = rehearsal.until_decided(plan, rule, schedule, frame)
            once = decide(looks.figures(tables, rule, dict.fromkeys(tables, LEVEL)), rule)
            row = {ADOPTED: _is(course.sheet, "adopt"), REJECTED: _is(course.sheet, "reject")}
            row |= {BEFORE: _is(once, "adopt"), LATER: _is(once, "reject")}
            tally.add(policy, row)
            needed = sum(len(one.until(len(one.sizes) - 1)) for one in schedule.values())
            total = len(plan.calls)
            tally.note(policy, calls=course.calls, needed=needed, saved=1 - course.calls / total)
    return tally.rows()


def _is(sheet: Datasheet, verdict: str) -> bool:
    decided = "" if sheet.decision is None else sheet.decision.verdict
    return decided == verdict or (verdict == "adopt" and decided == "conditions")


def lines() -> Iterator[Line]:
    """Judges on a limit, and judges under the shipped policies."""
    for name in JUDGES:
        yield Line(name, "quick", SHEETS, partial(_judges, name))
    for (limit, stimuli, calls), (law, rates) in product(DESIGNS, LAWS.items()):
        run = partial(_rates, rates, limit, stimuli, calls)
        size = f"{stimuli} x {calls}"
        yield Line(f"{limit:.2f} | {law}", size, SETS, run, judged=frozenset({"once", OURS}))


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    at_limit = [one for one in results if "once" in one.rows]
    sheets = [one for one in results if "once" not in one.rows]
    saved = [row.facts[SAVED] for one in sheets for row in one.rows.values()]
    by_stopping = [
        1 - row.facts[CALLS] / row.facts[NEEDED] for one in sheets for row in one.rows.values()
    ]
    most = {way: max(_most(one, way) for one in at_limit) for way in WAYS}
    head = ["limit", "tasks", "stimuli x calls"]
    ways = [f"{metric}: {way}" for metric in (PASS, BREAK) for way in WAYS]
    return {
        "sets": str(at_limit[0].rows["once"].sets[PASS]),
        "power": str(at_limit[0].rows["once"].sets[KEPT]),
        "error": f"{error(0.05, at_limit[0].rows['once'].sets[PASS]):.3f}",
        "planned": f"{len(plan_of('quick').calls):,}",
        "sheets": str(sheets[0].rows[POLICIES[0]].sets[ADOPTED]),
        "false": grid([*head, *ways], [[*_where(one), *_false(one)] for one in at_limit]),
        "used": grid(
            [*head, *(f"{what} {way}" for what in ("proven", "broken") for way in list(WAYS)[:3])],
            [[*_where(one), *_power(one)] for one in at_limit],
        ),
        "judges": grid(
            ["judge", "policy", "calls", "saved", "by stopping", "adopted", "rejected"],
            [row for one in sheets for row in _policies(one)],
        ),
        "mean": f"{np.mean(saved):.0%}",
        "stopping": f"{np.mean(by_stopping):.0%}",
        "least": f"{min(saved):.0%}",
        "greatest": f"{most[OURS]:.3f}",
        "greatest_once": f"{most['once']:.3f}",
        "greatest_pocock": f"{most['Pocock']:.3f}",
        "greatest_peeking": f"{most['peeking']:.3f}",
        "target": str(MOST_FALSE),
        "shares": ", ".join(f"{share:.0%}" for share in looks.SHARES),
        "power_ours": _mean_power(at_limit, OURS),
        "power_pocock": _mean_power(at_limit, "Pocock"),
        "power_once": _mean_power(at_limit, "once"),
    }


def _most(one: Result, way: str) -> float:
    return max(one.rows[way].shares[metric] for metric in (PASS, BREAK))


def _mean_power(results: Sequence[Result], way: str) -> str:
    shares = [one.rows[way].shares for one in results]
    return f"{np.mean([one[name] for one in shares for name in (KEPT, BROKEN)]):.2f}"


def _where(one: Result) -> list[str]:
    return [*one.line.data.split(" | "), str(one.line.size)]


def _false(one: Result) -> Iterator[str]:
    for metric, way in product((PASS, BREAK), WAYS):
        text = f"{one.rows[way].shares[metric]:.3f}"
        yield f"**{text}**" if missed(one, way, metric) else text


def _power(one: Result) -> Iterator[str]:
    for name in (KEPT, BROKEN):
        for way in list(WAYS)[:3]:
            row = one.rows[way]
            yield f"{row.shares[name]:.2f} of {row.facts[f'{USED} {name}']:.0%}"


def _policies(one: Result) -> Iterator[list[str]]:
    for policy, row in one.rows.items():
        facts, shares = row.facts, row.shares
        yield [
            f"`{one.line.data}`",
            policy,
            f"{facts[CALLS]:,.0f} of {facts[NEEDED]:,.0f}",
            f"{facts[SAVED]:.0%}",
            f"{1 - facts[CALLS] / facts[NEEDED]:.0%}",
            f"{shares[ADOPTED]:.2f} ({shares[BEFORE]:.2f})",
            f"{shares[REJECTED]:.2f} ({shares[LATER]:.2f})",
        ]
