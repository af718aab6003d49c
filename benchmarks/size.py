"""Time and memory by the number of calls; `python -m benchmarks.size 10000 100000 …`.

A study of rubric orders is recorded: five responses to a prompt with the ratings of three people,
each graded at five points under five orders, twice, by a judge that follows quality with noise and
a taste for the last line. The file is ingested and then measured, each in a process of its own. The
table goes into docs/performance.md.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.page import put
from judgesheet.ledger.run_directory import LEDGER
from judgesheet.stats.orders import balanced

SIZES = (10_000, 100_000, 500_000, 2_100_000)
RESPONSES, ORDERS, REPEATS = 5, 5, 2
PER_PROMPT = RESPONSES * ORDERS * REPEATS
PROGRAM = """
import resource, sys, time
from judgesheet.cli import main
started = time.perf_counter()
try: main(sys.argv[1:])
except SystemExit: pass
own = resource.getrusage(resource.RUSAGE_SELF)
lines = open("/proc/self/status")  # `ru_maxrss` starts with the memory of who started the process
most = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
print(time.perf_counter() - started, own.ru_utime + own.ru_stime, most / 1e3)
"""


class Cost(NamedTuple):
    """What a command took: seconds of the clock and of the processor, and the most memory."""

    seconds: float
    cpu_s: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.cpu_s:.1f} s, {self.megabytes:,.0f} MB"


def recorded(calls: int) -> Iterator[str]:
    """The lines of the study, in so many calls."""
    rng, orders = np.random.default_rng(0), [list(order) for order in balanced(5)[:ORDERS]]
    last = np.array([order[-1] == 5 for order in orders])
    for prompt in range(calls // PER_PROMPT):
        quality = rng.random(RESPONSES)
        noise = rng.normal(0, 0.6, (RESPONSES, ORDERS, REPEATS))
        wish = 1 + 4 * quality[:, None, None] + noise + 0.3 * last[:, None]
        scores = np.clip(np.round(wish), 1, 5).astype(int).tolist()
        given = 1 + 4 * quality[:, None] + rng.normal(0, 0.7, (RESPONSES, 3))
        ratings = np.clip(np.round(given), 1, 5)
        for response in range(RESPONSES):
            item = f"p{prompt}/r{response}"
            for place, order in enumerate(orders):
                for repeat in range(REPEATS):
                    yield json.dumps({
                        "axis": "score_order",
                        "stimulus": f"p{prompt}",
                        "cell": {"item": item, "arm": "balanced", "scale": 5, "order": order},
                        "repeat": repeat,
                        "verdict": scores[response][place][repeat],
                    })  # fmt: skip
            human = {"axis": "score_order", "item": item, "ratings": ratings[response].tolist()}
            yield json.dumps({"human": human})


def write(calls: int, file: Path) -> None:
    """The study as a file."""
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(f"{line}\n" for line in recorded(calls))


def spent(*arguments: str) -> Cost:
    """What a command of a new process takes, without its start."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True
    )
    return Cost(*map(float, done.stdout.splitlines()[-1].split()))


def table(sizes: Sequence[int]) -> Iterator[str]:
    """The rows of the table: wall time, CPU and peak memory."""
    yield "| calls | `ingest --no-pdf` | `measure --to json` | bytes a call |"
    yield "|---|---|---|---|"
    for calls in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file, run = Path(folder) / "study.jsonl", Path(folder) / "run"
            write(calls, file)
            filled = spent("ingest", str(file), "--out", str(run), "--no-pdf")
            measured = spent("measure", str(run), "--to", "json")
            size = (run / LEDGER).stat().st_size / calls
        yield f"| {calls:,} | {filled} | {measured} | {size:.0f} |"


def main(sizes: Sequence[int] = SIZES) -> None:
    """Measure, print, and put the table into the page."""
    lines = []
    for line in table(sizes):
        print(line, flush=True)
        lines.append(line)
    put("size", lines)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or SIZES)
