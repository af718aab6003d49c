"""The same questions under several settings of one knob (Xu et al., appendix C).

Every setting is a run of its own, in its own folder with its own ledger. This module names the
folders, and makes one sheet of the runs: each followed estimate against the knob, a test for trend
over the stimuli that all settings share, and what that says.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings, headline
from judgesheet.axis.words import percent
from judgesheet.errors import RunError, UsageError
from judgesheet.files import slug
from judgesheet.keys import Key
from judgesheet.records import (
    AxisResult,
    Characteristic,
    Datasheet,
    Estimate,
    Label,
    Plot,
    Recommendation,
    Statement,
)
from judgesheet.spine.measure import Measured
from judgesheet.stats.interval import by_cluster, cluster_rate
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.trend import Trend, jackknife_trend

FILE = "sweep.json"
"""What makes a folder a sweep: the knob and the folders of its settings."""
SIGNIFICANT = 0.05
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_FIXED = frozenset({"model", "messages", "system", "response_format", "stream", "n"})
"""Parameters that make up the question; another value would ask something else."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A request parameter and its settings, as they were typed and in that sequence."""

    name: str
    values: tuple[str, ...]

    @property
    def places(self) -> tuple[float, ...]:
        """Where the settings stand for the trend: at their numbers, else 0, 1, 2, …"""
        known = [place for v in self.values if (place := number(v)) is not None]
        steps = [float(step) for step in range(len(self.values))]
        return tuple(known if len(known) == len(steps) else steps)

    @property
    def unit(self) -> str:
        """What a slope is counted per."""
        numeric = all(number(value) is not None for value in self.values)
        return f"per 1 of {self.name}" if numeric else f"per step of {self.name}"

    def folder(self, value: str) -> str:
        """The folder of a setting: letters, digits, dots and dashes, nothing else."""
        return f"{self.values.index(value) + 1:02d}-{self.name}-{slug(value) or 'empty'}"[:80]


def parse_knob(text: str) -> Knob:
    """The knob of `--sweep NAME=VALUE,VALUE,…`.

    Raises
    ------
    UsageError
        if it is no such text, names what must not vary, or has fewer than two distinct values.
    """
    name, separator, rest = text.partition("=")
    values = tuple(value.strip() for value in rest.split(","))
    if not separator or not _NAME.fullmatch(name):
        raise UsageError(f"--sweep {text[:80]}: write NAME=VALUE,VALUE, such as temperature=0,0.5")
    if name in _FIXED:
        raise UsageError(f"--sweep cannot vary {name}: it is part of the question")
    if len(values) < 2 or "" in values or len(set(map(typed, values))) < len(values):
        raise UsageError(f"--sweep {name} needs two or more different values, such as 0,0.5,1")
    places = [number(value) for value in values]
    if name == "temperature" and any(place is None or not 0 <= place <= 5 for place in places):
        raise UsageError("--sweep temperature takes numbers from 0 to 5")
    if name == "max_tokens" and not all(value.isdecimal() and int(value) for value in values):
        raise UsageError("--sweep max_tokens takes whole numbers from 1")
    return Knob(name, values)


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def typed(text: str) -> int | float | bool | str:
    """The value that is sent: a JSON number or truth value where it is one, else the word."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text


def remember(directory: Path, knob: Knob) -> None:
    """Write down that a folder holds a sweep.

    Raises
    ------
    RunError
        if it holds another one.
    """
    file = directory / FILE
    if file.exists() and recall(directory) != knob:
        raise RunError(f"{directory} holds another sweep; choose another --out, or --fresh")
    file.write_text(json.dumps({"knob": knob.name, "values": knob.values}), encoding="utf-8")


def recall(directory: Path) -> Knob | None:
    """The knob of a folder that holds a sweep, or None.

    Raises
    ------
    RunError
        if the note is damaged.
    """
    file = directory / FILE
    if not file.is_file():
        return None
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
        return Knob(str(note["knob"]), tuple(map(str, note["values"])))
    except (OSError, ValueError, KeyError, TypeError):
        raise RunError(f"{file} is damaged; run the sweep again, its replies are kept") from None


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of the knob: its sheet, and the readings behind it."""

    value: str
    sheet: Datasheet
    measured: Measured
    labels: tuple[Label, ...]
    temperature: float | None
    seed: int


