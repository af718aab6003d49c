"""Public data sets, and anybody's tables, as stimuli.

A format is a module with the names of `Importer`; it reads rows and makes pieces. Pieces are
grouped by prompt on disk, shaped for an axis, held against the axis's own schema and written. An
output file is whole or it is not there.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from judgesheet.axes import get_axis
from judgesheet.axis import Axis
from judgesheet.errors import StimuliError, UsageError
from judgesheet.spine.importers import (
    _rows,
    hanna,
    judgebench,
    mt_bench,
    plain,
    prometheus,
    rewardbench2,
    summeval,
)
from judgesheet.spine.importers._piece import CRITERION, Choice, Importer, Skip
from judgesheet.spine.importers._report import CROWD, Imported, Scales, Spread
from judgesheet.spine.importers._shape import (
    NotAStimulusError,
    Rubrics,
    compose,
    prompt_of,
)
from judgesheet.spine.importers._store import Store
from judgesheet.spine.stimuli import MAX_LINE, first_fault

FORMATS: Mapping[str, Importer] = {
    **{
        module.NAME: cast("Importer", module)
        for module in (hanna, summeval, prometheus, mt_bench, judgebench, rewardbench2)
    },
    **{kind: cast("Importer", plain) for kind in plain.KINDS},
}
"""Every format by the name that the command line gives it."""


def run(name: str, files: Sequence[Path], out: Path, choice: Choice) -> Imported:
    """Read `files` of a format and write the stimuli of one axis to `out`.

    Raises
    ------
    UsageError
        if the choice does not fit the format.
    StimuliError
        if a file or a line of it cannot be used; nothing is written then.
    """
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
    importer = FORMATS[name]
    axis = get_axis(_axis(name, importer, choice))
    _refuse_overwriting(files, out)
    with tempfile.TemporaryDirectory(dir=_folder(out), prefix=".import-") as scratch:
        part = Path(scratch) / "stimuli.jsonl"
        with Store(Path(scratch) / "pieces.sqlite") as store:
            ledger = _gather(importer, _all_rows(name, files), choice, store)
            imported = _write(importer, axis, choice, store, ledger, part)
        part.replace(out)
    return Imported(
        path=out, format=name, axis=axis.NAME, licence=importer.LICENCE,
        attribution=importer.ATTRIBUTION, **imported,
    )  # fmt: skip


def _axis(name: str, importer: Importer, choice: Choice) -> str:
    axis = choice.axis or (importer.AXES[0] if name not in plain.KINDS else None)
    if axis is None:
        raise UsageError(f"{name} can hold anything; say --axis: {', '.join(importer.AXES)}")
    if axis not in importer.AXES:
        raise UsageError(f"{name} serves {', '.join(importer.AXES)}, not {axis}")
    return axis


def _refuse_overwriting(files: Sequence[Path], out: Path) -> None:
    for file in files:
        if out.exists() and file.exists() and out.samefile(file):
            raise UsageError(f"--out {out} is one of the files to read; name another")


def _folder(out: Path) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    return out.parent


def _all_rows(name: str, files: Sequence[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in files:
        yield from _rows.rows(file, name if name in plain.KINDS else _rows.kind_of(file))


def read_rubric(path: str | Path | None) -> dict[str, list[str]]:
    """Criterion -> descriptions of its scores, worst first, from a JSON file; empty for None.

    Raises
    ------
    UsageError
        if the file is not one JSON object of lists of texts.
    """
    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"--rubric {path} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict) or not found or not all(map(_is_levels, found.values())):
        raise UsageError(
            f"--rubric {path} must be a JSON object such as "
            '{"coherence": ["worst described", …, "best described"]}'
        )
    return found


def _is_levels(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(level, str) for level in found)


__all__ = ["FORMATS", "Choice", "Imported", "read_rubric", "run"]

# -- reading ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """What reading left to know when writing starts.

    `raters` are those that have lines of their own, in order of appearance, one more than `CROWD`
    at most; `widths` the most ratings that a response has, by criterion.
    """

    skipped: dict[str, tuple[int, str]] = field(default_factory=dict)
    raters: list[str] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def skip(self, reason: str, where: str) -> None:
        count, first = self.skipped.get(reason, (0, where))
        self.skipped[reason] = (count + 1, first)

    def meet(self, rater: str) -> None:
        if len(self.raters) <= CROWD and rater not in self.raters:
            self.raters.append(rater)

    def widen(self, rated: Iterable[tuple[str, Sequence[float | None]]]) -> None:
        for criterion, ratings in rated:
            self.widths[criterion] = max(self.widths.get(criterion, 0), len(ratings))

    def width(self, criterion: str) -> int:
        """The most ratings of a criterion that a response has."""
        return self.widths.get(criterion) or self.widths.get(CRITERION, 0)

    @property
    def panel(self) -> list[str]:
        """The raters that have a place of their own; none of a crowd has."""
        return self.raters if len(self.raters) <= CROWD else []


def _gather(
    importer: Importer, rows: Iterator[tuple[str, Mapping[str, Any]]], choice: Choice, store: Store
) -> _Found:
    found, split = _Found(), False
    scales = Scales(choice.scale or importer.SCALE)
    for piece in importer.read(rows, choice):
        if isinstance(piece, Skip):
            found.skip(piece.reason, piece.where)
            continue
        scales.watch(piece)
        if piece.rater is None:
            found.widen((*piece.human.items(), ("", piece.model)))
        elif piece.seated:
            found.meet(piece.rater)
        split = split or piece.rater is not None
        store.add(piece)
    scales.settle()
    for where in store.childless():
        found.skip("a prompt without responses", where)
    if len(found.raters) > CROWD:
        found.notes.append(
            f"more than {CROWD} raters: a response's ratings are listed in the order of the file, "
            "and a place in the list is nobody's own"
        )
    for group in store.groups() if split else ():
        for response in prompt_of(group, found.panel).responses:
            found.widen((*response.human.items(), ("", response.model)))
    return found


# -- writing ---------------------------------------------------------------------------------------


def _write(
    importer: Importer, axis: Axis, choice: Choice, store: Store, found: _Found, part: Path
) -> dict[str, Any]:
    """Write every stimulus, and return the figures of the report."""
    rubrics: Rubrics = choice.rubrics or importer.RUBRICS
    spreads: dict[str, Spread] = {}
    counts: Counter[str] = Counter()
    with part.open("w", encoding="utf-8") as file:
        for group in store.groups():
            prompt = prompt_of(group, found.panel)
            try:
                record = compose(axis.NAME, prompt, choice, rubrics, found.widths)
            except NotAStimulusError as reason:
                found.skip(str(reason), prompt.where)
                continue
            file.write(_line(axis, record, prompt.where))
            counts.update(_counts(record))
            _spread(record, found, spreads)
    if not counts["stimuli"]:
        raise StimuliError(_nothing(found))
    return {
        "stimuli": counts["stimuli"],
        "candidates": counts["candidates"],
        "gold": counts["gold"],
        "criteria": {name: spread.as_record() for name, spread in spreads.items() if spread.count},
        "skipped": found.skipped,
        "notes": (*found.notes, *_ragged(spreads)),
    }


def _line(axis: Axis, record: dict[str, Any], where: str) -> str:
    from pydantic import ValidationError

    try:
        axis.material().model_validate(record)
    except ValidationError as error:
        raise StimuliError(f"{where}: {first_fault(error.errors())}") from None
    line = json.dumps(record, ensure_ascii=False)
    if len(line) > MAX_LINE:
        raise StimuliError(f"{where}: the stimulus has {len(line):,} characters; split it")
    return line + "\n"


def _counts(record: Mapping[str, Any]) -> dict[str, int]:
    known = record.get("gold") or record.get("better")
    candidates = len(record["candidates"]) if "candidates" in record else 2
    return {"stimuli": 1, "candidates": candidates, "gold": int(bool(known))}


def _spread(record: Mapping[str, Any], found: _Found, spreads: dict[str, Spread]) -> None:
    """Count the ratings that stand in a stimulus."""
    own = record.get("rubric", {}).get("criterion", "")
    for candidate in record.get("candidates", ()):
        human = candidate.get("human", {})
        told = dict(human) if isinstance(human, dict) else {own: human}
        if "model" in candidate:
            told[""] = candidate["model"]
        for criterion, ratings in told.items():
            listed = ratings if isinstance(ratings, list) else [ratings]
            width = found.width(criterion)
            spreads.setdefault(criterion, Spread()).add(listed, width)


def _nothing(found: _Found) -> str:
    if not found.skipped:
        return "the files hold no rows; nothing was written"
    reason, (count, where) = max(found.skipped.items(), key=lambda entry: entry[1][0])
    return f"{where}: nothing is left to import: {reason} ({count} times)"


def _ragged(spreads: Mapping[str, Spread]) -> Iterator[str]:
    for criterion, spread in spreads.items():
        if spread.short:
            yield (
                f"{spread.short} of {spread.rated} responses have fewer ratings of "
                f"{criterion or 'the model'} than the others; the gaps are null"
            )
