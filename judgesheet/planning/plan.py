"""Every question of a run, decided before the first one is paid for."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from math import ceil
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Any

from judgesheet.axes import prompt
from judgesheet.axis import Axis, Options
from judgesheet.axis.material import clusters
from judgesheet.axis.streams import drawn_for
from judgesheet.base.digits import cents, counted
from judgesheet.base.errors import RunError
from judgesheet.base.facts import StimulusPool
from judgesheet.base.files import checked, write_lines
from judgesheet.base.prices import Prices, cost
from judgesheet.base.records import BUILT_IN, Call, Label, Plan, Stimulus, canonical_json, digest
from judgesheet.base.sanitize import one_line
from judgesheet.base.scale import Scale
from judgesheet.planning import stimuli as pools

if TYPE_CHECKING:
    import numpy as np

CHARACTERS_PER_TOKEN = 4.0  # of ASCII
"""Rule of thumb for English; only estimates of cost rest on it, and they say so."""


def make_plan(
    axes: Sequence[Axis],
    options: dict[str, Options],
    seed: int,
    stimuli_path: Path | None = None,
) -> Plan:
    """The plan of these axes; `options` holds one set per axis name.

    Same stimuli, prompts, parameters and seed give the same calls, ids and order.
    """
    pools.only_file_needs_one_axis(stimuli_path, axes)
    parts: list[list[Call]] = []
    labels: list[Label] = []
    provenance: dict[str, Any] = {"stimuli": [], "prompts": []}
    asked_about: list[tuple[Sequence[Stimulus], Collection[str]]] = []
    for axis in axes:
        pool = pools.load(axis, stimuli_path)
        mine = list(axis.design(pool, options[axis.NAME], generator(seed, axis.NAME)))
        asked = {call.stimulus for call in mine}
        # A profile may ask about a part of the pool: name and digest are those of that part.
        used = [stimulus for stimulus in pool if stimulus.id in asked]
        labels.extend(axis.labels(used))
        about = _about_stimuli(axis, used, len(pool), stimuli_path) | _part(
            used, mine, stimuli_path
        )
        about |= _own_scale(mine)
        cannot = cannot_show(axis, mine)
        provenance["stimuli"].append({**about, "cannot_show": cannot} if cannot else about)
        template = options[axis.NAME].template or prompt(axis, pool)
        provenance["prompts"].append(_about_prompt(axis, options[axis.NAME], mine, template))
        asked_about.append((used, about.get("clusters", ())))
        parts.append(mine)
    if stimuli_path is not None:
        provenance["distinct_stimuli"] = _distinct(asked_about)
    return Plan(seed, tuple(interleaved(parts)), tuple(labels), provenance)


def interleaved(parts: Iterable[Sequence[Call]]) -> Iterator[Call]:
    """The calls of all axes, each axis spread over the whole run.

    A judge that changes while it is asked then changes on all of them. Calls on one stimulus stay
    together, so that an endpoint with prefix caching answers them faster.
    """
    blocks: list[tuple[float, list[Call]]] = []
    for calls in parts:
        asked = 0
        for _, same in groupby(calls, key=lambda call: call.stimulus):
            block = list(same)
            blocks.append((asked / len(calls), block))
            asked += len(block)
    for _, block in sorted(blocks, key=lambda one: one[0]):
        yield from block


def _distinct(pools: Iterable[tuple[Sequence[Stimulus], Collection[str]]]) -> dict[str, int]:
    """How many stimuli all axes have together, and how many of them are independent.

    Each axis has its file, but those of one name about one request are the same. A pool comes with
    the names of its copies.
    """
    every: dict[tuple[str, str], bool] = {}
    for used, copies in pools:
        for one in used:
            request = str(one.fields.get("request") or one.fields.get("prompt"))
            place = one.id, request
            every[place] = every.get(place, False) or one.id in copies
    return {"stimuli": len(every), "independent": len(every) - sum(every.values())}


def cannot_show(axis: Axis, calls: Iterable[Call]) -> list[str]:
    """What these calls cannot show, whatever is answered."""
    return [*axis.cannot_show(call.cell for call in calls)]


def generator(seed: int, axis: str) -> "np.random.Generator":
    """The axis's own random numbers, so that a new axis never reshuffles its neighbours."""
    return drawn_for(seed, axis)


