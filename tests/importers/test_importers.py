"""Foreign files become stimuli: public data sets where they lie here, small files of their form."""

import csv
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axis.material import clusters
from judgesheet.base.errors import JudgesheetError, RunError, StimuliError, UsageError
from judgesheet.base.files import kind_of
from judgesheet.base.limits import LONGEST_LINE
from judgesheet.cli import main
from judgesheet.importers import FORMATS
from judgesheet.planning.stimuli import load
from tests.simulate import SHARED

Record = dict[str, Any]

RUBRIC = {"coherence": ["loose", "firm"], "style": ["plain", "fine"]}
PLAIN = {"prompt": "question", "text": "answer"}


def written(path: Path, records: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def tabled(path: Path, header: Sequence[str], lines: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *lines])
    return path


def stimuli(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def imported(form: str, path: Path, axis: str, tmp: Path) -> list[Record]:
    """The stimuli of an axis."""
    judgesheet.import_stimuli(form, path, tmp / "out.jsonl", axis=axis)
    return stimuli(tmp / "out.jsonl")


# -- the public data sets --------------------------------------------------------------------------


def public(name: str) -> Path:
    path = SHARED / "data" / name
    if not path.is_file():
        pytest.skip("the public data sets are not here")
    return path


def test_hanna_has_the_published_means(tmp_path: Path) -> None:
    means = {}
    for criterion in FORMATS["hanna"].rubrics:
        done = judgesheet.import_stimuli(
            "hanna", public("hanna.jsonl.gz"), tmp_path / "h.jsonl", axis="score_order",
            criterion=criterion,
        )  # fmt: skip
        assert (done.stimuli, done.candidates) == (96, 96)
        means[criterion] = round(done.criteria[criterion]["mean"], 2)
    assert means == {
        "Relevance": 4.17, "Coherence": 4.43, "Empathy": 3.22, "Surprise": 3.15,
        "Engagement": 3.88, "Complexity": 3.73,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("criterion", "expert", "crowd"),
    [("coherence", 3.353, 3.801), ("consistency", 4.553, 3.816), ("fluency", 4.608, 3.709),
     ("relevance", 3.718, 3.930)],
)  # fmt: skip
def test_summeval_has_the_published_means(
    tmp_path: Path, criterion: str, expert: float, crowd: float
) -> None:
    for raters, mean, count in (("expert", expert, 3), ("crowd", crowd, 5)):
        done = judgesheet.import_stimuli(
            "summeval", public("summeval.jsonl.gz"), tmp_path / "s.jsonl", axis="score_order",
            criterion=criterion, raters=raters,
        )  # fmt: skip
        assert (done.stimuli, done.candidates) == (100, 1200)
        assert done.criteria[criterion]["mean"] == pytest.approx(mean, abs=5e-4)
        assert done.criteria[criterion]["raters_min"] == count


def test_prometheus_scores_are_a_models_and_dialogues_share_a_prompt(tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    done = judgesheet.import_stimuli("prometheus", public("mt_bench.jsonl.gz"), out)
    assert (done.stimuli, done.candidates) == (80, 320)
    assert list(done.criteria) == [""]
    labels = list(get_axis("score_order").labels(load(get_axis("score_order"), out)))
    assert {label.kind for label in labels} == {"model"}
    assert {len(label.ratings) for label in labels} == {3}


def test_judgebench_keeps_label_and_source(tmp_path: Path) -> None:
    out = tmp_path / "j.jsonl"
    done = judgesheet.import_stimuli("judgebench", public("judgebench_gpt.jsonl.gz"), out)
    assert (done.stimuli, done.gold) == (350, 350)
    found = stimuli(out)
    assert sum(pair["better"] == "u" for pair in found) == 193
    assert len({pair["source"] for pair in found}) == 17


def test_neither_place_nor_name_tells_the_best_answer(tmp_path: Path) -> None:
    path = public("truthfulqa_listwise4.jsonl.gz")
    found = imported("rewardbench2", path, "listwise_consensus", tmp_path)
    assert len(found) == 662  # one question has the same wrong answer twice
    places = [[c["id"] for c in one["candidates"]].index(one["gold"]) for one in found]
    for place in range(4):
        assert 130 < places.count(place) < 200


def test_criteria_and_ratings_reach_criterion_order(tmp_path: Path) -> None:
    found = imported("hanna", public("hanna.jsonl.gz"), "criterion_order", tmp_path)
    assert len(found) == 96
    assert [one["name"] for one in found[0]["criteria"]] == list(FORMATS["hanna"].rubrics)
    assert found[0]["candidates"][0]["human"]["Relevance"] == [4, 5, 2]
    found = imported("summeval", public("summeval.jsonl.gz"), "criterion_order", tmp_path)
    assert {len(one["candidates"]) for one in found} == {12}


# -- forms that are not here, small --------------------------------------------------------------


def test_hannas_own_table_has_a_line_a_rater_and_a_stimulus_a_prompt(tmp_path: Path) -> None:
    header = ["Story ID", "Prompt", "Human", "Story", "Model", *FORMATS["hanna"].rubrics,
              "Worker ID", "Assignment ID", "Work time in seconds", "Name"]  # fmt: skip
    lines = [
        [n, prompt, "h", f"story {n}", model, *[rater + 1] * 6, f"W{rater}{n}", "A", 9, "Ann"]
        for n, prompt, model in ((0, "p0", "Human"), (1, "p1", "Human"), (96, "p0", "GPT-2 (tag)"))
        for rater in range(2 if n == 1 else 3)
    ]  # fmt: skip
    path = tabled(tmp_path / "hanna_stories_annotations.csv", header, lines)
    done = judgesheet.import_stimuli(
        "hanna", path, tmp_path / "h.jsonl", axis="score_order", criterion="Surprise"
    )
    first, second = stimuli(tmp_path / "h.jsonl")
    assert [c["id"] for c in first["candidates"]] == ["Human", "GPT-2-tag-" + _mark("GPT-2 (tag)")]
    assert first["candidates"][1]["human"] == [1, 2, 3]
    assert second["candidates"][0]["human"] == [1, 2, None]
    assert "1 of 3 responses have fewer ratings of Surprise" in done.notes[0]
    assert done.criteria["Surprise"]["raters_min"] == 2


def _mark(raw: str) -> str:
    from judgesheet.base.records import digest

    return digest(raw)[:6]


def test_summevals_own_file_has_a_list_of_raters(tmp_path: Path) -> None:
    record = {
        "id": "a1", "decoded": "short", "model_id": "M0", "text": "long", "references": ["r"],
        "filepath": "f",
        "expert_annotations": [dict.fromkeys(FORMATS["summeval"].rubrics, n) for n in (1, 2, 3)],
        "turker_annotations": [dict.fromkeys(FORMATS["summeval"].rubrics, 5)],
    }  # fmt: skip
    path = written(tmp_path / "s.jsonl", [record, {**record, "model_id": "M1"}])
    done = judgesheet.import_stimuli(
        "summeval", path, tmp_path / "o.jsonl", axis="score_order", criterion="fluency",
        systems=["M1"],
    )  # fmt: skip
    (found,) = stimuli(tmp_path / "o.jsonl")
    assert [c["human"] for c in found["candidates"]] == [[1, 2, 3]]
    assert found["prompt"].endswith("long")
    assert done.skipped == {"a system that was not chosen": (1, "s.jsonl:1")}
    unpaired = written(tmp_path / "u.jsonl", [{k: v for k, v in record.items() if k != "text"}])
    with pytest.raises(StimuliError):
        judgesheet.import_stimuli(
            "summeval", unpaired, tmp_path / "o.jsonl", axis="score_order", criterion="fluency"
        )


def test_the_feedback_collection_is_read(tmp_path: Path) -> None:
    record = {f"orig_score{n}_description": f"level {n}" for n in range(1, 6)} | {
        "orig_instruction": "do", "orig_response": "done", "orig_reference_answer": "ref",
        "orig_criteria": "is it done?", "orig_score": "4",
    }  # fmt: skip
    path = written(tmp_path / "f.jsonl", [record, {**record, "orig_response": "not done"}])
    judgesheet.import_stimuli("prometheus", path, tmp_path / "o.jsonl")
    (found,) = stimuli(tmp_path / "o.jsonl")
    assert found["rubric"]["levels"][0] == "level 1"
    assert [c["model"] for c in found["candidates"]] == [4, 4]
    assert "human" not in found["candidates"][0]


def mt_bench(folder: Path) -> list[Path]:
    questions = [
        {"question_id": 81, "category": "writing", "turns": ["a?", "b?"], "reference": ["A", "B"]},
        {"question_id": 82, "category": "math", "turns": ["c?", "d?"]},
    ]
    answers = [
        {"question_id": 81, "answer_id": "x", "model_id": model, "tstamp": 1.0,
         "choices": [{"index": 0, "turns": [f"{model} one", f"{model} two"]}]}
        for model in ("m1", "m2")
    ]  # fmt: skip
    stray = {"question_id": 99, "model_id": "m1", "choices": [{"index": 0, "turns": ["?"]}]}
    return [
        written(folder / "m.jsonl", [*answers, stray]),
        written(folder / "question.jsonl", questions),
    ]


def test_mt_bench_joins_questions_and_answers_in_any_order(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    done = judgesheet.import_stimuli(
        "mt-bench", mt_bench(tmp_path), out, axis="score_order", turn=2,
        rubric={"help": ["none", "some", "much"]},
    )  # fmt: skip
    (found,) = stimuli(out)
    assert found["prompt"] == "User 1: a?\n\nUser 2: b?"
    assert found["reference"] == "Answer 1: A\n\nAnswer 2: B"
    assert [c["id"] for c in found["candidates"]] == ["m1", "m2"]
    assert done.skipped["a prompt without responses"] == (1, "question.jsonl:2")
    assert done.skipped["an answer without turn 2"] == (1, "m.jsonl:3")
    judgesheet.import_stimuli("mt-bench", mt_bench(tmp_path), out, axis="candidate_order")
    (pair,) = stimuli(out)
    assert {pair["u"], pair["v"]} == {"m1 one", "m2 one"}
    assert pair["better"] is None
    with pytest.raises(UsageError, match="--rubric"):
        judgesheet.import_stimuli("mt-bench", mt_bench(tmp_path), out, axis="score_order")


# -- tables of anybody's ---------------------------------------------------------------------------


def table(tmp_path: Path, form: str, records: Sequence[Record]) -> Path:
    path = tmp_path / f"table.{form}"
    if form == "jsonl":
        return written(path, records)
    if form == "csv":
        header = list(records[0])
        cells = [[json.dumps(r[h]) if isinstance(r[h], list) else r[h] for h in header]
                 for r in records]  # fmt: skip
        return tabled(path, header, cells)
    import pandas as pd

    pd.DataFrame(records).to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_table_is_mapped(tmp_path: Path, form: str) -> None:
    records = [
        {"question": "q1", "answer": "text, with comma", "name": "a", "coh": [4, 5], "id": "s",
         "who": "ann"},
        {"question": "q1", "answer": "line\nbreak", "name": "b", "coh": [2, 3], "id": "s",
         "who": "ann"},
    ]  # fmt: skip
    columns = {**PLAIN, "item": "name", "stimulus": "id", "human.coherence": "coh", "group": "who"}
    out = tmp_path / "o.jsonl"
    done = judgesheet.import_stimuli(
        form, table(tmp_path, form, records), out, axis="score_order", columns=columns,
        rubric=RUBRIC, criterion="coherence",
    )  # fmt: skip
    (found,) = stimuli(out)
    assert (found["id"], found["group"]) == ("s", "ann")
    assert [c["human"] for c in found["candidates"]] == [[4, 5], [2, 3]]
    assert done.criteria["coherence"]["mean"] == 3.5
    assert load(get_axis("score_order"), out)


def test_raters_with_lines_of_their_own_keep_their_places(tmp_path: Path) -> None:
    lines = [("q", "x", "a", "ann", 1), ("q", "y", "b", "bob", 2), ("q", "x", "a", "bob", 3)]
    path = tabled(tmp_path / "t.csv", ["question", "answer", "item", "who", "score"], lines)
    columns = {**PLAIN, "item": "item", "rater": "who", "human": "score"}
    judgesheet.import_stimuli(
        "csv", path, tmp_path / "o.jsonl", axis="score_order", columns=columns,
        rubric={"any": ["bad", "good"]},
    )  # fmt: skip
    (found,) = stimuli(tmp_path / "o.jsonl")
    assert [c["human"] for c in found["candidates"]] == [[1, 3], [None, 2]]


def test_ratings_without_a_criterion_are_filled_up_too(tmp_path: Path) -> None:
    ragged = [{**ROW, "answer": answer, "s": s} for answer, s in (("a", [4, 5]), ("b", [3]))]
    path = written(tmp_path / "t.jsonl", ragged)
    _plain(path, tmp_path / "o.jsonl", columns={"human": "s"})
    (found,) = stimuli(tmp_path / "o.jsonl")
    assert [c["human"] for c in found["candidates"]] == [[4, 5], [3, None]]


def test_ratings_that_an_axis_cannot_hold_are_not_dropped_in_silence(tmp_path: Path) -> None:
    path = tabled(tmp_path / "t.csv", ("q", "a", "s"), [("p", "one", 5), ("p", "two", 1)])
    columns = {"prompt": "q", "text": "a", "human": "s"}
    notes = {
        axis: judgesheet.import_stimuli(
            "csv", path, tmp_path / f"{axis}.jsonl", axis=axis, columns=columns, rubric=rubric
        ).notes
        for axis, rubric in (("candidate_order", None), ("score_order", {"any": ["bad", "good"]}))
    }
    (note,) = notes["candidate_order"]
    assert note.startswith("no stimulus for candidate_order holds a rating of human; what it can")
    assert not notes["score_order"]


def test_pairs_and_paths_into_objects(tmp_path: Path) -> None:
    record = {"q": "who?", "answers": {"left": "me", "right": "you"}, "label": "B"}
    path = written(tmp_path / "p.jsonl", [record, {**record, "label": "tie"}])
    columns = {"prompt": "q", "u": "answers.left", "v": "answers.right", "better": "label"}
    judgesheet.import_stimuli(
        "jsonl", path, tmp_path / "o.jsonl", axis="candidate_order", columns=columns
    )
    assert [pair["better"] for pair in stimuli(tmp_path / "o.jsonl")] == ["v", None]
    named = tabled(tmp_path / "n.csv", ("q", "Ours", "theirs", "best"),
                   [("p", "a", "b", "ours"), ("r", "a", "b", "theirs")])  # fmt: skip
    judgesheet.import_stimuli(
        "csv", named, tmp_path / "o.jsonl", axis="candidate_order",
        columns={"prompt": "q", "u": "Ours", "v": "theirs", "better": "best"},
    )  # fmt: skip
    assert [pair["better"] for pair in stimuli(tmp_path / "o.jsonl")] == ["u", "v"]
    with pytest.raises(StimuliError, match=r"'answers\.middle'.*left, right"):
        judgesheet.import_stimuli(
            "jsonl", path, tmp_path / "o.jsonl", axis="candidate_order",
            columns={**columns, "u": "answers.middle"},
        )  # fmt: skip


@pytest.mark.parametrize("head", ["\ufeffquestion;answer", "question\tanswer", "question,answer"])
def test_a_table_may_have_a_mark_and_any_delimiter(tmp_path: Path, head: str) -> None:
    mark = next(sign for sign in ";\t," if sign in head)
    path = tmp_path / "t.csv"
    path.write_text(f'{head}\r\nq{mark}"a; b\t, c"\r\n', encoding="utf-8", newline="")
    _plain(path, tmp_path / "o.jsonl")
    assert stimuli(tmp_path / "o.jsonl")[0]["candidates"][0]["text"] == "a; b\t, c"


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"question": "q", "answer": "a\\ud83d b \\ud83d\\ude00"}\n', encoding="utf-8")
    _plain(path, tmp_path / "o.jsonl")
    assert stimuli(tmp_path / "o.jsonl")[0]["candidates"][0]["text"] == "a\ufffd b \U0001f600"


def test_gzip_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("question,answer\nq,a\n")
    _plain(path, tmp_path / "o.jsonl")
    assert len(stimuli(tmp_path / "o.jsonl")) == 1


def _plain(path: Path, out: Path, **options: Any) -> None:
    kind = options.pop("kind", None) or kind_of(path)
    columns = {**PLAIN, **options.pop("columns", {})}
    rubric = options.pop("rubric", {"any": ["bad", "good"]})
    judgesheet.import_stimuli(
        kind, path, out, axis="score_order", columns=columns, rubric=rubric, **options
    )


# -- what is no stimuli ----------------------------------------------------------------------------

Maker = Callable[[Path], Path]
ROW = {"question": "q", "answer": "a"}


def rated(*scores: object) -> Maker:
    return lambda tmp: written(
        tmp / "t.jsonl", [{**ROW, "question": f"q{n}", "s": one} for n, one in enumerate(scores)]
    )


def raw(name: str, content: bytes) -> Maker:
    def make(tmp: Path) -> Path:
        path = tmp / name
        path.write_bytes(content)
        return path

    return make


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (raw("t.jsonl", b""), {}, "no rows"),
        (raw("t.csv", b""), {}, "no rows"),
        (raw("t.csv", b"question,answer\n"), {}, "no rows"),
        (raw("t.jsonl", b"\x89PNG\r\n\x1a\n\xff\xfe"), {}, "not UTF-8"),
        (raw("t.csv", b"\x00\x01\xff"), {}, "not UTF-8"),
        (raw("t.parquet", b"PAR1 no"), {}, "Parquet"),
        (raw("t.jsonl.gz", b"no gzip"), {}, "cannot be read"),
        (raw("t.jsonl", b"[1, 2]\n"), {}, "one object per line"),
        (raw("t.jsonl", b'{"question": "q"}\n'), {}, "t.jsonl:1: there is no column 'answer'"),
        (raw("t.csv", b"question,reply\nq,a\n"), {}, "the columns are question, reply"),
        (raw("t.csv", b"question,answer\nq\n"), {},
         "t.csv:2: the header has 2 columns, and this line 1;"),
        (raw("t.csv", b"question,answer,answer\nq,a,b\n"), {}, "occurs twice"),
        (raw("t.csv", b'question,answer\nq,"a\n'), {}, "CSV"),
        (raw("t.jsonl", b'{"question": "q", "answer": ["a"]}\n'), {}, "not text"),
        (raw("t.jsonl", b'{"question": "q", "answer": "' + b"x" * 5_000_000 + b'"}\n'), {},
         f"t.jsonl:1: the line has more than {LONGEST_LINE:,} characters"),
        (raw("t.csv", b"question,answer\nq," + b"x" * 5_000_000 + b"\n"), {}, "more than"),
        (raw("t.csv", b'question,answer\nq,"' + b"x\n" * 2_500_000 + b'"\n'), {}, "field larger"),
        (rated(3, 9), {"columns": {"human": "s"}, "scale": (1, 5)}, "t.jsonl:2: score is 9"),
        (rated(0.2, 0.8, 4), {"columns": {"human": "s"}}, "two scales: a number below 1 at"),
        (rated(3, "good"), {"columns": {"human": "s"}}, "t.jsonl:2: s is 'good', which is not a"),
        (rated(1, 2), {"columns": {"human": "s", "stimulus": "answer"}}, "another prompt than"),
        (rated(1), {"columns": {"huamn": "s"}}, "no such field"),
        (rated("maybe"), {"columns": {"gold": "s"}}, "it can be true, yes"),
        (rated(1), {"rubric": {"only": ["one"]}}, "rubric.levels"),
        (rated(1), {"rubric": {"a": ["x", "y"], "b": ["x", "y"]}}, "--criterion: a, b"),
        (rated(1), {"criterion": "c"}, "there is no criterion 'c'"),
        (rated(1), {"systems": ["none"]}, "nothing is left to import"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(
    tmp_path: Path, make: Maker, options: Record, words: str
) -> None:
    out = tmp_path / "o.jsonl"
    with pytest.raises(JudgesheetError) as caught:
        _plain(make(tmp_path), out, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not out.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".import")] == []


def test_half_points_are_one_scale(tmp_path: Path) -> None:
    _plain(rated(0.5, 1.5, 4)(tmp_path), tmp_path / "o.jsonl", columns={"human": "s"})
    _plain(rated(0.5, 4)(tmp_path), tmp_path / "o.jsonl", columns={"human": "s"}, scale=(0, 5))
    _plain(rated(0, 1, 4)(tmp_path), tmp_path / "o.jsonl", columns={"human": "s"})


def test_a_response_that_stands_twice_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", [{**ROW, "n": "a"}, {**ROW, "n": "a"}])
    with pytest.raises(StimuliError, match=r"t\.jsonl:2: 'a'.*t\.jsonl:1"):
        _plain(path, tmp_path / "o.jsonl", columns={"item": "n"})


def test_an_older_output_survives_a_failure_and_an_input_is_not_overwritten(tmp_path: Path) -> None:
    out = written(tmp_path / "o.jsonl", [{"old": 1}])
    with pytest.raises(StimuliError):
        _plain(rated("x")(tmp_path), out, columns={"human": "s"})
    assert stimuli(out) == [{"old": 1}]
    path = rated(1)(tmp_path)
    with pytest.raises(RunError):
        _plain(path, path)


def test_a_format_says_what_it_serves(tmp_path: Path) -> None:
    path = rated(1)(tmp_path)
    for form, axis, words in (
        ("none", None, "hanna"),
        ("csv", None, "--axis"),
        ("hanna", "candidate_order", "criterion_order, score_order"),
    ):
        with pytest.raises(UsageError, match=words):
            judgesheet.import_stimuli(form, path, tmp_path / "o.jsonl", axis=axis)


@pytest.mark.parametrize("form", [name for name in FORMATS if FORMATS[name].holds])
def test_every_format_names_licence_and_source(form: str) -> None:
    assert FORMATS[form].licence
    assert FORMATS[form].attribution
    for rubric in FORMATS[form].rubrics.values():
        assert len(set(rubric["levels"])) == 5


def test_the_command_prints_what_it_found(tmp_path: Path) -> None:
    path, rubric = rated(4, 5)(tmp_path), tmp_path / "rubric.json"
    rubric.write_text('{"any": ["bad", "good"]}', encoding="utf-8")
    command = ["stimuli", "import", "jsonl", str(path), "--out", str(tmp_path / "o.jsonl"),
               "--axis", "score_order", "--map", "prompt=question,text=answer",
               "--map", "human=s", "--rubric", str(rubric)]  # fmt: skip
    said = CliRunner().invoke(main, command)
    assert said.exit_code == 0, said.output
    assert "any: mean 4.500, from 4 to 5, 1 rating for each of 2 responses" in said.output
    found = json.loads(CliRunner().invoke(main, [*command, "--json", "--force"]).output)
    assert (found["stimuli"], found["criteria"]["any"]["mean"]) == (2, 4.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--map", "prompt"], "write FIELD=COLUMN"),
        (["--scale", "5:1"], "two numbers"),
        (["--scale", "nan:1"], "two numbers"),
        (["--map", "prompt=question"], "--map text=COLUMN"),
        (["--map", "human=ann", "--map", "human=ben"], "human has the column ann already"),
        (["--map", "prompt=q,text=a,grp=c"], "item, group, domain"),
    ],
)
def test_options_that_say_nothing_are_usage_errors(
    tmp_path: Path, options: list[str], words: str
) -> None:
    command = ["stimuli", "import", "jsonl", str(rated(1)(tmp_path)), "--axis", "score_order",
               "--out", str(tmp_path / "o.jsonl"), *options]  # fmt: skip
    said = CliRunner().invoke(main, command)
    assert said.exit_code == 2
    assert words in said.output


@pytest.mark.parametrize(
    ("header", "reported"),
    [
        (
            "instruction,output_1,output_2,preference",
            "prompt=instruction,u=output_1,v=output_2,better=preference",
        ),
        ("question,model,answer,score", "prompt=question,text=answer,item=model"),
        ("q,reply", "prompt=COLUMN,text=reply"),
    ],
)
def test_a_table_without_a_map_is_told_one(header: str, reported: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    row = ",".join("abc1"[: header.count(",") + 1])
    path.write_text(f"{header}\n{row}\n", "utf-8")
    with pytest.raises(UsageError, match=f"perhaps --map {reported} "):
        judgesheet.import_stimuli("csv", path, tmp_path / "out.jsonl", axis="candidate_order")


# -- scales, criteria and further kinds of tables --------------------------------------------------


def test_a_json_list_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{**ROW, "answer": one} for one in ("a", "b")], indent=1))
    _plain(path, tmp_path / "o.jsonl", kind="json")
    (found,) = stimuli(tmp_path / "o.jsonl")
    assert [(c["id"], c["text"]) for c in found["candidates"]] == [("r1", "a"), ("r2", "b")]


