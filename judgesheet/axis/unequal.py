"""Does the order matter on every stimulus, on a few, or on none? Which are they?

A judge that is blind to the order except on one stimulus in ten has small averages. Here each
stimulus is tested alone, near copies of one together: if the order does not matter, the verdicts on
an item could be exchanged between its orders. Every axis has these figures: it adopts them, adds
`measure` to its measuring and `find` to its findings, and says what a verdict gives to each thing
listed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Conditions, Figure, Figures, UnkeyedEstimate, absent, measured
from judgesheet.axis.items import firsts, items, value_codes
from judgesheet.axis.serial import Number, PointsByPlace, mean_of
from judgesheet.axis.statements import (
    MOSTLY,
    ORDER_ERROR,
    SIGNIFICANT,
    UNSURE,
    Sentence,
    announced,
    keys,
    p_value,
)
from judgesheet.base.digits import two_digits, with_noun
from judgesheet.base.estimates import Estimates
from judgesheet.base.limits import MOST_EXAMPLES, MOST_ORDERS
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Estimate, Statement
from judgesheet.stats.exchange import Exchanged, Items, Stepdown, exchanged
from judgesheet.stats.interval import ROUNDING, cluster_rate, without_interval
from judgesheet.stats.repeats import alike_p

if TYPE_CHECKING:
    import pandas as pd

REST = 0.01
"""The other stimuli are said to show nothing only where their p-value together is above this: where
all stimuli share a weak effect some show it first, and the rest shows it together."""
MANY_ITEMS = 2_000
"""With so many items that waver, sums over them are normal: draws would take a third of the time of
`measure` for a million calls, and no more than 199 would be made, too few to announce by."""
ANYWHERE = "anywhere_p"
"""The test of all stimuli together, which an axis's own sentence on the order announces by."""
LEVEL = "level_p"
"""The test of one level under every order, where an axis has it (`levels`)."""
SHOWN_ONLY = "no upper end: effects too weak to be shown for one stimulus are not counted"
TOO_FEW = Reason(
    "too_few_calls",
    "no stimulus was read in enough calls under different orders to be tested alone",
)

NEVER_WAVERS = Reason("never_wavers", "no item was read several times with different verdicts")
READ_ONCE = Reason("read_once", "no item was read twice under one order and once under another")

figure = Figures("", passes_blind=True)


@dataclass(frozen=True, slots=True)
class Shown:
    """Conditions of `unequal_stimuli`: the stimuli on which the order is shown to matter.

    The largest effect comes first. `of` is the number of stimuli tested, `rest_p` the p-value of
    "the order does not matter" on all others together, None if there is no other. `in_common` is
    the share of their effects that is one effect of all: near 0 if they cancel in an average, None
    if none is shown.
    """

    stimuli: list[str]
    of: int
    rest_p: float | None
    in_common: float | None

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"{len(self.stimuli)} of {self.of} stimuli"


@dataclass(frozen=True, slots=True)
class Largest:
    """Conditions of `largest_stimulus_effect`: its stimulus, and what noise alone would give."""

    stimulus: str
    place: int
    by_noise: float
    unit: str

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"by noise alone {_worded(self.by_noise, self.unit)}"


@dataclass(frozen=True, slots=True)
class Wavering:
    """Conditions of `wavering_p`: the order under which verdicts waver most.

    `beside_level` is about the p-value if all verdicts under an order are moved to one mean: what a
    shift of all scores does not explain. None where nothing is left.
    """

    order: list[str]
    beside_level: float | None

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"most in the order {', '.join(self.order)}"


def _worded(effect: float, unit: str) -> str:
    """An effect in percentage points of all choices, or in points of the scale."""
    number = two_digits(100 * effect if unit == "share" else effect)
    if unit == "share":
        return f"{with_noun(number, 'percentage point')} of choices"
    return with_noun(number, "point")


def _named(stimuli: Sequence[str]) -> str:
    more = f" and {len(stimuli) - MOST_EXAMPLES} more" if len(stimuli) > MOST_EXAMPLES else ""
    return f": {', '.join(stimuli[:MOST_EXAMPLES])}{more}" if stimuli else ""


