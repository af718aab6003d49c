"""Which judge and which plan a ledger belongs to, and in what others differ from these."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgesheet.base.records import BATCH, BUILT_IN, Plan
from judgesheet.ledger.rows import as_json

_BEFORE_SETTINGS = {"sequences": "cyclic", "logprobs": False}
"""What was meant before a plan's settings named it."""


def judge_name(judge: Mapping[str, Any]) -> str:
    """A judge as its user names it, PROVIDER/NAME, however it was asked."""
    name = str(judge.get("model"))
    return name if judge.get("provider") == BATCH else f"{judge.get('provider')}/{name}"


def other_judge(stored: Mapping[str, Any], judge: Mapping[str, Any]) -> str:
    """In what the identity of a judge differs from the stored one; "" if in nothing.

    A server may move: its address is none of it, and what it serves is said by `served_model`.
    """
    # Through JSON and back, so that what was stored and what is given compare alike.
    given = json.loads(as_json(judge))
    return _difference({**_asked_directly(stored, given), "base_url": given.get("base_url")}, given)


def asked_otherwise(kept: Mapping[str, Any], seed: int, plan: Plan) -> Iterator[str]:
    """In what the user asks for another plan than that of this provenance and seed."""
    given = json.loads(as_json(plan.provenance))
    both_all = kept.get("all_axes") and given.get("all_axes")
    before, now = (
        {**_BEFORE_SETTINGS, **provenance.get("settings", {}), "seed": its_seed}
        for provenance, its_seed in ((kept, seed), (given, plan.seed))
    )
    if both_all:
        before, now = ({**settings, "axes": None} for settings in (before, now))
    if difference := _difference(before, now):
        yield difference
    for name in ("stimuli", "prompts"):
        if _digests(kept, name, own=True) != _digests(given, name, own=True):
            yield f"other {name}"


def changed_since(kept: Mapping[str, Any], calls: int, plan: Plan) -> Iterator[str]:
    """How a plan differs from that of this provenance, with so many calls."""
    given = json.loads(as_json(plan.provenance))
    if calls != len(plan.calls):
        yield f"{len(plan.calls):,} calls for {calls:,}"
    if more := {*_axes(given)} ^ {*_axes(kept)}:
        yield f"other axes ({', '.join(sorted(more))})"
    for name in ("stimuli", "prompts"):
        before, now = _digests(kept, name), _digests(given, name)
        if changed := sorted(axis for axis in before.keys() & now if before[axis] != now[axis]):
            yield f"other {name} ({', '.join(changed)})"


def _axes(provenance: Mapping[str, Any]) -> list[str]:
    return list(provenance.get("settings", {}).get("axes", []))


def _digests(provenance: Mapping[str, Any], name: str, *, own: bool = False) -> dict[str, Any]:
    """The contents of stimuli or prompts by axis; `own` for those that the user brought alone.

    The example beside a prompt changes with the seed, and is no part of it.
    """
    return {
        part.get("axis", part.get("name", "")): part.get("digest")
        for part in provenance.get(name) or []
        if not own or part.get("name") != BUILT_IN
    }


def _asked_directly(stored: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The identity of a judge that was asked in batches, as it is where it is asked directly.

    Of such a judge only its name is known, and what was added to its requests.
    """
    if stored.get("provider") != BATCH or judge_name(stored) != judge_name(given):
        return stored
    return {**given, **{key: stored[key] for key in ("extra_body",) if key in {*stored} & {*given}}}


def _difference(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """What differs between two identities, such as `model was 'a', now 'b'`; "" if nothing."""
    changes = []
    for key in {**stored, **given}:
        old, new = stored.get(key), given.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            changes.append(_difference(old, new))
        elif old != new:
            changes.append(f"{key} was {old!r}, now {new!r}")
    return ", ".join(filter(None, changes))
