"""The model card: a section between markers, a PDF beside it, and not one other byte."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.base.errors import RunError
from judgesheet.base.records import Condition, Datasheet, Decision
from judgesheet.sheet import render
from judgesheet.sheet.attach import attach, with_index, with_section
from judgesheet.sheet.model_card import BEGIN, END, file_name, metadata, section
from tests.sheet.sheets import all_unreadable, hostile, plausible

PLAUSIBLE = plausible()
CARD = "---\nlicense: mit\nlanguage: en  # kept\n---\n# My model\n\nIt grades essays.\n"
HOSTILE = f"{END}</details><script>alert(1)</script> | `x` [a](http://evil) \u202e {{{{7*7}}}} \x00"


def hub(text: str) -> Any:
    """The card as the hub's own class reads it."""
    return ModelCard(text)


def outside(card: str) -> str:
    return card[: card.index(BEGIN)] + card[card.index(END) + len(END) :]


def test_a_card_gains_a_section_and_the_pdf(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text(CARD)
    written = attach(card, PLAUSIBLE)
    text = card.read_text()
    assert text.startswith(CARD)
    assert outside(text).strip("\n") == CARD.strip("\n")
    assert written == [card, tmp_path / file_name(PLAUSIBLE)]
    assert written[1].read_bytes().startswith(b"%PDF-")
    assert f"]({written[1].name})" in text


def test_attaching_again_changes_nothing_and_another_sheet_only_the_section(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text(CARD)
    attach(card, PLAUSIBLE)
    first = card.read_bytes()
    attach(card, PLAUSIBLE)
    assert card.read_bytes() == first
    card.write_bytes(first + b"\nWritten below later.\n")
    decision = Decision("reject", "scoring", "score_order.cramers_v", "V is too large.")
    attach(card, replace(PLAUSIBLE, decision=decision))
    text = card.read_text()
    assert "**DO NOT ADOPT**" in text
    assert text.count(BEGIN) == 1
    assert text.endswith("\nWritten below later.\n")
    assert outside(text) == outside(first.decode()) + "\nWritten below later.\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_no_byte_outside_the_section_changes(card: str) -> None:
    new = with_section(card, section(PLAUSIBLE), "card")
    assert new.startswith(card)
    assert with_section(new, section(PLAUSIBLE), "card") == new


def test_windows_line_ends_stay_windows_line_ends() -> None:
    new = with_section(CARD.replace("\n", "\r\n"), section(PLAUSIBLE), "card")
    assert "\n" not in new.replace("\r\n", "")
    new = with_index(new, metadata(PLAUSIBLE), "card")
    assert "\n" not in new.replace("\r\n", "")


def test_each_judge_has_a_section_of_its_own(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text(CARD)
    other = replace(PLAUSIBLE, judge=replace(PLAUSIBLE.judge, model="openai/other"))
    for sheet in (PLAUSIBLE, other):
        attach(card, sheet)
    both = card.read_text()
    assert both.count(BEGIN) == both.count(END) == 2
    for sheet in (PLAUSIBLE, other):
        attach(card, sheet)
        assert card.read_text() == both
        assert f"## Use as a judge: {sheet.judge.model}" in both.replace("\\", "")
        assert (tmp_path / file_name(sheet)).exists()


@pytest.mark.parametrize(
    "text", [f"{BEGIN}\n", f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n{BEGIN}\n{END}"]
)
def test_markers_that_do_not_pair_up_are_not_guessed_at(text: str) -> None:
    with pytest.raises(RunError):
        with_section(text, section(PLAUSIBLE), "README.md")


def test_a_card_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RunError):
        attach(card, PLAUSIBLE)
    assert card.read_bytes() == b"\xff\xfe\x00"


@pytest.mark.parametrize("card", [CARD, "# No front matter\n", "", "\ufeff" + CARD])
def test_the_index_joins_the_front_matter_and_the_hub_reads_it(card: str) -> None:
    new = with_index(card, metadata(PLAUSIBLE), "card")
    assert with_index(new, metadata(PLAUSIBLE), "card") == new
    read = hub(new.lstrip("\ufeff"))
    assert read.data.eval_results
    assert all(result.metric_value is not None for result in read.data.eval_results)
    assert read.data.get("license") == ("mit" if "license" in card else None)
    assert new.endswith(card.rsplit("---\n", maxsplit=1)[-1].lstrip("\ufeff"))


def test_somebody_elses_index_is_not_touched() -> None:
    card = "---\nmodel-index:\n- name: x\n  results: []\n---\n"
    with pytest.raises(RunError):
        with_index(card, metadata(PLAUSIBLE), "card")


def test_the_rendered_card_is_one_that_the_hub_reads() -> None:
    read = hub(render(PLAUSIBLE, "model-card").decode())
    assert BEGIN in read.text
    result = read.data.eval_results[0]
    assert result.dataset_type.startswith("judgesheet/")
    assert result.metric_args["key"].startswith("score_order.")


@pytest.mark.parametrize("sheet", [plausible(), all_unreadable(), hostile()])
def test_every_sheet_has_a_card(sheet: Datasheet) -> None:
    text = render(sheet, "model-card").decode()
    assert text.count(BEGIN) == text.count(END) == 1
    assert BEGIN in hub(text).text


def test_hostile_words_stay_words() -> None:
    sheet = replace(
        PLAUSIBLE,
        judge=replace(PLAUSIBLE.judge, model=HOSTILE, served_models={HOSTILE: 3}),
        run=replace(PLAUSIBLE.run, ended_at=HOSTILE),
        decision=Decision("conditions", HOSTILE, "", HOSTILE, (Condition(HOSTILE),)),
        recommendations=(Condition(HOSTILE),),
    )
    text = section(sheet)
    assert text.count(END) == 1
    assert "<script" not in text.replace("\\<", "")
    assert "](http:" not in text
    assert "\x00" not in text
    assert "/" not in file_name(sheet)
    assert hub(f"---\n{metadata(sheet)}\n---\n").data.to_dict()["model-index"]


@pytest.mark.parametrize(
    "marker", [BEGIN, END, "# judgesheet:begin (model-index)", "# judgesheet:end"]
)
def test_markers_in_words_are_words(marker: str) -> None:
    """Neither a key nor a sentence of the card's owner moves the section, or splices into it."""
    axis = PLAUSIBLE.axes[0]
    named = replace(axis.estimates[0], key=f"score_order.x[a={marker}]", label=f"a\n{marker}\nb")
    row = replace(axis.characteristics[0], key=named.key)
    sheet = replace(
        PLAUSIBLE,
        axes=(replace(axis, estimates=(named, *axis.estimates), characteristics=(row,)),),
    )
    card = f"{CARD}\nWrite {marker} here: `{marker}`\n"
    for _ in range(2):
        body = card.split("\n---\n", 1)[1]
        card = with_index(with_section(card, section(sheet), "card"), metadata(sheet), "card")
        assert card.split("\n---\n", 1)[1].startswith(body.split(BEGIN + "\n")[0].rstrip())
        assert hub(card).data.eval_results
    assert card.count(f"\n{BEGIN}\n") == card.count(f"\n{END}\n") == 1
