import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from judgesheet.base.errors import DamagedError, InUseError, OtherRunError, RunError
from judgesheet.base.records import SETTLING, Call, Label, Outcome, Plan, Reply
from judgesheet.ledger import ledger as module
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.schema import SCHEMA_VERSION
from tests.judges.loopback import make_call, make_plan

JUDGE = {"provider": "openai-compatible", "model": "m"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "ledger.sqlite"


def make_reply(call: Call, attempt: int = 1, outcome: Outcome = "ok", text: str = "x") -> Reply:
    return Reply(call.id, attempt, outcome, text, f"raw {text}", 0.5, 10, 2, "served", 100.0, None)


def test_a_plan_survives_the_round_trip(path: Path) -> None:
    calls = (
        make_call("a", response_format={"type": "json_schema"}),
        replace(make_call("b"), messages=({"role": "user", "content": "\x00 \ud800 “ü”"},)),
        replace(make_call("a"), repeat=1, reply="json"),
    )
    labels = (Label("score_order", "a", "human", 3.5), Label("x", "b", "intended", 0.5, "fluency"))
    plan = Plan(7, calls, labels, {"settings": {"temperature": 0}})
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        assert tuple(ledger.calls()) == calls
        assert ledger.labels() == labels
        assert ledger.get_meta("plan") == plan.digest
        assert ledger.get_meta("seed") == 7
        assert ledger.get_meta("provenance") == {"settings": {"temperature": 0}}
        assert ledger.get_meta("judge") == JUDGE
        assert ledger.get_meta("nothing", "default") == "default"


def test_a_schema_keeps_the_order_of_its_properties(path: Path) -> None:
    """Constrained decoding answers in that order; sorted, every order would be asked as one."""
    shown = [["b", "a", "c"], ["c", "b", "a"]]
    calls = tuple(
        make_call("".join(order), response_format={"properties": {key: {} for key in order}})
        for order in shown
    )
    with Ledger.create_or_open(path, Plan(7, calls, (), {}), JUDGE) as ledger:
        kept = [list(call.params["response_format"]["properties"]) for call in ledger.calls()]
    assert kept == shown


def test_prompts_and_params_are_stored_once_per_content(path: Path) -> None:
    calls = tuple(replace(make_call("same"), repeat=repeat) for repeat in range(50))
    Ledger.create_or_open(path, Plan(1, calls, (), {}), JUDGE).close()
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM prompt").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM params").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM call").fetchone() == (50,)
    db.close()


def test_pages_of_calls_leave_none_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE", 3)
    plan = make_plan(8)
    with Ledger.create_or_open(path, plan, JUDGE) as opened:
        assert tuple(opened.calls()) == plan.calls
        assert tuple(one.call for one in opened.pending()) == plan.calls


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_a_call_is_pending_until_its_outcome_settles(path: Path, outcome: Outcome) -> None:
    plan = make_plan(2)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(plan.calls[0], outcome=outcome)])
        pending = list(ledger.pending())
        settled = ledger.totals().settled
    # The view in the schema and the constant must agree.
    assert settled == (outcome in SETTLING)
    expected = (
        [(plan.calls[1], 0)] if outcome in SETTLING else [(plan.calls[0], 1), (plan.calls[1], 0)]
    )
    assert [one[:2] for one in pending] == expected


def test_a_page_of_pending_calls_is_read_without_the_rest_of_the_plan(path: Path) -> None:
    query = "EXPLAIN QUERY PLAN SELECT * FROM pending WHERE seq > 9 ORDER BY seq LIMIT 9"
    with Ledger.create_or_open(path, make_plan(1), JUDGE) as ledger, ledger._reading() as db:
        steps = [step for *_, step in db.execute(query)]
    assert not [step for step in steps if "SCAN call" in step or "TEMP B-TREE" in step]


def test_pending_is_in_plan_order_over_many_pages(path: Path) -> None:
    plan = make_plan(1203)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(call) for call in plan.calls[::2]])
        assert [one.call for one in ledger.pending()] == list(plan.calls[1::2])