def _part(used: Iterable[Stimulus], calls: Iterable[Call], path: Path | None) -> dict[str, int]:
    """How many responses of the user's own stimuli a profile asks about, if not about all."""
    if path is None:
        return {}
    held = {
        f"{one.id}/{response['id']}"
        for one in used
        for response in one.fields.get("candidates", ())
    }
    asked = {str(call.cell.get("item")) for call in calls}
    return {"responses": len(asked), "responses_held": len(held)} if asked < held else {}


def _own_scale(calls: Iterable[Call]) -> dict[str, Any]:
    """The scale of scores that the stimuli name, if it is not the usual one from 1."""
    cell = next((call.cell for call in calls if "low" in call.cell), None)
    return {} if cell is None else {"scale": Scale.of(cell).as_record()}


def _about_stimuli(
    axis: Axis, used: Sequence[Stimulus], in_pool: int, path: Path | None
) -> dict[str, Any]:
    found = [] if path is None else [*pools.problems(axis, used)]
    templates = [problem.what for problem in found if problem.code == "template"]
    faults = [f"{problem.where}: {problem.what}" for problem in found if problem.grave]
    # The built-in ones were written to be independent.
    alike = {} if path is None else clusters(used)
    return {
        "axis": axis.NAME,
        "name": BUILT_IN if path is None else pools.file_of(axis, path).name,
        "stimuli": len(used),
        "in_pool": in_pool,
        "independent": len(used) - len(alike),
        "digest": pools.pool_digest(used),
        **({"faults": len(faults), "first_fault": faults[0]} if faults else {}),
        **({"templates": templates} if templates else {}),
        **({"clusters": alike} if alike else {}),
    }


def pools_of(plan: Plan) -> Sequence[StimulusPool]:
    """The stimuli of each axis of a plan."""
    pools = plan.provenance.get("stimuli", ())
    return [checked(StimulusPool, pool, "the plan", RunError) for pool in pools]


def remarks(pool: StimulusPool) -> Iterator[str]:
    """What part of the stimuli is asked about, what counts as one, faults, and mere templates."""
    if pool.responses is not None:
        yield (
            f"{pool.responses} of the {pool.responses_held} responses are asked about, of each "
            "stimulus those that stand first in the file: a larger profile asks about more"
        )
    if pool.independent not in (None, pool.stimuli):
        yield (
            f"{pool.stimuli} stimuli, {pool.independent} independent: the others are near copies "
            "or of the same group, and intervals, tests and counts take them for one"
        )
    if pool.faults:
        first = f"{counted(pool.faults, 'fault')} in these stimuli, such as: {pool.first_fault}"
        yield f"`judgesheet stimuli check` finds {first}"
    if len(pool.templates) < 2:
        yield from pool.templates
        return
    yield (
        f"{len(pool.templates)} groups of texts share a template each, as macros do, which alone "
        "makes no stimulus a copy of another (`judgesheet stimuli check` lists the groups)"
    )


def _about_prompt(
    axis: Axis, options: Options, calls: Sequence[Call], template: str
) -> dict[str, Any]:
    kinds = [canonical_json(call.params) for call in calls]
    # Arms may differ in their parameters; the commonest stand for the axis.
    typical = calls[kinds.index(mode(kinds))] if calls else None
    return {
        "axis": axis.NAME,
        "name": BUILT_IN if options.template is None else "own",
        "digest": digest(template),
        "template": template,
        "example": [dict(message) for message in typical.messages] if typical else [],
        "params": dict(typical.params) if typical else {},
    }


def as_line(call: Call) -> str:
    """One line of plan.jsonl."""
    content = {part.name: getattr(call, part.name) for part in fields(Call) if part.init}
    return json.dumps({"call_id": call.id, **content}, ensure_ascii=False)


def write_plan(calls: Iterable[Call], path: Path) -> None:
    """Write plan.jsonl: one call per line, in sending order, with no label in it."""
    write_lines(path, map(as_line, calls))


@dataclass(frozen=True, slots=True)
class AxisBudget:
    """The cost of an axis; tokens are estimated from characters."""

    axis: str
    calls: int
    stimuli: int
    in_pool: int
    tokens_in: int
    tokens_out_at_most: int
    arms: dict[str, int]
    cannot_show: tuple[str, ...]