@dataclass(frozen=True, slots=True)
class ByOrder:
    """Whether the calls under every order give alike: the p-value, and how it was found.

    `most` and `least` are the orders of which it is surest that they give more, and less; they give
    `gap` a call more and less than the mean of their items, taken together.
    """

    p: float
    how: str
    most: tuple[str, ...]
    least: tuple[str, ...]
    gap: float

    def p_value(
        self, label: str, distances: str, stimuli: "Stimuli", conditions: Conditions
    ) -> UnkeyedEstimate:
        """The figure of that p-value; `distances` are those of calls that were compared."""
        method = f"orders exchanged within items, {distances} from the item's mean, {self.how}"
        value = without_interval(self.p, clusters=stimuli.frame["cluster"].nunique(), method=method)
        return UnkeyedEstimate(label, value, n=len(stimuli.frame), conditions=conditions)


@dataclass(frozen=True)  # no slots: figures share what is cached
class Stimuli:
    """The calls that were read (one row of `frame` each), stimulus by stimulus.

    `points_by_place` says what a verdict gives to each thing listed, in `unit`; `number` is what it
    counts as a whole.
    """

    frame: "pd.DataFrame"
    points_by_place: PointsByPlace
    number: Number
    unit: str
    seed: int

    @cached_property
    def _read(self) -> "pd.DataFrame":
        return self.frame[self.frame["value"].notna()]

    @cached_property
    def _all(self) -> Exchanged:
        """What the places of each stimulus get."""
        # 13: a stream of its own, so that no other figure's draws move these.
        rng = np.random.default_rng([self.seed, 13])
        return exchanged([items for items, _ in self._groups], self._stimulus, self._places, rng)

    @cached_property
    def _item(self) -> Ints:
        # Arms differ in which orders they show: the calls of an item are all exchangeable.
        return items(self._read, across_arms=True)

    @cached_property
    def _stimulus(self) -> Ints:
        stimulus = np.zeros(int(self._item.max(initial=-1)) + 1, dtype=np.int64)
        stimulus[self._item] = value_codes(self._read["cluster"])
        return stimulus

    @cached_property
    def _orders(self) -> tuple[Sequence[Any], Ints]:
        return _distinct(self._read["order"])

    @property
    def _places(self) -> int:
        return max(map(len, self._orders[0]), default=0)

    @cached_property
    def _verdicts(self) -> tuple[Sequence[tuple[Any, Sequence[Any]]], Ints]:
        """The different verdicts with the orders they were given in, and which of them each is."""
        orders, order = self._orders
        verdicts, verdict = _distinct(self._read["value"])
        pairs, pair = np.unique(verdict * len(orders) + order, return_inverse=True)
        numbers = zip(*divmod(pairs, max(1, len(orders))), strict=True)
        return [(verdicts[v], orders[o]) for v, o in numbers], pair

    @cached_property
    def _points(self) -> Floats:
        """What each different verdict gives to places."""
        verdicts, _ = self._verdicts
        points = np.zeros((len(verdicts), self._places))
        for row, (verdict, shown) in enumerate(verdicts):
            points[row, : len(shown)] = self.points_by_place(verdict, shown)
        return points

    @cached_property
    def _groups(self) -> list[tuple[Items, Ints]]:
        orders, order = self._orders
        return list(_groups(self._item, order, orders, self._verdicts[1], self._points))

    @cached_property
    def repeats_p(self) -> float | None:
        """The p-value of "repeats of a call are like the first reading, and independent of it".

        None where none was read twice beside another order.
        """
        orders, order = self._orders
        verdicts, which = self._verdicts
        to_things = np.zeros_like(self._points)
        for row, (_, shown) in enumerate(verdicts):
            places = sorted(range(len(shown)), key=lambda place: str(shown[place]))
            to_things[row, : len(shown)] = self._points[row, places]
        # Calls on an item that list other things cannot be compared.
        things = [sorted(map(str, shown)) for shown in orders]
        listed = np.array([things.index(one) for one in things], dtype=np.int64)
        item = _joint(self._item, listed[order])
        # Records do not say which reading came first.
        asked = bool((self._read["reply"] != "recorded").all())
        turns = [np.arange(len(item)), self._read["repeat"].to_numpy()] if asked else []
        return alike_p(
            to_things[which],
            self._points[which],
            _joint(item, order),
            item,
            value_codes(self._read["cluster"]),
            turns,
        )

    @cached_property
    def wavering(self) -> ByOrder | None:
        """How far verdicts lie from the mean verdict on their item, squared, by order.

        None where no item was read often enough to waver.
        """

        def squared(group: Items, _: Ints) -> Floats:
            centred = group.points - group.points.mean(axis=1, keepdims=True)
            distances: Floats = np.square(centred).sum(axis=2)
            return distances

        return self._by_order(squared, 14)

    @cached_property
    def level(self) -> ByOrder | None:
        """How far verdicts lie above the mean verdict on their item, by order; None likewise."""
        return self._by_order(lambda _, rows: self._above[rows], 15)

    @cached_property
    def beside_level(self) -> ByOrder | None:
        """How far verdicts lie from the mean of their item and from that of their order, squared.

        An order's mean takes away some noise of its own calls, so that this is no exact test.
        """
        order = self._orders[1]
        mean = np.bincount(order, weights=self._above) / np.maximum(1, np.bincount(order))
        squared = np.square(self._above - mean[order])
        return self._by_order(lambda _, rows: squared[rows])

    @cached_property
    def _above(self) -> Floats:
        """By how much the verdict of each call lies above the mean verdict on its item."""
        verdicts, which = self._verdicts
        numbers = np.array([self.number(verdict, shown) for verdict, shown in verdicts])[which]
        mean = np.bincount(self._item, weights=numbers) / np.bincount(self._item)
        above: Floats = numbers - mean[self._item]
        return above

    def _by_order(
        self, amounts: Callable[[Items, Ints], Floats], stream: int | None = None
    ) -> ByOrder | None:
        """What calls give by order, compared with exchanged orders; rare orders count as one.

        `amounts` are those of a group's calls, (items, calls), of which it gets the rows too.
        Without a `stream` nothing is drawn.
        """
        orders, order = self._orders
        common = np.argsort(-np.bincount(order, minlength=len(orders)), kind="stable")[:MOST_ORDERS]
        place = np.full(len(orders), len(common))
        place[common] = np.arange(len(common))
        groups = [
            Items(group.number, amounts(group, rows)[:, :, None], place[order[rows[0]]][:, None])
            for group, rows in self._groups
        ]
        # Likewise a stream of its own.
        rng = np.random.default_rng([self.seed, stream or 0])
        found = exchanged(groups, self._stimulus, len(common) + 1, rng)
        if not found.varying:  # nor were there any calls
            return None
        named = slice(len(common))
        excess = (found.observed - found.mean).sum(axis=0)[named]
        noise = np.sqrt(np.einsum("spp->p", found.covariance)[named])
        # Surest, not farthest: that would be an order which few calls have.
        sure = np.divide(excess, noise, out=np.zeros_like(excess), where=noise > ROUNDING)
        most, least = int(sure.argmax()), int(sure.argmin())
        by_call = excess / np.bincount(place[order], minlength=len(common) + 1)[named]
        many = stream is None or found.varying >= MANY_ITEMS
        return ByOrder(
            found.together_by_chi_square() if many else found.together_p(groups, rng),
            "chi-square" if many else "Monte Carlo",
            tuple(map(str, orders[common[most]])),
            tuple(map(str, orders[common[least]])),
            float(by_call[most] - by_call[least]),
        )

    @cached_property
    def tested(self) -> Ints:
        """The stimuli of which the calls allow a test of each alone, by number."""
        # With fewer than twenty different exchanges no p-value can fall below .05.
        return np.flatnonzero(self._all.log_ways >= log(1 / SIGNIFICANT))

    @cached_property
    def names(self) -> Sequence[str]:
        """The stimuli that are tested."""
        return [str(name) for name in self._read["cluster"].unique()[self.tested]]

    @property
    def calls(self) -> Ints:
        """Calls on each of these stimuli."""
        return self._all.calls[self.tested]

    @property
    def effects(self) -> Floats:
        """What each place gets too much on each of these stimuli, (stimuli, places)."""
        return self._all.departure[self.tested]

    @cached_property
    def compared(self) -> Stepdown:
        """The p-value of each of these stimuli, corrected for their number, and of the others."""
        return self._all.stepdown(self.tested, SIGNIFICANT)

    @property
    def shown(self) -> tuple[str, ...]:
        """The stimuli on which the order is shown to matter, the largest effect first."""
        shown = self._shown
        # Stable: stimuli with equal effects keep their order, and the sheet its words.
        largest = np.argsort(-self.effects[shown].max(axis=1, initial=-np.inf), kind="stable")
        return tuple(self.names[at] for at in shown[largest])

    @property
    def in_common(self) -> float | None:
        """Share of the effects on these stimuli that is one effect of all."""
        return self._all.in_common(self.tested[self._shown])

    @cached_property
    def _shown(self) -> Ints:
        return np.flatnonzero(self.compared.p < SIGNIFICANT)