def test_the_last_attempt_is_the_reply(path: Path) -> None:
    plan = make_plan(3)
    first, second, third = plan.calls
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(third, 1, "timeout", ""), make_reply(first)])
        ledger.record([make_reply(third, 2, "ok", "late")])
        assert list(ledger.replies()) == [make_reply(first), make_reply(third, 2, "ok", "late")]
        answers = list(ledger.answers())
    assert [row[0] for row in answers] == [first.id, second.id, third.id]
    assert [row[6:8] for row in answers] == [("ok", "x"), (None, None), ("ok", "late")]
    assert answers[0][1:3] == ("score_order", "call 0")
    assert answers[0][4:6] == (0, "text")


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 1], [1, 0, 0], [0, 1], []])
def test_answers_are_those_of_their_calls_in_whichever_order_they_came(
    path: Path, order: list[int]
) -> None:
    plan = make_plan(4)
    times = [order[: place + 1].count(at) for place, at in enumerate(order)]
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        for at, number in zip(order, times, strict=True):
            ledger.record([make_reply(plan.calls[at], number, "ok", f"{at}, {number}")])
        found = [row[7] for row in ledger.answers()]
    last = {at: f"{at}, {number}" for at, number in zip(order, times, strict=True)}
    assert found == [last.get(at) for at in range(4)]


def test_what_was_recorded_elsewhere_is_written_with_the_plan_or_not_at_all(path: Path) -> None:
    plan = make_plan(2)

    def verdicts(last: str) -> Iterator[tuple[str, str, float]]:
        yield plan.calls[0].id, "1", 5.0
        yield last, "2", 5.0

    with pytest.raises(RunError), Ledger.create_or_open(path, plan, JUDGE, verdicts("\ud800")):
        pass
    with Ledger.create_or_open(path, plan, JUDGE, verdicts(plan.calls[1].id)) as ledger:
        assert ledger.is_new
        assert [row[7] for row in ledger.answers()] == ["1", "2"]
        assert not list(ledger.pending())
    with Ledger.create_or_open(path, plan, JUDGE, verdicts("")) as ledger:
        assert not ledger.is_new
        assert ledger.totals().attempts == 2


def test_pauses_between_sessions_are_no_time_of_asking(path: Path) -> None:
    """Two sessions half an hour apart, a wait for the endpoint, and a reply that took its time."""
    plan, times = make_plan(6), [(0.0, 1.0), (4.0, 1.0), (204.0, 1.0), (2004.0, 2.0), (2005.0, 1.0),
                                 (2905.0, 899.0)]  # fmt: skip
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        assert ledger.totals().asking_s == 0
        ledger.record([
            replace(make_reply(call), at=1e9 + at, latency_s=took)
            for call, (at, took) in zip(plan.calls, times, strict=True)
        ])  # fmt: skip
        assert ledger.totals().asking_s == pytest.approx(204 + 2 + 1 + 900)


def as_older_run(path: Path, bodies: list[str]) -> list[Call]:
    """A ledger of schema 2 from before finish reasons were kept, with these bodies."""
    plan = make_plan(len(bodies) + 1)
    calls = list(plan.calls)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record(
            [replace(make_reply(call), raw=raw) for call, raw in zip(calls, bodies, strict=False)]
        )
    db = sqlite3.connect(path)
    db.execute("DROP VIEW answer")
    db.execute("ALTER TABLE attempt DROP COLUMN finish_reason")
    db.execute("UPDATE meta SET value = '2' WHERE key = 'schema_version'")
    db.commit()
    db.close()
    return calls


def test_finish_reasons_of_an_older_run_are_taken_from_its_bodies(path: Path) -> None:
    bodies = [
        '{"choices": [{"finish_reason": "length"}]}',
        '{"content": [], "stop_reason": "max_tokens"}',
        '{"choices": [{"message": {}}]}',
        "not json",
        '{"choices": "none"}',
    ]
    calls = as_older_run(path, bodies)
    before = path.read_bytes()
    expected = ["length", "max_tokens", None, None, None]
    with Ledger.open(path) as ledger:
        assert [reply.finish_reason for reply in ledger.replies()] == expected
        assert [row[8] for row in ledger.answers()] == [*expected, None]
    assert path.read_bytes() == before
    with Ledger.create_or_open(path, make_plan(6), JUDGE) as ledger:
        ledger.record([replace(make_reply(calls[5]), finish_reason="stop")])
    with Ledger.open(path) as ledger:
        assert [reply.finish_reason for reply in ledger.replies()] == [*expected, "stop"]


def test_a_resume_that_is_refused_leaves_an_older_run_to_the_release_that_wrote_it(
    path: Path,
) -> None:
    as_older_run(path, ['{"choices": [{"finish_reason": "length"}]}'])
    before = path.read_bytes()
    for plan, judge in ((make_plan(9), JUDGE), (make_plan(2), {**JUDGE, "model": "other"})):
        with pytest.raises(OtherRunError):
            Ledger.create_or_open(path, plan, judge)
    assert path.read_bytes() == before
    # What that release could not write into, it must refuse.
    Ledger.create_or_open(path, make_plan(2), JUDGE).close()
    with Ledger.open(path) as ledger:
        assert ledger.get_meta("schema_version") == SCHEMA_VERSION > 2


