"""How fast one process asks, and one or two workers of Ray; `python -m benchmarks.engines`.

Of two judges: an endpoint that answers at once (the server of `benchmarks.collecting`), so that
what is measured is the asking, and a Python function that computes. Calls per second are those from
the first answer to the last, apart from what a cluster takes to start, which has its own column.
Engines take turns, and the best turn counts. The CPU of the driver says how many replies its one
writer takes: as many as fit into a second of it. The table goes into docs/performance.md.
"""

import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.collecting import TURNS, prompted, serving
from benchmarks.page import put
from judgesheet.__main__ import YOUNG
from judgesheet.base.records import Plan
from judgesheet.collect.collect import collect
from judgesheet.collect.request import Request, collect_settings, connection
from judgesheet.collect.workers import by_workers
from judgesheet.judges import Judge, open_judge
from judgesheet.ledger.ledger import Ledger

IN_FLIGHT = 256
COMPUTES_S = 0.003
NAMES = {0: "one process", 1: "Ray, one worker", 2: "Ray, two workers"}


def computing(_messages: Sequence[dict[str, str]]) -> str:
    """A judge that takes a processor for some milliseconds."""
    until = time.thread_time() + COMPUTES_S
    while time.thread_time() < until:
        pass
    return "[RESULT] 4"


class Speed(NamedTuple):
    """Calls a second, milliseconds of the driver's CPU per call, seconds besides asking."""

    calls: float
    cpu_ms: float
    besides_s: float


def speed(request: Request, calls: int, workers: int) -> Speed:
    """Ask so many questions with so many workers; 0: from this process."""
    judge = open_judge(request.model, connection(request))
    planned = [replace(call, stimulus=f"{n // 10}") for n, call in enumerate(prompted(calls))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        with Ledger.create_or_open(path, Plan(1, tuple(planned), (), {}), judge.identity) as ledger:
            began = time.perf_counter()
            if workers:
                with _cluster(workers):
                    cpu_s = asyncio.run(_asked(by_workers(request, judge, ()), ledger, request))
            else:
                cpu_s = asyncio.run(_asked(judge, ledger, request))
            spent, totals = time.perf_counter() - began, ledger.totals()
    if totals.settled != calls or not totals.first_at or not totals.last_at:
        raise SystemExit(f"{totals}")
    asking = totals.last_at - totals.first_at
    return Speed(calls / asking, cpu_s / calls * 1000, spent - asking)


@contextmanager
def _cluster(processors: int) -> Iterator[None]:
    """A cluster of so many processors, which `by_workers` finds."""
    import ray

    ray.init(
        "local",
        num_cpus=processors,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    yield
    ray.shutdown()


async def _asked(judge: Judge, ledger: Ledger, request: Request) -> float:
    """Ask everything; seconds of CPU of this process."""
    async with judge:
        began = time.process_time()
        await collect(judge, ledger, collect_settings(request))
        return time.process_time() - began


def table() -> Iterator[str]:
    """The table of docs/performance.md, line by line."""
    yield (
        f"| {IN_FLIGHT} in flight in all | calls/s | of one process | CPU of the driver per call "
        "| besides asking |"
    )
    yield "|---|---|---|---|---|"
    with serving(0.0) as port:
        base_url = f"http://127.0.0.1:{port}/v1"
        yield from _rows(
            "an endpoint that answers at once",
            Request("openai-compatible/loopback", base_url=base_url, concurrency=IN_FLIGHT),
            12_000,
        )
    function = Request("python/benchmarks.engines:computing", concurrency=IN_FLIGHT)
    yield from _rows(f"a function that computes {COMPUTES_S * 1000:.0f} ms", function, 4_000)


def _rows(what: str, request: Request, calls: int) -> Iterator[str]:
    turns: dict[int, list[Speed]] = {workers: [] for workers in NAMES}
    for _ in range(TURNS):
        for workers in NAMES:
            turns[workers].append(speed(request, calls, workers))
    best = {workers: max(one.calls for one in turns[workers]) for workers in NAMES}
    for workers, name in NAMES.items():
        cpu_ms = min(one.cpu_ms for one in turns[workers])
        besides_s = min(one.besides_s for one in turns[workers])
        yield (
            f"| {what}: {name} | {best[workers]:,.0f} | {best[workers] / best[0]:.2f} "
            f"| {cpu_ms:.2f} ms | {besides_s:.1f} s |"
        )


def main() -> None:
    """Measure, print, and put the table into the page."""
    gc.set_threshold(YOUNG)  # as the command does
    lines = [*table()]
    print("\n".join(lines))
    put("engines", lines)


if __name__ == "__main__":
    main()
