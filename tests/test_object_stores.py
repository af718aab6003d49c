"""`probe --engine ray --shards URL`: as with a shared disk, but for an object store.

What needs several processes is tried with a server of S3's protocol, as a store in memory is seen
by one process only; the rest in threads.
"""

import os
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen
from typing import Any
from uuid import uuid4

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import judgesheet
from judgesheet.base.errors import StoppedError
from judgesheet.collect import storage
from judgesheet.collect.sharding import told
from judgesheet.collect.storage import Folder
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.command import run as command
from tests.command import sentence
from tests.judges.loopback import Answer, Request, Server, serving
from tests.stores import Failing, s3
from tests.test_many_machines import (
    BY_PROCESSES,
    assert_little_was_asked_twice,
    finished,
    grades,
    in_background,
    options,
    same,
    words,
)
from tests.workers import threads

SECRET = "only-in-the-environment-4711"

pytestmark = pytest.mark.usefixtures("only_json")
needs_s3 = pytest.mark.skipif(
    not all(map(find_spec, ("moto", "s3fs"))), reason="needs the extra `stores`"
)


@pytest.fixture
def by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgesheet.collect.engines.ray.cluster", threads)


@pytest.fixture
def memory() -> Iterator[str]:
    name = uuid4().hex
    yield f"memory://{name}"
    assert not [path for path in MemoryFileSystem.store if name in path]


# -- in memory, by threads -------------------------------------------------------------------------


def test_the_sheet_is_that_of_one_process(tmp_path: Path, memory: str, by_threads: None) -> None:
    with serving(grades) as server:
        one = judgesheet.probe(**options(server), out=tmp_path / "one")
        asked = len(server.requests)
        many = judgesheet.probe(
            **options(server, engine="ray", shards=memory), out=tmp_path / "many"
        )
        assert len(server.requests) == 2 * asked
    assert same(many.datasheet) == same(one.datasheet)
    assert not (tmp_path / "many" / "shards").exists()