def test_reading_an_older_run_of_the_first_schema_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.create_or_open(path, make_plan(2), JUDGE).close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "ALTER TABLE label DROP COLUMN ratings; DROP VIEW answer;"
            "ALTER TABLE attempt DROP COLUMN finish_reason;"
            "UPDATE meta SET value = '1' WHERE key = 'schema_version'"
        )
    before = path.read_bytes()
    with Ledger.open(path) as ledger:
        assert ledger.labels() == ()
        assert len(list(ledger.answers())) == 2
    assert path.read_bytes() == before


def test_a_ledger_that_lost_a_column_of_its_own_version_is_damaged(path: Path) -> None:
    as_older_run(path, [])
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE meta SET value = '{SCHEMA_VERSION}' WHERE key = 'schema_version'")
        db.commit()
    with pytest.raises(DamagedError, match=r"attempt\.finish_reason"):
        Ledger.open(path)


def test_a_write_protected_older_run_is_read(path: Path) -> None:
    as_older_run(path, ['{"choices": [{"finish_reason": "length"}]}'])
    path.chmod(0o400)
    with Ledger.open(path) as ledger:
        assert [reply.finish_reason for reply in ledger.replies()] == ["length"]


def test_totals(path: Path) -> None:
    plan = make_plan(200)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        empty = ledger.totals()
        ledger.record(
            [
                replace(make_reply(call), latency_s=float(number), at=float(number))
                for number, call in enumerate(plan.calls[:100], start=1)
            ]
        )
        lost = replace(make_reply(plan.calls[100], 1, "timeout"), tokens_in=None, latency_s=999.0)
        ledger.record([lost])
        totals = ledger.totals()
    assert (empty.attempts, empty.tokens_in, empty.latency_p50_s, empty.first_at) == (
        0,
        None,
        None,
        None,
    )
    assert (totals.planned, totals.settled, totals.attempts) == (200, 100, 101)
    assert totals.outcomes == {"ok": 100, "timeout": 1}
    assert (totals.tokens_in, totals.tokens_out) == (1000, 202)
    assert (totals.latency_p50_s, totals.latency_p99_s) == (50.0, 99.0)
    assert (totals.first_at, totals.last_at) == (1.0, 100.0)
    assert totals.served_models == {"served": 101}


def test_hostile_text_is_stored(path: Path) -> None:
    plan = make_plan(1)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(plan.calls[0], text="a\x00b \ud800 \u2028 💥")])
    with Ledger.open(path) as ledger:
        (reply,) = ledger.replies()
    assert reply.text == "a\x00b ? \u2028 💥"


def test_a_name_that_is_no_text_is_one_sentence(path: Path) -> None:
    with pytest.raises(RunError, match="ud800"):
        Ledger.create_or_open(path, Plan(1, (make_call("\ud800"),), (), {}), JUDGE)


# -- whom it serves ---------------------------------------------------------------------------


def test_the_same_run_is_resumed(path: Path) -> None:
    plan = make_plan(2)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(plan.calls[0])])
    with Ledger.create_or_open(path, plan, dict(reversed(JUDGE.items()))) as ledger:
        assert [one.call for one in ledger.pending()] == [plan.calls[1]]


def test_another_judge_is_refused_by_name(path: Path) -> None:
    Ledger.create_or_open(path, make_plan(1), JUDGE).close()
    with pytest.raises(OtherRunError, match=r"'m'.*'other'.*--fresh.*--out"):
        Ledger.create_or_open(path, make_plan(1), {**JUDGE, "model": "other"})


def test_another_plan_is_refused(path: Path) -> None:
    Ledger.create_or_open(path, make_plan(1), JUDGE).close()
    with pytest.raises(OtherRunError, match=r"seed.*1.*5"):
        Ledger.create_or_open(path, make_plan(2, seed=5), JUDGE)


def test_a_refused_ledger_is_left_unlocked(path: Path) -> None:
    Ledger.create_or_open(path, make_plan(1), JUDGE).close()
    with pytest.raises(RunError):
        Ledger.create_or_open(path, make_plan(2), JUDGE)
    Ledger.create_or_open(path, make_plan(1), JUDGE).close()