@pytest.mark.parametrize(
    ("word", "better"),
    [("A>>B", "u"), ("[[B]]", "v"), ("model_a", "u"), (2, "v"), ("A=B", None)],
)
def test_the_better_one_of_a_pair_is_said_in_the_words_of_logs(
    word: object, better: str | None, tmp_path: Path
) -> None:
    path = written(tmp_path / "p.jsonl", [{"q": "who?", "one": "me", "two": "you", "won": word}])
    columns = {"prompt": "q", "u": "one", "v": "two", "better": "won"}
    out = tmp_path / "o.jsonl"
    judgesheet.import_stimuli("jsonl", path, out, axis="candidate_order", columns=columns)
    assert [pair["better"] for pair in stimuli(out)] == [better]
    written(path, [{"q": "who?", "one": "me", "two": "you", "won": 0}])
    with pytest.raises(StimuliError, match=r"p\.jsonl:1: won is '0'"):
        judgesheet.import_stimuli("jsonl", path, out, axis="candidate_order", columns=columns)


def criteria(tmp_path: Path, axis: str, **options: Any) -> list[Record]:
    lines = [("q1", "x", 0, 10), ("q1", "y", 5, 2), ("q2", "z", 10, 7)]
    path = tabled(tmp_path / "t.csv", ("question", "answer", "c", "s"), lines)
    columns = {**PLAIN, "human.Clarity": "c", "human.Style": "s"}
    judgesheet.import_stimuli(
        "csv", path, tmp_path / "o.jsonl", axis=axis, columns=columns, **options
    )
    return stimuli(tmp_path / "o.jsonl")


