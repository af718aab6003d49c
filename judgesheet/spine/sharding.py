"""For stage two: one plan asked by several workers, each with a ledger of its own.

The driver, who holds the ledger of the run, divides what is pending into shards by stimulus and
puts together what came. Between them lie files alone, on storage that all of them see, in a folder
`shards/ROUND` of the run directory:

    state            whether the workers are to go on
    0003.jsonl       the calls of a shard
    0003.1.lease     its first holder: who, how far, and a sign of life every second
    0003.1.sqlite    what the first holder was answered

No file has two writers. Whoever takes a shard over is its next holder, with a lease and a ledger of
their own, and reads a copy of the earlier ledgers; so a worker who was believed dead can do no harm
to what others write. It asks nothing more either: who could not give a sign of life for half the
time after which others take over, stops by its own clock.
"""

import fcntl
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self
from uuid import uuid4

from judgesheet.files import decoded, records
from judgesheet.prices import Prices, cost
from judgesheet.records import SETTLING, Call
from judgesheet.spine.collect import CollectSettings
from judgesheet.spine.ledger import Ledger
from judgesheet.spine.pacing import LONGEST_REPLY
from judgesheet.spine.plan import LONGEST_LINE, as_line, call_of
from judgesheet.spine.salvage import opened

EXPIRY_S = 30.0
"""A shard is taken over whose holder gave no sign of life for so long."""
BEAT_S = 1.0
MOST_WORKERS = 256
LEAST_RATE = 10.0
"""Requests per second: a worker for fewer is not worth its start, and its first burst too large."""

State = Literal["asking", "finish", "cancel"]
"""Of a round: ask on, take the answers that are on their way, or end at once."""

