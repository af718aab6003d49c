"""Make the sheet of a judge by the command line, and hold its decision against the right one."""

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from judgesheet.base.datasheet import from_json
from judgesheet.base.records import Datasheet
from judgesheet.decide.decision import EXIT_CODES
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from sheets.judges import Judge
from torture.processes import Ended, Running

LONGEST_S = 3600.0
"""A real model on a slow machine."""
SHEET = (DATASHEET, "datasheet.html", "datasheet.pdf")


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
    """Make the run, its sheet and the verdicts in an empty folder, which is made so if it is ours.

    ValueError if the folder holds anything else. What the commands print is kept there as well.
    """
    _empty(folder)
    files = folder / "files"
    files.mkdir(parents=True)
    judge.prepare(files)
    with judge.endpoint.serving() if judge.endpoint else nullcontext("") as url:
        words = [word.format(files=files, url=url) for word in judge.words]
        run = _told(folder / "run.txt", *words, "--policy", judge.policy, "--out", folder)
    gate = _told(
        folder / "gate.txt", "gate", folder, "--policy", judge.policy,
        "--junit", folder / "junit.xml",
    )  # fmt: skip
    faults = [f"the run ended with exit code {run.code}"] * (run.code != judge.ends)
    faults += [f"there is no {name}" for name in SHEET if not (folder / name).exists()]
    sheet = _sheet(folder / DATASHEET)
    decision = sheet.decision.verdict if sheet and sheet.decision else ""
    if EXIT_CODES.get(decision) != gate.code:
        faults.append(f"the gate ended with exit code {gate.code}")
    if sheet and judge.fault and decision in {"conditions", "not proven"}:
        if not any(key.startswith(judge.fault) for key in _named(sheet)):
            faults.append(f"the decision does not name {judge.fault}")
    return Made(judge, decision, gate.code, tuple(faults))


def _empty(folder: Path) -> None:
    if folder.exists():
        if not (folder / LEDGER).exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} holds no run: name another folder with --to")
        shutil.rmtree(folder)


def _told(file: Path, *words: str | Path) -> Ended:
    running = Running(words)
    running.wait(LONGEST_S)
    ended = running.end()
    file.write_text(f"{ended.out}{ended.err}", encoding="utf-8")
    return ended


def _sheet(file: Path) -> Datasheet | None:
    return from_json(file.read_text(encoding="utf-8")) if file.exists() else None


def _named(sheet: Datasheet) -> Iterator[str]:
    """The keys that a decision rests on: what limits it, its conditions, limits not proven."""
    if sheet.decision:
        yield sheet.decision.limiting
        yield from (key for keys in sheet.decision.condition_keys for key in keys)
    yield from (verdict.key for verdict in sheet.verdicts if verdict.status != "proven")
