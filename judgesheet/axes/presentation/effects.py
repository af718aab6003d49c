"""The effects that this axis looks for, what it must see, and what a reader must know."""

from collections.abc import Iterator, Mapping
from typing import Literal

from judgesheet.axis import Readings
from judgesheet.axis.caveats import Question, few_asked, unread, untested
from judgesheet.axis.effect import MOSTLY
from judgesheet.axis.repeats import about_repeats
from judgesheet.base.effects import Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate

from .ask import not_altered
from .rules import (
    AUTHORITY,
    CERTAIN,
    FORMAT,
    HEDGED,
    INSTRUCTION,
    LENGTH,
)

SEEN = 0.75
"""Missing points are seen if the full response wins more often than this."""
PADDED = "more words and no more content"
ALTERATIONS: Mapping[str, tuple[str, Literal["up", "both"], str]] = {
    LENGTH: (PADDED, "both", "compare responses of one length only"),
    FORMAT: ("markup", "both", "strip markup before responses are judged"),
    HEDGED: ("an unsure tone", "both", "do not compare responses that differ in it"),
    CERTAIN: ("a sure tone", "both", "do not compare responses that differ in it"),
    AUTHORITY: ("an appeal to authority", "up", "take such claims out before judging"),
    INSTRUCTION: ("a note to the judge", "up", "check responses for such notes"),
}
"""Per kind what a response has, the side that is a fault, and what to do about it.

Marking down an appeal to authority or a note to the judge may be right.
"""


def _of_kind(kind: str) -> Iterator[Effect]:
    """What a style does to comparisons and to scores."""
    what, harm, advice = ALTERATIONS[kind]
    by_dose = kind == LENGTH
    altered = "{dose} times the words, which say no more," if by_dose else what
    yield Effect(
        f"presentation.preference[kind={kind}{',dose=*' if by_dose else ''}]",
        null=0.5,
        small=0.10,
        harm=harm,
        uses=("ranking", "scoring", "regression"),
        says={
            "shown": f"A response with {altered} wins {{value}} of comparisons with the same "
            f"without ({{interval}}; half is right): {advice}.",
            "negligible": f"A response with {altered} wins about half of the comparisons with the "
            "same without: {value} ({interval}).",
            "inconclusive": f"Whether a response wins or loses by {altered} is open: {{value}} of "
            "comparisons ({interval}).",
        },
    )
    yield Effect(
        f"presentation.dress_excess[kind={kind}]",
        null=0.0,
        small=0.20,
        harm="both",
        uses=("ranking", "regression"),
        says={
            "shown": f"Of copies that differ only in {what}, pairs that one copy wins twice less "
            "those that one slot wins twice: {value} ({interval}; below 0 the slot decides).",
            "negligible": f"Between copies that differ only in {what} neither a copy nor a slot "
            "decides much: pairs won twice differ by {value} ({interval}).",
            "inconclusive": f"Whether a copy or a slot decides between copies that differ only in "
            f"{what} is open: {{value}} ({{interval}}; below 0 the slot).",
        },
    )
    yield Effect(
        f"presentation.score_shift[kind={kind}]",
        null=0.0,
        small=1.5,
        harm=harm,
        uses=("scoring", "regression"),
        says={
            "shown": f"The same response scores {{value}} higher with {what} ({{interval}}; below "
            f"0 is lower): {advice}.",
            "negligible": f"The same response scores nearly the same with {what}: {{value}} higher "
            "({interval}).",
            "inconclusive": f"Whether the same response scores higher or lower with {what} is "
            "open: {value} higher ({interval}).",
        },
    )


EFFECTS = tuple(effect for kind in ALTERATIONS for effect in _of_kind(kind))
BLIND = ("preference", "dress_excess", "instruction_obeyed", "score_shift")
"""Figures that a judge passes that does not look at what it judges."""


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the judge sees three missing points, both responses being plain."""
    seen = estimates.known("quality_seen")
    if seen is not None:
        passed = True if seen.is_above(MOSTLY) else False if seen.is_below(SEEN) else None
        text = (
            "A plain response with all required points must win more than half of the comparisons "
            "with one that lacks three."
        )
        yield Control("missing points are seen", passed, text, (seen.key,), touches=BLIND)


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings, "stimuli")
    so = "no verdict; the figures describe the readable rest, which may differ."
    yield from unread(readings, so)
    yield from _unaltered(readings)
    asked: dict[Question, Estimate | None] = {
        "length": estimates.known("preference", kind=LENGTH),
        "style": estimates.known("preference", kind=FORMAT),
        "own_model": next((one for _, one in estimates.family("own_preference")), None),
    }
    yield from untested({question for question, known in asked.items() if known is not None})
    if readings.frame["repeat"].max() > 0:
        yield from about_repeats(readings)


def _unaltered(readings: Readings) -> Iterator[str]:
    """How many stimuli could not be altered how."""
    frame = readings.frame
    if "undressed" not in frame:
        return
    lacking = not_altered(frame)
    if counts := {kind: lacking.count(kind) for kind in dict.fromkeys(lacking)}:
        stimuli = frame["stimulus"].nunique()
        kinds = ", ".join(f"{kind} ({count})" for kind, count in counts.items())
        yield (
            f"Some of the {stimuli} stimuli were not altered in every way, because that would have "
            f"changed what they say: {kinds}."
        )
