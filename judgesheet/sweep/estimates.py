"""The estimates of a sweep: those it follows under every value of the knob, and their trends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgesheet.axis import Axis, Readings
from judgesheet.keys import Key
from judgesheet.keys import key as key_of
from judgesheet.records import AxisResult, Datasheet, Estimate
from judgesheet.stats.interval import by_cluster, cluster_rate
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.trend import Trend, jackknife_trend
from judgesheet.sweep.knob import Knob


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of the knob: its sheet, and the readings behind it by axis."""

    value: str
    sheet: Datasheet
    readings: Mapping[str, Readings]

    def result(self, axis: Axis) -> AxisResult | None:
        """What the setting's sheet says of an axis, if it was asked about."""
        return next((result for result in self.sheet.axes if result.name == axis.NAME), None)

    def values(self, axis: Axis, stimuli: frozenset[str]) -> dict[str, float | None]:
        """The followed estimates from these stimuli alone: value by key."""
        readings = self.readings[axis.NAME]
        frame = readings.frame[readings.frame["stimulus"].isin(stimuli)]
        if frame.empty:
            return {}
        families = frozenset(Key.parse(key).name for key in axis.SWEEP_KEYS)
        some = replace(readings, frame=frame, families=families)
        return {estimate.key: estimate.value for estimate in axis.measure(some)}


@dataclass(frozen=True, slots=True)
class Followed:
    """An estimate of an axis, under each value of the knob that has it, and how it changes.

    `key` and `label` are those of the axis. Without `slope` and `slope_p` no trend was looked for.
    """

    key: str
    label: str
    levels: Mapping[str, Estimate]
    slope: Estimate | None = None
    slope_p: Estimate | None = None


def followed(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> Iterator[Followed]:
    """The estimates that the axis wants followed, the bias first."""
    trends = _trends(knob, axis, settings)
    slopes = dict(zip(trends, trend(knob, axis, trends), strict=True))
    tests = dict(zip(trends, trend_p(knob, axis, trends), strict=True))
    for key in axis.SWEEP_KEYS:
        own = _by_value(axis, key, settings)
        label = next((estimate.label for estimate in own.values()), "")
        levels = {value: _under(knob, value, estimate) for value, estimate in own.items()}
        yield Followed(key, label, levels, slopes.get(key), tests.get(key))


def _by_value(axis: Axis, key: str, settings: Sequence[Setting]) -> dict[str, Estimate]:
    """An estimate under every value that has it."""
    results = {setting.value: setting.result(axis) for setting in settings}
    return {
        value: estimate
        for value, result in results.items()
        if result is not None
        for estimate in result.estimates
        if estimate.key == key
    }


def _under(knob: Knob, value: str, estimate: Estimate) -> Estimate:
    """The estimate with the knob as a further dimension."""
    return replace(
        estimate,
        key=str(Key.parse(estimate.key).at(**{knob.name: value})),
        label=f"{estimate.label}, {knob.name} {value}",
    )


def unreadable_share(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> Followed:
    """Share of a setting's answered calls that gave no readable verdict, refusals included.

    Interval over stimuli.
    """
    key, label = key_of(axis.NAME, "unreadable_share"), "Replies without a readable verdict"
    levels = {}
    for setting in settings:
        table = setting.readings[axis.NAME].frame
        asked = table[table["outcome"].isin(["ok", "refused"])]
        lost, calls = by_cluster(asked["value"].isna().astype(float), asked["stimulus"])
        share = cluster_rate(lost, calls)
        estimate = Estimate(
            key=key,
            label=label,
            value=share.value,
            low=share.low,
            high=share.high,
            unit="share",
            n=len(asked),
            clusters=share.clusters,
            method=share.method,
            note=share.note or ("" if share.value is not None else "no call was answered"),
        )
        levels[setting.value] = _under(knob, setting.value, estimate)
    return Followed(key, label, levels)


Trends = Mapping[str, Trend | None]
"""Trend by followed key; None where some setting lacks the estimate."""


def _trends(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> Trends:
    frames = [setting.readings[axis.NAME].frame for setting in settings]
    readable = [frozenset(frame["stimulus"][frame["value"].notna()]) for frame in frames]
    shared = frozenset.intersection(*readable)
    whole = [setting.values(axis, shared) for setting in settings]
    without = [
        [setting.values(axis, shared - {stimulus}) for stimulus in sorted(shared)]
        for setting in settings
    ]
    known = [key for key in axis.SWEEP_KEYS if any(key in values for values in whole)]
    return {key: _trend_of(knob, key, whole, without) for key in known}


Values = Mapping[str, float | None]


def _trend_of(
    knob: Knob, key: str, whole: Sequence[Values], without: Sequence[Sequence[Values]]
) -> Trend | None:
    estimates = np.array([values.get(key) for values in whole], dtype=float)
    left_out = np.array([[values.get(key) for values in row] for row in without], dtype=float)
    if len(knob.values) < 2 or np.isnan(estimates).any() or np.isnan(left_out).any():
        return None
    return jackknife_trend(knob.places, estimates, left_out)


def trend(knob: Knob, axis: Axis, trends: Trends) -> Iterator[Estimate]:
    """How much an estimate changes with the knob: the least-squares slope over its settings.

    Per 1 of a knob that is a number, else per step in the sequence given. All settings answer for
    the same stimuli; the interval is the jackknife over those, which keeps that pairing, with t of
    G-1 degrees of freedom. Zero: the knob makes no difference.
    """
    for key, found in trends.items():
        yield Estimate(
            key=key_of(axis.NAME, "trend", of=Key.parse(key).local),
            label=f"Change of {Key.parse(key).name} with {knob.name}",
            value=None if found is None else found.slope,
            low=None if found is None else found.low,
            high=None if found is None else found.high,
            unit=knob.unit,
            n=len(knob.values),
            clusters=0 if found is None else found.clusters,
            method="least-squares slope, jackknife over stimuli, t",
            note=_why_not(found),
        )


def trend_p(knob: Knob, axis: Axis, trends: Trends) -> Iterator[Estimate]:
    """Test of "the knob makes no difference to this estimate": a t test on the slope `trend`.

    Holm's correction over the estimates that the sweep follows on the axis.
    """
    adjusted = holm([None if found is None else found.p for found in trends.values()])
    for (key, found), p in zip(trends.items(), adjusted, strict=True):
        yield Estimate(
            key=key_of(axis.NAME, "trend_p", of=Key.parse(key).local),
            label=f"No change of {Key.parse(key).name} with {knob.name}: p-value",
            value=p,
            unit="p",
            n=len(knob.values),
            clusters=0 if found is None else found.clusters,
            method="t test on the jackknifed slope, Holm",
            note=_why_not(found),
        )


def _why_not(found: Trend | None) -> str:
    if found is None:
        return "some setting, or some setting without one of its stimuli, has no such estimate"
    return "" if found.p is not None else "the slope does not vary over stimuli: no interval"
