"""What the shipped profiles prove."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from judgesheet import axis as kit
from judgesheet import collect, ledger, measuring, planning, stats
from judgesheet import decide as deciding
from judgesheet.axes import all_axes
from judgesheet.axis import Options
from judgesheet.base.records import Datasheet, Plan
from judgesheet.decide import EXIT_CODES, PASSED, decide
from judgesheet.decide import policy as policies
from judgesheet.decide.policy import Policy
from judgesheet.planning.plan import make_plan
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.rehearsal import rehearse
from proof.runner import Result
from proof.tables import grid

STAGES = (planning, ledger, collect, measuring, deciding)
DEPENDS_ON = (*all_axes().values(), kit, stats, *STAGES)
SHEETS: Mapping[str, int] = {"quick": 30, "standard": 8}
"""By profile."""
FIRST = 1_000
"""Draws from here on."""
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
ADOPTED = "adopted"


@cache
def plan_of(profile: str) -> Plan:
    """The plan of all axes."""
    options = Options(profile=profile, reply="json")
    axes = list(all_axes().values())
    return make_plan(axes, {axis.NAME: options for axis in axes}, 0, None)


def passes(sheet: Datasheet, policy: Policy) -> bool:
    """Whether the gate lets the judge pass."""
    decision = decide(sheet, policy).decision
    return decision is not None and EXIT_CODES[decision.verdict] == PASSED


def _run(name: str, profile: str, sets: int, _rng: Rng, _truths: Truths) -> Rows:
    plan, tally, rules = plan_of(profile), Tally(), [policies.load(one) for one in POLICIES]
    keys = [limit.key for rule in rules for limit in rule.limit]
    for draw in range(sets):
        tally.next()
        sheet = rehearse(plan, name, FIRST + draw, keys)
        for policy, rule in zip(POLICIES, rules, strict=True):
            tally.add(policy, {ADOPTED: passes(sheet, rule)})
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
    }


def _rates(one: Result) -> Iterator[str]:
    return (f"{one.rows[policy].shares[ADOPTED]:.2f}" for policy in POLICIES)
