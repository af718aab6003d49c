"""Every surface says what was decided: the same verdict, counts, void axes and deciding figure.

What `datasheet.json` says is read back from its text, so that no surface is compared with itself.
"""

import ast
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import judgesheet
from judgesheet.base.datasheet import WORST, to_json
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Datasheet
from judgesheet.cli import main
from judgesheet.commands.reporting import report
from judgesheet.commands.sheets import Run
from judgesheet.decide import EXIT_CODES
from judgesheet.decide.compare import compare
from judgesheet.sheet import comparison, model_card, render, show, terminal, verdicts
from judgesheet.sheet.context import DECISIONS
from tests.decide.cases import (
    CASES,
    SCORES,
    Case,
    case,
    limit,
    text_of_schema_1_3,
)
from tests.sheet.pdf_text import page_texts

SHEET = Path(judgesheet.__file__).parent / "sheet"
WORDS = {
    "adopt": "ADOPT",
    "conditions": "ADOPT ONLY IF",
    "reject": "DO NOT ADOPT",
    "not_proven": "MEASURE MORE",
    None: "NO POLICY APPLIED",
}
STATUSES = {"pass", "fail", "inconclusive", "invalid"}
NAMED = {"pass": "kept", "fail": "broken", "inconclusive": "not proven", "invalid": "not usable"}
PASSES = {"adopt": 0, "conditions": 0, "reject": 3, "not_proven": 4}


def squashed(text: str) -> str:
    """Words without what a surface puts between and around them: spaces, escapes, kinds of dash."""
    text = unescape(text).replace("\N{MINUS SIGN}", "-").replace("\N{ZERO WIDTH SPACE}", "")
    return re.sub(r"[\s\\`*]", "", text)


@dataclass(frozen=True)
class Facts:
    """What `datasheet.json` says."""

    data: dict[str, Any]

    @property
    def decision(self) -> dict[str, Any]:
        return self.data["decision"] or {}

    @property
    def verdict(self) -> str | None:
        return self.decision.get("verdict")

    @property
    def counts(self) -> str:
        """The sentences that count limits by how they came out."""
        kinds = {"required": "Limits that must be kept", "warning": "Limits that need not be"}
        reported = {
            name: ", ".join(
                f"{self.decision[kind][status]} {word}"
                for status, word in NAMED.items()
                if status in self.decision[kind]
            )
            for kind, name in kinds.items()
        }
        return " ".join(f"{name}: {words}." for name, words in reported.items() if words)

    @property
    def void(self) -> dict[str, str]:
        """Reasons by the name of the axis."""
        return {
            axis["name"]: axis["invalid"]
            for axis in self.data["axes"]
            if axis["invalid"] is not None
        }

    @cached_property
    def statuses(self) -> dict[str, str]:
        """What every figure means."""
        return {
            estimate["key"]: self._status(axis, estimate["key"])
            for axis in self.data["axes"]
            for estimate in axis["estimates"]
        }

    def _status(self, axis: dict[str, Any], key: str) -> str:
        if axis["invalid"] is not None or key in {**axis["voided"], **axis["unearned"]}:
            return "invalid"
        limits = [one["status"] for one in self.data["verdicts"] if one["key"] == key]
        effects = [one["verdict"] for one in axis["effects"] if one["key"] == key]
        return next((one for one in WORST if one in limits), (*effects, "")[0])

    @property
    def deciding(self) -> str:
        return str(self.decision.get("limiting", ""))

    @property
    def role(self) -> str:
        return show.ROLES[self.decision["because"]]


def facts_of(sheet: Datasheet) -> Facts:
    return Facts(json.loads(to_json(sheet)))


# -- what the surfaces print -----------------------------------------------------------------------


def pdf(sheet: Datasheet) -> str:
    """All pages, after page one was seen to lead with what makes an axis void."""
    pages = page_texts(render(sheet, "pdf"))
    page_one = squashed(pages[0]).casefold()
    for why in facts_of(sheet).void.values():
        assert squashed(why).casefold() in page_one
    return "\n".join(pages)


def html(sheet: Datasheet) -> str:
    return without_tags(render(sheet, "html").decode())


