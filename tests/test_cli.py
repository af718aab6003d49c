"""The tool as its user meets it: real commands, real files, exit codes and one-sentence errors."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pandas as pd
import pytest

import judgesheet
from tests.command import run, sentence, start
from tests.judges.loopback import Script, completion, failure, serving

CANARY = "sk-canary-0123456789abcdef"
PROBE = ("probe", "--model", "sim/first-biased", "--profile", "smoke",
         "--axis", "score_order", "--axis", "candidate_order")  # fmt: skip


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a simulated judge."""
    directory = tmp_path_factory.mktemp("probed") / "run"
    done = start(*PROBE, "--out", directory)
    assert done.returncode == 0, done.stderr
    return directory


def test_a_probe_leaves_a_complete_run_directory(probed: Path) -> None:
    names = {path.name for path in probed.iterdir()}
    assert names == {
        "datasheet.json",
        "datasheet.html",
        "datasheet.pdf",
        "plan.jsonl",
        "ledger.sqlite",
        "judgments.parquet",
        "cases.html",
    }
    sheet = json.loads((probed / "datasheet.json").read_text(encoding="utf-8"))
    assert sheet["run"]["complete"]
    assert sheet["judge"]["model"] == "sim/first-biased"
    assert sheet["axes"][0]["answered"] == sheet["axes"][0]["planned"]
    table = pd.read_parquet(probed / "judgments.parquet")
    lines = (probed / "plan.jsonl").read_text(encoding="utf-8").splitlines()
    calls = [json.loads(line) for line in lines]
    assert sorted(table["call_id"]) == sorted(call["call_id"] for call in calls)
    assert set(calls[0]) >= {"call_id", "axis", "stimulus", "cell", "repeat", "messages", "params"}


def test_asking_again_asks_nothing(probed: Path, tmp_path: Path) -> None:
    copy, before = tmp_path / "copy", (probed / "datasheet.json").read_bytes()
    shutil.copytree(probed, copy)
    same = (*PROBE, "--out", copy)
    done = run(*same, "--json", "--no-pdf", "--no-cases")
    assert done.returncode == 0
    assert (copy / "datasheet.json").read_bytes() == before
    assert json.loads(done.stdout) == json.loads(before)
    with sqlite3.connect(copy / "ledger.sqlite") as db:
        attempts, calls = db.execute(
            "SELECT count(*), count(DISTINCT call_id) FROM attempt"
        ).fetchone()
    db.close()
    assert attempts == calls


