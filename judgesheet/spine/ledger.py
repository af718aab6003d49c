"""For stage two: the ledger, what was asked and what came back verbatim, in one SQLite file.

One ledger serves one plan and one judge, and refuses another. Every attempt is a row, and a reply
counts only once its transaction is on disk: `kill -9` at any moment loses no acknowledged reply.
Parsing happens in `measure`, so a better parser costs no calls. This module alone knows its SQL.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Self

from judgesheet import __version__
from judgesheet.errors import RunError
from judgesheet.records import Call, Label, Outcome, Plan, Reply, digest

SCHEMA_VERSION = 2
# History
# 1: the first.
# 2: single ratings behind a label.

SCHEMA = """
-- What this ledger belongs to; every value is JSON. Always there: schema_version, judgesheet (the
-- version that created it), plan (its digest), seed, provenance, judge (its identity), created_at
-- (seconds since the epoch). parsers: those that read the replies, if any (until they are replaced,
-- those of provenance); parsers_replaced: those that did before.
CREATE TABLE meta (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) WITHOUT ROWID;

-- The messages of a call as JSON, once per content.
CREATE TABLE prompt (
    digest    TEXT PRIMARY KEY,     -- first 24 hexadecimal digits of the SHA-256 of `messages`
    messages  TEXT NOT NULL
);

-- The parameters of a request as JSON, once per content.
CREATE TABLE params (
    digest  TEXT PRIMARY KEY,       -- likewise, of `params`
    params  TEXT NOT NULL
);

-- One planned question a row; never changed. Questions that follow from replies are added at the
-- end (`judgesheet consensus`); the plan's digest in `meta` is that of the first ones.
CREATE TABLE call (
    seq       INTEGER PRIMARY KEY,  -- place in the plan, from 0
    id        TEXT NOT NULL UNIQUE, -- hash of the call's content
    axis      TEXT NOT NULL,
    stimulus  TEXT NOT NULL,
    cell      TEXT NOT NULL,        -- the experimental condition, JSON
    repeat    INTEGER NOT NULL,
    reply     TEXT NOT NULL,        -- the reply format that is asked for
    params    TEXT NOT NULL REFERENCES params (digest),
    prompt    TEXT NOT NULL REFERENCES prompt (digest)
);

-- What is known about an item and never shown to the judge.
CREATE TABLE label (
    axis       TEXT NOT NULL,
    item       TEXT NOT NULL,
    criterion  TEXT NOT NULL,       -- '' where the axis has none
    kind       TEXT NOT NULL,
    score      REAL NOT NULL,
    ratings    TEXT NOT NULL        -- JSON: one rating per rater, null where none; [] if unknown
);

-- One request a row. The last attempt at a call is its reply; the call is settled once any attempt
-- has an outcome that another attempt would not change.
CREATE TABLE attempt (
    call_id        TEXT NOT NULL REFERENCES call (id),
    attempt        INTEGER NOT NULL, -- from 1, counted over all sessions
    outcome        TEXT NOT NULL,
    latency_s      REAL NOT NULL,
    tokens_in      INTEGER,          -- NULL where the endpoint does not say
    tokens_out     INTEGER,
    served_model   TEXT,
    at             REAL NOT NULL,    -- seconds since the epoch
    retry_after_s  REAL,             -- what the server asked for
    text           TEXT NOT NULL,    -- the judge's words
    raw            TEXT NOT NULL,    -- the body as received
    PRIMARY KEY (call_id, attempt)
);
CREATE INDEX attempt_outcome ON attempt (outcome, call_id);

-- A call with its messages, as it is sent.
CREATE VIEW question AS
    SELECT call.*, messages
    FROM call JOIN prompt ON prompt.digest = call.prompt;

-- A call without a settling outcome, and how often it was tried.
CREATE VIEW pending AS
    SELECT question.*,
           (SELECT coalesce(max(attempt), 0) FROM attempt WHERE call_id = id) AS attempts
    FROM question
    WHERE NOT EXISTS (
        SELECT 1 FROM attempt
        WHERE call_id = id AND outcome IN ('ok', 'refused', 'too_long', 'rejected')
    );

