"""Shards, their leases, and how they are put together; without any cluster."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from judgesheet.base.errors import RunError
from judgesheet.base.records import Reply
from judgesheet.collect import sharding
from judgesheet.collect.collect import CollectSettings
from judgesheet.collect.sharding import (
    CALLS,
    Lease,
    Log,
    Shard,
    ShardLedger,
    Spent,
    begin,
    divide,
    gather,
    left,
    less,
    logged,
    shares,
)
from judgesheet.collect.storage import Folder
from judgesheet.commands.run_checkup import examine_run
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import open_run
from tests import stores  # noqa: F401
from tests.judges.loopback import make_call, make_plan

JUDGE = {"provider": "scripted", "model": "scripted"}


def reply(call_id: str, text: str = "[RESULT] 1", at: float = 1.0, **more: object) -> Reply:
    known = {"attempt": 1, "outcome": "ok", "raw": text, "latency_s": 0.1, "tokens_in": 10}
    return Reply(
        **{"call_id": call_id, "text": text, "at": at, "tokens_out": 2, "served_model": "m"}
        | known | more  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Ledger]:
    path = tmp_path / "run" / "ledger.sqlite"
    with Ledger.create_or_open(path, make_plan(4), JUDGE) as ledger:
        yield ledger


@pytest.fixture
def shard(run: Ledger) -> Shard:
    """That of the only worker, in the run directory."""
    (one,) = divide(lambda: make_plan(4).calls, begin(run, None), 1)
    return one


@pytest.fixture(params=["disk", "disk by its address", "object store"])
def anywhere(run: Ledger, tmp_path: Path, request: pytest.FixtureRequest) -> Shard:
    """The same, wherever shards may lie."""
    addresses = {
        "disk": None,
        "disk by its address": (tmp_path / "with a #%20").as_uri(),
        "object store": f"memory://{uuid4()}",
    }
    (one,) = divide(lambda: make_plan(4).calls, begin(run, addresses[request.param]), 1)
    return one


def answered(shard: Shard, holder: int, *replies: Reply) -> None:
    ShardLedger((), {}, Log(shard, holder)).record(replies)


def place(shard: Shard) -> Path:
    """The folder of a round on a disk."""
    return Path(str(shard.folder))


# -- dividing --------------------------------------------------------------------------------------


def test_arms_and_repeats_of_a_stimulus_stay_together(run: Ledger) -> None:
    calls = [
        replace(make_call(f"stimulus {number % 9}"), repeat=number // 9) for number in range(90)
    ]
    shards = divide(lambda: calls, begin(run, None), 4)
    asked = [left(lease, None, Spent(), 0)[0] for lease in map(Lease.claim, shards) if lease]
    assert sorted(len(part) for part in asked) == [20, 20, 20, 30]
    owners = [{call.stimulus for call in part} for part in asked]
    assert sum(map(len, owners)) == 9
    for part in asked:
        places = [calls.index(call) for call in part]
        assert places == sorted(places)
    again = divide(lambda: calls, begin(run, None), 4)
    assert [[*logged(one, CALLS)] for one in again] == [[*logged(one, CALLS)] for one in shards]


def test_no_more_shards_than_stimuli(run: Ledger) -> None:
    shards = divide(lambda: make_plan(3).calls, begin(run, None), 8)
    assert [one.calls for one in shards] == [1, 1, 1]


def test_a_long_plan_is_many_pieces(anywhere: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "PIECE", 3000)
    monkeypatch.setattr(sharding, "READ_AT_ONCE", 9000)
    lines = [json.dumps({"text": f"{number} \ud800" + "é" * 500}) for number in range(30)]
    log = Log(anywhere, 7)
    for line in lines:
        log.add(line)
    log.flush()
    assert len(anywhere.logs.listed()) > 5
    assert [json.dumps(one) for one in logged(anywhere, 7)] == lines


@given(
    some.lists(some.integers(1, 10_000), min_size=1, max_size=12),
    some.integers(12, 500),
    some.floats(0.1, 1e4),
    some.integers(1, 100_000),
)
def test_all_workers_together_exceed_no_limit(
    sizes: list[int], concurrency: int, rate: float, budget: int
) -> None:
    whole = CollectSettings(
        concurrency=concurrency, rate=rate, rpm=60 * rate, tpm=rate, max_calls=budget,
        max_cost=rate, max_total_tokens=budget,
    )  # fmt: skip
    shards = [Shard(Folder(""), number, size) for number, size in enumerate(sizes)]
    parts = shares(whole, shards)
    assert sum(part.concurrency for part in parts) <= concurrency
    assert sum(part.rate or 0 for part in parts) <= rate * (1 + 1e-9)
    assert sum(part.rpm or 0 for part in parts) <= 60 * rate * (1 + 1e-9)
    assert sum(part.tpm or 0 for part in parts) <= rate * (1 + 1e-9)
    assert sum(part.max_total_tokens or 0 for part in parts) <= budget
    assert sum(part.max_calls or 0 for part in parts) <= budget
    assert sum(part.max_cost or 0 for part in parts) <= rate * (1 + 1e-9)
    assert 1 <= sharding.useful_workers(whole, len(sizes)) <= max(1, rate / 10)


# -- holding ---------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from judgesheet.collect.sharding import Lease, Shard
from judgesheet.collect.storage import Folder
shard = Shard(Folder(sys.argv[1]), 0, 4)
lease = Lease.claim(shard, float(sys.argv[2]))
print("held", lease.holder, flush=True)
while sys.stdin.readline():
    lease.renew({"settled": 1})
    print(lease.state, lease.may_ask, flush=True)
lease.release({})
"""