def combine(knob: Knob, settings: Sequence[Setting]) -> Datasheet:
    """One sheet of all settings; `settings` stand in the knob's sequence."""
    asked = Knob(knob.name, tuple(setting.value for setting in settings))
    first = settings[0].sheet
    results = [
        _against(asked, all_axes()[name], settings)
        for name in dict.fromkeys(result.name for s in settings for result in s.sheet.axes)
    ]
    return replace(
        first,
        judge={**first.judge, "served_models": _served(settings)},
        run={
            **_summed(settings),
            "complete": asked == knob and all(s.sheet.run.get("complete") for s in settings),
            "sweep": f"{knob.name} = {', '.join(knob.values)}",
        },
        provenance={
            **first.provenance,
            "plan_digest": ", ".join(str(s.sheet.provenance.get("plan_digest")) for s in settings),
        },
        axes=tuple(results),
        recommendations=tuple(
            advice for result in results if (advice := _advice(asked, result)) is not None
        ),
    )


def _served(settings: Sequence[Setting]) -> dict[str, int]:
    total: dict[str, int] = {}
    for setting in settings:
        for name, calls in setting.sheet.judge.get("served_models", {}).items():
            total[name] = total.get(name, 0) + calls
    return total


_SUMMED = (
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "attempts"),
    *("tokens_in", "tokens_out", "cost_usd", "wall_s"),
)


def _summed(settings: Sequence[Setting]) -> dict[str, Any]:
    """The run's counts over all settings; what is unknown of one is unknown of the sum."""
    runs = [setting.sheet.run for setting in settings]
    run = dict(runs[0])
    for name in _SUMMED:
        parts = [one.get(name) for one in runs]
        run[name] = None if None in parts else sum(parts)
    outcomes: dict[str, int] = {}
    for one in runs:
        for outcome, count in one.get("outcomes", {}).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + count
    ends = [one["ended_at"] for one in runs if one.get("ended_at")]
    differing = {name for one in runs for name in one if one[name] != runs[0].get(name)}
    for name in ("latency_p50_s", "latency_p99_s"):
        if name in differing:
            run[name] = None
    if "temperature" in differing:
        run["temperature"] = ", ".join(f"{one.get('temperature'):g}" for one in runs)
    return {
        **run,
        "outcomes": outcomes,
        "ended_at": max(ends, default=None),
    }


# -- one axis against the knob -------------------------------------------------------------------


