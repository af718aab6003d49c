"""For stage two: one plan asked by several workers, each with a log of its own.

The driver, who holds the ledger of the run, divides what is pending into shards by stimulus and
puts together what came. Between them lie small objects alone, on storage that all of them see
(`collect.storage`), in a folder of its own for each round:

    asking                 the round goes on, unless there is `finish` or `cancel` too
    0003.1.lease           the first holder of a shard: who, how far, and a sign of life each second
    0003/0.000000.jsonl    the calls of the shard, piece by piece
    0003/1.000042.jsonl    what its first holder was answered, likewise

No object has two writers, and only leases are ever replaced. Whoever takes a shard over is its next
holder, with a lease and a log of their own, and reads the earlier logs; so a worker who was
believed dead can do no harm to what others write. It asks nothing more either: who could not give
a sign of life for half the time after which others take over, stops by its own clock.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from socket import AF_UNIX, SOCK_DGRAM, socket
from typing import Any, Literal, NamedTuple, Self
from uuid import uuid4

from judgesheet.base.errors import RunError
from judgesheet.base.files import decoded
from judgesheet.base.prices import Prices, cost
from judgesheet.base.records import SETTLING, Call, Reply
from judgesheet.collect.collect import CollectSettings
from judgesheet.collect.pacing import LONGEST_REPLY
from judgesheet.collect.storage import LARGEST, READ_AT_ONCE, Folder, require_no_secret
from judgesheet.ledger.ledger import Ledger, Pending, Totals
from judgesheet.ledger.schema import belongs, misshapen, tables
from judgesheet.planning.plan import as_line, call_of

SHARDS = "shards"
"""Where rounds lie in a run directory, if nowhere else."""
EXPIRY_S = 30.0
"""A shard is taken over whose holder gave no sign of life for so long."""
BEAT_S = 1.0
MOST_WORKERS = 256
LEAST_RATE = 10.0
"""Requests per second: a worker for fewer is not worth its start, and its first burst too large."""
PIECE = 1_000_000
"""Bytes of lines that are kept before they are written as one object."""

State = Literal["asking", "finish", "cancel"]
"""Of a round: ask on, take the answers that are on their way, or end at once."""

_ROUND = re.compile(r"[0-9a-f]{12}")
_SHARD = re.compile(r"\d{4,9}")
_LEASE = re.compile(r"(\d{4,9})\.(\d{1,9})\.lease")
_PIECE = re.compile(r"(\d{1,9})\.\d{6,9}\.jsonl")
_SIGN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of what is pending: so many calls, all of the stimuli that they belong to."""

    folder: Folder
    """That of its round."""
    number: int
    calls: int

    @property
    def logs(self) -> Folder:
        """Where its calls lie, and what its holders were answered."""
        return self.folder.within(f"{self.number:04}")

    def lease(self, holder: int) -> str:
        """The name of the lease of its first, second, … holder."""
        return f"{self.number:04}.{holder}.lease"


# -- logs ------------------------------------------------------------------------------------------

CALLS = 0
"""Who writes the calls of a shard; its holders count from 1."""


class Log:
    """Lines of JSON that one writer adds to a shard, in pieces that never change."""

    def __init__(self, shard: Shard, writer: int) -> None:
        self._folder = shard.logs
        self._writer = writer
        self._pieces = self._size = 0
        self._lines: list[bytes] = []

    def add(self, line: str) -> None:
        """Add a line, to be written with others."""
        content = f"{line}\n".encode("utf-8", "backslashreplace")
        if self._size + len(content) > PIECE:
            self.flush()
        self._lines.append(content)
        self._size += len(content)

    def flush(self) -> None:
        """Write what was added: it is durable when this returns. RunError if it cannot be."""
        if self._lines:
            name = f"{self._writer}.{self._pieces:06}.jsonl"
            self._folder.replace(name, b"".join(self._lines))
            self._pieces, self._size, self._lines = self._pieces + 1, 0, []


def logged(shard: Shard, writer: int) -> Iterator[dict[str, Any]]:
    """What can be read of a log, line by line; a shard's folder may come from anybody."""
    there = shard.logs.listed()
    names = [
        name for name in sorted(there)
        if (known := _PIECE.fullmatch(name)) and int(known[1]) == writer and there[name]
    ]  # fmt: skip
    for some in _packed(names, [min(LARGEST, there[name] or 0) for name in names]):
        for content in shard.logs.read(some):
            for line in content.split(b"\n"):
                with suppress(ValueError):  # one that is cut was never acknowledged
                    record = decoded(line.decode("utf-8", "replace"))
                    if isinstance(record, dict):
                        yield record