def without_tags(page: str) -> str:
    return re.sub(r"<(style|script|svg|title)\b.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)


def markdown(sheet: Datasheet) -> str:
    return render(sheet, "md").decode()


def junit(sheet: Datasheet) -> str:
    root = ElementTree.fromstring(render(sheet, "junit"))
    return str(next(root.iter("system-out")).text)


def step_summary(sheet: Datasheet) -> str:
    return verdicts.as_markdown(sheet)


BANNER = {"html": html, "markdown": markdown}
"""Surfaces besides the PDF with the verdict in capitals and the deciding figure by its label."""
LINES = {"junit": junit, "step summary": step_summary}
"""Surfaces with the summary line by line, and the deciding figure by its key."""
HOLDS_NOT = re.compile(
    r"Notusable\(((?:(?!Notusable\().)*?)\):"
    r"(?:nothinginthisgroupholds|noneofthesefiguresholds|nothinghereholds)"
)


def banner_says(name: str, text: str, facts: Facts) -> None:
    """The facts on a surface with a banner."""
    flat = squashed(text)
    words = "|".join(sorted(map(squashed, WORDS.values()), key=len, reverse=True))
    assert set(re.findall(words, flat)) == {squashed(WORDS[facts.verdict])}, name
    assert set(HOLDS_NOT.findall(flat)) == {squashed(why) for why in facts.void.values()}, name
    for condition in facts.decision.get("conditions", ()):
        assert squashed(condition["text"]).removesuffix(".") in flat, name


def lines_say(name: str, text: str, facts: Facts) -> None:
    """The facts on a surface of lines."""
    flat = squashed(text)
    assert squashed(facts.decision["text"]) in flat, name
    assert squashed(facts.counts) in flat, name
    void = re.findall(r"Not usable: (\w+), (.*)\.", text.replace("\\", ""))
    assert {axis: squashed(why) for axis, why in void} == {
        axis: squashed(why) for axis, why in facts.void.items()
    }, name
    deciding = [line for line in flat_lines(text) if line.startswith(tuple(roles()))]
    expected = squashed(f"{facts.role}: {facts.deciding}.") if facts.deciding else ""
    assert deciding == ([expected] if expected else []), name


def flat_lines(text: str) -> list[str]:
    return [squashed(line).removeprefix("-") for line in text.splitlines()]


def roles() -> list[str]:
    return [squashed(f"{role}:") for role in show.ROLES.values()]


# -- the tests -------------------------------------------------------------------------------------


def judged(name: str) -> tuple[Datasheet, Facts]:
    sheet = case(name).judged
    return sheet, facts_of(sheet)


def test_there_are_enough_cases_and_every_outcome_is_among_them() -> None:
    sheets = [judged(name)[0] for name in CASES]
    assert len(sheets) >= 20
    assert {one.decision.verdict if one.decision else None for one in sheets} == WORDS.keys()
    assert {one.status for sheet in sheets for one in sheet.verdicts} == STATUSES
    assert EXIT_CODES == PASSES
    because = {sheet.decision.because for sheet in sheets if sheet.decision}
    assert because == show.ROLES.keys()


@pytest.mark.parametrize("name", CASES)
def test_pages_say_what_was_decided(name: str) -> None:
    sheet, facts = judged(name)
    for surface, text in BANNER.items():
        banner_says(surface, text(sheet), facts)


def test_the_pdf_says_what_was_decided() -> None:
    """One case of each verdict and a void axis: setting type costs most, and pages share words."""
    seen: set[Any] = set()
    for sheet, facts in map(judged, CASES):
        if not {facts.verdict, bool(facts.void)} <= seen:
            seen |= {facts.verdict, bool(facts.void)}
            banner_says("pdf", pdf(sheet), facts)


@pytest.mark.parametrize("name", CASES)
def test_lines_say_what_was_decided(name: str) -> None:
    sheet, facts = judged(name)
    if facts.verdict is None:
        with pytest.raises(UsageError):
            render(sheet, "junit")
        return
    for surface, text in LINES.items():
        lines_say(surface, text(sheet), facts)


@pytest.mark.parametrize("name", CASES)
def test_the_model_card_says_what_was_decided(name: str) -> None:
    sheet, facts = judged(name)
    card = model_card.section(sheet)
    flat = squashed(card)
    assert set(HOLDS_NOT.findall(flat)) == {squashed(why) for why in facts.void.values()}
    if facts.verdict is None:
        assert squashed("No policy was applied") in flat
        return
    assert f"**{WORDS[facts.verdict]}**" in card
    assert squashed(facts.decision["text"]) in flat


@pytest.mark.parametrize("name", CASES)
def test_tables_mark_every_figure_alike(name: str) -> None:
    sheet, facts = judged(name)
    rows = csv.DictReader(io.StringIO(render(sheet, "csv").decode()))
    assert {row["key"]: row["status"] for row in rows} == facts.statuses
    for axis in facts.void:
        mine = {status for key, status in facts.statuses.items() if key.startswith(f"{axis}.")}
        assert mine <= {"invalid"}


@pytest.mark.parametrize("name", CASES)
def test_standard_output_says_what_was_decided(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet, facts = judged(name)
    report(Run(tmp_path, sheet), as_json=False)
    out = capsys.readouterr().out
    first, *_ = lines = out.splitlines()
    assert len(lines) <= terminal.LINES
    # A command that is to be pasted holds the whole path of the run.
    assert all(len(line) <= terminal.WIDTH for line in lines if str(tmp_path) not in line)
    if facts.verdict is not None:
        assert first.startswith(f"{' '.join(DECISIONS[facts.verdict][:2])}:")
        # Of axes that one failed control makes void, the reason stands once.
        flat = squashed(out).casefold()
        assert all(squashed(axis.title).casefold() in flat for axis in sheet.axes if axis.invalid)
        assert not facts.void or any(squashed(w).casefold() in flat for w in facts.void.values())
    report(Run(tmp_path, sheet), as_json=True)
    assert json.loads(capsys.readouterr().out) == facts.data


@pytest.mark.parametrize("name", CASES)
def test_junit_and_the_gate_end_alike(name: str) -> None:
    sheet, facts = judged(name)
    if facts.verdict is None:
        return
    cases = [*ElementTree.fromstring(render(sheet, "junit")).iter("testcase")]
    decision = next(one for one in cases if one.get("name") == "decision")
    code = PASSES[facts.verdict]
    assert (code == 0) == (not len(decision))
    assert {"reject": "failure", "not_proven": "error"}.get(facts.verdict, "") == (
        decision[0].tag if len(decision) else ""
    )
    tags = {"pass": "", "fail": "failure", "inconclusive": "error", "invalid": "error"}
    expected: Counter[str] = Counter()
    for kind in ("required", "warning"):
        for status, number in facts.decision[kind].items():
            skipped = kind == "warning" and status == "inconclusive"
            expected["skipped" if skipped else tags[status]] += number
    others = Counter(one[0].tag if len(one) else "" for one in cases if one is not decision)
    assert others == +expected


@pytest.mark.parametrize("name", CASES)
def test_annotations_stop_exactly_what_the_gate_stops(name: str) -> None:
    sheet, facts = judged(name)
    if facts.verdict is None:
        return
    lines = list(verdicts.annotations(sheet))
    of_decision = [line for line in lines if "title=judgesheet%3A decision::" in line]
    assert len(of_decision) == (PASSES[facts.verdict] != 0)
    assert all(squashed(facts.decision["text"]).replace("%", "%25") in squashed(line)
               for line in of_decision)  # fmt: skip
    if PASSES[facts.verdict] == 0:
        assert not any(line.startswith("::error") for line in lines)
    reported = [f"judgesheet%3A {one.key}".replace(",", "%2C") for one in sheet.verdicts
            if one.status != "pass"]  # fmt: skip
    assert [
        line.split("title=")[1].split("::")[0] for line in lines if line not in of_decision
    ] == reported


@pytest.mark.parametrize("name", CASES)
def test_a_comparison_takes_no_verdict_from_what_is_void(name: str) -> None:
    sheet, facts = judged(name)
    made = compare(sheet, sheet, force=True)
    void = {key for axis in sheet.axes for e in axis.estimates if axis.void_reason(key := e.key)}
    assert {row.key for row in made.differences if row.verdict == "void"} == void
    for form in ("md", "html", "json"):
        flat = squashed(comparison.render([made], form, "a4").decode())
        assert all(squashed(why) in flat for why in facts.void.values()), form
    assert json.loads(comparison.render([made], "json", "a4"))[0]["void"] == len(void)


# -- the commands ----------------------------------------------------------------------------------


def gate(folder: Path, one: Case, *more: str, **env: str) -> Result:
    (folder / "datasheet.json").write_text(to_json(one.sheet), encoding="utf-8")
    (folder / "mine.toml").write_text(one.policy, encoding="utf-8")
    words = ["gate", str(folder), "--policy", str(folder / "mine.toml"), *more]
    return CliRunner(env={"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": "", **env}).invoke(
        main, words
    )


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith(("no ", "schema"))])
def test_the_gate_decides_what_the_sheet_says(name: str, tmp_path: Path) -> None:
    one, (sheet, facts) = case(name), judged(name)
    assert facts.verdict is not None
    summary, xml = tmp_path / "summary.md", tmp_path / "junit.xml"
    done = gate(tmp_path, one, "--junit", str(xml), GITHUB_ACTIONS="1",
                GITHUB_STEP_SUMMARY=str(summary))  # fmt: skip
    assert done.exit_code == PASSES[facts.verdict], done.output
    annotated = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotated == list(verdicts.annotations(sheet))
    table = done.stdout.split("::error")[0].split("::warning")[0]
    assert table.splitlines() == terminal.lines(sheet)
    assert summary.read_text(encoding="utf-8") == f"{verdicts.as_markdown(sheet)}\n"
    assert xml.read_bytes() == render(sheet, "junit")
    content = json.loads(gate(tmp_path, one, "--json").stdout)
    assert content["decision"] == facts.decision
    assert content["verdicts"] == facts.data["verdicts"]
    assert content["invalid"] == facts.void
    assert content["exit_code"] == done.exit_code


