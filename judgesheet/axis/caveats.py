"""What the caveats of every axis say: few prompts, lost replies, what nobody asked."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from judgesheet.axis import Readings
from judgesheet.base.digits import percent

Question = Literal["length", "style", "own_model", "people"]
QUESTIONS: Mapping[Question, str] = {
    "length": "whether it prefers longer responses",
    "style": "whether it prefers a style or a format",
    "own_model": "whether it prefers responses of its own model",
    "people": "how far it agrees with people",
}
"""What a run says nothing about although users will ask."""
# Prompts below which a reader is warned: as few as leave rates without a large-sample interval.
_FEW_ASKED = 20
# Share of unreadable calls above which a reader is warned: a rate can be off by as much.
_MANY_UNREAD = 0.02


def few_asked(readings: Readings, what: str = "prompts") -> Iterator[str]:
    """The caveat of a run on few prompts (or tasks: `what`)."""
    stimuli, different = readings.made[["cluster", "stimulus"]].nunique()
    if 0 < stimuli < _FEW_ASKED:
        text = f"{what} were" if stimuli > 1 else f"{what.removesuffix('s')} was"
        text = text if stimuli == different else f"independent {text}"
        yield f"Only {stimuli} {text} asked; intervals are wide and few effects can be seen."


def unread(readings: Readings, so: str) -> Iterator[str]:
    """The caveat of a run in which many replies could not be read, and what follows (`so`)."""
    missing = readings.made["value"].isna()
    if len(missing) and missing.mean() > _MANY_UNREAD:
        yield f"{percent(float(missing.mean()))} of the calls gave {so}"


def untested(tested: Collection[Question] = ()) -> Iterator[str]:
    """The caveat that names the questions which a run did not ask."""
    left = [words for question, words in QUESTIONS.items() if question not in tested]
    if left:
        yield f"Not tested on this axis: {'; '.join(left)}."
