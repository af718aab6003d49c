"""A cached run is resumed only for the same plan, judge and served version."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing as closed
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pytest

from judgesheet.base.resources import data_folder
from judgesheet.collect.collect import Progress
from judgesheet.commands.progress import closing
from judgesheet.ledger.earlier import EARLIER
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.command import Done, run, sentence
from tests.judges.loopback import Answer, Request, Server, completion, serving

PARSER = "[verdict]\nregex = 'Final: (\\d)'\n\n[[example]]\nreply = \"Final: 2\"\nverdict = 2\n"


class Served:
    """An endpoint whose served version can change between runs."""

    version: str | None = "model-1"

    def __call__(self, _request: Request, _number: int) -> Answer:
        body = json.loads(completion("Fine.\nFinal: 3\n[RESULT] 3").body or b"")
        return Answer(json.dumps({**body, "model": self.version}).encode())


def probe(server: Server, out: Path, *more: str | Path) -> Done:
    return run(
        *("probe", "--model", "openai-compatible/m", "--base-url", server.base_url, "--quiet"),
        *("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--no-cases"),
        *("--fresh-if-changed", "--out", out, *more),
    )


def asked(server: Server) -> int:
    """How many requests came since the last time."""
    count = len(server.requests)
    server.requests.clear()
    return count


@pytest.fixture(scope="module")
def asked_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `model-1` that is complete, for tests to copy."""
    run = tmp_path_factory.mktemp("before") / "run"
    with serving(Served()) as server:
        assert probe(server, run).returncode == 0
    return run


def calls_of(run: Path) -> int:
    with Ledger.open(run / LEDGER) as ledger:
        return ledger.totals().attempts


def test_a_finished_run_is_asked_one_question_only_and_stays(
    asked_before: Path, tmp_path: Path
) -> None:
    copytree(asked_before, tmp_path / "run")
    with serving(Served()) as server:
        done = probe(server, tmp_path / "run")
        assert (done.returncode, asked(server), done.stderr) == (0, 1, "")
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("model-1", "model-2", "the served version was model-1 and is now model-2"),
        (None, "model-2", "the served version was not named and is now model-2"),
        ("model-1", None, "does not name the version"),
    ],
)
def test_another_version_starts_over(
    before: str | None, after: str | None, said: str, tmp_path: Path
) -> None:
    served = Served()
    served.version = before
    with serving(served) as server:
        probe(server, tmp_path / "run")
        calls, served.version = asked(server), after
        done = probe(server, tmp_path / "run")
        assert done.returncode == 0
        assert said in done.stderr
        assert asked(server) == calls + 1
    assert (tmp_path / "run.old-1" / LEDGER).is_file()
    with Ledger.open(tmp_path / "run" / LEDGER) as ledger:
        assert list(ledger.totals().served_models) == ([after] if after else [])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--max-tokens", "77"), "another plan"),
        (("--extra-body", '{"top_p": 0.5}'), "another judge"),
    ],
)
def test_another_plan_or_judge_starts_over_without_a_question(
    more: tuple[str, ...], said: str, asked_before: Path, tmp_path: Path
) -> None:
    run = copytree(asked_before, tmp_path / "run")
    with serving(Served()) as server:
        done = probe(server, run, *more)
        assert said in done.stderr
        assert (done.returncode, asked(server)) == (0, calls_of(asked_before))


def of_a_newer_release(path: Path) -> None:
    with closed(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("change", [of_a_newer_release, cut_off])
def test_nothing_is_paid_again_where_the_ledger_cannot_be_read(
    change: Callable[[Path], None], asked_before: Path, tmp_path: Path
) -> None:
    copytree(asked_before, tmp_path / "run")
    with serving(Served()) as server:
        change(tmp_path / "run" / LEDGER)
        before = (tmp_path / "run" / LEDGER).read_bytes()
        done = probe(server, tmp_path / "run")
        assert (done.returncode, asked(server)) == (1, 0)
    assert (tmp_path / "run" / LEDGER).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_another_parser_reads_the_stored_replies(tmp_path: Path) -> None:
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text(PARSER, encoding="utf-8")
    other.write_text(PARSER.replace("Final: (", "Final: *("), encoding="utf-8")
    with serving(Served()) as server:
        probe(server, tmp_path / "run", "--parser", f"score_order={one}")
        asked(server)
        done = probe(server, tmp_path / "run", "--parser", f"score_order={other}")
        assert (done.returncode, asked(server)) == (0, 1)
    with Ledger.open(tmp_path / "run" / LEDGER) as ledger:
        assert "Final: *(" in json.dumps(ledger.parsers())


def test_an_endpoint_that_does_not_answer_proves_no_version(
    asked_before: Path, tmp_path: Path
) -> None:
    copytree(asked_before, tmp_path / "run")
    with serving(Served()) as server:
        pass
    done = probe(server, tmp_path / "run")  # it is closed by now
    assert "does not say which version it serves now" in sentence(done)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# -- replies of earlier runs ---------------------------------------------------------------------


def three_stimuli(folder: Path) -> Path:
    """A file of them."""
    path = folder / "own" / "score_order.jsonl"
    path.parent.mkdir()
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[:3]), encoding="utf-8")
    return path