def _joint(codes: Ints, more: Ints) -> Ints:
    """A code from 0 per pair of codes."""
    pairs = codes * (int(more.max(initial=0)) + 1) + more
    joint: Ints = np.unique(pairs, return_inverse=True)[1]
    return joint


def _distinct(values: "pd.Series[Any]") -> tuple[Sequence[Any], Ints]:
    """The different values, and which of them each is."""
    found = value_codes(values)
    return values.iloc[firsts(found)].tolist(), found


def _groups(
    item: Ints, order: Ints, orders: Sequence[Sequence[Any]], verdict: Ints, points: Floats
) -> Iterator[tuple[Items, Ints]]:
    """The items by what their calls listed where, and the rows of their calls, (items, calls).

    `points` says what a verdict under an order gives to places, `verdict` which of them a call has.
    """
    by_item, sizes = np.argsort(item, kind="stable"), np.bincount(item)
    begins = np.cumsum(sizes) - sizes
    for calls in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == calls)
        rows = by_item[begins[alike][:, None] + np.arange(calls)]
        lists, which = np.unique(order[rows], axis=0, return_inverse=True)
        members = np.split(
            np.argsort(which.ravel(), kind="stable"), np.cumsum(np.bincount(which.ravel()))[:-1]
        )
        for listed, mine in zip(lists.tolist(), members, strict=True):
            shown = [orders[one] for one in listed]
            things = sorted({thing for one in shown for thing in one}, key=str)
            where = np.full((calls, len(things)), -1, dtype=np.int64)
            for call, one in enumerate(shown):
                where[call, [things.index(thing) for thing in one]] = range(len(one))
            called = points[verdict[rows[mine]]]
            at_places = np.take_along_axis(called, np.maximum(where, 0)[None], axis=2)
            at_places[:, where < 0] = 0.0
            yield Items(alike[mine], at_places, where), rows[mine]


