"""What the shipped profiles prove, and whether a plan foretells it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from math import nan

from judgesheet import axis as kit
from judgesheet import collect, forecast, ledger, measuring, planning, stats
from judgesheet import decide as deciding
from judgesheet.axes import all_axes
from judgesheet.axis import Options, sweep_keys
from judgesheet.base.datasheet import by_key
from judgesheet.base.records import Datasheet, Estimate, Plan
from judgesheet.decide import EXIT_CODES, PASSED, decide
from judgesheet.decide import policy as policies
from judgesheet.decide.policy import Policy
from judgesheet.forecast.rehearsal import expect, rehearse
from judgesheet.planning.plan import make_plan
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.runner import Result
from proof.tables import grid

STAGES = (planning, ledger, collect, measuring, deciding, forecast)
MOVED_BY = (*all_axes().values(), kit, stats, *STAGES)
SHEETS: Mapping[str, int] = {"quick": 30, "standard": 8}
"""By profile."""
FIRST = 1_000
"""Draws from here on: other ones than those of the expected widths."""
POLICIES = ("ranking", "scoring", "ci-regression")
JUDGES: Mapping[str, str] = {
    "sim/perfect": "never errs",
    "sim/good": "2 % of calls by chance",
    "sim/good?slip=0.03": "3 % of calls by chance",
    "sim/fair": "scores waver by half a point, comparisons do not",
    "sim/noisy": "wavers everywhere",
    "sim/first-biased": "prefers the first line, and slot 1 in a comparison of twenty",
    "sim/random": "a coin",
}
NEAR = 0.15
SMALL = 0.01
ADOPTED, WIDTH, EXPECTED, KNOWN, CALLS = "adopted", "width", "expected", "known", "calls"


@cache
def plan_of(profile: str) -> Plan:
    """The plan of all axes."""
    options = Options(profile=profile, reply="json")
    axes = list(all_axes().values())
    return make_plan(axes, {axis.NAME: options for axis in axes}, 0, None)


def half_width(estimate: Estimate | None) -> float | None:
    """Half of the interval; None where there is none."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return (estimate.high - estimate.low) / 2


def passes(sheet: Datasheet, policy: Policy) -> bool:
    """Whether the gate lets the judge pass."""
    decision = decide(sheet, policy).decision
    return decision is not None and EXIT_CODES[decision.verdict] == PASSED


def _run(name: str, profile: str, sets: int, _rng: Rng, _truths: Truths) -> Rows:
    plan, tally, rules = plan_of(profile), Tally(), [policies.load(one) for one in POLICIES]
    keys = [limit.key for rule in rules for limit in rule.limit]
    keys += [key for axis in all_axes().values() for key in sweep_keys(axis)]
    expected = {one.key: one.half_width for one in expect(plan, [name])}
    for draw in range(sets):
        tally.next()
        sheet = rehearse(plan, name, FIRST + draw, keys)
        found = by_key(sheet)
        for policy, rule in zip(POLICIES, rules, strict=True):
            tally.add(policy, {ADOPTED: passes(sheet, rule)})
        for key, foretold in expected.items():
            width = half_width(found.get(key))
            tally.add(key, {KNOWN: width is not None})
            tally.note(key, width=width, expected=foretold)
    tally.note(CALLS, calls=len(plan.calls))
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every judge under every profile."""
    for profile, sheets in SHEETS.items():
        for name in JUDGES:
            yield Line(name, profile, sheets, partial(_run, name, profile))


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    sheets = {one.line.size: one.rows[POLICIES[0]].sets[ADOPTED] for one in results}
    rates = [
        [one.line.data, str(one.line.size), JUDGES[one.line.data], *_rates(one)] for one in results
    ]
    return {
        "sheets": ", ".join(f"{n} sheets per judge of {name}" for name, n in sheets.items()),
        "rates": grid(["judge", "profile", "what it is", *POLICIES], rates),
        "near": f"{NEAR:.0%}",
        "small": str(SMALL),
        "widths": "\n\n".join(_widths(profile, results) for profile in SHEETS),
    }


def _widths(profile: str, results: Sequence[Result]) -> str:
    mine = [one for one in results if one.line.size == profile]
    calls = mine[0].rows[CALLS].facts[CALLS]
    keys = [key for key, row in mine[0].rows.items() if KNOWN in row.shares]
    rows = [[f"`{key}`", *(_shown(one, key) for one in mine)] for key in keys]
    return grid([f"{profile}, {calls:,.0f} calls", *(f"`{one.line.data}`" for one in mine)], rows)


def _rates(one: Result) -> Iterator[str]:
    return (f"{one.rows[policy].shares[ADOPTED]:.2f}" for policy in POLICIES)


def _shown(one: Result, key: str) -> str:
    """What came, and what was expected as a multiple of it."""
    row = one.rows[key]
    expected = row.facts.get(EXPECTED, 0.0)
    if row.shares[KNOWN] <= 1 / 2:
        return "–" if expected <= SMALL else f"**–, expected {expected:.3f}**"
    came = row.facts.get(WIDTH, nan)
    text = f"{came:.3f} ({expected / came:.2f})"
    off = abs(expected - came)
    return f"**{text}**" if off > NEAR * came and off > SMALL else text
