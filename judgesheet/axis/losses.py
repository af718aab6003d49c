"""Which calls gave no verdict, whether that is chance, and what they could have said.

And how many of the verdicts that were read stood on no lines of their own.

A call is lost if it was made and gave no verdict: it failed, was refused, or its reply could not be
read. A call that was not made yet is not lost. Every axis has these figures: it adopts them, adds
`measure` to its measuring and `find` to its findings.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags, Floats, Ints
from judgesheet.axis.figure import Conditions, Figure, Figures, UnkeyedEstimate, absent, measured
from judgesheet.axis.items import cell_names, codes, firsts, items, questions
from judgesheet.axis.statements import (
    UNSURE,
    Sentence,
    Tone,
    announced_of_losses,
    indicated,
    keys,
    p_value,
    share_with_interval,
    surely_above,
)
from judgesheet.base.digits import counted, percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.limits import MOST_IN_A_LIST, MOST_KINDS, MOST_NAMED
from judgesheet.base.missing_reasons import NO_OBSERVATIONS, Reason
from judgesheet.base.records import Estimate, Statement
from judgesheet.base.sanitize import brief, listed
from judgesheet.reading.reasons import REASONS
from judgesheet.stats.interval import by_cluster, cluster_rate, pooled, without_interval
from judgesheet.stats.losses import dispersion_p, permutation_p
from judgesheet.stats.reads import total_calls

if TYPE_CHECKING:
    import pandas as pd

Chosen = Callable[[Any, Sequence[Any]], Any]
"""What a verdict favours of the things that were listed in this order; None where nothing."""

MANY = 0.05
"""A share of lost calls that is a fault of the judge by itself."""
NO_COMPARISON = Reason(
    "no_comparison", "no stimulus has lost and read calls that differ in what was listed where"
)
ONE_STIMULUS = Reason("one_stimulus", "one stimulus, or every call was lost: nothing to compare")
# Keys of a cell that name what was judged, not under which condition.
_THINGS = {"item", "pair", "better"}

figure = Figures("")


def lost(frame: "pd.DataFrame") -> Flags:
    """Which calls were made and gave no verdict, shape (calls,)."""
    return (frame["outcome"].notna() & frame["value"].isna()).to_numpy(dtype=bool)


@dataclass(frozen=True, slots=True)
class MostLost:
    """Conditions of `loss_stimulus_p`: the stimulus that lost the largest share of its calls.

    Stimuli that share a group are one, with the calls on all of them.
    """

    stimuli: Sequence[str]  # a list, as it is read from a sheet
    lost: int
    calls: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"most: {_most_lost(self.stimuli, self.lost, self.calls)}"


def _most_lost(stimuli: Sequence[str], lost: int, calls: int) -> str:
    group = f" (a group of {len(stimuli)})" if len(stimuli) > 1 else ""
    return f"{lost} of {calls} calls on {listed(stimuli, MOST_NAMED)}{group}"


@dataclass(frozen=True, slots=True)
class Shaped:
    """Conditions of `loss_shape`: how many calls, by what is listed first, and by place.

    `by_place` counts by where the order lists what the judge favours in its other readings of the
    item, in parts of calls where it favours several.
    """

    calls: int
    by_first: Mapping[str, int]
    by_place: Mapping[str, float]

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        first = ", ".join(f"{name} ({count})" for name, count in self.by_first.items())
        places = ", ".join(f"place {place} ({count:g})" for place, count in self.by_place.items())
        parts = (counted(self.calls, "call"), first and f"listed first: {first}")
        where = places and f"its favourite at {places}"
        return "; ".join(part for part in (*parts, where) if part)


@dataclass(frozen=True, slots=True)
class Ended(Shaped):
    """`Shaped`, of replies that did not end by themselves; `by_reason` counts by finish reason."""

    by_reason: Mapping[str, int]

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        reasons = ", ".join(f"{name} ({count})" for name, count in self.by_reason.items())
        # Not super(): in a class with slots it looks for the class that there was before.
        return f"{Shaped.words.fget(self)}; finish reason: {reasons}"  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Questions:
    """Different questions: the first call on each, how many there are, and how many were lost."""

    first: Ints
    asked: Ints
    lost: Ints

    @classmethod
    def of(cls, question: Ints, gone: Flags) -> "Questions":
        """Those that calls with these codes asked."""
        lost = np.bincount(question[gone], minlength=int(question.max()) + 1)
        return cls(firsts(question), np.bincount(question), lost)


@dataclass(frozen=True)  # no slots: figures share what is cached
class Calls:
    """The calls that were made (one row of `frame` each), and which of them were lost.

    `chosen` says what a verdict favours. Calls of one item differ in the order (and repeat) alone,
    calls under one condition in what was judged besides.
    """

    frame: "pd.DataFrame"
    chosen: Chosen
    seed: int

    @cached_property
    def gone(self) -> Flags:
        """Whether a call was lost, shape (calls,)."""
        return lost(self.frame)

    @cached_property
    def _clusters(self) -> "tuple[Ints, pd.Index]":
        import pandas as pd

        code, names = pd.factorize(self.frame["cluster"], sort=True)
        return np.asarray(code, dtype=np.int64), names

    @property
    def cluster(self) -> Ints:
        """The cluster of each call's stimulus, as codes in the order of their names."""
        return self._clusters[0]

    @cached_property
    def orders(self) -> Sequence[Sequence[Any]]:
        """What was listed in each call, in displayed order."""
        return self.frame["order"].tolist()

    @cached_property
    def item(self) -> Ints:
        """The item of each call, as codes."""
        return items(self.frame)

    @cached_property
    def condition(self) -> Ints:
        """The condition of each call, as codes."""
        return codes(self.frame[[name for name in cell_names(self.frame) if name not in _THINGS]])

    @cached_property
    def ordered(self) -> Ints:
        """The item and order of each call, as codes: calls of one differ in the repeat alone."""
        return codes(self.frame[["order"]].assign(item=self.item))

    @cached_property
    def questions(self) -> Questions:
        """The orders of each item."""
        return Questions.of(self.ordered, self.gone)

    @cached_property
    def _repeat(self) -> Ints:
        """How often each call's question was asked before it."""
        return np.asarray(self.frame.groupby(self.ordered).cumcount(), dtype=np.int64)

    def permutation_p(self, features: Floats, within: "pd.DataFrame") -> float | None:
        """p-value of "losses do not depend on these features", of questions alike in `within`.

        What was asked more often has another law. So either questions that were asked equally often
        are compared, or all of them by as many calls as the one that was asked least; whichever
        compares more calls.
        """
        first, asked = self.questions.first, self.questions.asked
        alike, equally = codes(within.iloc[first]), codes(within.iloc[first].assign(asked=asked))
        fewest = np.full(len(first), asked.max())
        np.minimum.at(fewest, alike, asked)
        used, strata = max((asked, equally), (fewest[alike], alike), key=_compared)
        lost = np.bincount(
            self.ordered[self.gone & (self._repeat < used[self.ordered])], minlength=len(first)
        )
        return permutation_p(lost, features[first], strata, self.rng())

    @property
    def some(self) -> bool:
        """Whether any call was lost."""
        return bool(self.gone.any())

    @property
    def names(self) -> "pd.Index":
        """The names of the clusters, by code."""
        return self._clusters[1]

    @property
    def clusters(self) -> int:
        """Number of independent stimuli."""
        return len(self.names)

    @property
    def first(self) -> Floats:
        """Shape (m, things): 1 for the thing that was listed first, by its rank among all."""
        rank = [sorted(order, key=str).index(order[0]) for order in self.orders]
        return np.eye(max(map(len, self.orders)))[rank]

    @cached_property
    def favourite(self) -> Floats:
        """Shape (m, places): where the order of a call lists what the item's other orders favour.

        Shares of the readings of the item in other orders; NaN where there is none. Verdicts in a
        call's own order do not enter, so that lost and read calls are looked at alike.
        """
        favourite = np.full((len(self.orders), max(map(len, self.orders))), np.nan)
        choices = [
            None if gone else self.chosen(value, order)
            for value, order, gone in zip(self.frame["value"], self.orders, self.gone, strict=True)
        ]
        by_item: defaultdict[int, Counter[Any]] = defaultdict(Counter)
        by_order: defaultdict[int, Counter[Any]] = defaultdict(Counter)
        for item, own, choice, gone in zip(
            self.item, self.ordered, choices, self.gone, strict=True
        ):
            by_item[item][choice] += not gone
            by_order[own][choice] += not gone
        for call in self.questions.first:
            order, own = self.orders[call], self.ordered[call]
            others = by_item[self.item[call]].copy()
            # What the own order was answered never enters: where it is lost there is nothing
            # (docs/decisions/0016-lost-replies.md).
            others.subtract(by_order[own])
            if reads := others.total():
                favourite[call] = 0.0
                favourite[call, : len(order)] = [others[thing] / reads for thing in order]
        return favourite[self.questions.first][self.ordered]

    def shaped(self, mine: Flags) -> Shaped:
        """These calls, counted by what was listed first and by the place of the favourite."""
        first = Counter(str(self.orders[call][0]) for call in np.flatnonzero(mine).tolist())
        known = self.favourite[mine & ~np.isnan(self.favourite).any(axis=1)]
        # One decimal: sums of thirds come out as 2.9999999999999996.
        places = {str(at + 1): round(float(n), 1) for at, n in enumerate(known.sum(axis=0)) if n}
        by_first = dict(sorted(first.items())) if len(first) <= MOST_IN_A_LIST else {}
        given = int(mine.sum()), by_first, places
        reasons = self._reasons(mine)
        return Ended(*given, reasons) if reasons else Shaped(*given)

    def _reasons(self, mine: Flags) -> dict[str, int]:
        """How often the endpoint gave which finish reason for these calls, the commonest first."""
        if "finish_reason" not in self.frame:
            return {}
        endings = self.frame.loc[mine, "finish_reason"].dropna().map(brief)
        counted = Counter(endings.tolist()).most_common()
        more = sum(count for _, count in counted[MOST_KINDS:])
        return {**dict(counted[:MOST_KINDS]), **({"others": more} if more else {})}

    def rng(self) -> np.random.Generator:
        """A fresh generator from the run's seed, the same for every estimate that asks."""
        # 11: a stream of its own, so that no other figure's draws move these.
        return np.random.default_rng([self.seed, 11])


