"""Inspect: `.eval` archives and JSON logs, with what each scorer said of each sample.

A row is what one scorer said of one sample in one epoch. A scorer that asks a model keeps the
question to it in the score's metadata (`grading`), and so is told from one that compares texts. The
same answer in two epochs is one response that was graded twice. No member of an archive is held
beyond its limit, whatever its packed size or its header says.
"""

import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import IO, Any

from judgesheet.base.errors import StimuliError
from judgesheet.base.limits import LONGEST_DOCUMENT, MOST_MEMBERS, MOST_UNPACKED
from judgesheet.base.records import digest
from judgesheet.importers._rows import Row
from judgesheet.importers.logs._log import LogFormat
from judgesheet.importers.tables import ALLOWANCE, json_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD = 93
"""The number of this way to pack in a ZIP archive; Python's own reader knows it from 3.14."""
_HEADS = ("header.json", "_journal/start.json")

UNREADABLE = "Grade not found in model output"
"""How the explanation begins where the grader gave no grade; older versions score that as wrong."""


def rows(records: Iterator[Row]) -> Iterator[Row]:
    """A row per sample and scorer, of an archive's samples or of a whole document.

    StimuliError where no sample was scored because the evaluation failed.
    """
    status, scorers, unscored = None, dict[str, dict[str, Any]](), list[Row]()
    for record in records:
        status = record.cells.get("status", status)
        for sample in _samples(record):
            if not sample.cells.get("scores"):
                unscored += _unscored(sample)
                continue
            for row in _sample(sample):
                shared = {name: row.cells[name] for name in ("scorer", "graded", "grades")}
                scorers.setdefault(str(row.cells["scorer"]), shared)
                yield row
    for sample in unscored:
        yield from (Row(sample.where, {**sample.cells, **shared}) for shared in scorers.values())
    if not scorers and isinstance(status, str) and status != "success":
        raise StimuliError(
            f"the evaluation ended with status {status[:40]!r} and no sample was scored: run it "
            "again (`inspect eval-retry LOG`)"
        )
    if not scorers:
        raise StimuliError("no sample was scored yet: `inspect score LOG` does it")


def _samples(record: Row) -> Iterator[Row]:
    if record.cells.get("samples") is None:
        yield record
        return
    for number, sample in enumerate(record.rows("samples"), start=1):
        where = f"{record.where}: sample {number}"
        yield Row(where, {**sample.cells, "eval": record.cells.get("eval")})


def _unscored(sample: Row) -> Iterator[Row]:
    """What is known of a sample that was answered and never scored: a lost call of each scorer."""
    output = sample.cells.get("output")
    answer = output.get("completion") if isinstance(output, Mapping) else None
    if answer:
        yield Row(sample.where, {**_about(sample, answer), "value": None, "scores": {}})


def _about(sample: Row, answer: Any) -> dict[str, Any]:
    name = sample.text("id")
    return {
        "sample": name,
        "response": f"{name}/{digest(str(answer))[:8]}",
        "epoch": sample.cells.get("epoch", 1),
        "metadata": sample.cells.get("metadata"),
    }


def _sample(sample: Row) -> Iterator[Row]:
    scores = sample.row("scores")
    values = {scorer: scores.row(scorer).cells.get("value") for scorer in scores.cells}
    offered = _offered(sample)
    for scorer in scores.cells:
        score, edit = _judged(scores.row(scorer))
        metadata = score.cells.get("metadata")
        lost = str(score.cells.get("explanation") or "").startswith(UNREADABLE)
        yield Row(
            sample.where,
            {
                **_about(sample, score.cells.get("answer")),
                "scorer": scorer,
                "graded": isinstance(metadata, Mapping) and "grading" in metadata,
                "value": None if lost else score.cells.get("value"),
                "edit": edit,
                "scores": values,
                "grades": offered.get(scorer, "I,P,C"),
                "grader": _grader(metadata),
            },
        )


def _judged(score: Row) -> tuple[Row, Any]:
    """A score as the scorer gave it, and the value that a person gave it later, None for none.

    An edited score keeps what it was first in its history, without the provenance of an edit.
    """
    history = score.rows("history") if score.cells.get("history") else []
    if not history or history[0].cells.get("provenance"):
        return score, None
    edited = any(edit.cells.get("value") != "UNCHANGED" for edit in history[1:])
    return history[0], score.cells.get("value") if edited else None


