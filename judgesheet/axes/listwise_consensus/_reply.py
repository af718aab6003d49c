"""Reading a listwise reply: every displayed candidate once, or nothing."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axes.listwise_consensus._design import FLAGS, LABELS
from judgesheet.axis.reply import json_objects, one_reading

Verdict = dict[str, dict[str, Any]]
"""Candidate id -> `score` (0 to 100) and `uncertain`, in displayed order."""

_ANSWER = re.compile(r'(?<!\\)"candidates"\s*:')


def read(text: str, reply: str, order: Sequence[str]) -> Verdict | None:
    """What a reply says of each candidate, or None if it cannot be read in exactly one way.

    Whatever looks like the beginning of an answer must be one, and all must agree: a judge that
    quotes an answer from a candidate, or breaks off in its own, has not been understood.
    """
    if reply == "recorded":
        return _recorded(text, order)
    found = list(json_objects(text))
    if None in found:
        return None
    answers = [obj["candidates"] for obj in found if obj is not None and "candidates" in obj]
    if len(answers) != len(_ANSWER.findall(text)):
        return None
    return one_reading([_answer(answer, order) for answer in answers])


def _answer(listed: Any, order: Sequence[str]) -> Verdict | None:
    """One answer, by displayed label."""
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return None
    ids = dict(zip(LABELS, order, strict=False))
    by_label = {one.get("label"): one for one in listed if isinstance(one.get("label"), str)}
    if len(listed) != len(order) or set(by_label) != set(ids):
        return None
    if not all(isinstance(one.get(flag), bool) for one in listed for flag in FLAGS):
        return None
    return _verdict(
        {
            name: {
                "score": by_label[label].get("score"),
                "uncertain": by_label[label]["calibrated_uncertainty"],
            }
            for label, name in ids.items()
        }
    )


def _recorded(text: str, order: Sequence[str]) -> Verdict | None:
    """A verdict that was taken elsewhere, by candidate id."""
    try:
        given = json.loads(text)
    except ValueError:
        return None
    if not isinstance(given, dict) or set(given) != set(order):
        return None
    if not all(isinstance(one, dict) for one in given.values()):
        return None
    entries: Mapping[str, Any] = {
        name: {"score": given[name].get("score"), "uncertain": given[name].get("uncertain", False)}
        for name in order
    }
    return _verdict(entries)


def _verdict(entries: Mapping[str, Any]) -> Verdict | None:
    """The entries, if every score lies in 0 to 100 and every mark is true or false."""
    for entry in entries.values():
        score = entry["score"]
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        if not math.isfinite(score) or not 0 <= score <= 100:
            return None
        if not isinstance(entry["uncertain"], bool):
            return None
    return {name: {**entry, "score": float(entry["score"])} for name, entry in entries.items()}
