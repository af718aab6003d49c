"""Texts that no reader can tell apart are no two texts, whatever their characters."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet import probe
from judgesheet.axis.copies import ALIKE, bare, groups
from judgesheet.base.facts import StimulusPool
from judgesheet.base.records import digest
from judgesheet.base.resources import data_folder
from judgesheet.planning.plan import remarks
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
def test_a_copy_is_found(name: str) -> None:
    assert bare(COPIES[name]) == bare(TEXT)
    assert groups([TEXT, "Salt melts ice on the road.", COPIES[name]]) == [[0, 2]]


def test_a_near_copy_hides_behind_no_invisible_characters() -> None:
    near = "\N{ZERO WIDTH SPACE}".join(TEXT.replace("high", "steep"))
    assert groups([f"{TEXT} {TEXT}", f"{TEXT} {near}"]) == [[0, 1]]


def test_the_same_greeting_makes_no_template() -> None:
    greeting = "Thank you for contacting us today."
    texts = [f"{greeting} " + " ".join(digest(f"{n} {w}")[:6] for w in range(12)) for n in range(9)]
    assert groups(texts) == []


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join), max_size=9))
def test_groups_are_those_of_comparing_every_pair(texts: list[str]) -> None:
    def runs(text: str) -> set[str]:
        return {text[at : at + 5] for at in range(0, len(text) - 4, 2)}

    graph = components(len(texts), [
        (one, other)
        for one, other in combinations(range(len(texts)), 2)
        if texts[one] == texts[other] != ""
        or ((both := runs(texts[one]) | runs(texts[other]))
        and len(runs(texts[one]) & runs(texts[other])) >= ALIKE * len(both))
    ])  # fmt: skip
    assert groups(texts) == graph


def components(size: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """Connected components of two or more, by joining labels."""
    label = [*range(size)]
    for one, other in edges:
        low, high = sorted((label[one], label[other]))
        label = [low if mine == high else mine for mine in label]
    found = ([at for at in range(size) if label[at] == of] for of in dict.fromkeys(label))
    return [group for group in found if len(group) > 1]


def chat(number: int, **others: object) -> dict[str, object]:
    """An ordinary support chat: its own words, and one of two replies by template."""
    words = " ".join(digest(f"{number} {word}")[:7] for word in range(20))
    template = "Thank you for contacting us about order {}. It is on its way to you since today."
    texts = [template.format(number), f"Please restart it. {words[::-1]}"]
    candidates = [{"id": name, "text": text} for name, text in zip("ab", texts, strict=True)]
    levels = ["Ignores it.", "Repeats it.", "Helps in part.", "Solves nearly all.", "Solves all."]
    rubric = {"criterion": "Is it solved?", "levels": levels}
    return {"id": f"chat-{number:02d}", "prompt": words, "rubric": rubric, "candidates": candidates,
            **others}  # fmt: skip


def written(path: Path, *chats: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in chats), encoding="utf-8")
    return path


def test_near_copies_are_one_warning_on_every_axis(tmp_path: Path) -> None:
    """The one that says what they count as; their texts, which share templates, are another."""
    chats = [chat(n) for n in range(6)]
    copy = {**chats[0], "id": "again", "prompt": f"{chats[0]['prompt']} please"}
    graded = written(tmp_path / "score_order.jsonl", *chats, copy)
    pairs = [
        {"id": one["id"], "request": one["prompt"], "u": f"Yes. {one['prompt']}", "v": "No."}
        for one in (*chats, copy)
    ]
    for own in (graded, written(tmp_path / "candidate_order.jsonl", *pairs)):
        done = run("stimuli", "check", own)
        assert done.stdout.count("count as one stimulus: chat-00, again") == 1, done.stdout
        assert done.stdout.count("share a template: chat-00, again") <= 1
        planned = run("plan", "--model", "sim/fair", "--axis", own.stem, "--stimuli", own)
        assert "7 stimuli, 6 independent" in planned.stdout


def test_templates_in_ordinary_chats_are_one_warning(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", *map(chat, range(40)))
    done = run("stimuli", "check", own)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("share a template") == 1
    assert "40 responses share a template: chat-00, chat-01" in done.stdout
    out = tmp_path / "run"
    asked = run("probe", "--model", "sim/fair", "--axis", "score_order", "--stimuli", own,
                "--profile", "smoke", "--no-pdf", "--quiet", "--out", out)  # fmt: skip
    assert asked.returncode == 0
    assert "score_order: 3 responses share a template: chat-" in asked.stderr  # of three drawn
    (axis,) = json.loads((out / "datasheet.json").read_text("utf-8"))["axes"]
    assert any("share a template" in caveat for caveat in axis["caveats"])


def test_an_identical_stimulus_is_an_error(tmp_path: Path) -> None:
    again = chat(1) | {"id": "copy", "prompt": f"{chat(1)['prompt']}\N{ZERO WIDTH SPACE} "}
    own = written(tmp_path / "own.jsonl", chat(1), chat(2), again)
    done = run("stimuli", "check", own)
    assert done.returncode == 1
    assert "error: copy: is the same as chat-01" in done.stdout
    assert "errors: 1" in done.stdout
    planned = run("plan", "--model", "sim/fair", "--axis", "score_order", "--stimuli", own)
    assert "1 fault in these stimuli, such as: copy: is the same as chat-01" in planned.stdout


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

    assert "3 stimuli, 2 independent" in caveats(own)
    assert "independent" not in caveats(None)


def test_identical_candidates_are_reported_and_noted(tmp_path: Path) -> None:
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


def test_several_templates_are_one_line_with_what_follows() -> None:
    pool = StimulusPool("x", stimuli=40, independent=37, templates=("one", "two", "three"))
    copies, templates = remarks(pool)
    assert "40 stimuli, 37 independent" in copies
    assert "no stimulus a copy" in templates
    assert [*remarks(replace(pool, independent=40, templates=("one",)))] == ["one"]


def test_responses_that_a_profile_leaves_out_are_counted() -> None:
    part = StimulusPool("x", stimuli=40, independent=40, responses=80, responses_held=160)
    assert "80 of the 160 responses" in next(remarks(part))
    assert not [*remarks(replace(part, responses=None))]
