"""Runs that are killed again and again at random moments, and gone on with."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyarrow import ArrowInvalid, parquet

from torture.books import SETTLED, attempts, planned
from torture.faults import ASKED, MODEL
from torture.page import Table
from torture.processes import Ended, Running
from torture.server import Asked, Entry, Given, Server, answer, serving

KILLS = 204
IN_FLIGHT = 4
UNDER_WAY = IN_FLIGHT + IN_FLIGHT // 4  # a quarter may wait for the disk besides
LONGEST_S = 0.8
"""Kills come 0 to so many seconds after the start, the first request or the last one."""
CALLS = 78
SHARES = (0.6, 0.2, 0.2)
"""Of the signals, in the sequence of `SIGNALS`."""
FRESH = 0.05
"""Share of sessions that are started as a shell does; the others are forked."""
SAID = "the same command resumes the run"
WHOLE = {
    *("ledger.sqlite", "plan.jsonl", "judgments.parquet"),
    *("datasheet.json", "datasheet.html", "cases.html"),
}
_SINCE = re.compile(r"_at$|_s$")

PHASES = ("starting", "asking", "measuring and writing")
SIGNALS: dict[int, str] = {
    signal.SIGKILL: "kill -9",
    signal.SIGTERM: "SIGTERM",
    signal.SIGINT: "Ctrl-C",
}


@dataclass(slots=True)
class Tally:
    """What was counted of one kind of kill."""

    kills: int = 0
    in_flight: int = 0
    lost: int = 0
    twice: int = 0
    halves: int = 0
    odd_ends: int = 0
    notes: list[str] = field(default_factory=list)

    def judge(self, kind: int, ended: Ended, asked: Sequence[Entry], *, is_killed: bool) -> None:
        """Whether a process ended as it should; a signal may come before it listens to them."""
        self.kills += is_killed
        codes = {-kind} if kind == signal.SIGKILL else {130} if asked else {130, -kind}
        # Python itself ends by the signal if it came within an `exec`, as of a dataclass.
        codes |= {-kind} if SAID in ended.err else set()
        if ended.code not in codes or ended.has_traceback or not is_killed:
            self.odd_ends += 1
            self.notes.append(f"{SIGNALS[kind]}: {ended}")


@dataclass(slots=True)
class Book:
    """What the ledger of a run held when it was last looked at."""

    names: set[str] = field(default_factory=set)
    words: Counter[str] = field(default_factory=Counter)
    planned: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, run: Path) -> "Book":
        """From a copy: to look into a ledger that was killed would mend it."""
        with TemporaryDirectory(prefix="torture-") as folder:
            for file in run.glob("ledger.sqlite*"):
                shutil.copy(file, folder)
            copy = Path(folder) / "ledger.sqlite"
            if not copy.exists() or not _has_plan(copy):
                return cls()
            kept = [attempt for attempt in attempts(copy) if attempt.outcome in SETTLED]
            return cls(
                {attempt.name for attempt in kept},
                Counter(attempt.words for attempt in kept),
                planned(copy),
            )


def _has_plan(ledger: Path) -> bool:
    """Whether the plan is stored; reading it also takes in what lies beside the ledger."""
    with closing(sqlite3.connect(ledger)) as db:
        return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'call'").fetchone() is not None


def _slowly(rng: random.Random) -> "Any":
    def give(asked: Asked) -> Given:
        good = answer(asked)
        return Given([rng.uniform(0.01, 0.2), *good.pieces], good.kind, good.verdict, good.tokens)

    return give


def _sheet(run: Path) -> dict[str, Any]:
    """A sheet without its times."""
    sheet: dict[str, Any] = json.loads((run / "datasheet.json").read_text(encoding="utf-8"))
    sheet["run"] = {name: fact for name, fact in sheet["run"].items() if not _SINCE.search(name)}
    return sheet


def _halves(run: Path) -> Iterator[str]:
    """Files of a killed run that are there, but not whole."""
    for name, read in {
        "datasheet.json": lambda file: json.loads(file.read_bytes()),
        "plan.jsonl": lambda file: [json.loads(line) for line in file.open()],
        "judgments.parquet": parquet.read_table,
        "datasheet.html": lambda file: file.read_bytes().rindex(b"</html>"),
    }.items():
        try:
            with suppress(FileNotFoundError):
                read(run / name)
        except (ValueError, ArrowInvalid):
            yield name


class Killer:
    """Kills runs on one server until its number is reached."""

    def __init__(self, seed: int, kills: int) -> None:
        self.tallies = {(kind, phase): Tally() for kind in SIGNALS for phase in PHASES}
        self.sheets = 0
        self.others = 0
        self.notes: list[str] = []
        self._rng = random.Random(seed)
        self._left = kills

    def work(self) -> "Killer":
        """Kill, and end the last run in peace."""
        with serving(_slowly(self._rng)) as server, TemporaryDirectory(prefix="torture-") as folder:
            calm = Path(folder) / "calm"
            self._start(server, calm).end()
            while self._left > 0:
                run = Path(folder) / f"run-{self._left}"
                self._kill_again_and_again(server, run)
                files = {file.name for file in run.iterdir()}
                self.sheets += 1
                found, expected = _sheet(run), _sheet(calm)
                names = [name for name in expected if found.get(name) != expected[name]]
                # What `kill -9` leaves of a file that was being written goes after a day.
                names += sorted(name for name in files ^ WHOLE if not name.endswith(".part"))
                self.others += bool(names)
                self.notes += [f"another {name} after kills" for name in names]
        return self

    def _start(self, server: Server, run: Path) -> Running:
        asked = ("--model", MODEL, "--base-url", server.url, *ASKED, "--out", run)
        words = ("probe", *asked, "--concurrency", str(IN_FLIGHT))
        return Running(words, fresh=self._rng.random() < FRESH)

    def _kill_again_and_again(self, server: Server, run: Path) -> None:
        before, is_done = Book(), False
        while not is_done:
            first = len(server.log)
            running = self._start(server, run)
            (kind,) = self._rng.choices([*SIGNALS], SHARES)
            pending = (before.planned - before.words).total() or CALLS
            self._await(running, server, first + self._rng.choice((0, 1, 1, 1, pending)))
            is_killed = self._left > 0 and not running.wait(self._rng.uniform(0, LONGEST_S))
            if is_killed:
                with suppress(ProcessLookupError):
                    os.kill(running.pid, kind)
            ended = running.end()
            asked, after = server.log[first:], Book.read(run)
            is_done = ended.code == 0 or not is_killed
            tally = self.tallies[kind, _phase(asked, after)]
            if ended.code != 0:
                tally.judge(kind, ended, asked, is_killed=is_killed)
                self._left -= is_killed
            _count(tally, before, after, asked)
            tally.halves += len(list(_halves(run)))
            before = after

    def _await(self, running: Running, server: Server, requests: int) -> None:
        """Wait until the server had so many requests, or no more will come."""
        while self._left > 0 and len(server.log) < requests and not running.wait(0.01):
            pass


def _phase(asked: Sequence[Entry], after: Book) -> str:
    if after.planned and after.words == after.planned:
        return PHASES[2]
    return PHASES[1] if asked else PHASES[0]


def _count(tally: Tally, before: Book, after: Book, asked: Sequence[Entry]) -> None:
    """What a session lost and asked twice, between two looks into the ledger."""
    sent = {entry.asked.name for entry in asked if entry.is_sent}
    under_way = len(sent - after.names)
    # What is missing was in flight, or on its way to the disk.
    tally.in_flight += min(UNDER_WAY, under_way)
    tally.lost += max(0, under_way - UNDER_WAY) + len(before.names - after.names)
    again = Counter(entry.asked.words for entry in asked)
    tally.twice += (again - (after.planned - before.words)).total()


def table(fewer: int, jobs: int) -> Table:
    """Kills by signal and phase."""
    head = ["killed by", "while", "kills", "replies in flight", "lost", "asked twice"]
    made = Table([*head, "files half written", "odd exit or traceback"])
    several = 2 * jobs  # they wait as long as they work
    killers = [Killer(seed, KILLS // fewer // several) for seed in range(several)]
    with ThreadPoolExecutor(several) as pool:
        killers = list(pool.map(Killer.work, killers))
    for kind, phase in killers[0].tallies:
        tallies = [killer.tallies[kind, phase] for killer in killers]
        noughts = ("lost", "twice", "halves", "odd_ends")
        made.add(
            SIGNALS[kind],
            phase,
            sum(one.kills for one in tallies),
            sum(one.in_flight for one in tallies),
            *(made.nought(sum(getattr(one, name) for one in tallies)) for name in noughts),
        )
        made.notes += [note for one in tallies for note in one.notes]
    runs, others = (sum(getattr(one, name) for one in killers) for name in ("sheets", "others"))
    made.notes += [note for one in killers for note in one.notes]
    made.after = (
        f"Runs that these kills were spread over: {runs}. Runs whose last sheet differs from that "
        f"of an undisturbed run, or which left other files: {made.nought(others)}."
    )
    return made
