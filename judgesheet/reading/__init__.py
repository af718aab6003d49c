"""What a judge's reply says: one rule for all axes, in which words do not count.

A verdict stands behind a mark: `[RESULT]`, the name of a criterion, or a key of a JSON object. All
marks in a reply must hold the same one value of the scale, and each criterion or candidate must
have one. What is said before, between and behind marks is not looked at: in 430,000 replies of real
judges none took a verdict back in words alone, while those with two verdicts gave two marks.
"""

from dataclasses import dataclass
from typing import Any

from judgesheet.reading.reasons import Code


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says: its verdict, or None and the reason why there is none."""

    verdict: Any | None
    reason: Code | None = None

    @classmethod
    def lost(cls, reason: Code) -> "Reading":
        """The reading of a reply that says nothing, for this reason."""
        return cls(None, reason)


NO_VERDICT = Reading.lost("no_verdict")
TWO_VERDICTS = Reading.lost("two_verdicts")
OFF_SCALE = Reading.lost("off_scale")
INCOMPLETE = Reading.lost("incomplete")
CUT_OFF = Reading.lost("cut_off")
