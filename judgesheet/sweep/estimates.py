"""The estimates that a sweep tracks under every value of the knob, and their trends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgesheet.axis import Axis, Readings, sweep_keys
from judgesheet.base.keys import Key
from judgesheet.base.keys import key as key_of
from judgesheet.base.records import AxisResult, Datasheet, Estimate
from judgesheet.collect.knob import Knob
from judgesheet.measuring.measure import leave_out
from judgesheet.stats.interval import by_cluster, cluster_rate
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.trend import METHOD, Trend, jackknife_trend


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of the knob: its sheet, and the readings behind it by axis."""

    value: str
    sheet: Datasheet
    readings: Mapping[str, Readings]

    def result(self, axis: Axis) -> AxisResult | None:
        """The axis on the setting's sheet, if it was probed."""
        return next((result for result in self.sheet.axes if result.name == axis.NAME), None)


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
    """The estimates that the axis wants to be tracked, the bias first."""
    results = {setting.value: setting.result(axis) for setting in settings}
    tables = {value: result.estimates for value, result in results.items() if result is not None}
    own = {
        key: {value: e for value, estimates in tables.items() for e in estimates if e.key == key}
        for key in sweep_keys(axis)
    }
    labels = {key: next(iter(under.values())).label for key, under in own.items() if under}
    trends = _trends(knob, axis, settings, [*labels])
    slopes = dict(zip(trends, trend(knob, axis, trends, labels), strict=True))
    tests = dict(zip(trends, trend_p(knob, axis, trends, labels), strict=True))
    for key, estimates in own.items():
        levels = {value: _under(knob, value, estimate) for value, estimate in estimates.items()}
        yield Followed(key, labels.get(key, ""), levels, slopes.get(key), tests.get(key))


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
        lost, calls = by_cluster(asked["value"].isna().astype(float), asked["cluster"])
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
Labels = Mapping[str, str]
"""What a reader calls the followed figures, by key."""


def _trends(knob: Knob, axis: Axis, settings: Sequence[Setting], keys: Sequence[str]) -> Trends:
    """The trends over the stimuli with a readable reply under every setting; none without any."""
    readings = [setting.readings[axis.NAME] for setting in settings]
    read = (each.frame["stimulus"][each.frame["value"].notna()] for each in readings)
    # The same stimuli under every setting: else what some stimuli are like would look like a trend.
    shared = frozenset.intersection(*map(frozenset, read))
    if not shared:
        return {}
    # None left out first: the estimate itself, by the same way as without each.
    parts = [replace(r, frame=r.frame[r.frame["stimulus"].isin(shared)]) for r in readings]
    groups = [frozenset[str](), *parts[0].clusters.values()]
    series = [leave_out(axis, part, groups, keys) for part in parts]
    return {key: _trend_of(knob, np.array([values[key] for values in series])) for key in keys}


def _trend_of(knob: Knob, values: NDArray[np.float64]) -> Trend | None:
    """The trend of an estimate; `values` has shape (settings, 1 + stimuli), all of them first."""
    if len(knob.values) < 2 or np.isnan(values).any():
        return None
    return jackknife_trend(knob.places, values[:, 0], values[:, 1:])


def trend(knob: Knob, axis: Axis, trends: Trends, labels: Labels) -> Iterator[Estimate]:
    """How much an estimate changes with the knob: the least-squares slope over its settings.

    Per 1 of a knob that is a number, else per step in the sequence given. All settings answer for
    the same stimuli; the interval is the jackknife over those, which keeps that pairing, with t of
    G-1 degrees of freedom. Zero: the knob makes no difference.
    """
    for key, slope in trends.items():
        yield Estimate(
            key=key_of(axis.NAME, "trend", of=Key.parse(key).local),
            label=f"{labels[key]}: change with {knob.name}",
            value=slope.value if slope else None,
            low=slope.low if slope else None,
            high=slope.high if slope else None,
            unit=knob.unit,
            n=len(knob.values),
            clusters=slope.clusters if slope else 0,
            method=METHOD,
            note=_why_not(slope),
        )


def trend_p(knob: Knob, axis: Axis, trends: Trends, labels: Labels) -> Iterator[Estimate]:
    """Test of "the knob makes no difference to this estimate": a t test on the slope `trend`.

    Holm's correction over the estimates that the sweep follows on the axis.
    """
    adjusted = holm([slope.p if slope else None for slope in trends.values()])
    for (key, slope), p in zip(trends.items(), adjusted, strict=True):
        yield Estimate(
            key=key_of(axis.NAME, "trend_p", of=Key.parse(key).local),
            label=f"{labels[key]}: no change with {knob.name}, p-value",
            value=p,
            unit="p",
            n=len(knob.values),
            clusters=slope.clusters if slope else 0,
            method="t test on the jackknifed slope, Holm",
            note=_why_not(slope),
        )


def _why_not(slope: Trend | None) -> str:
    if slope is None:
        return "some setting, or some setting without one of its stimuli, has no such estimate"
    return "" if slope.p is not None else "the slope does not vary over stimuli: no interval"


EXPLAINED = {function.__name__: function for function in (unreadable_share, trend, trend_p)}
"""What a sweep measures of every axis besides the axis's own figures, by the name in the key."""
