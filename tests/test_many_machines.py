"""`probe --engine ray`: the sheet of one process, from many; no request twice, no limit exceeded.

Asked on a real cluster of two workers, which most tests of this file share.
"""

import asyncio
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest

import judgesheet
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import JudgeError, StoppedError, UsageError
from judgesheet.base.records import Call, Datasheet
from judgesheet.collect import workers
from judgesheet.collect.collect import Progress
from judgesheet.collect.request import connection
from judgesheet.collect.workers import WORKER_LOST, Order, RemoteJudge, Worker, by_workers
from judgesheet.judges import Connection, Judge, open_judge
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
    serving,
)
from tests.judges.mortal import grade
from tests.judges.scripted import ScriptedJudge

MEASURED = {"started_at", "ended_at", "wall_s", "latency_p50_s", "latency_p99_s"}
KEY = "sk-only-in-the-environment-4711"

pytestmark = [
    # Ray warns of its own coming changes.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
]
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra `ray`")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cluster of two processors; what is asked in this process asks there."""
    ray = pytest.importorskip("ray", reason="needs the extra `ray`")
    known = {"MY_KEY": KEY, "MORTAL_MARKS": str(tmp_path_factory.mktemp("marks"))}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {**known, "RAY_USAGE_STATS_ENABLED": "0"}.items():
            environment.setenv(name, value)
        on_sigterm = signal.getsignal(signal.SIGTERM)
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False,
                 logging_level="error")  # fmt: skip
        signal.signal(signal.SIGTERM, on_sigterm)
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


def grades(request: Request, _number: int = 0) -> Answer:
    return completion(grade(request.body["messages"]))


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


def same(sheet: Datasheet) -> Any:
    """A sheet without its dates and what was measured in seconds."""
    content = json.loads(to_json(sheet))
    content["run"] = {name: value for name, value in content["run"].items() if name not in MEASURED}
    return content


