"""Candidate sets as users have them: in a file or in memory, lists and pairs mixed."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesheet.axes import get_axis
from judgesheet.base.errors import StimuliError
from judgesheet.base.files import kind_of, records
from judgesheet.base.records import Stimulus
from judgesheet.planning.stimuli import reject_duplicates, validated

AXES = (LISTWISE, PAIRWISE) = ("listwise_consensus", "candidate_order")
"""The axes whose prompts and parsers are used."""

Sets = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A JSONL file, one set, or several."""


def read_sets(sets: Sets) -> list[Stimulus]:
    """The sets as stimuli of the axis that asks about such material.

    StimuliError if there are none, one is not valid, or two have the same id.
    """
    stimuli = [_stimulus(record, where) for record, where in _given(sets)]
    if not stimuli:
        raise StimuliError(
            f"{sets if isinstance(sets, str | Path) else 'the input'} holds no candidate sets; "
            "put one JSON object on each line"
        )
    # Results are found by the id of the set.
    reject_duplicates(stimuli)
    return stimuli


def _given(sets: Sets) -> Iterator[tuple[Any, str]]:
    if isinstance(sets, str | Path):
        if (kind := kind_of(Path(sets))) != "jsonl":
            raise StimuliError(
                f"{sets} is a table: `judgesheet stimuli import {kind} {shlex.quote(str(sets))} "
                f"--axis {PAIRWISE} --out sets.jsonl` makes sets of it ({LISTWISE} for lists)"
            )
        yield from records(Path(sets))
    elif isinstance(sets, Mapping):
        yield sets, "the set"
    elif not isinstance(sets, Iterable):
        raise StimuliError(f"give a JSONL file, one set or several, not {type(sets).__name__}")
    else:
        yield from ((record, f"set {number}") for number, record in enumerate(sets, start=1))


def _stimulus(record: Any, where: str) -> Stimulus:
    own_pair = isinstance(record, Mapping) and {"u", "v"} & set(record)
    return validated(get_axis(PAIRWISE if own_pair else LISTWISE), record, where)


def as_pair(stimulus: Stimulus) -> Stimulus:
    """A set of two as a pair: the first candidate is u, the second v."""
    fields = stimulus.fields
    gold, (first, second) = fields["gold"], fields["candidates"]
    right = gold if isinstance(gold, str) or gold is None else gold[0]
    reference = fields["reference"]
    shown = "" if reference is None else f"\n\n## Reference answer, for orientation\n{reference}"
    pair = {
        "id": stimulus.id,
        "request": fields["prompt"] + shown,
        "u": first["text"],
        "v": second["text"],
        "better": {first["id"]: "u", second["id"]: "v", None: None}[right],
        "source": fields["source"] or None,
    }
    return validated(get_axis(PAIRWISE), pair, stimulus.source)
