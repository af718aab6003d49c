"""More of what somebody hostile may hand over: what is not a question, a reply or a run itself.

Tables to correct, sheets to verify, replies of earlier runs, pages, code of the
user's own that fails, clocks that jump, and files that are far too large.
"""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from judgesheet.base.datasheet import to_json
from judgesheet.base.limits import LARGEST_SHEET, LONGEST_LINE, MOST_PARTS_OF_A_SHEET
from tests.hostile.test_endless_templates import ENDLESS
from tests.hostile.test_limits import TOO_LARGE
from tests.hostile.test_terminal import EVIL
from tests.sheet.sheets import plausible
from torture.inputs import DEEP, GRADING, MEASURE, SIM, TEMPLATES, Case, Place, Words
from torture.processes import judgesheet

BELLS = "\x07" * 5000


def corrected() -> Iterator[Case]:
    """Tables to correct, whose cells and columns are anything."""
    correct = ("correct", "t.csv", "--labels", "random")
    cells = ("=1+1", "1e999", "1e308", "-1e300", "5e-324", "1_0", "\u202e", "[1]", BELLS, EVIL)
    for cell in cells:

        def lay(place: Place, cell: str = cell) -> None:
            quoted = '"' + cell.replace('"', '""') + '"'
            rows = [f"r{n},{quoted if n % 3 else n % 2},{n % 2}" for n in range(30)]
            place.write("t.csv", "\n".join(["id,verdict,label", *rows]))

        yield Case([correct, (*correct, "--to", "csv", "--out", "o.csv")], lay)
    many = [f"{n // 2},s{n % 2 + n // 2},1,1" for n in range(1000)]
    far = [f"r{n},{n % 5},{'' if n % 2 else 10**n}" for n in range(200)]
    same = [f"r{n},{n % 2},{n % 2}" for n in range(30)]
    yield Case([correct], _table("id,system,verdict,label", many), code=1)
    yield Case([correct], _table("id,verdict,label", far), code=1)
    yield Case([(*correct, "--map", "label=verdict")], _table("id,verdict,label", same), code=2)


def _table(head: str, rows: Iterable[str]) -> Callable[[Place], None]:
    return lambda place: place.write("t.csv", "\n".join([head, *rows]))


