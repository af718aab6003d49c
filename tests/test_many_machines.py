"""`probe --engine ray`: the sheet of one process, from many; no request twice, no limit exceeded.

Most of it is tried with workers that need no Ray: the same work in processes or threads.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest

import judgesheet
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import JudgeError, StoppedError, UsageError
from judgesheet.base.records import Datasheet
from judgesheet.collect.collect import CollectSettings, Progress
from judgesheet.collect.engines import Order, refuse_what_cannot_travel, work
from judgesheet.collect.sharding import SHARDS, divide
from judgesheet.collect.storage import Folder
from judgesheet.judges import Connection
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.command import run as command
from tests.command import sentence
from tests.judges.loopback import (
    Answer,
    Request,
    Script,
    Server,
    completion,
    failure,
    make_plan,
    serving,
)
from tests.judges.scripted import ScriptedJudge
from tests.workers import threads

MEASURED = {"started_at", "ended_at", "wall_s", "latency_p50_s", "latency_p99_s"}
KEY = "sk-only-in-the-environment-4711"

pytestmark = pytest.mark.usefixtures("only_json")
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra `ray`")


def grades(request: Request, _number: int = 0) -> Answer:
    """The same question is always answered alike."""
    return completion(f"[RESULT] {1 + zlib.crc32(request.words.encode()) % 5}")


def slowly(request: Request, _number: int) -> Answer:
    time.sleep(0.03)
    return grades(request)


def options(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "model": "openai-compatible/m",
        "base_url": server.base_url,
        "axes": ("score_order",),
        "profile": "smoke",
        "reply": "text",
        **more,
    }


@pytest.fixture
def by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgesheet.collect.engines.ray.cluster", threads)


def same(sheet: Datasheet) -> Any:
    """A sheet without its dates and what was measured in seconds."""
    told = json.loads(to_json(sheet))
    told["run"] = {name: value for name, value in told["run"].items() if name not in MEASURED}
    return told


# -- one sheet -------------------------------------------------------------------------------------


def test_the_sheet_is_that_of_one_process(tmp_path: Path, by_threads: None) -> None:
    with serving(grades) as server:
        one = judgesheet.probe(**options(server), out=tmp_path / "one")
        before, seen = len(server.requests), list[Progress]()
        many = judgesheet.probe(
            **options(server), out=tmp_path / "many", engine="ray", on_progress=seen.append
        )
        assert len(server.requests) == 2 * before
    assert same(many.datasheet) == same(one.datasheet)
    assert (seen[-1].settled, seen[-1].planned, seen[-1].asked) == (before, before, before)
    assert not (tmp_path / "many" / SHARDS).exists()
    again = judgesheet.probe(**options(server), out=tmp_path / "many", engine="ray")
    assert again.progress is not None
    assert again.progress.asked == 0


def test_so_is_that_of_a_simulated_judge(tmp_path: Path, by_threads: None) -> None:
    judge, axes = "sim/first-biased?unreadable=0.1", ("score_order", "candidate_order")
    known: dict[str, Any] = {"model": judge, "axes": axes, "profile": "smoke"}
    one = judgesheet.probe(**known, out=tmp_path / "one")
    many = judgesheet.probe(**known, out=tmp_path / "many", engine="ray")
    assert same(many.datasheet) == same(one.datasheet)


def test_what_an_endpoint_refuses_is_learned_once(tmp_path: Path, by_threads: None) -> None:
    def script(request: Request, _number: int) -> Answer:
        if "temperature" in request.body:
            return failure(400, message="Unsupported parameter: 'temperature'", param="temperature",
                           code="unsupported_parameter")  # fmt: skip
        return grades(request)

    with serving(script) as server:
        sheet = judgesheet.probe(**options(server), out=tmp_path, engine="ray").datasheet
    assert sum("temperature" in request.body for request in server.requests) == 1
    assert (sheet.run["refused_parameters"], sheet.run["complete"]) == ({"temperature": None}, True)


# -- workers that die ------------------------------------------------------------------------------


def pids(run: Path) -> list[int]:
    """The processes that ask, as their leases tell."""
    leases = [json.loads(path.read_text() or "{}") for path in run.glob(f"{SHARDS}/*/*.lease")]
    return [one["pid"] for one in leases if one.get("settled") and not one.get("over")]


def one_of_two(run: Path) -> int:
    """A worker in the middle of its work."""
    for _ in range(6_000):  # the run may end, or never come so far
        try:
            if len(working := set(pids(run))) == 2:
                return working.pop()
        except (ValueError, OSError):
            pass
        time.sleep(0.02)
    pytest.fail("no two workers were seen at work")


def assert_little_was_asked_twice(server: Server, planned: int, in_flight: int) -> None:
    """Of one dead worker: what it had in flight, and a quarter of that on its way to the disk."""
    assert planned <= len(server.requests) <= planned + in_flight + in_flight // 4


@contextmanager
def in_background(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def words(server: Server, run: Path, *more: str) -> list[str]:
    return ["probe", "--model", "openai-compatible/m", "--base-url", server.base_url,
            "--axis", "score_order", "--profile", "quick", "--reply", "text", "--out", str(run),
            "--concurrency", "8", "--no-pdf", "--no-cases", "--engine", "ray", *more]  # fmt: skip


BY_PROCESSES = """
import sys
from judgesheet.cli import main
from judgesheet.collect.engines import ray
from tests.workers import processes
if __name__ == "__main__":
    ray.cluster = processes
    main(sys.argv[1:])
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """Runs the command with workers that are processes."""
    (tmp_path / "program.py").write_text(BY_PROCESSES)
    return [str(tmp_path / "program.py")]