def test_a_sheet_of_schema_1_3_is_decided_when_it_is_read(tmp_path: Path) -> None:
    """Its `passed` becomes a status, and what a control makes void is void."""
    cut = case("schema 1.3, cut").sheet
    path = tmp_path / "datasheet.json"
    path.write_text(text_of_schema_1_3(cut), encoding="utf-8")
    read = judgesheet.load(path)
    assert read.schema_version == cut.schema_version
    assert read == cut
    assert {one.status for one in read.verdicts if one.key.startswith(SCORES)} == {"invalid"}


def test_a_probe_prints_what_its_datasheet_says(tmp_path: Path) -> None:
    """A real run, cut by its budget, under a policy that names one axis more than was asked."""
    rules = tmp_path / "mine.toml"
    rules.write_text(limit(f"{SCORES}.cramers_v", 0.9), encoding="utf-8")
    for budget, void in ((), False), (("--max-calls", "10"), True):
        out = tmp_path / f"run-{len(budget)}"
        words = ["probe", "--model", "sim/fair", "--axis", SCORES, "--profile", "first", *budget,
                 "--policy", str(rules), "--out", str(out), "--quiet", "--no-pdf"]  # fmt: skip
        done = CliRunner().invoke(main, words)
        facts = Facts(json.loads((out / "datasheet.json").read_text(encoding="utf-8")))
        assert facts.verdict is not None
        assert done.stdout.startswith(f"{' '.join(DECISIONS[facts.verdict][:2])}:")
        assert bool(facts.void) == void


