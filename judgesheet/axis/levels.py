"""Are verdicts higher under some orders than under others, whatever stands where?

`unequal` compares what places get. A judge that gives everything a point more when the list is
turned round favours no place, and is told here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.statements import Sentence, announced, keys, p_value
from judgesheet.axis.unequal import LEVEL, NEVER_WAVERS, Stimuli
from judgesheet.base.digits import two_digits, with_noun
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Statement


def _points(gap: float) -> str:
    return with_noun(two_digits(gap), "point")


figure = Figures("", passes_blind=True)


@dataclass(frozen=True, slots=True)
class Levels:
    """Conditions of `level_p`: the orders surest to be highest and lowest, and their gap in points.

    The gap is that of the calls as they are: two orders of several always differ by some noise.
    """

    highest: list[str]
    lowest: list[str]
    gap: float

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        highest, lowest = ", ".join(self.highest), ", ".join(self.lowest)
        return f"by {_points(self.gap)}, highest in the order {highest}, lowest in {lowest}"


@figure("p", better="")
def level_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "the mean score is the same under every order": is a judge more lenient in one?

    Each call counts by how far its score (the mean of its scores) lies above the mean on its item,
    and these are added up by order over all stimuli and compared with exchanged orders. It finds a
    shift of all scores, which gives no place more than another; a place that is worth more can show
    in it, too. The conditions name the orders that differ most surely, and by how many points.
    """
    label = "p: the mean score is the same under every order"
    if stimuli.level is None:
        return absent(label, NEVER_WAVERS)
    found = stimuli.level
    conditions = Levels([*found.most], [*found.least], found.gap)
    return found.p_value(label, "distances", stimuli, conditions)


def find(estimates: Estimates) -> Iterator[Statement]:
    """That some orders bring higher scores than others."""
    test = estimates.known(LEVEL)
    if test is None or not announced(estimates, LEVEL):
        return
    yield Statement(
        f"Its scores are higher in some orders than in others ({p_value(test)}): on average "
        f"by {_points(test.given['gap'])} when the order is "
        f"{', '.join(test.given['highest'])} than when it is {', '.join(test.given['lowest'])}.",
        keys(test),
        "bad",
    )


SENTENCE = Sentence(find, of_moments=1)
