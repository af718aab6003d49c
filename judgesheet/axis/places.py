"""The share that each place gets, for axes that count what stands where."""

from collections.abc import Iterator

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Conditions, UnkeyedEstimate, wilson_beside
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.position import position_share
from judgesheet.stats.reads import total_calls

NOT_EVEN = Reason(
    "not_even",
    "the recorded orders do not show everything equally often at every place, so a judge that "
    "ignores the order would not give even shares",
)


def shares(counts: Floats | Ints, label: str, conditions: Conditions) -> Iterator[UnkeyedEstimate]:
    """The share that each place gets, from counts of shape (stimuli, places); `label` has {place}.

    Interval of a rate over stimuli, with the papers' Wilson interval over calls beside it.
    """
    total = float(counts.sum())
    for place, share in enumerate(position_share(counts) if total else (), start=1):
        yield UnkeyedEstimate(
            label.format(place=place),
            share,
            {"position": place},
            n=total_calls(counts),
            conditions=conditions,
            # As if calls on one prompt were independent: it covers .67 of 10 clusters of 6 with ICC
            # .5 (docs/notes/layout.md), and is there for comparison only.
            paper=wilson_beside(float(counts[:, place - 1].sum()), total, "Wilson over calls"),
        )
