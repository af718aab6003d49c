"""Logs from which orders are missing: whoever left them out may have seen the verdicts."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axes.candidate_order.figures import SLOT_TELLS
from judgesheet.axis.places import NOT_EVEN
from judgesheet.base.records import AxisResult, Datasheet, VerdictStatus
from judgesheet.decide import decide
from judgesheet.decide.policy import load, parse
from judgesheet.measuring.measure import parse_rows
from tests.sheet import sheets
from tests.simulate import Sheet, simulate

Rows = Callable[[pd.DataFrame], "pd.Series[bool]"]
"""Which calls, by their readings, a log holds."""
PFP = "positional_false_preference[set=same_subset]"
SEEN = "target_sensitivity[delta=5]"
SLOT = "fair?slot=8"


def recorded(spec: str, axis: str, holds: Rows) -> Sheet:
    """The sheet of the log of a judge."""

    def log(frame: pd.DataFrame) -> pd.DataFrame:
        table = parse_rows(get_axis(axis), frame)
        verdicts = [json.dumps(value) for value in table["value"]]
        kept: pd.DataFrame = frame.assign(reply="recorded", text=verdicts)[holds(table).to_numpy()]
        return kept.reset_index(drop=True)

    return simulate(spec, "quick", axis, edit=log)


def status(sheet: Sheet, key: str, limit: str) -> VerdictStatus:
    named = f"{sheet.result.name}.{key}"
    policy = parse(f'name = "p"\n[[limit]]\nkey = "{named}"\n{limit}\nwhy = "w"\n', "p")
    whole: Datasheet = replace(sheets.plausible(), axes=(AxisResult.of(sheet.result),))
    (verdict,) = decide(whole, policy).verdicts
    return verdict.status


def first(table: pd.DataFrame) -> "pd.Series[str]":
    return table["order"].str[0]


def of_one_kind(table: pd.DataFrame) -> "pd.Series[bool]":
    return table["condition"] == "delta0_same"


def both_orders_agree(table: pd.DataFrame) -> "pd.Series[bool]":
    """Every pair, but in both orders only where the slot did not decide twice."""
    same = [table[name] for name in ("stimulus", "pair", "condition", "repeat")]
    slots = table["value"].groupby(same)
    follows_slot = slots.transform("nunique") == 1
    return ~of_one_kind(table) | ~follows_slot | (first(table) == "u")


def test_pairs_that_lack_an_order_where_others_have_both_count_as_lost() -> None:
    half_biased = "fair?slot=1.2&tie=0"
    whole = recorded(half_biased, "candidate_order", lambda table: table["value"].notna())
    chosen = recorded(half_biased, "candidate_order", both_orders_agree)
    true, estimate = whole.value(PFP), chosen[PFP]
    assert true > 0.2
    assert chosen.value(PFP) < true / 2
    assert estimate.most is not None
    assert estimate.most > true
    assert status(chosen, PFP, "max = 0.2") == "inconclusive"


def test_a_log_of_single_orders_lacks_nothing_of_its_design() -> None:
    def by_coin(table: pd.DataFrame) -> "pd.Series[bool]":
        """One order of each pair, u first in every second pair."""
        even = table["pair"].map(lambda name: sum(map(ord, str(name))) % 2 == 0)
        task = table["stimulus"].map(lambda name: sum(map(ord, str(name))) % 2 == 0)
        return (first(table) == "u") == (even ^ task)

    sheet = recorded("fair", "candidate_order", by_coin)
    assert all(one.imputed is None for one in sheet.result.estimates)
    assert status(sheet, SEEN, "min = 0.8") == "pass"


def test_a_better_response_that_always_stands_first_proves_no_sense_of_quality() -> None:
    def better_first(table: pd.DataFrame) -> "pd.Series[bool]":
        return (first(table) == table["better"]) & (table["condition"] == "ladder")

    sheet = recorded(SLOT, "candidate_order", better_first)
    seen = sheet[SEEN]
    assert (seen.value, seen.low, seen.bounds) == (1.0, None, None)
    assert SLOT_TELLS in seen.note
    assert status(sheet, SEEN, "min = 0.5") == "inconclusive"
    assert not any(one.verdict == "negligible" for one in sheet.effects.values())


def right_at_first(table: pd.DataFrame) -> "pd.Series[bool]":
    """One order of each list: one that shows the right answer first, if there is one."""
    at_first = first(table) == table["gold"]
    rank = at_first.groupby(table["stimulus"]).cumsum()
    return at_first & (rank == 1) & (table["arm"] == "permuted")


def test_a_perfect_judge_is_not_accused_of_the_places_of_right_answers() -> None:
    sheet = recorded("fair", "listwise_consensus", right_at_first)
    assert sheet["place_v"].reason == NOT_EVEN.code
    assert not sheet.shown()


def test_a_judge_that_always_takes_that_place_is_no_better_than_blind() -> None:
    sheet = recorded("always-1", "listwise_consensus", right_at_first)
    assert sheet.value("chance_accuracy") == 1
    praised = {key for key, one in sheet.effects.items() if one.verdict == "negligible"}
    assert praised <= {"top_tie_rate"}  # it does choose


@pytest.mark.parametrize("axis", ["candidate_order", "listwise_consensus"])
def test_a_whole_log_reads_as_the_run_does(axis: str) -> None:
    log = recorded("noisy", axis, lambda table: table["value"].notna())
    run = {one.key: one for one in simulate("noisy", "quick", axis).result.estimates}
    for one in log.result.estimates:
        # No record says which of two readings came first, so that fewer tests look at repeats.
        if one.value is not None:
            assert (one.value, one.low, one.high) == (
                run[one.key].value, run[one.key].low, run[one.key].high
            )  # fmt: skip


def verdict_on(cell: dict[str, Any], choice: str) -> Any:
    """A recorded verdict for the better response, for the worse one, or for none."""
    at = cell["order"].index(cell["better"])
    return {"better": 1 + at, "worse": 2 - at, "tie": "tie"}[choice]


@pytest.mark.parametrize(
    ("choice", "verdict", "says"),
    [
        ("better", "negligible", "that one wins 100 % of calls, at least 93 %."),
        ("worse", "shown", "that one wins only 0 % of calls (0 % to 7 %)."),
        ("tie", "shown", "that one wins only 0 % of calls (0 % to 7 %)."),
    ],
)
def test_own_pairs_show_whether_it_finds_the_better_one(
    choice: str, verdict: str, says: str
) -> None:
    def own(frame: pd.DataFrame) -> pd.DataFrame:
        """The largest step of the ladder, as the log of a user's pairs."""
        cells = frame["cell"].map(json.loads)
        rows = cells.map(lambda cell: cell["condition"] == "ladder" and cell["delta"] == 5)
        cells = cells[rows]
        return frame[rows].assign(
            reply="recorded",
            cell=[json.dumps({**cell, "condition": "natural"}) for cell in cells],
            text=[json.dumps(verdict_on(cell, choice)) for cell in cells],
        ).reset_index(drop=True)  # fmt: skip

    sheet = simulate("fair", "quick", "candidate_order", edit=own)
    found = sheet.effects["target_sensitivity[set=natural]"]
    assert found.verdict == verdict
    assert found.text.endswith(says)
    assert sheet.shown() == ({"target_sensitivity[set=natural]"} if verdict == "shown" else set())
    assert sheet.effects["positional_false_preference[set=natural]"].verdict == "negligible"
    whole: Datasheet = replace(sheets.plausible(), axes=(AxisResult.of(sheet.result),))
    decision = decide(whole, load("natural-pairs")).decision
    assert decision is not None
    assert (decision.verdict == "reject") == (choice != "better")