# -- figures ---------------------------------------------------------------------------------------


@figure("share", symbol="U", null=0.0, headline=150)
def unequal_stimuli(stimuli: Stimuli) -> UnkeyedEstimate:
    """Share of stimuli for which the order is shown to matter by that stimulus's own calls.

    Each stimulus is tested alone: the orders of an item's calls are exchanged, and what each place
    gets is compared, corrected for the number of stimuli (Westfall-Young). Where the order matters
    nowhere, this is 0 in 95 of 100 runs. It counts effects that are shown, not all that exist: with
    few calls a stimulus shows only strong effects, so that the interval, that of a rate over
    stimuli, has a lower end only.
    """
    label = "Stimuli for which the order is shown to matter"
    if not stimuli.names:
        return absent(label, TOO_FEW)
    shown, hits = stimuli.shown, (stimuli.compared.p < SIGNIFICANT).astype(float)
    conditions = Shown(list(shown), hits.size, stimuli.compared.rest_p, stimuli.in_common)
    calls = int(stimuli.calls.sum())
    rate = cluster_rate(hits, np.ones_like(hits))
    # Weak effects are not counted, so nothing bounds the share from above.
    at_least = replace(rate, high=None, bounds=None, note=SHOWN_ONLY)
    return UnkeyedEstimate(
        label, at_least, n=calls, conditions=conditions, note=_named(shown).removeprefix(": ")
    )