def _grader(metadata: Any) -> str | None:
    """The model that answered the grading prompt."""
    said = metadata.get("grading") if isinstance(metadata, Mapping) else None
    last = said[-1] if isinstance(said, list) and said else None
    model = last.get("model") if isinstance(last, Mapping) else None
    return model if isinstance(model, str) else None


def _offered(sample: Row) -> dict[str, str]:
    """The grades that each scorer offers; a partial one is an option."""
    head = sample.cells.get("eval")
    scorers = head.get("scorers") if isinstance(head, Mapping) else None
    offered = {}
    for scorer in scorers if isinstance(scorers, list) else ():
        options = scorer.get("options") if isinstance(scorer, Mapping) else None
        if isinstance(options, Mapping):
            offered[str(scorer.get("name"))] = "I,P,C" if options.get("partial_credit") else "I,C"
    return offered


# -- archives --------------------------------------------------------------------------------------

# Of the archive, of what Python's reader unpacks or knows not.
_DAMAGES = (
    *(OSError, zipfile.BadZipFile, EOFError, zlib.error, zstd.ZstdError),
    *(ValueError, RuntimeError),
)


def is_archive(path: Path) -> bool:
    """Whether a ZIP archive is a log, by its head."""
    try:
        with zipfile.ZipFile(path) as archive:
            return not {*_HEADS}.isdisjoint(archive.namelist())
    except _DAMAGES as error:
        raise StimuliError(f"{path} cannot be read as a ZIP archive: {error}") from None


def archived(path: Path) -> Iterator[Row]:
    """Every sample of an archive, with `eval` and `status` of the head of the log."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_MEMBERS:
                raise StimuliError(f"{path.name} has more than {MOST_MEMBERS:,} members; split it")
            by_name = {info.filename: info for info in infos}
            head = next(by_name[name] for name in _HEADS if name in by_name)
            cells = _member(path, file, archive, head)
            top = {name: cells.get(name) for name in ("eval", "status")}
            for info in infos:
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    sample = _member(path, file, archive, info)
                    yield Row(f"{path.name}: {info.filename[:200]}", {**sample, **top})
    except _DAMAGES as error:
        raise StimuliError(f"{path} cannot be read as a ZIP archive: {error}") from None


def _member(
    path: Path, file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> Mapping[str, Any]:
    where = f"{path.name}: {info.filename[:200]}"
    # What an archive says of the size of a member may be a lie: only reading tells.
    most = min(LONGEST_DOCUMENT, ALLOWANCE + MOST_UNPACKED * info.compress_size)
    packed = _zstd(file, info) if info.compress_type == ZSTD else archive.open(info)
    with packed as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise StimuliError(
            f"{where}: no sample has more than {LONGEST_DOCUMENT:,} characters, and none more than "
            f"{MOST_UNPACKED} times its packed size; drop it"
        )
    try:
        record = json_of(bytes(content).decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise StimuliError(f"{where}: not UTF-8 text ({error.reason})") from None
    if not isinstance(record, dict):
        raise StimuliError(f"{where}: a JSON {type(record).__name__}, not an object")
    return record


def _zstd(file: IO[bytes], info: zipfile.ZipInfo) -> BufferedIOBase:
    """A member that was packed with Zstandard."""
    file.seek(info.header_offset)
    head = file.read(30)  # of which the last four bytes are the lengths of two fields behind it
    skip = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    file.seek(info.header_offset + 30 + skip)
    packed = BytesIO(file.read(info.compress_size))
    return zstd.ZstdFile(packed)


LOG = LogFormat(
    {
        "stimulus": "sample", "item": "response", "repeat": "epoch", "metric": "scorer",
        "judge": "grader", "verdict": "value", "scale": "grades", "human": "edit",
    },
    (frozenset({"samples", "eval"}), frozenset({"id", "epoch", "scores"})),
    rows=rows,
    where={"graded": "true"},
    lacks="Inspect asks its grader once per answer, with the grades in one order",
    conventions=(
        "`.eval` archives (packed with Zstandard or not) and JSON logs. A score is read if a model "
        "gave it, that is, if its metadata contain the grading conversation; `--where scorer=NAME` "
        "chooses another scorer.",
        "`GRADE: C`, `P` and `I` are points of a scale; a grade that was not found is unreadable, "
        "even if older versions recorded it as incorrect. The same answer in two epochs is one "
        "response that was read twice.",
        "Human ratings, or another scorer's, can be mapped: `--map human=scores.match` or "
        "`human=metadata.rating`; a score that a person edited is theirs.",
    ),
    checked="inspect-ai 0.3.285 (log version 2)",
)  # fmt: skip