def test_a_store_that_fails_ends_the_worker_and_loses_nothing(
    tmp_path: Path, by_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PAUSES_S", (0.01, 0.01))
    monkeypatch.setattr(Failing, "is_down", False)
    monkeypatch.setattr(Failing, "refused", 0)

    def script(request: Request, number: int) -> Answer:
        Failing.is_down = number > 60
        return grades(request)

    with serving(script) as server:
        known = options(server, engine="ray", shards="failing://bucket", concurrency=8)
        with pytest.raises(StoppedError) as stopped:
            judgesheet.probe(**known, out=tmp_path)
        assert len(server.requests) <= 60 + 2 * (4 + 1)
        assert "on a worker: failing://bucket/" in str(stopped.value)
        assert "cannot be written (503 Slow Down: https://store/x)" in str(stopped.value)
        assert Failing.refused in {3, 6}  # of one worker, or of both
        kept = judgesheet.load(tmp_path).run["settled"]
        assert kept >= 20
        Failing.is_down = False
        server.requests.clear()
        again = judgesheet.probe(**{**known, "shards": "memory://elsewhere"}, out=tmp_path)
        assert len(server.requests) == again.datasheet.run["planned"] - kept


# -- S3's protocol, by processes -------------------------------------------------------------------


@pytest.fixture(scope="module")
def server_of_s3() -> Iterator[str]:
    with s3() as address:
        yield address


@pytest.fixture
def bucket(server_of_s3: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    known = {
        "AWS_ENDPOINT_URL": server_of_s3,
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    name = f"b{uuid4().hex}"
    request = urllib.request.Request(f"{server_of_s3}/{name}", method="PUT")
    urllib.request.urlopen(request).close()
    yield f"s3://{name}/shards"
    listed = urllib.request.urlopen(f"{server_of_s3}/{name}").read()
    assert b"<Key>" not in listed, listed


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    (tmp_path / "program.py").write_text(BY_PROCESSES)
    return [str(tmp_path / "program.py")]


def one_of_two(process: Popen[str], address: str) -> int:
    """A worker in the middle of its work, as the leases tell."""
    place = Folder(address)
    while process.poll() is None:
        leases = [one for name in place.listed() for one in told(place.within(name))]
        working = {one["pid"] for one in leases if one.get("settled") and not one.get("over")}
        if len(working) == 2:
            return int(working.pop())
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


def slowly(request: Request, _number: int) -> Answer:
    time.sleep(0.2)
    return grades(request)


def few(server: Server, run: Path, address: str) -> list[str]:
    """A short probe, as starting workers is what takes time."""
    return [*words(server, run, "--shards", address, "--profile", "smoke", "--concurrency", "4")]


@needs_s3
def test_a_worker_that_is_killed_is_replaced(
    tmp_path: Path, program: list[str], bucket: str
) -> None:
    run = tmp_path / "run"
    with serving(slowly) as server:
        with in_background(*program, *few(server, run, bucket)) as process:
            os.kill(one_of_two(process, bucket), signal.SIGKILL)
            finished(process)
        with Ledger.open(run / LEDGER) as ledger:
            planned = ledger.totals().planned
            assert (ledger.totals().settled, ledger.miscounts()) == (planned, {})
        assert_little_was_asked_twice(server, planned, in_flight=2)
        one = judgesheet.probe(**options(server), out=tmp_path / "one")
    assert same(judgesheet.load(run)) == same(one.datasheet)


@needs_s3
def test_a_killed_run_knows_where_its_answers_lie(
    tmp_path: Path, program: list[str], bucket: str
) -> None:
    run = tmp_path / "run"
    with serving(slowly) as server:
        with in_background(*program, *few(server, run, bucket)) as process:
            one_of_two(process, bucket)
            process.kill()  # its workers go on, until somebody tells them
        resumed = judgesheet.probe(**options(server), out=run)
        assert resumed.datasheet.run["complete"]
        assert_little_was_asked_twice(server, resumed.datasheet.run["planned"], in_flight=4)
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        assert SECRET.encode() not in path.read_bytes(), path


@needs_s3
def test_a_bucket_that_is_missing_is_not_made(
    tmp_path: Path, bucket: str, by_threads: None
) -> None:
    done = probe(tmp_path, "s3://no-such-bucket/x")
    assert "there is no s3://no-such-bucket/x/" in sentence(done)


# -- what is refused -------------------------------------------------------------------------------


def probe(out: Path, address: str, *more: str) -> Any:
    return command("probe", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke",
                   "--engine", "ray", "--shards", address, "--out", out, *more)  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        "s3://me:secret-word@bucket/x",
        "s3://sk-secret-word@bucket/x",
        "s3://bucket/x?key=secret-word",
        "simplecache::s3://bucket/secret-word",
    ],
)
def test_a_credential_is_not_written_down(tmp_path: Path, address: str) -> None:
    done = probe(tmp_path, address)
    assert "with no credential in it" in sentence(done, 2)
    assert "secret-word" not in done.stderr
    assert not (tmp_path / LEDGER).exists()


@pytest.mark.parametrize("address", ["abfs://container@account.dfs.core.windows.net/x", "/data/x"])
def test_what_is_no_credential_is_not_taken_for_one(address: str) -> None:
    storage.require_no_secret(address)


def test_an_address_of_an_unknown_kind(tmp_path: Path, by_threads: None) -> None:
    assert "nowhere://x cannot be opened (Protocol not known" in sentence(
        probe(tmp_path, "nowhere://x")
    )


def test_a_store_needs_its_package(
    tmp_path: Path, by_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    said = sentence(probe(tmp_path, "gs://bucket/x"))
    assert "pip install 'judgesheet[ray]' and what fsspec needs" in said


def test_shards_need_workers(tmp_path: Path) -> None:
    done = probe(tmp_path, "/data/x", "--engine", "local")
    assert "give --engine ray too" in sentence(done, 2)