def _packed(names: Sequence[str], sizes: Sequence[int]) -> Iterator[list[str]]:
    """The names in lists of what is read at once."""
    some, room = list[str](), READ_AT_ONCE
    for name, size in zip(names, sizes, strict=True):
        if some and size > room:
            yield some
            some, room = [], READ_AT_ONCE
        some.append(name)
        room -= size
    yield some


class ShardLedger:
    """What `collect` uses of a ledger, for the calls of one holder: what comes goes into a log."""

    limits: Mapping[str, Any] = {}  # those of one worker are kept by nobody

    def __init__(self, calls: Sequence[Call], refused: Mapping[str, str | None], log: Log) -> None:
        self.refused_parameters = refused
        self._calls = calls
        self._log = log

    def pending(self) -> Iterator[Pending]:
        """The calls; that they were asked before, and in vain, is of another session."""
        return (Pending(call, 0) for call in self._calls)

    def totals(self) -> Totals:
        """Nothing, as at the start."""
        nothing = dict.fromkeys(field.name for field in fields(Totals))
        known = {"planned": len(self._calls), "settled": 0, "attempts": 0, "unmetered": 0}
        return Totals(**nothing | known | {"outcomes": {}, "served_models": {}})  # type: ignore[arg-type]

    def recent(self, _seconds: float) -> Iterator[tuple[float, int]]:
        """No requests: the minute before was waited for."""
        return iter(())

    def record(self, replies: Sequence[Reply]) -> None:
        """Write replies, which are durable when this returns; RunError if they cannot be."""
        for reply in replies:
            kept = {column.name: getattr(reply, column.name) for column in tables()["attempt"]}
            self._log.add(json.dumps(kept, ensure_ascii=False))
        self._log.flush()

    def set_meta(self, key: str, value: Any) -> None:
        """Write a fact likewise."""
        self._log.add(json.dumps({key: value}, ensure_ascii=False))
        self._log.flush()


# -- dividing --------------------------------------------------------------------------------------


def begin(ledger: Ledger, given: str | None) -> Folder:
    """A folder for a round, where the user says, or did before, or in the run directory.

    The ledger knows of it before anything is written that must be found again. RunError where the
    storage cannot tell who of several was the first to create an object.
    """
    address = ledger.get_meta(SHARDS, {}).get("address", SHARDS)
    if given is not None:
        address = given if "://" in given else str(Path(given).absolute())
    name = uuid4().hex[:12]
    folder = _place(ledger, address).within(name)
    folder.make()
    for is_new in (True, False):
        if folder.create("asking", b"asking") is not is_new:
            folder.remove()
            raise RunError(
                f"{folder} is on a storage that does not refuse to create what is there, so two "
                "workers could ask the same: choose another --shards"
            )
    ledger.set_meta(SHARDS, {"address": address, "round": name})
    return folder


def _place(ledger: Ledger, address: str) -> Folder:
    """Where the rounds of a run lie; whoever made the ledger may have named anything."""
    require_no_secret(address)
    return Folder(address if "://" in address else str((ledger.path.parent / address).absolute()))


