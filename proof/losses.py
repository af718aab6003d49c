"""Judges that lose calls by what they would have said; writes docs/proof/losses.md.

Run as `python -m proof.losses [data sets per line]`; a few minutes on two cores.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import starmap
from multiprocessing import Pool
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import optimize

from judgesheet.axes import get_axis
from judgesheet.axes.candidate_order._design import BASELINE, LISTING
from judgesheet.axes.candidate_order._simulated import verdict_probabilities
from judgesheet.axis import Axis, Options, Readings, SharesSimulating, Simulating
from judgesheet.axis.simulation import Parameters
from judgesheet.estimates import Estimates
from judgesheet.judges.simulated import PRESETS, answer_key
from judgesheet.keys import Key
from judgesheet.records import Call, Label
from judgesheet.spine.impute import with_imputed
from judgesheet.spine.plan import make_plan

SEED = 20_261_122
REPLICATIONS = 40
LOST = 0.046
"""Share of calls that are lost, of those that a judge reports most about."""
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "losses.md"

FIGURES = frozenset({
    *("chi2", "position_share", "win_share", "cramers_v", "position_bias_p", "order_dependence_p"),
    *("mean_delta_pos", "max_delta_pos", "delta_pos", "significant_criteria", "friedman_p_holm"),
    *("position_shift", "order_inconsistent"),
    *("slot1_share", "positional_false_preference", "raw_false_preference"),
    *("loss_rate", "loss_order_p", "loss_position_p", "loss_stimulus_p"),
})  # fmt: skip
ACCUSE = ("position_bias_p", "friedman_p_holm")
"""The tests of a sentence that accuses of a preference for a place."""
V_LIMIT, CHANGES_LIMIT = 0.15, 0.20


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
                    "stimulus": f"{copy}/{call.stimulus}", "repeat": call.repeat, "outcome": "ok",
                    **cell, "value": self.axis.parse(text, "json", call.cell),
                })  # fmt: skip
        frame = pd.DataFrame(rows)
        return frame.assign(value=frame["value"].astype(object))


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
        scores = [one["score"] if isinstance(one, dict) else one for one in map(value.get, order)]
        best = [place for place, score in enumerate(scores) if score == max(scores)]
        return best[0] if len(best) == 1 else -1
    return list(order).index(value) if value in order else -1


def places(frame: pd.DataFrame) -> np.ndarray:
    """Where each verdict's favourite stands."""
    return np.array(list(starmap(_place, zip(frame["value"], frame["order"], strict=True))))