@pytest.mark.usefixtures("pages")
def test_measure_writes_what_is_asked_for_and_leaves_nothing_of_an_earlier_sheet(
    probed: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(probed, copy)

    def shown() -> set[str]:
        return {path.name for path in copy.iterdir()} & {
            "datasheet.json", "datasheet.html", "datasheet.pdf", "cases.html",
        }  # fmt: skip

    assert run("measure", copy, "--to", "json").returncode == 0
    assert shown() == {"datasheet.json"}
    assert (copy / "datasheet.json").read_bytes() == (probed / "datasheet.json").read_bytes()
    assert run("measure", copy, "--to", "html").returncode == 0
    assert shown() == {"datasheet.json", "datasheet.html", "cases.html"}


@pytest.mark.usefixtures("pages")
def test_measure_is_reproducible(probed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(probed, copy)
    (copy / "datasheet.json").unlink()
    assert run("measure", copy).returncode == 0
    for name in ("datasheet.json", "datasheet.html", "datasheet.pdf", "judgments.parquet"):
        assert (copy / name).read_bytes() == (probed / name).read_bytes(), name


def test_another_plan_in_the_same_folder_is_refused_and_fresh_keeps_the_old(
    probed: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(probed, copy)
    same = (*PROBE, "--out", copy)
    assert "another plan (seed was 0, now 9)" in sentence(run(*same, "--seed", "9"))
    other = ("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke",
             "--no-pdf", "--out", copy)  # fmt: skip
    assert "--fresh" in sentence(run(*other))
    assert run(*other, "--fresh").returncode == 0
    assert not (copy / "datasheet.pdf").exists()
    kept = json.loads((tmp_path / "copy.old-1" / "datasheet.json").read_text(encoding="utf-8"))
    assert kept["judge"]["model"] == "sim/first-biased"


def test_results_go_to_stdout_and_progress_to_stderr(tmp_path: Path) -> None:
    common = ("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke",
              "--no-pdf", "--out")  # fmt: skip
    loud = run(*common, tmp_path / "loud")
    assert "calls" in loud.stderr
    assert "datasheet.json" in loud.stdout
    quiet = run(*common, tmp_path / "quiet", "--quiet", "--json")
    assert quiet.stderr == ""
    assert json.loads(quiet.stdout)["schema_version"]


@pytest.mark.usefixtures("pages")
def test_every_reply_unreadable_still_gives_a_datasheet(tmp_path: Path) -> None:
    judge = ("--model", "sim/unreadable", "--profile", "smoke", "--no-pdf")
    done = run("probe", *judge, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gave a verdict" in done.stdout
    assert "gave a verdict" in (tmp_path / "datasheet.html").read_text(encoding="utf-8")


def test_max_calls_stops_and_the_same_command_goes_on(tmp_path: Path) -> None:
    judge = ("--model", "sim/fair", "--profile", "smoke", "--no-pdf")
    command = ("probe", *judge, "--out", tmp_path)
    first = run(*command, "--max-calls", "20")
    assert first.returncode == 5, first.stderr
    assert "not complete; the same command resumes it" in first.stderr
    assert not json.loads((tmp_path / "datasheet.json").read_bytes())["run"]["complete"]
    assert run(*command).returncode == 0
    done = json.loads((tmp_path / "datasheet.json").read_bytes())["run"]
    assert done["complete"]
    assert done["attempts"] == done["planned"]


def test_a_run_whose_credit_ends_says_so_and_goes_on_elsewhere(tmp_path: Path) -> None:
    probe = ("probe", "--model", "openai-compatible/m", "--profile", "smoke", "--no-pdf",
             "--axis", "score_order", "--quiet", "--out", tmp_path)  # fmt: skip

    def until(last: int) -> Script:
        return lambda _, n: completion("[RESULT] 1") if n <= last else failure(402, message="pay")

    with serving(until(0)) as server:
        first = run(*probe, "--base-url", server.base_url)
    assert "top up the account" in sentence(first, 5)
    with serving(until(10)) as server:
        assert run(*probe, "--base-url", server.base_url).returncode == 5
    part = json.loads((tmp_path / "datasheet.json").read_bytes())
    assert not part["run"]["complete"]
    assert part["run"]["answered"] == 10
    with serving(until(1000)) as server:
        assert run(*probe, "--base-url", server.base_url).returncode == 0
    whole = json.loads((tmp_path / "datasheet.json").read_bytes())
    assert whole["run"]["complete"]
    assert whole["run"]["failed"] == 0
    assert len(whole["judge"]["earlier_base_urls"]) == 2


def test_calls_that_fail_are_left_out_when_told(tmp_path: Path) -> None:
    probe = ("probe", "--model", "openai-compatible/m", "--profile", "smoke", "--no-pdf",
             "--axis", "score_order", "--out", tmp_path)  # fmt: skip
    with serving(lambda _, n: completion("[RESULT] 1") if n != 3 else failure(400)) as server:
        first = run(*probe, "--base-url", server.base_url)
        assert first.returncode == 5
        assert "--give-up leaves out what failed" in first.stderr
        asked = len(server.requests)
        gate = run("gate", tmp_path, "--policy", "order-only").stdout
        assert "1 call failed, which the same command asks again and --give-up" in " ".join(
            gate.split()
        )
        assert run(*probe, "--base-url", server.base_url, "--give-up").returncode == 0
        assert json.loads((tmp_path / "datasheet.json").read_bytes())["run"]["failed"] == 1
        assert len(server.requests) == asked
        assert run(*probe, "--base-url", server.base_url, "--retry-failed").returncode == 0
        assert len(server.requests) == asked + 1
    assert json.loads((tmp_path / "datasheet.json").read_bytes())["run"]["failed"] == 0


@pytest.mark.parametrize(
    ("reply", "ending", "helps"),
    [
        ("[RESU", "length", "a larger --max-tokens"),
        (
            "I am sorry, I cannot grade this.",
            "stop",
            "a --parser that reads it, or --reply json",
        ),
    ],
)
def test_the_gate_says_what_helps_and_how_to_see_the_replies(
    reply: str, ending: str, helps: str, tmp_path: Path
) -> None:
    place = tmp_path / "my run"

    def judge(_: Any, number: int) -> Any:
        if number % 5 == 1:
            return completion(reply, finish_reason=ending)
        return completion(f"[RESULT] {1 + number % 5}", finish_reason="stop")

    with serving(judge) as server:
        probe = ("--model", "openai-compatible/m", "--profile", "smoke", "--axis", "score_order")
        run("probe", *probe, "--no-pdf", "--base-url", server.base_url, "--out", place)
    gate = run("gate", place, "--policy", "order-only", "--verbose").stdout
    assert f"{helps} (most of the lost calls: " in " ".join(gate.split())
    shown = "--axis", "score_order", "--outcome", "lost"
    assert f"judgesheet cases '{place}' {' '.join(shown)}" in gate
    assert f"| {reply}" in run("cases", place, *shown).stdout.splitlines()[-2]
    assert "DIR" not in gate


IGNORES_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""As the shell of a script starts what it runs in the background."""


@pytest.mark.parametrize(
    ("how", "started"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGINT, ("-c", IGNORES_CTRL_C))],
)
def test_interrupted_run_exits_130_and_resumes(
    tmp_path: Path, how: signal.Signals, started: tuple[str, ...]
) -> None:
    judge = ("--model", "sim/fair?latency_ms=100", "--profile", "smoke", "--concurrency", "2")
    probe = ("probe", *judge, *("--axis", "score_order", "--no-pdf"), "--out", str(tmp_path))
    command = [sys.executable, *started, "-m", "judgesheet", *probe]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ledger = tmp_path / "ledger.sqlite"
    deadline = time.monotonic() + 60
    while not (ledger.exists() and ledger.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "resumes" in errors
    assert "Traceback" not in errors
    again = run(*probe)
    assert again.returncode == 0, again.stderr
    done = json.loads((tmp_path / "datasheet.json").read_bytes())["run"]
    assert done["complete"]
    assert done["settled"] == done["planned"]


class Interrupted:
    """A part of a class during whose making Ctrl-C comes."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def at_once(*_: object) -> None:
    raise KeyboardInterrupt


def while_a_class_is_made(*_: object) -> None:
    type("Made", (), {"part": Interrupted()})


@pytest.mark.parametrize("interrupted", [at_once, while_a_class_is_made])
@pytest.mark.parametrize("place", ["click.Group.parse_args", "judgesheet.cli._hear_signals"])
def test_ctrl_c_before_a_command_runs_exits_130(
    place: str, interrupted: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, interrupted)
    done = run("plan")
    assert done.returncode == 130
    assert done.stderr.startswith("judgesheet: interrupted")


@pytest.mark.parametrize("form", ["md", "csv", "json", "html"])
def test_render_from_a_datasheet_alone(probed: Path, tmp_path: Path, form: str) -> None:
    shutil.copy(probed / "datasheet.json", tmp_path)
    command = start if form == "md" else run
    done = command("render", tmp_path / "datasheet.json", "--to", form)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"datasheet.{form}").stat().st_size > 500
    assert done.stdout.strip().endswith(f"datasheet.{form}")


# -- what can go wrong -------------------------------------------------------------------------


class Page(BaseHTTPRequestHandler):
    """A server that answers every request with the same page."""

    status, kind, body = 200, "text/html", b"<html><body>It works</body></html>"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Iterator[str]:
    status, kind, body = getattr(request, "param", (200, Page.kind, Page.body))
    handler = type("Answer", (Page,), {"status": status, "kind": kind, "body": body})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


WRONG_KEY = (401, "application/json", b'{"error": {"message": "Incorrect API key provided"}}')
NO_MODEL = (404, "application/json", b'{"error": {"message": "The model does not exist"}}')


@pytest.mark.parametrize(
    ("page", "words"),
    [(WRONG_KEY, "MY_KEY"), (NO_MODEL, "model"), ((200, Page.kind, Page.body), "server")],
    indirect=["page"],
)
def test_an_endpoint_that_cannot_work_stops_the_run(page: str, words: str, tmp_path: Path) -> None:
    done = run(
        "probe", "--model", "openai-compatible/x", "--base-url", page, "--profile", "smoke",
        "--api-key-env", "MY_KEY", "--out", tmp_path / "run", "--quiet", MY_KEY=CANARY,
    )  # fmt: skip
    assert words in sentence(done, 5)
    assert CANARY not in done.stderr
    for path in (tmp_path / "run").iterdir():
        assert CANARY.encode() not in path.read_bytes(), path.name


def test_nobody_listens(tmp_path: Path) -> None:
    done = run(
        "probe", "--model", "openai-compatible/x", "--base-url", "http://127.0.0.1:9/v1",
        "--profile", "smoke", "--out", tmp_path / "run", "--quiet",
    )  # fmt: skip
    assert "127.0.0.1:9" in sentence(done, 5)


def test_no_command_gives_the_help_in_lines() -> None:
    done = start()
    assert done.returncode == 2
    assert "\n  probe  " in done.stderr


def test_wrong_use_is_said_in_one_sentence(tmp_path: Path) -> None:
    probe = ("probe", "--out", tmp_path / "run", "--quiet", "--model")
    assert "openai/nonsense" in sentence(run(*probe, "nonsense"), 2)
    assert "first-biased" in sentence(run(*probe, "sim/none"), 2)
    assert "score_order" in sentence(run(*probe, "sim/fair", "--axis", "none"), 2)
    assert "module" in sentence(run(*probe, "python/no_such_module:judge"), 2)
    assert "--extra-body" in sentence(run(*probe, "sim/fair", "--extra-body", "{"), 2)
    assert "--prices" in sentence(run(*probe, "sim/fair", "--max-cost", "1"), 2)
    assert "--prices" in sentence(run(*probe, "sim/fair", "--prices", "nan,1"), 2)
    assert run(*probe, "sim/fair", "--temperature", "nan").returncode == 2
    assert run(*probe, "sim/fair", "--seed", "-1").returncode == 2
    assert "frist" in sentence(run("plan", "--model", "sim/fair?frist=2"), 2)
    assert "AXIS=FILE" in sentence(run(*probe, "sim/fair", "--prompt", "x"), 2)
    missing = sentence(run(*probe, "openai/x", OPENAI_API_KEY=""))
    assert "OPENAI_API_KEY" in missing
    assert run("probe").returncode == 2
    assert not (tmp_path / "run" / "datasheet.json").exists()


def test_broken_stimuli_are_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a"}\n', encoding="utf-8")
    probe = ("probe", "--model", "sim/fair", "--out", tmp_path / "run", "--axis", "score_order",
             "--stimuli")  # fmt: skip
    assert "mine.jsonl:1" in sentence(run(*probe, path))
    path.write_text("not json\n", encoding="utf-8")
    assert "mine.jsonl:1: not JSON" in sentence(run(*probe, path))
    path.write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in sentence(run(*probe, path))
    path.write_text("", encoding="utf-8")
    assert "no stimuli" in sentence(run(*probe, path))
    (tmp_path / "chats.csv").write_text("question,answer\nWhy?,So.\n", encoding="utf-8")
    assert "judgesheet stimuli import csv" in sentence(run(*probe, tmp_path / "chats.csv"))
    assert run(*probe, tmp_path / "none.jsonl").returncode == 2


def test_a_template_that_does_not_parse(tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("line one\n{% for %}", encoding="utf-8")
    done = run("probe", "--model", "sim/fair", "--out", tmp_path / "run",
               "--prompt", f"score_order={path}")  # fmt: skip
    assert "line 2" in sentence(done)


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("in the way", encoding="utf-8")
    done = run("probe", "--model", "sim/fair", "--profile", "smoke", "--out", path)
    assert "--out" in sentence(done)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_plan_on_a_full_disk() -> None:
    done = run("plan", "--model", "sim/fair", "--profile", "smoke", "--out", "/dev/full")
    assert "No space" in sentence(done)


def test_a_damaged_run_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(b"this is no database" * 100)
    assert "ledger" in sentence(run("measure", tmp_path))
    assert "probe" in sentence(run("measure", tmp_path.parent))
    (tmp_path / "datasheet.json").write_text("{}", encoding="utf-8")
    assert "datasheet.json" in sentence(run("render", tmp_path, "--to", "md"))


# -- other commands ----------------------------------------------------------------------------


def test_a_plan_drops_none_of_two_judges_unsaid() -> None:
    done = run("plan", "--model", "sim/fair", "--model", "sim/good")
    assert "--model" in sentence(done, 2)


def test_plan_makes_no_call_and_writes_plan_and_batch(tmp_path: Path) -> None:
    calls, batch = tmp_path / "plan.jsonl", tmp_path / "batch.jsonl"
    done = run("plan", "--model", "openai/some-model", "--profile", "smoke", "--axis",
               "score_order", "--axis", "listwise_consensus", "--out", calls,
               "--export-batch", batch, "--json", OPENAI_API_KEY="")  # fmt: skip
    assert done.returncode == 0, done.stderr
    budget = json.loads(done.stdout)
    lines = calls.read_text(encoding="utf-8").splitlines()
    requests = [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]
    assert budget["calls"] == len(lines) == len(requests)
    assert [r["custom_id"] for r in requests] == [json.loads(line)["call_id"] for line in lines]
    assert requests[0]["body"]["model"] == "some-model"


def test_explain_and_doctor() -> None:
    assert "noncentral" in run("explain", "score_order.cramers_v").stdout
    assert "Xu et al" in run("explain", "score_order.selection[score=1,position=2]").stdout
    assert "score_order.position_share" in sentence(run("explain", "score_order.position_shar"), 2)
    assert run("explain", "cramers_v").stdout == run("explain", "score_order.cramers_v").stdout
    assert "score_order.cramers_v" in run("explain").stdout
    found = run("doctor", "--json")
    assert found.returncode == 0, found.stdout
    assert {finding["what"] for finding in json.loads(found.stdout)} >= {"PDF", "local judge"}


def test_stimuli_need_no_axis(tmp_path: Path) -> None:
    listed = run("stimuli", "list").stdout.splitlines()
    total = sum(int(line.split()[1]) for line in listed)
    assert f"stimuli: {total}, errors: 0" in run("stimuli", "check").stdout
    pool = judgesheet.list_stimuli()["score_order"]
    assert json.loads(run("stimuli", "show", pool[0].id).stdout)["id"] == pool[0].id
    odd = recorded(tmp_path / "odd.jsonl", [{"id": "a"}])
    assert "odd.jsonl:1 matches no axis" in sentence(run("stimuli", "check", odd))
    assert "no stimulus 'x'" in sentence(run("stimuli", "show", "x"), 2)
    (tmp_path / "none").mkdir()
    assert "AXIS.jsonl" in sentence(run("stimuli", "check", tmp_path / "none"))


def recorded(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def judgment(item: int, order: list[int], verdict: object, **more: object) -> dict[str, object]:
    cell = {"item": f"s{item}/a", "arm": "balanced", "scale": 3, "order": order}
    record = {"axis": "score_order", "stimulus": f"s{item}", "cell": cell, "verdict": verdict}
    return {**record, **more}


def test_recorded_judgments_become_a_sheet(tmp_path: Path) -> None:
    orders = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]]
    rows = [judgment(item, order, order[0]) for item in range(8) for order in orders]
    rows[0]["verdict"] = None
    rows += [{"human": {"axis": "score_order", "item": f"s{i}/a", "score": i}} for i in range(8)]
    done = run("ingest", recorded(tmp_path / "log.jsonl", rows), "--out", tmp_path / "run",
               "--no-pdf", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    sheet = json.loads(done.stdout)
    found = {estimate["key"]: estimate for estimate in sheet["axes"][0]["estimates"]}
    assert found["score_order.position_share[position=1]"]["value"] == 1
    assert sheet["axes"][0]["unreadable"] == 1
    assert "human" in found["score_order.pearson_r[arm=balanced]"]["conditions"]


def test_only_a_call_with_a_verdict_is_ok_in_the_table(tmp_path: Path) -> None:
    """As in `cases`; the ledger keeps what the attempt came to."""
    (tmp_path / "prose.py").write_text(
        "def judge(messages):\n"
        "    is_odd = len(messages[-1]['content']) % 2\n"
        "    return '{\"winner\": \"1\"}' if is_odd else 'Both are fine.'\n"
    )
    done = run("probe", "--model", "python/prose:judge", "--axis", "candidate_order", "--profile",
               "smoke", "--no-pdf", "--out", "run", cwd=tmp_path)  # fmt: skip
    table = pd.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert set(table["outcome"]) == {"ok", "unreadable"}, done.stderr
    assert (table["value"].notna() == (table["outcome"] == "ok")).all()
    with closing(sqlite3.connect(tmp_path / "run" / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT DISTINCT outcome FROM attempt").fetchall() == [("ok",)]


def test_a_run_without_a_sheet_says_how_to_get_one(probed: Path, tmp_path: Path) -> None:
    """As a run that was killed is left; the command that it names does it."""
    ended = tmp_path / "ended run"
    shutil.copytree(probed, ended)
    (ended / "datasheet.json").unlink()
    said = sentence(run("gate", ended, "--policy", "order-only"))
    assert "the same probe command" in said
    assert f"judgesheet measure '{ended}'" in said
    assert run("measure", ended, "--no-pdf").returncode == 0
    assert run("gate", ended, "--policy", "order-only").returncode in (0, 3, 4)


@pytest.mark.parametrize("odd", [{}, [{}], {"a": {}}])
def test_a_recorded_cell_may_hold_what_no_table_has(tmp_path: Path, odd: object) -> None:
    rows = [judgment(item, order, 1) for item in range(3) for order in ([1, 2, 3], [2, 3, 1])]
    for row in rows:
        row["cell"] = {**cast("dict[str, object]", row["cell"]), "x": odd}
    done = run("ingest", recorded(tmp_path / "log.jsonl", rows), "--out", tmp_path / "run",
               "--no-pdf")  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert set(table["x"]) == {json.dumps(odd)}


def test_recorded_ratings_give_the_raters_agreement(tmp_path: Path) -> None:
    orders = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]]
    rows = [judgment(item, order, 1 + item % 3) for item in range(8) for order in orders]
    for item in range(8):
        row = {
            "axis": "score_order",
            "item": f"s{item}/a",
            "ratings": [item, None, item + item % 2],
        }
        rows.append({"human": row})
    done = run("ingest", recorded(tmp_path / "log.jsonl", rows), "--out", tmp_path / "run",
               "--no-pdf", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    axis = json.loads(done.stdout)["axes"][0]
    found = {estimate["key"]: estimate for estimate in axis["estimates"]}
    assert found["score_order.rater_ceiling_r"]["value"] > 0.9
    assert "score_order.rater_ceiling_r" in {row["key"] for row in axis["characteristics"]}


def test_answers_of_a_batch_become_a_sheet(tmp_path: Path) -> None:
    directory, batch = tmp_path / "run", tmp_path / "batch.jsonl"
    made = run("plan", "--model", "openai/m", "--profile", "smoke", "--reply", "json", "--quiet",
               "--axis", "score_order", "--out", directory / "plan.jsonl",
               "--export-batch", batch)  # fmt: skip
    assert made.returncode == 0, made.stderr
    planned = shutil.copy(directory / "ledger.sqlite", tmp_path)
    requests = [json.loads(line) for line in batch.read_text(encoding="utf-8").splitlines()]
    answers: list[dict[str, object]] = []
    for number, request in enumerate(requests):
        message = {"role": "assistant", "content": '{"score": 3}'}
        body = {"model": "m-2026", "created": 1_700_000_000, "choices": [{"message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2}}  # fmt: skip
        failed = number == 0
        response = None if failed else {"status_code": 200, "body": body}
        answers.append({"custom_id": request["custom_id"], "response": response,
                        "error": {"message": "expired"} if failed else None})  # fmt: skip
    path = recorded(tmp_path / "answers.jsonl", answers)
    done = run("ingest", path, "--out", directory, "--no-pdf", "--json")
    assert done.returncode == 5, done.stderr
    sheet = json.loads(done.stdout)
    assert sheet["axes"][0]["answered"] == len(requests) - 1
    assert sheet["axes"][0]["failed"] == 1
    assert sheet["judge"]["model"] == "batch/openai/m"
    assert sheet["judge"]["served_models"] == {"m-2026": len(requests) - 1}
    retried = recorded(
        tmp_path / "retry.jsonl", [{**answers[1], "custom_id": answers[0]["custom_id"]}]
    )
    again = run("ingest", retried, "--out", directory, "--no-pdf", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["axes"][0]["answered"] == len(requests)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(planned, other / "ledger.sqlite")
    odd = recorded(tmp_path / "odd.jsonl", [{**answers[0], "response": "x"}])
    assert run("ingest", odd, "--out", directory, "--no-pdf").returncode == 0
    late_errors = [answers[1], {**answers[1], "response": None, "error": {"message": "expired"}}]
    joined = recorded(tmp_path / "joined.jsonl", late_errors)
    again = run("ingest", joined, "--out", other, "--no-pdf", "--json")
    assert json.loads(again.stdout)["axes"][0]["answered"] == 1, "an error replaces no answer"
    body = {**answers[2]["response"]["body"], "choices": [{"message": {"content": "no"}}]}  # type: ignore[index]
    two = [answers[2], {**answers[2], "response": {"status_code": 200, "body": body}}]
    twice = recorded(tmp_path / "twice.jsonl", two)
    assert "answered before" in sentence(run("ingest", twice, "--out", other, "--no-pdf"))
    stray = recorded(tmp_path / "stray.jsonl", [{"custom_id": "other", "response": None}])
    assert "stray.jsonl:1" in sentence(run("ingest", stray, "--out", directory))
    assert "plan" in sentence(run("ingest", path, "--out", tmp_path / "empty"))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"axis": "none", "stimulus": "s", "cell": {}, "verdict": 1}, "no axis"),
        ({"stimulus": "s", "cell": {}, "verdict": 1}, "axis is missing"),
        ({"axis": "score_order", "stimulus": "s", "cell": {}, "verdict": 1}, "cell.item"),
        (judgment(1, [1, 2, 2], 1), "cell.order"),
        ({**judgment(1, [1, 2, 3], 1), "repeat": -1}, "repeat"),
        ({**judgment(1, [1, 2, 3], 1), "repeat": 2**70}, "repeat"),
        (judgment(1, [1, 2, 3], 9), "verdict 9"),
        ({**judgment(0, [2, 3, 1], 1), "stimulus": "other"}, "two stimuli"),
        ({"human": {"axis": "score_order", "item": "s0/a", "score": float("nan")}}, "finite"),
        ({"human": {"axis": "score_order"}}, "human row"),
        ({"human": {"axis": "score_order", "item": "s0/a", "ratings": [None]}}, "human row"),
        ({"human": {"axis": "score_order", "item": "s0/a", "ratings": 3}}, "human row"),
        ({"human": {"axis": "score_order", "item": "s0/a", "score": 1, "ratings": [3]}}, "mean"),
        ({"axis": "candidate_order", "stimulus": "s", "verdict": "left",
          "cell": {"condition": "natural", "pair": "p", "order": ["u", "v"]}},
         "verdict 'left' is not possible"),
    ],
)  # fmt: skip
def test_a_broken_record_is_named(tmp_path: Path, row: dict[str, object], words: str) -> None:
    path = recorded(tmp_path / "log.jsonl", [judgment(0, [1, 2, 3], 1), row])
    said = sentence(run("ingest", path, "--out", tmp_path / "run"))
    assert words in said
    assert "log.jsonl:2" in said


def test_commands_are_functions(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"axes": ["score_order", "listwise_consensus"], "profile": "smoke"}
    done = judgesheet.probe("sim/fair", out=tmp_path / "run", pdf=False, **asked)
    assert done.datasheet.axes[0].answered == done.datasheet.axes[0].planned
    assert judgesheet.measure(tmp_path / "run", pdf=False).datasheet == done.datasheet
    assert judgesheet.load(tmp_path / "run") == done.datasheet
    assert "Strength" in judgesheet.explain("score_order.cramers_v")
    plan, budgets = judgesheet.plan("sim/fair", **asked)
    assert sum(budget.calls for budget in budgets) == len(plan.calls)


class Schema(Page):
    """An endpoint that answers with JSON where a schema is asked for, else with words."""

    honours, keeps_text = True, True

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        constrained = self.honours and "response_format" in asked
        words = "It is fair. [RESULT] 4" if self.keeps_text else "It is fair, a 4."
        text = '{"score": 3}' if constrained else words
        answer = {"choices": [{"message": {"content": text}}], "model": "m"}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.parametrize(
    ("honours", "keeps_text", "form"),
    [(True, True, "text"), (True, False, "json"), (False, True, "text")],
)
def test_auto_takes_json_where_only_that_is_kept_to_and_records_it(
    tmp_path: Path, honours: bool, keeps_text: bool, form: str
) -> None:
    kind = type("S", (Schema,), {"honours": honours, "keeps_text": keeps_text})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    command = ("probe", "--model", "openai-compatible/m", "--base-url", address, "--reply", "auto",
               "--axis", "score_order", "--profile", "smoke", "--out", tmp_path, "--quiet",
               "--no-pdf", "--json")  # fmt: skip
    first, again = run(*command), run(*command)
    server.shutdown()
    server.server_close()
    thread.join()
    assert first.returncode == 0, first.stderr
    sheet = json.loads(first.stdout)
    assert sheet["run"]["reply"] == form
    assert sheet["axes"][0]["answered"] == sheet["axes"][0]["planned"]
    assert again.stdout == first.stdout


def test_the_same_pair_name_may_recur_under_every_stimulus(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"axis": "candidate_order", "stimulus": f"q{task}", "verdict": 1,
         "cell": {"prompt": "baseline", "condition": "natural", "kind": None, "pair": "a-b",
                  "delta": None, "order": order, "better": None}}
        for task in range(3)
        for order in (["u", "v"], ["v", "u"])
    ]  # fmt: skip
    done = run("ingest", recorded(tmp_path / "log.jsonl", rows), "--out", tmp_path / "run",
               "--no-pdf", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {e["key"]: e for e in json.loads(done.stdout)["axes"][0]["estimates"]}
    flips = found["candidate_order.order_inconsistent[set=natural]"]
    assert (flips["value"], flips["n"], flips["clusters"]) == (1, 3, 3)


# -- own prompts and parsers -----------------------------------------------------------------------

ODD_JUDGE = """
import re

def judge(messages):
    text = messages[0]["content"]
    first = re.search(r"grade (\\d+):", text)[1]
    return f"<thoughts>long</thoughts> Final grade => <{first}>"
"""
ODD_PROMPT = """Task: {{ prompt }} Answer: {{ response }}
{% for option in options %}
grade {{ option.score }}: {{ option.description }}
{% endfor %}"""
ODD_PARSER = """[verdict]
regex = 'Final grade => <(\\d)>'
[[example]]
reply = "Final grade => <4>"
verdict = 4
"""


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder with a judge that answers in a form of its own, its prompt and its parser."""
    (tmp_path / "odd_judge.py").write_text(ODD_JUDGE, encoding="utf-8")
    (tmp_path / "mine.j2").write_text(ODD_PROMPT, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(ODD_PARSER, encoding="utf-8")
    (tmp_path / "none.toml").write_text("[verdict]\nregex = 'Verdict: (.)'\n", encoding="utf-8")
    return tmp_path


ODD_PROBE = ("probe", "--model", "python/odd_judge:judge", "--axis", "score_order", "--profile",
             "smoke", "--prompt", "score_order=mine.j2", "--out", "run", "--quiet",
             "--no-pdf")  # fmt: skip


def attempts(ledger: Path) -> int:
    with sqlite3.connect(ledger) as db:
        count = db.execute("SELECT count(*) FROM attempt").fetchone()[0]
    db.close()
    return int(count)


@pytest.mark.usefixtures("pages")
def test_a_parser_beside_the_prompt_reads_a_judge_of_its_own(odd: Path) -> None:
    checked = run("stimuli", "check", "--axis", "score_order", "--parser", "mine.toml", cwd=odd)
    assert checked.returncode == 0
    assert "ok: mine.toml: example 1: 4" in checked.stdout
    done = run(*ODD_PROBE, "--json", cwd=odd)
    assert done.returncode == 0, done.stderr
    sheet = json.loads(done.stdout)
    axis = sheet["axes"][0]
    assert axis["answered"] == axis["planned"]
    (kept,) = sheet["provenance"]["parsers"]
    assert (kept["axis"], kept["name"], kept["source"]) == ("score_order", "mine.toml", ODD_PARSER)
    assert sheet["run"]["reply"] == "text"
    calls = [json.loads(line) for line in (odd / "run" / "plan.jsonl").read_text().splitlines()]
    assert not any("response_format" in call["params"] for call in calls)
    html = (odd / "run" / "datasheet.html").read_text(encoding="utf-8")
    assert kept["digest"] in html
    assert "Final grade =&gt; &lt;" in html


def test_another_parser_reads_the_stored_replies_and_is_recorded(odd: Path) -> None:
    assert run(*ODD_PROBE, cwd=odd).returncode == 0
    asked = attempts(odd / "run" / "ledger.sqlite")
    other = ("--parser", "score_order=none.toml")
    assert "another parser" in sentence(run(*ODD_PROBE, *other, cwd=odd))
    worse = json.loads(run("measure", "run", *other, "--no-pdf", "--json", cwd=odd).stdout)
    assert worse["axes"][0]["unreadable"] == worse["axes"][0]["planned"]
    (replaced,) = worse["provenance"]["parsers_replaced"]
    assert replaced["name"] == "mine.toml"
    for file in odd.glob("*.toml"):
        file.unlink()
    again = json.loads(run("measure", "run", "--no-pdf", "--json", cwd=odd).stdout)
    assert again == worse
    assert attempts(odd / "run" / "ledger.sqlite") == asked


def test_the_advice_on_replies_that_cannot_be_read_asks_none_of_them_again(odd: Path) -> None:
    one = ("--axis", "score_order", "--profile", "smoke", "--concurrency", "2")
    wrong, right = (("--parser", f"score_order={name}.toml") for name in ("none", "mine"))
    stopped = run(*ODD_PROBE, *one, *wrong, cwd=odd)
    (advice,) = re.findall(r"`judgesheet (measure run .*?)`", sentence(stopped, 5))
    paid = attempts(odd / "run" / "ledger.sqlite")
    read = run(*advice.replace("AXIS=FILE", right[1]).split(), "--no-pdf", "--json", cwd=odd)
    assert json.loads(read.stdout)["axes"][0]["answered"] == paid
    sheet = json.loads(run(*ODD_PROBE, *one, *right, "--json", cwd=odd).stdout)
    assert attempts(odd / "run" / "ledger.sqlite") == sheet["axes"][0]["answered"] > paid


def test_json_is_still_forced_if_the_user_says_so(odd: Path) -> None:
    done = run("plan", "--model", "openai/m", "--axis", "score_order", "--profile", "smoke",
               "--prompt", "score_order=mine.j2", "--reply", "json", "--out", "p.jsonl",
               cwd=odd)  # fmt: skip
    assert done.returncode == 0, done.stderr
    call = json.loads((odd / "p.jsonl").read_text().splitlines()[0])
    assert "response_format" in call["params"]


def test_a_failing_example_stops_a_probe_before_its_first_call(odd: Path) -> None:
    (odd / "mine.toml").write_text(ODD_PARSER.replace("verdict = 4", "verdict = 3"))
    assert "example 1 is read as 4, not as 3" in sentence(run(*ODD_PROBE, cwd=odd))
    assert not (odd / "run").exists()
    checked = run("stimuli", "check", "--axis", "score_order", "--parser", "mine.toml", cwd=odd)
    assert checked.returncode == 1
    assert "error: mine.toml: example 1: 4, not 3" in checked.stdout


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--parser", "score_order"), 2, "write AXIS=FILE"),
        (("--parser", "candidate_order=mine.toml"), 2, "not probed"),
        (("--parser", "score_order=absent.toml"), 2, "absent.toml"),
    ],
)
def test_a_parser_that_cannot_be_used_is_named(
    odd: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    assert words in sentence(run(*ODD_PROBE, *options, cwd=odd), code)


def test_recorded_verdicts_take_no_parser(odd: Path) -> None:
    path = recorded(odd / "log.jsonl", [judgment(0, [1, 2, 3], 1)])
    assert run("ingest", path, "--out", odd / "run", "--no-pdf").returncode == 0
    words = sentence(run("measure", "run", "--parser", "score_order=mine.toml", cwd=odd))
    assert "recorded verdicts" in words