def divide(pending: Callable[[], Iterable[Call]], folder: Folder, most: int) -> list[Shard]:
    """Write what is pending into at most so many shards of about the same size, in plan order.

    Arms and repeats of a stimulus stay together; the same calls are always divided alike.
    """
    sizes = Counter(call.stimulus for call in pending())
    loads, place = [0] * min(most, len(sizes)), {}
    for stimulus, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0])):
        place[stimulus] = number = loads.index(min(loads))
        loads[number] += size
    shards = [Shard(folder, number, load) for number, load in enumerate(loads)]
    plans = [Log(shard, CALLS) for shard in shards]
    for shard in shards:
        shard.logs.make()
    for call in pending():
        plans[place[call.stimulus]].add(as_line(call))
    for plan in plans:
        plan.flush()
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

    def __init__(self, shard: Shard, holder: int, expiry_s: float) -> None:
        self.shard = shard
        self.holder = holder
        self.sign = Sign()
        self.beat_s = min(BEAT_S, expiry_s / 5)
        self.state: State = "asking"
        """What the holder has to do, as far as it knows."""
        self._valid_s = expiry_s / 2
        self._renewed_at = _now()

    @classmethod
    def claim(cls, shard: Shard, expiry_s: float = EXPIRY_S) -> Self | None:
        """Take a shard as soon as nobody holds it; None if the run is to stop meanwhile.

        RunError where the storage cannot be used.
        """

        def goes_on(_seconds: float = 0.0) -> bool:
            return state_of(shard.folder.listed()) == "asking"

        holder = 1
        while goes_on():
            lease, name = cls(shard, holder, expiry_s), shard.lease(holder)
            if shard.folder.create(name, lease.content({})):
                if goes_on():  # whoever ends a round says so before they look who holds a shard
                    return lease
                lease.release({})
                return None
            lease.sign.close()
            if not _held(shard.folder, [name], expiry_s, goes_on):
                holder += 1
        return None

    @property
    def may_ask(self) -> bool:
        """Whether the round goes on, and nobody can have taken the shard over yet."""
        return self.state == "asking" and _now() - self._renewed_at < self._valid_s

    def renew(self, told: Mapping[str, Any]) -> None:
        """Give a sign of life, tell how far the work is, and learn whether it is to go on.

        RunError where the storage cannot be used.
        """
        at, there = _now(), self.shard.folder.listed()
        if at - self._renewed_at > self._valid_s or self.shard.lease(self.holder + 1) in there:
            self.state = "finish"
        else:
            self._write(told)
            self._renewed_at = at
            self.state = state_of(there)

    def release(self, told: Mapping[str, Any]) -> None:
        """End the hold: nothing was lost."""
        with suppress(RunError):  # the folder may be gone: then nobody wants to know
            self._write({**told, "over": True})
        self.sign.close()

    def _write(self, told: Mapping[str, Any]) -> None:
        self.shard.folder.replace(self.shard.lease(self.holder), self.content(told))

    def content(self, told: Mapping[str, Any]) -> bytes:
        """What the lease holds."""
        about = {"pid": os.getpid(), "where": self.sign.where, "sign": self.sign.name}
        return json.dumps({**about, **told, "at": time.time()}).encode()


class Sign:
    """A sign of life that ends with the process: a socket, whose name others on this kernel see."""

    def __init__(self) -> None:
        self.where, self.name = _where(), uuid4().hex
        with socket(AF_UNIX, SOCK_DGRAM) as own:
            try:
                own.bind(_address(self.name))
            except OSError:  # no kernel of Linux
                self.where = ""
            self._handle = own.detach()

    def close(self) -> None:
        """As if the process had ended."""
        os.close(self._handle)


def _is_gone(about: Mapping[str, Any]) -> bool:
    """Whether it is certain that a holder, of which a lease tells, has died."""
    name, where = str(about.get("sign")), about.get("where")
    if not where or where != _where() or not _SIGN.fullmatch(name):
        return False
    with socket(AF_UNIX, SOCK_DGRAM) as other:
        try:
            other.connect(_address(name))
        except ConnectionRefusedError:
            return True
        except OSError:
            pass
    return False


def _address(name: str) -> str:
    return f"\0judgesheet-{name}"  # no file: the kernel forgets it with the process


def _where() -> str:
    """Names the running kernel and the part of it in which all see the same sockets."""
    try:
        kernel = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{kernel} {Path('/proc/self/ns/net').readlink()}"
    except OSError:
        return ""


def state_of(there: Collection[str]) -> State:
    """What the workers of a round are to do that has these objects."""
    words: tuple[State, ...] = ("cancel", "finish", "asking")
    return next((word for word in words if word in there), "cancel")


def end(folder: Folder, how: State) -> None:
    """Have the workers of a round end."""
    folder.create(how, how.encode())


def leases(there: Iterable[str]) -> dict[tuple[int, int], str]:
    """The leases among these names, by shard and holder, in order."""
    found = (known for known in map(_LEASE.fullmatch, there) if known)
    return dict(sorted(((int(known[1]), int(known[2])), known[0]) for known in found))


def told(folder: Folder) -> list[dict[str, Any]]:
    """What all holders tell in a round; one whose lease is being written tells nothing."""
    return [_told(content) for content in folder.read([*leases(folder.listed()).values()])]


