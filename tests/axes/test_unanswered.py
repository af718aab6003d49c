"""Not asked, failed, refused, unreadable: four faults with four sentences and remedies."""

import pytest

from judgesheet.axis import unanswered
from judgesheet.axis.unanswered import CallOutcomes


@pytest.mark.parametrize(
    ("calls", "says", "tone", "advises"),
    [
        (CallOutcomes(78, 0, 0, 0, 0), "Not asked yet: none of its 78 calls", "unknown", ""),
        (
            CallOutcomes(78, 0, 78, 0, 0),
            "No reply could be read (78 unreadable)",
            "bad",
            "Do not use it",
        ),
        (CallOutcomes(78, 0, 0, 40, 0), "Every call was refused (40 refused)", "bad", "it refuses"),
        (CallOutcomes(78, 0, 0, 0, 9), "Every call failed (9 failed)", "unknown", "Find out why"),
        (
            CallOutcomes(78, 0, 8, 70, 0),
            "No call gave a verdict (70 refused, 8 unreadable)",
            "bad",
            "it refuses",
        ),
    ],
)
def test_each_fault_has_its_words(calls: CallOutcomes, says: str, tone: str, advises: str) -> None:
    told = unanswered.find(calls)
    assert told.text.startswith(says)
    assert told.tone == tone
    advice = [one.text for one in unanswered.recommend("toy", calls)]
    assert bool(advice) == bool(advises)
    assert all(advises in text for text in advice)
