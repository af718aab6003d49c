"""Is a sheet what it says it is, and what its run gives? Everything is computed again.

A sheet may come from anybody: nothing in it is believed but what follows from something else.
"""

import json
import logging
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.errors import ContradictionError, MissingDependencyError, RunError
from judgesheet.base.limits import LARGEST_TEXT
from judgesheet.base.records import Datasheet, Decision, digest
from judgesheet.base.sanitize import one_line
from judgesheet.base.version import __version__
from judgesheet.decide import decide
from judgesheet.decide.policy import Policy, policy_of, shipped
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from judgesheet.sheet import render

PAPERS = ("a4", "letter")
QUOTED = 80
"""Signs of a text that are quoted of a field."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: the digest that others may quote, what differs, and what was not compared.

    `decision` is that of the figures under the policy that was given, None without one.
    `other_version` is that of the judgesheet which alone can compute the sheet again, "" if this.
    """

    file: str
    sha256: str
    judge: str
    differences: tuple[str, ...]
    notes: tuple[str, ...]
    decision: Decision | None = None
    other_version: str = ""


def verification(file: Path, run: Path | None, policy: Policy | None = None) -> Verification:
    """Compare a datasheet.json, or a PDF that holds one, with itself and with its run.

    Under a `policy` its judge is decided anew.
    """
    content = _content(file)
    is_pdf = content.startswith(b"%PDF")
    if not is_pdf and not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        raise RunError(
            f"{file} does not hold the data of a sheet: give its {DATASHEET} or its PDF "
            "(its HTML page has no data)"
        )
    text = (_attached(content, file) if is_pdf else content).decode("utf-8", "surrogateescape")
    try:
        sheet = from_json(text)
    except ContradictionError as error:
        return Verification(file.name, digest(text), "", (str(error),), ())
    by = str(sheet.provenance.judgesheet)[:60]
    if by == __version__:
        found = [
            *_compared(sheet, text, run, policy),
            *(_sets_the_same(sheet, content) if is_pdf else ()),
        ]
    else:
        found = [(contradiction, True) for contradiction in _contradicts_itself(sheet)]
    return Verification(
        file.name,
        digest(text),
        sheet.judge.model,
        tuple(what for what, differs in found if differs),
        tuple(what for what, differs in found if not differs),
        decide(sheet, policy).decision if policy else None,
        "" if by == __version__ else by,
    )


def _compared(
    sheet: Datasheet, text: str, run: Path | None, given: Policy | None
) -> Iterator[tuple[str, bool]]:
    """Each difference from what its run gives, or its own figures; and what was not compared."""
    if to_json(sheet) != text.replace("\r\n", "\n"):
        yield "its JSON is not in the form that judgesheet writes", True
    named = sheet.provenance.policy
    policy = given if given and named and given.digest == named.digest else policy_of(sheet)
    if policy is not None and not policy.digest:
        name = named.name if named else ""
        what = f"the policy {name[:60]} does not come with judgesheet"
        # The name of a shipped one is no file's.
        yield f"its limits: {what}; give its file with --policy", name in shipped()
        policy = None
    if run is None:
        yield "its figures: give its run with --run DIR to compute them again", False
    measured = sheet if run is None else _measured(run)
    if origin := other_origin(sheet, measured):
        yield f"this sheet is of another run: {origin} is not that of the run", True
        return
    yield from ((str(one), True) for one in differences(sheet, measured, policy))


