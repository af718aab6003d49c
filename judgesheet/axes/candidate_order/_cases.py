"""Which calls show what a figure of this axis counts."""

from collections.abc import Callable, Iterator, Sequence

from judgesheet.axes.candidate_order._design import BASELINE, LISTING, STRICT
from judgesheet.axes.candidate_order._pairs import SETS
from judgesheet.axes.candidate_order._reply import CODES, chosen, gives
from judgesheet.axis.views import Asked, Question, View, differing, grouped, places, said
from judgesheet.base.records import Case
from judgesheet.stats.pairwise import TIE

USUAL = {"prompt": BASELINE, "listing": LISTING}


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

    return View(among, ("set", "slot"), where=USUAL)


def _commits(call: Asked) -> float:
    return float(chosen(call.value, call.order) is not None)


def _ties(call: Asked) -> float:
    return float(CODES[call.value] == TIE)


def _misses(call: Asked) -> float:
    """1 for a tie, 2 for the worse response."""
    better, preferred = call.cell.get("better"), chosen(call.value, call.order)
    return 0.0 if better in (None, preferred) else 1.0 if preferred is None else 2.0


PREFERS = _of_set(_of_pairs(_commits, "prefers one of two equal responses"))
TIES = _of_set(_of_pairs(_ties, "says tie"))
CHANGES = _of_set(differing("other", _prefers))
REPEATED = _of_set(differing("same", _prefers))
MISSES = _of_set(_of_pairs(_misses, "does not find the better response"))
ON_LADDER = MISSES.only(condition="ladder", **USUAL)
SLOTS = _of_set(places(gives))
_STRICT = {"prompt": STRICT, "listing": LISTING}
STRICT_TIES = {
    "delta=0": TIES.only(condition="delta0_same", **_STRICT),
    "": TIES.only(condition="ladder", **_STRICT),
}
