"""Recommendations, mitigations, controls and caveats of candidate_order."""

from collections.abc import Iterator
from functools import partial

from judgesheet.axis import Readings
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.statements import (
    MOSTLY,
    above,
    advice,
    below,
    few_asked,
    number,
    share,
    share_with_interval,
    unread,
)
from judgesheet.axis.untested import Question, untested
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Mitigation, Recommendation

from ._pairs import MISSING, SET_WORDS, arrange
from .equal_quality import NO_SPLIT
from .findings import (
    NOTICEABLE,
    RARE,
    SAME,
    SEEN,
    elements,
    evidence_of_slot,
    evidence_of_slot_elsewhere,
    in_one_order,
    ladder_steps,
    prefers_padding,
    sees_nothing,
    seldom_decides,
    slot_decides,
)

_advice = partial(advice, "candidate_order")


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """What to do: whether to compare with it, in which orders, under which prompt."""
    own = estimates.known("target_sensitivity", set="natural")
    if largest := sees_nothing(estimates):
        text = (
            "Do not compare responses with it: it does not find the better one even if the "
            "difference is largest."
        )
        yield _advice(text, largest, stops=True)
    elif below(own, MOSTLY):
        text = (
            "Do not compare responses with it: of your own pairs it does not find the better one."
        )
        yield _advice(text, own, stops=True)
    elif same_slot := slot_decides(estimates):
        text = (
            "Do not compare responses with it: in most of your own pairs the same slot wins, "
            "whichever response is in it."
        )
        yield _advice(text, same_slot, stops=True)
    elif indifferent := seldom_decides(estimates):
        text = "Ask it pairs whose better response is known: most of your own are ties to it."
        yield _advice(text, indifferent)
    else:
        yield from _swap(estimates)
        yield from _prompt(estimates)
        yield from _small_differences(estimates)
    if padded := prefers_padding(estimates):
        text = "Do not compare responses of different length with it: the padded one wins."
        yield _advice(text, padded, stops=True)


def _swap(estimates: Estimates) -> Iterator[Recommendation]:
    rates = [estimates.known("order_inconsistent", set=name) for name in SET_WORDS]
    shown = [rate for rate in rates if rate is not None]
    if unknown := in_one_order(estimates):
        yield _advice("Ask each pair in the other order too.", *unknown.values())
    elsewhere = evidence_of_slot_elsewhere(estimates)
    decides = elsewhere or any(evidence_of_slot(estimates, name) for name in SET_WORDS)
    if decides or any(above(rate, NOTICEABLE) for rate in shown):
        text = "Ask every comparison in both orders and count a win only where both agree"
        raw = estimates.known("raw_false_preference", set=SAME)
        left = estimates.known("stable_cross_sensitivity", set=SAME)
        if raw is not None and left is not None and not elsewhere:
            text += (
                ": of two equally good responses it then prefers one in "
                f"{share_with_interval(left)} of pairs, with one order in {share(raw)} of calls"
            )
        yield _advice(f"{text}.", elsewhere, *shown, raw, left)
    elif shown and all(below(rate, RARE) for rate in shown):
        text = "One order is enough: its verdict hardly depends on it."
        yield _advice(text, *shown, binding=False)


def _prompt(estimates: Estimates) -> Iterator[Recommendation]:
    gain, cost = (estimates.known("criterion_shift", delta=delta) for delta in (0, 1))
    if not above(gain, NOTICEABLE):
        return
    if above(cost, NOTICEABLE):
        text = (
            "Use the strict tie instruction only if false preferences cost more than missed "
            "differences of one required element."
        )
        yield _advice(text, gain, cost)
    elif below(cost, RARE):
        yield _advice("Use the strict tie instruction: it removes false preferences.", gain, cost)


def _small_differences(estimates: Estimates) -> Iterator[Recommendation]:
    threshold = estimates.known("threshold75")
    if threshold is not None and above(threshold, 1):
        text = (
            f"Do not trust its verdict on differences below about {number(threshold)} required "
            "elements: it misses too many of them."
        )
        yield _advice(text, threshold)


# -- mitigations and controls ----------------------------------------------------------------------


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Asking in both orders, and counting a disagreement as a tie.

    Of equally good pairs only: on own pairs a preference may be right, and losing it is no help.
    """
    yield Mitigation(
        action="ask in both orders; where they disagree, call it a tie",
        before=estimates.key("raw_false_preference", set=SAME),
        after=estimates.key("stable_cross_sensitivity", set=SAME),
        calls=2,
        code="both_orders",
    )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the judge sees the largest difference that was asked."""
    for delta, rate in ladder_steps(estimates, "target_sensitivity")[-1:]:
        passed = True if above(rate, MOSTLY) else False if below(rate, SEEN) else None
        text = (
            f"Where one response states {elements(delta)} more than the other, it must win more "
            "than half of the calls."
        )
        name = "a large difference is seen"
        yield Control(name, passed, text, (rate.key,))


# -- caveats ---------------------------------------------------------------------------------------


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings, "tasks")
    so = "no verdict; the figures describe the readable rest, which may differ."
    yield from unread(readings, so)
    yield from _partial(readings)
    splits = estimates.family("position_component")
    if any(part.reason == NO_SPLIT.code for dims, part in splits if "prompt" not in dims):
        yield (
            "Pairs were read once per order: stable preference, slot preference and noise "
            "cannot be told apart with certainty."
        )
    if ladder_steps(estimates, "target_sensitivity"):
        yield (
            "The better response is the one that states more of the required elements. This is "
            "so by construction; quality in general is more than that."
        )
    padded, own = "filler_preference", estimates.known("target_sensitivity", set="natural")
    asked: dict[Question, Estimate | None] = {"length": estimates.known(padded), "people": own}
    yield from untested({question for question, known in asked.items() if known is not None})
    yield from about_repeats(readings)


def _partial(readings: Readings) -> Iterator[str]:
    """Pairs that lack a verdict in one order, counted and the first of them named."""
    pairs = arrange(readings)
    if pairs is None or not pairs.partial.any():
        return
    names = [f"{cell.stimulus}/{cell.pair}" for cell in pairs.cells[pairs.partial].itertuples()]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    read = int((pairs.verdicts != MISSING).any(axis=(1, 2)).sum())
    yield (
        f"{len(names)} of {read} pairs have a verdict in one order only and are left out of the "
        f"rates of pairs: {', '.join(names[:3])}{more}."
    )