def _against(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> AxisResult:
    results = [next((r for r in s.sheet.axes if r.name == axis.NAME), None) for s in settings]
    present = [result for result in results if result is not None]
    levels = list(_levels(knob, axis, results))
    lost = list(unreadable_share(knob, axis, settings))
    trends = _trends(knob, axis, settings)
    slopes, tests = trend(knob, axis, trends), trend_p(knob, axis, trends)
    estimates = (*levels, *lost, *slopes, *tests)
    found = {estimate.key: estimate for estimate in estimates}
    names = dict.fromkeys(Key.parse(key).name for key in axis.SWEEP_KEYS)
    glossary = {name: text for r in present for name, text in r.glossary.items() if name in names}
    own = (unreadable_share, trend, trend_p)
    glossary |= {f.__name__: _first_paragraph(f.__doc__ or "") for f in own}
    counts = ("planned", "answered", "unreadable", "refused", "failed")
    return AxisResult(
        name=axis.NAME,
        title=f"{axis.TITLE}, against {knob.name}",
        question=f"{axis.QUESTION} And does {knob.name} change that?",
        **{name: sum(getattr(result, name) for result in present) for name in counts},
        estimates=estimates,
        caveats=tuple(_caveats(knob, present, levels)),
        findings=tuple(_find(knob, axis, found)),
        characteristics=tuple(_row(knob, axis, key) for key in found),
        glossary=glossary,
        figures=tuple(_figures(knob, axis, found)),
    )


def _levels(knob: Knob, axis: Axis, results: Sequence[AxisResult | None]) -> Iterator[Estimate]:
    """The followed estimates of every setting, with the knob as a further dimension."""
    for key in axis.SWEEP_KEYS:
        for value, result in zip(knob.values, results, strict=True):
            known = {e.key: e for e in result.estimates} if result is not None else {}
            if key in known:
                yield replace(
                    known[key],
                    key=_at(key, knob, value),
                    label=f"{known[key].label}, {knob.name} {value}",
                )


def _at(key: str, knob: Knob, value: str) -> str:
    """The key with the knob as its last dimension."""
    inside = f"{knob.name}={value}"
    return f"{key[:-1]},{inside}]" if key.endswith("]") else f"{key}[{inside}]"


def unreadable_share(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> Iterator[Estimate]:
    """Share of a setting's answered calls that gave no readable verdict, refusals included.

    Interval over stimuli.
    """
    for setting in settings:
        table = setting.measured.judgments
        asked = table[(table["axis"] == axis.NAME) & table["outcome"].isin(["ok", "refused"])]
        lost, calls = by_cluster(asked["value"].isna().astype(float), asked["stimulus"])
        share = cluster_rate(lost, calls)
        yield Estimate(
            key=_at(f"{axis.NAME}.unreadable_share", knob, setting.value),
            label=f"Replies without a readable verdict, {knob.name} {setting.value}",
            value=share.value,
            low=share.low,
            high=share.high,
            unit="share",
            n=len(asked),
            clusters=share.clusters,
            method=share.method,
            note=share.note or ("" if share.value is not None else "no call was answered"),
        )


Values = Mapping[str, float | None]
"""Value by key."""
Followed = tuple[str, Trend | None]
"""A followed key with its trend; None where some setting lacks the estimate."""


def _trends(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> list[Followed]:
    shared = _shared_stimuli(axis, settings)
    whole = [_values(axis, setting, shared) for setting in settings]
    without = [
        [_values(axis, setting, shared - {stimulus}) for stimulus in sorted(shared)]
        for setting in settings
    ]
    followed = [key for key in axis.SWEEP_KEYS if any(key in values for values in whole)]
    return [(key, _trend_of(knob, key, whole, without)) for key in followed]


def _trend_of(
    knob: Knob, key: str, whole: Sequence[Values], without: Sequence[Sequence[Values]]
) -> Trend | None:
    estimates = np.array([values.get(key) for values in whole], dtype=float)
    left_out = np.array([[values.get(key) for values in row] for row in without], dtype=float)
    if len(knob.values) < 2 or np.isnan(estimates).any() or np.isnan(left_out).any():
        return None
    return jackknife_trend(knob.places, estimates, left_out)


def _shared_stimuli(axis: Axis, settings: Sequence[Setting]) -> frozenset[str]:
    """Stimuli with a readable reply under every setting."""
    sets = []
    for setting in settings:
        table = setting.measured.judgments
        mine = table[(table["axis"] == axis.NAME) & table["value"].notna()]
        sets.append(frozenset(mine["stimulus"]))
    return frozenset.intersection(*sets)


def _values(axis: Axis, setting: Setting, stimuli: frozenset[str]) -> Values:
    """The followed estimates of a setting from these stimuli alone."""
    table = setting.measured.judgments
    rows = table[(table["axis"] == axis.NAME) & table["stimulus"].isin(stimuli)]
    families = frozenset(Key.parse(key).name for key in axis.SWEEP_KEYS)
    labels = tuple(label for label in setting.labels if label.axis == axis.NAME)
    frame = rows.dropna(axis="columns", how="all").assign(value=rows["value"])
    readings = Readings(frame, labels, setting.temperature, setting.seed, families)
    if rows.empty:
        return {}
    return {estimate.key: estimate.value for estimate in axis.measure(readings)}


def trend(knob: Knob, axis: Axis, trends: Sequence[Followed]) -> Iterator[Estimate]:
    """How much an estimate changes with the knob: the least-squares slope over its settings.

    Per 1 of a knob that is a number, else per step in the sequence given. All settings answer for
    the same stimuli; the interval is the jackknife over those, which keeps that pairing, with t of
    G-1 degrees of freedom. Zero: the knob makes no difference.
    """
    for key, found in trends:
        yield Estimate(
            key=f"{axis.NAME}.trend[of={key.split('.', 1)[1]}]",
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


def trend_p(knob: Knob, axis: Axis, trends: Sequence[Followed]) -> Iterator[Estimate]:
    """Test of "the knob makes no difference to this estimate": a t test on the slope `trend`.

    Holm's correction over the estimates that the sweep follows on the axis.
    """
    adjusted = holm([None if found is None else found.p for _, found in trends])
    for (key, found), p in zip(trends, adjusted, strict=True):
        yield Estimate(
            key=f"{axis.NAME}.trend_p[of={key.split('.', 1)[1]}]",
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


# -- what it says --------------------------------------------------------------------------------


def _find(knob: Knob, axis: Axis, found: Mapping[str, Estimate]) -> Iterator[Statement]:
    for key in axis.SWEEP_KEYS:
        levels = [found[k] for v in knob.values if (k := _at(key, knob, v)) in found]
        if len(levels) == len(knob.values) and all(e.value is not None for e in levels):
            null = _null(axis, key)
            if null is not None:
                yield _whether_removed(knob, levels, null)
            test = found.get(f"{axis.NAME}.trend_p[of={key.split('.', 1)[1]}]")
            slope = found.get(f"{axis.NAME}.trend[of={key.split('.', 1)[1]}]")
            if test is not None and slope is not None and test.value is not None:
                yield _whether_it_moves(knob, levels, slope, test)


def _null(axis: Axis, key: str) -> float | None:
    """The value of a followed estimate that would mean "no bias", if it is a bias.

    What a user wants to be high is none, though it has a value that means "nothing" too.
    """
    return next(
        (row.null for row in headline(axis) if row.key == key and row.better == "lower"), None
    )


def _whether_removed(knob: Knob, levels: Sequence[Estimate], null: float) -> Statement:
    """Whether a bias is proven under every setting, proven under none, or neither."""
    what = levels[0].label.removesuffix(f", {knob.name} {knob.values[0]}")
    shown = [_excludes(e, null) for e in levels]
    values = [e.value or 0.0 for e in levels]
    ends = [_say(end, levels[0]) for end in (min(values), max(values))]
    span = f"stays at {ends[0]}" if ends[0] == ends[1] else f"goes from {ends[0]} to {ends[1]}"
    keys = tuple(e.key for e in levels)
    if all(shown):
        text = f"No setting of {knob.name} removes it: “{what}” {span} and is proven in each."
        return Statement(text, keys, "bad")
    kept = [value for value, proven in zip(knob.values, shown, strict=True) if proven]
    where = f"It is proven at {', '.join(kept)} only" if kept else "It is proven at none of them"
    text = f"“{what}” {span} over {knob.name}. {where}, which does not prove it absent."
    return Statement(text, keys, "unknown")


def _excludes(estimate: Estimate, null: float) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and not low <= null <= high


def _whether_it_moves(
    knob: Knob, levels: Sequence[Estimate], slope: Estimate, test: Estimate
) -> Statement:
    what = levels[0].label.removesuffix(f", {knob.name} {knob.values[0]}")
    keys = (slope.key, test.key)
    if test.value is not None and test.value < SIGNIFICANT:
        way = "rises" if (slope.value or 0.0) > 0 else "falls"
        first, last = (_say(e.value or 0.0, e) for e in (levels[0], levels[-1]))
        text = f"“{what}” {way} with {knob.name}: {first} at {knob.values[0]}, {last} at "
        return Statement(f"{text}{knob.values[-1]}.", keys)
    reach = max(abs(slope.low or 0.0), abs(slope.high or 0.0))
    text = (
        f"No trend of “{what}” with {knob.name} is proven; a change of more than {reach:.2g} "
        f"{knob.unit} can be ruled out."
    )
    return Statement(text, keys)


def _say(value: float, estimate: Estimate) -> str:
    return percent(value) if estimate.unit == "share" else f"{value:.2f}"


def _advice(knob: Knob, result: AxisResult) -> Recommendation | None:
    """To leave the knob alone, where no setting removes the bias."""
    stuck = [f for f in result.findings if f.tone == "bad"]
    if not stuck:
        return None
    text = (
        f"Do not rely on {knob.name} to remove this bias: it is proven under every setting. "
        "Average over orders instead."
    )
    return Recommendation(result.name, text, stuck[0].evidence)


def _caveats(
    knob: Knob, results: Sequence[AxisResult], levels: Sequence[Estimate]
) -> Iterator[str]:
    values = {Key.parse(e.key).name: set[float | None]() for e in levels}
    for estimate in levels:
        values[Key.parse(estimate.key).name].add(estimate.value)
    if values and all(len(distinct) == 1 for distinct in values.values()):
        yield (
            "Every setting gave the same figures to the last digit: does the endpoint honour "
            f"{knob.name}?"
        )
    yield (
        f"Each setting of {knob.name} is a run of its own; its whole sheet lies in the folder of "
        "that setting."
    )
    yield from dict.fromkeys(caveat for result in results for caveat in result.caveats)


def _figures(knob: Knob, axis: Axis, found: Mapping[str, Estimate]) -> Iterator[Plot]:
    followed = [key for key in axis.SWEEP_KEYS if _at(key, knob, knob.values[0]) in found]
    for key in [*followed, f"{axis.NAME}.unreadable_share"]:
        parsed = Key.parse(key)
        label = found[_at(key, knob, knob.values[0])].label
        yield Plot(
            kind="line",
            title=label.removesuffix(f", {knob.name} {knob.values[0]}"),
            caption=f"Under each setting of {knob.name}, with 95 % intervals.",
            families=(parsed.name,),
            x=knob.name,
            only=tuple(f"{name}={value}" for name, value in parsed.dims.items()),
            x_label=knob.name,
            reference=_null(axis, key),
        )


def _row(knob: Knob, axis: Axis, key: str) -> Characteristic:
    """A row of the table: as in the axis's own, where it follows one of its figures."""
    for row in headline(axis):
        if key in {_at(row.key, knob, value) for value in knob.values}:
            return replace(row, key=key, noise="")
    return Characteristic(key)


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.strip().split("\n\n", 1)[0].split())
