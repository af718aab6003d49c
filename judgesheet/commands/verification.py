"""Is a sheet what it says it is, and what its run gives? Everything is computed again.

A sheet may come from anybody: nothing in it is believed but what follows from something else.
"""

import logging
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.errors import ContradictionError, MissingDependencyError, RunError, UsageError
from judgesheet.base.limits import LARGEST_TEXT
from judgesheet.base.records import Datasheet, Decision, digest
from judgesheet.base.version import __version__
from judgesheet.collect.knob import recall
from judgesheet.commands.run_checkup import numbers, other_facts, other_figures, other_origin
from judgesheet.decide import decide
from judgesheet.decide import policy as policies
from judgesheet.decide.policy import Policy
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from judgesheet.sheet import render

PAPERS = ("a4", "letter")


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: the digest that others may quote, what differs, and what was not compared.

    `decision` is that of the figures under the policy that was given, None without one.
    """

    file: str
    sha256: str
    judge: str
    differences: tuple[str, ...]
    notes: tuple[str, ...]
    decision: Decision | None = None


def verification(file: Path, run: Path | None, policy: Policy | None = None) -> Verification:
    """Compare a datasheet.json, or a PDF that holds one, with itself and with its run.

    Under a `policy` its judge is decided anew.
    """
    content = _content(file)
    is_pdf = content.startswith(b"%PDF")
    if content.lstrip().startswith(b"<"):
        raise RunError(
            f"{file} is an HTML page, which does not contain the sheet's data: give its "
            f"{DATASHEET} or its PDF"
        )
    text = (_attached(content, file) if is_pdf else content).decode("utf-8", "surrogateescape")
    try:
        sheet = from_json(text)
    except ContradictionError as error:
        return Verification(file.name, digest(text), "", (str(error),), ())
    found: list[tuple[str, bool]] = []
    if to_json(sheet) != text.replace("\r\n", "\n"):
        found.append(("its JSON is not in the form that judgesheet writes", True))
    is_ours = sheet.provenance.get("judgesheet") == __version__
    if is_ours:
        found += _says_what_follows(sheet, policy)
        found += _sets_the_same(sheet, content) if is_pdf else ()
    else:
        by = str(sheet.provenance.get("judgesheet"))[:40]
        what = "its pages and " if is_pdf else ""
        found.append((f"{what}what follows from its figures: only judgesheet {by} can tell", False))
    if run is None:
        found.append(("its figures: give its run with --run DIR to compute them again", False))
    else:
        found += _is_of(run, sheet)
    return Verification(
        file.name,
        digest(text),
        str(sheet.judge.get("model")),
        tuple(what for what, differs in found if differs),
        tuple(what for what, differs in found if not differs),
        decide(sheet, policy).decision if policy else None,
    )


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


def _says_what_follows(sheet: Datasheet, given: Policy | None) -> Iterator[tuple[str, bool]]:
    """Controls, findings, marks and decision follow from the figures; verdicts from a policy."""
    known = sheet.provenance.get("policy")
    policy = _its_own(known, given) if isinstance(known, dict) else None
    if isinstance(known, dict) and policy is None:
        what = f"the policy {str(known.get('name'))[:60]} does not come with judgesheet"
        yield f"verdicts: {what}; give its file with --policy", False
    anew = decide(sheet, policy)
    for part in ("verdicts", "decision", "recommendations"):
        if getattr(anew, part) != getattr(sheet, part):
            yield f"{part}: does not follow from its figures", True
    for axis, other in zip(sheet.axes, anew.axes, strict=True):
        if axis != other:
            yield f"{axis.name}: its sentences do not follow from its figures", True


def _its_own(known: dict[str, Any], given: Policy | None) -> Policy | None:
    """The policy that a sheet was decided under: the one that was given, or a shipped one."""
    name = str(known.get("name"))
    at_hand = [given, policies.load(name) if name in policies.shipped() else None]
    return next((one for one in at_hand if one and one.digest == known.get("digest")), None)


def _sets_the_same(sheet: Datasheet, content: bytes) -> Iterator[tuple[str, bool]]:
    """The pages are those that the JSON gives, byte for byte."""
    try:
        if not any(render(sheet, "pdf", paper) == content for paper in PAPERS):  # type: ignore[arg-type]
            yield "its pages differ from those that its datasheet.json gives", True
    except MissingDependencyError as error:
        yield f"its pages: {error}", False


def _is_of(run: Path, sheet: Datasheet) -> Iterator[tuple[str, bool]]:
    """Every figure, count and fact of the run, computed again from its ledger."""
    from judgesheet.measuring.assemble import assemble
    from judgesheet.measuring.measure import measure

    if recall(run) is not None:
        raise UsageError(f"{run} is a sweep: verify the sheet of one of its values with its folder")
    with Ledger.open(run / LEDGER) as ledger:
        made = from_json(to_json(assemble(ledger, measure(ledger))))
    if origin := next(other_origin(sheet, made), None):
        # All else of another run differs, too, and says nothing of the sheet.
        yield f"this sheet is of another run: {origin} is not that of the run", True
        return
    for fact in other_facts(sheet, made):
        yield f"{fact} is not that of the run", True
    held, computed = numbers(sheet), numbers(made)
    for key in other_figures(sheet, made):
        yield (
            f"{key} is {_text(held.get(key))} in the sheet, {_text(computed.get(key))} of the run",
            True,
        )


def _text(figures: Mapping[str, float | None] | None) -> str:
    if figures is None:
        return "absent"
    return ", ".join(
        f"{name} {'none' if figure is None else f'{figure:.6g}'}"
        for name, figure in figures.items()
    )
