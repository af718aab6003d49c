"""A cached run is resumed only for the same plan, judge and served version."""

import json
from pathlib import Path

import pytest

from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.command import Done, run, sentence
from tests.judges.loopback import Answer, Request, Server, completion, serving

pytestmark = pytest.mark.usefixtures("only_json")

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


def test_a_finished_run_is_asked_one_question_only_and_stays(tmp_path: Path) -> None:
    with serving(Served()) as server:
        assert probe(server, tmp_path / "run").returncode == 0
        calls = asked(server)
        done = probe(server, tmp_path / "run")
        assert (done.returncode, asked(server), done.stderr) == (0, 1, "")
        assert calls > 1
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("model-1", "model-2", "model-1 was served, and is model-2 now"),
        (None, "model-2", "a nameless version was served, and is model-2 now"),
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
        (("--seed", "5"), "another plan (seed was 0, now 5)"),
        (("--extra-body", '{"top_p": 0.5}'), "another judge"),
    ],
)
def test_another_plan_or_judge_starts_over_without_a_question(
    more: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with serving(Served()) as server:
        probe(server, tmp_path / "run")
        calls = asked(server)
        done = probe(server, tmp_path / "run", *more)
        assert said in done.stderr
        assert (done.returncode, asked(server)) == (0, calls)


def test_a_ledger_that_cannot_be_read_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / LEDGER).write_bytes(b"SQLite format 3\0 and then nothing of use" * 40)
    with serving(Served()) as server:
        assert probe(server, tmp_path / "run").returncode == 0
    assert (tmp_path / "run.old-1" / LEDGER).is_file()


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


def test_an_endpoint_that_does_not_answer_proves_no_version(tmp_path: Path) -> None:
    with serving(Served()) as server:
        probe(server, tmp_path / "run")
    done = probe(server, tmp_path / "run")  # it is closed by now
    assert "does not say which version it serves now" in sentence(done)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
