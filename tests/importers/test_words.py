"""What people and tools write for a verdict: words, lists, two games, two scores, two files."""

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgesheet import ingest, inspect_log, load
from judgesheet.base.errors import JudgesheetError, StimuliError, UsageError
from judgesheet.importers import logs
from judgesheet.importers.logs import LogOptions, scale_of
from judgesheet.importers.words import score_in, slot_of
from tests.command import run, sentence

Record = dict[str, Any]


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def reported(path: Path, **chosen: Any) -> list[Record]:
    return [record for record, _ in logs.reader([path], LogOptions(**chosen)).records()]


def verdicts(rows: Iterable[Record], axis: str = "") -> list[Any]:
    return [row["verdict"] for row in rows if axis in row.get("axis", "human")]


@pytest.mark.parametrize(
    ("word", "slot"),
    [
        *((word, 1) for word in ("A", "A>B", "A>>B", "B<A", "[[A]]", "Assistant A", "MODEL_1")),
        *((word, 2) for word in ("b", "B>>A", "A<B", "[[B>A]]", "output_2", "rightvote", 2.0)),
        *(
            (word, "tie")
            for word in (
                "A=B",
                "[[C]]",
                "tievote",
                "bothbad_vote",
                "Tie (bothbad)",
                "no preference",
            )
        ),
        ("The second one is clearer. My verdict: [[B>A]]", 2),
        ("a wins", 1),
        ("1.0", 1),
        ("invalid", None),
    ],
)
def test_words_of_public_tools_are_known(word: object, slot: int | str | None) -> None:
    assert slot_of(word) == slot


@pytest.mark.parametrize("word", ["0", 0, "-1", "C", "A>A", "neither", "[[A]] or [[B]]", "", "1.2"])
def test_what_is_in_no_family_is_not_guessed(word: object) -> None:
    with pytest.raises(KeyError):
        slot_of(word)


@pytest.mark.parametrize(
    ("text", "score"),
    [("Coherence: 4", 4), ("[[4]]", 4), ("**Score**: 3.5", 3.5), ("Rating: 3 out of 5", 3),
     ("2/5", 2), ("8/10", None), ("not a 5", None), ("3 or 4", None), ("4\n\nThe summary", None)],
)  # fmt: skip
def test_a_score_is_read_where_nothing_else_is_said(text: str, score: float | None) -> None:
    assert score_in(text, 5) == score


SCORES = {"stimulus": "q", "verdict": "s"}
NAMES = {"stimulus": "q", "first": "a", "second": "b", "verdict": "w"}


def table_of(path: Path, *words: Any) -> Path:
    """Pairs in both orders, each with the next two words."""
    rows = [
        {"q": f"q{n // 2}", "a": "xy"[n % 2], "b": "yx"[n % 2], "w": word}
        for n, word in enumerate(words)
    ]
    return lines(path, rows)


def test_a_word_means_what_the_user_says(tmp_path: Path) -> None:
    path = table_of(tmp_path / "log.jsonl", "C", "A=B?", 0, "B")
    said = {"C": "tie", "A=B?": "1", "0": "invalid"}
    found = verdicts(reported(path, columns=NAMES, verdicts=said))
    assert found[:2] + found[3:] == ["tie", 1, 2]
    options = ("--verdict", "C=tie", "--verdict", "A=B?=1", "--verdict", "0=tie")
    done = run("ingest", path, "--map", "stimulus=q,first=a,second=b,verdict=w", *options,
               "--out", tmp_path / "run", "--no-pdf", "--no-cases")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 verdicts" in done.stderr
    columns = ("--map", "stimulus=q,first=a,second=b,verdict=w", "--out", tmp_path / "x")
    for wrong in ("C", "=1", "C=", "C=maybe"):
        assert "--verdict" in sentence(run("ingest", path, *columns, "--verdict", wrong), 2)