def test_a_second_process_is_refused(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from judgesheet.ledger.ledger import Ledger\n"
        "try: Ledger.open(Path(sys.argv[1]))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    with Ledger.create_or_open(path, make_plan(1), JUDGE):
        with pytest.raises(InUseError):
            Ledger.create_or_open(path, make_plan(1), JUDGE)
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
        )
    assert done.stdout.startswith("InUseError")
    assert "in use" in done.stdout


# -- what can be wrong with it ----------------------------------------------------------------


def test_no_ledger(path: Path) -> None:
    with pytest.raises(RunError):
        Ledger.open(path)


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_text("This is a letter to my aunt. " * 100)
    with pytest.raises(DamagedError):
        Ledger.open(path)
    with pytest.raises(DamagedError):
        Ledger.create_or_open(path, make_plan(1), JUDGE)


def test_an_empty_file_is_a_ledger_to_be(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.touch()
    with pytest.raises(RunError):
        Ledger.open(path)
    Ledger.create_or_open(path, make_plan(1), JUDGE).close()


def test_someone_elses_database(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE cats (name)")
    db.close()
    with pytest.raises(RunError):
        Ledger.open(path)


def test_a_newer_schema_is_refused(path: Path) -> None:
    with Ledger.create_or_open(path, make_plan(1), JUDGE) as ledger:
        ledger.set_meta("schema_version", SCHEMA_VERSION + 1)
    with pytest.raises(RunError, match=rf"\b{SCHEMA_VERSION + 1}\b"):
        Ledger.open(path)


def test_reading_changes_nothing(path: Path) -> None:
    plan = make_plan(1)
    Ledger.create_or_open(path, plan, JUDGE).close()
    with Ledger.open(path) as ledger, pytest.raises(RunError):
        ledger.record([make_reply(plan.calls[0])])


def test_a_closed_ledger_is_one_plain_file(path: Path) -> None:
    plan = make_plan(1)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(plan.calls[0])])
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    # Bytes 18 and 19 of the header are 2 in a WAL database, which a read-only folder cannot open.
    assert path.read_bytes()[18:20] == b"\x01\x01"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="--out"):
        Ledger.create_or_open(tmp_path / "run" / "ledger.sqlite", make_plan(1), JUDGE)


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(RunError, match="--out"):
        Ledger.create_or_open(tmp_path / "run" / "ledger.sqlite", make_plan(1), JUDGE)


def test_a_full_disk_is_one_sentence_and_loses_nothing(path: Path, tmp_path: Path) -> None:
    plan = make_plan(50)
    ledger = Ledger.create_or_open(path, plan, JUDGE, overflow=tmp_path)
    ledger.record([make_reply(plan.calls[0])])
    # SQLite reports its page limit exactly as it reports a full disk.
    pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
    ledger._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    ledger.record([make_reply(call, text="y" * 5000) for call in plan.calls[1:]])
    assert ledger.totals().attempts == 1
    with pytest.raises(RunError) as raised:
        ledger.close()
    assert str(tmp_path) in str(raised.value)
    with Ledger.create_or_open(path, plan, JUDGE, overflow=tmp_path) as ledger:
        assert [*ledger.taken_in.values()] == [49]
        assert ledger.totals().attempts == 50
    with Ledger.create_or_open(path, plan, JUDGE, overflow=tmp_path) as ledger:
        assert not ledger.taken_in


def test_a_ledger_of_the_first_schema_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    plan = replace(make_plan(2), labels=(Label("score_order", "a", "human", 3.5, "", (3.0, None)),))
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        assert ledger.labels() == plan.labels
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE label DROP COLUMN ratings")
        db.execute("UPDATE meta SET value = '1' WHERE key = 'schema_version'")
        db.commit()
    with Ledger.open(path) as ledger:
        assert ledger.labels() == (replace(plan.labels[0], ratings=()),)


def test_questions_that_follow_are_added_once_at_the_end(path: Path) -> None:
    plan = replace(make_plan(2), provenance={"command": "consensus"})
    later = make_call("later", max_tokens=99)
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:
        ledger.record([make_reply(plan.calls[0])])
        ledger.add([plan.calls[1], later])
        ledger.add([later])
        ledger.add([])
        assert list(ledger.calls()) == [*plan.calls, later]
        assert [one.call for one in ledger.pending()] == [plan.calls[1], later]
    with Ledger.create_or_open(path, plan, JUDGE) as ledger:  # it still belongs to its plan
        assert ledger.totals().planned == 3
        ledger.add([make_call("last")])
        assert [call.stimulus for call in ledger.calls()][-2:] == ["later", "last"]