_ROUND = re.compile(r"[0-9a-f]{12}")
_LEASE = re.compile(r"(\d{4,9})\.1\.lease")


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of what is pending: so many calls, all of the stimuli that they belong to."""

    folder: Path
    number: int
    calls: int

    @property
    def plan(self) -> Path:
        """Its calls, as lines of plan.jsonl."""
        return self.folder / f"{self.number:04}.jsonl"

    def lease(self, holder: int) -> Path:
        """The sign of life of its first, second, … holder."""
        return self.folder / f"{self.number:04}.{holder}.lease"

    def ledger(self, holder: int) -> Path:
        """What that holder was answered."""
        return self.folder / f"{self.number:04}.{holder}.sqlite"

    def holders(self) -> Iterator[int]:
        """Everybody who held it, from 1."""
        holder = 1
        while self.lease(holder).is_file():
            yield holder
            holder += 1


# -- dividing --------------------------------------------------------------------------------------


def divide(pending: Callable[[], Iterable[Call]], rounds: Path, most: int) -> list[Shard]:
    """Write what is pending into at most so many shards of about the same size, in plan order.

    They are a new one among the `rounds` of a run. Arms and repeats of a stimulus stay together;
    the same calls are always divided alike.
    """
    sizes = Counter(call.stimulus for call in pending())
    loads, place = [0] * min(most, len(sizes)), {}
    for stimulus, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0])):
        place[stimulus] = number = loads.index(min(loads))
        loads[number] += size
    folder = rounds.absolute() / uuid4().hex[:12]
    folder.mkdir(parents=True)
    (folder / "state").write_text("asking", encoding="ascii")
    shards = [Shard(folder, number, load) for number, load in enumerate(loads)]
    with ExitStack() as files:
        plans = [
            files.enter_context(shard.plan.open("w", encoding="utf-8", errors="backslashreplace"))
            for shard in shards
        ]
        for call in pending():
            plans[place[call.stimulus]].write(f"{as_line(call)}\n")
    return shards


def useful_workers(settings: CollectSettings, there: int) -> int:
    """How many of the workers that are there can be used within the limits of all together."""
    most = min(there, settings.concurrency, MOST_WORKERS)
    for rate in (settings.rate, settings.rpm and settings.rpm / settings.window_s):
        if rate is not None:
            most = min(most, int(rate / LEAST_RATE))
    return max(1, most)


def shares(settings: CollectSettings, shards: Sequence[Shard]) -> list[CollectSettings]:
    """The limits of each shard's worker; together they allow no more than `settings` do.

    What is limited at any moment is divided evenly, a budget by the calls of a shard.
    """
    total, workers = sum(shard.calls for shard in shards), len(shards)
    alike = replace(
        settings,
        concurrency=max(1, settings.concurrency // workers),
        rate=settings.rate and settings.rate / workers,
        rpm=settings.rpm and settings.rpm / workers,
        tpm=settings.tpm and settings.tpm / workers,
    )
    return [
        replace(
            alike,
            max_calls=settings.max_calls and settings.max_calls * shard.calls // total,
            max_cost=settings.max_cost and settings.max_cost * shard.calls / total,
            max_total_tokens=settings.max_total_tokens
            and settings.max_total_tokens * shard.calls // total,
        )
        for shard in shards
    ]


class Spent(NamedTuple):
    """What was used up of the budgets, by the names of their settings."""

    max_calls: int = 0
    max_cost: float = 0.0
    max_total_tokens: int = 0

    def and_more(self, more: "Spent", times: int = 1) -> "Spent":
        """The sum."""
        pairs = zip(self, more, strict=True)
        calls, dollars, tokens = (mine + times * other for mine, other in pairs)
        return Spent(int(calls), dollars, int(tokens))


NOTHING = Spent()


def less(settings: CollectSettings, spent: Spent) -> CollectSettings:
    """The settings with what is left of the budgets, at least 0."""
    known = {name: getattr(settings, name) for name in Spent._fields}
    left = {name: max(0, known[name] - used) for name, used in spent._asdict().items()
            if known[name] is not None}  # fmt: skip
    return replace(settings, **left)


def most_of_one(calls: Iterable[Call], prices: Prices | None) -> Spent:
    """The most that one request costs: no text has more tokens than bytes."""
    dollars, tokens = 0.0, 0
    for call in calls:
        size = len(
            json.dumps([call.messages, call.params], ensure_ascii=False).encode("utf-8", "replace")
        )
        longest = call.params.get("max_tokens", LONGEST_REPLY)
        dollars = max(dollars, cost(size, longest, prices) or 0.0)
        tokens = max(tokens, size + longest)
    return Spent(1, dollars, tokens)


# -- holding a shard -------------------------------------------------------------------------------


class Lease:
    """The hold on a shard, to be renewed while it is used and released at its end."""

    def __init__(self, shard: Shard, holder: int, handle: int, expiry_s: float) -> None:
        self.shard = shard
        self.holder = holder
        self.beat_s = min(BEAT_S, expiry_s / 5)
        self.state: State = "asking"
        """What the holder has to do, as far as it knows."""
        self._handle = handle
        self._valid_s = expiry_s / 2
        self._about = {"pid": os.getpid(), "where": _where(handle) if _locked(handle) else ""}
        self._renewed_at = _now()
        self._write({})

    @classmethod
    def claim(cls, shard: Shard, expiry_s: float = EXPIRY_S) -> Self | None:
        """Take a shard as soon as nobody holds it; None if the run is to stop meanwhile."""
        holder = 1
        while state_of(shard.folder) == "asking":
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                handle = os.open(shard.lease(holder), flags, 0o666)
            except FileExistsError:
                asks = lambda _seconds: state_of(shard.folder) == "asking"  # noqa: E731
                if not _held([shard.lease(holder)], expiry_s, asks):
                    holder += 1
            else:
                return cls(shard, holder, handle, expiry_s)
        return None

    @property
    def may_ask(self) -> bool:
        """Whether the round goes on, and nobody can have taken the shard over yet."""
        return self.state == "asking" and _now() - self._renewed_at < self._valid_s

    def renew(self, told: Mapping[str, Any]) -> None:
        """Give a sign of life, tell how far the work is, and learn whether it is to go on."""
        at = _now()
        if at - self._renewed_at > self._valid_s or self.shard.lease(self.holder + 1).exists():
            self.state = "finish"
        else:
            self._write(told)
            self._renewed_at = at
            self.state = state_of(self.shard.folder)

    def release(self, told: Mapping[str, Any]) -> None:
        """End the hold: the ledger is closed, and nothing was lost."""
        with suppress(OSError):  # the folder may be gone: then nobody wants to know
            self._write({**told, "over": True})
        os.close(self._handle)

    def _write(self, told: Mapping[str, Any]) -> None:
        """In place, as the file is locked; a reader takes what is half written for a change."""
        content = json.dumps({**self._about, **told, "at": time.time()}).encode()
        os.pwrite(self._handle, content, 0)
        os.ftruncate(self._handle, len(content))
        os.fsync(self._handle)


def state_of(folder: Path) -> State:
    """What the workers of a round are to do."""
    known: dict[bytes, State] = {b"asking": "asking", b"finish": "finish"}
    try:
        return known.get((folder / "state").read_bytes(), "cancel")
    except FileNotFoundError:
        return "cancel"


def end(folder: Path, how: State) -> None:
    """Have the workers of a round end. The words are of one length: one is written over another."""
    with suppress(FileNotFoundError):
        handle = os.open(folder / "state", os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.pwrite(handle, how.encode(), 0)
        os.close(handle)


def told(lease: Path) -> dict[str, Any]:
    """What a lease tells; empty while it is being written."""
    try:
        content = decoded(lease.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def told_by(shards: Sequence[Shard]) -> list[dict[str, Any]]:
    """What all holders of these shards tell."""
    return [told(shard.lease(holder)) for shard in shards for holder in shard.holders()]


def _held(leases: Iterable[Path], expiry_s: float, waits: Callable[[float], bool]) -> list[Path]:
    """Those of the leases whose holders have not ended after as many seconds as `waits` allows.

    Who has ended says so, is known to be dead, or was silent for `expiry_s` of our own clock.
    """
    held, began = list(leases), time.monotonic()
    seen: dict[Path, tuple[bytes, float]] = {}
    while True:
        now = time.monotonic()
        for lease in held:
            content = lease.read_bytes()
            if lease not in seen or seen[lease][0] != content:
                seen[lease] = content, now
        held = [one for one in held if not (now - seen[one][1] > expiry_s or _has_ended(one))]
        if not held or not waits(now - began):
            return held
        time.sleep(min(BEAT_S / 4, expiry_s / 10))


def _has_ended(lease: Path) -> bool:
    """Whether a holder said so, or its lock is gone on this machine, where locks tell the truth."""
    about = told(lease)
    if about.get("over") is True:
        return True
    handle = os.open(lease, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        where = _where(handle)
        return where != "" and about.get("where") == where and _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock an open file, if nobody has and its file system can."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _where(handle: int) -> str:
    """Names the running kernel and what is mounted there: within it, all see a lock on the file."""
    try:
        kernel = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return f"{kernel} {os.fstat(handle).st_dev}"


def _now() -> float:
    """Seconds of a clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