def test_a_map_may_stand_in_a_file(tmp_path: Path) -> None:
    path = table_of(tmp_path / "log.jsonl", "C", "better = A", "C", "B")
    file = tmp_path / "map.toml"
    file.write_text(
        'stimulus = "q"\nfirst = "a"\nsecond = "b"\nverdict = "w"\n'
        '[words]\nC = "tie"\n"better = A" = 1\n'
    )
    options = ("--out", tmp_path / "run", "--no-pdf", "--no-cases")
    done = run("ingest", path, "--map", file, *options)
    assert done.returncode == 0, done.stderr
    assert "4 verdicts" in done.stderr
    assert "map.toml" in sentence(run("ingest", path, "--map", "no/map.toml", *options), 2)
    file.write_text("verdict = [1]")
    assert "map.toml" in sentence(run("ingest", path, "--map", file, *options), 2)


def test_a_word_that_is_not_known_is_reported_with_its_option(tmp_path: Path) -> None:
    path = table_of(tmp_path / "log.jsonl", "C", "A", "left of it", "B")
    with pytest.raises(StimuliError) as caught:
        reported(path, columns=NAMES)
    assert "--verdict C=tie --verdict 'left of it=tie'" in str(caught.value)
    rows = [{"q": f"q{n}", "s": "good" if n % 2 else 3} for n in range(4)]
    with pytest.raises(StimuliError, match="--verdict good=SCORE"):
        reported(
            lines(tmp_path / "s.jsonl", rows),
            columns={"stimulus": "q", "verdict": "s"},
            scale="1:5",
        )


def test_words_of_people_are_read_alike(tmp_path: Path) -> None:
    rows = [{"q": f"q{n}", "s": n % 5 + 1, "h": "bad" if n % 2 else "good"} for n in range(6)]
    columns = {"stimulus": "q", "verdict": "s", "human": "h"}
    path = lines(tmp_path / "log.jsonl", rows)
    found = reported(path, columns=columns, scale="1:5", verdicts={"good": "5", "bad": "1"})
    assert [row["human"]["ratings"] for row in found if "human" in row] == [[5], [1]] * 3


@pytest.mark.parametrize("cell", [[3, 2, None], "[3, 2, null]", "['3', '2', None]"])
def test_a_list_is_several_readings(cell: Any, tmp_path: Path) -> None:
    rows = [{"q": f"q{n}", "s": cell} for n in range(2)]
    found = reported(lines(tmp_path / "log.jsonl", rows), columns={"stimulus": "q", "verdict": "s"},
                 scale="1:3")  # fmt: skip
    assert verdicts(found) == [3, 2, None] * 2
    assert [row["repeat"] for row in found] == [0, 1, 2] * 2
    pairs = reported(table_of(tmp_path / "p.jsonl", ["A", "tie"], ["B"]), columns=NAMES)
    assert verdicts(pairs) == [1, "tie", 2]


def test_two_games_of_a_row_are_the_two_orders(tmp_path: Path) -> None:
    games = [["A>>B", "B>A"], ["A=B", "A>B"]]
    rows = [
        {"uid": f"u{n}", "judge": "j", "model": "m", "baseline": "b",
         "games": [{"score": score} for score in game]}
        for n, game in enumerate(games)
    ]  # fmt: skip
    found = reported(lines(tmp_path / "arena.jsonl", rows), form="arena-hard")
    assert verdicts(found) == [1, 2, "tie", 1]
    assert [row["cell"]["order"] for row in found] == [["u", "v"], ["v", "u"]] * 2
    old = [{"question_id": f"q{n}", **{k: row[k] for k in ("judge", "model", "games")}}
           for n, row in enumerate(rows)]  # fmt: skip
    assert verdicts(reported(lines(tmp_path / "old.jsonl", old))) == [1, 2, "tie", 1]
    report = inspect_log(tmp_path / "arena.jsonl")
    assert any("order_inconsistent" in key for key in report.allows)


