"""What page one says of judges that are known."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import cycle
from typing import cast

import pandas as pd

from judgesheet import axis as kit
from judgesheet import stats
from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Options, Readings, Simulating
from judgesheet.axis.order_test import ORDER_TEST
from judgesheet.axis.simulation import Parameters
from judgesheet.base.effects import JudgedEffect
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Plan
from judgesheet.decide.effects import judged
from judgesheet.judges.simulated import PRESETS, answer_key
from judgesheet.planning.plan import make_plan
from proof.lines import COVER, REJECT, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

DEPENDS_ON = (*all_axes().values(), kit, stats)
SETS = {"quick": (60, 12, 16), "standard": (9, 2, 2)}
"""Sheets of fair judges, of biased ones, and of those whose bias sits on few stimuli."""
ANYWHERE = "any axis"
ACCUSES, MISSES, CLEARS = "accuses", "misses", "clears"
TELLS = "told, "
MOST_ACCUSED = 0.05

IDLE = (
    *("budget_r", "expected", "rater", "delta_r"),
    *("within_item_sd", "bias_cost", "selection", "min_bias", "spearman", "per_order"),
    *("delta_pos_", "kendall_tau", "error_correlation", "d_prime"),
)
"""Beginnings of figures that no effect rests on."""
ORDER = frozenset({
    *("cramers_v", "delta_pos", "place_v", "slot_gap"),
    *("excess_change_rate", "excess_flip_rate", "positional_false_preference"),
})  # fmt: skip
"""Figures of effects of the order."""


@dataclass(frozen=True)
class Known:
    """A judge: what it is, how often it slips, and the share of stimuli on which it is another.

    Where it slips it answers at random; on the planted stimuli it always takes the first place.
    Where stimuli are of several `kinds`, they are it in turn, and `judge` is not asked.
    """

    words: str
    judge: Parameters
    slips: float = 0.0
    planted: float = 0.0
    kinds: tuple[Parameters, ...] = ()


NOISY = Parameters(width=1.0, tie=3.0, sensitivity=3.0, lapse=0.02)
VERY_NOISY = Parameters(width=2.0, tie=2.0, sensitivity=2.0, lapse=0.02)
GOOD = Parameters(width=0.2)
FIRST, SLIPPING = PRESETS["position-only"], PRESETS["random"]
STRONG = Parameters(first=2.0, slot=8.0, shift=(1.0, 0.0))
WEAK = Parameters(first=0.7, slot=6.0, shift=(0.4, 0.0))


def _first(points: float) -> Parameters:
    """A judge with noise of one point that gives so many more to what is listed first."""
    return replace(NOISY, shift=(points, 0.0, 0.0, 0.0, 0.0))


FAIR = (
    Known("hardly any noise", Parameters()),
    Known("noise as at temperature 1", NOISY),
    Known("twice as much noise", VERY_NOISY),
    *(Known(f"good, {share:.0%} slips", GOOD, slips=share) for share in (0.01, 0.03, 0.05)),
)
BIASED = (
    Known("always the first place", FIRST),
    Known("prefers the first place strongly", STRONG),
    Known("prefers it strongly, with noise", replace(STRONG, width=1.0, tie=3.0, sensitivity=3.0)),
)
FEW = (
    *(
        Known(f"on {share:.0%} of stimuli, else good", GOOD, 0.01, share)
        for share in (0.05, 0.10, 0.20)
    ),
    Known("weakly on all stimuli", WEAK),
)


def _families(preference: float) -> tuple[Parameters, ...]:
    """Five kinds of stimuli, each of which prefers a place of its own."""
    places = range(5)
    return tuple(
        replace(NOISY, position=tuple(preference * (at == mine) for at in places))
        for mine in places
    )


def _halves(shift: float) -> tuple[Parameters, ...]:
    """Two kinds of stimuli that prefer opposite ends of a list of criteria."""
    return tuple(replace(NOISY, shift=(way * shift, -way * shift)) for way in (1, -1))


FIVE = "five families of stimuli with places of their own, logit 1.5"
MEDIUM = (
    ("criterion_order", Known("first place +.4 points, noise of one", _first(0.4))),
    ("criterion_order", Known("first place +.8 points on one criterion, noise of one",
                              replace(_first(0.8), weights=(1.0, 0.0, 0.0, 0.0, 0.0)))),
    ("criterion_order", Known("1.2 points from first to last place, noise of 1.2",
                              Parameters(width=1.2, shift=(0.6, -0.6)))),
    ("listwise_consensus", Known("first place +8 points of 100, noise of 15",
                                 Parameters(width=1.5, first=0.8))),
    ("candidate_order", Known("slot 1, logit 1.5, on three tasks of ten, noisy", NOISY,
                              kinds=(replace(NOISY, slot=1.5),) * 3 + (NOISY,) * 7)),
    ("score_order", Known(FIVE, NOISY, kinds=_families(1.5))),
    ("listwise_consensus", Known(FIVE, NOISY, kinds=_families(1.5))),
)  # fmt: skip
"""Judges of which a sheet of the standard profile must tell, and on which axis."""
STRONGER = (
    ("score_order", Known("first line, logit 1", replace(NOISY, first=1.0))),
    ("score_order", Known(FIVE, NOISY, kinds=_families(1.5))),
    ("candidate_order", Known("slot 1, logit 1", replace(NOISY, slot=1.0))),
    ("candidate_order", Known("slot 1 always on half the tasks", GOOD, kinds=(FIRST, GOOD))),
    ("criterion_order", Known("first place +1 point, noise of one", _first(1.0))),
    ("criterion_order", Known("half the prompts +1.6 points from first to last place, half -1.6",
                              NOISY, kinds=_halves(0.8))),
    ("listwise_consensus", Known("first place +20 points of 100, noise of 15",
                                 Parameters(width=1.5, first=2.0))),
    ("listwise_consensus", Known(FIVE, NOISY, kinds=_families(1.5))),
    ("criterion_order", Known("first place +1 point, noise of two (`sim/noisy`)",
                              replace(PRESETS["noisy"], shift=(1.0, 0.0, 0.0, 0.0, 0.0)))),
    ("listwise_consensus", Known("first place +20 points of 100, noise of 20 (`sim/noisy`)",
                                 replace(PRESETS["noisy"], first=2.0))),
)  # fmt: skip
"""Judges of which one of the quick profile must tell."""
PLANTED: Sequence[tuple[str, float, int, Sequence[tuple[str, Known]]]] = (
    ("standard", 0.8, 16, MEDIUM),
    ("quick", 0.99, 40, STRONGER),
)
"""Profile, share of sheets that must tell of each, sheets, judges."""


# -- one sheet -------------------------------------------------------------------------------------


@cache
def design(name: str, profile: str) -> tuple[Axis, Plan]:
    """The calls of an axis."""
    axis = get_axis(name)
    return axis, make_plan([axis], {name: Options(profile=profile, reply="json")}, 0)


def planted(judge: Known, plan: Plan, rng: random.Random) -> frozenset[str]:
    """The stimuli on which the judge always takes the first place."""
    names = sorted({call.stimulus for call in plan.calls})
    count = max(1, round(judge.planted * len(names))) if judge.planted else 0
    return frozenset(rng.sample(names, count))


def asked(
    judge: Known, axis: Axis, plan: Plan, first: frozenset[str], rng: random.Random
) -> pd.DataFrame:
    """One row a call, with what the judge says."""
    known, room, rows = answer_key(plan.labels), cast("Simulating", axis), []
    kinds = dict(zip(sorted({call.stimulus for call in plan.calls}), cycle(judge.kinds)))
    for call in plan.calls:
        item = str(call.cell.get("item"))

        def level(criterion: str = "", item: str = item) -> float:
            return known.get(f"{item}\n{criterion}" if criterion else item, 0.5)

        slips = rng.random() < judge.slips
        usual = kinds.get(call.stimulus, judge.judge)
        how = FIRST if call.stimulus in first else SLIPPING if slips else usual
        text = room.simulate(how, call, level, rng)
        rows.append({
            "stimulus": call.stimulus, "repeat": call.repeat, "outcome": "ok", **call.cell,
            "reply": "json",
            "value": axis.parse(text, "json", call.cell),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.assign(value=frame["value"].astype(object), cluster=frame["stimulus"])


@dataclass(frozen=True)
class Page:
    """What page one says about one axis of one judge."""

    estimates: Estimates
    effects: tuple[JudgedEffect, ...]

    @property
    def accuses(self) -> bool:
        """Whether an effect is shown."""
        return any(one.verdict == "shown" for one in self.effects)

    @property
    def clears(self) -> bool:
        """Whether an effect of the order is said to be negligible."""
        small = (one.key for one in self.effects if one.verdict == "negligible")
        return any(Key.parse(key).name in ORDER for key in small)


def effects_of(axis: Axis, estimates: Estimates) -> tuple[JudgedEffect, ...]:
    """What figures say of the effects that their axis looks for, without its controls."""
    names, figures = (axis.NAME, axis.TITLE, axis.QUESTION), tuple(estimates.values())
    return judged(AxisResult(*names, 0, 0, 0, 0, 0, figures, (), declared=axis.EFFECTS))


def read(judge: Known, name: str, profile: str, rng: random.Random) -> Page:
    """Page one of an axis in one data set."""
    axis, plan = design(name, profile)
    first = planted(judge, plan, rng)
    wanted = frozenset(one for one in axis.ESTIMATES if not one.startswith(IDLE))
    frame = asked(judge, axis, plan, first, rng)
    readings = Readings(frame, plan.labels, 1.0, rng.randrange(2**31), wanted)
    estimates = Estimates(name, axis.measure(readings))
    return Page(estimates, effects_of(axis, estimates))


def _run(judge: Known, profile: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for _ in range(sets):
        tally.next()
        seed = int(rng.integers(2**32))
        pages = {name: read(judge, name, profile, random.Random(f"{seed}/{name}"))  # noqa: S311
                 for name in all_axes()}  # fmt: skip
        for name, one in pages.items():
            tally.add(name, {ACCUSES: one.accuses, CLEARS: one.clears})
            if judge in FAIR and (test := one.estimates.of(ORDER_TEST)) is not None:
                tally.judge(test, {test.key: 0.0})
        tally.add(ANYWHERE, {ACCUSES: any(one.accuses for one in pages.values())})
    return tally.rows()


def _run_one(judge: Known, name: str, profile: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    """As `_run`, of one axis alone."""
    tally = Tally(names_axes=True)
    for _ in range(sets):
        tally.next()
        page = read(judge, name, profile, random.Random(int(rng.integers(2**32))))  # noqa: S311
        tally.add(name, {ACCUSES: page.accuses})
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every judge under every profile."""
    for profile, counts in SETS.items():
        for some, sets in zip((FAIR, BIASED, FEW), counts, strict=True):
            limits = {ACCUSES: (0.0, MOST_ACCUSED)} if some is FAIR else {}
            nulls = frozenset(f"{name}.{ORDER_TEST}" for name in all_axes() if some is FAIR)
            for judge in some:
                run = partial(_run, judge, profile)
                yield Line(judge.words, profile, sets, run, limits=limits, nulls=nulls)
    for profile, least, sets, judges in PLANTED:
        for name, judge in judges:
            run = partial(_run_one, judge, name, profile)
            yield Line(
                f"{TELLS}{name}: {judge.words}", profile, sets, run, limits={ACCUSES: (least, 1.0)}
            )


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    planted = [one for one in results if one.line.data.startswith(TELLS)]
    results = [one for one in results if one not in planted]
    sets = max(one.rows[ANYWHERE].sets[ACCUSES] for one in results)
    tables = {name: _tables(some, cells, results) for name, some, cells in TABLES}
    figures = grid(["figure", "judge", "profile", "share"], _figures(results))
    of_one = grid(PLANTED_HEAD, [_planted(one) for one in planted])
    accused = {profile: _accused(results, profile) for profile in SETS}
    facts = {"shown": of_one, "error": f"{error(0.05, sets):.3f}", "figures": figures}
    return {**tables, **accused, **facts}


