"""What page one says of judges that are known."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import cast

import pandas as pd

from judgesheet import axis as kit
from judgesheet import stats
from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Options, Readings, Simulating, unequal
from judgesheet.axis.simulation import Parameters
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Plan, Statement
from judgesheet.judges.simulated import PRESETS, answer_key
from judgesheet.planning.plan import make_plan
from proof.lines import COVER, REJECT, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

MOVED_BY = (*all_axes().values(), kit, stats)
SETS = {"quick": (150, 30, 40), "standard": (12, 4, 6)}
"""Sheets of fair judges, of biased ones, and of those whose bias sits on few stimuli."""
ANYWHERE = "any axis"
ACCUSES, MISSES, CLEARS = "accuses", "misses", "clears"
EXACTLY, OTHERWISE = "names exactly", "names others"
MOST_ACCUSED = 0.05

IDLE = (
    *("budget_r", "budget_agreement", "averaging_gain", "expected", "rater", "delta_r"),
    *("within_item_sd", "bias_cost", "selection", "min_bias", "spearman", "per_order"),
    *("delta_pos_", "kendall_tau", "subset_agreement", "error_correlation", "d_prime"),
    "calls_for",
)
"""Beginnings of figures that no sentence about a problem rests on."""
ORDER = frozenset({
    *("cramers_v", "position_bias_p", "max_delta_pos", "win_share", "excess_flip_rate"),
    *("order_flip_rate", "order_change_rate", "order_inconsistent"),
})  # fmt: skip
"""Figures that a sentence rests on which clears a judge of an effect of the order."""


@dataclass(frozen=True)
class Known:
    """A judge: what it is, how often it slips, and the share of stimuli on which it is another.

    Where it slips it answers at random; on the planted stimuli it always takes the first place.
    """

    words: str
    judge: Parameters
    slips: float = 0.0
    planted: float = 0.0


NOISY = Parameters(width=1.0, tie=3.0, sensitivity=3.0, lapse=0.02)
VERY_NOISY = Parameters(width=2.0, tie=2.0, sensitivity=2.0, lapse=0.02)
GOOD = Parameters(width=0.2)
FIRST, SLIPPING = PRESETS["position-only"], PRESETS["random"]
STRONG = Parameters(first=2.0, slot=8.0, shift=(1.0, 0.0))
WEAK = Parameters(first=0.7, slot=6.0, shift=(0.4, 0.0))

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
    for call in plan.calls:
        item = str(call.cell.get("item"))

        def level(criterion: str = "", item: str = item) -> float:
            return known.get(f"{item}\n{criterion}" if criterion else item, 0.5)

        slips = rng.random() < judge.slips
        how = FIRST if call.stimulus in first else SLIPPING if slips else judge.judge
        text = room.simulate(how, call, level, rng)
        rows.append({
            "stimulus": call.stimulus, "repeat": call.repeat, "outcome": "ok", **call.cell,
            "value": axis.parse(text, "json", call.cell),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.assign(value=frame["value"].astype(object), cluster=frame["stimulus"])


@dataclass(frozen=True)
class Page:
    """What page one says about one axis of one judge."""

    estimates: Estimates
    findings: tuple[Statement, ...]
    planted: frozenset[str]

    @property
    def accuses(self) -> bool:
        """Whether a sentence calls something a problem."""
        return any(one.tone == "bad" for one in self.findings)

    @property
    def clears(self) -> bool:
        """Whether a sentence clears the judge of an effect of the order."""
        good = (one for one in self.findings if one.tone == "good")
        return any(ORDER & {Key.parse(key).name for key in one.evidence} for one in good)

    @property
    def named(self) -> frozenset[str] | None:
        """The stimuli that a sentence names; None where none does."""
        share = self.estimates.known("unequal_stimuli")
        test = self.estimates.key("any_stimulus_p")
        said = any(test in one.evidence for one in self.findings)
        return frozenset(share.given["stimuli"]) if said and share is not None else None


def read(judge: Known, name: str, profile: str, rng: random.Random) -> Page:
    """Page one of an axis in one data set."""
    axis, plan = design(name, profile)
    first = planted(judge, plan, rng)
    wanted = frozenset(one for one in axis.ESTIMATES if not one.startswith(IDLE))
    frame = asked(judge, axis, plan, first, rng)
    readings = Readings(frame, plan.labels, 1.0, rng.randrange(2**31), wanted)
    estimates = Estimates(name, axis.measure(readings))
    return Page(estimates, tuple(axis.find(estimates)), first)


def _run(judge: Known, profile: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for _ in range(sets):
        tally.next()
        seed = int(rng.integers(2**32))
        pages = {name: read(judge, name, profile, random.Random(f"{seed}/{name}"))  # noqa: S311
                 for name in all_axes()}  # fmt: skip
        for name, one in pages.items():
            exactly = one.named is not None and one.named == one.planted
            tally.add(name, {
                ACCUSES: one.accuses, CLEARS: one.clears,
                EXACTLY: exactly, OTHERWISE: one.named is not None and not exactly,
            })  # fmt: skip
            _judge(tally, judge, one)
        tally.add(ANYWHERE, {
            ACCUSES: any(one.accuses for one in pages.values()),
            EXACTLY: any(one.named is not None for one in pages.values()),
        })  # fmt: skip
    return tally.rows()


def _judge(tally: Tally, judge: Known, one: Page) -> None:
    """The figures of unequal stimuli, of which the truth is known but for a weak bias on all."""
    mine = [one.estimates[key] for key in one.estimates if Key.parse(key).name in unequal.NAMES]
    share = len(one.planted) / max(1, mine[0].clusters) if mine else 0.0
    for estimate in mine if judge in (*FAIR, *FEW[:-1]) else ():
        tally.judge(estimate, {estimate.key: share})


def lines() -> Iterator[Line]:
    """Every judge under every profile."""
    for profile, counts in SETS.items():
        for some, sets in zip((FAIR, BIASED, FEW), counts, strict=True):
            limits = {ACCUSES: (0.0, MOST_ACCUSED)} if some is FAIR else {}
            nulls = frozenset(f"{name}.any_stimulus_p" for name in all_axes() if some is FAIR)
            for judge in some:
                run = partial(_run, judge, profile)
                yield Line(judge.words, profile, sets, run, limits=limits, nulls=nulls)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    sets = max(one.rows[ANYWHERE].sets[ACCUSES] for one in results)
    tables = {name: _tables(some, cells, results) for name, some, cells in TABLES}
    figures = grid(["figure", "judge", "profile", "share"], _figures(results))
    return {**tables, "error": f"{error(0.05, sets):.3f}", "figures": figures}


def _tables(
    judges: Sequence[Known], cells: Callable[[Result, str], str], results: Sequence[Result]
) -> str:
    """A table per profile."""
    tables, names = [], [one.words for one in judges]
    for profile in SETS:
        mine = [one for one in results if one.line.size == profile and one.line.data in names]
        sets = mine[0].rows[ANYWHERE].sets[ACCUSES]
        # An axis that is newer than the results has none yet.
        asked = [row for row in ROWS if row in mine[0].rows]
        rows = [[one.line.data, *(cells(one, row) for row in asked)] for one in mine]
        tables.append(grid([f"{profile} profile, {sets} sheets a line", *asked], rows))
    return "\n\n".join(tables)


def _fair(one: Result, row: str) -> str:
    told = f"{one.rows[row].shares[ACCUSES]:.3f}"
    return f"**{told}**" if missed(one, row, ACCUSES) else told


def _biased(one: Result, row: str) -> str:
    shares = one.rows[row].shares
    cleared = f" ({shares[CLEARS]:.3f})" if CLEARS in shares else ""
    return f"{1 - shares[ACCUSES]:.3f}{cleared}"


def _few(one: Result, row: str) -> str:
    shares = one.rows[row].shares
    return " / ".join(f"{shares[name]:.2f}" for name in (EXACTLY, OTHERWISE) if name in shares)


def _figures(results: Sequence[Result]) -> list[list[str]]:
    return [
        [f"`{name}`", one.line.data, str(one.line.size), _cell(one, name, metric)]
        for one in results
        for name, row in one.rows.items()
        for metric in (COVER, REJECT)
        if metric in row.shares
    ]


def _cell(one: Result, row: str, metric: str) -> str:
    told = f"{one.rows[row].shares[metric]:.3f}"
    return f"**{told}**" if missed(one, row, metric) else told


ROWS = (*all_axes(), ANYWHERE)
TABLES: Sequence[tuple[str, Sequence[Known], Callable[[Result, str], str]]] = (
    ("fair", FAIR, _fair),
    ("biased", BIASED, _biased),
    ("few", FEW, _few),
)
