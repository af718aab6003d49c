"""The ledger, every call and every reply verbatim, in one SQLite file.

One ledger serves one plan and one judge, and refuses another. Every attempt is a row, and a reply
counts only once its transaction is on disk: `kill -9` at any moment loses no acknowledged reply.
Parsing happens in `measure`, so a better parser costs no calls. This folder alone knows its SQL:
`ledger.sql` is the schema, `schema` says whether a file follows it, `opening` who may use one,
`origin` what it belongs to, `rows` how calls and replies are written, `counts` sums over them.
"""

import ctypes
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

from judgesheet.base.clusters import members
from judgesheet.base.errors import OtherRunError, RunError
from judgesheet.base.facts import Looks
from judgesheet.base.files import checked, decoded
from judgesheet.base.limits import LARGEST_COUNT, LONGEST_NAME
from judgesheet.base.records import BATCH, Call, Label, Outcome, Plan, Reply
from judgesheet.base.usage import CHARACTERS_PER_TOKEN, CHARACTERS_PER_TOKEN_AT_MOST, PromptSizes
from judgesheet.base.version import __version__
from judgesheet.judges.dialects import OTHER_NAME
from judgesheet.judges.redaction import address_without_secrets, identity_without_secrets
from judgesheet.ledger.counts import (
    HOSTS,
    PROMPT_SIZES,
    REASONING,
    SPENT,
    UNEQUAL_TOKENS,
    Spent,
    Totals,
    free_of_charge,
)
from judgesheet.ledger.opening import (
    connect_exclusively,
    connect_to_read,
    damaged,
    error_code,
    free_name,
    is_empty,
    one_sentence,
)
from judgesheet.ledger.origin import asked_otherwise, changed_since, judge_name, other_judge
from judgesheet.ledger.place import ROOM_AT_LEAST, ROOM_PER_REPLY, Overflow, Place
from judgesheet.ledger.rows import (
    CALL,
    LABEL,
    MESSAGE,
    REPLY,
    as_json,
    insert,
    insert_calls,
    insert_labels,
    row_of,
)
from judgesheet.ledger.schema import (
    SCHEMA,
    SCHEMA_VERSION,
    SQL_FAULTS,
    VIEWS,
    belongs,
    damage,
    is_plain,
    lacking,
    misshapen,
    tables,
)

_RECORDED = """
INSERT INTO attempt (call_id, attempt, outcome, latency_s, at, text, raw)
SELECT id, 1, 'ok', 0.0, at, text, text FROM (SELECT ? AS id, ? AS text, ? AS at)
"""

_PLACE_FAILS = {
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM),
}

_INDEX = re.compile(r"CREATE (UNIQUE )?INDEX")
_CACHE_KIB = 16_384  # of a ledger that is filled: it grows no further, however long the run
_PAGE = 2000  # calls read at once: no read transaction stays open while requests are in flight

AskedCall = tuple[str, str, str, str, int, str, Outcome | None, str | None, str | None, str]
"""`call_id, axis, stimulus, cell (JSON), repeat, reply format, outcome, text, finish_reason`."""


class Pending(NamedTuple):
    """A call that has no settling reply yet, how often it was tried, and answered unreadably."""

    call: Call
    attempts: int
    unreadable: int


class Corrected(NamedTuple):
    """How many responses have other ratings than before, and how many stimuli another group."""

    rated: int
    grouped: int