def test_all_criteria_are_graded_one_by_one_on_the_same_responses(tmp_path: Path) -> None:
    rubric = {"Clarity": ["bad", "good"], "Style": ["plain", "fine"]}
    found = criteria(tmp_path, "score_order", criterion="all", rubric=rubric)
    assert [one["rubric"]["criterion"] for one in found] == ["Clarity", "Style"] * 2
    assert len({one["id"] for one in found}) == 4
    assert len({one["group"] for one in found}) == 2
    assert [c["human"] for one in found for c in one["candidates"]] == [0, 5, 10, 2, 10, 7]
    pool = load(get_axis("score_order"), tmp_path / "o.jsonl")
    assert len(clusters(pool)) == 2  # of four two are no others


def test_criteria_that_are_only_described_get_the_range_of_the_scale(tmp_path: Path) -> None:
    rubric = {"Clarity": "How clear it is.", "Style": {"description": "How fine it is."}}
    (first, _) = criteria(tmp_path, "criterion_order", scale=(0, 10), rubric=rubric)
    assert [one["range"] for one in first["criteria"]] == [[0, 10], [0, 10]]
    assert first["criteria"][0]["description"] == "How clear it is."
    with pytest.raises(UsageError, match="--scale LOW:HIGH"):
        criteria(tmp_path, "criterion_order", rubric=rubric)
    with pytest.raises(UsageError, match="described scores"):
        criteria(tmp_path, "score_order", criterion="Style", scale=(0, 10), rubric=rubric)


def test_levels_have_the_numbers_of_a_scale_that_is_as_long(tmp_path: Path) -> None:
    eleven = {"Clarity": [f"level {n}" for n in range(11)]}
    five = {"Clarity": [f"level {n}" for n in range(5)]}
    options: Record = {"criterion": "Clarity", "scale": (0, 10)}
    (found, _) = criteria(tmp_path, "score_order", rubric=eleven, **options)
    assert found["rubric"]["range"] == [0, 10]
    (found, _) = criteria(tmp_path, "score_order", rubric=five, **options)
    assert "range" not in found["rubric"]


def test_a_rating_off_the_scale_names_the_option_that_reads_it(tmp_path: Path) -> None:
    with pytest.raises(StimuliError, match=r"say --scale 0:10$"):
        criteria(tmp_path, "score_order", scale=(1, 5), criterion="Clarity",
                 rubric={"Clarity": ["bad", "good"]})  # fmt: skip
