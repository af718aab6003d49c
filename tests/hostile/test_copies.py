"""Texts that no reader can tell apart are no two texts, whatever their characters."""

import json
from pathlib import Path

import pytest

from judgesheet import probe
from judgesheet.axis.material import bare, duplicates
from judgesheet.base.resources import data_folder
from tests.command import run

TEXT = "Water boils at a lower temperature on a high mountain."
COPIES = {
    "as it is": TEXT,
    "letter case": TEXT.upper(),
    "blanks": f"  {TEXT.replace(' ', '  ')}\n",
    "no-break spaces": TEXT.replace(" ", "\N{NO-BREAK SPACE}"),
    "zero width spaces": "\N{ZERO WIDTH SPACE}".join(TEXT),
    "soft hyphens": TEXT.replace("o", "o\N{SOFT HYPHEN}"),
    "wide letters": "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in TEXT),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_told_by_name(name: str) -> None:
    assert bare(COPIES[name]) == bare(TEXT)
    (problem,) = duplicates([("first", TEXT), ("second", COPIES[name])])
    assert (problem.where, problem.grave) == ("second", True)
    assert "the same text as first" in problem.what


def test_a_near_copy_hides_behind_no_invisible_characters() -> None:
    near = "\N{ZERO WIDTH SPACE}".join(TEXT.replace("high", "steep"))
    (problem,) = duplicates([("first", f"{TEXT} {TEXT}"), ("second", f"{TEXT} {near}")])
    assert "of its three-word runs" in problem.what


def test_a_short_answer_may_recur() -> None:
    (problem,) = duplicates([("one/a", "Yes."), ("two/a", "yes.")])
    assert not problem.grave


def test_stimuli_check_counts_no_copies(tmp_path: Path) -> None:
    pool = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8")
    item = json.loads(pool.splitlines()[0])
    hidden = json.dumps(item["candidates"][0]["text"]).replace(" ", " \\u200b")
    copy = json.loads(json.dumps(item | {"id": "copy"}))
    copy["candidates"][0]["text"] = json.loads(hidden)
    own = tmp_path / "own.jsonl"
    own.write_text(f"{json.dumps(item)}\n{json.dumps(copy)}\n")
    done = run("stimuli", "check", own)
    assert done.returncode == 1
    assert done.stdout.count(f"is the same text as {item['id']}/") == len(item["candidates"])


def test_a_sheet_says_that_stimuli_repeat_others(tmp_path: Path) -> None:
    pool = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8")
    items = [json.loads(line) for line in pool.splitlines()[:2]]
    items.append(items[0] | {"id": "copy", "prompt": f"\N{ZERO WIDTH SPACE}{items[0]['prompt']} "})
    own = tmp_path / "own.jsonl"
    own.write_text("".join(f"{json.dumps(item)}\n" for item in items))

    def caveats(stimuli: Path | None) -> str:
        out = tmp_path / ("built-in" if stimuli is None else "own")
        run = probe("sim/fair", out, axes=["score_order"], stimuli=stimuli, pdf=False)
        return " ".join(run.datasheet.axes[0].caveats)

    assert "1 of 3 stimuli repeat others" in caveats(own)
    assert "repeat others" not in caveats(None)


def test_identical_candidates_are_told_and_noted(tmp_path: Path) -> None:
    texts = {"x": "Because.", "y": " Because.\N{ZERO WIDTH SPACE}", "z": "No."}
    listed = [{"id": name, "text": text} for name, text in texts.items()]
    sets = [
        {"id": "three", "prompt": "Why?", "candidates": listed},
        {"id": "two", "prompt": "Why?", "candidates": listed[:2]},
        {"id": "pair", "request": "Why?", "u": "Yes.", "v": "yes."},
        {"id": "fine", "prompt": "Why?", "candidates": listed[1:]},
    ]
    file, out = tmp_path / "sets.jsonl", tmp_path / "run"
    file.write_text("".join(json.dumps(record) + "\n" for record in sets), encoding="utf-8")
    done = run("consensus", file, "--model", "sim/fair", "-k", "3", "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("are the same text") == 3
    decisions = map(json.loads, (out / "decisions.jsonl").read_text().splitlines())
    notes = {decision["id"]: decision["note"] for decision in decisions}
    assert "x and y are the same text" in notes["three"]
    assert "x and y are the same text" in notes["two"]
    assert "u and v are the same text" in notes["pair"]
    assert notes["fine"] == ""