-- Every call with its last attempt; NULLs where it was never asked.
CREATE VIEW answer AS
    SELECT * FROM call LEFT JOIN attempt
    ON call_id = id AND attempt = (SELECT max(attempt) FROM attempt WHERE call_id = id);
"""

SETTLING: frozenset[Outcome] = frozenset({"ok", "refused", "too_long", "rejected"})
"""Outcomes of which a call is never asked again, not even on resume: they would not change."""

_PAGE = 500  # calls read at once: no read transaction stays open while requests are in flight

Answer = tuple[str, str, str, str, int, str, Outcome | None, str | None]
"""`call_id, axis, stimulus, cell (JSON), repeat, reply format, outcome, text` of a planned call."""


class Pending(NamedTuple):
    """A call that has no settling reply yet, and how often it was tried."""

    call: Call
    attempts: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all attempts. Latencies are those of `ok` attempts, in seconds.

    `tokens_in`, `tokens_out` are None where the endpoint never said; `first_at`, `last_at` are
    seconds since the epoch, None before the first attempt. `longest_prompt` is in tokens, of the
    prompts that were answered.
    """

    planned: int
    settled: int
    attempts: int
    outcomes: Mapping[Outcome, int]
    tokens_in: int | None
    tokens_out: int | None
    first_at: float | None
    last_at: float | None
    latency_p50_s: float | None
    latency_p99_s: float | None
    served_models: Mapping[str, int]
    longest_prompt: int | None