def _told(content: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        about = decoded(content.decode("utf-8"))
        return about if isinstance(about, dict) else {}
    return {}


def _held(
    folder: Folder, names: Sequence[str], expiry_s: float, waits: Callable[[float], bool]
) -> list[str]:
    """Those of the leases whose holders have not ended after as many seconds as `waits` allows.

    Who has ended says so, is known to be dead, or was silent for `expiry_s` of our own clock.
    """
    began = time.monotonic()
    seen: dict[str, tuple[bytes, float]] = {}
    while True:
        now, held = time.monotonic(), list[str]()
        for name in names:
            content = b"".join(folder.read([name]))
            if name not in seen or seen[name][0] != content:
                seen[name] = content, now
            about = _told(content)
            is_over = about.get("over") is True or _is_gone(about)
            if not is_over and now - seen[name][1] <= expiry_s:
                held.append(name)
        if not held or not waits(now - began):
            return held
        names = held
        time.sleep(min(BEAT_S / 4, expiry_s / 10))


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
    shard, (settled, spent) = lease.shard, (set(), Spent())
    for holder in range(1, lease.holder):
        about = b"".join(shard.folder.read([shard.lease(holder)]))
        if _told(about).get("over") is not True:
            spent = spent.and_more(of_one, unseen)
        for reply in _answers(shard, holder, {}):
            read, written = reply.tokens_in or 0, reply.tokens_out or 0
            paid = Spent(1, cost(read, written, prices) or 0.0, read + written)
            spent = spent.and_more(of_one if reply.is_unmetered else paid)
            if reply.outcome in SETTLING:
                settled.add(reply.call_id)
    calls = map(call_of, logged(shard, CALLS))
    return [call for call in calls if call and call.id not in settled], spent


# -- putting together ------------------------------------------------------------------------------


def gather(ledger: Ledger, patience_s: float = 2 * EXPIRY_S) -> list[str]:
    """Put all that workers were answered into the ledger of the run.

    They are told to stop, and what is put in is removed. Gives the leases of those who asked on for
    `patience_s`; their round stays as it is. Nothing is put in twice, however often this is done.
    RunError where the round is not to be found that the ledger knows of.
    """
    known = ledger.get_meta(SHARDS)
    if known is None or not _ROUND.fullmatch(known["round"]):
        return []
    place = _place(ledger, known["address"])
    folder = place.within(known["round"])
    is_beside = known["address"] == SHARDS
    # Whoever made this run directory may have laid a link to somebody else's.
    leads_away = is_beside and any(Path(str(one)).is_symlink() for one in (place, folder))
    there = {} if leads_away else folder.listed()
    if "asking" in there:
        end(folder, "cancel")
        there = folder.listed()
        holders = leases(there)
        if held := _held(folder, [*holders.values()], EXPIRY_S, lambda passed: passed < patience_s):
            return [f"{folder}/{name}" for name in held]
        _merge(ledger, folder, [*holders])
        for name in filter(_SHARD.fullmatch, there):
            folder.within(name).remove()
    elif not is_beside:
        raise RunError(
            f"workers left answers at {folder}, and there are none: see that this machine reaches "
            "that storage, or put a file called `asking` there to go on without them"
        )
    ledger.set_meta(SHARDS, {**known, "round": ""})
    if there:
        folder.remove()
    if is_beside:
        with suppress(OSError):  # there is more in it, or it is gone
            Path(str(place)).rmdir()
    return []


def _merge(ledger: Ledger, folder: Folder, holders: Sequence[tuple[int, int]]) -> None:
    """Of a call that several holders asked about an answer counts, so their failures go first."""
    times = Counter(number for number, _ in holders)
    for settles, (number, holder) in product((False, True), holders):
        if times[number] == 1 and settles:
            continue
        learned: dict[str, Any] = {}
        replies = _answers(Shard(folder, number, 0), holder, learned)
        ledger.take_over(
            reply
            for reply in replies
            if times[number] == 1 or (reply.outcome in SETTLING) == settles
        )
        if refused := learned.get("refused_parameters"):
            ledger.set_meta("refused_parameters", {**ledger.refused_parameters, **refused})
        if limits := learned.get("limits"):
            ledger.add_limits(limits["told"], limits["held_s"])


def _answers(shard: Shard, holder: int, learned: dict[str, Any]) -> Iterator[Reply]:
    """What a holder was answered; what it learned of the endpoint goes into `learned`."""
    columns = tables()["attempt"]
    for record in logged(shard, holder):
        if facts := {"refused_parameters", "limits"} & record.keys():
            learned |= {name: record[name] for name in facts.difference(misshapen(record))}
        values: dict[str, Any] = {one.name: record.get(one.name) for one in columns}
        if all(map(belongs, columns, values.values())) and all(map(_is_storable, values.values())):
            yield Reply(**values)


def _is_storable(value: Any) -> bool:
    """Whether SQLite can hold it: JSON knows larger numbers, and some that are none."""
    return not isinstance(value, int | float) or abs(value) < 2**63
