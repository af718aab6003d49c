"""Hostile input by class: what is laid into an empty folder, and the commands that meet it there.

Attacks are those of `tests/`; this module puts each in every place where somebody can write.
"""

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import cycle, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyarrow import parquet

from judgesheet import list_stimuli
from judgesheet.axes import get_axis, prompt
from judgesheet.base.datasheet import to_json
from judgesheet.base.limits import LONGEST_LINE
from judgesheet.base.records import Datasheet, Recommendation, Statement, Verdict
from judgesheet.sheet.model_card import BEGIN, END
from tests.hostile.test_endless_templates import ENDLESS
from tests.hostile.test_foreign_folder import journal_naming
from tests.hostile.test_limits import TOO_LARGE
from tests.hostile.test_pages import PAINT
from tests.hostile.test_secrets import FIELD, KEY, NESTED, PASSWORD, QUERY, TOKEN
from tests.hostile.test_terminal import EVIL
from tests.sheet.sheets import ATTACKS, AXIS, hostile, plausible
from torture.processes import judgesheet

Words = Sequence[str]
DEEP = "[" * 5000 + "]" * 5000
FORMATS = ("--to", "html", "--to", "md", "--to", "csv", "--to", "model-card")
SOMEONE = f"//someone:{quote(PASSWORD, safe='')}@"
QUICK = ("--profile", "smoke", "--no-pdf", "--quiet")
GRADING = ("--axis", "score_order", *QUICK)
SIM = ("probe", "--model", "sim/fair", *GRADING, "--out", "run")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case takes place: its own folder, files beside it that are nobody's, two servers.

    `judge` is the base URL of a server that says what the model's name tells it to; whoever fetches
    `canary` is heard.
    """

    folder: Path
    mine: Path
    judge: str
    canary: str

    def write(self, name: str, content: str | bytes) -> None:
        """A file of the case."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content.encode("utf-8", "replace") if isinstance(content, str) else content
        path.write_bytes(text)


Lay = Callable[[Place], object]
"""Puts the input of a case into its place."""


