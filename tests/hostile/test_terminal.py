"""What others wrote is printed as text: no escape reaches a terminal, no command a log."""

import ast
import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.base.datasheet import to_json
from judgesheet.base.records import (
    Condition,
    Datasheet,
    Decision,
    Verdict,
)
from judgesheet.base.sanitize import one_line, tame_json
from tests.command import run
from tests.sheet.sheets import plausible

EVIL = (
    "x\n::stop-commands::t\r::add-mask::a\u2028::x:: ##[add-mask]b ##vso[task.x]c "
    "\x1b[31m\x9b2J\u202e"
)
OBEYED = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
PACKAGE = Path(__file__).parents[2] / "judgesheet"


def printed(*words: str | Path, here: Path | None = None, **env: str) -> str:
    """Both streams of a command."""
    done = run(*words, cwd=here, **env)
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    return text


def assert_tame(text: str) -> None:
    assert not CONTROLS.search(text)
    assert not OBEYED.search(text)


@given(st.text() | st.text("\n\r\v :#[vso\x1b\x85"))
def test_any_text_is_one_line_that_nobody_obeys(text: str) -> None:
    line = one_line(text)
    assert len(f"{line}.".splitlines()) == 1
    assert_tame(line)


@given(st.text() | st.text("\n\r\v :#[vso\x1b\x85\U000e0001"))
def test_json_keeps_its_content(text: str) -> None:
    document = tame_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(document) == [text]
    assert_tame(document)


def test_one_module_prints() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "click.echo"}:
                assert path.name == "terminal.py", f"{path}:{node.lineno}"


def hostile_sheet() -> Datasheet:
    sheet = plausible()
    axis = replace(sheet.axes[0], title=EVIL)
    key = next(iter(asdict(sheet)["axes"][0]["estimates"]))["key"]
    verdict = Verdict(EVIL, key, 1.0, "fail", EVIL)
    return replace(
        sheet,
        judge=replace(sheet.judge, model=EVIL),
        axes=(axis, *sheet.axes[1:]),
        verdicts=(verdict,),
        decision=Decision("conditions", EVIL, key, EVIL, (Condition(EVIL),)),
        recommendations=(Condition(EVIL),),
    )


@pytest.mark.parametrize("form", ["md", "json"])
def test_comparing_hostile_sheets(tmp_path: Path, form: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(to_json(hostile_sheet()))
    assert_tame(printed("compare", file, file, "--force", "--to", form))


def test_a_gate_on_a_hostile_sheet_sends_its_own_commands_only(tmp_path: Path) -> None:
    file, policy = tmp_path / "a.json", tmp_path / "p.toml"
    file.write_text(to_json(hostile_sheet()))
    quoted = json.dumps(EVIL)
    policy.write_text(
        f'name = {quoted}\n[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.0001\nwhy = {quoted}\n'
    )
    for more in ((), ("--json",)):
        text = printed("gate", file, "--policy", policy, *more, GITHUB_ACTIONS="true")
        own = [line for line in text.splitlines() if line.startswith(("::error title=judgesheet",))]
        others = "\n".join(line for line in text.splitlines() if line not in own)
        assert_tame(others)


@pytest.mark.parametrize(
    "words",
    [
        ("explain", EVIL),
        ("stimuli", "show", EVIL),
        ("stimuli", "show", "x", "--axis", EVIL),
        ("plan", "--model", EVIL),
        ("plan", "--model", "sim/fair", "--profile", EVIL),
        ("plan", "--model", "sim/fair", "--axis", EVIL),
        ("plan", "--model", "sim/fair", "--sweep", EVIL),
        ("plan", "--model", "sim/fair", "--extra-body", EVIL),
        ("plan", "--model", "sim/fair", "--policy", EVIL),
        ("doctor", "--model", EVIL),
        ("doctor", "--model", f"python/{EVIL}"),
        ("doctor", "--model", "openai-compatible/x", "--base-url", f"http://{EVIL}"),
        ("probe", "--model", "openai/x", "--api-key-env", EVIL),
        ("measure", EVIL),
        ("gate", EVIL, "--policy", "scoring"),
        ("render", EVIL, "--to", EVIL),
        (EVIL,),
        (f"--{EVIL}",),
        ("attach", EVIL, EVIL),
        ("stimuli", "import", EVIL, EVIL, "--out", "x"),
    ],
)
def test_what_was_typed_is_quoted_tamely(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert_tame(printed(*words, here=tmp_path))


def test_a_stimulus_is_shown_without_its_escapes(tmp_path: Path) -> None:
    probe_free = tmp_path / "own.jsonl"
    own = json.loads(printed("stimuli", "show", _first_id()))
    own = {**own, "id": own.get("id", _first_id()), "prompt": f"{own.get('prompt')} {EVIL}"}
    probe_free.write_text(json.dumps(own))
    assert_tame(printed("stimuli", "check", probe_free))
    assert_tame(printed("stimuli", "show", str(own["id"]), "--stimuli", probe_free))


def _first_id() -> str:
    from judgesheet import list_stimuli

    return list_stimuli()["score_order"][0].id