def processes() -> list[int]:
    """The processes of workers that ask, in the cluster that this process began."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            if words.startswith(b"ray::Worker") and parent(parent(int(place.name))) == os.getpid():
                found.append(int(place.name))
        except OSError:  # it ended
            continue
    return found


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def question(call: Call) -> str:
    return call.messages[-1]["content"]


def asked(server: Server) -> Counter[str]:
    """How often each question was asked."""
    return Counter(request.words for request in server.requests)


def lost(run: Path) -> Counter[str]:
    """How often each call died with its worker; and every call is settled."""
    with Ledger.open(run / LEDGER) as ledger:
        assert ledger.totals().settled == ledger.totals().planned
    query = "SELECT call_id FROM attempt WHERE finish_reason = ? AND outcome = 'unavailable'"
    with closing(sqlite3.connect(run / LEDGER)) as db:
        return Counter(key for (key,) in db.execute(query, (WORKER_LOST,)))


# -- one sheet -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_the_sheet_is_that_of_one_process(tmp_path: Path) -> None:
    with serving(grades) as server:
        one = judgesheet.probe(**options(server), out=tmp_path / "one")
        before, seen = len(server.requests), list[Progress]()
        many = judgesheet.probe(
            **options(server), out=tmp_path / "many", engine="ray", on_progress=seen.append
        )
        assert len(server.requests) == 2 * before
    assert same(many.datasheet) == same(one.datasheet)
    assert (seen[-1].settled, seen[-1].planned, seen[-1].asked) == (before, before, before)
    again = judgesheet.probe(**options(server), out=tmp_path / "many", engine="ray")
    assert again.progress is not None
    assert again.progress.asked == 0


@pytest.mark.usefixtures("cluster")
def test_so_is_that_of_a_simulated_judge(tmp_path: Path) -> None:
    judge, axes = "sim/first-biased?unreadable=0.1", ("score_order", "candidate_order")
    known: dict[str, Any] = {"model": judge, "axes": axes, "profile": "smoke"}
    one = judgesheet.probe(**known, out=tmp_path / "one")
    many = judgesheet.probe(**known, out=tmp_path / "many", engine="ray")
    assert same(many.datasheet) == same(one.datasheet)


@pytest.mark.usefixtures("cluster")
def test_both_workers_ask(tmp_path: Path) -> None:
    seen = set[int]()
    with serving(slowly) as server:
        known = options(server, concurrency=8, on_progress=lambda _: seen.update(processes()))
        judgesheet.probe(**known, out=tmp_path, engine="ray")
    assert len(seen) == 2


@pytest.mark.usefixtures("cluster")
def test_what_an_endpoint_refuses_is_learned_once(tmp_path: Path) -> None:
    def script(request: Request, _number: int) -> Answer:
        if "temperature" in request.body:
            return failure(400, message="Unsupported parameter: 'temperature'", param="temperature",
                           code="unsupported_parameter")  # fmt: skip
        return grades(request)

    with serving(script) as server:
        sheet = judgesheet.probe(**options(server), out=tmp_path, engine="ray").datasheet
    assert sum("temperature" in request.body for request in server.requests) == 1
    assert (sheet.run.refused_parameters, sheet.run.complete) == ({"temperature": None}, True)


@pytest.mark.usefixtures("cluster")
def test_a_run_stops_once_its_policy_is_decided(tmp_path: Path) -> None:
    limit = '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.9\n'
    (tmp_path / "policy.toml").write_text(limit)
    known: dict[str, Any] = {"axes": ("score_order",), "profile": "quick", "seed": 1}
    known |= {"until_decided": tmp_path / "policy.toml", "model": "sim/good"}
    one = judgesheet.probe(**known, out=tmp_path / "one")
    many = judgesheet.probe(**known, out=tmp_path / "many", engine="ray")
    assert same(many.datasheet) == same(one.datasheet)


# -- who dies --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_what_a_worker_had_in_flight_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    killed = list[int]()

    def kill_one(progress: Progress) -> None:
        if not killed and progress.settled > 50 and len(there := processes()) == 2:
            killed.append(there[0])
            os.kill(there[0], signal.SIGKILL)

    with serving(slowly) as server:
        known = options(server, profile="quick", concurrency=8)
        plan, _ = judgesheet.plan(**known)
        judgesheet.probe(**known, out=tmp_path, engine="ray", on_progress=kill_one)
    gone, times = lost(tmp_path), asked(server)
    assert len(killed) == 1
    assert 0 < gone.total() <= 8
    least, most = Counter[str](), Counter[str]()
    for call in plan.calls:  # of which some repeat a question
        least[question(call)] += 1
        most[question(call)] += 1 + gone[call.id]
    assert least <= times <= most


@pytest.mark.usefixtures("cluster")
def test_a_question_that_ends_its_worker_is_asked_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known: dict[str, Any] = {"axes": ("score_order",), "profile": "smoke", "concurrency": 4}
    judge = "python/tests.judges.mortal:twice"
    run = judgesheet.probe(judge, **known, out=tmp_path, engine="ray").datasheet.run
    assert 2 <= lost(tmp_path).total() <= 8
    assert run.complete
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("cluster")
def test_workers_that_only_die_stop_the_run(tmp_path: Path) -> None:
    known: dict[str, Any] = {"axes": ("score_order",), "profile": "smoke", "concurrency": 4}
    with pytest.raises(JudgeError):
        judgesheet.probe("python/tests.judges.mortal:always", **known, out=tmp_path, engine="ray")


def words(server: Server, run: Path, *more: str) -> list[str]:
    return ["-m", "judgesheet", "probe", "--model", "openai-compatible/m", "--base-url",
            server.base_url, "--axis", "score_order", "--profile", "quick", "--reply", "text",
            "--out", str(run), "--concurrency", "8", "--no-pdf", "--no-cases",
            "--engine", "ray", *more]  # fmt: skip


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


def until(server: Server, requests: int) -> None:
    """Wait until so many requests came."""
    for _ in range(6_000):
        if len(server.requests) >= requests:
            return
        time.sleep(0.02)
    pytest.fail("nobody asks")


def test_what_a_killed_run_has_on_disk_is_not_asked_again(tmp_path: Path, cluster: str) -> None:
    with serving(slowly) as server:
        with in_background(*words(server, tmp_path, "--engine-address", cluster)) as process:
            until(server, 60)
            assert processes()
            process.kill()
        while processes():  # they end without it
            time.sleep(0.1)
        with Ledger.open(tmp_path / LEDGER) as ledger:
            pending = {one.call.id for one in ledger.pending()}
            done, left = Counter[str](), Counter[str]()
            for call in ledger.calls():
                (left if call.id in pending else done)[question(call)] += 1
        assert done.total() > 20
        before = asked(server)
        known = options(server, profile="quick", concurrency=8)
        resumed = judgesheet.probe(**known, out=tmp_path, engine="ray")
        assert resumed.datasheet.run.complete
    assert asked(server) - before == left
    # What was in flight, and what was on its way to the disk.
    assert (before - done).total() <= 8 + 8 // 4


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_keeps_what_came(
    tmp_path: Path, cluster: str, how: signal.Signals
) -> None:
    # Ctrl-C in a terminal is told to Ray's own processes, too.
    of_its_own = how is signal.SIGINT
    where = () if of_its_own else ("--engine-address", cluster)
    with serving(slowly) as server:
        with in_background(*words(server, tmp_path, *where)) as process:
            until(server, 60)
            if of_its_own:
                os.killpg(process.pid, how)
            else:
                process.send_signal(how)
            _, said = process.communicate(timeout=120)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        with Ledger.open(tmp_path / LEDGER) as ledger:
            assert 20 < ledger.totals().settled < ledger.totals().planned
        known = options(server, profile="quick")
        resumed = judgesheet.probe(**known, out=tmp_path)
        assert resumed.datasheet.run.complete
    assert resumed.datasheet.run.planned is not None
    assert asked(server).total() <= resumed.datasheet.run.planned + 8 + 8 // 4


# -- limits and faults -----------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_a_budget_is_spent_to_the_last_request_and_no_further(tmp_path: Path) -> None:
    with serving(grades) as server:
        for total in (33, 66):
            some = judgesheet.probe(**options(server, max_calls=33), out=tmp_path, engine="ray")
            assert len(server.requests) == total
            assert some.progress is not None
            assert some.progress.stopped == "max_calls"
        rest = judgesheet.probe(**options(server), out=tmp_path, engine="ray")
    assert len(server.requests) == rest.datasheet.run.planned


@pytest.mark.usefixtures("cluster")
def test_no_more_is_paid_than_was_allowed(tmp_path: Path) -> None:
    with serving(grades) as server:  # 10 tokens in, 2 out: $0.042, and $3.3 for all
        known = options(server, max_cost=2.0, prices=(200.0, 20_000.0), max_tokens=5)
        some = judgesheet.probe(**known, out=tmp_path, engine="ray")
    assert some.datasheet.run.cost_usd is not None
    assert some.datasheet.run.cost_usd <= 2.0
    assert some.progress is not None
    assert (some.progress.stopped, len(server.requests) > 20) == ("max_cost", True)


@pytest.mark.usefixtures("cluster")
def test_a_rate_is_that_of_all_workers(tmp_path: Path) -> None:
    with serving(grades) as server:
        began = time.monotonic()
        run = judgesheet.probe(**options(server, rate=50.0), out=tmp_path, engine="ray")
        assert run.datasheet.run.planned is not None
        assert time.monotonic() - began >= (run.datasheet.run.planned - 50) / 50


@pytest.mark.usefixtures("cluster")
def test_no_more_are_in_flight_than_allowed(tmp_path: Path) -> None:
    there, most, lock = 0, 0, threading.Lock()

    def script(request: Request, _number: int) -> Answer:
        nonlocal there, most
        with lock:
            there += 1
            most = max(most, there)
        time.sleep(0.02)
        with lock:
            there -= 1
        return grades(request)

    with serving(script) as server:
        judgesheet.probe(**options(server, concurrency=5), out=tmp_path, engine="ray")
    assert 2 <= most <= 5


@pytest.mark.usefixtures("cluster")
def test_all_stop_where_one_met_a_fault(tmp_path: Path) -> None:
    def until(answers: int) -> Script:
        return lambda request, number: (
            grades(request) if number <= answers else failure(401, message="revoked")
        )

    with serving(until(50)) as server, pytest.raises(StoppedError, match="revoked"):
        judgesheet.probe(**options(server, concurrency=8), out=tmp_path / "some", engine="ray")
    assert judgesheet.load(tmp_path / "some").run.settled == 50
    assert len(server.requests) <= 50 + 5 + 8
    with serving(until(0)) as server, pytest.raises(JudgeError) as stopped:
        judgesheet.probe(**options(server), out=tmp_path / "none", engine="ray")
    assert not isinstance(stopped.value, StoppedError)
    assert len(server.requests) <= 5 + 16


# -- keys ------------------------------------------------------------------------------------------


def order_of(judge: Judge) -> Order:
    """What the workers of a judge are told."""
    assert isinstance(judge, RemoteJudge)
    return judge._order


@pytest.mark.usefixtures("cluster")
def test_workers_find_the_key_in_their_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with serving(grades) as server:
        known = options(server, api_key_env="MY_KEY")
        judgesheet.probe(**known, out=tmp_path, engine="ray")
        assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}


def test_no_order_holds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    request = judgesheet.Request(
        "openai-compatible/m", base_url="http://127.0.0.1:9/v1", api_key_env="MY_KEY"
    )
    judge = open_judge(request.model, connection(request))
    order = pickle.dumps(order_of(by_workers(request, judge, ())))
    assert KEY.encode() not in order
    assert b"MY_KEY" in order


@needs_ray
def test_ray_writes_no_key_down(tmp_path: Path) -> None:
    """Its logs hold arguments of processes, environments of actors and errors of workers."""

    def script(request: Request, number: int) -> Answer:
        return grades(request) if number < 99 else failure(401, message=f"{KEY} is revoked")

    # A path to a socket must be short.
    with serving(script) as server, TemporaryDirectory(prefix="j") as folder:
        with in_background(
            *words(server, tmp_path / "run", "--api-key-env", "MY_KEY"),
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
    "arguments",
    [
        ("--base-url", "https://me:secret-word@host/v1"),
        ("--base-url", "https://host/v1?api-key=secret-word"),
        ("--base-url", "https://host/v1", "--extra-body", '{"token": "secret-word"}'),
    ],
)
def test_a_secret_does_not_travel(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = command("probe", "--model", "openai-compatible/m", "--engine", "ray", *arguments,
                   "--axis", "score_order", "--profile", "smoke", "--out", tmp_path)  # fmt: skip
    assert "travel" in sentence(done, 2)
    assert "secret-word" not in done.stderr


def test_a_model_on_this_machine_is_not_asked_by_others() -> None:
    judge = ScriptedJudge({})
    judge.machine = "2 cores"
    with pytest.raises(UsageError):
        by_workers(judgesheet.Request("local/m"), judge, ())


def test_an_authentication_travels_by_its_name_alone() -> None:
    by_workers(judgesheet.Request("local/m", auth="module:factory"), ScriptedJudge({}), ())
    held = judgesheet.Request("local/m", auth=httpx.BasicAuth("user", "secret"))
    with pytest.raises(UsageError):
        by_workers(held, ScriptedJudge({}), ())


def test_a_worker_with_another_judge_by_that_name_asks_nothing() -> None:
    same = Order("sim/fair", Connection(), dict(open_judge("sim/fair", Connection()).identity))
    assert asyncio.run(Worker(same).open()) == ""
    for other in (replace(same, version="0.0"), replace(same, identity={"provider": "sim"})):
        assert "every machine" in asyncio.run(Worker(other).open())


@pytest.mark.usefixtures("cluster")
def test_what_a_worker_says_that_cannot_ask_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "__version__", "0.0")  # in this process, not in theirs
    monkeypatch.setattr(workers, "Order", partial(Order, version="0.0"))
    with pytest.raises(JudgeError, match=f"{judgesheet.__version__}.*0.0"):
        judgesheet.probe("sim/fair", tmp_path, axes=("score_order",), profile="smoke",
                         engine="ray")  # fmt: skip


def test_candidate_sets_are_decided_from_here() -> None:
    with pytest.raises(UsageError):
        judgesheet.consensus([], "sim/fair", engine="ray")


def test_an_address_needs_its_engine(tmp_path: Path) -> None:
    done = command("probe", "--model", "sim/fair", "--engine-address", "auto", "--out", tmp_path)
    assert "--engine ray" in sentence(done, 2)


def test_without_ray_the_command_to_install_it_is_reported(
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
    assert "127.0.0.1:9" in said