class Elsewhere:
    """A process that holds a shard, and gives a sign of life when it is told to."""

    def __init__(self, shard: Shard, expiry_s: float = 30.0) -> None:
        command = [sys.executable, "-c", HOLDER, str(shard.folder), str(expiry_s)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.said = self._line()

    def renew(self) -> str:
        assert self.process.stdin
        self.process.stdin.write("\n")
        return self._line()

    def end(self) -> None:
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()


def test_a_shard_whose_holder_was_killed_is_free_at_once(shard: Shard) -> None:
    holder = Elsewhere(shard)
    holder.process.kill()
    holder.end()
    lease = Lease.claim(shard, 1e9)  # no silence is waited for on the same machine
    assert lease is not None
    assert (holder.said, lease.holder) == ("held 1", 2)


def test_a_shard_whose_holder_lives_is_not_taken(shard: Shard) -> None:
    holder = Elsewhere(shard)
    assert holder.renew() == "asking True"
    second = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(shard.folder), "30"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(3):
        assert holder.renew() == "asking True"
    assert shard.lease(2) not in shard.folder.listed()
    holder.end()
    assert second.communicate()[0].startswith("held 2")


def test_a_holder_that_was_believed_dead_asks_nothing_more(shard: Shard) -> None:
    holder = Elsewhere(shard, expiry_s=1.0)
    os.kill(holder.process.pid, signal.SIGSTOP)  # it holds its locks, and says nothing
    lease = Lease.claim(shard, 1.0)
    assert lease is not None
    assert lease.holder == 2
    os.kill(holder.process.pid, signal.SIGCONT)
    assert holder.renew() == "finish False"
    holder.end()


def test_who_gave_no_sign_of_life_stops_by_its_own_clock(anywhere: Shard) -> None:
    lease = Lease.claim(anywhere, 0.0)
    assert lease is not None
    assert not lease.may_ask
    lease.renew({})
    assert lease.state == "finish"


@pytest.mark.parametrize("how", ["finish", "cancel"])
def test_a_holder_learns_that_the_run_is_to_end(anywhere: Shard, how: sharding.State) -> None:
    shard = anywhere
    lease = Lease.claim(shard)
    assert lease is not None
    lease.renew({"settled": 3})
    assert (lease.state, sharding.told(shard.folder)[0]["settled"]) == ("asking", 3)
    sharding.end(shard.folder, how)
    lease.renew({})
    assert (lease.state, lease.may_ask) == (how, False)
    assert Lease.claim(shard) is None


def test_a_lease_that_is_being_written_is_none_yet(anywhere: Shard) -> None:
    odd = (b"", b'{"over": tr', b"[1]", b'{"over": "yes", "where": 3, "sign": "/"}', b"\xff")
    for holder, content in enumerate(odd, start=1):
        anywhere.folder.replace(anywhere.lease(holder), content)
    lease = Lease.claim(anywhere, 0.1)  # silence frees them, not their content
    assert lease is not None
    assert lease.holder == 1 + len(odd)
    lease.release({})


def test_of_many_who_claim_a_shard_one_holds_it(shard: Shard) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [*pool.map(lambda _: shard.folder.create("it", b"mine"), range(64))]
    assert sum(made) == 1


def test_a_storage_that_overwrites_is_refused(run: Ledger) -> None:
    with pytest.raises(RunError, match="does not refuse to create what is there"):
        begin(run, f"careless://{uuid4()}")
    assert run.get_meta("shards") is None


# -- what earlier holders did ----------------------------------------------------------------------


def test_only_what_nobody_answered_is_asked(anywhere: Shard) -> None:
    shard = anywhere
    ids = [call.id for call in make_plan(4).calls]
    first, second = Lease.claim(shard), None
    assert first is not None
    answered(shard, 1, reply(ids[0]), reply(ids[1], outcome="timeout"))
    first.release({})
    second = Lease.claim(shard)
    assert second is not None
    answered(shard, 2, reply(ids[2], outcome="refused"))
    second.sign.close()  # it dies
    third = Lease.claim(shard)
    assert third is not None
    calls, spent = left(third, (1e5, 1e5), Spent(1, 2.0), 5)
    assert [call.id for call in calls] == [ids[1], ids[3]]
    # One holder died: so many answers may have gone with it.
    assert [*spent] == [3 + 5, pytest.approx(3 * 1.2 + 5 * 2.0), 3 * 12]
    share = less(CollectSettings(max_calls=10, max_cost=1.0, prices=(1.0, 1.0)), spent)
    assert (share.max_calls, share.max_cost) == (2, 0.0)


# -- putting together ------------------------------------------------------------------------------


def rows(ledger: Ledger) -> list[tuple[str, int, str, str]]:
    query = "SELECT stimulus, attempt, outcome, text FROM attempt JOIN call ON id = call_id"
    return ledger._db.execute(f"{query} ORDER BY seq, attempt").fetchall()


def test_what_came_is_put_in_once_however_often(run: Ledger) -> None:
    one, two, *_ = (call.id for call in make_plan(4).calls)
    replies = [reply(one, outcome="timeout"), reply(one, at=2.0, attempt=2), reply(two)]
    run.record([reply(two, outcome="unavailable", at=0.5)])
    for _ in range(2):
        run.take_over([*replies, reply("of another plan")])
    assert [row[:3] for row in rows(run)] == [
        ("call 0", 1, "timeout"),
        ("call 0", 2, "ok"),
        ("call 1", 1, "unavailable"),
        ("call 1", 2, "ok"),
    ]
    assert run.miscounts() == {}


def test_two_answers_to_one_call_are_kept_and_one_counts(run: Ledger) -> None:
    one = make_plan(4).calls[0].id
    run.take_over([reply(one, "[RESULT] 1")])
    run.take_over([reply(one, "[RESULT] 2", at=2.0)])
    assert [answer.text for answer in run.replies()] == ["[RESULT] 2"]
    assert (run.totals().attempts, run.totals().settled, run.miscounts()) == (2, 1, {})
    run.reopen()
    assert (run.totals().settled, run.miscounts()) == (1, {})


def test_an_answer_counts_and_not_the_failure_of_a_later_holder(
    run: Ledger, anywhere: Shard
) -> None:
    one = make_plan(4).calls[0].id
    for holder, outcome in ((1, "ok"), (2, "timeout")):
        lease = Lease.claim(anywhere)
        assert lease is not None
        answered(anywhere, holder, reply(one, outcome=outcome, at=float(holder)))
        lease.release({})
    before = run.get_meta("shards")
    assert gather(run) == []
    assert anywhere.folder.listed() == {}
    for _ in range(2):
        assert [row[1:3] for row in rows(run)] == [(1, "timeout"), (2, "ok")]
        assert run.get_meta("shards") == {**before, "round": ""}
        assert gather(run) == []


def test_what_a_killed_driver_had_put_in_is_not_put_in_again(run: Ledger, anywhere: Shard) -> None:
    known, (one, two, *_) = run.get_meta("shards"), (call.id for call in make_plan(4).calls)
    lease = Lease.claim(anywhere)
    assert lease is not None
    answered(anywhere, 1, reply(one), reply(two))
    lease.release({})
    run.take_over([reply(one)])
    gather(run)
    anywhere.folder.make()  # as if it had been killed before the last step
    assert anywhere.folder.create("asking", b"")
    run.set_meta("shards", known)
    gather(run)
    assert [row[:3] for row in rows(run)] == [("call 0", 1, "ok"), ("call 1", 1, "ok")]


def test_what_was_learned_is_put_in(run: Ledger, anywhere: Shard) -> None:
    lease = Lease.claim(anywhere)
    assert lease is not None
    its = ShardLedger((), {}, Log(anywhere, 1))
    its.set_meta("refused_parameters", {"temperature": None})
    its.set_meta("limits", {"told": {"requests": 60}, "held_s": 2.5})
    lease.release({})
    gather(run)
    assert run.refused_parameters == {"temperature": None}
    assert run.limits == {"told": {"requests": 60}, "held_s": 2.5}


NO_REPLIES = [
    b'{"call_id": "cut',
    b"[" * 5000,
    b"\xff\x00",
    b"[1]",
    b'{"refused_parameters": 3, "limits": {"told": {}}}',
    *(
        json.dumps({**asdict(reply("CALL")), **odd}).encode()
        for odd in (
            {"at": float("nan")}, {"at": 1e999}, {"tokens_in": 10**30}, {"latency_s": 10**400},
            {"attempt": -1}, {"text": None}, {"outcome": 3}, {"call_id": ["x"]},
        )
    ),
]  # fmt: skip


def test_what_is_no_reply_is_left_out(run: Ledger, anywhere: Shard) -> None:
    one = make_plan(4).calls[0].id
    lease = Lease.claim(anywhere)
    assert lease is not None
    lines = [line.replace(b"CALL", one.encode()) for line in NO_REPLIES]
    anywhere.logs.replace("1.000000.jsonl", b"\n".join(lines))
    anywhere.logs.replace("1.000001.jsonl", json.dumps(asdict(reply(one, "\ud800"))).encode())
    anywhere.logs.replace("1.000002.jsonl", b"")
    anywhere.logs.replace("1.jsonl", json.dumps(asdict(reply(one, at=2.0))).encode())
    lease.release({})
    assert gather(run) == []
    assert [(row[1:]) for row in rows(run)] == [(1, "ok", "?")]


def test_a_round_that_is_still_asked_stays_and_the_run_is_not_opened(
    tmp_path: Path, run: Ledger, shard: Shard
) -> None:
    holder = Elsewhere(shard)
    assert gather(run, patience_s=0.0) == [f"{shard.folder}/{shard.lease(1)}"]
    assert holder.renew() == "cancel False"
    holder.end()
    run.close()
    told = [one.detail for one in examine_run(tmp_path / "run") if one.what == "replies"]
    assert "workers may have answers that are not in yet" in told[0]
    with open_run(tmp_path / "run", None, JUDGE, "", fresh=False) as ledger:
        assert ledger.totals().settled == 0
    assert not place(shard).parent.exists()


def test_what_cannot_be_seen_from_here_is_not_taken_for_nothing(run: Ledger) -> None:
    folder = begin(run, f"memory://{uuid4()}")
    folder.remove()
    with pytest.raises(RunError, match="see that this machine reaches that storage"):
        gather(run)
    assert folder.create("asking", b"")  # as the sentence says
    assert gather(run) == []
    assert gather(run) == []
    assert begin(run, None).root == folder.root


def test_what_a_run_directory_holds_leads_nowhere_else(tmp_path: Path, run: Ledger) -> None:
    mine, rounds = tmp_path / "mine", tmp_path / "run" / "shards"
    (mine / "0000").mkdir(parents=True)
    (mine / "asking").write_text("")
    rounds.mkdir()
    (rounds / "ba9876543210").symlink_to(mine)
    (rounds / "holiday").mkdir()
    for name in ("ba9876543210", "holiday", "../../mine"):
        run.set_meta("shards", {"address": "shards", "round": name})
        gather(run)
    shard = Shard(begin(run, None), 0, 1)
    for name in ("cancel", "0000.1.lease", "0001"):
        (place(shard) / name).symlink_to(mine / "asking")
    gather(run)
    assert sorted(path.name for path in mine.iterdir()) == ["0000", "asking"]
    assert (mine / "asking").read_text() == ""
    assert {path.name for path in rounds.iterdir()} == {"ba9876543210", "holiday"}
