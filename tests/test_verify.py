"""Anybody can check a sheet: what was changed in it, in its pages or behind it is told."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter

import judgesheet
from judgesheet.base.datasheet import from_json, to_json
from judgesheet.base.records import digest
from judgesheet.base.resources import data_folder
from judgesheet.ledger.run_directory import DATASHEET, LEDGER
from judgesheet.sheet.html import page
from judgesheet.sheet.pdf import moment, typeset
from tests.command import run, sentence, with_pages


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a decision under a shipped policy, and its PDF."""
    folder = tmp_path_factory.mktemp("made") / "run"
    asked: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "policy": "order-only"}
    with with_pages():
        judgesheet.probe("sim/first-biased", folder, **asked)
    return folder


def changed(file: Path, edit: Callable[[Any], object]) -> Path:
    content = json.loads(file.read_text("utf-8"))
    edit(content)
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", [DATASHEET, "datasheet.pdf"])
def test_a_sheet_is_what_its_run_gives(name: str, made: Path) -> None:
    done = run("verify", made / name, "--run", made)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert digest((made / DATASHEET).read_text("utf-8")) in done.stdout
    assert done.stdout.endswith("\nnothing differs\n")
    alone = run("verify", made / name)
    assert alone.returncode == 0
    assert "\nnot compared: its figures" in alone.stdout
    assert not re.search("^nothing differs", alone.stdout, re.MULTILINE)


def test_a_run_is_its_sheet_and_its_replies(made: Path, tmp_path: Path) -> None:
    assert run("verify", made).returncode == 0
    copied = shutil.copytree(made, tmp_path / "run")
    changed(copied / DATASHEET, prices)
    assert "judge.model is not that of the run" in run("verify", copied).stdout


def value(sheet: Any) -> None:
    for one in sheet["axes"][0]["estimates"]:
        if one["key"] == "score_order.cramers_v":
            one["value"] = (one["low"] + one["value"]) / 2


def outside(sheet: Any) -> None:
    for one in sheet["axes"][0]["estimates"]:
        if one["key"] == "score_order.cramers_v":
            one["value"] = one["high"] + 0.01


def prices(sheet: Any) -> None:
    sheet["judge"]["model"] = "sim/fair"


def decision(sheet: Any) -> None:
    sheet["decision"]["verdict"] = "adopt"
    sheet["decision"]["text"] = "Adopt: 9 limits proven."


def verdict(sheet: Any) -> None:
    sheet["verdicts"][0]["why"] = "because"


def effect(sheet: Any) -> None:
    sheet["axes"][0]["effects"] = []


def estimate(sheet: Any) -> Any:
    return next(e for e in sheet["axes"][0]["estimates"] if e["key"] == "score_order.cramers_v")


EDITS: dict[str, tuple[Callable[[Any], object], str]] = {
    "value": (value, "score_order.cramers_v.value"),
    "outside": (outside, "contradicts itself: score_order.cramers_v"),
    "judge": (prices, "judge.model is not that of the run"),
    "decision": (decision, "decision.verdict"),
    "verdict": (verdict, "verdicts.score_order.cramers_v.why"),
    "effect": (effect, "axes.score_order.effects"),
    "bound": (
        lambda s: estimate(s)["bounds"].update(high=estimate(s)["value"]),
        "score_order.cramers_v.bounds.high",
    ),
    "clusters": (lambda s: estimate(s).update(clusters=500), "score_order.cramers_v.clusters"),
    "n": (lambda s: estimate(s).update(n=9_999), "score_order.cramers_v.n"),
    "label": (lambda s: estimate(s).update(label="Loyalty"), "score_order.cramers_v.label"),
    "caveat": (lambda s: s["axes"][0]["caveats"].append("None."), "axes.score_order.caveats"),
    "code": (lambda s: s["provenance"].update(collected_with="9"), "provenance.collected_with"),
    "stimuli": (
        lambda s: s["provenance"]["stimuli"][0].update(name="ours"),
        "provenance.stimuli.ours",
    ),
    "a field": (lambda s: s["run"].update(reviewed=True), "in the form that judgesheet writes"),
    "a figure": (lambda s: s["axes"][0]["estimates"].pop(), "score_order."),
    "a digest": (
        lambda s: s["provenance"]["policy"].update(digest="0" * 64),
        "order-only does not come",
    ),
    "a limit": (lambda s: s["verdicts"].pop(0), "verdicts"),
}


@pytest.mark.parametrize("edited", EDITS)
def test_what_was_changed_is_reported(edited: str, made: Path, tmp_path: Path) -> None:
    edit, place = EDITS[edited]
    file = changed(Path(shutil.copy(made / DATASHEET, tmp_path / "sheet.json")), edit)
    done = run("verify", file, "--run", made)
    assert done.returncode == 3, done.stdout
    found = json.loads(run("verify", file, "--run", made, "--json").stdout)
    assert any(place in one for one in found["differences"]), found