# -- what earlier holders did ----------------------------------------------------------------------


def left(
    lease: Lease, prices: Prices | None, of_one: Spent, unseen: int
) -> tuple[list[Call], Spent]:
    """What the holder of a lease has to ask, and what earlier ones spent.

    A request costs at most `of_one`, and `unseen` answers at most died with a holder.
    """
    settled, spent = set(), Spent()
    for holder in range(1, lease.holder):
        if told(lease.shard.lease(holder)).get("over") is not True:
            spent = spent.and_more(of_one, unseen)
        if not lease.shard.ledger(holder).is_file():
            continue
        with opened(lease.shard.ledger(holder)) as (_, replies):
            for reply in replies:
                read, written = reply.tokens_in or 0, reply.tokens_out or 0
                paid = Spent(1, cost(read, written, prices) or 0.0, read + written)
                spent = spent.and_more(of_one if reply.is_unmetered else paid)
                if reply.outcome in SETTLING:
                    settled.add(reply.call_id)
    lines = (call_of(record) for record, _ in records(lease.shard.plan, LONGEST_LINE))
    return [call for call in lines if call and call.id not in settled], spent


# -- putting together ------------------------------------------------------------------------------


def gather(ledger: Ledger, rounds: Path, patience_s: float = 2 * EXPIRY_S) -> list[Path]:
    """Put all that workers were answered in these rounds into the ledger of the run.

    They are told to stop, and what is put in is removed. Gives the leases of those who asked on for
    `patience_s`; their round stays as it is. Nothing is put in twice, however often this is done.
    """
    alive = []
    for folder in [] if rounds.is_symlink() else sorted(rounds.glob("*")):
        if folder.is_symlink() or not _ROUND.fullmatch(folder.name):
            continue
        end(folder, "cancel")
        found = filter(None, (_LEASE.fullmatch(path.name) for path in sorted(folder.iterdir())))
        shards = [Shard(folder, int(name[1]), 0) for name in found]
        leases = [shard.lease(holder) for shard in shards for holder in shard.holders()]
        if held := _held(leases, EXPIRY_S, lambda seconds: seconds < patience_s):
            alive += held
            continue
        for shard in shards:
            _merge(ledger, shard)
        shutil.rmtree(folder, ignore_errors=True)  # what remains is put in again, to no effect
    with suppress(OSError):  # there are others, or none
        rounds.rmdir()
    return alive


def _merge(ledger: Ledger, shard: Shard) -> None:
    """Of a call that several holders asked about an answer counts, so their failures go first."""
    ledgers = [path for path in map(shard.ledger, shard.holders()) if path.is_file()]
    for settles in (False, True) if len(ledgers) > 1 else (None,):
        for path in ledgers:
            with opened(path) as (meta, replies):
                if refused := meta.get("refused_parameters"):
                    ledger.set_meta("refused_parameters", refused)
                if limits := meta.get("limits"):
                    ledger.add_limits(**limits)
                ledger.take_over(
                    reply
                    for reply in replies
                    if settles is None or (reply.outcome in SETTLING) == settles
                )
