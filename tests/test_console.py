"""Every console block of the pages runs, in the order in which a reader comes to it.

A page may say in comments what the test needs beside it:

    <!-- file: mine.j2 -->        the next fence is this file
    <!-- file: old.csv            so is the rest of the comment
    a,b -->
    <!-- try: NAME => tiny        from here on, this stands for that ($SERVER is a loopback server)
    $ cp "$ROOT/examples/policy.toml" . -->         and this is run, unseen
    <!-- needs: a.jsonl.gz -->    a public log, beside the page; without it the page is skipped

Commands of judgesheet run in this process with the smallest profile; others in a shell. What would
install or build something is only looked up.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import run
from tests.judges.loopback import Answer, Request, completion, serving
from tests.simulate import SHARED

ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FENCE = "```console\n"
PAGES = [
    page
    for page in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
    if FENCE in page.read_text(encoding="utf-8")
]
PART = re.compile(
    r"^<!-- file: (?P<name>\S+)\s*?(?:\n(?P<hidden>.*?))?-->$"
    r"|^<!-- try: (?P<notes>.*?)-->$"
    r"|^<!-- needs: (?P<logs>.*?) -->$"
    r"|^```(?P<kind>\S*)\n(?P<shown>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
DECIDED = {"gate": {0, 3, 4}, "verify": {0, 3, 4}, "init": {0, 1}, "ingest": {0, 5}}
"""Exit codes that answer a question; every other command must end well."""


@dataclass(frozen=True)
class File:
    """A file that a page shows, or needs."""

    name: str
    text: str


@dataclass(frozen=True)
class Log:
    """A public log that a page needs."""

    name: str


@dataclass(frozen=True)
class Command:
    """A line to run, and what the page says that it prints."""

    line: str
    printed: tuple[str, ...] = ()


def steps(page: str) -> Iterator[File | Log | Command]:
    """What a page has its reader do."""
    swaps: dict[str, str] = {}
    awaited = ""
    for part in PART.finditer(page):
        if part["notes"] is not None:
            for note in part["notes"].strip().splitlines():
                if note.startswith("$ "):
                    yield Command(note[2:])
                else:
                    part_of_line, meant = note.split(" => ")
                    swaps[part_of_line] = meant
        elif part["logs"]:
            yield from map(Log, part["logs"].split())
        elif part["name"] and part["hidden"] is not None:
            yield File(part["name"], part["hidden"])
        elif part["name"]:
            awaited = part["name"]
        elif awaited:
            yield File(awaited, part["shown"])
            awaited = ""
        elif part["kind"] == "console":
            yield from commands(part["shown"], swaps)


def commands(block: str, swaps: dict[str, str]) -> Iterator[Command]:
    """The commands of a block, each with the lines below it where it runs as it stands."""
    for chunk in re.split(r"(?m)^\$ ", block.replace("\\\n", ""))[1:]:
        shown, *printed = chunk.splitlines()
        line = shown
        for part, meant in swaps.items():
            line = line.replace(part, meant)
        yield Command(line, tuple(printed) if line == shown else ())


def words_of(line: str) -> list[str]:
    """The words of a command; what would take long is made short."""
    words = shlex.split(line, comments=True)
    name = words[1] if words[0] == "judgesheet" else ""
    if name in ("probe", "plan"):
        words += ["--profile", "smoke"]
        words += [] if "--axis" in words else ["--axis", "candidate_order"]
    if name in ("probe", "measure", "ingest"):
        words += ["--no-pdf", "--no-cases"]
    return words


def globbed(word: str, place: Path) -> list[str]:
    """What a shell makes of a word with a star."""
    found = sorted(place.glob(word)) if "*" in word else []
    return [str(one.relative_to(place)) for one in found] or [word]


def perform(command: Command, place: Path, environment: dict[str, str]) -> str:
    """What the command prints."""
    line = command.line.replace("$SERVER", environment["SERVER"])
    match words_of(line):
        case ["judgesheet", name, *rest]:
            *rest, file = [*rest, ""] if ">" not in rest else [*rest[:-2], rest[-1]]
            rest = [found for word in rest for found in globbed(word, place)]
            done = run(name, *rest, cwd=place, **environment)
            assert done.returncode in DECIDED.get(name, {0}), f"{line}: {done.stderr}"
            if file:
                (place / file).write_text(done.stdout, encoding="utf-8")
            return done.stdout
        case ["make", target, *_]:
            assert re.search(rf"(?m)^{target}:", (ROOT / "Makefile").read_text()), target
        case ["pip", "install", *packages]:
            named = re.findall(r"judgesheet\[(\w+)\]|\.\[(\w+)\]", " ".join(packages))
            assert {extra for pair in named for extra in pair if extra} <= EXTRAS.keys(), line
        case ["export", setting]:
            name, _, value = setting.partition("=")
            environment.setdefault(name, value.replace("…", "of-a-test"))
        case _:
            paths = {
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "PYTHONPATH": str(ROOT),
            }
            shell = ["bash", "-euc", line]
            subprocess.run(shell, cwd=place, env={**environment, **paths}, check=True)
    return ""


def judged(request: Request, _number: int) -> Answer:
    """A judge that is content with everything, in the form that is asked for."""
    words = request.words
    if labels := re.findall(r'\{"label": "(\w)"', words):
        marks = '"score": 50, "rationale": "", "major_error": false'
        flags = '"hallucinated_specificity": false, "calibrated_uncertainty": true'
        each = ", ".join(f'{{"label": "{label}", {marks}, {flags}}}' for label in labels)
        return completion(f'{{"candidates": [{each}]}}')
    if '"winner"' in words:
        return completion('{"winner": "tie"}')
    if "in square brackets" in words:
        names = re.findall(r"(?m)^### (.+)$", words)
        return completion("\n".join(f"[{name}] 3" for name in names))
    return completion("Final grade: 3" if "Final grade" in words else "It fits.\n[RESULT] 3")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving(judged) as running:
        yield running.base_url


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_to_type_works(
    page: Path, tmp_path: Path, server: str, request: pytest.FixtureRequest
) -> None:
    if page.name == "own-pages.md":
        request.getfixturevalue("pango")
    address = {"SERVER": server, "OPENAI_BASE_URL": server}
    environment = {"ROOT": str(ROOT), "OPENAI_API_KEY": "sk-of-a-test", **address}
    for step in steps(page.read_text(encoding="utf-8")):
        if isinstance(step, File):
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
            continue
        if isinstance(step, Log):
            if not (log := SHARED / "data" / step.name).is_file():
                pytest.skip(f"{step.name} is not beside this checkout")
            (tmp_path / step.name).symlink_to(log)
            continue
        printed = " ".join(perform(step, tmp_path, environment).split())
        for line in step.printed:
            for piece in filter(None, line.split("…")):
                assert " ".join(piece.split()) in printed, f"{step.line}: no {piece!r}"


def test_a_command_that_fails_is_seen(tmp_path: Path, server: str) -> None:
    page = f"{FENCE}$ judgesheet explain score_order.no_such\n```\n"
    (step,) = steps(page)
    assert isinstance(step, Command)
    with pytest.raises(AssertionError, match="there is no figure"):
        perform(step, tmp_path, {"SERVER": server})


def test_comments_and_output_are_read() -> None:
    page = (
        "<!-- file: a.csv\nx,y -->\n\n<!-- file: b.j2 -->\n\nText\n\n```jinja\n{{ x }}\n```\n"
        "<!-- try: NAME => tiny\n$ cp a.csv b.csv -->\n\n"
        "```console\n$ judgesheet plan --model openai/NAME \\\n  --json\n"
        "12 calls\n$ judgesheet explain\na.figure\n```\n"
    )
    assert list(steps(page)) == [
        File("a.csv", "x,y "),
        File("b.j2", "{{ x }}\n"),
        Command("cp a.csv b.csv"),
        Command("judgesheet plan --model openai/tiny   --json"),
        Command("judgesheet explain", ("a.figure",)),
    ]