def lose(
    frame: pd.DataFrame, at: int | None, share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Lose this share of all calls: of those that favour a place (None: of all) at random."""
    candidates = np.ones(len(frame), bool) if at is None else places(frame) == at
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
        """Whether a sentence on page one says that a place is favoured."""
        return any(
            one.tone == "bad" and any(Key.parse(key).name in ACCUSE for key in one.evidence)
            for one in self.axis.find(estimates)
        )

    @property
    def reports(self) -> bool:
        """Whether page one says that calls are not lost by chance."""
        return any(
            any(Key.parse(key).name.startswith("loss_") for key in one.evidence)
            and "not by chance" in one.text
            for one in self.axis.find(self.after)
        )

    def passes(self, estimates: Estimates, key: str, limit: float) -> bool:
        """Whether the upper bound of a figure keeps a limit."""
        bounds = estimates[f"{self.axis.NAME}.{key}"].bounds
        return bounds is not None and bounds.high <= limit


def sheet(plan: Design, frame: pd.DataFrame) -> Sheet:
    """Measure a data set."""
    readings = Readings(frame, plan.labels, 0.0, 0, FIGURES)
    before = Estimates(plan.axis.NAME, plan.axis.measure(readings))
    return Sheet(before, with_imputed(plan.axis, readings, before), plan.axis)


@dataclass(frozen=True)
class Line:
    """A judge, and how it loses calls; `limit` is where the true value of `key` lies."""

    axis: str
    judge: Parameters
    words: str
    copies: int
    at: int | None = None
    share: float = LOST
    key: str = ""
    limit: float = 0.0


def outcomes(task: tuple[Line, int]) -> list[float]:
    """Shares over data sets: accused before and after, reported, passed before and after."""
    line, replications = task
    plan, sums = design(line.axis, line.copies), np.zeros(5)
    for number in range(replications):
        rng = np.random.default_rng([SEED, number, line.copies, int(1000 * line.share)])
        frame = plan.ask(line.judge, random.Random(int(rng.integers(2**32))))  # noqa: S311
        one = sheet(plan, lose(frame, line.at, line.share, rng))
        sums += (
            one.accuses(one.before),
            one.accuses(one.after),
            one.reports,
            bool(line.key) and one.passes(one.before, line.key, line.limit),
            bool(line.key) and one.passes(one.after, line.key, line.limit),
        )
    return (sums / replications).tolist()


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


def true_changes(judge: Parameters) -> float:
    """How often a judge of pairs changes its verdict with the order, on pairs of equal quality."""
    pairs: dict[tuple[str, str], list[dict[str, float]]] = {}
    for call in design("candidate_order", 1).calls:
        cell = call.cell
        if (cell["condition"], cell["prompt"], cell["listing"]) == (
            "delta0_same",
            BASELINE,
            LISTING,
        ):
            found = verdict_probabilities(judge, cell, call.stimulus)
            pairs.setdefault((call.stimulus, cell["pair"]), []).append(found)
    stay = [a["1"] * b["2"] + a["2"] * b["1"] + a["tie"] * b["tie"] for a, b in pairs.values()]
    return 1 - float(np.mean(stay))


def on_limit(
    truth: Callable[[Parameters], float], limit: float, base: Parameters, name: str
) -> Parameters:
    """The judge whose true figure is the limit, by how much it prefers the first place."""
    found = optimize.brentq(lambda x: truth(replace(base, **{name: x})) - limit, 0.0, 8.0)
    return replace(base, **{name: float(found)})


# -- the page --------------------------------------------------------------------------------------

INTRODUCTION = """\
# Proof: calls that are lost by what they would have said

Simulated judges lose calls, at random or only those that favour one place; {share:.1%} of all calls
give no verdict unless the table says otherwise. {replications} data sets a line on the calls of the
quick profile (copies of its stimuli where there are more), seed {seed}; made by
`python -m proof.losses`. The Monte Carlo standard error of .05 is {error:.3f}.

*Read alone* takes the calls that were read for the whole, *lost counted* lets bounds and tests
reach to what the lost ones could have said. A sheet *accuses* if page one says that a place is
favoured; it *reports* if page one says that calls are not lost by chance. Above its target a figure
is in bold, also where the error of the simulation may have put it there.
"""
JUDGES = """
## Accusations and reports

A fair judge should be accused in at most .05 of sheets, and reported in at most .05 where it loses
calls by chance.

| axis | judge | stimuli | loses | accused, read alone | accused, lost counted | reported |
|---|---|--:|---|--:|--:|--:|
"""
GATES = """
## The gate

The judge lies on the limit and prefers the first place; it loses calls that choose it. False passes
should be at most .06.

| figure | limit | stimuli | loses | passes, read alone | passes, lost counted |
|---|--:|--:|--:|--:|--:|
"""
READING = """
## Reading

- Lost counted, a fair judge that loses what it chose at the first place is accused in at most
  {accused:.2f} of sheets; read alone in up to {alone:.2f}. A strong preference is still found in
  at least {found:.2f}. A weak one cannot be told from the losses, which may hide it as well as
  make it.
- The gate passes a judge on its limit in at most {passed:.2f} of sheets, read alone in up to
  {naive:.2f}.
- A judge that refuses whatever favours the second place is reported in at least {refused:.2f} of
  sheets. What is lost by a reading's own noise no other reading of the item can tell: lists whose
  winners are mostly noise do not show it, and the bounds are what holds there.
"""


def lines() -> Iterator[Line]:
    """Fair judges, biased ones, refusing ones, and those on a limit."""
    fair = PRESETS["fair"]
    undecided = replace(fair, gap=5.0, shared=10.0)
    surface = replace(fair, tie=1.0, surface=4.0)
    for copies in (1, 2, 8):
        for at in (0, None):
            yield Line("score_order", fair, FAIR, copies, at)
    for at in (0, None):
        yield Line("criterion_order", fair, FAIR, 1, at)
        yield Line("listwise_consensus", undecided, FAIR, 2, at)
    yield Line("candidate_order", surface, FAIR, 1, None)
    for at in (0, None):
        yield Line("score_order", replace(fair, first=1.5), BIASED, 2, at)
        yield Line("listwise_consensus", replace(undecided, first=1.5), BIASED, 4, at)
    for name, judge in (("score_order", fair), ("candidate_order", surface)):
        yield Line(name, judge, REFUSING, 1, 1, 1.0)
    yield Line("listwise_consensus", undecided, REFUSING, 2, 1, 1.0)
    rubric = on_limit(true_v, V_LIMIT, fair, "first")
    pairs = on_limit(true_changes, CHANGES_LIMIT, replace(surface, tie=6.0, surface=2.0), "slot")
    for share in (0.01, LOST, 0.10):
        for copies in (1, 4):
            changes = "order_inconsistent[set=same_subset]"
            yield Line("score_order", rubric, "", copies, 0, share, "cramers_v", V_LIMIT)
            yield Line("candidate_order", pairs, "", copies, 0, share, changes, CHANGES_LIMIT)


FAIR, BIASED, REFUSING = "fair", "prefers the first place", "refuses what favours the second"


def page(done: Sequence[tuple[Line, list[float]]], replications: int) -> str:
    """The whole page."""
    judges = [(one, found) for one, found in done if not one.key]
    gates = [(one, found) for one, found in done if one.key]
    text = INTRODUCTION.format(
        share=LOST,
        replications=replications,
        seed=SEED,
        error=(0.05 * 0.95 / replications) ** 0.5,
    )
    text += JUDGES
    for one, (before, after, reported, *_) in judges:
        loses = "by chance" if one.at is None else f"choices of place {one.at + 1}"
        text += (
            f"| {one.axis} | {one.words} | {_stimuli(one)} | {loses} | {before:.2f} | "
            f"{_bold(after, 0.05, only=one.words == FAIR)} | "
            f"{_bold(reported, 0.05, only=one.words == FAIR and one.at is None)} |\n"
        )
    text += GATES
    for one, (*_, before, after) in gates:
        text += (
            f"| {one.axis}.{one.key} | {one.limit:.2f} | {_stimuli(one)} | {one.share:.1%} | "
            f"{before:.2f} | {_bold(after, 0.06)} |\n"
        )
    planted = [found for one, found in judges if one.words == FAIR and one.at == 0]
    return text + READING.format(
        accused=max(found[1] for found in planted),
        alone=max(found[0] for found in planted),
        found=min(found[1] for one, found in judges if one.words == BIASED),
        passed=max(found[4] for _, found in gates),
        naive=max(found[3] for _, found in gates),
        refused=min(found[2] for one, found in judges if one.words == REFUSING),
    )


def _stimuli(line: Line) -> int:
    plan = design(line.axis, line.copies)
    return line.copies * len({call.stimulus for call in plan.calls})


def _bold(value: float, most: float, *, only: bool = True) -> str:
    return f"**{value:.2f}**" if only and value > most else f"{value:.2f}"


def main() -> None:
    """Simulate every line and write the page."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    every = list(lines())
    with Pool(2) as pool:
        found = pool.map(outcomes, [(one, replications) for one in every], chunksize=1)
    done = list(zip(every, found, strict=True))
    TARGET.write_text(page(done, replications), encoding="utf-8")


if __name__ == "__main__":
    main()