@pytest.fixture
def stimuli(tmp_path: Path) -> Path:
    """A file of three stimuli."""
    return three_stimuli(tmp_path)


@pytest.fixture(scope="module")
def asked_about_own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run about these that is complete."""
    folder = tmp_path_factory.mktemp("before")
    with serving(Served()) as server:
        assert (
            probe(server, folder / "run", "--stimuli", three_stimuli(folder).parent).returncode == 0
        )
    return folder / "run"


@pytest.fixture
def out(asked_about_own: Path, tmp_path: Path) -> Path:
    """The folder of a run about the three stimuli."""
    return copytree(asked_about_own, tmp_path / "run")


def change(stimuli: Path) -> str:
    """Change one letter of the last stimulus; the text from before."""
    before = stimuli.read_text("utf-8")
    *others, last = before.splitlines()
    record = json.loads(last)
    record["prompt"] = record["prompt"].replace("e", "3", 1)
    stimuli.write_text("\n".join([*others, json.dumps(record)]), encoding="utf-8")
    return before


def test_a_changed_letter_pays_for_its_own_stimulus_only(
    out: Path, tmp_path: Path, stimuli: Path
) -> None:
    given = ("--stimuli", stimuli.parent)
    with serving(Served()) as server:
        calls = calls_of(out)
        before = change(stimuli)
        done = probe(server, out, *given)
        again = asked(server) - 1  # one question tells the version
        assert done.returncode == 0
        assert again == calls / 3
        assert f"{calls - again} of {calls} replies reused" in done.stderr

        stimuli.write_text(before, encoding="utf-8")
        assert probe(server, out, *given).returncode == 0
        assert asked(server) == 1
        change(stimuli)
        assert probe(server, out, *given).returncode == 0
        assert asked(server) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("own", "run", "run.old-1", "run.old-2", "run.old-3")
    ]

    sheet = json.loads((out / "datasheet.json").read_text("utf-8"))
    assert sheet["run"]["complete"]
    assert sheet["run"]["taken_over"]["replies"] == calls
    with Ledger.open(out / LEDGER) as ledger:
        assert sum(run["replies"] for run in ledger.taken_over) == calls
        begun = ledger.get_meta("created_at")
        assert all(reply.at < begun for reply in ledger.replies())


@pytest.mark.parametrize("refusal", ["--fresh", "0d", "model-2"])
def test_no_reply_is_taken_over_against_the_users_will(
    refusal: str, out: Path, stimuli: Path
) -> None:
    given, served = ("--stimuli", stimuli.parent), Served()
    with serving(served) as server:
        calls = calls_of(out)
        change(stimuli)
        more: tuple[str, ...] = ()
        if refusal == "model-2":
            served.version = refusal
        else:
            more = (refusal,) if refusal == "--fresh" else ("--reuse-for", refusal)
        assert probe(server, out, *given, *more).returncode == 0
        assert asked(server) == calls + (refusal == "model-2")
    sheet = json.loads((out / "datasheet.json").read_text("utf-8"))
    assert sheet["run"]["taken_over"] is None


def test_earlier_replies_are_their_owners(out: Path, stimuli: Path) -> None:
    given = ("--stimuli", stimuli.parent)
    with serving(Served()) as server:
        change(stimuli)
        probe(server, out, *given)
    assert (out / EARLIER).stat().st_mode & 0o777 == 0o600


def test_another_judge_gets_no_reply_of_this_one(out: Path, stimuli: Path) -> None:
    given = ("--stimuli", stimuli.parent)
    with serving(Served()) as server:
        calls = calls_of(out)
        assert probe(server, out, *given, "--extra-body", '{"top_p": 0.5}').returncode == 0
        assert asked(server) == calls


def test_nothing_is_paid_again_where_earlier_replies_cannot_be_read(
    out: Path, tmp_path: Path, stimuli: Path
) -> None:
    given = ("--stimuli", stimuli.parent)
    with serving(Served()) as server:
        (out / EARLIER).write_bytes(b"not SQLite" * 200)
        change(stimuli)
        done = probe(server, out, *given)
        assert (done.returncode, asked(server)) == (1, 0)
    assert [path.name for path in tmp_path.glob("run*")] == ["run"]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no second disk")
def test_replies_are_taken_over_from_another_disk(tmp_path: Path, stimuli: Path) -> None:
    out, given = tmp_path / "run", ("--stimuli", stimuli.parent)
    with serving(Served()) as server, TemporaryDirectory(dir="/dev/shm") as disk:
        out.symlink_to(disk)
        probe(server, out, *given)
        calls = asked(server)
        change(stimuli)
        assert probe(server, out, *given).returncode == 0
        assert 1 < asked(server) < calls


# -- what is known about stimuli and no judge reads ----------------------------------------------


def with_facts(stimuli: Path, human: list[int], group: str | None) -> None:
    """Rate a response of the first stimulus, and put the first two into a group."""
    records = [json.loads(line) for line in stimuli.read_text("utf-8").splitlines()]
    records[0]["candidates"][0]["human"] = human
    for record in records[:2]:
        record["group"] = group
    stimuli.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


@pytest.mark.parametrize("how", ["--fresh-if-changed", "--give-up"])
def test_corrected_ratings_and_groups_are_measured_without_a_call(
    how: str, tmp_path: Path, stimuli: Path
) -> None:
    given = ("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--no-cases", "--quiet")
    command = ("probe", "--model", "sim/good", *given, "--stimuli", stimuli)
    with_facts(stimuli, [4, 5], None)
    assert run(*command, "--out", tmp_path / "run").returncode == 0
    with_facts(stimuli, [1, 1], "one")
    done = run(*command, how, "--out", tmp_path / "run")
    assert done.returncode == 0
    assert [path.name for path in tmp_path.glob("run*")] == ["run"]
    with Ledger.open(tmp_path / "run" / LEDGER) as ledger:
        (rated,) = (label for label in ledger.labels() if label.ratings)
        assert (rated.score, rated.ratings) == (1, (1, 1))
        assert len(ledger.provenance["stimuli"][0]["clusters"]) == 1
        assert ledger.totals().attempts == ledger.totals().planned
    again = run(*command, how, "--out", tmp_path / "run")
    assert len(done.stderr.splitlines()) == len(again.stderr.splitlines()) + 2


def test_a_run_that_was_looked_at_is_not_measured_with_other_ratings(
    tmp_path: Path, stimuli: Path
) -> None:
    given = ("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--no-cases", "--quiet")
    command = ("probe", "--model", "sim/good", *given, "--stimuli", stimuli)
    until = ("--until-decided", "order-only", "--out", tmp_path / "run")
    with_facts(stimuli, [4, 5], None)
    assert run(*command, *until).returncode == 0
    with_facts(stimuli, [1, 1], None)
    assert "another plan" in sentence(run(*command, *until))


def test_the_closing_line_tells_this_session_from_the_whole_run() -> None:
    now = Progress(planned=9, settled=9, attempts=9, tokens_in=90, tokens_out=9, prices=None)
    assert closing(replace(now, asked=9)) == ""
    assert closing(replace(now, asked=4)) != ""


@pytest.mark.parametrize("refused", ["x", "[1]", b"\xff", "[" * 5000])
def test_a_run_that_tells_nonsense_is_not_used(
    out: Path, stimuli: Path, refused: str | bytes
) -> None:
    given = ("--stimuli", stimuli.parent)
    with serving(Served()) as server:
        before = change(stimuli)
        probe(server, out, *given)
        db = sqlite3.connect(out / EARLIER, isolation_level=None)
        db.execute("UPDATE run SET refused = ?", (refused,))
        db.close()
        stimuli.write_text(before, encoding="utf-8")
        asked(server)
        done = probe(server, out, *given)
        assert done.returncode == 1
        assert "is damaged: remove it" in done.stderr
        assert asked(server) <= 1  # which version answers now


def test_replies_of_a_simulated_judge_are_taken_over(tmp_path: Path) -> None:
    words = ("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke")
    how = (
        "--no-pdf",
        "--quiet",
        "--fresh-if-changed",
        "--reuse-for",
        "1d",
        "--out",
        tmp_path / "r",
    )
    for seed in "01":
        run(*words, *how, "--seed", seed)
    assert "78 of 78 replies reused" in run(*words, *how, "--seed", "0").stderr