def _file(name: str, content: str | bytes) -> Lay:
    return lambda place: place.write(name, content)


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile input, or several that one command meets; wrong use, exit 2, would meet nothing.

    `{judge}` in a word is filled in, `{someone}` is the same address with a name and a password.
    `code` is that which the last command must end with, None for any of the contract but 2, unless
    it is the words that `are_hostile`.
    """

    commands: Sequence[Words]
    lay: Lay = lambda _: None
    inputs: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    code: int | None = None
    are_hostile: bool = False


def attacks(canary: str) -> list[str]:
    """Texts that a page, a table, a terminal, a log or a template engine would obey."""
    return [
        *(attack.format(url=canary) for attack in ATTACKS),
        EVIL,
        PAINT,
        BEGIN,
        END,
        "x" * 100_000,
    ]


COUNT = len(attacks(""))


def _can_be_read(text: str) -> bool:
    """Whether it holds no half of a surrogate pair, for which a whole file would be refused."""
    return text.encode("utf-8", "ignore").decode() == text


def _some(step: int, *parts: Iterable[Any]) -> list[tuple[Any, ...]]:
    """One in so many of all combinations: each part meets each other somewhere."""
    return list(product(*parts))[::step]


# -- replies -------------------------------------------------------------------------------------

SAID = (
    *("[RESULT] 3\n" * 20_000, DEEP, '{"score":' * 5000, "<think>" * 20_000, "9" * 100_000),
    *(
        "[RESULT] " + "9" * 5000,
        '{"score": 1e999}',
        '{"winner": "1", "winner": "2"}',
        "\x00" * 1000,
    ),
    *("[RESULT] ٣", '{"candidates": [' + "{}," * 10_000 + "]}", "[" * 100_000, "`" * 100_000),
)


def replies() -> Iterator[Case]:
    """What a judge says, to every axis; in half of the runs a verdict follows each attack."""
    said = COUNT + len(SAID)
    for axis, model in product(list_stimuli(), ("says", "says-and-decides")):
        asked = ("--model", f"openai-compatible/{model}", "--base-url", "{judge}", "--axis", axis)
        probe = ("probe", *asked, *QUICK, "--reply", "text", "--out", "run")
        gate = ("gate", "run", "--policy", "scoring", "--junit", "gate.xml")
        yield Case([probe, ("render", "run", *FORMATS), gate], inputs=said)


# -- stimuli and candidates ----------------------------------------------------------------------


@cache
def _stimulus(axis: str) -> str:
    return json.dumps(list_stimuli()[axis][0].fields)


def _with_everywhere(value: Any, attack: str) -> Any:
    """A record with an attack behind every text in it but names and ids."""
    if isinstance(value, dict):
        kept = {"id", "name", "gold", "level", "human"}
        return {k: v if k in kept else _with_everywhere(v, attack) for k, v in value.items()}
    if isinstance(value, list):
        return [_with_everywhere(part, attack) for part in value]
    return f"{value} {attack}" if isinstance(value, str) else value


def stimuli() -> Iterator[Case]:
    """Stimuli of every axis with an attack in each of their texts, and in their ids."""
    check = ("stimuli", "check", "own.jsonl", "--axis")
    for axis, number in _some(4, list_stimuli(), range(COUNT)):

        def lay(place: Place, axis: str = axis, number: int = number) -> None:
            attack, record = attacks(place.canary)[number], json.loads(_stimulus(axis))
            own = _with_everywhere(record, attack) if number % 4 else {**record, "id": attack}
            place.write("own.jsonl", json.dumps(own))

        plan = ("plan", "--model", "sim/fair", "--axis", axis, "--profile", "smoke")
        commands = [(*check, axis), (*plan, "--stimuli", "own.jsonl", "--out", "plan.jsonl")]
        if number % 6 == 1:
            commands = [
                (*SIM[:3], "--axis", axis, *QUICK, "--stimuli", "own.jsonl", "--out", "run")
            ]
        yield Case(commands, lay)


def candidates() -> Iterator[Case]:
    """Candidate sets: attacks in prompts, texts and ids; shapes that no set has."""
    decide = ("consensus", "sets.jsonl", "--model", "sim/fair", "--quiet", "--out", "run")

    def some(place: Place) -> None:
        lines = []
        for number, attack in enumerate(filter(_can_be_read, attacks(place.canary))):
            texts = [{"id": name, "text": f"{name} {attack}"} for name in "abc"]
            lines.append({"id": f"q{number}", "prompt": attack, "candidates": texts})
        place.write("sets.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    yield Case([decide], some, sum(map(_can_be_read, attacks(""))), code=0)
    texts = [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]
    for line in (
        {"id": EVIL, "prompt": "p", "candidates": texts},
        {"id": "q", "prompt": "p", "candidates": [{"id": EVIL, "text": "x"}, *texts]},
        {"id": "q", "prompt": 7, "candidates": texts},
        {"id": "q", "prompt": "p", "candidates": texts * 1000},
        {"id": "q", "prompt": "p", "candidates": {"a": EVIL}},
        {"id": "../../q", "prompt": "p", "candidates": texts},
        {"id": "q", "prompt": "p", "gold": [EVIL], "candidates": texts},
        {"id": "q", "prompt": "p", EVIL: 1, "candidates": texts},
    ):
        yield Case([decide], _file("sets.jsonl", json.dumps(line)))
    yield Case([decide], _file("sets.jsonl", DEEP))


# -- sheets --------------------------------------------------------------------------------------

Put = Callable[[Datasheet, str], Datasheet]


def _first(sheet: Datasheet, **fields: Any) -> Datasheet:
    return replace(sheet, axes=(replace(sheet.axes[0], **fields), *sheet.axes[1:]))


def _keyed(sheet: Datasheet, text: str) -> Datasheet:
    axis = sheet.axes[0]
    bare = "".join(letter for letter in text[:200] if letter not in "[]=,") or "x"
    named = replace(axis.estimates[0], key=f"{axis.name}.x[a={bare}]", label=text, note=text)
    return _first(sheet, estimates=(named, *axis.estimates))


def _titled(sheet: Datasheet, text: str) -> Datasheet:
    plots = tuple(replace(plot, title=text, x_label=text) for plot in sheet.axes[0].figures)
    return _first(sheet, figures=plots, title=text)


PLACES: Mapping[str, Put] = {
    "keys": _keyed,
    "titles": _titled,
    "findings": lambda sheet, text: _first(
        sheet, findings=(Statement(text, (), "bad"),), caveats=(text,), question=text
    ),
    "names": lambda sheet, text: replace(
        sheet, judge={**sheet.judge, "model": text, "served_models": {text: 3}}
    ),
    "times": lambda sheet, text: replace(
        sheet, run={**sheet.run, "ended_at": text, "profile": text}
    ),
    "advice": lambda sheet, text: replace(
        sheet,
        recommendations=(Recommendation(sheet.axes[0].name, text, ()),),
        verdicts=(Verdict(text, sheet.axes[0].estimates[0].key, 1.0, "broken", text),),
    ),
}


def sheets() -> Iterator[Case]:
    """Datasheets of other people: attacks in keys, titles, words, names and times."""
    for (name, put), number in _some(3, PLACES.items(), range(COUNT)):

        def lay(place: Place, put: Put = put, number: int = number) -> None:
            sheet = put(plausible(), attacks(place.canary)[number])
            place.write("datasheet.json", to_json(sheet))

        commands: list[Words] = [("render", "datasheet.json", *FORMATS)]
        if number % 3 == 0:
            commands = [
                ("gate", "datasheet.json", "--policy", "scoring", "--junit", "gate.xml"),
                ("compare", "datasheet.json", "datasheet.json", "--force", "--to", "md"),
            ]
        elif number % 7 == 1 and name in {"titles", "names"}:
            commands = [("render", "datasheet.json", "--to", "pdf")]
        yield Case(commands, lay)
    whole = [("render", "datasheet.json", *FORMATS, "--to", "pdf")]

    def everywhere(place: Place) -> None:
        sheet = hostile(place.canary)
        place.write("datasheet.json", to_json(_first(sheet, name=AXIS)))

    yield Case(whole, everywhere, 17, code=0)


NUMBERS = ("1" + "0" * 400, "1" + "0" * 5000, "9223372036854775809", "1e999", "-1e999", "NaN",
           "null", '"x"', "true", "[]", "{}", DEEP)  # fmt: skip


def broken_sheets() -> Iterator[Case]:
    """Datasheets that hold numbers, depths, dates or shapes that no sheet has."""
    fields = ('"n": ', '"planned": ', '"value": ', '"low": ')
    for mark, number in _some(2, fields, NUMBERS):

        def lay(place: Place, mark: str = mark, number: str = number) -> None:
            text = to_json(plausible())
            start = text.index(mark) + len(mark)
            end = min(text.index(",", start), text.index("\n", start))
            place.write("datasheet.json", text[:start] + number + text[end:])

        yield Case([("gate", "datasheet.json", "--policy", "scoring")], lay)
    for text in ("", "{", "[]", "7", '{"axes": 3}', "\x00", DEEP, '{"schema_version": "99"}'):
        lay_text = _file("datasheet.json", text)
        yield Case([("render", "datasheet.json", "--to", "md")], lay_text)


# -- policies, templates, parsers ----------------------------------------------------------------

POLICIES = (
    "",
    "[[limit]]",
    "x" * 100_000,
    "limit = " + "[" * 3000 + "]" * 3000,
    "max = " + "9" * 5000,
    'name = "a"\nname = "b"',
    '[[limit]]\nkey = "score_order.cramers_v"\nmax = nan\n',
    '[[limit]]\nkey = "score_order.cramers_v"\nmax = inf\nmin = -inf\n',
    '[[limit]]\nkey = "score_order.cramers_v"\nmax = "0.1"\n',
    '[[limit]]\nkey = "' + "a.b[" + "x=1," * 15_000 + ']"\nmax = 0.1\n',
    '[[limit]]\nkey = "../../etc/passwd"\nmax = 0.1\n',
    "[[limit]]\nkey = 7\nmax = 0.1\n",
    '[[limit]]\nkey = "score_order.cramers_v"\nmax = 1\nnot_proven = "ignore"\n',
    "a.b.c.d = 1\n" + "\n".join(f"k{n} = {n}" for n in range(20_000)),
    "\ufeff[[limit]]\n",
    "date = 0001-01-01T00:00:00+14:00",
)


def policies() -> Iterator[Case]:
    """Limits that somebody else wrote."""
    gate = ("gate", "datasheet.json", "--policy", "p.toml", "--junit", "gate.xml")

    def lay(text: str, place: Place) -> None:
        place.write("datasheet.json", to_json(plausible()))
        place.write("p.toml", text)

    for text in POLICIES:
        yield Case([gate], partial(lay, text))
    for number in range(COUNT):

        def attack(place: Place, number: int = number) -> None:
            quoted = json.dumps(attacks(place.canary)[number].encode("utf-8", "replace").decode())
            limit = 'key = "score_order.cramers_v"\nmax = 0.0001'
            lay(f"name = {quoted}\n[[limit]]\n{limit}\nwhy = {quoted}\n", place)

        yield Case([gate], attack, env={"GITHUB_ACTIONS": "true"})
    yield Case(
        [("gate", "datasheet.json", "--policy", "p.toml")],
        _file("datasheet.json", to_json(plausible())),
        code=2,
    )


TEMPLATES = (
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ prompt.__class__.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ lipsum.__globals__['os'].environ }}",
    "{% include 'MINE' %}",
    "{% import 'MINE' as x %}{{ x }}",
    "{% extends 'MINE' %}",
    "{{ namespace.__init__.__globals__ }}",
    "{% for a in range(10**9) %}x{% endfor %}",
    "{{ '%s' % prompt | attr('__class__') }}",
    "{{ '{0.__class__}'.format(prompt) }}",
    "{{ prompt | map(attribute='__class__') | list }}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "{{ undefined.x.y }}",
    "{{ prompt",
    "{% raw %}",
    "{{ [1] | sum(start='x') }}",
    "{% set x = [] %}{% for i in range(100) %}{{ x.append(x) }}{% endfor %}{{ x }}",
    "{{ url_for }}{{ config }}{{ request }}",
    "\x00" * 1000,
    "{# " + "x" * 1_000_000 + " #}",
)


def templates() -> Iterator[Case]:
    """Prompts that somebody else wrote, alone and before the built-in one."""
    plan = ("plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke")
    usual = prompt(get_axis("score_order"))
    for text, before in zip(TEMPLATES, cycle(("", usual)), strict=False):

        def lay(place: Place, text: str = text, before: str = before) -> None:
            told = text.replace("MINE", f"{os.path.relpath(place.mine, place.folder)}/keys")
            place.write("p.j2", before + told)

        commands = [(*plan, "--prompt", "score_order=p.j2", "--out", "plan.jsonl")]
        yield Case(commands, lay, env={"SECRET_KEY": KEY})


PARSERS = (
    "[verdict]\nregex = '(a+)+$(\\d)'\n",
    "[verdict]\nregex = '((((a{1,1000}){1,1000}){1,1000})\\d)'\n",
    "[verdict]\nregex = '('\n",
    "[verdict]\nregex = '(?P<x>\\d)(?P<y>\\d)'\n",
    "[verdict]\nregex = '(" + "a|" * 50_000 + "\\d)'\n",
    '[verdict]\npath = "$..*..*..*..*"\n',
    "[verdict]\njsonpath = \"$[?(@.a == __import__('os'))]\"\n",
    '[verdict]\njsonpath = "' + "$.a|" * 5000 + '$.a"\n',
    "[verdict]\nmodule = 'os'\n",
    "verdict = 7\n",
    "[verdict]\n[verdict]\n",
    "[verdict]\nregex = '(\\d)'\n[verdict.map]\n\"" + "x" * 100_000 + '" = 1\n',
    "\x00",
    "",
)


def parsers() -> Iterator[Case]:
    """Parsers that somebody else wrote, on replies that somebody else gave."""
    for text in PARSERS:
        probe = (*SIM[:-2], "--parser", "score_order=p.toml", "--out", "run")
        yield Case([probe], _file("p.toml", text))


# -- run directories -----------------------------------------------------------------------------

RUN_FILES = ("ledger.sqlite", "ledger.sqlite-journal", "ledger.sqlite-wal", "ledger.sqlite-shm",
             "judgments.parquet", "plan.jsonl", "datasheet.json", "datasheet.html",
             "datasheet.pdf")  # fmt: skip
MEASURE = ("measure", "run", "--no-pdf")


def directories(run: Path) -> Iterator[Case]:
    """Runs of other people in which files are links, pipes or folders, and journals name others."""
    ways: Mapping[str, Callable[[Place, Path], object]] = {
        "a link": lambda place, path: path.symlink_to(place.mine / "keys"),
        "a link to nothing": lambda place, path: path.symlink_to(place.mine / "new"),
        "a link to a folder": lambda place, path: path.symlink_to(place.mine),
        "a pipe": lambda _, path: os.mkfifo(path),
        "a hard link": lambda place, path: path.hardlink_to(place.mine / "keys"),
    }
    for number, (name, make) in enumerate(product(RUN_FILES, ways.values())):

        def lay(place: Place, name: str = name, make: Any = make) -> None:
            shutil.copytree(run, place.folder / "run")
            (place.folder / "run" / name).unlink(missing_ok=True)
            make(place, place.folder / "run" / name)

        commands = (
            [MEASURE],
            [SIM],
            [("gate", "run", "--policy", "scoring"), ("render", "run", "--to", "md")],
        )
        yield Case(commands[number % 3], lay)
    for words in (MEASURE, ("compare", "run", "run"), SIM, ("doctor", "run")):

        def name_another(place: Place) -> None:
            shutil.copytree(run, place.folder / "run")
            place.write("run/ledger.sqlite-journal", journal_naming(place.mine / "keys"))

        yield Case([words], name_another)

    def whole_is_link(place: Place) -> None:
        shutil.copytree(run, place.folder / "real")
        (place.folder / "real" / "judgments.parquet").unlink()
        (place.folder / "real" / "judgments.parquet").symlink_to(place.mine / "keys")
        (place.folder / "run").symlink_to(place.folder / "real")

    yield Case([MEASURE], whole_is_link)


def sweeps(run: Path) -> Iterator[Case]:
    """Folders of sweeps whose note points elsewhere, or is none."""
    notes = [
        *(
            {"knob": knob, "values": ["0", "1"]}
            for knob in ("../../mine", "x/../..", "/etc", "model")
        ),
        *(
            {"knob": "temperature", "values": v}
            for v in (["../../mine", "1"], "01", [], [0, 1], None)
        ),
        {"knob": EVIL, "values": ["0", "1"]},
        {"values": []},
        [],
    ]
    for note in notes:
        lay_note = _file("run/sweep.json", json.dumps(note))
        yield Case([MEASURE], lay_note)
    for text in ("", "{", DEEP, "\x00", "7"):
        yield Case([MEASURE], _file("run/sweep.json", text))

    def linked(place: Place) -> None:
        place.write("run/sweep.json", '{"knob": "temperature", "values": ["0", "1"]}')
        shutil.copytree(run, place.mine / "run", dirs_exist_ok=True)
        (place.folder / "run" / "01-temperature-0").symlink_to(place.mine / "run")

    yield Case([MEASURE], linked)


# -- recorded judgments, batches, tables ---------------------------------------------------------


def recorded() -> Iterator[Case]:
    """Recorded judgments whose fields are anything, and lines that are none."""
    cell = {"item": "s/a", "arm": "balanced", "scale": 3, "order": [1, 2, 3]}
    good = {"axis": "score_order", "stimulus": "s", "cell": cell, "repeat": 0, "verdict": 2}
    odd: list[Any] = [
        EVIL,
        DEEP,
        10**400,
        -1,
        True,
        None,
        [],
        {},
        [[1]],
        1.5,
        "\ud800",
        {"a": EVIL},
    ]
    lines = [json.dumps({**good, field: value}) for field, value in product(good, odd)]
    lines += [
        json.dumps({**good, "cell": {**cell, part: value}}) for part, value in product(cell, odd)
    ]
    lines += [json.dumps({"human": value}) for value in odd]
    lines += [f'{{"axis": {DEEP}}}', '{"verdict": 1e999}', "[]", "7", "{", "\x00", "9" * 5000]
    for line in lines[::4]:

        def lay(place: Place, line: str = line) -> None:
            place.write("log.jsonl", f"{json.dumps(good)}\n{line}\n")

        yield Case([("ingest", "log.jsonl", "--out", "run", "--no-pdf")], lay)


def batches() -> Iterator[Case]:
    """Answers of a batch whose fields are anything."""
    body = {"choices": [{"message": {"content": "[RESULT] 3"}}]}
    answer = {"custom_id": "", "response": {"status_code": 200, "body": body}}
    odd: list[Any] = [EVIL, 10**400, None, [], {}, "../../x", True]
    lines = [{**answer, name: value} for name, value in product(answer, odd)]
    lines += [
        {**answer, "response": {"status_code": 200, "body": {**body, "created": v}}}
        for v in (-5, "now", 10**400, 1e15)
    ]
    plan = ("plan", "--model", "openai/m", "--axis", "score_order", "--profile", "smoke")
    for line in lines:

        def lay(place: Place, line: dict[str, Any] = line) -> None:
            made = (*plan, "--out", "run/plan.jsonl", "--export-batch", "batch.jsonl")
            judgesheet(*made, here=place.folder)
            with (place.folder / "batch.jsonl").open() as requests:
                asked = json.loads(next(requests))["custom_id"]
            place.write("b.jsonl", json.dumps({**line, "custom_id": line["custom_id"] or asked}))

        yield Case([("ingest", "b.jsonl", "--out", "run", "--no-pdf")], lay)


def tables() -> Iterator[Case]:
    """Tables and packed files that are no tables, run away, or hold formulas and paths."""
    import pyarrow as pa
    from pyarrow import parquet

    def packed(table: Any) -> Lay:
        return lambda place: parquet.write_table(table, place.folder / "a.parquet")

    wide = pa.table({f"c{n}": [1] for n in range(2000)})
    long = pa.table({"question": pa.nulls(10_000_001, pa.string())})
    odd = pa.table({"question": [b"\xff\xfe"], "answer": [[{"a": 1}]]})
    head = b"question,answer\n"
    raw = {
        "a.csv": [b"", head, b"\x00\x01\xff", b"q" * 5_000_000, head + b'q,"a\n',
                  ",".join(f"c{n}" for n in range(300_000)).encode(), head + b"q,a,b,c\n",
                  head + b"=cmd|' /C calc'!A0," + EVIL.encode() + b"\n"],
        "a.jsonl": [b"", b"[1]", b"{", DEEP.encode(), b"\xff\xfe",
                    json.dumps({EVIL: EVIL}).encode(),
                    b'{"question": ' + b"9" * 5000 + b"}"],
        "a.jsonl.gz": [b"no gzip", gzip.compress(b"\n" * 30_000_000), gzip.compress(b"{}")[:-4],
                       gzip.compress(gzip.compress(b"{}"))],
        "a.parquet": [b"PAR1 no", b"PAR1" + b"\xff" * 1000 + b"PAR1", b""],
    }  # fmt: skip
    lays = [("a.parquet", packed(table)) for table in (wide, long, odd)]
    lays += [(name, _file(name, content)) for name, some in raw.items() for content in some]
    for name, lay in lays:
        kind = "parquet" if name.endswith("parquet") else "csv" if name.endswith("csv") else "jsonl"
        mapped = ("--map", "prompt=question", "--map", "text=answer", "--axis", "score_order")
        yield Case([("stimuli", "import", kind, name, *mapped, "--out", "o.jsonl")], lay)


# -- terminals, logs, cards ----------------------------------------------------------------------


def typed() -> Iterator[Case]:
    """What is typed or named, quoted in a complaint: on a terminal and in a workflow's log."""
    lines: list[Words] = [
        ("explain", EVIL), ("stimuli", "show", EVIL), ("stimuli", "show", "x", "--axis", EVIL),
        ("plan", "--model", EVIL), ("plan", "--model", "sim/fair", "--profile", EVIL),
        ("plan", "--model", "sim/fair", "--axis", EVIL), ("plan", "--model", f"sim/{EVIL}"),
        ("plan", "--model", "sim/fair", "--sweep", EVIL), ("doctor", "--model", f"local/{EVIL}"),
        ("plan", "--model", "sim/fair", "--extra-body", EVIL), ("measure", EVIL),
        ("plan", "--model", "sim/fair", "--policy", EVIL), ("doctor", "--model", EVIL),
        ("plan", "--model", "sim/fair", "--prices", EVIL),
        ("plan", "--model", "sim/fair", "--seed", EVIL),
        ("doctor", "--model", f"python/{EVIL}"),
        ("probe", "--model", "openai/x", "--api-key-env", EVIL),
        ("doctor", "--model", "openai-compatible/x", "--base-url", f"http://{EVIL}"),
        ("gate", EVIL, "--policy", "scoring"), ("render", EVIL, "--to", EVIL),
        (EVIL,), (f"--{EVIL}",),
        ("attach", EVIL, EVIL), ("stimuli", "import", EVIL, EVIL, "--out", "x"),
        ("probe", "--model", "sim/fair", "--parser", EVIL), ("compare", EVIL, EVIL),
        ("ingest", EVIL, "--out", "x"),
        ("plan", "--model", "sim/fair", "--axis", "score_order", "--prompt", f"score_order={EVIL}"),
    ]  # fmt: skip
    names = (
        "\x1b]0;title\x07.jsonl",
        "::error::x.jsonl",
        "##[group]x.jsonl",
        "a\nb.jsonl",
        "\u202ex.jsonl",
    )
    given: list[Case] = [
        Case(
            [("stimuli", "check", name, "--axis", "score_order")],
            _file(name, "{"),
        )
        for name in names
    ]
    # No argument of a process holds a NUL.
    bare = ([word.replace("\0", "") for word in line] for line in lines)
    yield from (Case([line], are_hostile=True) for line in bare)
    for case in given:
        yield case
        yield replace(case, env={"GITHUB_ACTIONS": "true"})


