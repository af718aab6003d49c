"""Stimuli from public data sets and from tables.

A format is a module with a `FORMAT`, which makes pieces of the rows of a table. Pieces are grouped
by prompt, shaped by the axis, checked against its schema and written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, Shaping, known
from judgesheet.base.errors import RunError, StimuliError, UsageError
from judgesheet.base.files import write_lines
from judgesheet.base.limits import LONGEST_LINE
from judgesheet.importers import (
    _grouping,
    hanna,
    judgebench,
    mt_bench,
    plain,
    prometheus,
    rewardbench2,
    summeval,
)
from judgesheet.importers._piece import (
    ALL,
    Format,
    ImportOptions,
    Piece,
    Skip,
    chosen,
    name_of,
    read_rubric,
    with_ranges,
)
from judgesheet.importers._report import Imported
from judgesheet.importers._rows import Row
from judgesheet.importers.tables import KINDS, read_table
from judgesheet.planning.stimuli import validated

FORMATS: Mapping[str, Format] = {
    "hanna": hanna.FORMAT,
    "summeval": summeval.FORMAT,
    "prometheus": prometheus.FORMAT,
    "mt-bench": mt_bench.FORMAT,
    "judgebench": judgebench.FORMAT,
    "rewardbench2": rewardbench2.FORMAT,
    **dict.fromkeys(KINDS, plain.FORMAT),
}
"""Every format by the name that the command line gives it."""


def run(name: str, files: Sequence[Path], out: Path, choice: ImportOptions) -> Imported:
    """Read `files` of a format and write the stimuli of one axis to `out`, all or nothing."""
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
    if out.exists() and any(out.samefile(file) for file in files):
        raise RunError(f"{out} is what is imported; choose another --out")
    form = FORMATS[name]
    axis = _axis(name, form.holds, choice.axis)
    done = Imported(out, name, axis, form.licence, form.attribution)
    kind = name if name in KINDS else None
    rows = (row for file in files for row in _rows(file, kind, done))
    pieces = [*done.kept(form.read(rows, choice))]
    _grouping.refuse_mixed_scales(pieces, choice.scale or form.scale)
    rubrics = with_ranges(chosen(choice.rubrics or form.rubrics, choice.criterion), choice, form)
    prompts = _grouping.prompts(pieces, rubrics, _panel(pieces, done))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_lines(out, _lines(axis, _each(axis, prompts, choice), done))
    done.remarks += _unused_ratings(done, choice.columns)
    return done


def _rows(file: Path, kind: str | None, done: Imported) -> Iterator[Row]:
    """The rows of a table; a cell without anything is ""."""
    frame = read_table(file, kind)
    done.remarks += frame.attrs["remarks"]
    for where, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        yield Row(where, {str(name): "" if c is None else c for name, c in cells.items()})


def _each(
    axis: str, prompts: Iterable[Prompt | Skip], choice: ImportOptions
) -> Iterator[Prompt | Skip]:
    """The prompts; for all criteria of an axis that grades one, each as often as it has criteria.

    Then they are of one group: what is asked again on the same responses is no other stimulus.
    """
    if choice.criterion != ALL or not getattr(_shapers()[axis], "ONE_CRITERION", False):
        yield from prompts
        return
    for prompt in prompts:
        if isinstance(prompt, Skip):
            yield prompt
            continue
        for criterion, rubric in prompt.rubrics.items():
            own, group = name_of(f"{prompt.id}.{criterion}"), prompt.group or prompt.id
            yield replace(prompt, id=own, rubrics={criterion: rubric}, group=group)


def _unused_ratings(done: Imported, columns: Mapping[str, str]) -> Iterator[str]:
    """That ratings which the user's map names are in no stimulus."""
    rated = [name for name in columns if name.partition(".")[0] in ("human", "model")]
    if not rated or done.ratings:
        return
    remark = f"no stimulus for {done.axis} holds a rating of {', '.join(rated)}"
    if Holds.BEST in _shapers()[done.axis].TAKES:
        remark += "; what it can hold is which response is the best one (gold, better)"
    yield remark


def _axis(name: str, holds: Holds | None, asked: str | None) -> str:
    """The axis that was asked for, else the one that what the format holds suits best."""
    ranks = {
        taker: 0 if holds is None else axis.TAKES[holds]
        for taker, axis in _shapers().items()
        if holds is None or holds in axis.TAKES
    }
    serves = sorted(ranks, key=ranks.__getitem__)
    if asked is None and holds is None:
        raise UsageError(f"{name} can hold anything; give --axis, one of {', '.join(serves)}")
    if asked is not None and asked not in serves:
        raise UsageError(f"{name} serves {', '.join(serves)}, not {asked}")
    return asked or serves[0]


def _shapers() -> dict[str, Shaping]:
    return {name: axis for name, axis in all_axes().items() if isinstance(axis, Shaping)}


def _panel(pieces: Sequence[Piece], done: Imported) -> Sequence[str]:
    raters = _grouping.panel(pieces)
    if raters is None:
        done.remarks.append(
            f"more than {_grouping.CROWD} raters: a response's ratings are listed in the order of "
            "the file, and a place in the list is nobody's own"
        )
    return raters or []


def _lines(axis: str, prompts: Iterable[Prompt | Skip], done: Imported) -> Iterator[str]:
    """The stimuli of an axis, counted as they are made."""
    for prompt in prompts:
        record = _shaped(_shapers()[axis], prompt)
        if isinstance(record, Skip):
            done.skip(record)
            continue
        validated(get_axis(axis), record, prompt.where)
        line = json.dumps(record, ensure_ascii=False)
        if len(line) > LONGEST_LINE:
            raise StimuliError(
                f"{prompt.where}: the stimulus has {len(line):,} characters; split it"
            )
        done.count(record)
        yield line
    if not done.stimuli:
        raise StimuliError(done.nothing())


def _shaped(axis: Shaping, prompt: Prompt | Skip) -> dict[str, Any] | Skip:
    if isinstance(prompt, Skip):
        return prompt
    try:
        return {**axis.shape(prompt), **known(group=prompt.group)}
    except NotAStimulusError as reason:
        return Skip(prompt.where, str(reason))


__all__ = ["FORMATS", "ImportOptions", "Imported", "read_rubric", "run"]