class Ledger:
    """An open ledger. Safe to use from several threads of one process; close it after use."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._lock = threading.RLock()

    @classmethod
    def create_or_open(cls, path: Path, plan: Plan, judge: Mapping[str, Any]) -> Self:
        """The ledger at `path` for writing, created if there is none.

        Nobody else can use it until it is closed.

        Raises
        ------
        RunError
            if it belongs to another plan or another judge, is in use, or cannot be written.
        """
        with _one_sentence(path), ExitStack() as on_error:
            ledger = cls(path, _connect_exclusively(path))
            on_error.callback(ledger.close)
            if _is_empty(ledger._db):
                ledger._create(plan, judge)
            else:
                ledger._check_version()
                ledger._refuse_another(plan, judge)
            # After creation: a plan written in WAL mode is written twice.
            ledger._db.execute("PRAGMA journal_mode = WAL")
            on_error.pop_all()
        return ledger

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Self:
        """An existing ledger, to read; or, where nobody else uses it, to note something in it.

        Raises
        ------
        RunError
            if there is none, or it is damaged, in use, or written by a newer judgesheet.
        """
        if not path.is_file():
            raise RunError(f"there is no ledger at {path}: run `judgesheet probe` first")
        with _one_sentence(path), ExitStack() as on_error:
            ledger = cls(path, _connect_exclusively(path) if writable else _connect(path))
            on_error.callback(ledger.close)
            if _is_empty(ledger._db):
                raise RunError(f"{path} holds no run: run `judgesheet probe` first")
            ledger._check_version()
            if not writable:
                ledger._db.execute("PRAGMA query_only = ON")
            on_error.pop_all()
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, which is then one plain file that can be read from anywhere.

        Closing twice does nothing.
        """
        with self._lock:
            # Only the exclusive owner can leave WAL; SQLite cannot read a WAL file in a folder
            # that is write-protected. Whoever only reads, or finds the disk full, leaves it.
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()

    # -- what it belongs to ------------------------------------------------------------------

    def get_meta(self, key: str, default: Any = None) -> Any:
        """The value stored under `key`, or `default`."""
        with self._reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def set_meta(self, key: str, value: Any) -> None:
        """Store a JSON value under `key`."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, _json(value)))

    def settings(self) -> dict[str, Any]:
        """What the plan settled: profile, reply format, temperature and so on."""
        return dict(self.get_meta("provenance", {}).get("settings", {}))

    def parsers(self) -> list[dict[str, str]]:
        """The user's own parsers that read the replies of this run."""
        planned = self.get_meta("provenance", {}).get("parsers", [])
        found: list[dict[str, str]] = self.get_meta("parsers", planned)
        return found

    def replace_parsers(self, parsers: Sequence[Mapping[str, str]]) -> None:
        """Read the replies with these parsers from now on, and remember those before."""
        before = [
            {key: one[key] for key in ("axis", "name", "digest")}
            for one in self.parsers()
            if one not in parsers
        ]
        self.set_meta("parsers_replaced", [*self.get_meta("parsers_replaced", []), *before])
        self.set_meta("parsers", list(parsers))

    # -- what was asked ----------------------------------------------------------------------

    def calls(self) -> Iterator[Call]:
        """Every planned call, in plan order."""
        query = "SELECT *, 0 FROM question WHERE seq > ? ORDER BY seq LIMIT ?"
        return (call for call, _ in self._pages(query))

    def labels(self) -> tuple[Label, ...]:
        """What is known about the items."""
        with self._reading() as db:
            rows = db.execute("SELECT axis, item, kind, score, criterion, ratings FROM label")
            return tuple(
                Label(axis, item, kind, score, criterion, tuple(json.loads(ratings)))
                for axis, item, kind, score, criterion, ratings in rows
            )

    def pending(self) -> Iterator[Pending]:
        """Calls without a settling reply, in plan order, read a page at a time.

        A call whose retries were exhausted in an earlier session is pending again.
        """
        return self._pages("SELECT * FROM pending WHERE seq > ? ORDER BY seq LIMIT ?")

    def add(self, calls: Sequence[Call]) -> None:
        """Plan these calls too, after all others; those that are planned already are left alone.

        For questions that follow from replies. The ledger still belongs to the plan it was created
        for: the same replies give the same further questions.
        """
        with self._writing() as db:
            known = {key for (key,) in db.execute("SELECT id FROM call")}
            new = [call for call in calls if call.id not in known]
            _insert(db, new, len(known))

    # -- what came back ----------------------------------------------------------------------

    def record(self, replies: Sequence[Reply]) -> None:
        """Write the replies in one transaction; they are on disk when this returns.

        Raises
        ------
        RunError
            if they cannot be written (full disk, no permission).
        """
        with self._writing() as db:
            db.executemany(
                "INSERT INTO attempt (call_id, attempt, outcome, text, raw, latency_s, tokens_in,"
                " tokens_out, served_model, at, retry_after_s) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                map(_row_of, replies),
            )

    def replies(self) -> Iterator[Reply]:
        """The last reply to every call that was asked, in plan order."""
        query = """
            SELECT call_id, attempt, outcome, text, raw, latency_s, tokens_in, tokens_out,
                   served_model, at, retry_after_s
            FROM answer WHERE attempt IS NOT NULL ORDER BY seq"""
        return (Reply(*row) for row in self._stream(query))

    def answers(self) -> Iterator[Answer]:
        """Every planned call with its last outcome and text (None before the first attempt).

        In plan order. The cell is left as JSON text: `measure` decodes equal cells once.
        """
        query = """
            SELECT id, axis, stimulus, cell, repeat, reply, outcome, text
            FROM answer ORDER BY seq"""
        return self._stream(query)

    def bodies(self) -> Iterator[tuple[str, str]]:
        """`call_id, raw` of every call that asked for log-probabilities and was answered.

        One at a time and apart from `answers`, because such a body is a hundred times its text.
        """
        with self._reading() as db:
            asked = "SELECT digest FROM params WHERE json_extract(params, '$.logprobs')"
            if db.execute(asked).fetchone() is None:
                return iter(())
        query = f"""
            SELECT id, raw FROM answer
            WHERE outcome = 'ok' AND params IN ({asked})"""  # noqa: S608
        return self._stream(query, page=20)

    def totals(self) -> Totals:
        """Sums over all attempts so far."""
        with self._reading() as db:
            sums = db.execute("""
                SELECT (SELECT count(*) FROM call) AS planned,
                       (SELECT count(*) FROM call) - (SELECT count(*) FROM pending) AS settled,
                       count(*) AS attempts,
                       sum(tokens_in) AS tokens_in,
                       sum(tokens_out) AS tokens_out,
                       min(at) AS first_at,
                       max(at) AS last_at,
                       max(tokens_in) FILTER (WHERE outcome = 'ok') AS longest_prompt
                FROM attempt""")
            outcomes = db.execute("SELECT outcome, count(*) FROM attempt GROUP BY 1 ORDER BY 1")
            served = db.execute(
                "SELECT served_model, count(*) FROM attempt WHERE served_model IS NOT NULL"
                " GROUP BY 1 ORDER BY 2 DESC, 1"
            )
            names = [column[0] for column in sums.description]
            return Totals(
                **dict(zip(names, sums.fetchone(), strict=True)),
                outcomes=dict(outcomes),
                served_models=dict(served),
                latency_p50_s=_latency_quantile(db, 0.50),
                latency_p99_s=_latency_quantile(db, 0.99),
            )

    # -- inside ------------------------------------------------------------------------------

    def _create(self, plan: Plan, judge: Mapping[str, Any]) -> None:
        """All of the plan in one transaction: a ledger holds a whole plan or none."""
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
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.executemany(
                "INSERT INTO meta VALUES (?, ?)", ((key, _json(meta[key])) for key in meta)
            )
            _insert(db, plan.calls)
            db.executemany(
                "INSERT INTO label (axis, item, kind, score, criterion, ratings)"
                " VALUES (:axis, :item, :kind, :score, :criterion, :ratings)",
                ({**asdict(one), "ratings": _json(one.ratings)} for one in plan.labels),
            )

    def _check_version(self) -> None:
        version = self.get_meta("schema_version")
        if version == 1:  # what schema 2 adds, it adds to older runs too
            with self._writing() as db:
                db.execute("ALTER TABLE label ADD COLUMN ratings TEXT NOT NULL DEFAULT '[]'")
                db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (_json(2),))
        elif version != SCHEMA_VERSION:
            raise RunError(
                f"{self.path} has ledger schema {version}, this judgesheet reads "
                f"{SCHEMA_VERSION}: use the judgesheet that wrote it "
                f"({self.get_meta('judgesheet')})"
            )

    def _refuse_another(self, plan: Plan, judge: Mapping[str, Any]) -> None:
        # Through JSON and back, so that what was stored and what is given compare alike.
        difference = _difference(self.get_meta("judge"), json.loads(_json(judge)))
        if difference:
            self._refuse(f"another judge ({difference})")
        if self.get_meta("plan") != plan.digest:
            with self._reading() as db:
                planned = db.execute("SELECT count(*) FROM call").fetchone()[0]
            self._refuse(
                f"another plan ({planned} calls from seed {self.get_meta('seed')}, "
                f"now {len(plan.calls)} calls from seed {plan.seed})"
            )

    def _refuse(self, what: str) -> None:
        raise RunError(
            f"{self.path} holds the replies to {what}: "
            "start over with --fresh or choose another --out"
        )

    def _pages(self, query: str) -> Iterator[Pending]:
        """The calls that `query` gives after a `seq`, page after page."""
        with self._reading() as db:
            params = {key: json.loads(text) for key, text in db.execute("SELECT * FROM params")}
        last = -1
        while True:
            with self._reading() as db:
                rows = db.execute(query, (last, _PAGE)).fetchall()
            if not rows:
                return
            for row in rows:
                yield Pending(_restore(row, params), row[-1])
            last = rows[-1][0]

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
        with self._lock, _one_sentence(self.path):
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed on leaving, rolled back on any error."""
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                # A full disk may have rolled back already.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def _connect(path: Path) -> sqlite3.Connection:
    # "rw" never creates a file, and reads a write-protected one.
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=0.5,
        isolation_level=None,
        check_same_thread=False,
    )


def _connect_exclusively(path: Path) -> sqlite3.Connection:
    """A connection that keeps everybody else out until it is closed.

    The exclusive mode must come before WAL: then SQLite needs no shared memory, and the ledger
    works on network file systems too (https://sqlite.org/wal.html#noshm).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    db = _connect(path)
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA cache_size = -65536")  # KiB: the ids of a long plan arrive unsorted
        # The first write takes the lock; take it now rather than after the first paid reply.
        db.execute("BEGIN IMMEDIATE")
        db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _is_empty(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's complaints about `path` into a `RunError`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise RunError(_sentence(path, error)) from error
    except UnicodeEncodeError as error:
        raise RunError(
            f"{path} cannot hold {error.object[:60]!r}: half a surrogate pair is no text"
        ) from error


def _sentence(path: Path, error: Exception) -> str:
    # sqlite_errorcode carries extended codes; the low byte is the primary one.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return f"{path} is in use by another judgesheet: wait for it or stop it"
    if code == sqlite3.SQLITE_FULL:
        return f"{path} cannot grow, the disk is full: make room and run the same command again"
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return f"{path} is no ledger or is damaged ({error}): start over with --fresh"
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return f"{path} cannot be written ({error}): choose another --out"
    if isinstance(error, OSError):
        return f"{path} cannot be used ({error.strerror or error}): choose another --out"
    return f"{path} cannot be used ({error})"


def _insert(db: sqlite3.Connection, calls: Sequence[Call], start: int = 0) -> None:
    """Write calls, and of their contents those that are not there yet."""
    seen: set[str] = set()

    def content(statement: str, value: Any) -> str:
        # As given: in a JSON schema the order of the properties is the order of the answer.
        text = _json(value, in_order=True)
        key = digest(text)[:24]
        if key not in seen:
            seen.add(key)
            db.execute(statement, (key, text))
        return key

    def row(seq: int, call: Call) -> tuple[Any, ...]:
        params = content("INSERT OR IGNORE INTO params VALUES (?, ?)", call.params)
        prompt = content("INSERT OR IGNORE INTO prompt VALUES (?, ?)", call.messages)
        place = (seq, call.id, call.axis, call.stimulus, _json(call.cell), call.repeat, call.reply)
        return (*place, params, prompt)

    rows = (row(seq, call) for seq, call in enumerate(calls, start))
    db.executemany("INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _restore(row: tuple[Any, ...], contents: Mapping[str, Any]) -> Call:
    """The call of a row of `question`; `contents` are the params by digest.

    Its id is taken as stored: hashing two million prompts again takes minutes.
    """
    _, key, axis, stimulus, cell, repeat, reply, params, _, messages, *_ = row
    call = object.__new__(Call)
    values = {
        "id": key,
        "axis": axis,
        "stimulus": stimulus,
        "repeat": repeat,
        "reply": reply,
        "cell": json.loads(cell),
        "params": contents[params],
        "messages": tuple(json.loads(messages)),
    }
    for name, value in values.items():
        object.__setattr__(call, name, value)
    return call


_FIELDS = attrgetter(*(field.name for field in fields(Reply)))


def _row_of(reply: Reply) -> tuple[Any, ...]:
    """The fields of a reply with lone surrogates replaced: SQLite holds UTF-8, which has none."""
    return tuple(
        value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
        for value in _FIELDS(reply)
    )


def _json(value: Any, *, in_order: bool = False) -> str:
    """Compact JSON, keys sorted unless `in_order`; lone surrogates, which UTF-8 lacks, escaped."""
    text = json.dumps(value, sort_keys=not in_order, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _difference(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """What differs between two identities, such as `model was 'a', now 'b'`; "" if nothing."""
    found = []
    for key in {**stored, **given}:
        old, new = stored.get(key), given.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found.append(_difference(old, new))
        elif old != new:
            found.append(f"{key} was {old!r}, now {new!r}")
    return ", ".join(filter(None, found))


def _latency_quantile(db: sqlite3.Connection, share: float) -> float | None:
    """The smallest latency that `share` of the `ok` attempts do not exceed, in seconds."""
    count = db.execute("SELECT count(*) FROM attempt WHERE outcome = 'ok'").fetchone()[0]
    row = db.execute(
        "SELECT latency_s FROM attempt WHERE outcome = 'ok' ORDER BY latency_s LIMIT 1 OFFSET ?",
        (max(0, -int(-share * count // 1) - 1),),
    ).fetchone()
    return None if row is None else float(row[0])