CARD = "---\nlicense: mit\n---\n# A judge\n\nWords.\n"
CARDS = (
    *(f"{CARD}{BEGIN}\n", f"{CARD}{END}\n{BEGIN}\n", f"{CARD}{BEGIN}\n{BEGIN}\n{END}\n", "---\n"),
    *("---\nmodel-index: [\n---\n", f"---\nx: &a [*a]\n---\n{CARD}", f"{BEGIN}{END}\n", "", EVIL),
    *("---\nmodel-index: 7\n---\n", f"---\n{'a: ' * 2000}1\n---\n", "\x00", CARD * 20_000),
    "---\n!!python/object/apply:os.system [id]\n---\n",
    "---\nlicense: mit\n# judgesheet:begin (model-index)\n---\nx\n# judgesheet:end\n",
)


def cards() -> Iterator[Case]:
    """Model cards of other people, and sheets that would write into them what is not theirs."""
    attach = [("attach", "card.md", "datasheet.json", "--metadata")] * 2
    for card in CARDS:

        def lay(place: Place, card: str = card) -> None:
            place.write("card.md", card)
            place.write("datasheet.json", to_json(plausible()))

        yield Case(attach[:1], lay)
    for (_, put), number in _some(13, PLACES.items(), range(COUNT)):

        def attack(place: Place, put: Put = put, number: int = number) -> None:
            place.write("card.md", CARD)
            place.write("datasheet.json", to_json(put(plausible(), attacks(place.canary)[number])))

        yield Case(attach[:1], attack)


