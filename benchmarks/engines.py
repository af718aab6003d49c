"""How fast one process asks, and one or two workers of Ray; `python -m benchmarks.engines`.

The server of `benchmarks.collecting` answers at once, so that what is measured is the asking. Calls
per second are those from the first answer to the last, apart from what a cluster takes to start,
which is a row of its own. Engines take turns, and the best turn counts. The table goes into
docs/performance.md.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.collecting import IN_FLIGHT, TURNS, prompted, serving
from benchmarks.page import put
from judgesheet.__main__ import YOUNG
from judgesheet.base.records import Plan
from judgesheet.collect.collect import CollectSettings, collect
from judgesheet.collect.engines import Driver, Order
from judgesheet.collect.engines.ray import cluster
from judgesheet.collect.sharding import Shard
from judgesheet.collect.storage import Folder
from judgesheet.judges import Connection, Judge, open_judge
from judgesheet.ledger.ledger import Ledger

CALLS = 12_000
MODEL = "openai-compatible/loopback"
SETTINGS = CollectSettings(concurrency=IN_FLIGHT)


def rate(port: int, workers: int) -> tuple[float, float]:
    """Calls per second, and seconds for a cluster to start and end; 0 workers: this process."""
    connection = Connection(f"http://127.0.0.1:{port}/v1", concurrency=IN_FLIGHT)
    judge = open_judge(MODEL, connection)
    calls = [replace(call, stimulus=f"{n // 10}") for n, call in enumerate(prompted(CALLS))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        with Ledger.create_or_open(path, Plan(1, tuple(calls), (), {}), judge.identity) as ledger:
            began = time.perf_counter()
            if workers:
                _by_workers(ledger, judge, connection, workers)
            else:
                asyncio.run(_here(ledger, judge))
            spent, totals = time.perf_counter() - began, ledger.totals()
    if totals.settled != CALLS or not totals.first_at or not totals.last_at:
        raise SystemExit(f"{totals}")
    asking = totals.last_at - totals.first_at
    return CALLS / asking, spent - asking


async def _here(ledger: Ledger, judge: Judge) -> None:
    async with judge:
        await collect(judge, ledger, SETTINGS)


def _by_workers(ledger: Ledger, judge: Judge, connection: Connection, workers: int) -> None:
    order = Order(Shard(Folder(""), 0, 0), MODEL, connection, SETTINGS, dict(judge.identity),
                  answer_key=None, parsers=(), refused={}, is_final=False)  # fmt: skip
    # As if it were simulated: no worker begins alone.
    driver = Driver(ledger, None, order, lambda _: None, is_simulated=True)
    with cluster(None) as (submit, _):
        driver.run(submit, workers)


def table() -> Iterator[str]:
    """The table of docs/performance.md, line by line."""
    names = {0: "one process", 1: "Ray, one worker", 2: "Ray, two workers"}
    turns: dict[int, list[tuple[float, float]]] = {workers: [] for workers in names}
    with serving(0.0) as port:
        for _ in range(TURNS):
            for workers in names:
                turns[workers].append(rate(port, workers))
    best = max(calls for calls, _ in turns[0])
    yield f"| {IN_FLIGHT} in flight in all | calls/s, 0 ms | of one process | besides asking |"
    yield "|---|---|---|---|"
    for workers, name in names.items():
        calls, besides = (
            max(one[0] for one in turns[workers]),
            min(one[1] for one in turns[workers]),
        )
        yield f"| {name} | {calls:,.0f} | {calls / best:.2f} | {besides:.1f} s |"


def main() -> None:
    """Measure, print, and put the table into the page."""
    gc.set_threshold(YOUNG)  # as the command does
    lines = [*table()]
    print("\n".join(lines))
    put("engines", lines)


if __name__ == "__main__":
    main()
