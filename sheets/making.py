"""Make the sheet of a judge by the command line, and hold its decision against the right one."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pypdf import PdfReader

from judgesheet.base.datasheet import from_json
from judgesheet.base.records import Datasheet
from judgesheet.decide.decision import EXIT_CODES
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from sheets.judges import Judge
from torture.processes import Ended, Running

LONGEST_S = 3600.0
"""A real model on a slow machine."""
PDF = "datasheet.pdf"
SHEET = (DATASHEET, "datasheet.html", PDF)
PLACES = {"decision": 0, "wrong": 0, "answers": 0, "scope": 0, "characteristics": 1}
"""Parts of the PDF by their anchors, and the pages that they belong on, from 0."""


@dataclass(frozen=True, slots=True)
class Made:
    """A sheet: what the gate decided and ended with, and what else is not as it must be."""

    judge: Judge
    decision: str
    code: int | None
    faults: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether the decision is one of the right ones, everywhere, and all files are there."""
        return self.decision in self.judge.right and not self.faults


def make(judge: Judge, folder: Path) -> Made:
    """Make the run, its sheet and the verdicts in a folder; an old run there is removed.

    What the commands print is kept there as well. ValueError if the folder `is_foreign`.
    """
    if is_foreign(folder):
        raise ValueError(f"{folder} holds something else than a run")
    shutil.rmtree(folder, ignore_errors=True)
    files = folder / "files"
    files.mkdir(parents=True)
    judge.prepare(files)
    with judge.endpoint.serving() if judge.endpoint else nullcontext("") as url:
        words = [word.format(files=files, url=url) for word in judge.words]
        run = _ended(folder / "run.txt", *words, "--policy", judge.policy, "--out", folder)
    gate = _ended(
        folder / "gate.txt", "gate", folder, "--policy", judge.policy,
        "--junit", folder / "junit.xml",
    )  # fmt: skip
    faults = [f"the run ended with exit code {run.code}"] * (run.code != judge.ends)
    faults += [f"there is no {name}" for name in SHEET if not (folder / name).exists()]
    faults += _misplaced(folder / PDF)
    sheet = _sheet(folder / DATASHEET)
    decision = sheet.decision.verdict if sheet and sheet.decision else ""
    if EXIT_CODES.get(decision) != gate.code:
        faults.append(f"the gate ended with exit code {gate.code}")
    if sheet and decision != "reject" and not _names(sheet, judge.fault):
        faults.append(f"the decision does not name {judge.fault}")
    return Made(judge, decision, gate.code, tuple(faults))


def is_foreign(folder: Path) -> bool:
    """Whether a folder holds something else than a run, which must not be lost."""
    return folder.exists() and any(folder.iterdir()) and not (folder / LEDGER).exists()


def _misplaced(pdf: Path) -> Iterator[str]:
    """Parts of the PDF that are not on their page: the first holds what decides."""
    if not pdf.exists():
        return
    reader = PdfReader(pdf)
    for part, page in PLACES.items():
        anchor = reader.named_destinations.get(part)
        if anchor is None:
            yield f"the PDF has no {part}"
        elif reader.get_destination_page_number(anchor) != page:
            yield f"the PDF has its {part} on another page than {page + 1}"


def _ended(file: Path, *words: str | Path) -> Ended:
    running = Running(words)
    running.wait(LONGEST_S)
    ended = running.end()
    file.write_text(f"{ended.out}{ended.err}", encoding="utf-8")
    return ended


def _sheet(file: Path) -> Datasheet | None:
    return from_json(file.read_text(encoding="utf-8")) if file.exists() else None


def _names(sheet: Datasheet, fault: str) -> bool:
    """Whether the decision rests on a key that begins so.

    As the figure that limits it, behind a condition, or as one whose limit is not proven.
    """
    keys = [one.key for one in sheet.verdicts if one.status != "pass"]
    if sheet.decision:
        keys += [sheet.decision.limiting, *chain(*(one.keys for one in sheet.decision.conditions))]
    return any(key.startswith(fault) for key in keys)