# -- addresses and secrets -----------------------------------------------------------------------


def secrets() -> Iterator[Case]:
    """Secrets in every place that takes one, and a server that quotes all that it is sent."""
    query = f"?api-key={quote(QUERY, safe='')}"
    body = json.dumps({"api_key": FIELD, "metadata": [{"accessToken": NESTED}]})
    ways: list[Words] = [
        ("--base-url", "{judge}", "--api-key-env", "MY_KEY"),
        ("--base-url", "{judge}" + query),
        ("--base-url", "{judge}" + f"/{TOKEN}"),
        ("--base-url", "{someone}"),
        ("--base-url", "{judge}", "--extra-body", body),
        (
            "--base-url",
            "{judge}" + f"/{TOKEN}" + query,
            "--api-key-env",
            "MY_KEY",
            "--extra-body",
            body,
        ),
    ]
    models = ("parrot", "parrot-401", "parrot-500", "parrot-429", "parrot-page")
    for model, way in _some(2, models, ways):
        asked = ("--model", f"openai-compatible/{model}", *way, *GRADING, "--patience", "5")
        yield Case([("probe", *asked, "--out", "run")], env={"MY_KEY": KEY})
    for command, address in product(("doctor", "probe"), (
        f"http://someone:{PASSWORD}@127.0.0.1:9/v1", f"http://127.0.0.1:9/{TOKEN}", f"http://127.0.0.1:9/v1?k={QUERY}",
        f"ftp://someone:{PASSWORD}@x", f"http://someone:{PASSWORD}@[::1", f"{KEY}", f"http://{KEY}@",
    )):  # fmt: skip
        words = (command, "--model", "openai-compatible/m", "--base-url", address)
        yield Case(
            [(*words, *(("--axis", "score_order", "--quiet") if command == "probe" else ()))],
            are_hostile=True,
        )
    for typed_key in (KEY, TOKEN, f"{KEY} "):
        named = ("probe", "--model", "openai/x", "--api-key-env", typed_key)
        yield Case([named], are_hostile=True)
    proxied = (
        "probe",
        "--model",
        "openai-compatible/m",
        "--base-url",
        "http://judge.invalid/v1",
        *GRADING,
    )
    for proxy in (
        f"http://me:{PASSWORD}@127.0.0.1:9",
        f"me:{PASSWORD}@127.0.0.1:9",
        f"socks9://me:{PASSWORD}@x",
    ):
        yield Case([proxied], env={"http_proxy": proxy, "no_proxy": ""})


