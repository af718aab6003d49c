"""Accusations, gates and figures of losses where calls are lost by what they would have said."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, starmap
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import optimize

from judgesheet import axis as kit
from judgesheet import stats
from judgesheet.axes import all_axes, get_axis
from judgesheet.axes.candidate_order.ask import BASELINE, LISTING
from judgesheet.axes.candidate_order.read import verdict_probabilities
from judgesheet.axis import Axis, Options, Readings, SharesSimulating, Simulating, losses
from judgesheet.axis.simulation import Parameters
from judgesheet.base.defaults import LOSS_ERROR, MANY_LOST
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Call, Label
from judgesheet.judges.simulated import PRESETS, answer_key
from judgesheet.measuring import impute
from judgesheet.measuring.impute import with_imputed
from judgesheet.planning.plan import make_plan
from proof.lines import (
    COVER,
    MOST_FALSE,
    MOST_REJECTED,
    PASS,
    REJECT,
    Line,
    Rng,
    Rows,
    Tally,
    Truths,
)
from proof.page_one import ORDER, effects_of
from proof.runner import Result, error
from proof.tables import grid, missed, misses

DEPENDS_ON = (*all_axes().values(), kit, stats, impute)
SETS, AT_ONE_PERCENT = 10, 60
"""Data sets of a line, and of a judge on a limit that loses so few calls that it may pass."""
FEW_LOST = 0.01
LOST = 0.046
"""Share of calls that are lost, of those that a judge reports most about."""

FIGURES = frozenset({
    *("chi2", "position_share", "win_share", "cramers_v", "order_dependence_p"),
    *("mean_delta_pos", "max_delta_pos", "delta_pos", "significant_criteria", "friedman_p"),
    *("position_shift", "order_inconsistent", "excess_change_rate"),
    *("slot1_share", "positional_false_preference", "raw_false_preference", "place_v"),
    "loss_rate",
})  # fmt: skip
V_LIMIT, CHANGES_LIMIT, EXCESS_LIMIT = 0.15, 0.20, 0.15
SHEET = "sheet"
READ_ALONE, ACCUSED, REPORTED = "accused, read alone", "accused", "reported"
PASSED_ALONE, HELD = "pass, read alone", "cover, lost counted"
MOST_ACCUSED = 0.05
ALPHA = 0.05


@dataclass(frozen=True)
class Design:
    """The calls of an axis on so many stimuli: those of the quick profile, copied as needed."""

    axis: Axis
    calls: Sequence[Call]
    labels: tuple[Label, ...]
    copies: int

    def ask(self, judge: Parameters, rng: random.Random) -> pd.DataFrame:
        """One row a call, with what the judge says."""
        known, room = answer_key(self.labels), cast("Simulating", self.axis)
        rows = []
        for copy in range(self.copies):
            for call in self.calls:
                item = str(call.cell.get("item"))

                def level(criterion: str = "", item: str = item) -> float:
                    return known.get(f"{item}\n{criterion}" if criterion else item, 0.5)

                text = room.simulate(judge, call, level, rng)
                cell = {**call.cell, **({"item": f"{copy}/{item}"} if "item" in call.cell else {})}
                rows.append({
                    "stimulus": f"{copy}/{call.stimulus}", "repeat": call.repeat,
                    "reply": call.reply, "outcome": "ok",
                    **cell, "value": self.axis.parse(text, "json", call.cell),
                })  # fmt: skip
        frame = pd.DataFrame(rows)
        return frame.assign(value=frame["value"].astype(object), cluster=frame["stimulus"])


@cache
def design(name: str, copies: int) -> Design:
    """The calls of one axis on `copies` times the stimuli of the quick profile."""
    axis = get_axis(name)
    plan = make_plan([axis], {name: Options(profile="quick", reply="json")}, 0)
    return Design(axis, plan.calls, plan.labels, copies)


# -- who loses what --------------------------------------------------------------------------------

Losing = Callable[[pd.DataFrame, "np.random.Generator"], pd.DataFrame]


def _place(value: Any, order: Sequence[Any]) -> int:
    """Where the thing that a verdict favours stands, from 0; -1 for none."""
    if value in ("1", "2"):
        return int(value) - 1
    if isinstance(value, dict):
        scores: list[Any] = [
            one["score"] if isinstance(one, dict) else one for one in map(value.get, order)
        ]
        best = [place for place, score in enumerate(scores) if score == max(scores)]
        return best[0] if len(best) == 1 else -1
    return list(order).index(value) if value in order else -1


def places(frame: pd.DataFrame) -> np.ndarray:
    """Where each verdict's favourite stands."""
    return np.array(list(starmap(_place, zip(frame["value"], frame["order"], strict=True))))