def budget(plan: Plan, axes: Sequence[Axis]) -> Iterator[AxisBudget]:
    """Calls and tokens of every axis of a plan."""
    in_pool = {pool.axis: pool.in_pool or 0 for pool in pools_of(plan)}
    for axis in axes:
        calls = [call for call in plan.calls if call.axis == axis.NAME]
        yield AxisBudget(
            axis=axis.NAME,
            calls=len(calls),
            stimuli=len({call.stimulus for call in calls}),
            in_pool=in_pool.get(axis.NAME, 0),
            tokens_in=ceil(sum(map(tokens_in, calls))),
            tokens_out_at_most=sum(map(tokens_out, calls)),
            arms=dict(
                Counter("anchors" if "anchor" in one.cell else axis.arm(one.cell) for one in calls)
            ),
            cannot_show=tuple(cannot_show(axis, calls)),
        )


def tokens_in(call: Call) -> float:
    """About how many tokens its messages have."""
    return sum(_tokens(message["content"]) for message in call.messages)


def tokens_out(call: Call) -> int:
    """How many tokens its reply may have."""
    return int(call.params.get("max_tokens", 0))


def _tokens(text: str) -> float:
    """About how many tokens a text has: most other scripts take one per character."""
    plain = len(text.encode("ascii", "ignore"))
    return plain / CHARACTERS_PER_TOKEN + (len(text) - plain)


def as_record(plan: Plan, budgets: Sequence[AxisBudget], prices: Prices | None) -> dict[str, Any]:
    """The budget of a plan as one JSON document; calls and cost over all settings of a sweep."""
    times = _times(plan)
    limit = cost_at_most(budgets, prices)
    return {
        "plan_digest": plan.digest,
        "calls": times * len(plan.calls),
        "cost_usd_at_most": None if limit is None else times * limit,
        "settings": dict(plan.provenance.get("settings", {})),
        "axes": [asdict(one) for one in budgets],
    }


def as_text(plan: Plan, budgets: Sequence[AxisBudget], prices: Prices | None) -> str:
    """The budget of a plan for a reader."""
    lines = [f"{counted(len(plan.calls), 'call')}, plan {plan.digest[:12]}"]
    for one in budgets:
        of = f" of {one.in_pool:,}" if one.stimuli < one.in_pool else ""
        stimuli = f"{one.stimuli:,}{of} {'stimulus' if one.stimuli == 1 and not of else 'stimuli'}"
        lines.append(f"{one.axis}: {counted(one.calls, 'call')} on {stimuli}")
        lines += [f"  {calls:>7,}  {arm}" for arm, calls in one.arms.items()]
        lines.append(f"  about {one.tokens_in:,} tokens in, at most {one.tokens_out_at_most:,} out")
        mine = (pool for pool in pools_of(plan) if pool.axis == one.axis)
        lines += [f"  {line}" for pool in mine for line in remarks(pool)]
        lines += [f"  {line}" for line in one.cannot_show]
    limit, times = cost_at_most(budgets, prices), _times(plan)
    if times > 1:
        swept = plan.provenance["settings"]["sweep"]
        lines.append(
            f"asked once for each of {swept['name']} = {', '.join(swept['values'])}: "
            f"{times * len(plan.calls):,} calls in all"
        )
    lines.append(
        "cost unknown: give --prices IN,OUT"
        if limit is None
        else f"cost at most about {cents(times * limit)} US dollars, retries aside (tokens "
        "estimated: one per 4 letters, one per character of other scripts)"
    )
    return "\n".join(map(one_line, lines))


def _times(plan: Plan) -> int:
    """How often the plan is asked: once, or once for each setting of a sweep."""
    sweep = plan.provenance.get("settings", {}).get("sweep")
    return len(sweep["values"]) if sweep else 1


def cost_at_most(budgets: Sequence[AxisBudget], prices: Prices | None) -> float | None:
    """US dollars, with every reply at its full length; None without prices."""
    tokens_in = sum(one.tokens_in for one in budgets)
    return cost(tokens_in, sum(one.tokens_out_at_most for one in budgets), prices)