def test_a_sheet_of_another_run_is_reported_once(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    judgesheet.probe("sim/fair", other, axes=["score_order"], profile="smoke", pdf=False)
    done = run("verify", made / DATASHEET, "--run", other)
    assert done.returncode == 3
    assert done.stdout.count("\n") == 2
    assert "this sheet is of another run: judge.model is not" in done.stdout


def test_a_page_in_html_is_not_taken_for_broken_json(made: Path) -> None:
    assert "give its datasheet.json or its PDF" in sentence(run("verify", made / "datasheet.html"))


def test_other_replies_to_the_same_questions_are_reported(made: Path, tmp_path: Path) -> None:
    other = shutil.copytree(made, tmp_path / "other")
    with closing(sqlite3.connect(other / LEDGER)) as db, db:
        text = "UPDATE attempt SET text = replace(text, '1', '5')"
        assert db.execute(text).rowcount
    done = run("verify", made / "datasheet.pdf", "--run", other)
    assert done.returncode == 3
    assert re.search(r"^score_order\.\S+\.value is ", done.stdout, re.MULTILINE)


def test_of_pages_with_other_bytes_the_words_are_compared(made: Path, tmp_path: Path) -> None:
    content = (made / "datasheet.pdf").read_bytes()
    (tmp_path / "page.pdf").write_bytes(content + b"\n% a comment\n")
    done = run("verify", tmp_path / "page.pdf")
    assert done.returncode == 0, done.stdout
    assert "not compared: its drawings" in done.stdout


def test_pages_that_say_something_else_than_the_json_are_reported(
    made: Path, tmp_path: Path
) -> None:
    sheet = from_json(made / DATASHEET)
    other = page(replace(sheet, judge=replace(sheet.judge, model="sim/perfect")), paper="a4")
    forged = typeset(other, data_folder("templates"), to_json(sheet), moment(sheet))
    (tmp_path / "page.pdf").write_bytes(forged)
    done = run("verify", tmp_path / "page.pdf")
    assert done.returncode == 3
    assert "its pages say something else" in done.stdout


def test_pages_of_another_version_of_the_typesetter_are_not_compared(
    made: Path, tmp_path: Path
) -> None:
    other = PdfWriter(clone_from=made / "datasheet.pdf")
    other.add_metadata({"/Producer": "WeasyPrint 1.0"})
    other.write(tmp_path / "page.pdf")
    done = run("verify", tmp_path / "page.pdf")
    assert done.returncode == 0, done.stdout
    assert "set by WeasyPrint 1.0" in done.stdout


@pytest.mark.parametrize(("edit", "code"), [(value, 4), (decision, 3)])
def test_of_another_version_only_a_decision_against_its_own_figures_is_reported(
    edit: Callable[[Any], None], code: int, made: Path, tmp_path: Path
) -> None:
    def of_another_version(sheet: Any) -> None:
        sheet["provenance"].update(judgesheet="0.0.1")
        edit(sheet)

    copy = Path(shutil.copy(made / DATASHEET, tmp_path / "sheet.json"))
    file = changed(copy, of_another_version)
    done = run("verify", file, "--run", made)
    assert done.returncode == code, done.stdout
    assert "0.0.1" in done.stdout


@pytest.mark.parametrize("content", [b"%PDF-1.7\n%nothing", b"{}", b"", b"%PDF" + b"9" * 5000])
def test_what_is_no_sheet_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert sentence(run("verify", file))


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj", b"%PDF-1.4" + b"x" * 99]
)
def test_a_pdf_that_is_none_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "sheet.pdf"
    file.write_bytes(content)
    done = run("verify", file)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr


def test_a_sheet_of_every_axis_is_written_as_it_is_read(tmp_path: Path) -> None:
    judgesheet.probe("sim/fair", tmp_path / "run", profile="first", pdf=False, cases=False)
    done = run("verify", tmp_path / "run" / DATASHEET)
    assert done.returncode == 0, done.stdout


# -- under another policy --------------------------------------------------------------------------

LENIENT = """
name = "lenient"
[[limit]]
key = "score_order.cramers_v"
max = 0.99
"""


@pytest.fixture
def lenient(tmp_path: Path) -> Path:
    file = tmp_path / "lenient.toml"
    file.write_text(LENIENT, encoding="utf-8")
    return file


@pytest.mark.parametrize("policy", ["scoring", "lenient"])
@pytest.mark.parametrize("name", [DATASHEET, "datasheet.pdf"])
def test_a_judge_is_decided_anew_as_the_gate_decides(
    name: str, policy: str, made: Path, lenient: Path
) -> None:
    limits = lenient if policy == "lenient" else policy
    gate = run("gate", made, "--policy", limits, "--json")
    done = run("verify", made / name, "--policy", limits, "--json")
    assert done.returncode == gate.returncode, done.stderr
    content = json.loads(done.stdout)
    assert content["differences"] == []
    assert content["decision"]["verdict"] == json.loads(gate.stdout)["decision"]["verdict"]
    assert f"Under {policy}" in run("verify", made / name, "--policy", limits).stdout


def test_the_policy_that_a_sheet_was_decided_under_need_not_be_a_shipped_one(
    made: Path, lenient: Path, tmp_path: Path
) -> None:
    out = shutil.copytree(made, tmp_path / "own")
    judgesheet.measure(out, policy=lenient)
    alone = run("verify", out / DATASHEET)
    assert "give its file with --policy" in alone.stdout
    done = run("verify", out / DATASHEET, "--policy", lenient)
    assert done.returncode == 0, done.stdout
    assert "give its file" not in done.stdout
    file = changed(out / DATASHEET, verdict)
    done = run("verify", file, "--policy", lenient)
    assert done.returncode == 3
    assert "verdicts." in done.stdout


def test_a_judge_that_passes_does_not_excuse_a_sheet_that_differs(
    made: Path, lenient: Path, tmp_path: Path
) -> None:
    file = changed(Path(shutil.copy(made / DATASHEET, tmp_path / "sheet.json")), effect)
    assert run("verify", file, "--policy", lenient).returncode == 3