def sizes(run: Path) -> Iterator[Case]:
    """Texts, names and rows that are larger than what is read of a stranger."""
    for change, words in zip(
        TOO_LARGE.values(), cycle((MEASURE, SIM, ("doctor", "run"))), strict=False
    ):

        def grow(place: Place, change: str = change) -> None:
            shutil.copytree(run, place.folder / "run")
            with closing(sqlite3.connect(place.folder / "run" / "ledger.sqlite")) as db, db:
                db.execute(change)

        yield Case([words], grow)

    def wide(place: Place) -> None:
        rows = pa.table({"text": ["x" * (17 * LONGEST_LINE), "y"], "verdict": ["3", "4"]})
        parquet.write_table(rows, place.folder / "log.parquet")

    yield Case([("inspect-log", "log.parquet")], wide)
    plan = ("plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke")
    for text in ENDLESS.values():
        commands = [(*plan, "--prompt", "score_order=p.j2", "--out", "plan.jsonl")]
        yield Case(commands, _file("p.j2", text))


CLASSES: Mapping[str, Callable[[Path], Iterable[Case]]] = {
    "replies": lambda _: replies(),
    "stimuli": lambda _: stimuli(),
    "candidates": lambda _: candidates(),
    "keys, titles and words of a sheet": lambda _: sheets(),
    "numbers and shapes of a sheet": lambda _: broken_sheets(),
    "policies": lambda _: policies(),
    "templates": lambda _: templates(),
    "parsers": lambda _: parsers(),
    "run directories with links": directories,
    "folders of sweeps": sweeps,
    "recorded judgments": lambda _: recorded(),
    "batches": lambda _: batches(),
    "CSV, JSONL, Parquet and gzip": lambda _: tables(),
    "escapes and workflow commands": lambda _: typed(),
    "texts, names and templates without end": sizes,
    "model cards": lambda _: cards(),
    "addresses and secrets": lambda _: secrets(),
}
