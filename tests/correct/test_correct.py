"""`judgesheet correct` on tables as users have them: what it gives, and what it refuses."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgesheet
from judgesheet.base.errors import JudgesheetError, StimuliError, UsageError
from judgesheet.correcting.table import Choice, read
from judgesheet.sheet.correction import FORMATS, render
from tests.command import run

Write = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Write:
    def write(head: str, rows: Iterable[Sequence[object]]) -> Path:
        path = tmp_path / "table.csv"
        lines = [
            head,
            *(",".join("" if cell is None else str(cell) for cell in row) for row in rows),
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def judged(rows: int, labelled: int, seed: int = 0) -> list[list[object]]:
    """A judge of sensitivity .9 and specificity .7; labels on the first of rows in random order."""
    rng = np.random.default_rng(seed)
    said: list[list[object]] = []
    for number in range(rows):
        true = rng.random() < 0.6
        passes = rng.random() < (0.9 if true else 0.3)
        label = ("pass" if true else "fail") if number < labelled else None
        said.append([f"q{number}", "pass" if passes else "fail", label])
    return said


def test_a_rate_is_that_of_each_verdict_weighted_by_all_verdicts(table: Write) -> None:
    rows = judged(300, 100)
    found = judgesheet.correct(table("id,verdict,label", rows), "random")
    share = np.mean([row[1] == "pass" for row in rows])
    known = [(row[1] == "pass", row[2] == "pass") for row in rows if row[2]]
    rates = [
        np.mean([true for said, true in known if said is verdict]) for verdict in (True, False)
    ]
    assert found.corrected.value == pytest.approx(share * rates[0] + (1 - share) * rates[1])
    assert found.corrected.low is not None
    assert found.corrected.high is not None
    assert found.corrected.low < 0.6 < found.corrected.high
    assert found.raw.value == pytest.approx(share)
    (system,) = found.systems
    assert system.ppi == found.corrected
    assert system.rogan_gladen is not None
    assert system.sensitivity is not None
    assert system.specificity is not None


def test_chosen_labels_give_rogan_gladen_and_a_warning(table: Write) -> None:
    found = judgesheet.correct(table("id,verdict,label", judged(300, 100)), "chosen")
    assert found.corrected == found.systems[0].rogan_gladen
    assert found.warnings
    record = found.as_record()
    assert {"value", "low", "high"} <= record["corrected"].keys()
    assert record["raw"]["value"]


def test_a_judge_at_chance_has_no_value_by_rogan_gladen_and_one_by_labels(table: Write) -> None:
    rng = np.random.default_rng(2)
    rows = [[f"q{i}", int(rng.random() < 0.5), int(rng.random() < 0.5) if i < 60 else None]
            for i in range(200)]  # fmt: skip
    path = table("id,verdict,label", rows)
    chosen = judgesheet.correct(path, "chosen").corrected
    assert chosen.value is None
    assert chosen.reason == "judge_at_chance"
    assert chosen.note
    assert judgesheet.correct(path, "random").corrected.value is not None


def test_few_or_constant_labels_are_reported(table: Write) -> None:
    few = judgesheet.correct(table("id,verdict,label", judged(50, 3)), "random").corrected
    assert few.value is not None
    assert few.low is None
    assert few.reason == "few_labels"
    rows = [[f"q{i}", i % 2, 1 if i < 20 else None] for i in range(100)]
    assert judgesheet.correct(table("id,verdict,label", rows), "chosen").corrected.value is None


def test_all_rows_labelled_leave_nothing_to_correct(table: Write) -> None:
    found = judgesheet.correct(table("id,verdict,label", judged(80, 80)), "random")
    assert found.systems[0].labels_only is not None
    assert found.corrected.value == found.systems[0].labels_only.value


def scores(systems: Sequence[tuple[str, float]], ids: int, labelled: int) -> list[list[object]]:
    rng = np.random.default_rng(5)
    rows: list[list[object]] = []
    for number in range(ids):
        hard = rng.normal()
        for name, quality in systems:
            true = int(np.clip(round(3 + quality + hard + rng.normal(0, 0.3)), 1, 5))
            said = int(np.clip(round(true + 0.4 + rng.normal(0, 0.4)), 1, 5))
            rows.append(
                [f"d{number // 2}-{number}", name, said, true if number < labelled else None]
            )
    return rows


def test_systems_have_differences_that_stand(table: Write) -> None:
    systems = (("worse", -0.8), ("same", 0.0), ("alike", 0.0))
    path = table("id,system,verdict,label", scores(systems, 120, 60))
    found = judgesheet.correct(path, "random", scale=(1, 5), group_prefix="-")
    assert found.clusters == 60
    assert found.systems[-1].name == "worse"
    stands = {frozenset((one.first, one.second)): one.stands for one in found.differences}
    assert not stands[frozenset(("same", "alike"))]
    assert sum(stands.values()) == 2
    values = {one.name: one.corrected.value for one in found.systems}
    for one in found.differences:
        first, second = values[one.first], values[one.second]
        assert first is not None
        assert second is not None
        assert one.figure.value == pytest.approx(first - second)


def test_labels_of_one_system_say_nothing_of_all(table: Write) -> None:
    rows = scores((("labelled", 0.5), ("bare", 0.0)), 60, 30)
    for row in rows:
        row[3] = row[3] if row[1] == "labelled" else None
    found = judgesheet.correct(table("id,system,verdict,label", rows), "random")
    assert found.corrected.value is None
    assert found.corrected.reason == "no_label"
    assert any("bare" in warning for warning in found.warnings)
    values = {one.name: one.corrected.value for one in found.systems}
    assert values["labelled"] is not None
    assert values["bare"] is None


def test_a_random_draw_is_seldom_called_none(table: Write) -> None:
    rng, warned, reported = np.random.default_rng(7), 0, []
    for rows, labels, rate in ((1_000, 20, 0.97), (100, 95, 0.9)):
        for _ in range(20):
            said, drawn = rng.random(rows) < rate, rng.permutation(rows) < labels
            cells = [[n, int(said[n]), int(said[n]) if drawn[n] else None] for n in range(rows)]
            found = judgesheet.correct(table("id,verdict,label", cells), "random")
            warned += any("may not be a random sample" in warning for warning in found.warnings)
            assert found.shift is not None
            reported += [found.shift.low, found.shift.high]
    assert warned <= 1
    assert all(end is not None and -1 <= end <= 1 for end in reported)


@pytest.mark.parametrize("rows", [1, 4])
def test_a_part_that_is_no_random_draw_is_reported(rows: int, table: Write) -> None:
    cells = [[f"d{n // rows}-{n}", int(n % 3 > 0), int(n % 2) if n % 3 == 0 and n < 150 else None]
             for n in range(300)]  # fmt: skip
    path = table("id,verdict,label", cells)
    found = judgesheet.correct(path, "random", group_prefix="-")
    assert found.shift_p is not None
    assert found.shift_p < 0.01
    assert any("may not be a random sample" in warning for warning in found.warnings)


def test_what_few_labels_say_alone_has_an_interval_and_a_correction_has_none(table: Write) -> None:
    rows = [[n, int(n < 2), int(n < 2)] for n in range(4)]
    every = judgesheet.correct(table("id,verdict,label", rows), "random")
    assert every.corrected.low is not None
    rogan_gladen = every.systems[0].rogan_gladen
    assert rogan_gladen is not None
    assert (rogan_gladen.value, rogan_gladen.reason) == (None, "all_labelled")
    one = judgesheet.correct(table("id,verdict,label", [["a", 1, 1], ["b", 0, ""]]), "random")
    assert one.corrected.low is None
    assert "no interval." in render(one, "md", "a4").decode().split("## ")[0]


# -- pairs -----------------------------------------------------------------------------------------


def test_a_win_rate_of_pairs_is_that_of_the_first_named_over_both_orders(table: Write) -> None:
    rows: list[list[object]] = []
    for number in range(60):
        wins = number % 3 > 0
        label = ("a" if wins else "b") if number < 30 else None
        for first, second in (("a", "b"), ("b", "a")):
            # The first slot wins every other pair, whatever is there.
            said = first if number % 2 else "a" if wins else "b"
            rows.append([f"p{number}", first, second, said, label if first == "a" else None])
    found = judgesheet.correct(table("id,first,second,verdict,label", rows), "random")
    assert found.raw.value == pytest.approx((30 * 0.5 + 20) / 60)
    assert found.corrected.value == pytest.approx(2 / 3, abs=0.05)
    assert [one.name for one in found.systems] == ["a"]


# -- refusals --------------------------------------------------------------------------------------


BAD = {
    "a label outside the scale": ("id,verdict,label", [["a", 3, 4], ["b", 2, 9]], ":3"),
    "an id twice": ("id,verdict,label", [["a", 1, 1], ["a", 0, ""]], ":3"),
    "no overlap": ("id,system,verdict,label", [["a", "s", 2, 2], ["b", "t", 3, 3]], ":3"),
    "a strange word": ("id,verdict,label", [["a", "pass", "pass"], ["b", "maybe", ""]], ":3"),
    "a number among words": ("id,verdict,label", [["a", "pass", "fail"], ["b", 7, ""]], ":3"),
    "an empty system": ("id,system,verdict,label", [["a", "s", 1, 1], ["a", "", 1, 1]], ":3"),
    "the same response twice": ("id,first,second,verdict,label", [["a", "x", "x", 1, 1]], ":2"),
    "pairs of three systems": (
        "id,first,second,verdict,label", [["a", "x", "y", 1, 1], ["b", "y", "z", 1, 2]], ""),
    "two labels of one pair": (
        "id,first,second,verdict,label", [["a", "x", "y", 1, 1], ["a", "y", "x", 1, 1]], ":3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_its_line(case: str, table: Write) -> None:
    head, rows, line = BAD[case]
    path = table(head, rows)
    with pytest.raises(StimuliError, match=rf"table\.csv{line}\b"):
        judgesheet.correct(path, "random", scale=(1, 5))
    done = run("correct", path, "--labels", "random", "--scale", "1:5")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_verdicts_that_nobody_could_read_are_counted_and_left_out(table: Write) -> None:
    rows = [["a", "NaN", 1], ["b", 4, 5], ["c", "", 2], ["d", 2, 2], ["e", 3, ""]]
    found = judgesheet.correct(table("id,verdict,label", rows), "random")
    assert found.unreadable == 2
    assert found.raw.n == 3
    assert found.warnings
    with pytest.raises(StimuliError):
        judgesheet.correct(table("id,verdict,label", []), "random")


def test_what_is_missing_is_named(table: Write) -> None:
    path = table("name,verdict,label", [["a", 1, ""]])
    with pytest.raises(UsageError, match="--map id="):
        judgesheet.correct(path, "random")
    with pytest.raises(UsageError, match="label"):
        judgesheet.correct(path, "random", columns={"id": "name"})
    labelled = table("id,verdict,label", [["a", 1, 1]])
    assert run("correct", labelled).returncode == 2, "--labels must be given"


@pytest.mark.parametrize(
    "cell", ["=1+1", "1e999", "1e308", "-1e300", "1_0", "\u202e", "[1]", "é" * 5000]
)
def test_hostile_cells_end_in_a_sentence(cell: str, table: Write) -> None:
    path = table("id,verdict,label", [["a", 1, 1], ["b", cell, ""]])
    with pytest.raises(JudgesheetError) as error:
        judgesheet.correct(path, "random")
    assert len(str(error.value)) < 400


def test_numbers_too_small_for_a_square_are_zero(table: Write) -> None:
    rows = [[f"r{n}", ("5e-324", "0", "1e-320")[n % 3], ("1e-320", "0")[n % 2] if n % 4 else ""]
            for n in range(40)]  # fmt: skip
    found = judgesheet.correct(table("id,verdict,label", rows), "random")
    assert found.raw.value == 0.0


def test_systems_beyond_what_is_compared_are_refused_at_once(table: Write) -> None:
    rows = [[n // 2, f"system {n % 2 + n // 2}", 1, 1] for n in range(1_000)]
    path = table("id,system,verdict,label", rows)
    with pytest.raises(StimuliError, match="501"):
        judgesheet.correct(path, "random")


def test_a_pair_with_two_labels_is_named_as_its_table_names_it(table: Write) -> None:
    rows = [
        [f"q{n}", *names, names[0], names[0]]
        for n in range(3)
        for names in (("x", "y"), ("y", "x"))
    ]
    with pytest.raises(StimuliError, match="3: the pair of 'y' and 'x' on 'q0' has another label"):
        judgesheet.correct(table("id,first,second,verdict,label", rows), "random")


def test_a_column_is_not_verdict_and_label_at_once(table: Write) -> None:
    path = table("id,verdict,label", [["a", 1, 1], ["b", 0, ""]])
    with pytest.raises(UsageError, match=r"verdict.*label"):
        judgesheet.correct(path, "random", columns={"label": "verdict"})


def test_ends_that_are_none_are_named_by_their_option(table: Write) -> None:
    path = table("id,verdict,label", [["a", 1, 1], ["b", 2, ""]])
    done = run("correct", path, "--labels", "random", "--human-scale", "5:1")
    assert done.returncode == 2
    assert "--human-scale takes two numbers" in done.stderr


@pytest.mark.parametrize("labels", ["randum", "Random", "", None])
def test_labels_that_are_no_choice_are_refused_with_the_choices(labels: Any, table: Write) -> None:
    path = table("id,verdict,label", judged(40, 20))
    with pytest.raises(UsageError, match="random, chosen"):
        judgesheet.correct(path, labels)


@pytest.mark.parametrize("scale", ["1:5", (1,), (1, 2, 3), (5, 1), (1, "5"), (1, float("nan")), 5])
@pytest.mark.parametrize("name", ["scale", "human_scale"])
def test_a_scale_that_is_none_is_refused_with_an_example(
    name: str, scale: Any, table: Write
) -> None:
    path = table("id,verdict,label", [["a", 1, 1], ["b", 2, ""]])
    with pytest.raises(UsageError, match=rf"^{name}=.*\(1, 5\)$"):
        judgesheet.correct(path, "random", **{name: scale})


@pytest.mark.parametrize("first", ["4", '"3,5"'])
def test_a_decimal_comma_is_named(first: str, table: Write) -> None:
    path = table("id,verdict,label", [["a", first, 4], ["b", '"4,5"', ""]])
    with pytest.raises(StimuliError, match="comma is not read as a decimal point"):
        judgesheet.correct(path, "random")


@pytest.mark.parametrize("empty", ["NA", "-", "–", "N/A", "None", " nan "])
def test_what_says_that_nothing_is_there_is_no_label(empty: str, table: Write) -> None:
    rows = judged(60, 30)
    usual = judgesheet.correct(table("id,verdict,label", rows), "random")
    filled = [[name, said, label or empty] for name, said, label in rows]
    assert judgesheet.correct(table("id,verdict,label", filled), "random") == usual


@pytest.mark.parametrize(
    ("words", "passes", "fails"),
    [({"good": "pass", "Bad": "fail"}, "Good", "bad"), ({"C": "1", "I": "0"}, "C", "I"),
     ({}, "100%", "0 %")],
)  # fmt: skip
def test_words_mean_what_the_user_says(
    words: dict[str, str], passes: str, fails: str, table: Write
) -> None:
    rows, said = judged(60, 30), {"pass": passes, "fail": fails, None: None}
    usual = judgesheet.correct(table("id,verdict,label", rows), "random")
    other = table("id,verdict,label", [[n, said[v], said[w]] for n, v, w in rows])  # type: ignore[index]
    assert judgesheet.correct(other, "random", verdicts=words) == usual
    options = [f"--verdict={word}={meaning}" for word, meaning in words.items()]
    done = run("correct", other, "--labels", "random", "--json", *options)
    assert json.loads(done.stdout)["corrected"]["value"] == pytest.approx(usual.corrected.value)
    if words:
        with pytest.raises(StimuliError, match="--verdict WORD=MEANING"):
            judgesheet.correct(other, "random")


def test_a_number_off_the_scale_names_the_option_that_reads_it(table: Write) -> None:
    path = table("id,verdict,label", [["a", 3, 4], ["b", 10, ""], ["c", 0, 2]])
    with pytest.raises(StimuliError, match=r":3: .*say --scale 0:10$"):
        judgesheet.correct(path, "random", scale=(1, 5))
    with pytest.raises(StimuliError, match=r":2: .*say --human-scale 1:4$"):
        judgesheet.correct(path, "random", scale=(0, 10), human_scale=(1, 3))


# -- pages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("labels", ["random", "chosen"])
def test_every_format_holds_the_systems(
    form: str, labels: str, table: Write, tmp_path: Path
) -> None:
    rows = scores((("one|<b>", 0.5), ("=two", 0.0)), 60, 30)
    path, out = table("id,system,verdict,label", rows), tmp_path / f"page.{form}"
    done = run("correct", path, "--labels", labels, "--to", f"{form}={out}")
    assert done.returncode == 0, done.stderr
    content = out.read_bytes()
    if form == "pdf":
        assert content.startswith(b"%PDF")
    elif form == "json":
        record: dict[str, Any] = json.loads(content)
        assert {"corrected", "raw", "differences"} <= record.keys()
    else:
        text = content.decode()
        assert "two" in text
        # As a name it is text; a page's own words in bold are closed.
        assert text.count("<b>") == (text.count("one|<b>") if form == "csv" else text.count("</b>"))


def test_formats_are_written_to_their_files_and_one_is_printed(
    table: Write, tmp_path: Path
) -> None:
    path = table("id,verdict,label", judged(40, 20))
    given = ("correct", path, "--labels", "random")
    for wrong in (("--to", "html", "--to", "csv"), ("--to", "html", "--json"), ("--to", "pdf")):
        refused = run(*given, *wrong)
        assert (refused.returncode, refused.stdout) == (2, "")
    page, rows = tmp_path / "page.html", tmp_path / "rows.csv"
    done = run(*given, "--to", f"html={page}", "--to", f"csv={rows}", "--json")
    assert {"corrected", "raw"} <= json.loads(done.stdout).keys()
    assert page.stat().st_size > 1000
    assert rows.read_text("utf-8").count(",") > 5


def test_the_page_of_two_systems_says_why_a_figure_is_missing(table: Write) -> None:
    rows = [
        [f"q{n}", name, int(said), int(n % 10 < 7) if n < 20 else None]
        for n in range(100)
        for name, said in (("able", n % 10 < 8), ("guessed", n % 2))
    ]
    path = table("id,system,verdict,label", rows)
    found = judgesheet.correct(path, "random")
    page = render(found, "md", "a4").decode()
    assert "A dash under Rogan-Gladen means " in page


@pytest.mark.parametrize(("systems", "shown"), [(10, 45), (12, 11)])
def test_the_page_of_many_systems_has_the_differences_of_neighbours(
    systems: int, shown: int, table: Write
) -> None:
    named = [(f"s{number:02}", number / 4 - 1.5) for number in range(systems)]
    path = table("id,system,verdict,label", scores(named, 30, 20))
    of_all = systems * (systems - 1) // 2
    text = run("correct", path, "--labels", "random", "--scale", "1:5").stdout
    rows = [line for line in text.splitlines() if line.startswith("| s") and " less s" in line]
    assert len(rows) == shown
    assert (f"{of_all - shown} more differences are in the JSON" in text) == (shown < of_all)
    lines = run("correct", path, "--labels", "random", "--scale", "1:5", "--to", "csv").stdout
    assert lines.count(",difference,") == of_all
    table_of = text.split("## Systems")[1].split("## ")[0]
    ranked = re.findall(r"^\| (s\d+) ", table_of, flags=re.M)
    if shown < of_all:
        assert [f"{one} less {other}" for one, other in pairwise(ranked)] == [
            row.split(" | ")[0].removeprefix("| ") for row in rows
        ]


def test_the_same_table_gives_the_same_bytes(table: Write) -> None:
    path = table("id,system,verdict,label", scores((("a", 0.5), ("b", 0.0)), 40, 20))
    first, second = (run("correct", path, "--labels", "random", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["corrected"]["value"]


@pytest.mark.parametrize(
    ("header", "reported"),
    [
        (
            "prompt,response,human_score,llm_score",
            "id=response,verdict=llm_score,label=human_score",
        ),
        (
            "question_id,model,judge_verdict,human_label",
            "id=question_id,verdict=judge_verdict,label=human_label,system=model",
        ),
        ("question_id,model_a,model_b,winner", "id=question_id,verdict=winner,"),
        (
            "model,nr,judge_score,human_score",
            "id=model,verdict=judge_score,label=human_score;",
        ),
        (
            "nr,model,judge_score,human_score",
            "id=nr,verdict=judge_score,label=human_score;",
        ),
    ],
)
def test_a_table_of_other_column_names_is_told_a_map(
    header: str, reported: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    rows = ("p,r1,1,2", "p,r2,3,4") if "response" in header else ("q1,m,1,1", "q2,m,0,0")
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"perhaps --map {reported}")):
        read(path, Choice("random"))


def answered(n: int, **more: object) -> dict[str, object]:
    texts = {f"output_{side}": f"{side}, {n}: " + "a long answer, " * 20 for side in (1, 2)}
    return {"instruction": f"do {n}", **texts, "preference": 1 + n % 2, **more}


GENERATORS = {"generator_1": "ours", "generator_2": "theirs"}


@pytest.mark.parametrize(
    ("renamed", "more", "sides"),
    [
        ("preference", GENERATORS, ("first", "second")),
        ("winner", GENERATORS, ("generator_1", "generator_2")),
        ("winner", {"by_1": "x", "by_2": "y"}, ("by_1", "by_2")),
        ("winner", {}, ("COLUMN", "COLUMN")),
    ],
    ids=["a known log", "names", "short words", "texts alone"],
)  # fmt: skip
def test_no_text_is_proposed_as_the_name_of_a_system(
    renamed: str, more: dict[str, object], sides: tuple[str, str], tmp_path: Path
) -> None:
    rows = [answered(n, **more) for n in range(8)]
    path = tmp_path / "table.json"
    path.write_text(json.dumps(rows).replace("preference", renamed), encoding="utf-8")
    fields = ("id", "verdict", "first", "second", "label")
    reported = dict(zip(fields, ("instruction", "winner", *sides, "COLUMN"), strict=True))
    with pytest.raises(UsageError) as refused:
        read(path, Choice("random"))
    option = str(refused.value).partition("--map ")[2].partition(";")[0]
    assert dict(pair.split("=") for pair in option.split(",")) == reported