@figure("p", better="")
def any_stimulus_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "the order matters on no stimulus": the least over stimuli, corrected.

    As `unequal_stimuli`. It finds an effect that a few stimuli carry, which tests of averages over
    stimuli miss; for a weak effect shared by all stimuli it needs more data than they do.
    """
    label = "p: the order matters for no stimulus"
    if not stimuli.names:
        return absent(label, TOO_FEW)
    method = "orders exchanged within items, step-down over clusters, Monte Carlo"
    p = without_interval(
        float(stimuli.compared.p.min()), clusters=len(stimuli.names), method=method
    )
    return UnkeyedEstimate(label, p, n=int(stimuli.calls.sum()))


@figure("p", better="")
def anywhere_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "the order matters on no stimulus", by the calls on all of them together.

    What each place gets is compared with exchanged orders in two ways: added up over stimuli, and
    as the sum of each stimulus's own squares, where nothing cancels. The smaller p-value counts,
    corrected for being the smaller of two. So it finds an effect that all share, one that differs
    in direction, and one on some stimuli that is too weak to be shown on any of them alone.
    """
    label = "p: the order matters nowhere, by all stimuli together"
    if not stimuli.names:
        return absent(label, TOO_FEW)
    method = "orders exchanged within items, sum and sum of squares over clusters, Monte Carlo"
    p = without_interval(stimuli.compared.anywhere_p, clusters=len(stimuli.names), method=method)
    return UnkeyedEstimate(label, p, n=int(stimuli.calls.sum()))