@pytest.fixture(params=["processes", pytest.param("ray", marks=needs_ray)])
def started(request: pytest.FixtureRequest, program: list[str]) -> list[str]:
    return program if request.param == "processes" else ["-m", "judgesheet"]


def finished(process: subprocess.Popen[str]) -> str:
    """What a command said that went well."""
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return out


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path, started: list[str]) -> None:
    run = tmp_path / "run"
    with serving(slowly) as server:
        with in_background(*started, *words(server, run)) as process:
            os.kill(one_of_two(run), signal.SIGKILL)
            finished(process)
        with Ledger.open(run / LEDGER) as ledger:
            planned = ledger.totals().planned
            assert (ledger.totals().settled, ledger.miscounts()) == (planned, {})
        assert_little_was_asked_twice(server, planned, in_flight=4)
        one = judgesheet.probe(**options(server, profile="quick"), out=tmp_path / "one")
    assert same(judgesheet.load(run)) == same(one.datasheet)


def test_what_the_workers_of_a_killed_run_have_is_not_asked_again(
    tmp_path: Path, program: list[str]
) -> None:
    run = tmp_path / "run"
    with serving(slowly) as server:
        with in_background(*program, *words(server, run)) as process:
            one_of_two(run)
            process.kill()  # its workers go on, until somebody tells them
        there = len(server.requests)
        resumed = judgesheet.probe(**options(server, profile="quick"), out=run)
        assert there > 20
        planned = resumed.datasheet.run["planned"]
        assert resumed.datasheet.run["complete"]
        assert_little_was_asked_twice(server, planned, in_flight=8)


@pytest.mark.parametrize(
    ("way", "how"),
    [
        ("processes", signal.SIGTERM),
        pytest.param("ray", signal.SIGTERM, marks=needs_ray),
        pytest.param("ray", signal.SIGINT, marks=needs_ray),
    ],
    ids=["processes", "ray, SIGTERM", "ray, Ctrl-C"],
)
def test_an_interrupted_run_keeps_what_came(
    tmp_path: Path, program: list[str], way: str, how: signal.Signals
) -> None:
    run, start = tmp_path / "run", program if way == "processes" else ["-m", "judgesheet"]
    with serving(slowly) as server:
        with in_background(*start, *words(server, run)) as process:
            one_of_two(run)
            if way == "ray":  # as a terminal does: Ray's own processes are told, too
                os.killpg(process.pid, how)
            else:
                process.send_signal(how)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        assert "interrupted; the same command resumes the run" in said
        assert "Traceback" not in said
        with Ledger.open(run / LEDGER) as ledger:
            assert 20 < ledger.totals().settled < ledger.totals().planned
        resumed = judgesheet.probe(**options(server, profile="quick"), out=run)
        assert resumed.datasheet.run["complete"]
        assert_little_was_asked_twice(server, resumed.datasheet.run["planned"], in_flight=8)


