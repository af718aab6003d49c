"""Why a figure has no value, or no interval: a code for programs and a sentence to print.

The general ones are here; an axis declares its own beside the figures that need them.
"""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Reason:
    """`code` is for programs, `sentence` for readers and may change at any time."""

    code: str
    sentence: str

    def saying(self, sentence: str) -> Self:
        """The same reason with a more specific sentence."""
        return replace(self, sentence=sentence)


NO_OBSERVATIONS = Reason("no_observations", "no observations")
ONE_CLUSTER = Reason("one_cluster", "one cluster: no interval")
CONSTANT = Reason("constant", "undefined: one side is constant")
NEVER_VARIED = Reason("never_varied", "it rests on fewer than three stimuli: no interval")
NO_FINITE_NUMBER = Reason("no_finite_number", "the computation gave no finite number")
NOT_RECORDED = Reason("not_recorded", "the records lack what this figure needs")
EQUAL_SCORES = Reason(
    "equal_scores", "undefined: every response gets the same mean score though quality varies"
)
NEARLY_EQUAL_SCORES = Reason(
    "nearly_equal_scores",
    "no interval: without one prompt every response gets the same mean score",
)
FLAT = frozenset({EQUAL_SCORES.code, NEARLY_EQUAL_SCORES.code})
"""Of a correlation with quality: the judge tells (nearly) nothing apart."""
PERFECT = Reason("perfect", "perfect correlation: no interval")