@figure("p", better="")
def wavering_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "verdicts waver alike under every order": is a judge less steady in one of them?

    Each call counts by the square of its distance from the mean verdict on its item, and these are
    added up by order over all stimuli and compared with exchanged orders. It finds noise that only
    some orders bring, which no average of scores or winners shows; an order that moves verdicts far
    shows in it, too. It needs items that were read several times.
    """
    label = "p: verdicts waver alike under every order"
    if stimuli.wavering is None:
        return absent(label, NEVER_WAVERS)
    beside = None if stimuli.beside_level is None else stimuli.beside_level.p
    conditions = Wavering([*stimuli.wavering.most], beside)
    return stimuli.wavering.p_value(label, "squared distances", stimuli, conditions)


@figure("p", better="")
def repeats_p(stimuli: Stimuli) -> UnkeyedEstimate:
    """p-value of "asking again gives readings like the first": do repeats measure noise at all?

    The first two readings under an order are compared, by the sequence of asking and by the number
    of the repeat: which is nearer to the item's readings under other orders, in what it gives to
    things and to places? And two readings of one order must not differ more than those of two
    orders. The least of three p-values, corrected for their number. Where it rejects, what is
    called noise is none, and nothing is known of changes beyond it. Records do not say which
    reading came first; of them there is the last comparison alone.
    """
    label = "p: asking again gives readings like the first"
    if stimuli.repeats_p is None:
        return absent(label, READ_ONCE)
    method = "first against second readings, bound on sums of random signs; t over clusters"
    read = stimuli.frame[stimuli.frame["value"].notna()]
    p = without_interval(stimuli.repeats_p, clusters=read["cluster"].nunique(), method=method)
    return UnkeyedEstimate(label, p, n=len(read))


@figure("share", symbol="E_max", headline=151)
def largest_stimulus_effect(stimuli: Stimuli) -> UnkeyedEstimate:
    """The most that a place gets on one stimulus beyond what it would if the order did not matter.

    For a judge that chooses, the excess share of its choices (.8 if it always takes one place of
    five); for a judge that scores, points per call. The largest of many noisy figures is biased
    upwards, so the conditions say what noise alone would give; the note names the stimulus.
    """
    label = "Largest effect of the order on one stimulus"
    if not stimuli.names:
        return absent(label, TOO_FEW)
    effects = stimuli.effects
    worst, place = map(int, np.unravel_index(effects.argmax(), effects.shape))
    name, by_noise = stimuli.names[worst], float(stimuli.compared.by_noise.mean())
    method = "largest mean over a cluster's calls minus that of exchanged orders; no interval"
    value = without_interval(float(effects.max()), clusters=len(effects), method=method)
    conditions = Largest(name, place + 1, by_noise, stimuli.unit)
    note = f"at place {place + 1} on {name}"
    calls = int(stimuli.calls[worst])
    return UnkeyedEstimate(
        label, value, n=calls, conditions=conditions, note=note, unit=stimuli.unit
    )


FIGURES: Mapping[str, Figure[Stimuli]] = {
    one.name: one
    for one in (
        *(unequal_stimuli, any_stimulus_p, anywhere_p, wavering_p, repeats_p),
        largest_stimulus_effect,
    )
}
NAMES = frozenset(FIGURES)


def measure(
    axis: str,
    readings: Readings,
    points_by_place: PointsByPlace,
    unit: str = "share",
    number: Number | None = None,
    more: Mapping[str, Figure[Stimuli]] = MappingProxyType({}),
) -> Iterator[Estimate]:
    """The estimates of `FIGURES` that the caller wants, as those of an axis, and its own `more`.

    Without a `number` a verdict counts as the mean of its points.
    """
    mine = {name: Figures(axis).of(one) for name, one in {**FIGURES, **more}.items()}
    if len(readings.frame):
        number = number or mean_of(points_by_place)
        stimuli = Stimuli(readings.frame, points_by_place, number, unit, readings.seed)
        yield from measured(mine, stimuli, readings.families)


# -- the sentence ----------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The stimuli on which the order matters, where no average over stimuli would tell of them.

    That is where a few carry the effect, or where it differs in direction and cancels.
    """
    share, largest = estimates.known("unequal_stimuli"), estimates.known("largest_stimulus_effect")
    if share is None or largest is None or not share.value:
        return
    others = _few(share) or _cancelling(share)
    if not others:
        return
    test, sure = estimates.known("any_stimulus_p"), announced(estimates, "any_stimulus_p")
    which = f"{len(share.given['stimuli'])} of {share.given['of']} stimuli{others}"
    p = "" if test is None else f" ({p_value(test)}, corrected for their number)"
    text = f"The order is shown to matter for {which}{p}"
    if not sure:
        text = f"There is some evidence that the order matters for {which}{p}{UNSURE}"
    noise = _worded(largest.given["by_noise"], largest.unit)
    text = (
        f"{text}{_named(share.given['stimuli'])}. On {largest.given['stimulus']}, place "
        f"{largest.given['place']} gets {_worded(largest.value or 0.0, largest.unit)} too much, "
        f"and by noise alone {noise}."
    )
    yield Statement(text, keys(share, largest, test), "bad" if sure else "unknown")


def _few(share: Estimate) -> str:
    """What is said of the other stimuli, where a few alone carry the effect."""
    rest_p = share.given["rest_p"]
    few = (share.value or 0.0) <= MOSTLY and rest_p is not None and rest_p >= REST
    return " and not for the others" if few else ""


def _cancelling(share: Estimate) -> str:
    """What is said where the effect differs in direction and averages hide it."""
    in_common = share.given["in_common"]
    cancels = in_common is not None and in_common < MOSTLY
    return ", in opposite directions that cancel in averages" if cancels else ""


SENTENCE = Sentence(find, of_order=1)


def find_wavering(estimates: Estimates) -> Iterator[Statement]:
    """That verdicts waver more under some orders, where no average shows that the order matters."""
    test = estimates.known("wavering_p")
    if test is None or not announced(estimates, "wavering_p") or announced(estimates, ANYWHERE):
        return
    beside = test.given["beside_level"]
    if announced(estimates, LEVEL) and (beside is None or beside >= ORDER_ERROR):
        return
    yield Statement(
        "Its verdicts vary more in some orders than in others, most when the order is "
        f"{', '.join(test.given['order'])} ({p_value(test)}): averages over orders hide this, "
        "single readings do not.",
        keys(test),
        "bad",
    )


WAVERS = Sentence(find_wavering, of_moments=1)
