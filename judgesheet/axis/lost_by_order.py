"""Answers to lost calls that make the order look as decisive as it can, or as idle.

Changes between orders beyond those between repeats of one order are most where a lost call repeats
what was read under its own order and contradicts every other order, and fewest where it does the
reverse. An answer that is the same under every order does neither.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from judgesheet.axis.losses import Row

T = TypeVar("T", bound=Hashable)
Pick = Mapping[Hashable, float]
"""What a reading chose: option -> its share, several where they are tied; shares sum to 1."""
PASSES = 3
"""How often each lost reading is decided, given what the others are answered by then."""


class Vote(NamedTuple):
    """What a call picked under an order, as its only choice; or what a lost one could pick."""

    group: Hashable
    order: Hashable
    choices: Sequence[Pick]


@dataclass(slots=True)
class _Group:
    """The picks of one thing: their sums under each order and over all, and how many there are."""

    under: defaultdict[Hashable, defaultdict[Hashable, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    total: defaultdict[Hashable, float] = field(default_factory=lambda: defaultdict(float))
    calls: Counter[Hashable] = field(default_factory=Counter)

    def add(self, order: Hashable, pick: Pick, sign: int = 1) -> None:
        """Count a pick in, or out again."""
        for option, share in pick.items():
            self.under[order][option] += sign * share
            self.total[option] += sign * share

    def excess(self, order: Hashable, pick: Pick) -> float:
        """What a pick adds to the changes between orders, less those between repeats."""
        calls, squares = self.calls.total(), sum(n * n for n in self.calls.values())
        repeats, orders = max(1, squares - calls) / 2, max(1, calls * calls - squares) / 2
        under = self.under[order]
        return sum(
            share * (under[option] / repeats - (self.total[option] - under[option]) / orders)
            for option, share in pick.items()
        )


def by_order(votes: Sequence[Vote], *, decisive: bool) -> list[int]:
    """Which of its choices each vote takes so that the order decides as much as it can.

    Or, unless `decisive`, as little. Of choices that are alike in this the first is taken.
    """
    groups: defaultdict[Hashable, _Group] = defaultdict(_Group)
    for group, order, choices in votes:
        groups[group].calls[order] += 1
        if len(choices) == 1:
            groups[group].add(order, choices[0])
    sign, taken = 1 if decisive else -1, [0] * len(votes)
    for passed in range(PASSES):
        for at, (group, order, choices) in enumerate(votes):
            if len(choices) > 1:
                picks = groups[group]
                if passed:
                    picks.add(order, choices[taken[at]], -1)
                worth = [sign * picks.excess(order, pick) for pick in choices]
                taken[at] = worth.index(max(worth))
                picks.add(order, choices[taken[at]])
    return taken


def choices_by_order(
    lost: Sequence[tuple[Hashable, Hashable, Sequence[T]]],
    read: Iterable[tuple[Hashable, Hashable, T]],
    *,
    decisive: bool,
) -> list[T]:
    """What each lost call chooses so that choices change with the order as often as they can.

    Or, unless `decisive`, as seldom. A call is what was asked, the order, and the choice; of a lost
    one those that it has.
    """
    asked = {group for group, _, _ in lost}  # others have nothing to decide
    votes = [
        *(Vote(group, order, [{one: 1.0} for one in choices]) for group, order, choices in lost),
        *(Vote(group, order, [{one: 1.0}]) for group, order, one in read if group in asked),
    ]
    taken = by_order(votes, decisive=decisive)
    return [choices[at] for (_, _, choices), at in zip(lost, taken, strict=False)]


def tops_by_order(
    lost: Sequence[Row],
    read: Sequence[Row],
    score: Callable[[Row], float],
    ends: Callable[[Row], tuple[float, float]],
    *,
    decisive: bool,
) -> list[bool]:
    """Which lost calls give their response the top score, all others giving it the lowest.

    So that the best response of a prompt, in one reading of all its responses, changes with the
    order as often as it can, or, unless `decisive`, as seldom. `score` is what a call gave that was
    read, `ends` the least and the most that a lost one could give.
    """
    scores: defaultdict[tuple[Hashable, ...], dict[str, float]] = defaultdict(dict)
    gone: defaultdict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for at, call in enumerate(lost):
        gone[_reading(call)].append(at)
    asked = {call["stimulus"] for call in lost}  # others have nothing to decide
    for call in read:
        if call["stimulus"] in asked:
            scores[_reading(call)][call["item"]] = score(call)
    # The call that may get the top, of each reading that lost some; of the others there is none.
    topped = [(key, (None, *gone.get(key, ()))) for key in {**gone, **scores}]

    def best(key: tuple[Hashable, ...], top: int | None) -> Pick:
        given = {lost[at]["item"]: ends(lost[at])[at == top] for at in gone.get(key, ())}
        return _best({**scores.get(key, {}), **given})

    votes = [Vote(key[:-2], key[-2], [best(key, top) for top in tops]) for key, tops in topped]
    taken = by_order(votes, decisive=decisive)
    won = {tops[at] for (_, tops), at in zip(topped, taken, strict=True)}
    return [at in won for at in range(len(lost))]


def _reading(call: Row) -> tuple[Hashable, ...]:
    """One reading of all the responses to a prompt: prompt, conditions, order, repeat."""
    return (
        call["stimulus"],
        call["arm"],
        str(call.get("scale")),
        tuple(call["order"]),
        call["repeat"],
    )


def _best(scores: Mapping[str, float]) -> Pick:
    top = max(scores.values())
    best = [item for item, score in scores.items() if score == top]
    return dict.fromkeys(best, 1 / len(best))