# -- limits and faults -----------------------------------------------------------------------------


def test_a_budget_is_spent_to_the_last_request_and_no_further(
    tmp_path: Path, by_threads: None
) -> None:
    with serving(grades) as server:
        for total in (33, 66):
            some = judgesheet.probe(**options(server, max_calls=33), out=tmp_path, engine="ray")
            assert len(server.requests) == total
            assert some.progress is not None
            assert some.progress.stopped == "max_calls"
        rest = judgesheet.probe(**options(server), out=tmp_path, engine="ray")
    assert len(server.requests) == rest.datasheet.run["planned"]


def test_no_more_is_paid_than_was_allowed(tmp_path: Path, by_threads: None) -> None:
    with serving(grades) as server:  # 10 tokens in, 2 out: $0.042, and $3.3 for all
        some = judgesheet.probe(
            **options(server, max_cost=3.0, prices=(200.0, 20_000.0), max_tokens=50),
            out=tmp_path,
            engine="ray",
        )
    assert some.datasheet.run["cost_usd"] <= 3.0
    assert some.progress is not None
    assert (some.progress.stopped, len(server.requests) > 20) == ("max_cost", True)


def test_a_rate_is_that_of_all_workers(tmp_path: Path, by_threads: None) -> None:
    with serving(grades) as server:
        began = time.monotonic()
        run = judgesheet.probe(**options(server, rate=100.0), out=tmp_path, engine="ray")
        least = (run.datasheet.run["planned"] - 2 * 10) / 100  # a burst each of two rounds
        assert time.monotonic() - began >= least


def test_all_stop_where_one_met_a_fault(tmp_path: Path, by_threads: None) -> None:
    def until(answers: int) -> Script:
        return lambda request, number: (
            grades(request) if number <= answers else failure(401, message="revoked")
        )

    with serving(until(50)) as server, pytest.raises(StoppedError, match="revoked"):
        judgesheet.probe(**options(server), out=tmp_path / "some", engine="ray")
    assert judgesheet.load(tmp_path / "some").run["settled"] == 50
    with serving(until(0)) as server, pytest.raises(JudgeError) as stopped:
        judgesheet.probe(**options(server), out=tmp_path / "none", engine="ray")
    assert not isinstance(stopped.value, StoppedError)
    assert len(server.requests) <= 20  # by the one worker that begins


def test_what_failed_is_not_asked_again_in_the_same_session(
    tmp_path: Path, by_threads: None
) -> None:
    def script(request: Request, _number: int) -> Answer:
        return failure(400) if zlib.crc32(request.words.encode()) % 9 == 0 else grades(request)

    with serving(script) as server:
        run = judgesheet.probe(**options(server, max_calls=10_000), out=tmp_path, engine="ray")
    told = run.datasheet.run
    assert run.progress is not None
    assert 0 < run.progress.failed == told["planned"] - told["settled"]
    assert len(server.requests) == told["planned"]


# -- keys ------------------------------------------------------------------------------------------


def test_no_order_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[bytes] = []

    @contextmanager
    def reading(address: str | None) -> Iterator[tuple[Callable[..., Future[Any]], int]]:
        with threads(address) as (submit, workers):

            def noted(function: Callable[[Order], Any], order: Order) -> Future[Any]:
                orders.append(pickle.dumps(order))
                return submit(function, order)

            yield noted, workers

    monkeypatch.setattr("judgesheet.collect.engines.ray.cluster", reading)
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(grades) as server:
        judgesheet.probe(**options(server, api_key_env="MY_KEY"), out=tmp_path, engine="ray")
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
    assert len(orders) == 3
    assert all(KEY.encode() not in order and b"MY_KEY" in order for order in orders)