def _compared(used: tuple[Ints, Ints]) -> int:
    """How many calls are compared: of questions with so many, in these strata, all but one's."""
    calls, strata = used
    return int(calls.sum() - calls[firsts(strata)].sum())


# -- figures ---------------------------------------------------------------------------------------


@figure("rate")
def loss_rate(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """Share of calls that gave no verdict: failed, refused, or not readable.

    Calls that were not made yet do not count. With a place: the same by where the order lists what
    the judge favours in its other readings of the item, which a judge that loses calls by chance
    does equally often from everywhere. Every other figure of the axis describes the calls that were
    read; how far the lost ones could move it stands beside it.
    """
    if not calls.gone.size:
        yield absent("Calls without a verdict", NO_OBSERVATIONS)
        return
    counts = by_cluster(calls.gone.astype(float), calls.cluster)
    yield UnkeyedEstimate("Calls without a verdict", cluster_rate(*counts), n=calls.gone.size)
    for place, shares in enumerate(calls.favourite.T if calls.some else (), start=1):
        hits, asked = pooled(calls.cluster, np.where(calls.gone, shares, 0.0), shares)
        # Sums of the same shares in another order may be larger by rounding; a rate may not.
        rate = cluster_rate(np.minimum(hits, asked), asked)
        label = f"Calls without a verdict where its favourite stands at place {place}"
        yield UnkeyedEstimate(label, rate, {"place": place}, n=total_calls(asked))


@figure("p", better="")
def loss_order_p(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """p-value of "whether a call is lost does not depend on what is listed first".

    How many calls are lost is permuted over the orders of an item.
    """
    if calls.some:
        p = calls.permutation_p(calls.first, calls.frame[[]].assign(item=calls.item))
        yield permuted("p: lost calls and what is listed first", calls, p, "over an item's orders")


@figure("p", better="")
def loss_position_p(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """p-value of "whether a call is lost does not depend on where its favourite stands".

    The favourite of an item is what its readings in other orders choose. A judge that refuses when
    its favourite stands second loses nothing that any single order explains; this test sees it. How
    many calls are lost is permuted over the questions on a stimulus under one condition, or over
    all stimuli where no stimulus alone allows a comparison.
    """
    if not calls.some:
        return
    how, label = "over a stimulus's questions", "p: lost calls and the place of its favourite"
    within = calls.frame[["stimulus"]].assign(condition=calls.condition)
    p = calls.permutation_p(calls.favourite, within)
    if p is None:
        how = "over the questions of all stimuli"
        p = calls.permutation_p(calls.favourite, within[["condition"]])
    yield permuted(label, calls, p, how)


@figure("p", better="")
def loss_stimulus_p(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """p-value of "every stimulus loses its calls at the same rate".

    Dispersion of the lost calls over stimuli, against what questions lost dealt out at random: a
    question that was asked again is lost again, which is no second observation. Where it is small
    the other figures leave out what a few stimuli would have shown; the conditions name the worst.
    """
    if calls.some:
        gone, asked = by_cluster(calls.gone.astype(float), calls.cluster)
        worst = int(np.argmax(gone / asked))
        members = sorted(set(calls.frame["stimulus"][calls.cluster == worst].astype(str)))
        mine = Questions.of(questions(calls.frame), calls.gone)
        p = dispersion_p(mine.lost / mine.asked, calls.cluster[mine.first], calls.rng())
        how = "dispersion over clusters, lost questions drawn at random"
        estimate = UnkeyedEstimate(
            "p: every stimulus loses calls alike",
            without_interval(1.0 if p is None else p, clusters=calls.clusters, method=how),
            n=calls.gone.size,
            conditions=MostLost(members, int(gone[worst]), int(asked[worst])),
        )
        yield estimate.without_value(ONE_STIMULUS) if p is None else estimate


@figure("rate")
def loss_shape(calls: Calls) -> Iterator[UnkeyedEstimate]:
    """Share of calls that gave no verdict, by what came instead.

    Nothing, a refusal, no verdict behind the mark, two verdicts, and so on: `judgesheet cases`
    with `--outcome lost` shows the replies. The conditions count the same calls by what was listed
    first and by where the judge's favourite stood: a judge that refuses only where its favourite
    stands second biases every other figure. Replies that did not end by themselves are counted by
    the endpoint's reason too.
    """
    if "shape" not in calls.frame or not calls.some:
        return
    for code in calls.frame.loc[calls.gone, "shape"].value_counts(sort=True).index:
        mine = (calls.frame["shape"] == code).to_numpy(dtype=bool)
        counts = by_cluster(mine.astype(float), calls.cluster)
        label = f"Calls without a verdict: {REASONS[code].words}"
        given = calls.shaped(mine)
        yield UnkeyedEstimate(
            label, cluster_rate(*counts), {"shape": code}, n=mine.size, conditions=given
        )


def permuted(
    label: str, calls: Calls, p: float | None, how: str, conditions: Conditions | str = ""
) -> UnkeyedEstimate:
    """The estimate of a test that permutes how many calls on each question are lost."""
    if p is None:
        return absent(label, NO_COMPARISON)
    method = f"lost calls permuted {how}, Monte Carlo"
    found = without_interval(p, clusters=calls.clusters, method=method)
    return UnkeyedEstimate(label, found, n=calls.gone.size, conditions=conditions)


FIGURES: Mapping[str, Figure[Calls]] = {
    one.name: one for one in (loss_rate, loss_shape, loss_order_p, loss_position_p, loss_stimulus_p)
}
OF_KINDS = ("loss_kind_rate", "loss_kind_p")
"""The figures of `axis.loss_kinds`, which not every axis adopts."""
NAMES = frozenset({*FIGURES, *OF_KINDS})


def measure(
    axis: str,
    readings: Readings,
    chosen: Chosen,
    more: Mapping[str, Figure[Calls]] = MappingProxyType({}),
) -> Iterator[Estimate]:
    """The estimates of `FIGURES`, and `more`, that the caller wants, as those of an axis."""
    mine = {name: Figures(axis).of(one) for name, one in {**FIGURES, **more}.items()}
    if len(readings.frame):
        made = readings.frame[readings.frame["outcome"].notna()]
        yield from measured(mine, Calls(made, chosen, readings.seed), readings.families)


# -- words -----------------------------------------------------------------------------------------

_PATTERNS = {
    "loss_order_p": "what is listed first",
    "loss_position_p": "where the thing that it favours stands",
    "loss_stimulus_p": "the stimulus",
    "loss_kind_p": "the kind of question",
}


def find(estimates: Estimates) -> Iterator[Statement]:
    """Whether calls were lost, and whether by chance; nothing where none was."""
    rate = estimates.known("loss_rate")
    if rate is None or not rate.value:
        return
    tests = {name: test for name in _PATTERNS if (test := estimates.known(name)) is not None}
    sure = [name for name in tests if announced_of_losses(estimates, name)]
    shown = [name for name in tests if indicated(estimates, name)]
    text = f"It gives no verdict in {share_with_interval(rate)} of calls"
    if sure:
        depends = _depends(tests, sure)
        text = f"{text}, and not at random: it depends on {depends}{_where(estimates, sure)}."
        yield Statement(text, keys(rate, *(tests[name] for name in sure)), "bad")
    else:
        tone: Tone = "bad" if surely_above(rate, MANY) else "unknown" if shown else "neutral"
        least = min(tests.values(), key=lambda test: test.value or 0.0, default=None)
        if shown:
            text += (
                f"; there is some evidence that this depends on {_depends(tests, shown)}{UNSURE}"
            )
        elif least is not None:
            kinds = "loss_kind_p" in tests
            what = "order, place, stimulus or kind" if kinds else "order, place or stimulus"
            text += f"; it is not shown that this depends on {what} (smallest {p_value(least)})"
        yield Statement(f"{text}.", keys(rate, *tests.values()), tone)
    yield from _shapes(estimates)


def _depends(tests: Mapping[str, Estimate], names: Sequence[str]) -> str:
    """What lost calls depend on, each with its test."""
    return " and ".join(f"{_PATTERNS[name]} ({p_value(tests[name])})" for name in names)


def _shapes(estimates: Estimates) -> Iterator[Statement]:
    """What came instead of verdicts: counts, which accuse nobody."""
    shapes = estimates.family("loss_shape")
    if shapes:
        counts = [f"{REASONS[dims['shape']].words} ({one.given['calls']})" for dims, one in shapes]
        text = (
            f"What came instead of a verdict, with the number of calls: {', '.join(counts)}. "
            "`judgesheet cases --outcome lost` shows the replies."
        )
        yield Statement(text, keys(*(one for _, one in shapes)))


def _where(estimates: Estimates, shown: Sequence[str]) -> str:
    """The place, the stimulus or the kind that loses most."""
    parts = []
    if "loss_order_p" in shown:
        first: Counter[str] = Counter()
        for _, shape in estimates.family("loss_shape"):
            first.update(shape.given["by_first"])
        parts += [f"{n} of {first.total()} with {name} first" for name, n in first.most_common(1)]
    if "loss_position_p" in shown:
        rates = estimates.family("loss_rate")
        places = [
            (one.value, dims["place"])
            for dims, one in rates
            if "place" in dims and one.value is not None
        ]
        (most, worst), (least, best) = max(places), min(places)
        parts.append(f"{percent(most)} with it at place {worst}")
        if best != worst:
            parts[-1] += f", {percent(least)} at place {best}"
    if "loss_stimulus_p" in shown:
        test = estimates.known("loss_stimulus_p")
        given = {} if test is None else test.given
        parts.append(_most_lost(**given))
    if "loss_kind_p" in shown:
        test = estimates.known("loss_kind_p")
        given = {} if test is None else test.given
        parts.append("{lost} of {calls} calls of the kind {kind}".format(**given))
    return f": {'; '.join(parts)}" if parts else ""


# Three tests, and a bound of the rate; with `loss_kinds` a test more.
SENTENCE = Sentence(find, tests=1, of_losses=3)
WITH_KINDS = SENTENCE._replace(of_losses=4)


# -- imputing --------------------------------------------------------------------------------------


Row = Mapping[str, Any]
"""A row of a table: the keys of its cell, `repeat` and `value`."""


def split(frame: "pd.DataFrame") -> tuple[list[Row], list[Row]]:
    """The rows of the calls that were lost, and of those that were read."""
    gone, read = frame[lost(frame)], frame[frame["value"].notna()]
    return cast("list[Row]", gone.to_dict("records")), cast("list[Row]", read.to_dict("records"))


def answered(frame: "pd.DataFrame", values: Sequence[Any]) -> "pd.DataFrame":
    """The table with its lost calls answered by these values, in their order."""
    import pandas as pd

    filled = frame["value"].astype(object).copy()
    filled[lost(frame)] = pd.Series(list(values), index=frame.index[lost(frame)], dtype=object)
    return frame.assign(value=filled)


def even_places(
    groups: Sequence[Hashable],
    counts: Mapping[Any, Counter[int]],
    likely: Sequence[Sequence[float]],
) -> list[int]:
    """A place for each lost call so that the places of its group come out as even as they can.

    Parameters
    ----------
    groups
        Per lost call, the calls that it is counted with.
    counts
        Group -> how often each place was chosen by the calls read.
    likely
        Per lost call, how likely each of its places is; of the places to be filled up it gets the
        likeliest.
    """
    quota: dict[Hashable, Counter[int]] = {}
    for group, chances in zip(groups, likely, strict=True):
        here = quota.setdefault(group, Counter())
        seen = counts.get(group, Counter())
        here[min(range(len(chances)), key=lambda place: seen[place] + here[place])] += 1
    places = []
    for group, chances in zip(groups, likely, strict=True):
        left = quota[group]
        place = max(range(len(chances)), key=lambda one: (left[one] > 0, chances[one]))
        left[place] -= 1
        places.append(place)
    return places