def verified(run: Path) -> Iterator[Case]:
    """PDFs that are none or broken off, and a sheet of the smallest profile, which is whole."""
    for content in (b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj", b"%PDF-1.4" + b"x" * 99):
        yield Case([("verify", "a.pdf")], _content("a.pdf", content), code=1)
    for share in (0.02, 0.5, 0.98):

        def cut(place: Place, share: float = share) -> None:
            judgesheet("render", run, "--to", "pdf", "--out", place.folder)
            whole = (place.folder / "datasheet.pdf").read_bytes()
            place.write("datasheet.pdf", whole[: int(share * len(whole))])

        yield Case([("verify", "datasheet.pdf", "--run", str(run))], cut)
    first = ("probe", "--model", "sim/fair", "--profile", "first", "--no-pdf", "--quiet")
    check = ("verify", "run/datasheet.json", "--run", "run")
    yield Case([(*first, "--out", "run"), check], code=0)


def _content(name: str, content: bytes) -> Callable[[Place], None]:
    return lambda place: place.write(name, content)


# -- replies of earlier runs -----------------------------------------------------------------------

NAMED = {"HUGE": f"hex(zeroblob({LONGEST_LINE}))", "DEEP": DEEP}
EARLIER = (
    "UPDATE reply SET text = HUGE WHERE at = (SELECT max(at) FROM reply)",
    "UPDATE reply SET served_model = HUGE WHERE at = (SELECT max(at) FROM reply)",
    "UPDATE reply SET at = 1e999",
    "UPDATE reply SET at = 1e12",
    "UPDATE reply SET text = x'ff00'",
    "UPDATE reply SET tokens_in = 9e18",
    "UPDATE reply SET outcome = char(27) || '[2J'",
    "UPDATE reply SET attempt = -5",
    "UPDATE run SET refused = '{'",
    "UPDATE run SET refused = '[1]'",
    "UPDATE run SET refused = 'DEEP'",
    "UPDATE run SET created_at = 'x'",
    "UPDATE run SET plan = HUGE",
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM reply; END",
    "ALTER TABLE reply RENAME TO r; CREATE VIEW reply AS SELECT * FROM r",
    "ANALYZE; UPDATE sqlite_stat1 SET stat = '9999999999999 1'",
)
ANEW = (*SIM, "--fresh-if-changed", "--reuse-for", "30d", "--seed")


def earlier(run: Path) -> Iterator[Case]:
    """Replies of a stranger's run that a new one is to take over."""
    for change in EARLIER:

        def lay(place: Place, change: str = change) -> None:
            shutil.copytree(run, place.folder / "run")
            judgesheet(*ANEW, "9", here=place.folder)
            with closing(sqlite3.connect(place.folder / "run" / "earlier.sqlite")) as db, db:
                for name, text in NAMED.items():
                    change = change.replace(name, text)
                db.executescript(change)

        yield Case([(*ANEW, "0")], lay)
    for change in TOO_LARGE.values():

        def grow(place: Place, change: str = change) -> None:
            shutil.copytree(run, place.folder / "run")
            with closing(sqlite3.connect(place.folder / "run" / "ledger.sqlite")) as db, db:
                db.execute(change)

        yield Case([(*ANEW, "9")], grow)

    def linked(place: Place) -> None:
        shutil.copytree(run, place.folder / "run")
        (place.folder / "run" / "earlier.sqlite").symlink_to(place.mine / "keys")

    yield Case([(*ANEW, "9")], linked)


# -- pages and code of the user's own --------------------------------------------------------------


WITH_POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
"""What a page of one's own says itself, as ours do."""


def pages() -> Iterator[Case]:
    """Page templates that somebody else wrote."""
    shown = ("render", "datasheet.json", "--to", "html", "--template", "p.html.jinja")
    for text in (*TEMPLATES, *[*ENDLESS.values()][::3]):

        def lay(place: Place, text: str = text) -> None:
            place.write("datasheet.json", to_json(plausible()))
            attack = text.replace("MINE", str(place.mine / "keys"))
            place.write("p.html.jinja", WITH_POLICY + attack)

        yield Case([(*shown, "--out", "o")], lay)


OWN = """
import httpx, itertools, os, sys, time

def raises(): raise RuntimeError("\\x1b[2J\\x07")
def leaves(): sys.exit(7)
def nothing(): return None
def endless(): return endless()

class Access(httpx.Auth):
    def __init__(self, how): self.how = how
    def auth_flow(self, request):
        if self.how == "raise": raise ValueError("\\x1b[2J")
        if self.how == "exit": sys.exit(9)
        yield None if self.how == "none" else request
        while self.how == "again": yield request

def raising(): return Access("raise")
def exiting(): return Access("exit")
def of_none(): return Access("none")
def again(): return Access("again")

real, turn = time.time, itertools.count()
JUMPS = {"back": (0, -4e7, 3e5), "1843": (-4e9, 0), "2280": (0, 8e9), "before Christ": (0, -7e10)}
if "JUMP" in os.environ:
    time.time = lambda: real() + JUMPS[os.environ["JUMP"]][next(turn) % 2]
def judge(messages): return '{"score": 3}'
"""
FACTORIES = ("raises", "leaves", "nothing", "endless", "raising", "exiting", "of_none", "again")
JUMPS = ("back", "1843", "2280", "before Christ")


def own_code() -> Iterator[Case]:
    """Access that fails in every way, and a clock that jumps with each reply."""
    for name in FACTORIES:
        judge = ("--model", "openai-compatible/says", "--base-url", "{judge}", "--timeout", "2")
        words = ("probe", *judge, *GRADING, "--patience", "2", "--auth", f"own:{name}")
        refused = 2 if name == "nothing" else None  # as anybody who wrote it would be told
        yield Case([(*words, "--out", "run")], _content("own.py", OWN.encode()), code=refused)
    for jump in JUMPS:
        asked = ("probe", "--model", "python/own:judge", "--reply", "json", *GRADING)
        lay = _content("own.py", OWN.encode())
        yield Case([(*asked, "--out", "run"), MEASURE], lay, env={"JUMP": jump}, code=0)


# -- what is far too large -------------------------------------------------------------------------

STATISTICS = (
    "UPDATE sqlite_stat1 SET stat = '9223372036854775807 1 1 1 1'",
    "UPDATE sqlite_stat1 SET stat = hex(zeroblob(20000000))",
    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
    "INSERT INTO sqlite_stat1 SELECT 'attempt', 'i' || i, '1 1 1 1 1 1 1 1' FROM n",
)


def far_too_large(run: Path) -> Iterator[Case]:
    """Packed twice, with bells; statistics of a ledger that lie; sheets beyond all sheets."""
    bells = gzip.compress(gzip.compress(b"\n" * 30_000_000) + BELLS.encode())
    ways: Mapping[str, Words] = {
        "import": ("stimuli", "import", "jsonl", "a.jsonl.gz", "--map", "prompt=question",
                   "--map", "text=answer", "--axis", "score_order", "--out", "o.jsonl"),
        "look": ("inspect-log", "a.jsonl.gz"),
        "take in": ("ingest", "a.jsonl.gz", "--out", "run", "--no-pdf"),
    }  # fmt: skip
    for words in ways.values():
        yield Case([words], _content("a.jsonl.gz", bells), code=1)
    for change in STATISTICS:

        def lay(place: Place, change: str = change) -> None:
            shutil.copytree(run, place.folder / "run")
            with closing(sqlite3.connect(place.folder / "run" / "ledger.sqlite")) as db, db:
                db.executescript(f"ANALYZE; {change}")

        yield Case([MEASURE, ("doctor", "run")], lay, code=0)
    for words in (("gate", "s.json", "--policy", "scoring"), ("verify", "s.json")):

        def grow(place: Place) -> None:
            sheet = json.loads(to_json(plausible()))
            sheet["axes"][0]["caveats"] = ["x y " * 100] * (LARGEST_SHEET // 300)
            place.write("s.json", json.dumps(sheet))

        yield Case([words], grow, code=1)

    def many(place: Place, count: int = MOST_PARTS_OF_A_SHEET) -> None:
        sheet = json.loads(to_json(plausible()))
        axis = sheet["axes"][0]
        name, finding = axis["name"], axis["findings"][0]
        axis["findings"] = [{**finding, "text": f"{name} {n}"} for n in range(count)]
        place.write("datasheet.json", json.dumps(sheet))

    for count in (MOST_PARTS_OF_A_SHEET, MOST_PARTS_OF_A_SHEET // 4):
        words = ("render", "datasheet.json", "--to", "pdf")
        yield Case([words], partial(many, count=count), code=1)


CLASSES: Mapping[str, Callable[[Path], Iterable[Case]]] = {
    "tables to correct": lambda _: corrected(),
    "sheets to verify": verified,
    "replies of earlier runs": earlier,
    "pages of one's own": lambda _: pages(),
    "access of one's own, and a clock that jumps": lambda _: own_code(),
    "packed twice, lying statistics, sheets beyond all": far_too_large,
}