@needs_ray
def test_ray_writes_no_key_down(tmp_path: Path) -> None:
    """Its logs hold arguments of processes, environments of tasks and errors of workers."""

    def script(request: Request, number: int) -> Answer:
        return grades(request) if number < 99 else failure(401, message=f"{KEY} is revoked")

    # A path to a socket must be short.
    with serving(script) as server, TemporaryDirectory(prefix="j") as folder:
        with in_background(
            *("-m", "judgesheet", *words(server, tmp_path / "run", "--api-key-env", "MY_KEY")),
            MY_KEY=KEY,
            RAY_TMPDIR=folder,
        ) as process:
            _, said = process.communicate(timeout=300)
        assert process.returncode == 5, said
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        logs = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert any(path.suffix == ".log" for path in logs)
        for path in [*logs, *(path for path in tmp_path.rglob("*") if path.is_file())]:
            assert KEY.encode() not in path.read_bytes(), path


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--base-url", "https://me:secret-word@host/v1"), "--base-url holds a credential"),
        (("--base-url", "https://host/v1?api-key=abcdefgh"), "--base-url holds a credential"),
        (("--base-url", "https://host/v1", "--extra-body", '{"token": "abcdefgh"}'), "extra-body"),
    ],
)
def test_a_secret_does_not_travel(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = command("probe", "--model", "openai-compatible/m", "--engine", "ray", *arguments,
                   "--axis", "score_order", "--profile", "smoke", "--out", tmp_path)  # fmt: skip
    assert said in sentence(done, 2)
    assert "secret-word" not in done.stderr


def test_a_model_on_this_machine_is_not_asked_by_others() -> None:
    judge = ScriptedJudge({})
    judge.machine = "2 cores"
    with pytest.raises(UsageError, match="leave --engine out, or serve it"):
        refuse_what_cannot_travel(judge, Connection())


@pytest.mark.parametrize(
    ("auth", "travels"), [("module:factory", True), (httpx.BasicAuth("user", "secret"), False)]
)
def test_an_authentication_travels_by_its_name_alone(
    auth: httpx.Auth | str, travels: bool
) -> None:
    with nullcontext() if travels else pytest.raises(UsageError):
        refuse_what_cannot_travel(ScriptedJudge({}), Connection(auth=auth))


def test_a_worker_with_another_judge_by_that_name_asks_nothing(tmp_path: Path) -> None:
    (shard,) = divide(lambda: make_plan(2).calls, Folder(str(tmp_path)), 1)
    order = Order(shard, "sim/fair", Connection(), CollectSettings(), {"provider": "sim"},
                  answer_key=None, parsers=())  # fmt: skip
    assert "another judge by this name" in work(order).fault
    assert "install the same on every machine" in work(replace(order, version="0.1")).fault
    assert shard.lease(1) not in shard.folder.listed()


def test_candidate_sets_are_decided_from_here() -> None:
    with pytest.raises(UsageError, match="leave the engine out"):
        judgesheet.consensus([], "sim/fair", engine="ray")


def test_an_address_needs_its_engine(tmp_path: Path) -> None:
    done = command("probe", "--model", "sim/fair", "--engine-address", "auto", "--out", tmp_path)
    assert "give --engine ray too" in sentence(done, 2)


def test_without_ray_the_command_to_install_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = command("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke",
                   "--engine", "ray", "--out", tmp_path)  # fmt: skip
    assert "pip install 'judgesheet[ray]'" in sentence(done)


@needs_ray
def test_there_is_no_cluster_at_an_address(tmp_path: Path) -> None:
    arguments = ("-m", "judgesheet", "probe", "--model", "sim/fair", "--axis", "score_order",
                 "--profile", "smoke", "--engine", "ray", "--out", str(tmp_path),
                 "--engine-address", "127.0.0.1:9")  # fmt: skip
    with in_background(*arguments) as process:
        _, said = process.communicate(timeout=300)
    assert process.returncode == 1, said
    assert "there is no Ray cluster at 127.0.0.1:9" in said