def _accused(results: Sequence[Result], profile: str) -> str:
    """How many of the sheets of judges without a fault have a Problem: `11 of 360`."""
    fair = {judge.words for judge in FAIR}
    rows = [
        one.rows[ANYWHERE] for one in results if one.line.data in fair and one.line.size == profile
    ]
    accused = sum(round(row.shares[ACCUSES] * row.sets[ACCUSES]) for row in rows)
    return f"{accused} of {sum(row.sets[ACCUSES] for row in rows)}"


PLANTED_HEAD = ("axis", "judge", "profile", "sheets", "shown", "goal")


def _planted(one: Result) -> list[str]:
    name, words = one.line.data.removeprefix(TELLS).split(": ", 1)
    row, (least, _) = one.rows[name], one.line.target(name, ACCUSES)
    return [name, words, str(one.line.size), str(row.sets[ACCUSES]), _fair(one, name), f"{least}"]


def _tables(
    judges: Sequence[Known], cells: Callable[[Result, str], str], results: Sequence[Result]
) -> str:
    """A table per profile."""
    tables, names = [], [one.words for one in judges]
    for profile in SETS:
        mine = [one for one in results if one.line.size == profile and one.line.data in names]
        # An axis that is newer than the results has none yet.
        asked = [row for row in ROWS if row in mine[0].rows]
        rows = [
            [
                one.line.data,
                str(one.rows[ANYWHERE].sets[ACCUSES]),
                *(cells(one, row) for row in asked),
            ]
            for one in mine
        ]
        tables.append(grid([f"{profile} profile", "sheets", *asked], rows))
    return "\n\n".join(tables)


def _fair(one: Result, row: str) -> str:
    text = f"{one.rows[row].shares[ACCUSES]:.3f}"
    return f"**{text}**" if missed(one, row, ACCUSES) else text


def _biased(one: Result, row: str) -> str:
    shares = one.rows[row].shares
    cleared = f" ({shares[CLEARS]:.3f})" if CLEARS in shares else ""
    return f"{1 - shares[ACCUSES]:.3f}{cleared}"


def _figures(results: Sequence[Result]) -> list[list[str]]:
    return [
        [f"`{name}`", one.line.data, str(one.line.size), _cell(one, name, metric)]
        for one in results
        for name, row in one.rows.items()
        for metric in (COVER, REJECT)
        if metric in row.shares
    ]


def _cell(one: Result, row: str, metric: str) -> str:
    text = f"{one.rows[row].shares[metric]:.3f}"
    return f"**{text}**" if missed(one, row, metric) else text


ROWS = (*all_axes(), ANYWHERE)
TABLES: Sequence[tuple[str, Sequence[Known], Callable[[Result, str], str]]] = (
    ("fair", FAIR, _fair),
    ("biased", BIASED, _biased),
    ("few", FEW, _fair),
)