def unusual(frame: pd.DataFrame) -> np.ndarray:
    """Which verdicts are not what their item gets most often."""
    verdicts = frame["value"].groupby(frame["item"])
    return (frame["value"] != verdicts.transform(lambda seen: seen.mode().iloc[0])).to_numpy()


UNUSUAL = -1
"""Instead of a place: verdicts that are not the usual one of their item."""


def lose(
    frame: pd.DataFrame, at: int | None, share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Lose this share of all calls: of those that favour a place (None: of all) at random."""
    candidates = np.ones(len(frame), bool)
    if at is not None:
        candidates = unusual(frame) if at == UNUSUAL else places(frame) == at
    chance = np.where(candidates, min(1.0, share / max(candidates.mean(), 1e-9)), 0.0)
    kept = frame.copy()
    kept.loc[rng.random(len(frame)) < chance, "value"] = None
    return kept


# -- one sheet -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """What one data set shows, with the calls read alone (`before`) and with the lost ones."""

    before: Estimates
    after: Estimates
    axis: Axis

    def accuses(self, estimates: Estimates) -> bool:
        """Whether an effect of the order is shown."""
        shown = (one for one in effects_of(self.axis, estimates) if one.verdict == "shown")
        return any(Key.parse(one.key).name in ORDER for one in shown)

    @property
    def reports(self) -> bool:
        """Whether the sheet says that which calls are lost depends on the order."""
        return self.order_p < LOSS_ERROR

    @property
    def order_p(self) -> float:
        """The p-value of "what is lost does not depend on the order"; 1 where nothing was lost."""
        p = self.before[f"{self.axis.NAME}.loss_rate"].given.get("order_p")
        return 1.0 if p is None else float(p)

    def may_pass(self) -> bool:
        """Whether so few calls were lost, and by chance, that a limit can be kept."""
        rate = self.before[f"{self.axis.NAME}.loss_rate"]
        return rate.bounds is not None and rate.bounds.low <= MANY_LOST and not self.reports

    def passes(self, estimates: Estimates, key: str, limit: float) -> bool:
        """Whether the upper bound of a figure keeps a limit."""
        bounds = estimates[f"{self.axis.NAME}.{key}"].bounds
        return bounds is not None and bounds.high <= limit

    def holds(self, key: str, truth: float) -> bool:
        """Whether the ends with the lost calls hold the truth."""
        found = self.after[f"{self.axis.NAME}.{key}"]
        ends = (
            (found.low, found.high)
            if found.imputed is None
            else (found.imputed.low, found.imputed.high)
        )
        return _between(ends[0], truth, ends[1])


def sheet(plan: Design, frame: pd.DataFrame) -> Sheet:
    """Measure a data set."""
    readings = Readings(frame, plan.labels, 0.0, 0, FIGURES)
    before = Estimates(plan.axis.NAME, plan.axis.measure(readings))
    return Sheet(before, with_imputed(plan.axis, readings, before), plan.axis)


def _between(low: float | None, value: float, high: float | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


@dataclass(frozen=True)
class Loser:
    """A judge, and how it loses calls; `limit` is where the true value of `key` lies."""

    axis: str
    judge: Parameters
    words: str
    copies: int
    at: int | None = None
    share: float = LOST
    key: str = ""
    limit: float = 0.0

    @property
    def by_chance(self) -> bool:
        """Whether it loses calls whatever they say."""
        return self.at is None

    @property
    def loses(self) -> str:
        """Which calls it loses, and how many."""
        which = {None: "any", UNUSUAL: "unusual scores"}
        return f"{which.get(self.at, f'choices of place {(self.at or 0) + 1}')}, {self.share:.1%}"

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """What is asked of its sheets."""
        asked = {}
        if self.words == FAIR:
            asked[ACCUSED] = 0.0, MOST_ACCUSED
        if self.by_chance:
            asked |= {REPORTED: (0.0, MOST_ACCUSED), REJECT: (0.0, MOST_REJECTED)}
        if self.key:
            asked |= {PASS: (0.0, MOST_FALSE), HELD: (0.93, 1.0)}
        return asked

    def run(self, sets: int, rng: Rng, _truths: Truths) -> Rows:
        """What its sheets say, and how the figures of losses fare."""
        plan, tally = design(self.axis, self.copies), Tally(names_axes=True)
        for _ in range(sets):
            tally.next()
            frame = plan.ask(self.judge, random.Random(int(rng.integers(2**32))))  # noqa: S311
            one = sheet(plan, lose(frame, self.at, self.share, rng))
            said = {
                READ_ALONE: one.accuses(one.before),
                ACCUSED: one.accuses(one.after),
                REPORTED: one.reports,
            }
            if self.key:
                said |= {
                    PASSED_ALONE: one.passes(one.before, self.key, self.limit),
                    PASS: one.passes(one.after, self.key, self.limit) and one.may_pass(),
                    HELD: one.holds(self.key, self.limit),
                }
            if self.by_chance:
                said[REJECT] = one.order_p < ALPHA
                self._judge(tally, one.before)
            tally.add(SHEET, said)
        return tally.rows()

    def _judge(self, tally: Tally, found: Estimates) -> None:
        """The figures of losses, of which the truth is known where calls are lost by chance."""
        mine = [one for key, one in found.items() if Key.parse(key).name in losses.NAMES]
        truths = {one.key: self.share for one in mine}
        for one in mine:
            tally.judge(one, truths)


# -- judges on a limit -----------------------------------------------------------------------------


def true_v(judge: Parameters) -> float:
    """Cramer's V of a judge of rubrics over the balanced orders of the design, by enumeration."""
    plan = design("score_order", 1)
    room, known = cast("SharesSimulating", plan.axis), answer_key(plan.labels)
    shares = []
    for call in plan.calls:
        if call.cell["arm"] == "balanced" and call.repeat == 0:
            item = str(call.cell["item"])
            found = room.simulated_shares(judge, call, lambda _="", item=item: known[item])
            shares.append([found[score] for score in call.cell["order"]])
    mean = np.mean(shares, axis=0)
    return float(np.sqrt(mean.size / (mean.size - 1) * np.sum((mean - 1 / mean.size) ** 2)))


def true_excess(judge: Parameters) -> float:
    """By how much more a judge's scores change between orders than between repeats of one."""
    plan = design("score_order", 1)
    room, known = cast("SharesSimulating", plan.axis), answer_key(plan.labels)
    reads: dict[str, list[tuple[tuple[int, ...], np.ndarray]]] = {}
    for call in plan.calls:
        item, order = str(call.cell["item"]), tuple(call.cell["order"])
        found = room.simulated_shares(judge, call, lambda _="", item=item: known[item])
        reads.setdefault(item, []).append((order, np.array([found[s] for s in sorted(found)])))
    excess = []
    for calls in reads.values():
        agree: dict[bool, list[float]] = {True: [], False: []}
        for (order, mine), (other, theirs) in combinations(calls, 2):
            agree[order == other].append(float(mine @ theirs))
        if agree[True]:  # items that are asked twice in one order
            excess.append(np.mean(agree[True]) - np.mean(agree[False]))
    return float(np.mean(excess))


def true_changes(judge: Parameters) -> float:
    """How often a judge of pairs changes its verdict with the order, on pairs of equal quality."""
    pairs: dict[tuple[str, str], list[dict[str, float]]] = {}
    for call in design("candidate_order", 1).calls:
        cell = call.cell
        if call.repeat == 0 and (cell["condition"], cell["prompt"], cell["listing"]) == (
            "delta0_same",
            BASELINE,
            LISTING,
        ):
            found = verdict_probabilities(judge, cell, call.stimulus)
            pairs.setdefault((call.stimulus, cell["pair"]), []).append(found)
    stay = [a["1"] * b["2"] + a["2"] * b["1"] + a["tie"] * b["tie"] for a, b in pairs.values()]
    return 1 - float(np.mean(stay))


def on_limit(
    truth: Callable[[Parameters], float], limit: float, judge: Callable[[float], Parameters]
) -> Parameters:
    """The judge whose true figure is the limit, by how much it prefers the first place."""
    return judge(float(optimize.brentq(lambda x: truth(judge(x)) - limit, 0.0, 8.0)))


# -- the page --------------------------------------------------------------------------------------

FAIR, BIASED, REFUSING, ON_LIMIT = (
    *("fair", "prefers the first place", "refuses what favours the second"),
    "on the limit",
)


def losers() -> Iterator[Loser]:
    """Fair judges, biased ones, refusing ones, and those on a limit."""
    fair = PRESETS["fair"]
    undecided = replace(fair, gap=5.0, shared=10.0)
    surface = replace(fair, tie=1.0, surface=4.0)
    for copies in (1, 2):
        for at in (0, None):
            yield Loser("score_order", fair, FAIR, copies, at)
    for at in (0, None):
        yield Loser("criterion_order", fair, FAIR, 1, at)
        yield Loser("listwise_consensus", undecided, FAIR, 2, at)
    yield Loser("candidate_order", surface, FAIR, 1, None)
    for at in (0, None):
        yield Loser("score_order", replace(fair, first=1.5), BIASED, 2, at)
        yield Loser("listwise_consensus", replace(undecided, first=1.5), BIASED, 2, at)
    for name, judge in (("score_order", fair), ("candidate_order", surface)):
        yield Loser(name, judge, REFUSING, 1, 1, 1.0)
    yield Loser("listwise_consensus", undecided, REFUSING, 2, 1, 1.0)
    rubric, changing, pairs = judges_on_limits()
    changes = "order_inconsistent[set=same_subset]"
    for share in (FEW_LOST, LOST, 0.10):
        yield Loser("score_order", rubric, ON_LIMIT, 1, 0, share, "cramers_v", V_LIMIT)
        yield Loser("candidate_order", pairs, ON_LIMIT, 1, 0, share, changes, CHANGES_LIMIT)
        excess = "excess_change_rate", EXCESS_LIMIT
        yield Loser("score_order", changing, ON_LIMIT, 1, UNUSUAL, share, *excess)


@cache
def judges_on_limits() -> tuple[Parameters, Parameters, Parameters]:
    """Judges of rubrics with the V and with the excess, and one of pairs with the changes."""
    fair = PRESETS["fair"]
    rubric = on_limit(true_v, V_LIMIT, lambda x: replace(fair, first=x))
    surface = replace(fair, tie=6.0, surface=2.0)
    changing = on_limit(true_excess, EXCESS_LIMIT, lambda x: replace(fair, first=x))
    return (
        rubric,
        changing,
        on_limit(true_changes, CHANGES_LIMIT, lambda x: replace(surface, slot=x)),
    )


def lines() -> Iterator[Line]:
    """A line per judge and way of losing."""
    for one in losers():
        data = f"{one.axis} | {one.words} | {one.loses}"
        judged = frozenset({SHEET, *(f"{one.axis}.{name}" for name in losses.NAMES)})
        sets = AT_ONE_PERCENT if one.key and one.share == FEW_LOST else SETS
        yield Line(data, _stimuli(one), sets, one.run, limits=one.limits, judged=judged)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    done = list(zip(losers(), results, strict=True))
    judges, gates = ([(one, r) for one, r in done if bool(one.key) == on] for on in (False, True))
    rows = [
        [
            one.axis,
            one.words,
            str(r.line.size),
            one.loses,
            *_cells(r, READ_ALONE, ACCUSED, REPORTED),
        ]
        for one, r in judges
    ]
    head = ["axis", "judge", "stimuli", "loses", READ_ALONE, "accused, lost counted", REPORTED]
    accusations = grid(head, rows)
    rows = [
        [
            f"{one.axis}.{one.key}",
            f"{one.limit:.2f}",
            str(r.line.size),
            f"{one.share:.1%}",
            *_cells(r, PASSED_ALONE, PASS, HELD),
        ]
        for one, r in gates
    ]
    head = ["figure", "limit", "stimuli", "loses", PASSED_ALONE, "pass, lost counted", "holds"]
    passes = grid(head, rows)
    rows = [
        [f"`{name}`", one.words, str(r.line.size), *_cells(r, metric, row=name)]
        for one, r in judges
        for name, row in r.rows.items()
        for metric in (COVER, REJECT)
        if metric in row.shares
    ]
    return {
        "sets": str(SETS),
        "more": str(AT_ONE_PERCENT),
        "error": f"{error(0.05, SETS):.3f}",
        "least_error": f"{error(0.05, AT_ONE_PERCENT):.3f}",
        "judges": accusations,
        "gates": passes,
        "figures": grid(["figure", "judge", "stimuli", "share"], rows),
        "misses": misses(results),
        **{name: f"{share:.2f}" for name, share in _shares(judges, gates).items()},
    }


def _shares(
    judges: Sequence[tuple[Loser, Result]], gates: Sequence[tuple[Loser, Result]]
) -> dict[str, float]:
    def of(words: str, metric: str, among: Sequence[tuple[Loser, Result]] = judges) -> list[float]:
        return [r.rows[SHEET].shares[metric] for one, r in among if one.words == words]

    planted = [(one, r) for one, r in judges if not one.by_chance]
    return {
        "accused": max(of(FAIR, ACCUSED, planted)),
        "alone": max(of(FAIR, READ_ALONE, planted)),
        "found": min(of(BIASED, ACCUSED)),
        "passed": max(of(ON_LIMIT, PASS, gates)),
        "naive": max(of(ON_LIMIT, PASSED_ALONE, gates)),
        "refused": min(of(REFUSING, REPORTED)),
    }


def _stimuli(one: Loser) -> int:
    plan = design(one.axis, one.copies)
    return one.copies * len({call.stimulus for call in plan.calls})


def _cells(result: Result, *metrics: str, row: str = SHEET) -> Iterator[str]:
    for metric in metrics:
        text = f"{result.rows[row].shares[metric]:.2f}"
        yield f"**{text}**" if missed(result, row, metric) else text
