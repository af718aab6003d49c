"""One sheet of all runs of a sweep."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, sweep_keys
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Characteristic, Datasheet
from judgesheet.collect.knob import Knob
from judgesheet.sweep import findings
from judgesheet.sweep.estimates import EXPLAINED, Setting, followed, unreadable_share


def combine(knob: Knob, settings: Sequence[Setting]) -> Datasheet:
    """One sheet of all settings; `settings` stand in the knob's sequence."""
    # A sweep that was cut short is drawn against the values that it has.
    asked = Knob(knob.name, tuple(setting.value for setting in settings))
    sheets = [setting.sheet for setting in settings]
    names = dict.fromkeys(result.name for sheet in sheets for result in sheet.axes)
    results = [_against(asked, all_axes()[name], settings) for name in names]
    return replace(
        sheets[0],
        judge={
            **sheets[0].judge,
            "served_models": _summed(sheet.judge.get("served_models") for sheet in sheets),
        },
        run={
            **_totals([sheet.run for sheet in sheets]),
            "complete": asked == knob and all(sheet.run.get("complete") for sheet in sheets),
            "sweep": f"{knob.name} = {', '.join(knob.values)}",
        },
        provenance={
            **sheets[0].provenance,
            "plan_digest": ", ".join(str(sheet.provenance.get("plan_digest")) for sheet in sheets),
        },
        axes=tuple(results),
        recommendations=tuple(
            advice for result in results for advice in findings.recommend(asked, result)
        ),
    )


_SUMMED = (
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "attempts"),
    *("tokens_in", "tokens_out", "cost_usd", "unmetered_attempts", "wall_s"),
)


def _totals(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The run's counts over all settings; what is unknown of one is unknown of the sum."""
    total = dict(runs[0])
    for name in (*_SUMMED, *({"tokens_reasoning"} & {name for run in runs for name in run})):
        parts = [run.get(name) for run in runs]
        total[name] = None if None in parts else sum(parts)
    differing = {name for run in runs for name in run if run[name] != runs[0].get(name)}
    # A median of medians is none, so only a latency that all runs share is known of the whole.
    total |= dict.fromkeys(differing & {"latency_p50_s", "latency_p99_s"})
    if "temperature" in differing:
        total["temperature"] = ", ".join(f"{run.get('temperature'):g}" for run in runs)
    ends = (run["ended_at"] for run in runs if run.get("ended_at"))
    outcomes = _summed(run.get("outcomes") for run in runs)
    return {**total, "outcomes": outcomes, "ended_at": max(ends, default=None)}


def _summed(counts: Iterable[Mapping[str, int] | None]) -> dict[str, int]:
    """Counts by name, summed."""
    return dict(sum((Counter(each or {}) for each in counts), Counter()))


def _against(knob: Knob, axis: Axis, settings: Sequence[Setting]) -> AxisResult:
    """One axis against the knob."""
    present = list(filter(None, (setting.result(axis) for setting in settings)))
    bias = list(followed(knob, axis, settings))
    every = [*bias, unreadable_share(knob, axis, settings)]
    trends = [e for e in (*(f.slope for f in bias), *(f.slope_p for f in bias)) if e is not None]
    counts = ("planned", "answered", "unreadable", "refused", "failed")
    return AxisResult(
        name=axis.NAME,
        title=f"{axis.TITLE}, against {knob.name}",
        question=f"{axis.QUESTION} And does {knob.name} change that?",
        **{name: sum(getattr(result, name) for result in present) for name in counts},
        estimates=(*(level for figure in every for level in figure.levels.values()), *trends),
        caveats=tuple(findings.warn(knob, present, bias)),
        findings=tuple(findings.find(knob, axis, bias)),
        characteristics=(
            *findings.rows(axis, every),
            *(Characteristic(estimate.key) for estimate in trends),
        ),
        glossary=_glossary(axis, present),
        served_models=_summed(result.served_models for result in present),
        figures=tuple(findings.plots(knob, axis, every)),
    )


def _glossary(axis: Axis, results: Sequence[AxisResult]) -> dict[str, str]:
    """What the followed estimates mean, as the axis says it, and those of the sweep itself."""
    names = {Key.parse(key).name for key in sweep_keys(axis)}
    known = {name: text for r in results for name, text in r.glossary.items() if name in names}
    for name, figure in EXPLAINED.items():
        known[name] = " ".join((figure.__doc__ or "").partition("\n\n")[0].split())
    return known