def _contradicts_itself(sheet: Datasheet) -> Iterator[str]:
    """A decision that its own figures refute, whichever version made it."""
    held, made = sheet.decision, decide(sheet).decision
    if held is not None and (made is None or made.verdict != held.verdict):
        anew = "none" if made is None else made.verdict
        yield f"decision.verdict is {held.verdict}, its own figures give {anew}"


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise RunError(f"{file} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST_TEXT:
        raise RunError(f"{file} has more than {LARGEST_TEXT:,} bytes, and no datasheet has")
    return content


def _attached(content: bytes, file: Path) -> bytes:
    """The datasheet.json in a PDF; RunError if it holds none."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong is said once, by us
    try:
        # Anybody may have made the file, so anything may be where something else belongs.
        found = PdfReader(BytesIO(content)).attachments.get(DATASHEET, [])
        attached = [bytes(one) for one in found]
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
            zlib.error, MemoryError) as error:  # fmt: skip
        raise RunError(f"{file} cannot be read as a PDF: {str(error)[:200]}") from None
    if len(attached) != 1:
        raise RunError(f"{file} holds {len(attached)} files {DATASHEET}, and a datasheet holds one")
    return attached[0]


def _sets_the_same(sheet: Datasheet, content: bytes) -> Iterator[tuple[str, bool]]:
    """The pages say what the JSON gives; the bytes are the same on one machine alone."""
    try:
        made = [render(sheet, "pdf", paper) for paper in PAPERS]  # type: ignore[arg-type]
    except MissingDependencyError as error:
        yield f"its pages: {error}", False
        return
    if content in made:
        return
    if _set_by(content) != _set_by(made[0]):
        yield f"its pages, set by {_set_by(content)}: here is {_set_by(made[0])}", False
    elif _words(content) not in map(_words, made):
        yield "its pages say something else than its datasheet.json gives", True
    else:
        what = "its drawings (the words are those of its datasheet.json, the bytes are not: "
        yield f"{what}another machine, other fonts, or a change)", False


def _set_by(content: bytes) -> str:
    """The program that set a PDF, as that says of itself."""
    from pypdf import PdfReader

    about = PdfReader(BytesIO(content)).metadata
    return one_line(str(about and about.producer)[:QUOTED])


def _words(content: bytes) -> list[str]:
    from pypdf import PdfReader

    pages = PdfReader(BytesIO(content)).pages
    return [word for page in pages for word in page.extract_text().split()]


def _measured(run: Path) -> Datasheet:
    """What the ledger of a run gives, before it is decided."""
    from judgesheet.measuring.assemble import assemble
    from judgesheet.measuring.measure import measure

    with Ledger.open(run / LEDGER) as ledger:
        return Datasheet.of(assemble(ledger, measure(ledger)))


# -- field by field --------------------------------------------------------------------------------

MADE_BY = frozenset({"provenance.judgesheet", "provenance.measured_with"})
"""The versions of what computed a sheet: told, and no figure."""
TOLERANCE = 1e-9
"""By how much a number may differ, as a part of it: machines round differently."""
ABSENT = "absent"


class Difference(NamedTuple):
    """A field, as `score_order.cramers_v: value`, with what it holds and what it should."""

    place: str
    held: Any
    made: Any

    def __str__(self) -> str:
        return f"{self.place} is {_text(self.held)}, computed anew {_text(self.made)}"


def other_origin(held: Datasheet, made: Datasheet) -> str:
    """What shows that two sheets are of two runs: judge, plan, or when they began; "" if nothing.

    All else of another run differs, too, and says nothing of the sheet.
    """
    pairs: dict[str, list[str | None]] = {
        "judge.model": [one.judge.model for one in (held, made)],
        "the plan's digest": [one.provenance.plan_digest for one in (held, made)],
        "run.started_at": [one.run.started_at for one in (held, made)],
    }
    return next((name for name, (first, second) in pairs.items() if first != second), "")


def differences(
    held: Datasheet, measured: Datasheet, policy: Policy | None = None
) -> Iterator[Difference]:
    """Every field of a sheet that is not as it was measured, and then decided.

    Without its `policy` the limits are those that the sheet names.
    """
    if policy is None:
        measured = replace(
            measured,
            verdicts=held.verdicts,
            run=replace(measured.run, review_days=held.run.review_days),
            provenance=replace(measured.provenance, policy=held.provenance.policy),
        )
    made = decide(measured, policy)
    yield from _between(json.loads(to_json(held)), json.loads(to_json(made)), "")


def _between(held: Any, made: Any, place: str) -> Iterator[Difference]:
    if isinstance(held, list) and isinstance(made, list):
        held, made = _labelled(held), _labelled(made)
        if [*held] != [*made] and {*held} == {*made}:
            yield Difference(f"the order of {place}", [*held], [*made])
    if not isinstance(held, dict) or not isinstance(made, dict):
        if not _is_alike(held, made):
            yield Difference(place, held, made)
        return
    for name in dict.fromkeys((*held, *made)):
        # The key of a figure says where it is.
        inner = name if place.endswith(".estimates") else f"{place}.{name}".lstrip(".")
        if inner not in MADE_BY:
            yield from _between(held.get(name, ABSENT), made.get(name, ABSENT), inner)


def _labelled(parts: list[Any]) -> dict[str, Any]:
    """The parts of a list by key or name where each has one of its own, else by number."""
    for label in ("key", "name"):
        named = {part[label]: part for part in parts if isinstance(part, dict) and label in part}
        if len(named) == len(parts):
            return named
    return {str(number): part for number, part in enumerate(parts, start=1)}


def _is_alike(held: Any, made: Any) -> bool:
    numbers = [type(one) in (int, float) for one in (held, made)]
    if all(numbers):
        return math.isclose(held, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(held) is type(made) and bool(held == made)


def _text(value: Any) -> str:
    if type(value) is float:
        return f"{value:.10g}"
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
    return one_line(text if len(text) <= QUOTED else f"{text[:QUOTED]}…") or '""'