def test_what_is_better_holds_for_both_games_of_a_row(tmp_path: Path) -> None:
    rows = [{"q": n, "a": "x", "b": "y", "g": ["A>B", "B>A"], "best": "A>B"} for n in range(4)]
    columns = {"stimulus": "q", "first": "a", "second": "b", "verdict": "g.0", "again": "g.1",
               "better": "best"}  # fmt: skip
    path = lines(tmp_path / "log.jsonl", rows)
    assert [row["cell"]["better"] for row in reported(path, columns=columns)] == ["u"] * 8
    sheet = ingest(path, tmp_path / "run", columns=columns, pdf=False).datasheet
    (found,) = [e for e in sheet.axes[0].estimates
                if e.key == "candidate_order.target_sensitivity[set=natural]"]  # fmt: skip
    assert found.value == 1


def test_the_name_of_a_column_is_its_response(tmp_path: Path) -> None:
    rows = [{"q": 1, "one": "x", "other": "y", "g1": "one", "g2": "one"}]
    columns = {"stimulus": "q", "first": "one", "second": "other", "verdict": "g1", "again": "g2"}
    assert verdicts(reported(lines(tmp_path / "log.jsonl", rows), columns=columns)) == [1, 2]


def test_two_scores_are_a_verdict_and_if_asked_scores(tmp_path: Path) -> None:
    scores = [(8, 7), (7, 8), (5, 5), ("", 4)]
    rows = [
        {"q": f"q{n // 2}", "a": "xy"[n % 2], "b": "yx"[n % 2], "s": score}
        for n, score in enumerate(scores)
    ]
    columns = {"stimulus": "q", "first": "a", "second": "b", "verdict.first": "s.0",
               "verdict.second": "s.1"}  # fmt: skip
    path = lines(tmp_path / "log.jsonl", rows)
    assert verdicts(reported(path, columns=columns)) == [1, 2, "tie", None]
    both = reported(path, columns=columns, scale="0:8")
    assert verdicts(both, "candidate") == [1, 2, "tie", None]
    assert verdicts(both, "score") == [9, 8, 8, 9, 6, 6, None, 5]
    axes = ingest(path, tmp_path / "run", columns=columns, scale="0:8", pdf=False).datasheet.axes
    assert {axis.name: axis.answered for axis in axes} == {"candidate_order": 3, "score_order": 7}


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ((1, 5), "1:5"), ((0, 1), "0:1"), ((0, 0.25, 1), "0:1:0.25"), ((1, 3.5), "1:5:0.5"),
        ((0, 10), "0:10"), ((3, 87), "0:100:10 --round"), ((2, 10), "1:10"),
        ((0.13, 0.94), "0:1:0.1 --round"), ((0.3, 0.9), "0:1:0.1"), ((-1, 1), "-1:1"),
    ],
)  # fmt: skip
def test_a_scale_off_which_scores_are_is_reported(
    scores: tuple[float, ...], scale: str, tmp_path: Path
) -> None:
    assert scale_of(scores) == f"--scale {scale}"
    rows = [{"q": f"q{n // 2}", "n": n % 2, "s": scores[n % len(scores)]} for n in range(8)]
    path, out = lines(tmp_path / "log.jsonl", rows), tmp_path / "run"
    options = ("--map", "stimulus=q,repeat=n,verdict=s", "--out", out, "--no-pdf", "--no-cases")
    said = sentence(run("ingest", path, *options, "--scale", "20:22"))
    assert "--scale" in said
    done = run("ingest", path, *options, *f"--scale {scale}".split())
    assert done.returncode == 0, done.stderr


def test_ratings_come_from_a_second_file(tmp_path: Path) -> None:
    rows = [{"id": n, "q": f"q{n}", "s": n % 5 + 1, "note": "ours"} for n in range(10)]
    people = [{"answer": n, "rating": n % 5 + 1, "note": "theirs"} for n in range(1, 12)]
    pd.DataFrame([*people, people[0]]).to_excel(tmp_path / "people.xlsx", index=False)
    path, out = lines(tmp_path / "log.jsonl", rows), tmp_path / "run"
    done = run("ingest", path, "--map", "stimulus=q,verdict=s,human=rating", "--scale", "1:5",
               "--ratings", tmp_path / "people.xlsx", "--on", "id=answer", "--out", out,
               "--no-pdf", "--no-cases")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("1 row has no rating in people.xlsx") == 1
    assert done.stderr.count("people.xlsx rates 2 id of no row") == 1
    (r,) = [e for e in load(out).axes[0].estimates if e.key == "score_order.pearson_r[arm=fixed]"]
    assert r.value == pytest.approx(1)
    with pytest.raises(UsageError, match="--on"):
        reported(path, columns={"stimulus": "q", "verdict": "s"}, ratings=tmp_path / "people.xlsx")
    with pytest.raises(JudgesheetError, match="'who'"):
        reported(path, columns={"stimulus": "q", "verdict": "s"}, scale="1:5", on="who",
             ratings=tmp_path / "people.xlsx")  # fmt: skip


