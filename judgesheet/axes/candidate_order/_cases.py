"""Which calls show what a figure of this axis counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from judgesheet.axes.candidate_order._design import BASELINE, LISTING, STRICT, SWAPPED
from judgesheet.axes.candidate_order._pairs import SETS
from judgesheet.axes.candidate_order._reply import CODES, chosen, gives
from judgesheet.axis.views import Asked, Question, View, differing, grouped, places, said
from judgesheet.base.records import Case
from judgesheet.stats.pairwise import TIE

_USUAL = {"prompt": BASELINE, "listing": LISTING}


def _prefers(verdict: str, order: Sequence[str]) -> int:
    """1 for u, -1 for v, 0 for neither."""
    return {"u": 1, "v": -1}.get(chosen(verdict, order) or "", 0)


def _pairs(question: Question) -> Iterator[list[Asked]]:
    """The calls on each pair of the set that a key names, with the better response in its slot."""
    dims = question.key.dims
    condition, slot = SETS.get(dims.get("set", "")), dims.get("slot")
    mine = [
        call
        for call in question.read()
        if condition in (None, call.cell.get("condition")) and slot in (None, _better_slot(call))
    ]
    yield from grouped(mine, lambda call: call.item).values()


def _better_slot(call: Asked) -> str:
    """The slot that shows the better response, "" if none is."""
    slots = {side: str(slot) for slot, side in enumerate(call.order, start=1)}
    return slots.get(call.cell.get("better"), "")


def _of_pairs(badness: Callable[[Asked], float], what: str) -> Callable[[Question], Iterator[Case]]:
    """The pairs on which most calls are bad, with all calls of both orders."""

    def find(question: Question) -> Iterator[Case]:
        for calls in _pairs(question):
            bad = sum(badness(call) for call in calls) / len(calls)
            if bad > 0:
                verdicts = "; ".join(f"{' '.join(c.order)}: {said(c.value)}" for c in calls[:4])
                why = f"{calls[0].stimulus}: {what} ({verdicts})"
                yield Case(tuple(call.id for call in calls), why, bad)

    return find


def _of_set(find: Callable[[Question], Iterator[Case]]) -> View:
    """A view of the calls of the set that a key names."""

    def among(question: Question) -> Iterator[Case]:
        calls = [call for pair in _pairs(question) for call in pair]
        yield from find(Question(calls, question.key, question.labels))

    return View(among, ("set", "slot"), where=_USUAL)


def _commits(call: Asked) -> float:
    return float(chosen(call.value, call.order) is not None)


def _ties(call: Asked) -> float:
    return float(CODES[call.value] == TIE)


def _misses(call: Asked) -> float:
    """1 for a tie, 2 for the worse response."""
    better, preferred = call.cell.get("better"), chosen(call.value, call.order)
    return 0.0 if better in (None, preferred) else 1.0 if preferred is None else 2.0


_PREFERS = _of_set(_of_pairs(_commits, "prefers one of two equal responses"))
_TIES = _of_set(_of_pairs(_ties, "says tie"))
_CHANGES = _of_set(differing("other", _prefers))
_MISSES = _of_set(_of_pairs(_misses, "does not find the better response"))
_ON_LADDER = _MISSES.only(condition="ladder", **_USUAL)
_SLOTS = _of_set(places(gives))
_STRICT = {"prompt": STRICT, "listing": LISTING}

CASES: Mapping[tuple[str, ...], View] = {
    ("dark_current",): _PREFERS.only(condition="vacuum", **_USUAL),
    ("filler_preference",): _PREFERS.only(condition="filler", **_USUAL),
    ("format_cue",): _PREFERS.only(listing=SWAPPED),
    ("raw_false_preference", "stable_cross_sensitivity", "content_component"): _PREFERS,
    ("no_preference",): _TIES,
    ("positional_false_preference", "order_inconsistent", "order_change_rate"): _CHANGES,
    ("order_dependence_p", "position_component", "swap_gain"): _CHANGES,
    ("one_sided_commit", "other_conflict"): _CHANGES,
    ("repeat_change_rate", "noise_component"): _of_set(differing("same", _prefers)),
    ("slot1_share",): _SLOTS,
    ("unequal_stimuli", "any_stimulus_p", "largest_stimulus_effect"): _SLOTS,
    ("[set=natural]",): _MISSES,
    ("criterion[delta=0]", "criterion_shift[delta=0]"): _TIES.only(
        condition="delta0_same", **_STRICT
    ),
    ("criterion", "criterion_shift"): _TIES.only(condition="ladder", **_STRICT),
    ("target_sensitivity", "target_sensitivity_decided", "wrong_rate", "tie_rate"): _ON_LADDER,
    ("miss_by_tie", "threshold75", "d_prime"): _ON_LADDER,
}