class Ledger:
    """An open ledger. Safe to use from several threads of one process; close it after use."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self.is_new = False
        self.trouble = ""
        """Why nothing more should be asked, and where the replies are: a sentence, "" if all is
        well."""
        self.taken_in: dict[Path, int] = {}
        """Replies that an earlier run kept elsewhere, by the file that they lay in."""
        self.corrected = Corrected(0, 0)
        """What the plan that it was opened with knows otherwise about its stimuli."""
        self._is_told = False
        self._db = db
        self._place: Place | None = None
        self._overflow = Overflow(path, "", None)
        self._lock = threading.RLock()

    @classmethod
    def create_or_open(
        cls,
        path: Path,
        plan: Plan,
        judge: Mapping[str, Any],
        recorded: Iterable[tuple[str, str, float]] = (),
        *,
        overflow: Path | None = None,
    ) -> Self:
        """The ledger at `path` for writing, created if there is none; it `is_new` then.

        Nothing is written into it before it is sure that it belongs to this judge and this plan.

        Replies that it cannot take later on go to the folder `overflow`, else to the system's
        temporary folder; those that an earlier run left there are taken in.

        Verdicts that were `recorded` elsewhere (id of the call, JSON in ASCII, seconds since the
        epoch) are written into a new ledger together with its plan, and into no other.
        Nobody else can use it until it is closed. OtherRunError if it belongs to another plan or
        judge, InUseError if it is in use, RunError if it cannot be written.
        """
        with one_sentence(path):
            ledger = cls(path, connect_exclusively(path))
            with ledger._closed_on_error():
                if is_empty(ledger._db):
                    ledger._create(plan, judge, recorded)
                else:
                    with ledger._only_reading():
                        ledger._check()
                        if other := ledger.another(plan, judge):
                            raise OtherRunError(
                                f"{path} holds the replies to {other}: "
                                "start over with --fresh or choose another --out (`probe "
                                "--fresh-if-changed` reuses the replies to the same questions)"
                            )
                    ledger._update_schema()
                    ledger._follow(judge)
                    ledger.follow_facts(plan)
                ledger._use_own_views()
                # After creation: a plan written in WAL mode is written twice.
                ledger._db.execute("PRAGMA journal_mode = WAL")
                ledger._db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
                ledger._place = Place(path)
                key = f"{ledger.get_meta('plan')} {ledger.get_meta('created_at')}"
                ledger._overflow = Overflow(path, key, overflow)
                ledger._take_in()
        return ledger

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Self:
        """An existing ledger, to read or, if no other process uses it, to change its metadata.

        RunError if there is none, or it is damaged, in use, or written by a newer judgesheet.
        """
        if not path.is_file():
            raise RunError(f"there is no ledger at {path}: run `judgesheet probe` first")
        with one_sentence(path):
            ledger = cls(path, connect_exclusively(path) if writable else connect_to_read(path))
            with ledger._closed_on_error():
                if is_empty(ledger._db):
                    raise RunError(f"{path} holds no run: run `judgesheet probe` first")
                ledger._check()
                if writable:
                    ledger._update_schema()
                else:
                    ledger._show_added()
                ledger._use_own_views()
        return ledger

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file, which is then a single plain file that can be read anywhere.

        Closing twice does nothing. RunError where the file has gone meanwhile: it says where the
        replies are.
        """
        with self._lock:
            place, self._place = self._place, None
            if place is not None:
                place.release()
                if place.is_lost:
                    self._rescue()
            # Only the exclusive owner can leave WAL; SQLite cannot read a WAL file in a folder
            # that is write-protected. Whoever only reads, or finds the disk full, leaves it.
            with suppress(*SQL_FAULTS):
                self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()
            self.require_place()

    # -- where it lies -----------------------------------------------------------------------

    def require_place(self) -> None:
        """RunError, once, if its place failed and nothing more should be asked."""
        if self.trouble and not self._is_told:
            self._is_told = True
            raise RunError(self.trouble)

    @contextmanager
    def room_for(self, replies: int) -> Iterator[None]:
        """Keep room on the disk for so many replies that may be in flight, until the block is left.

        RunError if there is not so much: nothing should be asked then.
        """
        size = ROOM_AT_LEAST + replies * ROOM_PER_REPLY
        if self._place is None or not replies:
            yield
            return
        try:
            self._place.reserve(size)
        except OSError as error:
            raise RunError(
                f"{self.path.parent} has no room for the replies ({size:,} bytes, "
                f"{error.strerror}), so nothing was asked: make room and run the same command again"
            ) from error
        try:
            yield
        finally:
            if self._place is not None:
                self._place.release()

    def _look_after_place(self) -> None:
        """After each commit: whether what was written is where its name says."""
        if self._place is None:
            return
        if not self._place.is_lost and self._place.has_lost_log:
            # What it held is in memory and in the file that has no name any more: into the ledger
            # with it. The ledger may go next, and in this mode no file need be opened to read it.
            self._db.execute("PRAGMA journal_mode = MEMORY")
            self._place.forget_log()
            if not self._place.is_lost:
                self._db.execute("PRAGMA journal_mode = WAL")
        if self._place.is_lost:
            self._rescue()

    def _rescue(self) -> None:
        """Copy the ledger, whose file was removed, to another place, and continue with the copy."""
        lost, lost_db = self.path, self._db
        self._db = self._copied_to_overflow()
        # Nobody may close it: SQLite would delete a log by its old name, by now perhaps another's.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(lost_db))
        if self._place:
            self._place.release()
            self._place = Place(self.path)
        self._use_own_views()
        attempts, folder = self.totals().attempts, self.path.parent
        self.trouble = (
            f"{lost} was removed or replaced during the run: a copy with all replies, {attempts:,} "
            f"until then, is in {folder}; move it back, or continue with --out {folder}"
        )

    def _copied_to_overflow(self) -> sqlite3.Connection:
        """A copy at the new `path`: beside the folder, or where replies go that find no place."""
        directory = self.path.parent.absolute()
        others = [folder / directory.name for folder in self._overflow.folders]
        for near in (directory, *others):
            target = free_name(near, "rescued") / self.path.name
            with suppress(OSError, *SQL_FAULTS):
                copy = connect_exclusively(target)
                self._db.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")
                self.path = target
                return copy
        raise RunError(
            f"{self.path} was removed during the run, and a copy could not be written anywhere else"
        )

    def _take_in(self) -> None:
        """Record what an earlier run kept elsewhere, because this place could not take it."""
        columns = {column.name: column for column in tables()["attempt"]}
        of_reply = [columns[name] for name in REPLY]
        names, marks = ", ".join(REPLY), ", ".join("?" * len(REPLY))
        known = f"SELECT {marks} WHERE ? IN (SELECT id FROM call)"  # noqa: S608
        for file, rows in self._overflow.found():
            fitting = (row for row in rows if len(row) == len(REPLY))
            sound = [(*row, row[0]) for row in fitting if all(map(belongs, of_reply, row))]
            with self._writing() as db:
                before = db.total_changes
                db.executemany(f"INSERT OR IGNORE INTO attempt ({names}) {known}", sound)
                self.taken_in[file] = db.total_changes - before
            file.unlink()

    # -- what it belongs to ------------------------------------------------------------------

    @property
    def judge(self) -> dict[str, Any]:
        """The identity of the judge, without the secrets that older versions kept in it."""
        return identity_without_secrets(self.get_meta("judge"))

    @property
    def judge_name(self) -> str:
        """The judge as its user names it, PROVIDER/NAME, however it was asked."""
        return judge_name(self.judge)

    @property
    def earlier_base_urls(self) -> list[str | None]:
        """Earlier addresses of the judge, without secrets."""
        return [*map(address_without_secrets, self.get_meta("earlier_base_urls", []))]

    @property
    def refused_parameters(self) -> dict[str, str | None]:
        """Parameters that the endpoint refuses: the name each is sent under, None: not sent.

        Only those that a judge leaves out or renames: a file could name any field of a request.
        """
        refused = self.get_meta("refused_parameters", {})
        return {name: other for name, other in OTHER_NAME.items() if name in refused}

    @property
    def held_s(self) -> float:
        """For how many seconds limits held requests back."""
        seconds: float = self.get_meta("limits", {}).get("held_s", 0.0)
        return seconds

    @property
    def taken_over(self) -> list[dict[str, Any]]:
        """The earlier runs whose replies were taken over: `plan`, `created_at`, `replies`."""
        return list(self.get_meta("taken_over", []))

    @property
    def temperature(self) -> float | None:
        """The temperature that was asked for; None where it is not known, or the endpoint's own."""
        if "temperature" in self.refused_parameters:
            return None
        given: float | None = self.settings().get("temperature")
        return given

    @property
    def provenance(self) -> dict[str, Any]:
        """What a datasheet must know of how the plan was made."""
        return dict(self.get_meta("provenance", {}))

    def another(self, plan: Plan, judge: Mapping[str, Any]) -> str:
        """Which other judge or plan it belongs to, and in what they differ; "" if to these.

        RunError where the plan is the same and the calls are not: they would be sent with the key
        of whoever goes on with a run that somebody else made.
        """
        if difference := other_judge(self.judge, judge):
            return f"another judge ({difference})"
        if self.get_meta("plan") != plan.digest:
            return f"another plan ({', '.join(self._differences(plan))})"
        self._refuse_other_calls(plan)
        # The levels of the looks allow for one set of data that grows, and for no other.
        is_reread = self.looks is not None and any(self._corrections(plan))
        return "another plan (other ratings or groups of its stimuli)" if is_reread else ""

    def _differences(self, plan: Plan) -> Iterator[str]:
        """In what the user asks for another plan, else how another release makes another one."""
        if asked := [*asked_otherwise(self.provenance, self.get_meta("seed"), plan)]:
            yield from asked
            return
        with self._reading() as db:
            (planned,) = db.execute("SELECT count(*) FROM call").fetchone()
        changes = [*changed_since(self.provenance, planned, plan)]
        yield from changes or ["other orders or parameters of its requests"]
        yield f"judgesheet {self.get_meta('judgesheet')} began it and can finish it"

    def _refuse_other_calls(self, plan: Plan) -> None:
        """RunError unless these are the plan's calls; only a consensus adds further ones."""
        asked = (call_id for (call_id,) in self._stream("SELECT id FROM call ORDER BY seq"))
        differs = any(next(asked, None) != call.id for call in plan.calls)
        if differs or ("command" not in plan.provenance and next(asked, None) is not None):
            raise damaged(self.path, "its calls are not those of its plan")

    def follow_facts(self, plan: Plan) -> None:
        """Measure with what a plan of the same calls knows about their stimuli: `corrected` tells.

        Ratings and groups are no part of a question, so their correction costs no call.
        """
        if self.get_meta("plan") != plan.digest:
            return
        self.corrected = self._corrections(plan)
        provenance = {**self.provenance, "stimuli": plan.provenance.get("stimuli", [])}
        if not any(self.corrected) and as_json(provenance) == as_json(self.provenance):
            return
        with self._writing() as db:
            db.execute("DELETE FROM label")
            insert_labels(db, plan.labels)
            update = "UPDATE meta SET value = ? WHERE key = 'provenance'"
            db.execute(update, (as_json(provenance),))

    def _corrections(self, plan: Plan) -> Corrected:
        rated = {*self.labels()} ^ {*plan.labels}
        grouped = set(members(self.provenance)) ^ set(members(plan.provenance))
        return Corrected(
            len({(label.axis, label.item) for label in rated}),
            len({(axis, stimulus) for axis, stimulus, _ in grouped}),
        )

    def get_meta(self, key: str, default: Any = None) -> Any:
        """The value stored under `key`, or `default`."""
        with self._reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return default if row is None else self._decoded(row[0])

    def set_meta(self, key: str, value: Any) -> None:
        """Store a JSON value under `key`."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, as_json(value)))

    def settings(self) -> dict[str, Any]:
        """What the plan settled: profile, reply format, temperature and so on."""
        return dict(self.provenance.get("settings", {}))

    def parsers(self) -> list[dict[str, str]]:
        """The user's own parsers that read the replies of this run."""
        return list(self.get_meta("parsers", self.provenance.get("parsers", [])))

    def replace_parsers(self, parsers: Sequence[Mapping[str, str]]) -> None:
        """Read the replies with these parsers from now on, and record the earlier ones."""
        before = [
            {key: parser[key] for key in ("axis", "name", "digest")}
            for parser in self.parsers()
            if parser not in parsers
        ]
        self.set_meta("parsers_replaced", [*self.get_meta("parsers_replaced", []), *before])
        self.set_meta("parsers", list(parsers))

    @property
    def looks(self) -> Looks | None:
        """How far a run is that is looked at while it grows; None where the number was settled."""
        record = self.get_meta("looks")
        return None if record is None else checked(Looks, record, str(self.path), RunError)

    @property
    def left_out(self) -> Sequence[str]:
        """Ids of the calls that are not to be made, or not yet: the last look leaves them out."""
        ids: list[str] = self.get_meta("left_out", [])
        return ids

    def begun_otherwise(self, policy: str | None) -> str:
        """What kind of run it holds, if not one until the policy with this digest is decided.

        None stands for a run that is asked in full. "" if it is what is wanted, or not begun: what
        was looked at must not be judged as if it had not been, nor by another policy.
        """
        looks = self.looks
        if looks is None:
            is_other = policy is not None and self.totals().attempts > 0
            return "a run that is asked in full" if is_other else ""
        is_other = looks.policy.digest != policy
        return f"a run until the policy {looks.policy.name} is decided" if is_other else ""

    def look(self, reached: Looks, left_out: Sequence[str]) -> None:
        """Record how far it is; the calls with these ids are not to be made meanwhile."""
        with self._writing() as db:
            for key, value in (("looks", asdict(reached)), ("left_out", left_out)):
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, as_json(value)))

    # -- what was asked ----------------------------------------------------------------------

    def calls(self) -> Iterator[Call]:
        """Every planned call, in plan order."""
        query = "SELECT *, 0, 0 FROM question WHERE seq > ? ORDER BY seq LIMIT ?"
        return (one.call for one in self._pages(query))

    def cells(self) -> Iterator[tuple[str, str, str, str, int]]:
        """`call_id, axis, stimulus, cell (JSON), repeat` of every planned call, in plan order."""
        return self._stream("SELECT id, axis, stimulus, cell, repeat FROM call ORDER BY seq")

    def labels(self) -> tuple[Label, ...]:
        """What is known about the items."""
        rows = self._stream(f"SELECT {', '.join(LABEL)} FROM label")  # noqa: S608
        return tuple(self._label(*row) for row in rows)

    def pending(self) -> Iterator[Pending]:
        """Calls without a settling reply, in plan order, read a page at a time.

        A call whose retries were exhausted in an earlier session is pending again. RunError where
        one is not the question that was planned: what is asked costs money.
        """
        for one in self._pages("SELECT * FROM pending WHERE seq > ? ORDER BY seq LIMIT ?"):
            if one.call.content_id() != one.call.id:
                raise damaged(self.path, "a question in it was changed")
            yield one

    @property
    def was_asked(self) -> bool:
        """Whether it holds any attempt."""
        with self._reading() as db:
            return bool(db.execute("SELECT EXISTS (SELECT 1 FROM attempt)").fetchone()[0])

    def attempts(self) -> dict[str, int]:
        """How often each call was tried that is pending, by its id."""
        return dict(self._stream("SELECT id, attempts FROM pending"))

    def give_up(self) -> None:
        """Count every call that failed so far as failed, and stop retrying it."""
        query = """SELECT id FROM pending WHERE EXISTS (
            SELECT 1 FROM attempt WHERE call_id = id AND outcome != 'unsupported')"""
        with self._reading() as db:
            tried = [key for (key,) in db.execute(query)]
        self.set_meta("given_up", sorted({*self.get_meta("given_up", []), *tried}))

    def reopen_cut(self) -> int:
        """Have the calls asked again whose prompt the server cut; how many there are."""
        cut = self.cut_calls()
        if cut:
            with self._writing() as db:
                self._unsettle(db, cut.items())
        return len(cut)

    def reopen(self) -> None:
        """Have every call asked again that was settled as failed: given up, or too long."""
        with self._writing() as db:
            failed = db.execute("SELECT call_id, attempt FROM attempt WHERE outcome = 'too_long'")
            self._unsettle(db, failed.fetchall())
        self.set_meta("given_up", [])

    def add(self, calls: Sequence[Call]) -> None:
        """Plan these calls too, after all others; those that are planned already are left alone.

        For questions that follow from replies. The ledger still belongs to the plan it was created
        for: the same replies give the same further questions.
        """
        with self._writing() as db:
            known = {key for (key,) in db.execute("SELECT id FROM call")}
            insert_calls(db, [call for call in calls if call.id not in known], len(known))

    # -- what came back ----------------------------------------------------------------------

    def record(self, replies: Sequence[Reply]) -> None:
        """Write the replies in one transaction; they are on disk when this returns.

        Where the ledger cannot take them (full disk, no permission), its room is used up, and then
        they are kept elsewhere; `trouble` says so. RunError if no place takes them.
        """
        rows = [*map(row_of, replies)]
        try:
            self._record(rows)
        except RunError as error:
            if self._place is None or error_code(error.__cause__) not in _PLACE_FAILS:
                raise
            self._record_in_overflow(self._place, rows, error)

    def _record(self, rows: Sequence[Sequence[Any]]) -> None:
        with self._writing() as db:
            insert(db, "attempt", REPLY, rows)

    def _record_in_overflow(
        self, place: Place, rows: Sequence[Sequence[Any]], error: RunError
    ) -> None:
        """In the room that was kept back, or in another folder."""
        if place.release():
            with suppress(RunError):
                self._record(rows)
                self.trouble = self.trouble or f"{error}; every reply that came is in it"
                return
        file = self._overflow.keep(rows)
        if file is None:
            raise error
        self.trouble = f"{error}; the last replies are in {file}, where it finds them"

    def replies(self) -> Iterator[Reply]:
        """The last reply to every call that was asked, in plan order."""
        query = f"SELECT {', '.join(REPLY)} FROM answer WHERE attempt IS NOT NULL"  # noqa: S608
        return (Reply(*row) for row in self._stream(f"{query} ORDER BY seq"))

    def answered(self) -> Iterator[Reply]:
        """Every reply that is an answer, those of a call together and in order."""
        query = f"""SELECT {", ".join(REPLY)} FROM attempt
            WHERE outcome IN ('ok', 'unreadable', 'refused') ORDER BY call_id, attempt"""  # noqa: S608
        return (Reply(*row) for row in self._stream(query))

    def answers(self) -> Iterator[AskedCall]:
        """Every planned call with its last reply (None before the first attempt).

        In plan order. The cell is left as JSON text: `measure` decodes equal cells once.
        """
        last, call, reply = -1, "id, axis, stimulus, cell, repeat, reply", "text, finish_reason"
        # Last what was asked, by its digest.
        others = (
            "SELECT 1 FROM attempt WHERE attempt != 1 OR outcome IN ('unsupported', 'unreadable')"
        )
        if not any(self._stream(f"{others} LIMIT 1")):
            # Verdicts that were recorded lie in the plan's order: none need be looked up.
            calls = self._stream(f"SELECT prompt, seq, {call} FROM asked ORDER BY seq")  # noqa: S608
            query = f"SELECT call_id, outcome, {reply} FROM attempt"  # noqa: S608
            replies = self._stream(query)
            for (prompt, seq, *asked), (call_id, *replied) in zip(calls, replies, strict=False):
                if asked[0] != call_id:
                    break
                last = seq
                yield (*asked, *replied, prompt)
        columns = f"{call}, outcome, {reply}, prompt"
        rest = f"SELECT {columns} FROM answer WHERE seq > {last} ORDER BY seq"  # noqa: S608
        yield from self._stream(rest)

    def bodies(self) -> Iterator[tuple[str, str]]:
        """`call_id, raw` of every call that asked for log-probabilities and was answered.

        One at a time and apart from `answers`, because such a body is a hundred times its text.
        """
        asking = "SELECT digest FROM params WHERE json_extract(params, '$.logprobs')"
        query = f"SELECT id, raw FROM answer WHERE outcome = 'ok' AND params IN ({asking})"  # noqa: S608
        return self._stream(query, page=20) if any(self._stream(asking)) else iter(())

    def totals(self) -> Totals:
        """Sums over all attempts so far."""
        with self._reading() as db:
            # What was taken over is older than the run.
            return Totals.of(db, self.get_meta("created_at") if self.taken_over else None)

    def spent(self) -> Spent:
        """What this run has used of a limit on cost or tokens; not what it took over."""
        since = self.get_meta("created_at") if self.taken_over else 0.0
        known = {"since": since, "most": CHARACTERS_PER_TOKEN_AT_MOST, "each": CHARACTERS_PER_TOKEN}
        with self._reading() as db:
            return Spent(*map(int, db.execute(SPENT, known | free_of_charge()).fetchone()))

    def prompt_sizes(self) -> PromptSizes:
        """The prompts that were answered, but for those that are to be asked again."""
        sizes, reopened = PromptSizes(), self._reopened
        for call, attempt, *size in self._stream(PROMPT_SIZES):
            if (call, attempt) not in reopened:
                sizes.add(*size)
        return sizes

    def cut_calls(self) -> dict[str, int]:
        """Calls whose prompt the server cut, each with the attempt that was answered so."""
        window, reopened = self.prompt_sizes().window, self._reopened
        if window is None and not reopened:
            return {}
        return {
            call: attempt
            for call, attempt, *_, tokens in self._stream(PROMPT_SIZES)
            if tokens == window or (call, attempt) in reopened
        }

    def first_readings(self) -> tuple[int, int]:
        """Of the calls that were answered, those whose first reply could not be read; and all."""
        query = """SELECT count(DISTINCT call_id) FILTER (WHERE outcome = 'unreadable'),
            count(DISTINCT call_id) FROM attempt WHERE outcome IN ('ok', 'unreadable')"""
        with self._reading() as db:
            lost, answered = db.execute(query).fetchone()
        return lost, answered

    def unequal_tokens(self) -> dict[str, tuple[int, int]]:
        """Per axis its questions that were answered several times, and those counted unequally."""
        with self._reading() as db:
            return {axis: (asked, differ) for axis, asked, differ in db.execute(UNEQUAL_TOKENS)}

    def served_by_axis(self) -> dict[str, tuple[dict[str, int], int]]:
        """Per axis its answers by the model that the endpoint named, and its mixed stimuli.

        On a mixed stimulus several models answered.
        """
        with self._reading() as db:
            rows = db.execute(
                "SELECT axis, stimulus, served_model, count(*) FROM answer"
                " WHERE served_model IS NOT NULL GROUP BY 1, 2, 3"
            ).fetchall()
        served: dict[str, Counter[str]] = {}
        models: dict[tuple[str, str], int] = Counter()
        for axis, stimulus, model, number in rows:
            served.setdefault(axis, Counter())[model] += number
            models[axis, stimulus] += 1
        return {
            axis: (
                dict(counts.most_common()),
                sum(n > 1 for (name, _), n in models.items() if name == axis),
            )
            for axis, counts in served.items()
        }

    def hosts(self) -> dict[str, str]:
        """The host that a router named for each answered call, or the build of the server."""
        return {call: host[:LONGEST_NAME] for call, host in self._stream(HOSTS)}

    def reasoning_tokens(self) -> int | None:
        """Those of `Totals.tokens_out` that went into hidden reasoning; None if unknown."""
        with self._reading() as db:
            path = "$.usage.completion_tokens_details.reasoning_tokens"
            tokens: int | None = db.execute(REASONING, {"path": path}).fetchone()[0]
        return tokens

    def failures(self) -> list[tuple[str, str | None, str, int]]:
        """`outcome, finish_reason, raw, attempts` of each kind of failure, the commonest first.

        `raw` is the body of the last one.
        """
        query = """
            SELECT outcome, finish_reason, raw, count(*), max(at) FROM attempt
            WHERE outcome NOT IN ('ok', 'unreadable', 'refused', 'unsupported')
            GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2"""
        with self._reading() as db:
            return [row[:4] for row in db.execute(query)]

    @property
    def _reopened(self) -> set[tuple[str, int]]:
        """The calls, each with an attempt that settles it no more."""
        return {*map(tuple, self.get_meta("reopened", []))}

    # -- inside ------------------------------------------------------------------------------

    def _unsettle(self, db: sqlite3.Connection, attempts: Iterable[tuple[str, int]]) -> None:
        """Let these attempts settle their calls no more."""
        marked = sorted({*self._reopened, *attempts})
        db.execute("INSERT OR REPLACE INTO meta VALUES ('reopened', ?)", (as_json(marked),))

    def _create(
        self, plan: Plan, judge: Mapping[str, Any], recorded: Iterable[tuple[str, str, float]]
    ) -> None:
        """All of the plan in one transaction: a ledger holds a whole plan or none."""
        statements = SCHEMA.split(";\n")
        indices = [statement for statement in statements if _INDEX.search(statement)]
        meta = {
            "schema_version": SCHEMA_VERSION,
            "judgesheet": __version__,
            "plan": plan.digest,
            "seed": plan.seed,
            "provenance": plan.provenance,
            "judge": judge,
            "created_at": time.time(),
        }
        with self._writing() as db:
            for statement in statements:
                if statement not in indices:
                    db.execute(statement)
            insert(db, "meta", ("key", "value"), ((key, as_json(meta[key])) for key in meta))
            insert_calls(db, plan.calls)
            insert_labels(db, plan.labels)
            db.executemany(_RECORDED, recorded)
            # Sorted at once, which takes a fraction of the time; 128 bytes a call hold the ids.
            db.execute(f"PRAGMA cache_size = -{max(_CACHE_KIB, len(plan.calls) // 8)}")
            for statement in indices:
                db.execute(statement)
        self.is_new = True

    def _version(self) -> Any:
        """The schema version, once it is sure that reading the tables does nothing else."""
        with self._reading() as db:
            if not is_plain(db):
                raise damaged(self.path, "it holds other things than plain tables")
        return self.get_meta("schema_version")

    def _use_own_views(self) -> None:
        with self._reading() as db:
            for view in VIEWS:
                db.execute(view)

    def _check(self) -> None:
        """RunError if this release cannot read the ledger; nothing is written."""
        version = self._version()
        if version not in range(1, SCHEMA_VERSION + 1):
            raise RunError(
                f"{self.path} has ledger schema {version}, this judgesheet reads up to "
                f"{SCHEMA_VERSION}: use the judgesheet that wrote it "
                f"({self.get_meta('judgesheet')}), or a later one"
            )
        self._check_content(version)

    @contextmanager
    def _only_reading(self) -> Iterator[None]:
        """Let no statement write; the file is locked against others."""
        with self._reading() as db:
            db.execute("PRAGMA query_only = ON")
            try:
                yield
            finally:
                db.execute("PRAGMA query_only = OFF")

    def _update_schema(self) -> None:
        """Add what later versions have; an older release then refuses the file."""
        version = self.get_meta("schema_version")
        if version == SCHEMA_VERSION:
            return
        with self._writing() as db:
            for added in lacking(db, version):
                db.execute(f"ALTER TABLE {added.table} ADD COLUMN {added.column} {added.kind}")
                db.execute(f"UPDATE {added.table} SET {added.column} = {added.value}")  # noqa: S608
            statement = "UPDATE meta SET value = ? WHERE key = 'schema_version'"
            db.execute(statement, (as_json(SCHEMA_VERSION),))

    def _show_added(self) -> None:
        """Show what later versions have; reading changes no file."""
        version = self.get_meta("schema_version")
        with self._reading() as db:
            for added in lacking(db, version):
                rows = f"SELECT *, {added.value} AS {added.column} FROM main.{added.table}"  # noqa: S608
                db.execute(f"CREATE TEMP VIEW {added.table} AS {rows}")

    def _check_content(self, version: int) -> None:
        """RunError where the tables hold what no ledger holds; calls are not read."""
        with self._reading() as db:
            wrong = damage(db, version)
            if wrong is None:
                meta = {key: self._decoded(text) for key, text in db.execute("SELECT * FROM meta")}
                wrong = next((f"meta.{key} cannot be" for key in misshapen(meta)), None)
        if wrong is not None:
            raise damaged(self.path, wrong)

    def _follow(self, judge: Mapping[str, Any]) -> None:
        """Record where the judge is asked from now on, and where it was before."""
        kept = self.judge
        if kept.get("provider") == BATCH != judge.get("provider"):  # it had no address there
            self.set_meta("judge", judge)
        elif kept.get("base_url") != judge.get("base_url"):
            before = [*self.earlier_base_urls, kept.get("base_url")]
            self.set_meta("earlier_base_urls", before)
            self.set_meta("judge", judge)

    def _decoded(self, text: Any, kind: type = object) -> Any:
        with suppress(TypeError, ValueError):
            value = decoded(text)
            if isinstance(value, kind):
                return value
        raise damaged(self.path, "it holds something else where JSON belongs")

    def _label(self, *row: Any) -> Label:
        *known, ratings = row
        stored = dict(zip(LABEL, [*known, tuple(self._decoded(ratings, list))], strict=True))
        label = Label(**stored)
        numbers = [rating for rating in label.ratings if rating is not None]
        if not all(isinstance(x, int | float) and abs(x) <= LARGEST_COUNT for x in numbers):
            raise damaged(self.path, "it holds ratings that are not valid")
        return label

    def _pages(self, query: str) -> Iterator[Pending]:
        """The calls that `query` gives after a `seq`, page after page."""
        with self._reading() as db:
            contents = db.execute("SELECT * FROM params")
            params = {key: self._decoded(text, dict) for key, text in contents}
        last = -1
        while True:
            with self._reading() as db:
                rows = db.execute(query, (last, _PAGE)).fetchall()
            if not rows:
                return
            for row in rows:
                yield Pending(self._restored(row, params), *row[-2:])
            last = rows[-1][0]

    def _restored(self, row: tuple[Any, ...], params: Mapping[str, Any]) -> Call:
        """The call of a row of `question`; `params` are those of all calls by digest."""
        stored = dict(zip((*CALL, "messages"), row, strict=False))
        messages = self._decoded(stored["messages"], list)
        are_messages = all(isinstance(one, dict) and one.keys() >= MESSAGE for one in messages)
        if not are_messages or stored["params"] not in params:
            raise damaged(self.path, "it lacks what was asked")
        stored |= {
            "cell": self._decoded(stored["cell"], dict),
            "params": params[stored["params"]],
            "messages": tuple(messages),
        }
        return Call.known(**stored)

    def _stream(self, query: str, page: int = _PAGE) -> Iterator[Any]:
        with self._reading() as db:
            cursor = db.execute(query)
        while True:
            with self._reading():
                rows = cursor.fetchmany(page)
            if not rows:
                return
            yield from rows

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, one_sentence(self.path):
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed on leaving, rolled back on any error."""
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
                self._look_after_place()
            except BaseException:
                # A full disk may have rolled back already.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