# -- printing decides nothing ----------------------------------------------------------------------


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SHEET.rglob("*.py")):
        yield path.relative_to(SHEET).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


MAY_IMPORT = {
    "comparison.py": {"Agreed", "Comparison", "Difference"},
}
"""Records of stage `decide` that are printed and are no part of a datasheet."""


def test_nothing_that_prints_calls_a_rule() -> None:
    for name, source in sources():
        for node in ast.walk(source):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {one.name for one in node.names}
                paths = {f"{getattr(node, 'module', '')}.{one}".strip(".") for one in names}
                if any(path.startswith("judgesheet.decide") for path in paths):
                    assert names <= MAY_IMPORT.get(name, set()), name


BOUNDS = {"bound", "bounds", "low", "high", "least", "most", "value", "observed", "margin"}


def mentioned(node: ast.AST) -> set[str]:
    """Names and attributes in an expression."""
    return {
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute | ast.Name)
    }


def test_nothing_that_prints_compares_a_bound_with_a_limit() -> None:
    ordered = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    for name, source in sources():
        for node in ast.walk(source):
            if isinstance(node, ast.Compare) and any(isinstance(op, ordered) for op in node.ops):
                sides = [mentioned(side) for side in (node.left, *node.comparators)]
                limited = [side for side in sides if "limit" in side]
                others = [side for side in sides if "limit" not in side]
                fault = any(limited) and any(side & BOUNDS for side in others)
                assert not fault, f"{name}:{node.lineno} holds a figure against a limit"