def test_what_where_leaves_out_may_hold_anything(tmp_path: Path) -> None:
    rows: list[Record] = [{"spec": {"a": [1]}, "judge": ["x", "y"]}]
    rows += [{"judge": "j", "q": f"q{n // 2}", "n": n % 2, "s": 3} for n in range(4)]
    columns = {"stimulus": "q", "repeat": "n", "verdict": "s", "judge": "judge"}
    path = lines(tmp_path / "log.jsonl", rows)
    assert len(reported(path, columns=columns, scale="1:5", where={"judge": "j"})) == 4


def test_a_row_without_a_key_is_a_call_without_a_verdict(tmp_path: Path) -> None:
    rows = [{"q": f"q{n // 2}", "n": n % 2, **({} if n == 0 else {"s": 3})} for n in range(8)]
    columns = {"stimulus": "q", "repeat": "n", "verdict": "s"}
    found = reported(lines(tmp_path / "log.jsonl", rows), columns=columns, scale="1:5")
    assert verdicts(found) == [None, *[3] * 7]


def next_of(path: Path, *options: str) -> list[list[str]]:
    """The commands that inspect-log gives for a file, as they are typed."""
    done = run("inspect-log", path, *options)
    assert done.returncode == 0, done.stderr
    reported = (line for line in done.stdout.splitlines() if line.startswith("next"))
    return [shlex.split(line)[2:] for line in reported]


TEXT = "An answer of some words, number {}, long enough to be told from a name of a system."
SCORED = ("question", "response", "judge_score", "human_score")
COMPARED = ("prompt", "response_a", "response_b", "judge_output", "label")
TABLES: dict[str, tuple[list[Record], list[str]]] = {
    "scores of people": (
        [dict(zip(SCORED, (f"Why {n // 2}?", TEXT.format(n), n % 5 + 1, n % 4 + 1), strict=True))
         for n in range(12)],
        ["ingest", "correct", "stimuli"],
    ),
    "pairs of texts": (
        [dict(zip(COMPARED, (f"Why {n // 2}?", TEXT.format(n), TEXT.format(n ^ 1), "A", best),
                  strict=True)) for n, best in enumerate("AB" * 6)],
        ["ingest", "stimuli"],
    ),
    "pairs of systems": (
        [{"question_id": n // 2, "model_a": "xy"[n % 2], "model_b": "yx"[n % 2], "winner": "A=B"}
         for n in range(12)],
        ["ingest"],
    ),
    "grades": ([{"question_id": n // 2, "run": n % 2, "grade": "CAB"[n % 3]} for n in range(12)],
               ["ingest"]),
    "within objects": (
        [{"doc_id": n // 2, "meta": {"run": n % 2}, "said": {"score": n / 10}} for n in range(12)],
        ["ingest"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_command_that_inspect_log_names_works(name: str, tmp_path: Path) -> None:
    rows, wanted = TABLES[name]
    commands = next_of(lines(tmp_path / "table.jsonl", rows))
    assert [*dict.fromkeys(words[0] for words in commands)] == wanted
    for words in commands:
        done = run(*words, *(["--no-pdf", "--no-cases"] * (words[0] == "ingest")), cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)


def test_a_wide_table_is_not_listed(tmp_path: Path) -> None:
    rows = [{f"c{n}": {"deep": {"score": 1}} for n in range(695)}]
    said = run("inspect-log", lines(tmp_path / "wide.jsonl", rows)).stdout
    assert max(map(len, said.splitlines())) < 1_500
